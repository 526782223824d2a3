//! The buffers that a launch can reach: bounds, who wrote each word, and what was there before.

use crate::device::emulator::access::{Access, words};
use crate::device::emulator::clock::Clock;
use std::sync::Arc;

/// A buffer that an argument of a launch points to.
#[derive(Debug)]
pub(crate) struct Reach {
    pub(crate) start: usize,
    pub(crate) len: usize,
    pub(crate) name: Arc<str>,
    /// Its bytes before the launch, kept from the first write on.
    before: Option<Vec<u8>>,
    /// Its bytes after the launch in the first order.
    after: Option<Vec<u8>>,
    /// A [`Writer`] for each word, from the first write on. Plain numbers: the system hands them out zeroed, and
    /// most pages of a large buffer are never touched.
    writers: Vec<[u64; 2]>,
}

/// Who wrote a word last.
#[derive(Debug, Clone, Copy)]
struct Writer {
    time: u64,
    block: u32,
    thread: u16,
    /// Which bytes, then flags.
    flags: u16,
}

impl Writer {
    const BYTES: u16 = 0b1111;
    const ATOMIC: u16 = 1 << 4;
    /// Some thread has added floating-point numbers here. Never taken back.
    const FLOAT_ATOMIC: u16 = 1 << 5;

    fn unpack([time, rest]: [u64; 2]) -> Self {
        Writer { time, block: (rest >> 32) as u32, thread: (rest >> 16) as u16, flags: rest as u16 }
    }
    fn pack(self) -> [u64; 2] {
        [self.time, u64::from(self.block) << 32 | u64::from(self.thread) << 16 | u64::from(self.flags)]
    }
}

/// Another thread wrote there, and nothing orders the two accesses.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Race {
    pub(crate) block: u32,
    pub(crate) thread: usize,
}

/// Who accesses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Who {
    pub(crate) block: u32,
    pub(crate) thread: usize,
    /// When the present run of the launch began: what is older belongs to another run.
    pub(crate) run_start: u64,
}

impl Reach {
    pub(crate) fn new(start: usize, len: usize, name: Arc<str>) -> Self {
        Reach { start, len, name, before: None, after: None, writers: Vec::new() }
    }

    /// Lies all of the access within?
    #[inline]
    pub(crate) fn holds(&self, access: &Access) -> bool {
        let offset = access.address.wrapping_sub(self.start);
        offset < self.len && access.bytes <= self.len - offset
    }

    /// Will it be written to for the first time in this launch? Then its bytes must be kept before.
    #[inline]
    pub(crate) fn is_untouched(&self) -> bool {
        self.before.is_none()
    }

    /// Keeps what is there now.
    pub(crate) fn keep(&mut self, bytes: &[u8]) {
        self.before = Some(bytes.to_vec());
        self.writers = vec![[0; 2]; self.len.div_ceil(4)];
    }

    /// Notes an access that lies within; writes only after [`keep`](Self::keep).
    #[inline]
    pub(crate) fn check(&mut self, access: &Access, who: Who, clock: &Clock) -> Result<(), Race> {
        if self.writers.is_empty() {
            return Ok(());
        }
        for (index, bytes) in words(access.address - self.start, access.bytes) {
            let writer = Writer::unpack(self.writers[index]);
            if writer.time >= who.run_start && writer.flags & u16::from(bytes) != 0 {
                let same_block = writer.block == who.block;
                let both_atomic = writer.flags & Writer::ATOMIC != 0 && access.atomic();
                let ordered = if same_block {
                    clock.ordered(writer.thread.into(), writer.time, who.thread)
                } else {
                    clock.ordered_across_blocks(writer.block, writer.time)
                };
                if !ordered && !both_atomic {
                    return Err(Race { block: writer.block, thread: writer.thread.into() });
                }
            }
            if access.writes() {
                let flags = u16::from(bytes)
                    | writer.flags & Writer::FLOAT_ATOMIC
                    | if access.atomic() { Writer::ATOMIC } else { 0 }
                    | if access.float_atomic() { Writer::FLOAT_ATOMIC } else { 0 };
                let new = Writer { time: clock.now(), block: who.block, thread: who.thread as u16, flags };
                self.writers[index] = new.pack();
            }
        }
        Ok(())
    }

    /// What is there after a run. The first byte that differs from the first run, unless floating-point numbers
    /// were added there atomically: their order is open on every device.
    pub(crate) fn compare(&mut self, bytes: &[u8]) -> Option<usize> {
        let before = self.before.as_ref()?;
        let first = self.after.as_ref().unwrap_or(before);
        let free = |byte: usize| Writer::unpack(self.writers[byte / 4]).flags & Writer::FLOAT_ATOMIC != 0;
        if first == bytes {
            return None;
        }
        (0..bytes.len()).find(|&byte| first[byte] != bytes[byte] && !free(byte))
    }

    /// Remembers the result of the first run.
    pub(crate) fn remember(&mut self, bytes: &[u8]) {
        if self.before.is_some() {
            self.after = Some(bytes.to_vec());
        }
    }

    /// What must be there before the next run, where anything was written.
    pub(crate) fn before(&self) -> Option<&[u8]> {
        self.before.as_deref()
    }
}

const _: () = assert!(Writer::BYTES & (Writer::ATOMIC | Writer::FLOAT_ATOMIC) == 0);

#[cfg(test)]
mod tests {
    use super::*;

    fn reach() -> Reach {
        Reach::new(4096, 16, "Y".into())
    }

    #[test]
    fn bounds_are_exact() {
        let reach = reach();
        let holds = |address, bytes| reach.holds(&Access::new(address, bytes, 0));
        assert!(holds(4096, 16) && holds(4108, 4) && holds(4111, 1));
        assert!(!holds(4095, 1) && !holds(4109, 4) && !holds(4112, 1) && !holds(0, 4));
        assert!(!holds(usize::MAX, 4) && !holds(4100, usize::MAX));
    }

    #[test]
    fn writes_of_several_threads_race_unless_ordered_or_atomic() {
        let mut reach = reach();
        let mut clock = Clock::new(64);
        let run_start = clock.start_run();
        clock.start_block();
        let who = |block, thread| Who { block, thread, run_start };
        let [read, write, atomic] = [0, 1, 2].map(|kind| Access::new(4100, 4, kind));
        assert_eq!(reach.check(&read, who(0, 1), &clock), Ok(()));
        reach.keep(&[7; 16]);
        assert_eq!(reach.check(&write, who(0, 1), &clock), Ok(()));
        assert_eq!(reach.check(&read, who(0, 2), &clock), Err(Race { block: 0, thread: 1 }));
        assert_eq!(reach.check(&atomic, who(1, 1), &clock), Err(Race { block: 0, thread: 1 }));
        clock.block_barrier();
        assert_eq!(reach.check(&atomic, who(0, 2), &clock), Ok(()));
        assert_eq!(reach.check(&atomic, who(5, 2), &clock), Ok(()));
        let next_run = clock.start_run();
        assert_eq!(reach.check(&write, Who { run_start: next_run, ..who(9, 9) }, &clock), Ok(()));
    }

    #[test]
    fn runs_are_compared_except_where_floats_were_added() {
        let mut reach = reach();
        assert_eq!(reach.compare(&[1; 16]), None, "nobody wrote");
        reach.keep(&[0; 16]);
        reach.remember(&[1; 16]);
        let mut other = [1; 16];
        assert_eq!(reach.compare(&other), None);
        other[9] = 2;
        assert_eq!(reach.compare(&other), Some(9));
        let clock = Clock::new(32);
        let add = Access::new(4104, 4, 3);
        reach.check(&add, Who { block: 0, thread: 0, run_start: 0 }, &clock).unwrap();
        assert_eq!(reach.compare(&other), None);
    }
}

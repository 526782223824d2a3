//! A shadow of a block's shared memory: which bytes have been written, and who was at each word last.

use crate::device::emulator::access::{Access, words};
use crate::device::emulator::clock::Clock;

/// One access to one word. All zero: none.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    /// Since the block began, plus 1.
    time: u32,
    thread: u16,
    bytes: u8,
    atomic: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Word {
    writer: Record,
    /// Two, so that one of them is not the thread that writes next.
    readers: [Record; 2],
    written: u8,
    /// A thread that copies into it asynchronously, plus 1.
    copying: u16,
}

/// What is wrong with an access to shared memory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It ends behind the end.
    OutOfBounds,
    /// Its address is no multiple of its size.
    Misaligned,
    /// Nobody has written that in this block.
    Uninitialised,
    /// That thread was there, and no barrier lies in between.
    Race { other: usize, other_wrote: bool },
    /// That thread's asynchronous copy into it may still be under way.
    Copying { other: usize },
}

/// The shadow of one piece of shared memory.
#[derive(Debug)]
pub(crate) struct SharedShadow {
    words: Vec<Word>,
}

impl SharedShadow {
    pub(crate) fn new(bytes: usize) -> Self {
        SharedShadow { words: vec![Word::default(); bytes.div_ceil(4)] }
    }

    /// A new block knows nothing of the last.
    pub(crate) fn start_block(&mut self) {
        self.words.fill(Word::default());
    }

    /// Notes an access that begins at byte `offset` and lies within.
    pub(crate) fn check(
        &mut self,
        offset: usize,
        access: &Access,
        thread: usize,
        clock: &Clock,
    ) -> Result<(), Wrong> {
        let start = clock.block_start();
        let time = u32::try_from(clock.now() - start + 1).unwrap_or(u32::MAX);
        let unordered = |record: &Record, bytes: u8| {
            record.time != 0
                && record.thread as usize != thread
                && record.bytes & bytes != 0
                && !(record.atomic && access.atomic())
                && !clock.ordered(record.thread.into(), start + u64::from(record.time) - 1, thread)
        };
        for (index, bytes) in words(offset, access.bytes) {
            let word = &mut self.words[index];
            if word.copying != 0 {
                return Err(Wrong::Copying { other: usize::from(word.copying) - 1 });
            }
            if unordered(&word.writer, bytes) {
                return Err(Wrong::Race { other: word.writer.thread.into(), other_wrote: true });
            }
            if access.reads() && word.written & bytes != bytes {
                return Err(Wrong::Uninitialised);
            }
            let record = Record { time, thread: thread as u16, bytes, atomic: access.atomic() };
            if access.writes() {
                if let Some(reader) = word.readers.iter().find(|reader| unordered(reader, bytes)) {
                    return Err(Wrong::Race { other: reader.thread.into(), other_wrote: false });
                }
                // Who conflicts with the readers so far conflicts with this write as well.
                (word.writer, word.readers) = (record, [Record::default(); 2]);
                word.written |= bytes;
            } else {
                let same = |reader: &Record| reader.time == 0 || reader.thread as usize == thread;
                let slot = word.readers.iter().position(same).unwrap_or(1);
                word.readers[slot] = record;
            }
        }
        Ok(())
    }

    /// From now on `thread`'s copy is under way there, and nobody may touch it; `None`: it has arrived.
    pub(crate) fn set_copying(&mut self, offset: usize, bytes: usize, thread: Option<usize>) {
        let copying = thread.map_or(0, |thread| thread as u16 + 1);
        words(offset, bytes).for_each(|(index, _)| self.words[index].copying = copying);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(offset: usize) -> Access {
        Access::new(offset, 4, 0)
    }
    fn write(offset: usize) -> Access {
        Access::new(offset, 4, 1)
    }

    #[test]
    fn what_nobody_wrote_may_not_be_read() {
        let (mut shadow, mut clock) = (SharedShadow::new(10), Clock::new(64));
        clock.start_block();
        assert_eq!(shadow.check(0, &read(0), 0, &clock), Err(Wrong::Uninitialised));
        assert_eq!(shadow.check(0, &Access::new(0, 2, 1), 0, &clock), Ok(()));
        assert_eq!(shadow.check(0, &read(0), 0, &clock), Err(Wrong::Uninitialised), "half of it");
        assert_eq!(shadow.check(2, &Access::new(2, 2, 1), 1, &clock), Ok(()), "other bytes of the word");
        shadow.start_block();
        assert_eq!(shadow.check(0, &Access::new(0, 2, 0), 0, &clock), Err(Wrong::Uninitialised));
    }

    #[test]
    fn accesses_without_a_barrier_between_them_race() {
        let (mut shadow, mut clock) = (SharedShadow::new(8), Clock::new(64));
        clock.start_block();
        shadow.check(0, &write(0), 0, &clock).unwrap();
        let race = |other, other_wrote| Err(Wrong::Race { other, other_wrote });
        assert_eq!(shadow.check(0, &read(0), 1, &clock), race(0, true));
        clock.warp_barrier(0, u32::MAX, u32::MAX);
        assert_eq!(shadow.check(0, &read(0), 40, &clock), race(0, true), "another warp");
        for reader in [1, 2, 3] {
            assert_eq!(shadow.check(0, &read(0), reader, &clock), Ok(()));
        }
        assert_eq!(shadow.check(0, &write(0), 1, &clock), race(3, false));
        clock.block_barrier();
        assert_eq!(shadow.check(0, &write(0), 50, &clock), Ok(()));
    }

    #[test]
    fn nobody_touches_what_is_being_copied() {
        let (mut shadow, mut clock) = (SharedShadow::new(12), Clock::new(64));
        clock.start_block();
        shadow.set_copying(4, 8, Some(3));
        clock.block_barrier();
        let copying = Err(Wrong::Copying { other: 3 });
        assert_eq!(shadow.check(0, &write(0), 0, &clock), Ok(()));
        assert_eq!(shadow.check(8, &read(8), 0, &clock), copying);
        assert_eq!(shadow.check(4, &write(4), 3, &clock), copying, "not even who copies");
        shadow.set_copying(4, 8, None);
        assert_eq!(shadow.check(4, &write(4), 3, &clock), Ok(()));
    }

    #[test]
    fn atomics_do_not_race_with_each_other() {
        let (mut shadow, mut clock) = (SharedShadow::new(4), Clock::new(64));
        clock.start_block();
        shadow.check(0, &write(0), 0, &clock).unwrap();
        clock.block_barrier();
        for thread in [0, 1, 40] {
            assert_eq!(shadow.check(0, &Access::new(0, 4, 2), thread, &clock), Ok(()));
        }
        assert!(shadow.check(0, &read(0), 1, &clock).is_err());
    }
}

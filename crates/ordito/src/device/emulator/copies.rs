//! Asynchronous copies from global to shared memory.
//!
//! On a GPU the bytes may move at any time between the start of a copy and the end of the wait for it. Here they move at
//! the start in some orders and at the wait in others ([`Order::copies_late`](crate::device::emulator::order::Order)): what depends on that
//! gives different results. Both ends are checked in every order. At the start the destination must be free: who read or
//! wrote it before is behind a barrier. From then on nobody may touch it, and at the wait it counts as written by the
//! thread that waits, so that others need a barrier after that. What is never waited for never arrives, or was there from
//! the start; to touch it is a fault either way.

use crate::device::emulator::access::Access;
use crate::device::emulator::fault::Fault;
use crate::device::emulator::state::State;
use std::collections::VecDeque;

/// One copy, as `copy_async` was asked for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AsyncCopy {
    pub(crate) shared: usize,
    pub(crate) global: usize,
    pub(crate) bytes: usize,
    /// Of these come so many from global memory; the others are 0.
    pub(crate) valid: usize,
    /// Return address.
    pub(crate) from: usize,
}

impl AsyncCopy {
    /// # Safety
    /// The kernel may read the valid bytes and write all bytes, and no other thread of this process does.
    unsafe fn perform(&self) {
        // SAFETY: as the caller promises; global and shared memory do not overlap.
        unsafe {
            let (to, valid) = (self.shared as *mut u8, self.valid.min(self.bytes));
            std::ptr::copy_nonoverlapping(self.global as *const u8, to, valid);
            to.add(valid).write_bytes(0, self.bytes - valid);
        }
    }
}

/// The copies that a thread has not waited for, oldest first, each with the number of its group.
#[derive(Debug, Default)]
struct Queue {
    copies: VecDeque<(usize, AsyncCopy)>,
    /// Groups that were closed: the number of the open one.
    closed: usize,
}

impl Queue {
    /// The next copy of a group that is not among the `pending` youngest.
    fn pop(&mut self, pending: usize) -> Option<AsyncCopy> {
        let due = |&&(group, _): &&(usize, AsyncCopy)| group + pending < self.closed;
        self.copies.front().filter(due)?;
        self.copies.pop_front().map(|(_, copy)| copy)
    }
}

/// The copies of all threads of a block.
#[derive(Debug)]
pub(crate) struct Copies {
    queues: Vec<Queue>,
    /// Bytes move at the wait, not at the start.
    late: bool,
}

impl Copies {
    pub(crate) fn new(threads: usize) -> Self {
        Copies { queues: (0..threads).map(|_| Queue::default()).collect(), late: false }
    }
    pub(crate) fn start_run(&mut self, late: bool) {
        self.late = late;
    }
    pub(crate) fn start_block(&mut self) {
        for queue in &mut self.queues {
            queue.copies.clear();
            queue.closed = 0;
        }
    }
}

impl State {
    /// The present thread starts a copy.
    pub(crate) fn start_copy(&mut self, copy: AsyncCopy) -> Result<(), Fault> {
        if self.checked {
            let shared = self.check_copy(&copy).map_err(|fault| fault.during("copy_async"))?;
            self.shared[shared].start_copy(copy.shared, copy.bytes, self.thread);
        }
        if self.tracer.is_some() {
            self.trace_copy(&copy)?;
        }
        if !self.copies.late {
            // SAFETY: checked above; a kernel without checks is on its own. One thread of the launch runs at a time.
            unsafe { copy.perform() };
        }
        let queue = &mut self.copies.queues[self.thread];
        queue.copies.push_back((queue.closed, copy));
        Ok(())
    }

    /// The present thread closes a group.
    pub(crate) fn commit_copies(&mut self) {
        self.copies.queues[self.thread].closed += 1;
    }

    /// The present thread waits for all its groups but the `pending` youngest.
    pub(crate) fn wait_for_copies(&mut self, pending: usize) -> Result<(), Fault> {
        while let Some(copy) = self.copies.queues[self.thread].pop(pending) {
            if self.checked {
                self.shared.iter_mut().for_each(|shared| shared.end_copy(copy.shared, copy.bytes));
                self.check_copy(&copy).map_err(|fault| fault.during("copy_async, when waited for"))?;
            }
            if self.copies.late {
                // SAFETY: as in `start_copy`; the buffers of a launch live as long as it does.
                unsafe { copy.perform() };
            }
        }
        Ok(())
    }

    /// Reads and writes what the copy does, as far as checks go. The number of the shared memory that it goes to.
    fn check_copy(&mut self, copy: &AsyncCopy) -> Result<usize, Fault> {
        let AsyncCopy { shared, global, bytes, valid, from } = *copy;
        self.count_step(from)?;
        let read = Access::new(global, valid, Access::READ | Access::UNALIGNED);
        let write = Access::new(shared, bytes, Access::WRITE);
        if valid > bytes {
            return Err(self.fault_here(format!("{valid} of {bytes} bytes are said to be valid"), from));
        }
        for (name, address) in [("source", global), ("destination", shared)] {
            if !address.is_multiple_of(bytes) {
                let what = format!("misaligned {name}: address {address:#x} is no multiple of {bytes} bytes");
                return Err(self.fault_here(what, from));
            }
        }
        if valid > 0 {
            match self.reaches.iter().position(|reach| reach.holds(&read)) {
                Some(index) => self.access_global(index, &read, from)?,
                None => return Err(self.out_of_bounds(&read, from)),
            }
        }
        match self.shared.iter().position(|memory| memory.range.contains(&shared)) {
            Some(index) => self.access_shared(index, &write, from).map(|()| index),
            None => Err(self.out_of_bounds(&write, from)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_arrive_in_turn_and_open_ones_never() {
        let copy = |shared| AsyncCopy { shared, global: 0, bytes: 4, valid: 4, from: 0 };
        let mut queue = Queue::default();
        let add = |queue: &mut Queue, shared| queue.copies.push_back((queue.closed, copy(shared)));
        add(&mut queue, 0);
        add(&mut queue, 4);
        queue.closed += 2; // the second group is empty
        add(&mut queue, 8);
        let due = |queue: &mut Queue, pending| {
            std::iter::from_fn(|| queue.pop(pending)).map(|copy| copy.shared).collect::<Vec<_>>()
        };
        assert!(due(&mut queue, 2).is_empty());
        assert_eq!(due(&mut queue, 1), [0, 4]);
        assert!(due(&mut queue, 0).is_empty(), "8 is in no group yet");
        queue.closed += 1;
        assert!(due(&mut queue, 1).is_empty());
        assert_eq!(due(&mut queue, 0), [8]);
    }

    #[test]
    fn zeros_fill_the_rest() {
        let (global, mut shared) = ([1_u8, 2, 3, 4], [9_u8; 5]);
        let (from, to) = (global.as_ptr() as usize, shared.as_mut_ptr() as usize);
        let copy = |valid| AsyncCopy { shared: to, global: from, bytes: 4, valid, from: 0 };
        let (three, none) = (copy(3), copy(0));
        // SAFETY: both arrays hold 4 bytes.
        unsafe { three.perform() };
        assert_eq!(shared, [1, 2, 3, 0, 9]);
        // SAFETY: the same.
        unsafe { none.perform() };
        assert_eq!(shared, [0, 0, 0, 0, 9]);
    }
}

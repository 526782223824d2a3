//! What is looked at before every access of a thread, and how long a launch may go on.

use crate::device::emulator::access::Access;
use crate::device::emulator::explain::element;
use crate::device::emulator::fault::Fault;
use crate::device::emulator::global_memory::Who;
use crate::device::emulator::shared_memory::Wrong;
use crate::device::emulator::state::State;
use crate::device::emulator::xray::Where;
use std::ops::Range;

/// Accesses (and basic blocks, where they are told) without any thread ending or a barrier opening after which a kernel is taken to
/// hang: far more than the longest row that anybody would emulate, and less than a minute.
const PATIENCE: u64 = if cfg!(test) { 1 << 20 } else { 1 << 29 };

/// A part of memory.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) range: Range<usize>,
    pub(crate) place: Where,
    /// What addresses there are counted from.
    pub(crate) origin: usize,
}

impl State {
    /// Before every access.
    #[inline]
    pub(crate) fn access(
        &mut self,
        address: usize,
        bytes: usize,
        kind: u32,
        from: usize,
    ) -> Result<(), Fault> {
        if !self.checked {
            return Ok(());
        }
        self.count_step(from)?;
        let access = Access::new(address, bytes, kind);
        for index in 0..self.reaches.len() {
            if self.reaches[index].holds(&access) {
                return self.access_global(index, &access, from);
            }
        }
        for index in 0..self.shared.len() {
            if self.shared[index].range.contains(&address) {
                return self.access_shared(index, &access, from);
            }
        }
        let within = |range: &Range<usize>| range.contains(&address) && bytes <= range.end - address;
        if within(&self.stack) || !access.writes() && self.constants.iter().any(within) {
            return Ok(());
        }
        Err(self.out_of_bounds(&access, from))
    }

    /// The part of memory that an access goes to; `None`: nowhere that the kernel may touch.
    pub(crate) fn locate(&self, access: &Access) -> Option<Located> {
        let within = |range: &Range<usize>| {
            range.contains(&access.address) && access.bytes <= range.end - access.address
        };
        let located = |range: &Range<usize>, place, origin| Located { range: range.clone(), place, origin };
        if within(&self.stack) {
            return Some(located(&self.stack, Where::Local, self.stack.start));
        }
        if let Some(reach) = self.reaches.iter().find(|reach| reach.holds(access)) {
            return Some(located(&(reach.start..reach.start + reach.len), Where::Global, 0));
        }
        if let Some(shared) = self.shared.iter().find(|shared| within(&shared.range)) {
            return Some(located(&shared.range, Where::Shared, shared.range.start));
        }
        let constant = self.constants.iter().find(|range| !access.writes() && within(range));
        constant.map(|range| located(range, Where::Constant, 0))
    }

    /// One access more; too many are a fault.
    #[inline]
    pub(crate) fn count_step(&mut self, from: usize) -> Result<(), Fault> {
        self.steps += 1;
        if self.steps > PATIENCE {
            let what = format!(
                "{PATIENCE} accesses and basic blocks, and no thread has ended and no barrier has opened: a loop without an end, or threads that wait for others in a loop"
            );
            return Err(self.fault_here(what, from));
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn access_global(&mut self, index: usize, access: &Access, from: usize) -> Result<(), Fault> {
        let reach = &mut self.reaches[index];
        if access.misaligned() {
            let what = format!(
                "misaligned {} of {} bytes at byte {} of {}",
                access.name(),
                access.bytes,
                access.address - reach.start,
                reach.name
            );
            return Err(self.fault_here(what, from));
        }
        if access.writes() && reach.is_untouched() {
            // SAFETY: the launch holds the buffer's lock, and no thread is writing now.
            let bytes = unsafe { std::slice::from_raw_parts(reach.start as *const u8, reach.len) };
            reach.keep(bytes);
        }
        if access.atomic() {
            self.clock.atomic(self.block_number, self.thread);
        }
        let who = Who { block: self.block_number, thread: self.thread, run_start: self.run_start };
        if let Err(race) = reach.check(access, who, &self.clock) {
            let other =
                format!("{} of {}", self.shape.name_thread(race.thread), self.shape.name_block(race.block));
            let what = format!(
                "data race on global memory: {} of {}, which {other} has written without a barrier in between",
                access.name(),
                element(access, self.reaches[index].start, &self.reaches[index].name),
            );
            return Err(self.fault_here(what, from));
        }
        Ok(())
    }

    pub(crate) fn access_shared(&mut self, index: usize, access: &Access, from: usize) -> Result<(), Fault> {
        let shared = &mut self.shared[index];
        let wrong = if access.bytes > shared.range.end - access.address {
            Wrong::OutOfBounds
        } else if access.misaligned() {
            Wrong::Misaligned
        } else {
            let offset = access.address - shared.range.start;
            match shared.shadow.check(offset, access, self.thread, &self.clock) {
                Ok(()) => return Ok(()),
                Err(wrong) => wrong,
            }
        };
        Err(self.wrong_in_shared(index, access, &wrong, from))
    }
}

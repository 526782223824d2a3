//! Where a launch that is counted tells what its threads do.

use crate::device::emulator::access::Access;
use crate::device::emulator::collective::Kind;
use crate::device::emulator::copies::AsyncCopy;
use crate::device::emulator::fault::Fault;
use crate::device::emulator::state::{Located, State};
use crate::device::emulator::xray::collector::Collector;
use crate::device::emulator::xray::notes::{Notes, Page, Seen};
use crate::device::emulator::xray::trace::{Doing, Event, LANES, WarpTrace, Where};

/// Events that a core has room for at most, beyond which it is a fault: those of a warp are kept until all its lanes have come to a
/// barrier of the block. A lane's room is what it has needed in any warp until now.
const MOST_EVENTS: usize = if cfg!(test) { 1 << 20 } else { 1 << 27 };
/// All cores together have room in half of the memory that is free, or in so many bytes where nobody says how much that is.
const BYTES_UNKNOWN: u64 = 2 << 30;
/// Room that a lane has at least once it has any.
const FEWEST_EVENTS: usize = 64;

/// Flops of one product of tensor cores by a warp: 16 × 8 × 8 times 2.
const TENSOR_FLOPS: u64 = 2048;

/// Too many events.
#[derive(Debug)]
struct Full;

/// Events that each of so many cores has room for: a loop without an end runs on all of them.
pub(crate) fn most_events(free_bytes: Option<u64>, cores: usize) -> usize {
    let bytes = free_bytes.map_or(BYTES_UNKNOWN, |free| free / 2) / cores.max(1) as u64;
    usize::try_from(bytes).map_or(MOST_EVENTS, |bytes| (bytes / size_of::<Event>()).min(MOST_EVENTS))
}

/// The trace of the warp that runs, and what was counted until now.
#[derive(Debug)]
pub(crate) struct Tracer {
    /// Where the library lies, and how long it is.
    image: usize,
    bytes: usize,
    /// Of a block.
    warps: usize,
    trace: WarpTrace,
    /// The lane that runs: its events in `trace` are open in `notes`.
    lane: usize,
    notes: Notes,
    /// Events that all lanes have room for, and may have.
    room: usize,
    most_events: usize,
    pub(crate) collector: Collector,
}

impl Tracer {
    /// For a library that lies there, and blocks of so many threads, whose warps have room for so many events.
    pub(crate) fn new(image: usize, bytes: usize, threads: usize, most_events: usize) -> Self {
        Tracer {
            image,
            bytes,
            warps: threads.div_ceil(LANES),
            trace: WarpTrace::new(),
            lane: 0,
            notes: Notes::new(),
            room: 0,
            most_events,
            collector: Collector::default(),
        }
    }

    pub(crate) fn start_block(&mut self, number: u32) {
        self.collector.start_block(number, self.warps);
    }

    /// Where a kernel notes what it does by itself.
    pub(crate) fn page(&self) -> *mut Page {
        self.notes.page()
    }

    #[inline]
    fn open(&mut self) {
        // SAFETY: the events of this lane are used by `closed` alone, which closes them first.
        unsafe { self.notes.open(&mut self.trace.lanes[self.lane]) };
    }

    /// The events of all lanes, none of which notes anything now.
    #[inline]
    fn closed(&mut self) -> &mut WarpTrace {
        // SAFETY: this lane's events were opened last.
        unsafe { self.notes.close(&mut self.trace.lanes[self.lane]) };
        &mut self.trace
    }

    /// From now on this thread tells what it does. All of its warp do before those of another one.
    #[inline]
    pub(crate) fn enter(&mut self, thread: usize) {
        self.closed();
        self.lane = thread % LANES;
        self.open();
    }

    /// All lanes of the warp wait for other warps, or have ended.
    pub(crate) fn warp_pauses(&mut self, warp: usize) {
        self.closed();
        self.collector.warp(warp, &mut self.trace);
    }

    /// Where in the library; 0 for what does not lie in it.
    #[inline]
    fn site(&self, from: usize) -> u32 {
        let site = from.wrapping_sub(self.image);
        if site < self.bytes { site as u32 } else { 0 }
    }

    #[cold]
    fn make_room(&mut self) -> Result<(), Full> {
        let lane = self.lane;
        let more = self.trace.lanes[lane].capacity().max(FEWEST_EVENTS);
        self.room += more;
        if self.room > self.most_events {
            return Err(Full);
        }
        let made = self.closed().lanes[lane].try_reserve_exact(more).map_err(|_| Full);
        self.open();
        made
    }
}

impl State {
    /// Before every access of a launch that is counted.
    #[inline]
    pub(crate) fn access_traced(
        &mut self,
        address: usize,
        bytes: usize,
        kind: u32,
        from: usize,
    ) -> Result<(), Fault> {
        let access = Access::new(address, bytes, kind);
        let Some(tracer) = &mut self.tracer else { return Ok(()) };
        let site = tracer.site(from);
        let Seen { start, len, place, origin } = *tracer.notes.seen(site);
        let offset = address.wrapping_sub(start);
        if offset < len && bytes <= len - offset && !access.misaligned() {
            return self.note(access.event(site, place, address - origin), from);
        }
        self.access_elsewhere(&access, site, from)
    }

    /// An access to another part of memory than the last one from there.
    #[cold]
    fn access_elsewhere(&mut self, access: &Access, site: u32, from: usize) -> Result<(), Fault> {
        let Some(Located { range, place, origin }) = self.locate(access) else {
            return Err(self.out_of_bounds(access, from));
        };
        let at = access.address - origin;
        if access.misaligned() && matches!(place, Where::Global | Where::Shared) {
            let what = format!("misaligned {} of {} bytes at address {at:#x}", access.name(), access.bytes);
            return Err(self.fault_here(what, from));
        }
        // Every fiber has a stack of its own, and tables are not written: who asks next might not go there.
        if let (Some(tracer), Where::Global | Where::Shared) = (&mut self.tracer, place) {
            *tracer.notes.seen(site) = Seen { start: range.start, len: range.len(), origin, place };
        }
        self.note(access.event(site, place, at), from)
    }

    /// A basic block begins.
    #[inline]
    pub(crate) fn basic_block(&mut self, from: usize) -> Result<(), Fault> {
        let Some(tracer) = &self.tracer else { return self.count_step(from) };
        self.note(Event::of(Where::Block, tracer.site(from)), from)
    }

    /// A collective of the warp.
    #[inline]
    pub(crate) fn trace_collective(&mut self, kind: Kind, from: usize) -> Result<(), Fault> {
        let Some(tracer) = &self.tracer else { return Ok(()) };
        let site = tracer.site(from);
        let event = match kind.0 {
            17 => Event { address: TENSOR_FLOPS, bytes: 8, ..Event::of(Where::Tensor, site) },
            18 => Event { address: TENSOR_FLOPS, bytes: 4, ..Event::of(Where::Tensor, site) },
            _ => Event::of(Where::Collective, site),
        };
        self.note(event, from)
    }

    /// A barrier of the block.
    pub(crate) fn trace_barrier(&mut self, from: usize) -> Result<(), Fault> {
        let Some(tracer) = &self.tracer else { return Ok(()) };
        self.note(Event::of(Where::Barrier, tracer.site(from)), from)
    }

    /// Both halves of an asynchronous copy, which has been checked.
    pub(crate) fn trace_copy(&mut self, copy: &AsyncCopy) -> Result<(), Fault> {
        let Some(tracer) = &self.tracer else { return Ok(()) };
        let half = |place, at: usize, bytes| {
            let site = tracer.site(copy.from);
            Event { address: at as u64, site, bytes: short(bytes), place, doing: Doing::Copy }
        };
        let read = (copy.valid > 0).then(|| half(Where::Global, copy.global, copy.valid));
        let shared = self.locate(&Access::new(copy.shared, copy.bytes, Access::WRITE));
        let written = shared.map(|found| half(found.place, copy.shared - found.origin, copy.bytes));
        read.into_iter().chain(written).try_for_each(|event| self.note(event, copy.from))
    }

    /// The present lane did something.
    #[inline]
    fn note(&mut self, event: Event, from: usize) -> Result<(), Fault> {
        let noted = self.tracer.as_mut().is_some_and(|tracer| tracer.notes.note(event));
        if noted { Ok(()) } else { self.note_in_new_room(event, from) }
    }

    /// The same where there is no room left. (Apart, so that where there is some nothing is paid for that.)
    #[cold]
    #[inline(never)]
    fn note_in_new_room(&mut self, event: Event, from: usize) -> Result<(), Fault> {
        let Some(tracer) = &mut self.tracer else { return Ok(()) };
        if let Err(Full) = tracer.make_room() {
            let most = tracer.most_events;
            let what = format!(
                "no room for more than {most} accesses and basic blocks before a barrier of the block: a loop without an end, or more than can be kept to be counted"
            );
            return Err(self.fault_here(what, from));
        }
        tracer.notes.note(event);
        Ok(())
    }
}

impl Access {
    #[inline]
    fn event(&self, site: u32, place: Where, at: usize) -> Event {
        let doing = match (self.atomic(), self.writes()) {
            (true, _) => Doing::Atomic,
            (_, true) => Doing::Store,
            (_, false) if self.fresh() => Doing::FreshLoad,
            (_, false) => Doing::Load,
        };
        Event { address: at as u64, site, bytes: short(self.bytes), place, doing }
    }
}

fn short(bytes: usize) -> u16 {
    bytes.min(u16::MAX as usize) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cores_together_leave_half_of_the_memory() {
        let bytes = |free, cores: usize| most_events(free, cores) * cores * size_of::<Event>();
        assert_eq!(most_events(Some(1 << 40), 4), MOST_EVENTS);
        assert_eq!((bytes(Some(32 << 20), 1), bytes(Some(32 << 20), 64)), (16 << 20, 16 << 20));
        assert!(bytes(None, 1000) as u64 <= BYTES_UNKNOWN);
        assert_eq!(most_events(Some(0), 0), 0);
    }
}

//! Where a launch that is counted tells what its threads do.

use crate::device::emulator::access::Access;
use crate::device::emulator::collective::Kind;
use crate::device::emulator::copies::AsyncCopy;
use crate::device::emulator::fault::Fault;
use crate::device::emulator::state::State;
use crate::device::emulator::xray::collector::Collector;
use crate::device::emulator::xray::trace::{Doing, Event, LANES, WarpTrace, Where};

/// Events of a warp between two barriers of its block beyond which it is a fault: they are kept until all lanes are there.
const MOST_EVENTS: usize = 1 << 28;

/// Flops of one product of tensor cores by a warp: 16 × 8 × 8 times 2.
const TENSOR_FLOPS: u64 = 2048;

/// Traces of the warps of the block that runs, and what was counted until now.
#[derive(Debug)]
pub(crate) struct Tracer {
    /// Where the library lies, and how long it is.
    image: usize,
    bytes: usize,
    warps: Vec<WarpTrace>,
    pub(crate) collector: Collector,
    events: usize,
}

impl Tracer {
    /// For a library that lies there, and blocks of so many threads.
    pub(crate) fn new(image: usize, bytes: usize, threads: usize) -> Self {
        let warps = (0..threads.div_ceil(LANES)).map(|_| WarpTrace::new()).collect();
        Tracer { image, bytes, warps, collector: Collector::default(), events: 0 }
    }

    pub(crate) fn start_block(&mut self, number: u32) {
        self.warps.iter_mut().for_each(WarpTrace::start_block);
        self.collector.start_block(number, self.warps.len());
    }

    /// All lanes of the warp wait for other warps, or have ended.
    pub(crate) fn warp_pauses(&mut self, warp: usize) {
        self.events = 0;
        self.collector.warp(warp, &mut self.warps[warp]);
    }

    pub(crate) fn collective(&mut self, thread: usize, kind: Kind, from: usize) {
        let site = self.site(from);
        let event = match kind.0 {
            17 => Event { address: TENSOR_FLOPS, bytes: 8, ..Event::of(Where::Tensor, site) },
            18 => Event { address: TENSOR_FLOPS, bytes: 4, ..Event::of(Where::Tensor, site) },
            _ => Event::of(Where::Collective, site),
        };
        self.push(thread, event);
    }

    pub(crate) fn barrier(&mut self, thread: usize, from: usize) {
        self.push(thread, Event::of(Where::Barrier, self.site(from)));
    }

    /// Where in the library; 0 for what does not lie in it.
    #[inline]
    fn site(&self, from: usize) -> u32 {
        let site = from.wrapping_sub(self.image);
        if site < self.bytes { site as u32 } else { 0 }
    }

    #[inline]
    fn push(&mut self, thread: usize, event: Event) {
        self.events += 1;
        self.warps[thread / LANES].lanes[thread % LANES].push(event);
    }
}

impl State {
    /// Before every access of a launch that is counted.
    pub(crate) fn access_traced(
        &mut self,
        address: usize,
        bytes: usize,
        kind: u32,
        from: usize,
    ) -> Result<(), Fault> {
        self.count_step(from)?;
        let access = Access::new(address, bytes, kind);
        let Some((place, at)) = self.locate(&access) else { return Err(self.out_of_bounds(&access, from)) };
        if access.misaligned() && matches!(place, Where::Global | Where::Shared) {
            let what = format!("misaligned {} of {bytes} bytes at address {at:#x}", access.name());
            return Err(self.fault_here(what, from));
        }
        let doing = match (access.atomic(), access.writes()) {
            (true, _) => Doing::Atomic,
            (_, true) => Doing::Store,
            (_, false) => Doing::Load,
        };
        self.note(place, doing, at, bytes, from)
    }

    /// A basic block begins.
    #[inline]
    pub(crate) fn basic_block(&mut self, from: usize) -> Result<(), Fault> {
        self.count_step(from)?;
        let thread = self.thread;
        if let Some(tracer) = &mut self.tracer {
            let site = tracer.site(from);
            tracer.push(thread, Event::of(Where::Block, site));
        }
        Ok(())
    }

    /// Both halves of an asynchronous copy, which has been checked.
    pub(crate) fn trace_copy(&mut self, copy: &AsyncCopy) -> Result<(), Fault> {
        let shared = self.locate(&Access::new(copy.shared, copy.bytes, Access::WRITE));
        if copy.valid > 0 {
            self.note(Where::Global, Doing::Copy, copy.global as u64, copy.valid, copy.from)?;
        }
        match shared {
            Some((place, at)) => self.note(place, Doing::Copy, at, copy.bytes, copy.from),
            None => Ok(()),
        }
    }

    #[inline]
    fn note(&mut self, place: Where, doing: Doing, at: u64, bytes: usize, from: usize) -> Result<(), Fault> {
        let thread = self.thread;
        let Some(tracer) = &mut self.tracer else { return Ok(()) };
        if tracer.events > MOST_EVENTS {
            let what =
                "more accesses of one warp without a barrier of its block than can be kept to be counted";
            return Err(self.fault_here(what.into(), from));
        }
        let bytes = bytes.min(u16::MAX as usize) as u16;
        let site = tracer.site(from);
        tracer.push(thread, Event { address: at, site, bytes, place, doing });
        Ok(())
    }
}

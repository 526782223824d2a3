//! Everything that a launch knows while it runs: where the present thread is, what it may touch, who waits. What is looked at before every access is in `accesses`.

mod accesses;

pub(crate) use crate::device::emulator::state::accesses::Located;

use crate::device::emulator::block::Block;
use crate::device::emulator::clock::Clock;
use crate::device::emulator::collective::Kind;
use crate::device::emulator::copies::Copies;
use crate::device::emulator::fault::{Fault, Shape};
use crate::device::emulator::flags::LARGEST_FRAME;
use crate::device::emulator::global_memory::Reach;
use crate::device::emulator::hooks::ThreadPosition;
use crate::device::emulator::memory::{Region, Registry};
use crate::device::emulator::scheduler::Fiber;
use crate::device::emulator::shared_memory::SharedShadow;
use crate::device::emulator::xray::Tracer;
use std::ops::Range;
use std::sync::Arc;

const STATIC: &str = "static";
/// What a kernel must leave of its stack when a function of it begins: for the frame of the next one, which is made before
/// anybody can look, and for the emulator's own functions.
pub(crate) const STACK_RESERVE: usize = LARGEST_FRAME + (64 << 10);

/// Shared memory, static or dynamic, and its shadow.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) range: Range<usize>,
    pub(crate) name: &'static str,
    shadow: SharedShadow,
}

impl Shared {
    /// `thread` copies to these bytes, which lie within.
    pub(crate) fn start_copy(&mut self, address: usize, bytes: usize, thread: usize) {
        self.shadow.set_copying(address - self.range.start, bytes, Some(thread));
    }
    /// The copy has arrived, if it went here.
    pub(crate) fn end_copy(&mut self, address: usize, bytes: usize) {
        if self.range.contains(&address) {
            self.shadow.set_copying(address - self.range.start, bytes, None);
        }
    }
}

/// A launch while it runs. Kernels and the scheduler reach it in turns, through its address.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) place: ThreadPosition,
    pub(crate) shape: Shape,
    /// Numbers of the present block and thread.
    pub(crate) block_number: u32,
    pub(crate) thread: usize,
    thread_indices: Vec<[u32; 3]>,
    /// The warp whose threads are being begun, their order, and how far that is.
    beginning: usize,
    lanes: Vec<u32>,
    next_lane: usize,
    pub(crate) block: Block,
    pub(crate) clock: Clock,
    pub(crate) copies: Copies,
    run_start: u64,
    pub(crate) reaches: Vec<Reach>,
    pub(crate) shared: Vec<Shared>,
    constants: Vec<Range<usize>>,
    /// The present fiber's stack and the way out of it.
    stack: Range<usize>,
    pub(crate) yielder: *const Fiber,
    pub(crate) fault: Option<Fault>,
    pub(crate) registry: Arc<Registry>,
    /// Without the emulator's own checks no access is looked at.
    pub(crate) checked: bool,
    steps: u64,
    /// What counts, where that was asked for.
    pub(crate) tracer: Option<Box<Tracer>>,
}

impl State {
    pub(crate) fn new(
        shape: Shape,
        reaches: Vec<Reach>,
        static_shared: Range<usize>,
        dynamic_shared: &Region,
        constants: Vec<Range<usize>>,
        registry: Arc<Registry>,
        checked: bool,
    ) -> Self {
        let threads = shape.block.iter().product::<u32>() as usize;
        let dynamic = dynamic_shared.address()..dynamic_shared.address() + dynamic_shared.len();
        let shared = [(STATIC, static_shared), ("dynamic", dynamic)];
        let shared = shared.into_iter().filter(|(_, range)| !range.is_empty()).map(|(name, range)| {
            let shadow = SharedShadow::new(range.len());
            Shared { range, name, shadow }
        });
        let place = ThreadPosition {
            thread: [0; 3],
            block: [0; 3],
            block_size: shape.block,
            grid_size: shape.grid,
            lane: 0,
            dynamic_shared: dynamic_shared.as_mut_ptr(),
            stack_floor: 0,
        };
        State {
            place,
            shape,
            block_number: 0,
            thread: 0,
            thread_indices: (0..threads).map(|thread| shape.thread(thread)).collect(),
            beginning: 0,
            lanes: Vec::new(),
            next_lane: 0,
            block: Block::new(threads),
            clock: Clock::new(threads),
            copies: Copies::new(threads),
            run_start: 0,
            reaches,
            shared: shared.collect(),
            constants,
            stack: 0..0,
            yielder: std::ptr::null(),
            fault: None,
            registry,
            checked,
            steps: 0,
            tracer: None,
        }
    }

    /// Threads of a block.
    pub(crate) fn threads(&self) -> usize {
        self.thread_indices.len()
    }

    /// Begins a run in which the threads of each warp begin in the order of `lanes`, and copies arrive at once or late.
    pub(crate) fn start_run(&mut self, lanes: &[u32], copies_late: bool) {
        self.copies.start_run(copies_late);
        self.lanes = lanes.to_vec();
        self.run_start = self.clock.start_run();
    }

    /// Poisons shared memory and sets all threads to their beginning.
    pub(crate) fn start_block(&mut self, number: u32) {
        self.block_number = number;
        self.place.block = self.shape.block(number);
        self.block.start();
        self.copies.start_block();
        self.clock.start_block();
        if let Some(tracer) = &mut self.tracer {
            tracer.start_block(number);
        }
        for shared in &mut self.shared {
            if !self.checked && shared.name == STATIC {
                continue; // between these variables lie marks of the sanitizer
            }
            shared.shadow.start_block();
            // SAFETY: the range is the library's or the launch's shared memory, and no thread runs.
            unsafe { (shared.range.start as *mut u8).write_bytes(0xFF, shared.range.len()) };
        }
    }

    /// From now on this thread runs.
    #[inline]
    fn enter(&mut self, thread: usize) {
        self.thread = thread;
        self.place.thread = self.thread_indices[thread];
        self.place.lane = thread as u32 % 32;
        if let Some(tracer) = &mut self.tracer {
            tracer.enter(thread);
        }
    }

    /// From now on [`begin`](Self::begin) takes the threads of this warp. `false`: all of them have begun.
    pub(crate) fn begin_warp(&mut self, warp: usize) -> bool {
        (self.beginning, self.next_lane) = (warp, 0);
        self.block.warps[warp].unstarted != 0
    }

    /// Enters the next thread of the warp that has not begun.
    #[inline]
    pub(crate) fn begin(&mut self) -> bool {
        while let Some(&lane) = self.lanes.get(self.next_lane) {
            self.next_lane += 1;
            let unstarted = &mut self.block.warps[self.beginning].unstarted;
            if *unstarted >> lane & 1 == 1 {
                *unstarted &= !(1 << lane);
                self.enter(self.beginning * 32 + lane as usize);
                return true;
            }
        }
        false
    }

    /// Enters a thread that waited and need not wait any more.
    #[inline]
    pub(crate) fn go_on(&mut self, thread: usize) -> bool {
        let ready = &mut self.block.warps[thread / 32].ready;
        let may = *ready >> (thread % 32) & 1 == 1;
        if may {
            *ready &= !(1 << (thread % 32));
            self.enter(thread);
        }
        may
    }

    pub(crate) fn thread(&self) -> usize {
        self.thread
    }

    /// From now on kernels run on this stack, whose last part is not theirs.
    pub(crate) fn set_stack(&mut self, stack: &Range<usize>) {
        self.stack = stack.clone();
        self.place.stack_floor = stack.start + STACK_RESERVE;
    }

    /// The present thread has returned from the kernel.
    pub(crate) fn exit(&mut self) {
        self.steps = 0;
        match self.block.exit(self.thread, &mut self.clock) {
            Err(missing) => self.fault = Some(self.missing(&missing, 0)),
            Ok(()) if self.diverged() => self.fault = Some(self.divergent_barrier()),
            Ok(()) => {}
        }
    }

    /// A collective of the warp; `true` when the thread need not wait.
    #[inline]
    pub(crate) fn collective(
        &mut self,
        kind: u32,
        mask: u32,
        value: u64,
        source: u32,
        from: usize,
    ) -> Result<bool, Fault> {
        self.steps = 0;
        let kind = Kind(kind);
        if mask >> self.place.lane & 1 == 0 {
            let what = format!(
                "{} with mask {mask:#010x} by lane {}, which is not in it",
                kind.name(),
                self.place.lane
            );
            return Err(self.fault_here(what, from));
        }
        self.trace_collective(kind, from)?;
        let met = self.block.collective(self.thread, kind, mask, value, source, from, &mut self.clock);
        met.map_err(|missing| self.missing(&missing, from))
    }

    /// A collective of all lanes to which each brings `bytes`, and after which each sees those of all; `true` when the
    /// thread need not wait.
    pub(crate) fn gather(&mut self, kind: u32, bytes: &[u8], from: usize) -> Result<bool, Fault> {
        self.block.bring(self.thread, bytes);
        self.collective(kind, u32::MAX, 0, 0, from)
    }

    /// What the lanes brought, one after the other.
    pub(crate) fn gathered(&self) -> *const u64 {
        self.block.gathered(self.thread)
    }

    pub(crate) fn collective_result(&self) -> u64 {
        self.block.collective_result(self.thread)
    }

    /// The barrier that just opened was not one call that all threads came to. Where launches are counted that is no fault: the compiler
    /// may have made several calls of one there.
    fn diverged(&self) -> bool {
        self.block.diverged && self.tracer.is_none()
    }

    /// A barrier of the block; `true` when the thread need not wait.
    pub(crate) fn barrier(&mut self, kind: u32, predicate: bool, from: usize) -> Result<bool, Fault> {
        self.steps = 0;
        self.trace_barrier(from)?;
        let opened = self.block.barrier(self.thread, kind, predicate, from, &mut self.clock);
        if opened && self.diverged() {
            return Err(self.divergent_barrier());
        }
        Ok(opened)
    }

    pub(crate) fn barrier_result(&self) -> u32 {
        self.block.barrier_result()
    }

    pub(crate) fn fence(&mut self) {
        self.clock.fence(self.thread);
    }
}

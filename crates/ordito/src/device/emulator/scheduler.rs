//! Runs the threads of a launch, each on a fiber, blocks and warps one after the other.
//!
//! A fiber runs thread after thread until one has to wait; the threads after it then get another fiber. So a kernel
//! without barriers needs one fiber, and one whose warps do not wait for each other needs 32.

use crate::device::emulator::fault::Fault;
use crate::device::emulator::hooks::Arguments;
use crate::device::emulator::library::Call;
use crate::device::emulator::order::Order;
use crate::device::emulator::state::{STACK_RESERVE, State};
use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::convert::Infallible;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Of a thread: enough for the local arrays of any sensible kernel. Pages that are not touched cost nothing.
pub(crate) const KERNEL_STACK_BYTES: usize = 128 << 10;
/// Below it lies a page that nobody may touch.
const STACK_BYTES: usize = KERNEL_STACK_BYTES + STACK_RESERVE;

/// Why a fiber was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Its thread waits for others.
    Waiting,
    /// Its warp has no thread left that has not begun.
    Idle,
    /// Its thread did what is not allowed.
    Stopped,
}

/// The way out of a fiber.
pub(crate) type Fiber = Yielder<(), Pause>;

/// Stacks that are not in use.
#[derive(Default)]
pub(crate) struct Stacks {
    free: Mutex<Vec<DefaultStack>>,
}

impl Stacks {
    /// As many as a block has threads.
    const KEPT: usize = 1024;

    fn take(&self) -> std::io::Result<DefaultStack> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.map_or_else(|| DefaultStack::new(STACK_BYTES), Ok)
    }

    fn give_back(&self, stack: DefaultStack) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < Self::KEPT {
            free.push(stack);
        }
    }
}

struct Worker {
    fiber: Coroutine<(), Pause, Infallible, DefaultStack>,
    stack: Range<usize>,
}

/// A launch with its fibers. The state is reached by its address alone, by the scheduler and the kernel in turns.
pub(crate) struct Scheduler<'a> {
    state: *mut State,
    call: Call,
    arguments: Arguments,
    stacks: &'a Stacks,
    workers: Vec<Worker>,
    idle: Vec<usize>,
    /// The fiber of each thread that waits.
    worker_of: Vec<usize>,
}

impl<'a> Scheduler<'a> {
    /// # Safety
    /// `state` is valid, and nobody else uses it as long as the scheduler lives. `call` is a kernel that was given
    /// this state, and takes these arguments.
    pub(crate) unsafe fn new(
        state: *mut State,
        call: Call,
        arguments: Arguments,
        stacks: &'a Stacks,
    ) -> Self {
        // SAFETY: valid, and not shared yet.
        let threads = unsafe { (*state).threads() };
        let worker_of = vec![usize::MAX; threads];
        Scheduler { state, call, arguments, stacks, workers: Vec::new(), idle: Vec::new(), worker_of }
    }

    /// Runs these blocks, their threads in this order.
    pub(crate) fn run(&mut self, order: Order, blocks: &[u32]) -> Result<(), Fault> {
        let lanes: Vec<u32> = order.of(32);
        let warps = order.of(self.worker_of.len().div_ceil(32) as u32);
        self.with(|state| state.start_run(&lanes, order.copies_late()));
        for &block in blocks {
            self.with(|state| state.start_block(block));
            self.run_block(&warps, &lanes)?;
        }
        Ok(())
    }

    /// A look at the state between two resumptions.
    #[inline]
    fn with<T>(&mut self, look: impl FnOnce(&mut State) -> T) -> T {
        // SAFETY: `new`'s caller promised; no fiber runs, and none holds a reference while it is suspended.
        look(unsafe { &mut *self.state })
    }

    fn run_block(&mut self, warps: &[u32], lanes: &[u32]) -> Result<(), Fault> {
        loop {
            let mut advanced = false;
            for &warp in warps {
                advanced |= self.run_warp(warp as usize, lanes)?;
            }
            if self.with(|state| state.block.all_ended()) {
                return Ok(());
            }
            if !advanced {
                return Err(self.with(|state| state.deadlock()));
            }
        }
    }

    /// Runs a warp until each of its threads has ended or waits for another warp. `false`: nothing could be done.
    fn run_warp(&mut self, warp: usize, lanes: &[u32]) -> Result<bool, Fault> {
        let mut advanced = false;
        while self.with(|state| state.begin_warp(warp)) {
            advanced = true;
            let worker = self.idle_worker()?;
            self.resume(worker)?;
        }
        while self.with(|state| state.block.warps[warp].ready) != 0 {
            advanced = true;
            for &lane in lanes {
                let thread = warp * 32 + lane as usize;
                if self.with(|state| state.go_on(thread)) {
                    self.resume(self.worker_of[thread])?;
                }
            }
        }
        if advanced {
            self.with(|state| state.tracer.as_mut().into_iter().for_each(|tracer| tracer.warp_pauses(warp)));
        }
        Ok(advanced)
    }

    /// Always inlined: a processor foretells where functions return to, and a function that returns on another stack than it was called
    /// on spoils that.
    #[inline(always)]
    fn resume(&mut self, worker: usize) -> Result<(), Fault> {
        let Worker { fiber, stack } = &mut self.workers[worker];
        // SAFETY: as in `with`.
        unsafe { (*self.state).set_stack(stack) };
        let pause = match fiber.resume(()) {
            CoroutineResult::Yield(pause) => pause,
            CoroutineResult::Return(never) => match never {},
        };
        match pause {
            Pause::Waiting => {
                let thread = self.with(|state| state.thread());
                self.worker_of[thread] = worker;
            }
            Pause::Idle => self.idle.push(worker),
            Pause::Stopped => {}
        }
        if self.with(|state| state.fault.is_some()) { self.fault() } else { Ok(()) }
    }

    #[cold]
    fn fault(&mut self) -> Result<(), Fault> {
        self.with(|state| state.fault.take()).map_or(Ok(()), Err)
    }

    fn idle_worker(&mut self) -> Result<usize, Fault> {
        if let Some(worker) = self.idle.pop() {
            return Ok(worker);
        }
        let stack =
            self.stacks.take().map_err(|error| Fault::new(format!("no memory for a stack: {error}")))?;
        let range = stack.base().get() - STACK_BYTES..stack.base().get();
        let (state, call, arguments) = (self.state, self.call, self.arguments.as_mut_ptr());
        let fiber = Coroutine::with_stack(stack, move |fiber: &Fiber, ()| {
            // Nothing in here may need to be dropped: fibers are abandoned.
            loop {
                // SAFETY: while a fiber runs, the scheduler holds no reference to the state; each one here ends
                // with its statement. The arguments are those of the kernel.
                unsafe {
                    (*state).yielder = fiber;
                    while (*state).begin() {
                        call(arguments);
                        (*state).exit();
                    }
                }
                fiber.suspend(Pause::Idle);
            }
        });
        self.workers.push(Worker { fiber, stack: range });
        Ok(self.workers.len() - 1)
    }
}

impl Drop for Scheduler<'_> {
    fn drop(&mut self) {
        for Worker { mut fiber, .. } in self.workers.drain(..) {
            // SAFETY: what is on the stack is a loop that owns nothing, and perhaps a kernel, whose variables are
            // numbers. Unwinding, the alternative, would have to pass through code compiled without it.
            unsafe { fiber.force_reset() };
            self.stacks.give_back(fiber.into_stack());
        }
    }
}

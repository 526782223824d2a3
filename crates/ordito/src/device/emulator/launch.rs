//! A compiled kernel and its launches, each run in several orders.

use crate::device::argument::Argument;
use crate::device::backend::{DeviceError, Function};
use crate::device::emulator::fault::{Fault, Shape};
use crate::device::emulator::global_memory::Reach;
use crate::device::emulator::hooks::{Arguments, Table};
use crate::device::emulator::library::KernelLibrary;
use crate::device::emulator::memory::{Allocation, Region, Registry};
use crate::device::emulator::order::Order;
use crate::device::emulator::scheduler::{Scheduler, Stacks};
use crate::device::emulator::state::State;
use crate::device::emulator::xray::Recorder;
use crate::device::launch::{DeviceLimits, KernelAttributes, LaunchPlan};
use crate::device::source::KernelSource;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, MutexGuard};

/// Beyond that many blocks the order of a run alone would fill the memory.
const MOST_BLOCKS: u64 = 1 << 26;

/// What launches share.
pub(crate) struct Resources {
    pub(crate) registry: Arc<Registry>,
    pub(crate) stacks: Stacks,
    pub(crate) orders: Vec<Order>,
    pub(crate) limits: DeviceLimits,
    /// Whether kernels call the emulator before every access.
    pub(crate) checked: bool,
    /// Where what launches do is counted; they then run once, and only bounds are checked.
    pub(crate) xray: Option<Recorder>,
}

/// A kernel of the emulator.
pub(crate) struct EmulatedFunction {
    pub(crate) title: String,
    pub(crate) source: KernelSource,
    pub(crate) library: Arc<KernelLibrary>,
    pub(crate) resources: Arc<Resources>,
}

impl fmt::Debug for EmulatedFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmulatedFunction").field("title", &self.title).finish_non_exhaustive()
    }
}

impl Function for EmulatedFunction {
    unsafe fn launch(&self, plan: &LaunchPlan, arguments: &[Argument]) -> Result<(), DeviceError> {
        let run = match &self.resources.xray {
            None => self.run(plan, arguments),
            Some(recorder) => self.run_counted(plan, arguments, recorder),
        };
        run.map_err(|why| DeviceError::Emulated(format!("{}: {why}", self.title)))
    }
    fn attributes(&self) -> KernelAttributes {
        KernelAttributes::default()
    }
    fn blocks_per_multiprocessor(&self, _plan: &LaunchPlan) -> Option<u32> {
        None
    }
}

impl EmulatedFunction {
    fn run(&self, plan: &LaunchPlan, arguments: &[Argument]) -> Result<(), String> {
        self.check_launch(plan, arguments)?;
        let _alone = self.library.lock();
        let allocations = self.reached(arguments);
        // In the order of their addresses, so that two launches never wait for each other.
        let mut regions: Vec<MutexGuard<'_, Region>> = allocations.iter().map(|found| found.lock()).collect();
        let reach = |found: &Arc<Allocation>| Reach::new(found.address, found.len, found.name.clone());
        let dynamic_shared = Region::new(plan.shared_bytes() as usize, self.resources.checked)
            .ok_or("no memory for dynamic shared memory")?;
        let state = State::new(
            Shape { grid: plan.grid(), block: plan.block() },
            allocations.iter().map(reach).collect(),
            self.library.static_shared.clone(),
            &dynamic_shared,
            self.library.constants.clone(),
            self.resources.registry.clone(),
            self.resources.checked,
        );
        let state = Owned(Box::into_raw(Box::new(state)));
        // SAFETY: the state outlives the table's last use: the lock is held until the end of this function.
        self.library.start(&unsafe { Table::new(state.0) });
        let arguments = Arguments::new(arguments.iter().map(Argument::bytes));
        // SAFETY: the state is this function's alone; the library was started with it, and takes these arguments.
        let mut scheduler =
            unsafe { Scheduler::new(state.0, self.library.call, arguments, &self.resources.stacks) };
        // SAFETY: between two runs no fiber runs, and the scheduler holds no reference.
        let reaches = || unsafe { &mut (*state.0).reaches };
        if !self.resources.checked {
            reaches().iter_mut().zip(&regions).for_each(|(reach, region)| reach.keep(region.bytes()));
        }
        for (run, &order) in self.resources.orders.iter().enumerate() {
            if run > 0 {
                restore(reaches(), &mut regions);
            }
            let result = scheduler.run(order, &order.of(plan.blocks() as u32));
            result.map_err(|fault| self.message(&fault, order))?;
            if run == 0 {
                reaches().iter_mut().zip(&regions).for_each(|(reach, region)| reach.remember(region.bytes()));
            } else {
                self.compare(reaches(), &regions, order)?;
            }
        }
        Ok(())
    }

    /// What a GPU would not notice, or not before it is too late.
    pub(crate) fn check_launch(&self, plan: &LaunchPlan, arguments: &[Argument]) -> Result<(), String> {
        let given: Vec<usize> = arguments.iter().map(|argument| argument.bytes().len()).collect();
        let wanted = &self.library.parameter_bytes;
        if given.len() != wanted.len() {
            return Err(format!("{} arguments for {} parameters", given.len(), wanted.len()));
        }
        if let Some(index) = (0..given.len()).find(|&index| given[index] != wanted[index]) {
            let (given, wanted) = (given[index], wanted[index]);
            return Err(format!("argument {index} has {given} bytes, the parameter {wanted}"));
        }
        let (most, shared) = (
            self.resources.limits.shared_bytes_per_block as usize,
            self.library.static_shared.len() + plan.shared_bytes() as usize,
        );
        if shared > most {
            return Err(format!("{shared} bytes of shared memory, the limit is {most}"));
        }
        if plan.blocks() > MOST_BLOCKS {
            return Err(format!("{} blocks are more than the emulator runs ({MOST_BLOCKS})", plan.blocks()));
        }
        Ok(())
    }

    /// The buffers that arguments point into, by address.
    pub(crate) fn reached(&self, arguments: &[Argument]) -> Vec<Arc<Allocation>> {
        // Also those that lie in a struct.
        let words = arguments.iter().flat_map(|argument| argument.bytes().chunks_exact(8));
        let found = words.filter_map(|word| word.try_into().map(u64::from_ne_bytes).ok());
        let found = found.filter_map(|address| self.resources.registry.find(address as usize));
        let by_address: BTreeMap<usize, Arc<Allocation>> =
            found.map(|found| (found.address, found)).collect();
        by_address.into_values().collect()
    }

    fn compare(
        &self,
        reaches: &mut [Reach],
        regions: &[MutexGuard<'_, Region>],
        order: Order,
    ) -> Result<(), String> {
        for (reach, region) in reaches.iter_mut().zip(regions) {
            if let Some(byte) = reach.compare(region.bytes()) {
                let first = self.resources.orders[0].name();
                return Err(format!(
                    "the result depends on the order of the threads: {} differs from byte {byte} on between \
                     {first} and {} order",
                    reach.name,
                    order.name()
                ));
            }
        }
        Ok(())
    }

    fn message(&self, fault: &Fault, order: Order) -> String {
        let message = fault.message(&self.library.lines());
        match order {
            Order::Ascending => message,
            order => format!("{message} (threads in {} order)", order.name()),
        }
    }
}

/// What was written is as it was before the launch.
fn restore(reaches: &[Reach], regions: &mut [MutexGuard<'_, Region>]) {
    for (reach, region) in reaches.iter().zip(regions) {
        if let Some(before) = reach.before() {
            region.bytes_mut().copy_from_slice(before);
        }
    }
}

/// A state that is only reached by its address until it is dropped. Declared before the scheduler, so that the
/// fibers are gone by then.
pub(crate) struct Owned(pub(crate) *mut State);

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: from `Box::into_raw`, and dropped once.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

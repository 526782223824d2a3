//! A launch that is counted: its blocks on several cores, what they ask of memory through the caches in the order of a GPU.

use crate::cpu::available_memory_bytes;
use crate::device::argument::Argument;
use crate::device::emulator::fault::Shape;
use crate::device::emulator::flags::Checks;
use crate::device::emulator::global_memory::Reach;
use crate::device::emulator::hooks::{Arguments, Table};
use crate::device::emulator::launch::{EmulatedFunction, Owned};
use crate::device::emulator::library::KernelLibrary;
use crate::device::emulator::memory::{Allocation, Region};
use crate::device::emulator::order::Order;
use crate::device::emulator::scheduler::Scheduler;
use crate::device::emulator::state::State;
use crate::device::emulator::xray::assemble::assemble;
use crate::device::emulator::xray::collector::{Counted, Request};
use crate::device::emulator::xray::described::{Described, Taken};
use crate::device::emulator::xray::gpus::GpuModel;
use crate::device::emulator::xray::memory_system::{FirstLevel, FoundAt, SecondLevel};
use crate::device::emulator::xray::tracer::most_events;
use crate::device::emulator::xray::{Recorder, Tracer};
use crate::device::launch::LaunchPlan;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// The blocks that one multiprocessor holds at a time.
struct Share {
    /// As many multiprocessors as there are have one share each before the next wave.
    wave: usize,
    multiprocessor: usize,
    blocks: Vec<u32>,
}

/// What all cores see.
struct Work<'a> {
    function: &'a EmulatedFunction,
    plan: &'a LaunchPlan,
    arguments: &'a [Argument],
    allocations: &'a [Arc<Allocation>],
    shares: Vec<Share>,
    next: AtomicUsize,
    failed: AtomicBool,
    first_levels: Vec<Turns>,
    /// What the warp of a core has room for.
    most_events: usize,
}

/// The first level of a multiprocessor, which sees one wave after the other.
struct Turns {
    level: Mutex<(usize, FirstLevel)>,
    changed: Condvar,
}

impl EmulatedFunction {
    /// Runs the launch once, and keeps what it did.
    pub(crate) fn run_counted(
        &self,
        plan: &LaunchPlan,
        arguments: &[Argument],
        recorder: &Recorder,
    ) -> Result<(), String> {
        self.check_launch(plan, arguments)?;
        let start = Instant::now();
        let options = &recorder.options;
        let _alone = self.library.lock();
        let allocations = self.reached(arguments);
        let _regions: Vec<_> = allocations.iter().map(|found| found.lock()).collect();
        let taken = self.taken(options.gpu);
        let shared_bytes = self.library.static_shared.len() as u64 + u64::from(plan.shared_bytes());
        let resident =
            options.gpu.resident_blocks(plan.threads_per_block(), taken.registers, shared_bytes).max(1);
        let blocks = chosen(plan.blocks(), options.most_blocks);
        let multiprocessors = options.gpu.multiprocessors as usize;
        let l1 = options.gpu.l1(shared_bytes * u64::from(resident));
        let first_level = || Turns { level: Mutex::new((0, FirstLevel::new(l1))), changed: Condvar::new() };
        let used = multiprocessors.min(blocks.len());
        let shares = deal(&blocks, multiprocessors, resident as usize);
        let cores = options.cores.clamp(1, shares.len().max(1));
        let work = Work {
            function: self,
            plan,
            arguments,
            allocations: &allocations,
            shares,
            next: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            first_levels: (0..used).map(|_| first_level()).collect(),
            most_events: most_events(available_memory_bytes(), cores),
        };
        // Static shared memory is part of the library: every core has one of its own.
        let mut libraries = vec![self.library.clone()];
        for _ in 1..cores {
            let copy = KernelLibrary::load(self.library.code.clone(), Checks::Counted);
            libraries.push(Arc::new(copy.map_err(|refusal| refusal.to_string())?));
        }
        let mut second = SecondLevel::new(options.gpu);
        let (counted, found) = work.run(&libraries, &mut second)?;
        let described =
            Described { plan, shared_bytes, resident, taken, blocks_counted: blocks.len() as u64 };
        let mut launch = assemble(self, &described, options.gpu, counted, &found, &second, &allocations);
        (launch.seconds, launch.cores) = (start.elapsed().as_secs_f64(), cores);
        recorder.keep(launch);
        Ok(())
    }

    /// What NVRTC says of the kernel, where it is installed.
    #[cfg(feature = "cuda")]
    fn taken(&self, gpu: &GpuModel) -> Taken {
        use crate::device::gpu::nvrtc;
        use crate::device::source::Architecture;
        let number = gpu.architecture.trim_start_matches("sm_").parse().unwrap_or(0);
        let checked = nvrtc::check(&self.source, Architecture::plain(number)).ok();
        checked.map_or_else(Taken::default, |resources| Taken {
            registers: Some(resources.registers),
            local_bytes: Some(resources.stack_bytes),
        })
    }
    #[cfg(not(feature = "cuda"))]
    fn taken(&self, _: &GpuModel) -> Taken {
        Taken::default()
    }
}

/// Numbers of the blocks that are run: all, or so many spread evenly.
fn chosen(blocks: u64, most: Option<u64>) -> Vec<u32> {
    match most.filter(|&most| most < blocks) {
        None => (0..blocks as u32).collect(),
        Some(most) => (0..most).map(|number| (number * blocks / most) as u32).collect(),
    }
}

/// Deals blocks out to multiprocessors, each of which holds `resident` at a time.
fn deal(blocks: &[u32], multiprocessors: usize, resident: usize) -> Vec<Share> {
    let waves = blocks.chunks(multiprocessors * resident).enumerate();
    let shares = waves.flat_map(|(wave, blocks)| {
        (0..multiprocessors.min(blocks.len())).map(move |multiprocessor| {
            let blocks = blocks.iter().copied().skip(multiprocessor).step_by(multiprocessors).collect();
            Share { wave, multiprocessor, blocks }
        })
    });
    shares.collect()
}

/// What a core hands on: which share, and what of it the second level is asked for.
type Missed = (usize, Vec<Request>);

impl Work<'_> {
    /// All shares on as many cores as there are libraries; the second level sees wave after wave.
    fn run(
        &self,
        libraries: &[Arc<KernelLibrary>],
        second: &mut SecondLevel,
    ) -> Result<(Counted, FoundAt), String> {
        let (sender, receiver) = channel::<Missed>();
        let results = std::thread::scope(|scope| {
            let cores: Vec<_> = libraries
                .iter()
                .map(|library| {
                    let sender = sender.clone();
                    scope.spawn(move || self.run_core(library, &sender))
                })
                .collect();
            drop(sender);
            let mut waves: BTreeMap<usize, Vec<Vec<Request>>> = BTreeMap::new();
            let mut left: BTreeMap<usize, usize> = BTreeMap::new();
            self.shares.iter().for_each(|share| *left.entry(share.wave).or_default() += 1);
            for (number, missed) in receiver {
                let Share { wave, multiprocessor, .. } = self.shares[number];
                let lists = waves.entry(wave).or_insert_with(|| vec![Vec::new(); self.first_levels.len()]);
                lists[multiprocessor] = missed;
                left.entry(wave).and_modify(|left| *left -= 1);
                while let Some((&first, 0)) = left.first_key_value() {
                    waves.remove(&first).into_iter().for_each(|lists| second.run(&lists));
                    left.remove(&first);
                }
            }
            let ended =
                cores.into_iter().map(|core| core.join().unwrap_or_else(|_| Err("a core failed".into())));
            ended.collect::<Vec<_>>()
        });
        let (mut counted, mut found) = (Counted::default(), FoundAt::default());
        for result in results {
            let (more, more_found) = result?;
            counted.add(more);
            found.add(&more_found);
        }
        found.add(&second.found);
        Ok((counted, found))
    }

    /// One core: share after share, until there is none or somebody failed.
    fn run_core(
        &self,
        library: &KernelLibrary,
        sender: &Sender<Missed>,
    ) -> Result<(Counted, FoundAt), String> {
        let ran = self.run_shares(library, sender);
        if ran.is_err() {
            self.failed.store(true, Ordering::Relaxed);
            // Who waits for a first level that nobody will bring on must see it.
            self.first_levels.iter().for_each(|turns| turns.changed.notify_all());
        }
        ran
    }

    fn run_shares(
        &self,
        library: &KernelLibrary,
        sender: &Sender<Missed>,
    ) -> Result<(Counted, FoundAt), String> {
        let resources = &self.function.resources;
        let dynamic_shared = Region::new(self.plan.shared_bytes() as usize, resources.checked)
            .ok_or("no memory for dynamic shared memory")?;
        let reach = |found: &Arc<Allocation>| Reach::new(found.address, found.len, found.name.clone());
        let mut state = State::new(
            Shape { grid: self.plan.grid(), block: self.plan.block() },
            self.allocations.iter().map(reach).collect(),
            library.static_shared.clone(),
            &dynamic_shared,
            library.constants.clone(),
            resources.registry.clone(),
            resources.checked,
        );
        let threads = state.threads();
        let tracer = Tracer::new(library.image, library.code.len(), threads, self.most_events);
        state.tracer = Some(Box::new(tracer));
        let state = Owned(Box::into_raw(Box::new(state)));
        // SAFETY: the state outlives the table's last use, at the end of this function; no other core has this library.
        library.start(&unsafe { Table::new(state.0) });
        let arguments = Arguments::new(self.arguments.iter().map(Argument::bytes));
        // SAFETY: the state is this function's alone; the library was started with it, and takes these arguments.
        let mut scheduler = unsafe { Scheduler::new(state.0, library.call, arguments, &resources.stacks) };
        // SAFETY: between two runs no fiber runs, and the scheduler holds no reference.
        let tracer = || unsafe { (*state.0).tracer.as_deref_mut() };
        let mut found = FoundAt::default();
        while !self.failed.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(share) = self.shares.get(number) else { break };
            let ran = scheduler.run(Order::Ascending, &share.blocks);
            ran.map_err(|fault| fault.message(&library.lines()))?;
            let streams = tracer().map_or_else(Vec::new, |tracer| tracer.collector.take_streams());
            let Some(missed) = self.first_level(share, &streams, threads.div_ceil(32), &mut found) else {
                break;
            };
            let _ = sender.send((number, missed));
        }
        let counted = tracer().map_or_else(Counted::default, |tracer| {
            tracer.collector.take_streams();
            std::mem::take(&mut tracer.collector.counted)
        });
        Ok((counted, found))
    }

    /// What the first level leaves to the second, once the wave before has passed it; `None`: it never will.
    fn first_level(
        &self,
        share: &Share,
        streams: &[Vec<Request>],
        warps_per_block: usize,
        found: &mut FoundAt,
    ) -> Option<Vec<Request>> {
        let turns = &self.first_levels[share.multiprocessor];
        let mut level = turns.level.lock().unwrap_or_else(PoisonError::into_inner);
        while level.0 < share.wave {
            if self.failed.load(Ordering::Relaxed) {
                return None;
            }
            let patience = std::time::Duration::from_millis(20);
            level = turns.changed.wait_timeout(level, patience).unwrap_or_else(PoisonError::into_inner).0;
        }
        let missed = level.1.run(streams, warps_per_block, found);
        level.0 += 1;
        turns.changed.notify_all();
        Some(missed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_dealt_out_in_turn() {
        let shares = deal(&(0..10).collect::<Vec<u32>>(), 2, 2);
        let dealt: Vec<(usize, usize, Vec<u32>)> =
            shares.into_iter().map(|share| (share.wave, share.multiprocessor, share.blocks)).collect();
        assert_eq!(
            dealt,
            [
                (0, 0, vec![0, 2]),
                (0, 1, vec![1, 3]),
                (1, 0, vec![4, 6]),
                (1, 1, vec![5, 7]),
                (2, 0, vec![8]),
                (2, 1, vec![9])
            ]
        );
    }

    #[test]
    fn some_blocks_stand_for_all() {
        assert_eq!(chosen(4, None), [0, 1, 2, 3]);
        assert_eq!(chosen(4, Some(9)), [0, 1, 2, 3]);
        assert_eq!(chosen(100, Some(4)), [0, 25, 50, 75]);
    }
}

//! What this computer offers: threads, vector instructions, memory, GPUs, and the limits a run may not pass.

// In a build without devices nothing that takes one can ever run.
#![cfg_attr(not(any(feature = "cuda", feature = "emulator")), allow(unreachable_code))]

mod interrupt;
mod vectorized;

pub use interrupt::{Interrupt, Interrupted};
pub(crate) use vectorized::Vectorized;
#[cfg(feature = "solve")]
pub(crate) use vectorized::vectorized;

use crate::Scalar;
use crate::cpu::{CpuInfo, PerProcess, Pool, Team};
#[cfg(feature = "emulator")]
use crate::device::Emulator;
#[cfg(feature = "cuda")]
use crate::device::Gpu;
use crate::device::{Device, Geometry, PinnedDense};
use crate::refusal::Refusal;
use crate::units;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much a run may take before it is refused with a sentence instead of tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that one variant may allocate for its format.
    pub memory_bytes: u64,
    /// Steps of variants that are there to be compared with and not to be waited for: conversions that scan all nonzeros
    /// for every row, serial dense products. `None`: what each of them thinks bearable.
    pub work_steps: Option<u64>,
    /// Nonzeros up to which row starts on a device take 32 bits; above, 64. Only tests lower it.
    pub narrow_offsets: u64,
}

impl Limits {
    /// Where the free memory of the machine is not known.
    const MEMORY_BYTES_UNKNOWN: u64 = 4 << 30;

    /// A quarter of the memory that is free now (several variants are held at a time), and as many steps as each variant
    /// thinks bearable.
    pub fn of(cpu: &CpuInfo) -> Self {
        let memory_bytes = cpu.available_memory_bytes.map_or(Self::MEMORY_BYTES_UNKNOWN, |free| free / 4);
        Limits { memory_bytes, work_steps: None, narrow_offsets: u64::from(u32::MAX) }
    }
}

/// A computer, and the share of it that may be used.
///
/// ```
/// use ordito::Machine;
/// let machine = Machine::with_threads(2)?;
/// assert_eq!(machine.threads(), 2);
/// # Ok::<(), ordito::Refusal>(())
/// ```
#[derive(Debug)]
pub struct Machine {
    cpu: CpuInfo,
    pool: Arc<Pool>,
    limits: Limits,
    accelerator: Accelerator,
    /// The accelerator with a stream of its own; `None`: the one that all share, opened on first use.
    device: Option<Device>,
    /// How kernels that leave it open are launched.
    geometry: Geometry,
    interrupt: Interrupt,
    /// Bytes that are held already, to which all that is asked for adds; `None`: each thing is held against the limit alone.
    held: Option<Arc<AtomicU64>>,
}

/// What runs the CUDA variants.
///
/// ```
/// use ordito::{Accelerator, Machine};
/// let machine = Machine::with_threads(1)?.with_accelerator(Accelerator::Cuda(0));
/// match machine.device() {
///     Ok(device) => println!("{}", device.limits().name), // Plan::new(…, &machine) uses it
///     Err(refusal) => println!("{refusal}"),              // and what to do about it
/// }
/// # Ok::<(), ordito::Refusal>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Accelerator {
    /// Nothing: they refuse.
    #[default]
    None,
    /// The GPU of this number.
    Cuda(usize),
    /// The emulator.
    Emulator,
}

impl Accelerator {
    /// For people: `CPU`, `GPU 0`, `emulator`.
    pub fn name(self) -> String {
        match self {
            Accelerator::None => "CPU".into(),
            Accelerator::Cuda(number) => format!("GPU {number}"),
            Accelerator::Emulator => "emulator".into(),
        }
    }
}

impl Machine {
    /// `threads` threads of this computer under the given limits.
    /// A SIMD level that this CPU does not have becomes the highest that it has: kernels rely on the level for their safety.
    #[doc(hidden)]
    pub fn new(cpu: CpuInfo, threads: usize, limits: Limits) -> Result<Arc<Self>, Refusal> {
        Ok(Machine::on(cpu, Arc::new(Pool::new(threads)?), limits))
    }

    fn on(mut cpu: CpuInfo, pool: Arc<Pool>, limits: Limits) -> Arc<Self> {
        cpu.simd = cpu.simd.or_supported();
        let (accelerator, geometry, interrupt) =
            (Accelerator::None, Geometry::default(), Interrupt::default());
        Arc::new(Machine { cpu, pool, limits, accelerator, device: None, geometry, interrupt, held: None })
    }

    /// The same machine with threads of its own that stay on one core each. The thread that calls is left alone: it takes part
    /// in products, and the first core is left to it.
    ///
    /// ```
    /// use ordito::Machine;
    /// let machine = Machine::with_threads(2)?;
    /// let machine = machine.pinned().unwrap_or(machine); // not every system can
    /// assert_eq!(machine.threads(), 2);
    /// # Ok::<(), ordito::Refusal>(())
    /// ```
    pub fn pinned(&self) -> Result<Arc<Self>, Refusal> {
        let pool = Arc::new(Pool::pinned(self.threads())?);
        Ok(Arc::new(Machine { pool, ..self.copy() }))
    }

    /// The same machine, on whose CPU what is computed stops early once `interrupt` is set, and is then an error.
    pub fn interrupted_by(&self, interrupt: &Interrupt) -> Arc<Self> {
        Arc::new(Machine { interrupt: interrupt.clone(), ..self.copy() })
    }

    /// The same machine for one undertaking that holds so many bytes already. From now on [`check_memory`](Self::check_memory)
    /// adds up what it allows: the limit is one of the sum.
    #[doc(hidden)]
    pub fn holding(&self, bytes: u64) -> Arc<Self> {
        Arc::new(Machine { held: Some(Arc::new(AtomicU64::new(bytes))), ..self.copy() })
    }

    /// The same machine, on whose device kernels that leave their launch open are launched so. Refuses what no kernel can have.
    #[doc(hidden)]
    pub fn with_geometry(&self, geometry: Geometry) -> Result<Arc<Self>, Refusal> {
        Ok(Arc::new(Machine { geometry: geometry.check()?, ..self.copy() }))
    }

    /// How kernels that leave it open are launched.
    #[doc(hidden)]
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// What the undertaking holds: what it began with, and all that was allowed since.
    #[doc(hidden)]
    pub fn held_bytes(&self) -> u64 {
        self.held.as_ref().map_or(0, |held| held.load(Ordering::Relaxed))
    }

    /// The same machine, with something that runs the CUDA variants. Nothing is opened yet.
    pub fn with_accelerator(&self, accelerator: Accelerator) -> Arc<Self> {
        self.with(accelerator, None)
    }

    /// The same machine, whose CUDA variants run in this emulator.
    #[cfg(feature = "emulator")]
    #[doc(hidden)]
    pub fn with_emulator(&self, emulator: Arc<Emulator>) -> Arc<Self> {
        self.with(Accelerator::Emulator, Some(Device::Emulator(emulator)))
    }

    /// The same machine, whose device has a stream of its own: plans that are made on it may overlap with others, and
    /// are ordered among each other. See [`Device::wait_for`] for order across streams.
    pub fn with_new_stream(&self) -> Result<Arc<Self>, Refusal> {
        Ok(self.with(self.accelerator, Some(self.device()?.with_new_stream()?)))
    }

    /// The same machine, whose device works in a stream that somebody else made.
    ///
    /// # Safety
    /// As for [`Gpu::with_raw_stream`]; everything made on the machine that is returned must be gone before the stream is.
    #[cfg(feature = "cuda")]
    pub unsafe fn with_raw_stream(&self, raw: *mut std::ffi::c_void) -> Result<Arc<Self>, Refusal> {
        let device = self.device()?;
        let Some(gpu) = device.gpu() else {
            return Err(Refusal::NotEmulated("the emulator has no streams".into()));
        };
        // SAFETY: the caller's promise.
        let gpu = unsafe { gpu.with_raw_stream(raw) }?;
        Ok(self.with(self.accelerator, Some(Device::Cuda(gpu))))
    }

    fn with(&self, accelerator: Accelerator, device: Option<Device>) -> Arc<Self> {
        Arc::new(Machine { accelerator, device, ..self.copy() })
    }

    /// The same, to be changed: threads, device, interrupt and what is held are shared.
    fn copy(&self) -> Self {
        Machine {
            cpu: self.cpu.clone(),
            pool: self.pool.clone(),
            limits: self.limits,
            accelerator: self.accelerator,
            device: self.device.clone(),
            geometry: self.geometry,
            interrupt: self.interrupt.clone(),
            held: self.held.clone(),
        }
    }

    /// `threads` threads of this computer, limits by its free memory.
    pub fn with_threads(threads: usize) -> Result<Arc<Self>, Refusal> {
        let cpu = CpuInfo::detect();
        let limits = Limits::of(&cpu);
        Machine::new(cpu, threads, limits)
    }

    /// All cores that this process may use, or as many threads as the variable `ORDITO_THREADS` of the environment says; made
    /// on first use and shared. An error where the variable says something else.
    pub fn all_cores() -> Result<Arc<Self>, Refusal> {
        static ALL_CORES: PerProcess<Result<Arc<Machine>, Refusal>> = PerProcess::new();
        let start = || {
            let pool = Pool::shared()?.clone();
            let cpu = CpuInfo::detect();
            let limits = Limits::of(&cpu);
            Ok(Machine::on(cpu, pool, limits))
        };
        ALL_CORES.get_or_make(|inherited| inherited.cloned().unwrap_or_else(start)).clone()
    }

    /// All cores, and the GPU of this number, which is opened: refuses with what is missing where there is none.
    ///
    /// ```
    /// use ordito::Machine;
    /// let machine = Machine::gpu(0).or_else(|why| {
    ///     println!("{why}"); // and what to do about it
    ///     Machine::all_cores()
    /// })?;
    /// # assert!(machine.threads() > 0);
    /// # Ok::<(), ordito::Error>(())
    /// ```
    pub fn gpu(number: usize) -> Result<Arc<Self>, Refusal> {
        Machine::all_cores()?.opened(Accelerator::Cuda(number))
    }

    /// All cores, and the emulator of a GPU on them: CUDA kernels run slowly, with every access checked.
    pub fn emulator() -> Result<Arc<Self>, Refusal> {
        Machine::all_cores()?.opened(Accelerator::Emulator)
    }

    fn opened(&self, accelerator: Accelerator) -> Result<Arc<Self>, Refusal> {
        let machine = self.with_accelerator(accelerator);
        machine.device()?;
        Ok(machine)
    }

    /// Facts about the processor.
    #[doc(hidden)]
    pub fn cpu(&self) -> &CpuInfo {
        &self.cpu
    }
    /// The threads.
    #[doc(hidden)]
    pub fn pool(&self) -> &Pool {
        &self.pool
    }
    /// As many threads for hot kernels; started on first use.
    #[doc(hidden)]
    pub fn team(&self) -> &Team {
        self.pool.team()
    }
    /// What stops the work on this machine.
    #[doc(hidden)]
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }
    /// Shares a kernel's chunks with the team. Once it is interrupted no further one is begun: only for what the caller of the
    /// kernel then throws away.
    pub(crate) fn run_chunks(&self, chunks: usize, work: impl Fn(usize) + Sync) {
        self.team().run(chunks, move |chunk| {
            if !self.interrupt.is_set() {
                work(chunk);
            }
        });
    }
    /// What runs the CUDA variants.
    pub fn accelerator(&self) -> Accelerator {
        self.accelerator
    }
    /// The device that runs the CUDA variants: opened on first use, once per process; or why there is none.
    pub fn device(&self) -> Result<Device, Refusal> {
        if let Some(device) = &self.device {
            return Ok(device.clone());
        }
        match self.accelerator {
            Accelerator::None => Err(Refusal::NoDevice),
            #[cfg(feature = "cuda")]
            Accelerator::Cuda(number) => {
                Gpu::open(number).map(|gpu| Device::Cuda(gpu.with_copiers(&self.pool)))
            }
            #[cfg(not(feature = "cuda"))]
            Accelerator::Cuda(_) => {
                Err(Refusal::NoGpu("built without CUDA: enable the feature `cuda`".into()))
            }
            #[cfg(feature = "emulator")]
            Accelerator::Emulator => Emulator::open().map(Device::Emulator),
            #[cfg(not(feature = "emulator"))]
            Accelerator::Emulator => {
                Err(Refusal::NoCompiler("built without it: enable the feature `emulator`".into()))
            }
        }
    }
    /// `rows × cols` zeros in memory that copies to this machine's device are fastest from.
    pub fn pinned_dense<S: Scalar>(&self, rows: usize, cols: usize) -> Result<PinnedDense<S>, Refusal> {
        let bytes = rows.checked_mul(cols).and_then(|elements| elements.checked_mul(size_of::<S>()));
        let what = format!("a dense matrix of {rows}×{cols} in pinned memory");
        self.check_memory(what, bytes.map(|bytes| bytes as u64))?;
        PinnedDense::new(self.device().ok().as_ref(), rows, cols)
    }
    /// Refuses an accelerator that this build has no kernels for, before something else is chosen without a word.
    pub(crate) fn check_accelerator(&self) -> Result<(), Refusal> {
        let kernels = cfg!(any(feature = "cuda", feature = "emulator"));
        if kernels || self.accelerator == Accelerator::None { Ok(()) } else { self.device().map(drop) }
    }
    /// How many of them.
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }
    /// What a run may take.
    #[doc(hidden)]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Refuses what takes more steps than were allowed, or, where nothing was said, than are `bearable`.
    #[doc(hidden)]
    pub fn check_work(&self, what: impl Into<String>, steps: u128, bearable: u64) -> Result<(), Refusal> {
        let limit = self.limits.work_steps.unwrap_or(bearable);
        if steps <= u128::from(limit) {
            return Ok(());
        }
        Err(Refusal::Work { what: what.into(), steps, limit })
    }

    /// Refuses what needs more memory than the budget, beside what is held. `needed` is `None` when not even 64 bits hold it.
    #[doc(hidden)]
    pub fn check_memory(&self, what: impl Into<String>, needed: Option<u64>) -> Result<(), Refusal> {
        let (budget, held) = (self.limits.memory_bytes, self.held_bytes());
        match needed {
            Some(bytes) if held.saturating_add(bytes) <= budget => {
                if let Some(held) = &self.held {
                    held.fetch_add(bytes, Ordering::Relaxed);
                }
                Ok(())
            }
            _ if held == 0 => Err(Refusal::Memory { what: what.into(), needed, budget }),
            _ => {
                let what = format!("{}, beside {} that are held already,", what.into(), units::bytes(held));
                Err(Refusal::Memory { what, needed, budget })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_that_no_kernel_can_have_reach_none() {
        let machine = Machine::with_threads(1).unwrap();
        let with = |threads| Geometry { threads_per_block: Some(threads), ..Geometry::default() };
        assert_eq!(machine.with_geometry(with(96)).unwrap().geometry(), with(96));
        assert!(machine.with_geometry(with(100)).is_err() && machine.with_geometry(with(0)).is_err());
    }

    #[test]
    fn what_is_held_counts() {
        let cpu = CpuInfo::detect();
        let limits = Limits { memory_bytes: 1000, ..Limits::of(&cpu) };
        let machine = Machine::new(cpu, 1, limits).unwrap();
        (0..3).for_each(|_| machine.check_memory("each alone", Some(1000)).unwrap());
        let counting = machine.holding(300);
        counting.check_memory("the first", Some(400)).unwrap();
        let refusal = counting.with_accelerator(Accelerator::None).check_memory("the second", Some(301));
        assert_eq!(
            refusal.unwrap_err().to_string(),
            "the second, beside 700 B that are held already, would need 301 B, the memory budget is 1.00 kB"
        );
        counting.check_memory("the third", Some(300)).unwrap();
        assert_eq!((counting.held_bytes(), machine.held_bytes()), (1000, 0));
        assert!(counting.check_memory("more than there can be", None).is_err());
    }
}

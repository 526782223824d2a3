//! The rungs of the CUDA ladder as data. All kernels take shapes, A's arrays, X, Y, α and β in this order; a rung says
//! how A is stored and how many threads work on one element or one row of Y, and the rest is the same for all.

use crate::Scalar;
use crate::device::{
    Adjustable, Argument, Device, DeviceLimits, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan,
    LaunchReport,
};
use crate::machine::Machine;
use crate::op::transposed::Transposed;
use crate::op::{Description, RunError, SourceFile, Variant};
use crate::refusal::Refusal;
use crate::spmm::cuda::device::{DeviceKernel, OnDevice};
use crate::spmm::cuda::device_csr::{DeviceCsr, for_all_offsets, offset_type, with_types};
use crate::spmm::cuda::device_ell::{DeviceEllPadded, DeviceEllRagged};
use crate::spmm::product::{Product, Spmm, Subject};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Threads of a block, as the study found them best, where nobody chose others.
pub(crate) const THREADS_PER_BLOCK: u32 = 512;
/// What all rungs leave open.
pub(crate) const OPEN: &[Adjustable] = &[Adjustable::ThreadsPerBlock];
const WARP: u32 = 32;

/// A kernel that differs from its neighbours on the ladder only in what stands here.
pub(crate) struct Rung {
    pub(crate) description: Description,
    pub(crate) kernel: KernelFile,
    pub(crate) storage: Storage,
    pub(crate) work: Work,
    /// Registered with several values: the definition `LANES`.
    pub(crate) lanes: Option<u32>,
}

/// A `.cu` file beside the variant: the `extern "C"` function, the file's name, its text.
#[derive(Clone, Copy)]
pub(crate) struct KernelFile {
    pub(crate) entry: &'static str,
    pub(crate) file: &'static str,
    pub(crate) source: SourceFile,
}

impl KernelFile {
    pub(crate) fn source(self) -> KernelSource {
        KernelSource::new(self.entry, self.file, self.source.text)
    }
}

/// `kernel_file!("csr_warp", "csr_cuda_warp.cu")`
macro_rules! kernel_file {
    ($entry:literal, $file:literal) => {
        $crate::spmm::cuda::ladder::rung::KernelFile {
            entry: $entry,
            file: $file,
            source: $crate::source_file!(concat!("spmm/cuda/ladder/", $file)),
        }
    };
}
pub(crate) use kernel_file;

/// How A lies on the device.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    Csr,
    EllPadded,
    EllRagged,
}

/// Who does which work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// So many neighbouring threads for every element of Y.
    Element { threads: u32 },
    /// A warp for every row of Y; reads X transposed.
    Row,
}

impl Work {
    /// Enough threads for all of Y.
    fn plan(
        self,
        limits: &DeviceLimits,
        rows: usize,
        k: usize,
        threads_per_block: u32,
    ) -> Result<LaunchPlan, Refusal> {
        let (units, threads) = match self {
            Work::Element { threads } => ((rows as u64).checked_mul(k as u64), threads),
            Work::Row => (Some(if k == 0 { 0 } else { rows as u64 }), WARP),
        };
        let threads = units.and_then(|units| units.checked_mul(threads.into()));
        LaunchPlan::linear(limits, threads, threads_per_block)
    }
}

/// Threads of a block on this machine.
pub(crate) fn threads_per_block(machine: &Machine, variant: &Description) -> u32 {
    machine.geometry().of(variant.adjustable).threads_per_block.unwrap_or(THREADS_PER_BLOCK)
}

/// A on a device, in some format.
pub(crate) trait Stored: Send {
    /// A's part of the kernel's arguments.
    fn arguments(&self) -> Vec<Argument>;
}

impl<S: Scalar> Stored for DeviceCsr<S> {
    fn arguments(&self) -> Vec<Argument> {
        DeviceCsr::arguments(self).to_vec()
    }
}

impl<S: Scalar> Stored for DeviceEllPadded<S> {
    fn arguments(&self) -> Vec<Argument> {
        DeviceEllPadded::arguments(self)
    }
}

impl<S: Scalar> Stored for DeviceEllRagged<S> {
    fn arguments(&self) -> Vec<Argument> {
        DeviceEllRagged::arguments(self)
    }
}

/// A compiled kernel with A, and X transposed where it wants that: ready to be launched.
pub(crate) struct Launch<S> {
    /// What `arguments` point to.
    _a: Box<dyn Stored>,
    kernel: Kernel,
    plan: LaunchPlan,
    x_columns: Option<Transposed<S>>,
    /// What was counted when it was planned.
    counted: BTreeMap<String, u64>,
    /// Shapes and A, then room for [`PER_CALL`] more: a call writes those and allocates nothing.
    arguments: Vec<Argument>,
}

/// X and Y, each with its leading dimension, α and β.
const PER_CALL: usize = 6;

impl<S: Scalar> Launch<S> {
    pub(crate) fn new(
        (rows, k): (usize, usize),
        a: Box<dyn Stored>,
        kernel: Kernel,
        plan: LaunchPlan,
        x_columns: Option<Transposed<S>>,
    ) -> Self {
        let mut arguments = vec![Argument::of(rows as u64), Argument::of(k as u64)];
        arguments.extend(a.arguments());
        arguments.extend([(); PER_CALL].map(|()| Argument::of(0_u64)));
        Launch { _a: a, kernel, plan, x_columns, counted: BTreeMap::new(), arguments }
    }

    /// The same, with what was counted when it was planned.
    pub(crate) fn counting(self, counted: BTreeMap<String, u64>) -> Self {
        Launch { counted, ..self }
    }
}

impl<S: Scalar> DeviceKernel<S> for Launch<S> {
    fn repack(&mut self, x: DeviceView<'_, S>) -> Result<bool, RunError> {
        let Some(x_columns) = &mut self.x_columns else { return Ok(false) };
        x_columns.repack(x.arguments())?;
        Ok(true)
    }

    fn multiply(
        &mut self,
        alpha: S,
        x: DeviceView<'_, S>,
        beta: S,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        let [x, x_distance] = self.x_columns.as_ref().map_or_else(|| x.arguments(), Transposed::arguments);
        let [y, y_distance] = y.arguments();
        let per_call: [Argument; PER_CALL] =
            [x, x_distance, y, y_distance, Argument::of(alpha), Argument::of(beta)];
        let fixed = self.arguments.len() - PER_CALL;
        self.arguments[fixed..].clone_from_slice(&per_call);
        // SAFETY: as the kernel declares them; A lies in buffers of this struct, X and Y are views of matrices of the shapes that were
        // checked by who multiplies.
        Ok(unsafe { self.kernel.launch(&self.plan, &self.arguments) }?)
    }

    fn launches(&self) -> Vec<LaunchReport> {
        let transposing = self.x_columns.iter().map(Transposed::report);
        let report = LaunchReport { counted: self.counted.clone(), ..self.kernel.report(&self.plan) };
        transposing.chain([report]).collect()
    }
}

impl Rung {
    /// The kernel with its definitions, but for the types.
    fn source(&self, threads_per_block: u32) -> KernelSource {
        let source = self.kernel.source().define("THREADS_PER_BLOCK", threads_per_block);
        match self.lanes {
            Some(lanes) => source.define("LANES", lanes),
            None => source,
        }
    }

    fn store<S: Scalar>(
        &self,
        machine: &Machine,
        device: &Device,
        subject: &Subject<S>,
    ) -> Result<Box<dyn Stored>, Refusal> {
        let a = &subject.a;
        Ok(match self.storage {
            Storage::Csr => Box::new(DeviceCsr::upload(machine, device, a)?),
            Storage::EllPadded => Box::new(DeviceEllPadded::upload(machine, device, a)?),
            Storage::EllRagged => Box::new(DeviceEllRagged::upload(device, a)?),
        })
    }
}

impl<S: Scalar> Variant<Spmm<S>> for Rung {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn kernels(&self) -> Vec<KernelSource> {
        let source = self.source(THREADS_PER_BLOCK);
        let mut kernels = match self.storage {
            Storage::Csr => for_all_offsets::<S>(&source),
            Storage::EllPadded | Storage::EllRagged => vec![source.define("SCALAR", S::CUDA_NAME)],
        };
        if self.work == Work::Row {
            kernels.push(Transposed::<S>::source());
        }
        kernels
    }

    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let device = machine.device()?;
        let (rows, cols, k) = (subject.a.rows(), subject.a.cols(), subject.k);
        let threads_per_block = threads_per_block(machine, &self.description);
        let plan = self.work.plan(device.limits(), rows, k, threads_per_block)?;
        let source = self.source(threads_per_block);
        let kernel = match self.storage {
            Storage::Csr => with_types::<S>(&source, offset_type(machine, subject.a.nnz())),
            Storage::EllPadded | Storage::EllRagged => source.define("SCALAR", S::CUDA_NAME),
        };
        let (a, kernel) = (self.store(machine, &device, subject)?, device.kernel(&kernel)?);
        let x_columns = (self.work == Work::Row).then(|| Transposed::new(&device, "X transposed", cols, k));
        let launch = Launch::new((rows, k), a, kernel, plan, x_columns.transpose()?);
        Ok(OnDevice::boxed(launch, device, (rows, cols), k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKS: [Work; 7] = [
        Work::Element { threads: 1 },
        Work::Element { threads: 2 },
        Work::Element { threads: 4 },
        Work::Element { threads: 8 },
        Work::Element { threads: 16 },
        Work::Element { threads: 32 },
        Work::Row,
    ];

    /// Threads that the kernels number from 0, and those they need.
    fn threads(work: Work, rows: usize, k: usize) -> (u128, u128) {
        let plan = work.plan(&DeviceLimits::h200(), rows, k, THREADS_PER_BLOCK).unwrap();
        assert_eq!(plan.threads_per_block(), THREADS_PER_BLOCK);
        assert_eq!((plan.grid()[1], plan.grid()[2], plan.shared_bytes()), (1, 1, 0));
        let needed = match work {
            Work::Element { threads } => rows as u128 * k as u128 * u128::from(threads),
            Work::Row => rows as u128 * 32,
        };
        (u128::from(plan.blocks()) * u128::from(THREADS_PER_BLOCK), needed)
    }

    #[test]
    fn plans_cover_every_element_also_beyond_32_bits() {
        for work in WORKS {
            for (rows, k) in [(0, 3), (1, 1), (31, 33), (512, 1), (513, 1), (70_000_000, 64), (1, 70_000)] {
                let (started, needed) = threads(work, rows, k);
                assert!(started >= needed && started < needed + 512, "{rows} × {k}");
            }
        }
        let blocks = |threads| Work::Row.plan(&DeviceLimits::h200(), 16, 9, threads).unwrap().blocks();
        assert_eq!([512, 64, 1024].map(blocks), [1, 8, 1], "16 rows per block of 512 threads");
    }

    #[test]
    fn what_no_grid_holds_is_refused() {
        let plan = |work: Work, rows, k| work.plan(&DeviceLimits::h200(), rows, k, THREADS_PER_BLOCK);
        // 2³¹ − 1 blocks of 512 threads are a little less than 2⁴⁰ threads.
        assert!(plan(Work::Element { threads: 32 }, (1 << 35) - 16, 1).is_ok());
        let refusal = plan(Work::Element { threads: 32 }, 1 << 35, 1).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "2147483648 blocks in one direction of the grid, the limit is 2147483647"
        );
        assert!(plan(Work::Element { threads: 1 }, 1 << 35, 1).is_ok());
        assert!(plan(Work::Element { threads: 1 }, usize::MAX, 2).is_err(), "beyond 64 bits");
        assert!(plan(Work::Row, usize::MAX, 1).is_err(), "beyond 64 bits");
        assert!(plan(Work::Row, u32::MAX as usize, 1 << 20).is_ok(), "any K");
    }
}

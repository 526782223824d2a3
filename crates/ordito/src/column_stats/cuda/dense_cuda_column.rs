//! The first rungs of the ladder: a thread per column, which adds up the mean in memory or in a register.

use crate::Scalar;
use crate::column_stats::cuda::device::{DeviceKernel, OnDevice};
use crate::column_stats::reduction::{Columns, Reduction, Shape};
use crate::column_stats::statistics::MEAN_ONLY;
use crate::device::{
    Argument, Buffer, DeviceLimits, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan, LaunchReport,
};
use crate::machine::Machine;
use crate::op::{Description, Place, RunError, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

/// Where a thread has its sum.
pub(crate) struct ColumnLoop {
    description: Description,
    entry: &'static str,
    file: &'static str,
}

pub(crate) const IN_MEMORY: ColumnLoop = ColumnLoop {
    description: Description::new(
        "dense-cuda-column-adds-in-memory",
        "a thread per column adds into global memory at every row, in the precision of the data; mean only (matrixMeanFLOAT)",
        Place::Cuda,
        source_file!("column_stats/cuda/dense_cuda_column_in_memory.cu"),
    )
    .ladder()
    .mean_only()
    .adds_as_data()
    .known_as(&["matrixMeanFLOAT"]),
    entry: "column_in_memory",
    file: "dense_cuda_column_in_memory.cu",
};
pub(crate) const IN_REGISTER: ColumnLoop = ColumnLoop {
    description: Description::new(
        "dense-cuda-column-adds-in-register",
        "a thread per column adds in a register, in the precision of the data; mean only",
        Place::Cuda,
        source_file!("column_stats/cuda/dense_cuda_column_in_register.cu"),
    )
    .ladder()
    .mean_only()
    .adds_as_data(),
    entry: "column_in_register",
    file: "dense_cuda_column_in_register.cu",
};

/// Blocks that the columns are spread over. The kernel was first launched as 128 blocks of 41 threads, for 5248 columns; with
/// more or fewer columns the blocks are wider or narrower, not more or fewer.
const BLOCKS: usize = 128;

/// A thread per column, in blocks that are all alike.
fn plan(limits: &DeviceLimits, cols: usize) -> Result<LaunchPlan, Refusal> {
    let threads_per_block = cols.div_ceil(BLOCKS).clamp(1, limits.threads_per_block as usize) as u32;
    LaunchPlan::linear(limits, Some(cols as u64), threads_per_block)
}

impl ColumnLoop {
    fn kernel<S: Scalar>(&self) -> KernelSource {
        KernelSource::new(self.entry, self.file, self.description.source).define("SCALAR", S::CUDA_NAME)
    }
}

struct Launch<S> {
    kernel: Kernel,
    plan: LaunchPlan,
    /// One for every column, for threads that have theirs in memory.
    sums: Buffer<S>,
}

impl<S: Scalar> DeviceKernel<S> for Launch<S> {
    fn statistics(&self) -> usize {
        MEAN_ONLY
    }

    fn reduce(&mut self, data: DeviceView<'_, S>, results: DeviceViewMut<'_, f64>) -> Result<(), RunError> {
        let [rows, cols] = [data.rows(), data.cols()].map(|side| Argument::of(side as u64));
        let ([x, distance], [mean, _]) = (data.arguments(), results.arguments());
        let sums = Argument::from(&mut self.sums);
        // SAFETY: as the kernel declares them; sums and results have a place for every column.
        Ok(unsafe { self.kernel.launch(&self.plan, &[rows, cols, x, distance, sums, mean]) }?)
    }

    fn launches(&self) -> Vec<LaunchReport> {
        vec![self.kernel.report(&self.plan)]
    }
}

impl<S: Scalar> Variant<Columns<S>> for ColumnLoop {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn kernels(&self) -> Vec<KernelSource> {
        vec![self.kernel::<S>()]
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Reduction<S>>, Refusal> {
        let device = machine.device()?;
        let plan = plan(device.limits(), shape.cols)?;
        let kernel = device.kernel(&self.kernel::<S>())?;
        let sums = device.allocate("sums of columns", shape.cols)?;
        Ok(OnDevice::boxed(Launch { kernel, plan, sums }, device, *shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_cover_every_column() {
        let h200 = DeviceLimits::h200();
        let historic = plan(&h200, 5248).unwrap();
        assert_eq!((historic.grid(), historic.block()), ([128, 1, 1], [41, 1, 1]));
        for cols in [0, 1, 127, 128, 129, 1000, 131_072, 131_073, 1 << 40] {
            let plan = plan(&h200, cols).unwrap();
            let threads = plan.blocks() * u64::from(plan.threads_per_block());
            assert!((threads as usize).checked_sub(cols).unwrap() < plan.threads_per_block() as usize);
        }
        assert!(plan(&h200, usize::MAX).is_err());
    }
}

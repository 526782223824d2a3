//! Tree reductions as data: a block per column of a transposed copy, which is made by every run and shown as repacking.

use crate::Scalar;
use crate::column_stats::cuda::device::{DeviceKernel, OnDevice};
use crate::column_stats::reduction::{Columns, Reduction, Shape};
use crate::column_stats::statistics::MEAN_ONLY;
use crate::device::{
    DeviceLimits, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan, LaunchReport,
};
use crate::machine::Machine;
use crate::op::transposed::Transposed;
use crate::op::{Description, Place, RunError, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

/// How the threads of a block find each other.
pub(crate) struct Tree {
    description: Description,
    entry: &'static str,
    file: &'static str,
    /// Threads of a block; `None`: one for each row, as far as a block may have so many.
    threads: Option<u32>,
}

pub(crate) const INTERLEAVED: Tree = Tree {
    description: Description::new(
        "dense-cuda-tree-interleaved",
        "transposed first; a block per column, a thread per row, interleaved addressing; mean only (tree reduction)",
        Place::Cuda,
        source_file!("column_stats/cuda/dense_cuda_tree_interleaved.cu"),
    )
    .ladder()
    .converted()
    .mean_only(),
    entry: "tree_interleaved",
    file: "dense_cuda_tree_interleaved.cu",
    threads: None,
};

macro_rules! sequential {
    ($threads:literal) => {
        Tree {
            description: Description::new(
                concat!("dense-cuda-tree-sequential-", $threads),
                concat!(
                    "transposed first; a block of ",
                    $threads,
                    " threads per column, sequential addressing, unrolled warp tail; mean only"
                ),
                Place::Cuda,
                source_file!("column_stats/cuda/dense_cuda_tree_sequential.cu"),
            )
            .ladder()
            .converted()
            .mean_only()
            .params(&[("threads_per_block", $threads)]),
            entry: "tree_sequential",
            file: "dense_cuda_tree_sequential.cu",
            threads: Some($threads),
        }
    };
}

pub(crate) const SEQUENTIAL: [Tree; 4] =
    [sequential!(64), sequential!(128), sequential!(256), sequential!(512)];

impl Tree {
    fn kernel<S: Scalar>(&self) -> KernelSource {
        let source =
            KernelSource::new(self.entry, self.file, self.description.source).define("SCALAR", S::CUDA_NAME);
        match self.threads {
            Some(threads) => source.define("THREADS", threads),
            None => source,
        }
    }

    /// A block per column; a number in shared memory for every thread, where their number is not known to the compiler.
    fn plan(&self, limits: &DeviceLimits, shape: Shape) -> Result<LaunchPlan, Refusal> {
        let most = limits.threads_per_block as usize;
        let one_per_row = shape.rows.clamp(1, most) as u32;
        let threads = self.threads.unwrap_or(one_per_row);
        let shared = if self.threads.is_none() { u64::from(threads) * size_of::<f64>() as u64 } else { 0 };
        LaunchPlan::new(limits, [shape.cols as u64, 1, 1], [threads, 1, 1], shared)
    }
}

struct Launch<S> {
    kernel: Kernel,
    plan: LaunchPlan,
    columns: Transposed<S>,
}

impl<S: Scalar> DeviceKernel<S> for Launch<S> {
    fn statistics(&self) -> usize {
        MEAN_ONLY
    }

    fn repack(&mut self, data: DeviceView<'_, S>) -> Result<bool, RunError> {
        self.columns.repack(data.arguments())?;
        Ok(true)
    }

    fn reduce(&mut self, _: DeviceView<'_, S>, results: DeviceViewMut<'_, f64>) -> Result<(), RunError> {
        let ([columns, rows], [mean, _]) = (self.columns.arguments(), results.arguments());
        // SAFETY: as the kernel declares them; the columns are a buffer of this struct, the results have a place for every column.
        Ok(unsafe { self.kernel.launch(&self.plan, &[columns, rows, mean]) }?)
    }

    fn launches(&self) -> Vec<LaunchReport> {
        vec![self.columns.report(), self.kernel.report(&self.plan)]
    }
}

impl<S: Scalar> Variant<Columns<S>> for Tree {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn kernels(&self) -> Vec<KernelSource> {
        vec![Transposed::<S>::source(), self.kernel::<S>()]
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Reduction<S>>, Refusal> {
        let device = machine.device()?;
        let launch = Launch {
            plan: self.plan(device.limits(), *shape)?,
            kernel: device.kernel(&self.kernel::<S>())?,
            columns: Transposed::new(&device, "the matrix transposed", shape.rows, shape.cols)?,
        };
        Ok(OnDevice::boxed(launch, device, *shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_have_a_block_for_every_column() {
        let h200 = DeviceLimits::h200();
        let eeg = Shape { rows: 358, cols: 5248 };
        let plan = INTERLEAVED.plan(&h200, eeg).unwrap();
        assert_eq!((plan.grid(), plan.block(), plan.shared_bytes()), ([5248, 1, 1], [358, 1, 1], 358 * 8));
        assert_eq!(SEQUENTIAL[2].plan(&h200, eeg).unwrap().block(), [256, 1, 1]);
        let long = INTERLEAVED.plan(&h200, Shape { rows: 1 << 30, cols: 3 }).unwrap();
        assert_eq!(long.block(), [1024, 1, 1], "threads take several rows each");
        assert!(INTERLEAVED.plan(&h200, Shape { rows: 1, cols: 0 }).unwrap().is_empty());
        assert!(INTERLEAVED.plan(&h200, Shape { rows: 1, cols: 1 << 31 }).is_err());
    }
}

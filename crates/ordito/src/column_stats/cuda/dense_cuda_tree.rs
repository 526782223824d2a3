//! Tree reductions as data: a block per column of a copy that lies column after column. The device makes it in every run, which is
//! shown as repacking; or the host makes it before it is uploaded, as it was done first.

use crate::Scalar;
use crate::column_stats::cuda::device::{DeviceKernel, OnDevice};
use crate::column_stats::cuda::host_copied::HostCopied;
use crate::column_stats::reduction::{Columns, Reduction, Shape};
use crate::column_stats::statistics::MEAN_ONLY;
use crate::device::{
    Argument, DeviceLimits, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan, LaunchReport,
};
use crate::machine::Machine;
use crate::op::transposed::Transposed;
use crate::op::{Description, Place, RunError, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

/// How the threads of a block find each other, and who makes the copy.
pub(crate) struct Tree {
    description: Description,
    entry: &'static str,
    file: &'static str,
    /// Threads of a block; `None`: one for each row, as far as a block may have so many.
    threads: Option<u32>,
    copied_by: CopiedBy,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CopiedBy {
    Device,
    Host,
}

macro_rules! one_per_row {
    ($name:literal, $how:literal, $entry:literal, $copied_by:ident $(, $known_as:literal)*) => {
        Tree {
            description: Description::new(
                concat!("dense-cuda-tree-", $name),
                concat!($how, "; a block per column, a thread per row; mean only"),
                Place::Cuda,
                source_file!(concat!("column_stats/cuda/dense_cuda_", $entry, ".cu")),
            )
            .ladder()
            .converted()
            .mean_only()
            .adds_as_data()
            .known_as(&[$($known_as),*]),
            entry: $entry,
            file: concat!("dense_cuda_", $entry, ".cu"),
            threads: None,
            copied_by: CopiedBy::$copied_by,
        }
    };
}

pub(crate) const INTERLEAVED: Tree = one_per_row!(
    "interleaved",
    "transposed first, then each second thread adds its neighbour's sum",
    "tree_interleaved",
    Device
);
pub(crate) const STRIDED: Tree = one_per_row!(
    "strided",
    "transposed first, then threads side by side add sums that lie apart",
    "tree_strided",
    Device
);
/// reduce, with the copy that it had.
pub(crate) const STRIDED_FROM_HOST: Tree = one_per_row!(
    "strided-from-host",
    "transposed by the host, then threads side by side add sums that lie apart (reduce)",
    "tree_strided",
    Host,
    "reduce"
);

macro_rules! sequential {
    ($threads:literal) => {
        sequential!($threads, "", "transposed first", Device)
    };
    ($threads:literal, $suffix:literal, $copied:literal, $copied_by:ident $(, $known_as:literal)*) => {
        Tree {
            description: Description::new(
                concat!("dense-cuda-tree-sequential-", $threads, $suffix),
                concat!(
                    $copied,
                    ", columns padded with zeros; a block of ",
                    $threads,
                    " threads per column, sequential addressing, unrolled warp tail; mean only"
                ),
                Place::Cuda,
                source_file!("column_stats/cuda/dense_cuda_tree_sequential.cu"),
            )
            .ladder()
            .converted()
            .mean_only()
            .adds_as_data()
            .params(&[("threads_per_block", $threads)])
            .known_as(&[$($known_as),*]),
            entry: "tree_sequential",
            file: "dense_cuda_tree_sequential.cu",
            threads: Some($threads),
            copied_by: CopiedBy::$copied_by,
        }
    };
}

pub(crate) const SEQUENTIAL: [Tree; 4] =
    [sequential!(64), sequential!(128), sequential!(256), sequential!(512)];
/// reduce<256>, with the copy that it had.
pub(crate) const SEQUENTIAL_FROM_HOST: Tree =
    sequential!(256, "-from-host", "transposed by the host", Host, "reduce<256>", "reduce_256");

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
    fn plan<S: Scalar>(&self, limits: &DeviceLimits, shape: Shape) -> Result<LaunchPlan, Refusal> {
        let most = limits.threads_per_block as usize;
        let one_per_row = shape.rows.clamp(1, most) as u32;
        let threads = self.threads.unwrap_or(one_per_row);
        let shared = if self.threads.is_none() { u64::from(threads) * size_of::<S>() as u64 } else { 0 };
        LaunchPlan::new(limits, [shape.cols as u64, 1, 1], [threads, 1, 1], shared)
    }

    /// Rows of the copy: those of the matrix, or with zeros below them up to twice the threads of a block.
    fn padded_rows(&self, rows: usize) -> usize {
        match self.threads {
            Some(threads) => rows.next_multiple_of(2 * threads as usize),
            None => rows,
        }
    }
}

struct Launch<S> {
    kernel: Kernel,
    plan: LaunchPlan,
    rows: usize,
    /// The copy, where the device makes it; otherwise the matrix that it is given is one.
    columns: Option<Transposed<S>>,
}

impl<S: Scalar> DeviceKernel<S> for Launch<S> {
    fn statistics(&self) -> usize {
        MEAN_ONLY
    }

    fn repack(&mut self, data: DeviceView<'_, S>) -> Result<bool, RunError> {
        let Some(columns) = &mut self.columns else { return Ok(false) };
        columns.repack(data.arguments())?;
        Ok(true)
    }

    fn reduce(&mut self, data: DeviceView<'_, S>, results: DeviceViewMut<'_, f64>) -> Result<(), RunError> {
        let [columns, distance] =
            self.columns.as_ref().map_or_else(|| data.arguments(), Transposed::arguments);
        let ([mean, _], rows) = (results.arguments(), Argument::of(self.rows as u64));
        // SAFETY: as the kernel declares them; the columns are a buffer of this struct or a matrix of their shape, and have the rows
        // that the kernel reads; the results have a place for every column.
        Ok(unsafe { self.kernel.launch(&self.plan, &[columns, distance, rows, mean]) }?)
    }

    fn launches(&self) -> Vec<LaunchReport> {
        let transposing = self.columns.iter().map(Transposed::report);
        transposing.chain([self.kernel.report(&self.plan)]).collect()
    }
}

impl<S: Scalar> Variant<Columns<S>> for Tree {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn kernels(&self) -> Vec<KernelSource> {
        match self.copied_by {
            CopiedBy::Device => vec![Transposed::<S>::source(), self.kernel::<S>()],
            CopiedBy::Host => vec![self.kernel::<S>()],
        }
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Reduction<S>>, Refusal> {
        let (device, Shape { rows, cols }) = (machine.device()?, *shape);
        let padded = self.padded_rows(rows);
        let mut launch = Launch {
            plan: self.plan::<S>(device.limits(), *shape)?,
            kernel: device.kernel(&self.kernel::<S>())?,
            rows,
            columns: None,
        };
        if self.copied_by == CopiedBy::Host && rows > 0 {
            let bytes =
                (cols as u64).checked_mul(padded as u64).and_then(|n| n.checked_mul(size_of::<S>() as u64));
            machine
                .check_memory(format!("the matrix column after column ({cols} of {padded} rows)"), bytes)?;
            return Ok(HostCopied::boxed(launch, device, *shape, padded));
        }
        launch.columns = Some(Transposed::padded(&device, "the matrix transposed", rows, cols, padded)?);
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
        let plan = INTERLEAVED.plan::<f64>(&h200, eeg).unwrap();
        assert_eq!((plan.grid(), plan.block(), plan.shared_bytes()), ([5248, 1, 1], [358, 1, 1], 358 * 8));
        assert_eq!(SEQUENTIAL[2].plan::<f32>(&h200, eeg).unwrap().block(), [256, 1, 1]);
        assert_eq!((SEQUENTIAL[2].padded_rows(358), STRIDED.padded_rows(358)), (512, 358));
        assert_eq!(STRIDED.plan::<f32>(&h200, eeg).unwrap().shared_bytes(), 358 * 4);
        let long = INTERLEAVED.plan::<f64>(&h200, Shape { rows: 1 << 30, cols: 3 }).unwrap();
        assert_eq!(long.block(), [1024, 1, 1], "threads take several rows each");
        assert!(INTERLEAVED.plan::<f64>(&h200, Shape { rows: 1, cols: 0 }).unwrap().is_empty());
        assert!(INTERLEAVED.plan::<f64>(&h200, Shape { rows: 1, cols: 1 << 31 }).is_err());
    }
}

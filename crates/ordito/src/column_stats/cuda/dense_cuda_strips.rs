//! Ours: a block per strip of columns, and per slice of rows where strips alone would be too few.

use crate::Scalar;
use crate::column_stats::cuda::device::{DeviceKernel, OnDevice};
use crate::column_stats::reduction::{Columns, Reduction, Shape};
use crate::column_stats::statistics::ALL_STATISTICS;
use crate::device::{
    Argument, Buffer, Device, DeviceLimits, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan,
    LaunchReport,
};
use crate::machine::Machine;
use crate::op::padded_rows::{Needs, PaddedRows};
use crate::op::{Description, Place, RunError, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

const THREADS_PER_BLOCK: u32 = 256;
/// The widest load of a thread.
const WIDE_BYTES: u32 = 16;

/// How a block is cut.
pub(crate) struct Strips {
    pub(crate) description: Description,
    /// Does a thread load 16 bytes of a row at a time, or one element? Wide loads need fewer instructions; narrow ones
    /// make four (f64: two) times as many strips, for matrices that are small.
    wide: bool,
    /// Threads that lie side by side across the strip; the others have other rows.
    across: u32,
    /// Rows of a thread that are on their way at a time.
    in_flight: u32,
    /// Blocks that there should be for each multiprocessor: slices are made until there are.
    blocks_per_multiprocessor: u32,
}

macro_rules! strips {
    ($kind:literal, $wide:literal, $loads:literal, $across:literal, $in_flight:literal, $blocks:literal) => {
        Strips {
            description: Description::new(
                concat!("dense-cuda-strips-", $kind, "-", $across, "x", $in_flight),
                concat!(
                    "a block per strip of columns and slice of rows, ",
                    $across,
                    " threads across, loads of ",
                    $loads,
                    ", ",
                    $in_flight,
                    " rows in flight"
                ),
                Place::Cuda,
                source_file!("column_stats/cuda/dense_cuda_strips.cu"),
            )
            .params(&[("threads_across", $across), ("rows_in_flight", $in_flight)]),
            wide: $wide,
            across: $across,
            in_flight: $in_flight,
            blocks_per_multiprocessor: $blocks,
        }
    };
}

/// What is left of seven that were measured on an H200 (measurements/2026-11-15-h200/columns): strips of 8 columns, and of 32
/// single elements, lost everywhere, wide ones of other sizes won nowhere by more than a percent.
pub(crate) const NARROW: Strips = strips!("narrow", false, "one element", 16, 8, 2);
/// With more rows in flight.
pub(crate) const NARROW_MANY_ROWS: Strips = strips!("narrow", false, "one element", 16, 24, 2);
/// With wide loads.
pub(crate) const WIDE: Strips = strips!("wide", true, "16 bytes", 32, 8, 2);

/// How the matrix is shared out: a decision that depends on the shape and the device only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slices {
    /// Strips of columns.
    strips: u64,
    /// Columns of a strip; the last one may have fewer.
    cols_per_strip: u64,
    /// Slices of rows.
    count: u64,
    /// Rows of a slice; the last one may have fewer, but has some.
    rows: u64,
}

impl Strips {
    fn width<S>(&self) -> u32 {
        if self.wide { WIDE_BYTES / size_of::<S>() as u32 } else { 1 }
    }

    fn lanes(&self) -> u32 {
        THREADS_PER_BLOCK / self.across
    }

    /// As many slices as keep the device busy, but none so short that a thread would not fill its loads once.
    fn slices<S>(&self, limits: &DeviceLimits, shape: Shape) -> Slices {
        let cols_per_strip = u64::from(self.across * self.width::<S>());
        let (rows, strips) = (shape.rows as u64, (shape.cols as u64).div_ceil(cols_per_strip));
        let wanted = u64::from(limits.multiprocessors * self.blocks_per_multiprocessor) / strips.max(1);
        let full = rows / u64::from(self.lanes() * self.in_flight);
        let count = wanted.min(full).clamp(1, u64::from(limits.grid[1]));
        let rows_per_slice = rows.div_ceil(count).max(1);
        Slices { strips, cols_per_strip, count: rows.div_ceil(rows_per_slice).max(1), rows: rows_per_slice }
    }

    fn kernel<S: Scalar>(&self) -> KernelSource {
        KernelSource::new("strips", "dense_cuda_strips.cu", include_str!("dense_cuda_strips.cu"))
            .define("SCALAR", S::CUDA_NAME)
            .define("WIDTH", self.width::<S>())
            .define("ACROSS", self.across)
            .define("IN_FLIGHT", self.in_flight)
            .define("BLOCKS", self.blocks_per_multiprocessor)
    }

    fn launch<S: Scalar>(&self, device: &Device, slices: Slices) -> Result<Launch<S>, Refusal> {
        let grid = [slices.strips, slices.count, 1];
        let sliced = slices.count > 1;
        let partial = if sliced {
            slices.count.saturating_mul(slices.strips).saturating_mul(slices.cols_per_strip)
        } else {
            0
        };
        let partial = usize::try_from(partial).unwrap_or(usize::MAX).saturating_mul(ALL_STATISTICS);
        let strips = if sliced { slices.strips as usize } else { 0 };
        Ok(Launch {
            plan: LaunchPlan::new(device.limits(), grid, [THREADS_PER_BLOCK, 1, 1], 0)?,
            kernel: device.kernel(&self.kernel::<S>())?,
            rows_per_slice: slices.rows,
            partial: device.allocate("statistics of slices", partial)?,
            arrived: device.upload("counters of slices", &vec![0_u32; strips])?,
            wide: self.wide.then(|| PaddedRows::new(device, "the matrix in padded rows", Needs::WholeChunks)),
        })
    }
}

struct Launch<S> {
    kernel: Kernel,
    plan: LaunchPlan,
    rows_per_slice: u64,
    partial: Buffer<f64>,
    arrived: Buffer<u32>,
    /// A copy for loads of 16 bytes, where the matrix does not lie so.
    wide: Option<PaddedRows<S>>,
}

impl<S: Scalar> DeviceKernel<S> for Launch<S> {
    fn bind(&mut self, data: DeviceView<'_, S>) -> Result<(), RunError> {
        self.wide.iter_mut().try_for_each(|copy| Ok(copy.bind(data)?))
    }

    fn repack(&mut self, data: DeviceView<'_, S>) -> Result<bool, RunError> {
        self.wide.as_mut().map_or(Ok(false), |copy| copy.fill(data))
    }

    fn reduce(&mut self, data: DeviceView<'_, S>, results: DeviceViewMut<'_, f64>) -> Result<(), RunError> {
        let data = self.wide.as_ref().map_or(data, |copy| copy.or_itself(data));
        let [rows, cols] = [data.rows(), data.cols()].map(|side| Argument::of(side as u64));
        let ([x, distance], [to, to_distance]) = (data.arguments(), results.arguments());
        let arguments = [
            rows,
            cols,
            x,
            distance,
            Argument::of(self.rows_per_slice),
            to,
            to_distance,
            Argument::from(&mut self.partial),
            Argument::from(&mut self.arrived),
        ];
        // SAFETY: as the kernel declares them; the results have a place for every statistic of every column, partial sums and counters
        // are buffers of this struct, made for this shape.
        Ok(unsafe { self.kernel.launch(&self.plan, &arguments) }?)
    }

    fn launches(&self) -> Vec<LaunchReport> {
        let copies = self.wide.iter().flat_map(PaddedRows::launches);
        [self.kernel.report(&self.plan)].into_iter().chain(copies).collect()
    }
}

impl<S: Scalar> Variant<Columns<S>> for Strips {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn kernels(&self) -> Vec<KernelSource> {
        let copy = self.wide.then(PaddedRows::<S>::source);
        [self.kernel::<S>()].into_iter().chain(copy).collect()
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Reduction<S>>, Refusal> {
        let device = machine.device()?;
        let slices = self.slices::<S>(device.limits(), *shape);
        let launch = self.launch::<S>(&device, slices)?;
        Ok(OnDevice::boxed(launch, device, *shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDES: [usize; 10] = [0, 1, 31, 358, 1000, 5248, 35_800, 1 << 20, 1 << 30, 1 << 40];

    #[test]
    fn slices_cover_every_row_and_column_once() {
        let h200 = DeviceLimits::h200();
        for strips in [&NARROW, &NARROW_MANY_ROWS, &WIDE] {
            for (rows, cols) in SIDES.iter().flat_map(|&rows| SIDES.map(|cols| (rows, cols))) {
                for slices in [
                    strips.slices::<f32>(&h200, Shape { rows, cols }),
                    strips.slices::<f64>(&h200, Shape { rows, cols }),
                ] {
                    let (rows, cols) = (rows as u64, cols as u64);
                    assert_eq!(slices.strips, cols.div_ceil(slices.cols_per_strip));
                    assert!(slices.count * slices.rows >= rows && (slices.count - 1) * slices.rows <= rows);
                    assert!(slices.count == 1 || (slices.count - 1) * slices.rows < rows, "an empty slice");
                    assert!(slices.count <= 65_535);
                    let grid = [slices.strips, slices.count, 1];
                    let plan = LaunchPlan::new(&h200, grid, [THREADS_PER_BLOCK, 1, 1], 0);
                    assert_eq!(plan.is_ok(), slices.strips < 1 << 31);
                }
            }
        }
    }

    #[test]
    fn small_matrices_are_not_sliced_and_tall_ones_are() {
        let h200 = DeviceLimits::h200();
        let count = |strips: &Strips, rows, cols| strips.slices::<f32>(&h200, Shape { rows, cols }).count;
        let (narrow, wide) = (&NARROW, &WIDE);
        assert_eq!(count(narrow, 358, 5248), 1, "328 strips are enough");
        assert_eq!(count(narrow, 100_000, 64), 66, "4 strips");
        assert_eq!(count(wide, 35_800, 5248), 6, "41 strips");
        assert_eq!(count(wide, 1 << 20, 512), 66, "4 strips");
    }
}

//! Diagonals: slices of 32 rows with all diagonals that these touch. Best for stencils on grids and for bands, at any number of columns:
//! no column of a nonzero is read, and neighbouring rows share what they read of X.

use crate::Scalar;
use crate::device::{Argument, Device, DeviceLimits, KernelSource};
use crate::machine::Machine;
use crate::op::{Description, Place, SourceFile};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::analysis::diagonals::{RUN, SLICE};
use crate::spmm::analysis::shape::Shape;
use crate::spmm::analysis::together::PerLine;
use crate::spmm::cuda::fast::layout::diagonals::{self, Diagonals};
use crate::spmm::cuda::fast::tiled::Layout;
use crate::spmm::cuda::fast::tiling::{Loads, Tiling, blocks_per_multiprocessor};
use crate::spmm::cuda::fast::work::Work;
use crate::spmm::cuda::fast::{Fast, Listed, kernel};
use crate::spmm::product::Subject;

pub(crate) struct ByDiagonals;
pub(crate) const SLICES: Listed<ByDiagonals> = Listed {
    fast: ByDiagonals,
    description: Description::new(
        "diagonals-cuda-slices",
        "diagonals of slices of 32 rows, lanes side by side for the columns of X, neighbouring rows in one thread",
        Place::Cuda,
        FILE,
    )
    .converted(),
};
static FILE: SourceFile = source_file!("spmm/cuda/fast/diagonals_cuda_slices.cu");

/// `stencil27:100`, K = 32: 311 µs in f64 with blocks of 128, 305 with 256; in f32 blocks of 256 would want 64 registers, which spill on sm_80.
fn threads<S: Scalar>() -> u32 {
    if size_of::<S>() == 8 { 256 } else { 128 }
}
const WARP: u32 = 32;
/// Lanes for the columns of X, at most: more of them would only multiply the reads of A.
const LANES: u32 = 8;
/// Bytes of a row of X up to which a lane has one load of it (f32, f64), measured on an H200 with `stencil27:100`, K = 1 to 64: in f64 two of
/// them at K = 32 take 305 µs instead of 335, at K = 16 as long.
const ONE_LOAD: [usize; 2] = [128, 64];
/// Rows of a thread, at most. `stencil27:100` in f64, K = 8: one row 168 µs, two 133, four 124, eight 132.
const ROWS: u32 = 4;
/// Registers below which kernels spill that add up few columns, whose second try without holes needs them.
const LEAST_REGISTERS: u32 = 40;
/// Places on diagonals that have to hold a nonzero where `auto` thinks of this variant at all: chosen before anything was measured; of 44 real
/// matrices none that is emptier was the fastest so.
const FILLED: f64 = 0.4;
/// Elements of X that lanes read from one line: neighbouring rows on a diagonal read neighbours.
const NEIGHBOURS: PerLine = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

fn tiling<S: Scalar>(k: usize) -> Tiling {
    let one_load = ONE_LOAD[usize::from(size_of::<S>() == 8)];
    let loads = if k.saturating_mul(size_of::<S>()) <= one_load { 1 } else { 2 };
    Tiling::new::<S>(k, loads, LANES)
}

/// Rows of a thread. Of few lanes few, so that a warp has no more than a slice, and reads it in order.
fn rows(tiling: Tiling) -> u32 {
    tiling.lanes.min(ROWS)
}

impl<S: Scalar> Fast<S> for ByDiagonals {
    fn source(&self, tiling: Tiling, loads: Loads) -> KernelSource {
        let (rows, x) = (rows(tiling), tiling.registers::<S>());
        // Sums, rows of X of a run, values of two diagonals, addresses.
        let values = rows * (size_of::<S>() / 4) as u32;
        let needed = LEAST_REGISTERS.max(20 + rows * x + (rows + RUN as u32 - 1) * x + 2 * values);
        let source = kernel("diagonal_slices", "diagonals_cuda_slices.cu", FILE.text, &[]);
        tiling
            .define::<S>(source, loads)
            .define("THREADS", threads::<S>())
            .define("ROWS", rows)
            .define("RUN", RUN as u32)
            .define("BLOCKS_PER_MULTIPROCESSOR", blocks_per_multiprocessor(threads::<S>(), needed))
    }
    fn tilings(&self) -> Vec<Tiling> {
        let mut all: Vec<Tiling> = Vec::new();
        for k in (0..8).map(|power| 1 << power) {
            if !all.contains(&tiling::<S>(k)) {
                all.push(tiling::<S>(k));
            }
        }
        all
    }
    fn serves(&self, shape: &Shape) -> bool {
        shape.diagonals.filled >= FILLED
    }
    fn work(&self, _: &DeviceLimits, shape: &Shape, k: usize) -> Work {
        let tiling = tiling::<S>(k);
        let (rows_of_thread, nonzeros) = (f64::from(rows(tiling)), shape.nonzeros as f64);
        let (filled, run) =
            (shape.diagonals.filled.clamp(1.0 / SLICE as f64, 1.0), shape.diagonals.run.max(1.0));
        let threads = shape.rows as f64 / rows_of_thread;
        let (values, scalar_bytes) = (nonzeros / filled, size_of::<S>() as f64);
        let diagonals = values / shape.rows.max(1) as f64;
        let x_rows = threads * diagonals / run * (rows_of_thread + run - 1.0);
        let warps = threads * f64::from(tiling.lanes) / f64::from(WARP);
        Work {
            tiling,
            warps,
            steps: warps * diagonals,
            chain: diagonals.max(shape.work.longest as f64) / run,
            in_flight: 1,
            parts: 0.0,
            more_bytes: values * scalar_bytes - nonzeros * (4.0 + scalar_bytes),
            x_rows,
            reuse: x_rows * shape.near / nonzeros.max(1.0),
            per_line: NEIGHBOURS,
        }
    }
    fn more_kernels(&self) -> Vec<KernelSource> {
        diagonals::sources::<S>().into()
    }

    fn layout(&self, machine: &Machine, device: &Device, subject: &Subject<S>) -> Result<Layout<S>, Refusal> {
        let (a, k) = (&subject.a, subject.k);
        let tiling = tiling::<S>(k);
        let Diagonals { starts, runs, masks, values } = Diagonals::new(machine, device, a)?;
        let rows_of_block = u64::from(threads::<S>() / tiling.lanes * rows(tiling));
        Ok(Layout {
            source: Box::new(move |loads| Fast::<S>::source(&ByDiagonals, tiling, loads)),
            tiling,
            k,
            units: a.rows() as u64,
            blocks: (a.rows() as u64).div_ceil(rows_of_block),
            threads: threads::<S>(),
            arguments: vec![
                Argument::of(a.cols() as u64),
                Argument::from(&starts),
                Argument::from(&runs),
                Argument::from(&masks),
                Argument::from(&values),
            ],
            _held: vec![Box::new(starts), Box::new(runs), Box::new(masks), Box::new(values)],
            parts: None,
        })
    }
}

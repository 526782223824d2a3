//! Windows of 8 rows that share a list of their columns, multiplied on tensor cores in f64. Best for bands, finite elements and
//! stencils at many columns of X, where an element of X serves several rows.

use crate::Scalar;
use crate::device::{Argument, Device, DeviceLimits, KernelSource};
use crate::machine::Machine;
use crate::op::{Description, Place, SourceFile};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::analysis::shape::Shape;
use crate::spmm::cuda::fast::layout::parts::Parts;
use crate::spmm::cuda::fast::layout::windowed::{self, ENTRIES, ROWS, Windowed};
use crate::spmm::cuda::fast::tiled::Layout;
use crate::spmm::cuda::fast::tiling::{Loads, Tiling, blocks_per_multiprocessor};
use crate::spmm::cuda::fast::work::Work;
use crate::spmm::cuda::fast::{Fast, Listed, PIECES, kernel};
use crate::spmm::product::Subject;

pub(crate) struct Windows;
pub(crate) const WINDOWS: Listed<Windows> = Listed {
    fast: Windows,
    description: Description::new(
        "csr-cuda-windows",
        "CSR, windows of 8 rows that share their columns, on tensor cores in f64",
        Place::Cuda,
        FILE,
    )
    .converted(),
};
static FILE: SourceFile = source_file!("spmm/cuda/fast/csr_cuda_windows.cu");

const THREADS: u32 = 64;
const WARP: u32 = 32;
/// Lanes side by side for the columns of X, as the tensor core wants them.
const LANES: u32 = 8;
/// Steps of a part of a window that has more than twice as many: short ones end together, but the more columns there are, the
/// more there is to add up of them. Of few steps in all nobody should wait for many that follow each other.
fn steps_of_part(row_bytes: usize, steps: usize) -> usize {
    if row_bytes < WIDE {
        SHORTEST_PART
    } else {
        (steps / PARTS_TO_FILL).clamp(SHORTEST_PART, 4 * SHORTEST_PART)
    }
}
const WIDE: usize = 512;
const SHORTEST_PART: usize = 16;
const PARTS_TO_FILL: usize = 1024;

/// 16 columns of X in f64, 32 in f32, in 8 lanes; twice as many in f64 where there are that many.
fn tiling<S: Scalar>(k: usize) -> Tiling {
    let narrow = 8 * (16 / size_of::<S>()) as u32;
    let columns = match size_of::<S>() {
        4 if k <= 16 => 16,
        8 if k > 16 => 2 * narrow,
        _ => narrow,
    };
    Tiling { lanes: LANES, columns }
}

/// Two loads a lane in f64: so much of X that lanes read it in order, and hand it over.
fn is_wide<S: Scalar>(tiling: Tiling) -> bool {
    size_of::<S>() == 8 && tiling.columns > 2 * LANES
}

impl<S: Scalar> Fast<S> for Windows {
    fn source(&self, tiling: Tiling, loads: Loads) -> KernelSource {
        let registers = tiling.registers::<S>();
        // Sums of two rows in f64, two elements of X, addresses and masks; a little less than that of wide tiles in f64, for a sixth
        // more warps: 389 to 376 µs (`stencil27:100` in f64, K = 32).
        let masks = if is_wide::<S>(tiling) { 40 } else { 48 };
        let needed =
            masks + 4 * tiling.columns / LANES + 2 * registers + if loads.width == 1 { 24 } else { 0 };
        let source = kernel("csr_windows", "csr_cuda_windows.cu", FILE.text, &[PIECES])
            .define("SCALAR", S::CUDA_NAME)
            .define("VEC", loads.width)
            .define("CHUNKS", tiling.chunks(loads.width))
            .define("WHOLE", u32::from(loads.whole))
            .define("HANDED_OVER", u32::from(is_wide::<S>(tiling) && loads.whole));
        source
            .define("THREADS", THREADS)
            .define("BLOCKS_PER_MULTIPROCESSOR", blocks_per_multiprocessor(THREADS, needed))
    }
    fn tilings(&self) -> Vec<Tiling> {
        let mut all: Vec<Tiling> = Vec::new();
        for tiling in [1, 17].map(tiling::<S>) {
            if !all.contains(&tiling) {
                all.push(tiling);
            }
        }
        all
    }
    fn work(&self, _: &DeviceLimits, shape: &Shape, k: usize) -> Work {
        let (windows, shared) = (shape.rows as f64 / ROWS as f64, shape.gathered.shared.max(1.0));
        let entries = shape.nonzeros as f64 / shared;
        let steps = (entries / ENTRIES as f64).max(windows);
        // The window of the longest row, of the longest neighbours, or of what was gathered around the longest.
        let longest = shape.work.longest.max(shape.gathered.longest) as f64;
        let longest = longest.max(shape.work.longest_of_8 as f64 / shared) / ENTRIES as f64;
        let part = steps_of_part(k.saturating_mul(size_of::<S>()), steps as usize) as f64;
        let is_cut = longest > 2.0 * part;
        Work {
            tiling: tiling::<S>(k),
            // Parts of cut windows have one each.
            warps: if is_cut { windows.max(steps / part) } else { windows },
            steps,
            chain: longest.min(2.0 * part),
            in_flight: 1,
            parts: if is_cut { longest / part } else { 0.0 },
            more_bytes: 8.0 * entries - 4.0 * shape.nonzeros as f64,
            x_rows: entries,
            // What rows of a window share is counted already.
            reuse: shape.near / shared,
            per_line: shape.along,
        }
    }
    fn more_kernels(&self) -> Vec<KernelSource> {
        windowed::sources::<S>().into_iter().chain([Parts::<S>::source()]).collect()
    }

    fn layout(&self, _: &Machine, device: &Device, subject: &Subject<S>) -> Result<Layout<S>, Refusal> {
        let (a, k) = (&subject.a, subject.k);
        let tiling = tiling::<S>(k);
        let row_bytes = k.saturating_mul(size_of::<S>());
        let Windowed { rows, pieces, first_values, entries, values } =
            Windowed::new(device, a, |steps| steps_of_part(row_bytes, steps))?;
        let list = device.upload("windows", &pieces.list)?;
        let parts = Parts::new(device, &pieces.cut, (pieces.parts * ROWS, ROWS as u32), k)?;
        let pieces = pieces.list.len() as u64;
        Ok(Layout {
            source: Box::new(move |loads| Fast::<S>::source(&Windows, tiling, loads)),
            tiling,
            k,
            units: pieces,
            blocks: pieces.div_ceil((THREADS / WARP).into()),
            threads: THREADS,
            arguments: vec![
                Argument::from(&list),
                Argument::from(&first_values),
                Argument::from(&entries),
                Argument::from(&values),
                Argument::from(&rows),
                Argument::of(a.rows() as u64),
                Parts::address(&parts),
            ],
            _held: vec![
                Box::new(list),
                Box::new(first_values),
                Box::new(entries),
                Box::new(values),
                Box::new(rows),
            ],
            parts,
        })
    }
}

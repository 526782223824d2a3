//! Rows by groups of lanes: some side by side for the columns of X, and as many such as fill the group for nonzeros in turn.
//! Groups of 8 lanes suit long matrices, whole warps small ones, whose rows must be shared out to fill the device.

use crate::Scalar;
use crate::device::{Argument, Device, DeviceLimits, KernelSource};
use crate::machine::Machine;
use crate::op::{Description, Place, SourceFile};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::analysis::shape::Shape;
use crate::spmm::cuda::fast::layout::entries::Entries;
use crate::spmm::cuda::fast::layout::parts::Parts;
use crate::spmm::cuda::fast::layout::row_list::{self, RowList};
use crate::spmm::cuda::fast::tiled::Layout;
use crate::spmm::cuda::fast::tiling::{Loads, Tiling, blocks_per_multiprocessor};
use crate::spmm::cuda::fast::work::Work;
use crate::spmm::cuda::fast::{Fast, Listed, PIECES, kernel};
use crate::spmm::product::Subject;

/// With groups of so many lanes, more where a row of X needs more; nonzeros handed round by shuffles, or read by all.
pub(crate) struct Rows<const GROUP: u32, const SHUFFLED: bool>;

const FILE: SourceFile = source_file!("spmm/cuda/fast/csr_cuda_rows.cu");

/// Groups of 8 lanes: A stays as it is, beside a list of its rows.
pub(crate) const ROWS_8: Listed<Rows<8, false>> = Listed {
    fast: Rows,
    description: Description::new(
        "csr-cuda-rows8",
        "CSR, groups of 8 lanes per row, rows in the order of their lengths, long ones in parts",
        Place::Cuda,
        FILE,
    )
    .plain(),
};
/// With shuffles.
pub(crate) const ROWS_8_SHUFFLED: Listed<Rows<8, true>> = Listed {
    fast: Rows,
    description: Description::new(
        "csr-cuda-rows8-shuffled",
        "CSR, groups of 8 lanes per row that hand nonzeros round, rows in the order of their lengths",
        Place::Cuda,
        FILE,
    ),
};
/// With whole warps.
pub(crate) const ROWS_32: Listed<Rows<32, false>> = Listed {
    fast: Rows,
    description: Description::new(
        "csr-cuda-rows32",
        "CSR, a warp per row, rows in the order of their lengths, long ones in parts",
        Place::Cuda,
        FILE,
    ),
};
/// With whole warps and shuffles.
pub(crate) const ROWS_32_SHUFFLED: Listed<Rows<32, true>> = Listed {
    fast: Rows,
    description: Description::new(
        "csr-cuda-rows32-shuffled",
        "CSR, a warp per row whose lanes hand nonzeros round, rows in the order of their lengths",
        Place::Cuda,
        FILE,
    ),
};

const THREADS: u32 = 256;
const LANES: u32 = 32;

/// Nonzeros of a part of a long row. The device should not wait for the longest part, which goes through its nonzeros one after
/// the other: the fewer there are in all, the shorter the parts; but rows of a few times the mean length stay whole, and no row
/// has more parts than a block adds up at once. On an H200 the fastest form of this kernel took 6 to 23 % less time on
/// soc-Epinions1 (0.5 million nonzeros, 16 columns and more) with parts of 32 or 64 than with 256, up to 21 % less on cnr-2000
/// (3 millions) with 64 or 128; BOYD1_A, one row of which has a seventh of all nonzeros, was mostly fastest with 256.
fn part_length((rows, nonzeros): (usize, usize), longest: usize, split: u32) -> usize {
    let mean = nonzeros.div_ceil(rows.max(1));
    let of_slot = (nonzeros / NONZEROS_PER_STEP).max(4 * mean).clamp(SHORTEST, LONGEST);
    (of_slot * split as usize).min(LONGEST).max(longest.div_ceil(MOST_PARTS))
}
const NONZEROS_PER_STEP: usize = 1 << 15;
const SHORTEST: usize = 32;
const LONGEST: usize = 256;
const MOST_PARTS: usize = 384;

/// One load per lane up to 8 lanes, two beyond: more lanes than that would only multiply the reads of A. Where so few rows would leave
/// multiprocessors without work, tiles are narrower: there are more of them, and lanes of a group that columns do not need take
/// nonzeros in turn.
fn tiling<S: Scalar>(
    limits: &DeviceLimits,
    (rows, nonzeros): (usize, usize),
    group: u32,
    k: usize,
) -> Tiling {
    let one = Tiling::new::<S>(k, 1, LANES);
    let mut tiling = if one.lanes > 8 || one.tiles(k) > 1 { Tiling::new::<S>(k, 2, LANES) } else { one };
    let groups = rows.max(nonzeros / LONGEST) as u64;
    let least = u64::from(limits.multiprocessors) * WARPS_TO_FILL * u64::from(LANES);
    let threads = |tiling: Tiling| {
        groups.saturating_mul(group.max(tiling.lanes).into()).saturating_mul(tiling.tiles(k))
    };
    while tiling.lanes > NARROWEST && threads(tiling) < least {
        let has_two_loads = tiling.columns > Tiling::new::<S>(usize::MAX, 1, tiling.lanes).columns;
        if !has_two_loads && tiling.lanes > group {
            break; // groups would be smaller, and no more would be done at once
        }
        let lanes = if has_two_loads { tiling.lanes } else { tiling.lanes / 2 };
        tiling = Tiling { lanes, columns: tiling.columns / 2 };
    }
    tiling
}
/// Warps of a multiprocessor from which on one that waits is not waited for.
const WARPS_TO_FILL: u64 = 16;
/// Lanes of a row of X at the least: 64 bytes.
const NARROWEST: u32 = 4;

/// Nonzeros that a lane has on their way.
fn in_flight(registers: u32, split: u32, shuffled: bool) -> u32 {
    if registers > 4 || (split >= 8 && !shuffled) { 2 } else { 4 }
}

impl<S: Scalar, const GROUP: u32, const SHUFFLED: bool> Fast<S> for Rows<GROUP, SHUFFLED> {
    fn source(&self, tiling: Tiling, loads: Loads) -> KernelSource {
        let split = (GROUP / tiling.lanes).max(1);
        let registers = tiling.registers::<S>();
        let words = (size_of::<S>() / 4) as u32;
        let in_flight = in_flight(registers, split, SHUFFLED);
        let needed = if SHUFFLED {
            // Adding up several groups takes a few more where a lane has much to add.
            let more = if split > 1 && registers > 4 { 4 } else { 0 };
            34 + more + registers + in_flight * (registers + 1) + 2 * words
        } else {
            26 + registers + in_flight * (registers + words + 1)
        };
        let source = kernel("csr_rows", "csr_cuda_rows.cu", FILE.text, &[PIECES]);
        tiling
            .define::<S>(source, loads)
            .define("SPLIT", split)
            .define("SHUFFLED", u32::from(SHUFFLED))
            .define("THREADS", THREADS)
            .define("IN_FLIGHT", in_flight)
            .define("BLOCKS_PER_MULTIPROCESSOR", blocks_per_multiprocessor(THREADS, needed))
    }
    fn tilings(&self) -> Vec<Tiling> {
        let mut all = Tiling::all::<S>(1, LANES);
        all.extend(Tiling::all::<S>(2, LANES).into_iter().filter(|tiling| tiling.lanes >= 8));
        all
    }
    fn work(&self, limits: &DeviceLimits, shape: &Shape, k: usize) -> Work {
        let tiling = tiling::<S>(limits, (shape.rows, shape.nonzeros), GROUP, k);
        let split = (GROUP / tiling.lanes).max(1);
        let lanes_of_warp = f64::from(GROUP.max(tiling.lanes)) / f64::from(LANES);
        let part = part_length((shape.rows, shape.nonzeros), shape.work.longest, split);
        let is_cut = shape.work.longest > 2 * part;
        let of_rows = shape.rows as f64;
        let pieces =
            if is_cut { shape.work.parts_of(part as f64) + shape.work.empty as f64 } else { of_rows };
        let in_flight = in_flight(tiling.registers::<S>(), split, SHUFFLED);
        Work {
            tiling,
            warps: pieces * lanes_of_warp,
            steps: shape.work.parts_of(f64::from(split)) * lanes_of_warp,
            chain: shape.work.longest.min(2 * part) as f64 / f64::from(split),
            // Handed round are the nonzeros of one step at a time.
            in_flight: if SHUFFLED { in_flight.min(tiling.lanes) } else { in_flight },
            parts: if is_cut { shape.work.longest as f64 / part as f64 } else { 0.0 },
            more_bytes: 16.0 * of_rows,
            x_rows: shape.nonzeros as f64,
            reuse: shape.equals,
            per_line: shape.along,
        }
    }
    fn more_kernels(&self) -> Vec<KernelSource> {
        row_list::sources_by_length().into_iter().chain([Parts::<S>::source()]).collect()
    }

    fn layout(&self, _: &Machine, device: &Device, subject: &Subject<S>) -> Result<Layout<S>, Refusal> {
        let (a, k) = (&subject.a, subject.k);
        let tiling = tiling::<S>(device.limits(), (a.rows(), a.nnz()), GROUP, k);
        let split = (GROUP / tiling.lanes).max(1);
        let part = part_length((a.rows(), a.nnz()), a.longest_row(), split);
        let RowList { list, cut, parts, .. } = RowList::by_length(device, a.pattern().offsets(), part)?;
        let entries = Entries::of(device, a)?;
        let [columns, values] = entries.arguments();
        let parts = Parts::new(device, &cut, (parts, 1), k)?;
        let group = GROUP.max(tiling.lanes);
        Ok(Layout {
            source: Box::new(move |loads| Fast::<S>::source(&Rows::<GROUP, SHUFFLED>, tiling, loads)),
            tiling,
            k,
            units: list.len() as u64,
            blocks: (list.len() as u64).div_ceil((THREADS / group).into()),
            threads: THREADS,
            arguments: vec![Argument::from(&list), columns, values, Parts::address(&parts)],
            _held: vec![Box::new(list), Box::new(entries)],
            parts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_short_in_small_matrices_and_few_in_long_rows() {
        let starts = |rows: usize, length: usize| (rows, rows * length);
        assert_eq!(part_length(starts(75_000, 7), 1800, 1), 32);
        assert_eq!(part_length(starts(75_000, 7), 1800, 4), 128);
        assert_eq!(part_length(starts(325_000, 10), 2700, 1), 99);
        assert_eq!(part_length(starts(10_000, 40), 150, 1), 160);
        assert_eq!(part_length(starts(1_000_000, 16), 50_000, 1), 256);
        assert_eq!(part_length(starts(93_000, 7), 384 << 11, 1), 2048);
        assert_eq!(part_length((0, 0), 0, 8), 256);
    }

    #[test]
    fn few_rows_have_narrow_tiles() {
        let taken = |rows, group, k| tiling::<f64>(&DeviceLimits::h200(), (rows, 10 * rows), group, k);
        assert_eq!(taken(1_000_000, 32, 128), Tiling { lanes: 32, columns: 128 });
        assert_eq!(taken(1500, 32, 128), Tiling { lanes: 32, columns: 64 });
        assert_eq!(taken(800, 32, 128), Tiling { lanes: 16, columns: 32 });
        assert_eq!(taken(10, 32, 128), Tiling { lanes: 4, columns: 8 });
        // Where a group is no larger than a row of X needs, only loads can be shared out.
        assert_eq!(taken(10, 8, 128), Tiling { lanes: 32, columns: 64 });
        assert_eq!(taken(10, 32, 2), Tiling { lanes: 1, columns: 2 });
    }

    #[test]
    fn every_tile_that_is_taken_is_listed() {
        fn check<S: Scalar>() {
            let all = Fast::<S>::tilings(&Rows::<8, false>);
            for (rows, group) in [(1, 8), (1, 32), (500, 32), (5000, 8), (1_000_000, 32)] {
                for k in (1..300).chain([100_000]) {
                    let taken = tiling::<S>(&DeviceLimits::h200(), (rows, 3 * rows), group, k);
                    assert!(all.contains(&taken), "{taken:?} of {k}");
                }
            }
        }
        check::<f32>();
        check::<f64>();
    }
}

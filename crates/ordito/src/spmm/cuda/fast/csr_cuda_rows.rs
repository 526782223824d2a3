//! Rows by groups of lanes: some side by side for the columns of X, and as many such as fill the group for nonzeros in turn.
//! Groups of 8 lanes suit long matrices, whole warps small ones, whose rows must be shared out to fill the device.

use crate::Scalar;
use crate::device::{Argument, Device, DeviceLimits, KernelSource};
use crate::machine::Machine;
use crate::op::{Description, Place, SourceFile};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::analysis::row_work::AtLeast;
use crate::spmm::analysis::shape::Shape;
use crate::spmm::cuda::fast::layout::entries::Entries;
use crate::spmm::cuda::fast::layout::parts_in_place::PartsInPlace;
use crate::spmm::cuda::fast::layout::row_list::{self, RowList};
use crate::spmm::cuda::fast::layout::row_teams::{Groups, Lengths, RowTeams, THREADS};
use crate::spmm::cuda::fast::tiled::Layout;
use crate::spmm::cuda::fast::tiling::{Loads, Tiling, blocks_per_multiprocessor};
use crate::spmm::cuda::fast::work::Work;
use crate::spmm::cuda::fast::{Fast, Listed, PIECES, kernel};
use crate::spmm::product::Subject;

/// With groups of so many lanes, more where a row of X needs more; nonzeros handed round by shuffles, or read by all.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    group: u32,
    shuffled: bool,
}

static FILE: SourceFile = source_file!("spmm/cuda/fast/csr_cuda_rows.cu");

/// Groups of 8 lanes: A stays as it is, beside a list of its rows.
pub(crate) const ROWS_8: Listed<Rows> = Listed {
    fast: Rows { group: 8, shuffled: false },
    description: Description::new(
        "csr-cuda-rows8",
        "CSR, groups of 8 lanes per row, rows in the order of their lengths, long ones by a warp, a block or several",
        Place::Cuda,
        FILE,
    )
    .plain(),
};
/// With shuffles.
pub(crate) const ROWS_8_SHUFFLED: Listed<Rows> = Listed {
    fast: Rows { group: 8, shuffled: true },
    description: Description::new(
        "csr-cuda-rows8-shuffled",
        "CSR, groups of 8 lanes per row that hand nonzeros round, rows in the order of their lengths, long ones by a warp, a block or several",
        Place::Cuda,
        FILE,
    ),
};
/// With whole warps.
pub(crate) const ROWS_32: Listed<Rows> = Listed {
    fast: Rows { group: 32, shuffled: false },
    description: Description::new(
        "csr-cuda-rows32",
        "CSR, a warp per row, rows in the order of their lengths, long ones by a block or several",
        Place::Cuda,
        FILE,
    ),
};
/// With whole warps and shuffles.
pub(crate) const ROWS_32_SHUFFLED: Listed<Rows> = Listed {
    fast: Rows { group: 32, shuffled: true },
    description: Description::new(
        "csr-cuda-rows32-shuffled",
        "CSR, a warp per row whose lanes hand nonzeros round, rows in the order of their lengths, long ones by a block or several",
        Place::Cuda,
        FILE,
    ),
};

const LANES: u32 = 32;

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
    let groups = rows.max(nonzeros / OF_LONG_ROWS) as u64;
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
/// Nonzeros of long rows that count as one short row.
const OF_LONG_ROWS: usize = 256;
/// Warps of a multiprocessor from which on one that waits is not waited for.
const WARPS_TO_FILL: u64 = 16;
/// Lanes of a row of X at the least: 64 bytes.
const NARROWEST: u32 = 4;

/// Nonzeros that a lane has on their way.
fn in_flight(registers: u32, split: u32, shuffled: bool) -> u32 {
    if registers > 4 || (split >= 8 && !shuffled) { 2 } else { 4 }
}

impl Rows {
    fn groups<S: Scalar>(self, tiling: Tiling, k: usize) -> Groups {
        let lanes = self.group.max(tiling.lanes);
        let split = lanes / tiling.lanes;
        // Shuffled ones have fewer on their way at few columns; when teams pay was fitted to this number.
        let in_flight = in_flight(tiling.registers::<S>(), split, self.shuffled);
        Groups { lanes, split, in_flight, tiles: tiling.tiles(k) }
    }
    /// The kernel, with teams for long rows if there are any: without them prologues are shorter, which rows of a few nonzeros show.
    fn kernel<S: Scalar>(self, tiling: Tiling, loads: Loads, teams: bool) -> KernelSource {
        let split = (self.group / tiling.lanes).max(1);
        let registers = tiling.registers::<S>();
        let words = (size_of::<S>() / 4) as u32;
        let in_flight = in_flight(registers, split, self.shuffled);
        let needed = if self.shuffled {
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
            .define("SHUFFLED", u32::from(self.shuffled))
            .define("THREADS", THREADS)
            .define("IN_FLIGHT", in_flight)
            .define("TEAMS", u32::from(teams))
            .define("BLOCKS_PER_MULTIPROCESSOR", blocks_per_multiprocessor(THREADS, needed))
    }
}

impl<S: Scalar> Fast<S> for Rows {
    fn source(&self, tiling: Tiling, loads: Loads) -> KernelSource {
        self.kernel::<S>(tiling, loads, true)
    }
    fn tilings(&self) -> Vec<Tiling> {
        let mut all = Tiling::all::<S>(1, LANES);
        all.extend(Tiling::all::<S>(2, LANES).into_iter().filter(|tiling| tiling.lanes >= 8));
        all
    }
    fn work(&self, limits: &DeviceLimits, shape: &Shape, k: usize) -> Work {
        let tiling = tiling::<S>(limits, (shape.rows, shape.nonzeros), self.group, k);
        let groups = self.groups::<S>(tiling, k);
        let lanes_of_warp = f64::from(groups.lanes) / f64::from(LANES);
        let (of_rows, longest) = (shape.rows as f64, shape.work.longest);
        let lengths = Lengths { nonzeros: shape.nonzeros, longest, at_least: shape.work.at_least };
        let teams = RowTeams::new(limits, &lengths, groups);
        let Groups { split, in_flight, .. } = groups;
        Work {
            tiling,
            // Groups of a team that its row does not need are there, too.
            warps: (of_rows + teams.groups_more(groups)) * lanes_of_warp,
            steps: shape.work.parts_of(f64::from(split)) * lanes_of_warp,
            chain: teams.chain,
            // Handed round are the nonzeros of one step at a time.
            in_flight: if self.shuffled { in_flight.min(tiling.lanes) } else { in_flight },
            parts: if longest > teams.nonzeros_of_block {
                longest as f64 / teams.nonzeros_of_block as f64
            } else {
                0.0
            },
            more_bytes: 16.0 * of_rows,
            x_rows: shape.nonzeros as f64,
            reuse: shape.equals,
            per_line: shape.along,
        }
    }
    fn more_kernels(&self) -> Vec<KernelSource> {
        let rows = *self;
        let without_teams = Fast::<S>::tilings(self).into_iter().flat_map(|tiling| {
            tiling.all_loads::<S>().into_iter().map(move |loads| rows.kernel::<S>(tiling, loads, false))
        });
        without_teams.chain(row_list::sources_by_length()).collect()
    }

    fn layout(&self, _: &Machine, device: &Device, subject: &Subject<S>) -> Result<Layout<S>, Refusal> {
        let (a, k) = (&subject.a, subject.k);
        let tiling = tiling::<S>(device.limits(), (a.rows(), a.nnz()), self.group, k);
        let (offsets, groups) = (a.pattern().offsets(), self.groups::<S>(tiling, k));
        let at_least = AtLeast::of(offsets);
        let lengths = Lengths { nonzeros: a.nnz(), longest: a.longest_row(), at_least };
        let teams = RowTeams::new(device.limits(), &lengths, groups);
        let RowList { list, long, cut, .. } =
            RowList::by_length_and_parts(device, offsets, teams.from_block - 1, teams.nonzeros_of_block)?;
        let entries = Entries::of(device, a)?;
        let [columns, values] = entries.arguments();
        let in_place = PartsInPlace::<S>::new(device, &cut, (k, tiling.tiles(k)))?;
        let [cuts, arrived, parts] = in_place.arguments();
        let alone = (list.len() - long - teams.rows_with_warps) as u64;
        let warps = teams.rows_with_warps as u64 + alone.div_ceil(groups.in_warp().into());
        let (rows, has_teams) = (*self, teams.any());
        Ok(Layout {
            source: Box::new(move |loads| rows.kernel::<S>(tiling, loads, has_teams)),
            tiling,
            k,
            units: list.len() as u64,
            blocks: long as u64 + warps.div_ceil(Groups::warps().into()),
            threads: THREADS,
            arguments: vec![
                Argument::of(long as u64),
                Argument::of(teams.rows_with_warps as u64),
                Argument::from(&list),
                columns,
                values,
                cuts,
                arrived,
                parts,
            ],
            _held: vec![Box::new(list), Box::new(entries), Box::new(in_place)],
            parts: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let all = Fast::<S>::tilings(&ROWS_8.fast);
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

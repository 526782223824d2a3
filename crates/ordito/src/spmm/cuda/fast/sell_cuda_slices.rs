//! SELL with several lanes per row: rows of a warp lie column by column, LANES lanes read X for each.
//! In their own order best where rows next to each other have about the same length, at any K: stencils, matrices without a
//! structure. Sorted by their lengths, with teams of lanes for the long ones: where lengths differ.

use crate::Scalar;
use crate::device::{Argument, Device, DeviceLimits, KernelSource};
use crate::machine::Machine;
use crate::matrix::Csr;
use crate::op::{Description, Place, SourceFile};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::analysis::reuse::reuse;
use crate::spmm::analysis::shape::Shape;
use crate::spmm::cuda::fast::layout::parts::Parts;
use crate::spmm::cuda::fast::layout::parts_in_place::PartsInPlace;
use crate::spmm::cuda::fast::layout::row_list::{self, RowList};
use crate::spmm::cuda::fast::layout::sliced::{Sliced, Slicing};
use crate::spmm::cuda::fast::layout::teams::Teams;
use crate::spmm::cuda::fast::tiled::Layout;
use crate::spmm::cuda::fast::tiling::{Loads, Tiling, blocks_per_multiprocessor};
use crate::spmm::cuda::fast::work::Work;
use crate::spmm::cuda::fast::{Fast, Listed, PIECES, kernel};
use crate::spmm::product::Subject;

/// Of rows in an order.
#[derive(Clone, Copy)]
pub(crate) struct Slices {
    order: Order,
}
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    AsTheyAre,
    ByLength,
}

static FILE: SourceFile = source_file!("spmm/cuda/fast/sell_cuda_slices.cu");

/// Rows as they are.
pub(crate) const SLICES: Listed<Slices> = Listed {
    fast: Slices { order: Order::AsTheyAre },
    description: Description::new(
        "sell-cuda-slices",
        "SELL, lanes side by side for the columns of X, the rows of a warp in one slice",
        Place::Cuda,
        FILE,
    )
    .converted(),
};
/// Rows in the order of their lengths.
pub(crate) const SORTED: Listed<Slices> = Listed {
    fast: Slices { order: Order::ByLength },
    description: Description::new(
        "sell-cuda-sorted",
        "SELL, rows in the order of their lengths, long ones by teams of lanes or in parts, those of a warp in one slice",
        Place::Cuda,
        FILE,
    )
    .converted(),
};

const THREADS: u32 = 256;
/// Of teams with few registers: 1 % less time than with 256 on an H200 (`powerlaw`, one column). With more registers fewer warps
/// would fit a multiprocessor: 5 to 13 % more time at K = 4 in f64.
const MANY_THREADS: u32 = 512;
const FEW_REGISTERS: u32 = 2;
const WARP: usize = 32;
/// Loads of X per lane and nonzero, for half as many lanes: A's part is then read for twice as many columns.
const LOADS: u32 = 2;
/// Where neighbours share fewer columns than that, and X does not fit L2, rows of X are read in parts of a cache line, one part
/// of all of X after the other: on an H200 `uniform:1000000x16` took 6 to 14 % less time so, `mdual` 5 %, while stencils,
/// whose rows find what their neighbours read, lost a quarter.
const SCATTERED: f64 = 1.5;
const LINE: usize = 128;
/// From so many lanes on (no line of X is then read in parts) A is kept in the caches like everything else: 3 to 5 % on
/// stencils.
const KEEPS_A: u32 = 8;

/// All columns at once, as far as lanes go; or a line of them.
fn tiling<S: Scalar>(cols: usize, reuse: impl FnOnce() -> f64, k: usize, l2_bytes: u64) -> Tiling {
    let x_bytes = (cols as u64).saturating_mul(k as u64).saturating_mul(size_of::<S>() as u64);
    let in_lines = x_bytes > l2_bytes && reuse() < SCATTERED;
    Tiling::new::<S>(if in_lines { k.min(LINE / size_of::<S>()) } else { k }, LOADS, 32)
}

/// Nonzeros that a lane has on their way, measured for both precisions on an H200.
fn in_flight<S: Scalar>(tiling: Tiling) -> u32 {
    let single = size_of::<S>() == 4;
    match (single, tiling.lanes, tiling.registers::<S>()) {
        (_, 1, ..=4) | (true, 4, _) | (false, ..=8, _) => 4,
        _ => 2,
    }
}

/// Sorted rows: do long ones have teams of lanes, which add up by shuffles? Where a row of X has one lane; wider ones cut long
/// rows into parts, since the registers for shuffles slow them down. On an H200 teams instead of parts made `powerlaw` up to
/// 5 % faster with one lane, cnr-2000 up to 13 %; with more lanes they made cnr-2000 up to a quarter slower.
fn has_teams(tiling: Tiling) -> bool {
    tiling.lanes == 1
}

/// Rows that are sorted by themselves for teams. Where neighbours share columns: few, so that what is read of X and written of Y
/// stays together. Otherwise all: rows that are equally long then run at the same time, and their first, second, … columns,
/// which rise, lie closer to each other than those of any rows. On an H200 `powerlaw:1000000x16` took 6 % less time for one
/// column so (122 µs instead of 130), but nothing less with windows of a quarter of its rows.
fn window<S: Scalar>(a: &Csr<S>) -> usize {
    if reuse(a) < SCATTERED { a.rows() } else { WINDOW }
}
const WINDOW: usize = 1 << 14;

/// Nonzeros of a lane of a team: few where there are few in all, since it goes through them one after the other.
fn per_lane(nonzeros: usize) -> usize {
    (nonzeros / NONZEROS_PER_STEP).clamp(16, 32)
}
/// Nonzeros of a part of a long row, likewise; longer where X is wide, since every part is written and read once more.
fn part_length(nonzeros: usize, row_bytes: usize) -> usize {
    let of_lane = (nonzeros / NONZEROS_PER_STEP).clamp(8, 48);
    if row_bytes >= WIDE { 2 * of_lane } else { of_lane }
}
const NONZEROS_PER_STEP: usize = 1 << 17;
const WIDE: usize = 256;
/// Of a length as the kernel reads it: the place of the size of its team.
const TEAM_BIT: u32 = 27;

impl Slices {
    fn slicing(self, tiling: Tiling) -> Slicing {
        let length = if self.teams(tiling) { (1 << TEAM_BIT) - 1 } else { u32::MAX };
        Slicing { rows: WARP / tiling.lanes as usize, length }
    }
    fn teams(self, tiling: Tiling) -> bool {
        self.order == Order::ByLength && has_teams(tiling)
    }
    fn threads<S: Scalar>(self, tiling: Tiling) -> u32 {
        let few = tiling.registers::<S>() <= FEW_REGISTERS;
        if self.teams(tiling) && few { MANY_THREADS } else { THREADS }
    }
}

impl<S: Scalar> Fast<S> for Slices {
    fn source(&self, tiling: Tiling, loads: Loads) -> KernelSource {
        let in_flight = in_flight::<S>(tiling);
        let registers = tiling.registers::<S>();
        let (teams, threads) = (self.teams(tiling), self.threads::<S>(tiling));
        let words = (size_of::<S>() / 4) as u32;
        // Single loads have more addresses to hold.
        let addresses = if loads.width == 1 && registers > 4 { 8 } else { 0 };
        let needed = 26 + addresses + registers + in_flight * (registers + words + 1);
        let source = kernel("sell_slices", "sell_cuda_slices.cu", FILE.text, &[PIECES]);
        tiling
            .define::<S>(source, loads)
            .define("THREADS", threads)
            .define("IN_FLIGHT", in_flight)
            .define("ONCE", u32::from(tiling.lanes < KEEPS_A))
            .define("ORDERED", u32::from(self.order != Order::AsTheyAre))
            .define("TEAMS", u32::from(teams))
            .define("TEAM_BIT", TEAM_BIT)
            .define("BLOCKS_PER_MULTIPROCESSOR", blocks_per_multiprocessor(threads, needed))
    }
    fn tilings(&self) -> Vec<Tiling> {
        Tiling::all::<S>(LOADS, 32)
    }
    fn work(&self, limits: &DeviceLimits, shape: &Shape, k: usize) -> Work {
        let tiling = tiling::<S>(shape.cols, || shape.reuse, k, limits.l2_bytes);
        let rows_per_slice = WARP / tiling.lanes as usize;
        let (rows, longest) = (shape.rows as f64, shape.work.longest);
        let of_slice = rows_per_slice as f64;
        let in_their_order = Work {
            tiling,
            warps: rows / of_slice,
            steps: shape.work.padded_to(rows_per_slice) / of_slice,
            chain: longest as f64,
            in_flight: in_flight::<S>(tiling),
            parts: 0.0,
            more_bytes: 4.0 * rows,
            x_rows: shape.nonzeros as f64,
            reuse: shape.near,
            per_line: shape.across,
        };
        if self.order == Order::AsTheyAre {
            return in_their_order;
        }
        let (has_teams, of_lane) = (has_teams(tiling), per_lane(shape.nonzeros));
        let part = match has_teams {
            true => WARP * of_lane,
            false => part_length(shape.nonzeros, k.saturating_mul(size_of::<S>())),
        };
        let is_cut = longest > if has_teams { part } else { 2 * part };
        let pieces = if is_cut { shape.work.parts_of(part as f64) + shape.work.empty as f64 } else { rows };
        Work {
            warps: pieces / of_slice,
            steps: shape.nonzeros as f64 / of_slice,
            chain: longest.min(if has_teams { of_lane } else { 2 * part }) as f64,
            parts: if is_cut { longest as f64 / part as f64 } else { 0.0 },
            more_bytes: 8.0 * rows,
            reuse: shape.equals,
            per_line: shape.across_equals,
            ..in_their_order
        }
    }
    fn more_kernels(&self) -> Vec<KernelSource> {
        let mut slicings: Vec<Slicing> =
            Fast::<S>::tilings(self).into_iter().map(|tiling| self.slicing(tiling)).collect();
        slicings.dedup();
        let parts = (self.order == Order::ByLength).then(Parts::<S>::source);
        let of_list: Vec<KernelSource> = match self.order {
            Order::AsTheyAre => vec![row_list::source_in_order()],
            _ => row_list::sources_by_length().into(),
        };
        slicings.into_iter().flat_map(Slicing::sources::<S>).chain(of_list).chain(parts).collect()
    }

    fn layout(&self, machine: &Machine, device: &Device, subject: &Subject<S>) -> Result<Layout<S>, Refusal> {
        let (a, k) = (&subject.a, subject.k);
        let tiling = tiling::<S>(a.cols(), || reuse(a), k, device.limits().l2_bytes);
        let (offsets, slicing) = (a.pattern().offsets(), self.slicing(tiling));
        let rows = match self.order {
            Order::AsTheyAre => RowList::in_order(device, offsets)?,
            _ if has_teams(tiling) => {
                let of_lane = per_lane(a.nnz());
                let Teams { mut pieces, sizes } = Teams::new(offsets, window(a), of_lane, slicing.rows)?;
                for (piece, &size) in pieces.list.iter_mut().zip(&sizes) {
                    piece[2] |= u32::from(size) << TEAM_BIT;
                }
                RowList::upload(device, pieces, of_lane)?
            }
            _ => RowList::by_length(device, offsets, part_length(a.nnz(), k.saturating_mul(size_of::<S>())))?,
        };
        let Sliced { starts, lengths, targets, entries } = Sliced::new((machine, device), a, &rows, slicing)?;
        let (RowList { list, cut, parts, .. }, threads) = (rows, self.threads::<S>(tiling));
        let (slices, pieces) = (*self, list.len() as u64);
        let (in_place, afterwards): (&[_], &[_]) = match self.teams(tiling) {
            true => (&cut, &[]),
            false => (&[], &cut),
        };
        let in_place = PartsInPlace::<S>::new(device, in_place, (k, tiling.tiles(k)))?;
        let parts = Parts::new(device, afterwards, (parts, 1), k)?;
        let [cuts, arrived, mut parts_address] = in_place.arguments();
        if parts.is_some() {
            parts_address = Parts::address(&parts);
        }
        let [columns, values] = entries.arguments();
        Ok(Layout {
            source: Box::new(move |loads| Fast::<S>::source(&slices, tiling, loads)),
            tiling,
            k,
            units: pieces,
            blocks: pieces.div_ceil((threads / tiling.lanes).into()),
            threads,
            arguments: vec![
                Argument::from(&starts),
                Argument::from(&lengths),
                columns,
                values,
                Argument::from(&targets),
                cuts,
                arrived,
                parts_address,
            ],
            _held: vec![
                Box::new(starts),
                Box::new(lengths),
                Box::new(entries),
                Box::new(targets),
                Box::new(in_place),
            ],
            parts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Duplicates;

    #[test]
    fn scattered_rows_of_a_large_x_are_read_by_lines() {
        let csr =
            |name| Csr::from_coo(&crate::io::load(name, &Default::default()).unwrap().coo, Duplicates::Sum);
        let (uniform, band): (Csr<f32>, Csr<f32>) = (csr("uniform:2000x8"), csr("band:2000x8"));
        let tiling_of = |a: &Csr<f32>, k, l2_bytes| tiling::<f32>(a.cols(), || reuse(a), k, l2_bytes);
        let whole = Tiling { lanes: 16, columns: 128 };
        assert_eq!(tiling_of(&uniform, 128, 2000 * 128 * 4), whole);
        assert_eq!(tiling_of(&uniform, 128, 2000 * 128 * 4 - 1), Tiling { lanes: 4, columns: 32 });
        assert_eq!(tiling_of(&band, 128, 1000), whole);
        assert_eq!(tiling_of(&uniform, 3, 1000), Tiling { lanes: 1, columns: 4 });
    }
}

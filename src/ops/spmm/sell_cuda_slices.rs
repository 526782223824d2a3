//! SELL with several lanes per row: rows of a warp lie column by column, LANES lanes read X for each.
//! Best where rows next to each other have about the same length, at any K: stencils, meshes, matrices without a structure.

use super::Subject;
use super::fast::{Fast, Listed, kernel};
use super::shape::reuse;
use super::tiled::Layout;
use super::tiling::{Loads, Tiling, blocks_per_multiprocessor};
use crate::Scalar;
use crate::machine::{Argument, Device, KernelSource, Machine, Refusal};
use crate::matrix::Csr;
use rayon::prelude::*;

pub(super) struct Slices;
pub(super) const SLICES: Listed<Slices> = Listed(Slices);

const THREADS: u32 = 256;
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
fn tiling<S: Scalar>(a: &Csr<S>, k: usize, l2_bytes: u64) -> Tiling {
    let x_bytes = (a.cols() as u64).saturating_mul(k as u64).saturating_mul(size_of::<S>() as u64);
    let in_lines = x_bytes > l2_bytes && reuse(a) < SCATTERED;
    Tiling::new::<S>(if in_lines { k.min(LINE / size_of::<S>()) } else { k }, LOADS, 32)
}

/// A in slices of `rows_per_slice` rows.
#[derive(Debug, PartialEq)]
struct Sliced<S> {
    /// First entry of each slice.
    starts: Vec<u64>,
    lengths: Vec<u32>,
    /// Of a slice: the first entry of every row, then the second of every row …
    columns: Vec<u32>,
    values: Vec<S>,
}

impl<S: Scalar> Sliced<S> {
    fn new(machine: &Machine, a: &Csr<S>, rows_per_slice: usize) -> Result<Self, Refusal> {
        let lengths: Vec<u32> = a.row_lengths().map(|length| length as u32).collect();
        let width = |rows: &[u32]| rows.iter().copied().max().unwrap_or(0) as usize * rows_per_slice;
        let mut starts = vec![0];
        for rows in lengths.chunks(rows_per_slice) {
            starts.push(starts[starts.len() - 1] + width(rows));
        }
        let entries = starts[starts.len() - 1];
        let what = || format!("slices of {rows_per_slice} rows (longest row {})", a.longest_row());
        let bytes = (entries as u64).checked_mul((size_of::<u32>() + size_of::<S>()) as u64);
        machine.check_memory(what(), bytes)?;
        // The kernel counts the entries of a slice in 32 bits.
        if u32::try_from(a.longest_row().saturating_mul(rows_per_slice)).is_err() {
            return Err(Refusal::Unsupported(format!("{} has more entries than the kernel counts", what())));
        }
        let rows = a.rows();
        let (mut columns, mut values) = (vec![0; entries], vec![S::ZERO; entries]);
        let (mut shares, mut rest) = (Vec::new(), (&mut columns[..], &mut values[..]));
        for (slice, ends) in starts.windows(2).enumerate() {
            let (of_columns, more_columns) = rest.0.split_at_mut(ends[1] - ends[0]);
            let (of_values, more_values) = rest.1.split_at_mut(ends[1] - ends[0]);
            shares.push((slice * rows_per_slice, of_columns, of_values));
            rest = (more_columns, more_values);
        }
        let view = a.view();
        shares.into_par_iter().with_min_len(256).for_each(|(first, columns, values)| {
            for row in first..rows.min(first + rows_per_slice) {
                let nonzeros = view.columns()[view.range(row)].iter().zip(&view.values()[view.range(row)]);
                for (j, (&column, &value)) in nonzeros.enumerate() {
                    let place = j * rows_per_slice + (row - first);
                    (columns[place], values[place]) = (column, value);
                }
            }
        });
        let starts = starts.iter().map(|&start| start as u64).collect();
        Ok(Sliced { starts, lengths, columns, values })
    }
}

/// Nonzeros that a lane has on their way, measured for both precisions on an H200.
fn in_flight<S: Scalar>(tiling: Tiling) -> u32 {
    let single = size_of::<S>() == 4;
    match (single, tiling.lanes, tiling.registers::<S>()) {
        (_, 1, ..=4) | (true, 4, _) | (false, ..=8, _) => 4,
        _ => 2,
    }
}

impl<S: Scalar> Fast<S> for Slices {
    const NAME: &'static str = "sell-cuda-slices";
    const ABOUT: &'static str =
        "SELL, lanes side by side for the columns of X, the rows of a warp in one slice";
    const TEXT: &'static str = include_str!("sell_cuda_slices.cu");

    fn source(&self, tiling: Tiling, loads: Loads) -> KernelSource {
        let in_flight = in_flight::<S>(tiling);
        let registers = tiling.registers::<S>();
        let words = (size_of::<S>() / 4) as u32;
        // Single loads have more addresses to hold.
        let addresses = if loads.width == 1 && registers > 4 { 8 } else { 0 };
        let needed = 26 + addresses + registers + in_flight * (registers + words + 1);
        let source = kernel("sell_slices", "sell_cuda_slices.cu", <Self as Fast<S>>::TEXT, &[]);
        tiling
            .define::<S>(source, loads)
            .define("THREADS", THREADS)
            .define("IN_FLIGHT", in_flight)
            .define("ONCE", u32::from(tiling.lanes < KEEPS_A))
            .define("BLOCKS_PER_MULTIPROCESSOR", blocks_per_multiprocessor(THREADS, needed))
    }
    fn tilings(&self) -> Vec<Tiling> {
        Tiling::all::<S>(LOADS, 32)
    }

    fn layout(&self, machine: &Machine, device: &Device, subject: &Subject<S>) -> Result<Layout<S>, Refusal> {
        let (a, k) = (&subject.a, subject.k);
        let tiling = tiling::<S>(a, k, device.limits().l2_bytes);
        let sliced = Sliced::new(machine, a, WARP / tiling.lanes as usize)?;
        let starts = device.upload("starts of slices", &sliced.starts)?;
        let lengths = device.upload("lengths of rows", &sliced.lengths)?;
        let columns = device.upload("columns of A", &sliced.columns)?;
        let values = device.upload("values of A", &sliced.values)?;
        Ok(Layout {
            source: Box::new(move |loads| Fast::<S>::source(&Slices, tiling, loads)),
            tiling,
            k,
            units: a.rows() as u64,
            blocks: (a.rows() as u64).div_ceil((THREADS / tiling.lanes).into()),
            threads: THREADS,
            arguments: vec![
                Argument::from(&starts),
                Argument::from(&lengths),
                Argument::from(&columns),
                Argument::from(&values),
            ],
            _held: vec![Box::new(starts), Box::new(lengths), Box::new(columns), Box::new(values)],
            parts: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{CpuInfo, Limits};
    use crate::matrix::{Coo, Duplicates};

    #[test]
    fn slices_hold_rows_side_by_side() {
        let coo =
            Coo::new(3, 9, vec![0, 0, 1, 2, 2], vec![3, 8, 5, 1, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let machine = Machine::with_threads(1).unwrap();
        let sliced = Sliced::new(&machine, &Csr::from_coo(&coo, Duplicates::Keep), 2).unwrap();
        assert_eq!((sliced.starts, sliced.lengths), (vec![0, 4, 8], vec![2, 1, 2]));
        assert_eq!(sliced.columns, [3, 5, 8, 0, 1, 0, 2, 0]);
        assert_eq!(sliced.values, [1.0, 3.0, 2.0, 0.0, 4.0, 0.0, 5.0, 0.0]);
    }

    #[test]
    fn scattered_rows_of_a_large_x_are_read_by_lines() {
        let csr =
            |name| Csr::from_coo(&crate::io::load(name, &Default::default()).unwrap().coo, Duplicates::Sum);
        let (uniform, band): (Csr<f32>, Csr<f32>) = (csr("uniform:2000x8"), csr("band:2000x8"));
        let whole = Tiling { lanes: 16, columns: 128 };
        assert_eq!(tiling(&uniform, 128, 2000 * 128 * 4), whole);
        assert_eq!(tiling(&uniform, 128, 2000 * 128 * 4 - 1), Tiling { lanes: 4, columns: 32 });
        assert_eq!(tiling(&band, 128, 1000), whole);
        assert_eq!(tiling(&uniform, 3, 1000), Tiling { lanes: 1, columns: 4 });
    }

    #[test]
    fn slices_beyond_the_memory_budget_are_refused() {
        let coo = Coo::new(64, 1000, vec![7; 1000], (0..1000).collect(), vec![1.0; 1000]).unwrap();
        let cpu = CpuInfo::detect();
        let limits = Limits { memory_bytes: 100_000, ..Limits::of(&cpu) };
        let machine = Machine::new(cpu, 1, limits).unwrap();
        let refusal = Sliced::new(&machine, &Csr::from_coo(&coo, Duplicates::Keep), 32).unwrap_err();
        assert!(
            refusal.to_string().starts_with("slices of 32 rows (longest row 1000) would need 384 kB"),
            "{refusal}"
        );
    }
}

//! A on its diagonals: of every 32 rows those that one of them touches, in order, with a value of each row on each of them.

use crate::Scalar;
use crate::device::{Argument, Buffer, Device, KernelSource};
use crate::machine::Machine;
use crate::matrix::Csr;
use crate::refusal::Refusal;
use crate::spmm::analysis::diagonals::{RUN, SLICE};
use crate::spmm::cuda::fast::layout::entries::{Entries, moved, mover, refused, run};
use crate::spmm::cuda::fast::layout::row_list::{THREADS as COUNTERS, add_before};

/// What A may take: so many values for a nonzero, or so many in all. Beyond that nothing can be gained by diagonals.
const VALUES_PER_NONZERO: u64 = 8;
const FEW_VALUES: u64 = 1 << 20;
/// Of a row: a warp walks over its slice, half a microsecond for a diagonal, when A is rearranged and in every product.
const LONGEST_ROW: usize = 1 << 15;
/// Rows and columns: the kernel counts in 32 bits with a sign, a few more than a slice beyond the last.
const MOST_COLUMNS: usize = i32::MAX as usize - 2 * SLICE;

/// Slices on a device.
#[derive(Debug)]
pub(crate) struct Diagonals<S> {
    /// First diagonal of each slice, counted over all, and the end.
    pub(crate) starts: Buffer<u64>,
    /// First diagonal, as column minus row, and how many follow each other; from the place of a slice's first diagonal on.
    pub(crate) runs: Buffer<[i32; 2]>,
    /// Of each diagonal: which rows have it.
    pub(crate) masks: Buffer<u32>,
    /// 32 of each diagonal.
    pub(crate) values: Buffer<S>,
}

fn source<S: Scalar>(entry: &'static str) -> KernelSource {
    mover::<S>(entry, "diagonal_entries.cu", include_str!("diagonal_entries.cu")).define("RUN", RUN as u32)
}

/// The kernels: how many diagonals slices have, where they begin, and what is on them.
pub(crate) fn sources<S: Scalar>() -> [KernelSource; 3] {
    [source::<S>("measure_diagonals"), add_before("u64"), source::<S>("fill_diagonals")]
}

fn sparse<S: Scalar>(a: &Csr<S>, diagonals: u64) -> Refusal {
    let values = diagonals.saturating_mul(SLICE as u64);
    let per_nonzero = values as f64 / a.nnz().max(1) as f64;
    Refusal::Unsupported(format!(
        "{:.0} places on diagonals for every nonzero: at most {VALUES_PER_NONZERO} are stored",
        per_nonzero.ceil()
    ))
}

impl<S: Scalar> Diagonals<S> {
    pub(crate) fn new(machine: &Machine, device: &Device, a: &Csr<S>) -> Result<Self, Refusal> {
        let most = FEW_VALUES.max(VALUES_PER_NONZERO.saturating_mul(a.nnz() as u64)) / SLICE as u64;
        let longest = a.longest_row();
        if longest > LONGEST_ROW {
            let why = format!("a row has {longest} nonzeros: diagonals serve rows of {LONGEST_ROW} at most");
            return Err(Refusal::Unsupported(why));
        }
        if a.rows().max(a.cols()) > MOST_COLUMNS {
            let why =
                format!("{} rows and {} columns: the kernel counts diagonals in 31 bits", a.rows(), a.cols());
            return Err(Refusal::Unsupported(why));
        }
        let slices = a.rows().div_ceil(SLICE);
        let Entries { columns, values } = Entries::of(device, a)?;
        let offsets = device.upload("offsets of rows", a.pattern().offsets())?;
        let starts = device.allocate::<u64>("diagonals of slices", slices + 1)?;
        let of_rows = [Argument::of(a.rows() as u64), Argument::from(&offsets), Argument::from(&columns)];
        let [measure, add, fill] = sources::<S>();
        let lanes = (slices * SLICE) as u64;
        // SAFETY: as the kernels declare them; there is a count for every slice, and one for the end.
        unsafe {
            moved(device, &measure, (lanes, 0), &[&of_rows[..], &[Argument::from(&starts)]].concat())?;
            run(device, &add, [1, 1], COUNTERS, &[Argument::of(slices as u64), Argument::from(&starts)])?;
        }
        let mut count = [0];
        starts.read_from(slices, &mut count).map_err(refused)?;
        let count = count[0];
        if count > most {
            return Err(sparse(a, count));
        }
        if device.is_emulated() {
            // There they lie in memory of the host.
            machine.check_memory("A on diagonals", count.checked_mul((SLICE * size_of::<S>()) as u64))?;
        }
        let count = count as usize;
        let runs = device.allocate("runs of diagonals", count)?;
        let masks = device.allocate("rows of diagonals", count)?;
        let on_diagonals = device.allocate("values on diagonals", count * SLICE)?;
        let more = [&values].map(Argument::from);
        let to = [
            Argument::from(&starts),
            Argument::from(&runs),
            Argument::from(&masks),
            Argument::from(&on_diagonals),
        ];
        // SAFETY: as the kernel declares them; there is room for as many diagonals as the slices have.
        unsafe { moved(device, &fill, (lanes, 0), &[&of_rows[..], &more, &to].concat()) }?;
        Ok(Diagonals { starts, runs, masks, values: on_diagonals })
    }
}

#[cfg(test)]
#[cfg(feature = "emulator")]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Duplicates};
    use crate::spmm::cuda::fast::layout::testing::{emulated, read};

    fn on_diagonals(
        rows: usize,
        cols: usize,
        triplets: &[(u32, u32)],
    ) -> Option<Result<Diagonals<f64>, Refusal>> {
        let device = emulated()?;
        let values = (1..=triplets.len()).map(|value| value as f64).collect();
        let (r, c) = triplets.iter().copied().unzip();
        let a = Csr::from_coo(&Coo::new(rows, cols, r, c, values).unwrap(), Duplicates::Keep);
        Some(Diagonals::new(&Machine::with_threads(1).unwrap(), &device, &a))
    }

    #[test]
    fn slices_hold_the_diagonals_of_their_rows() {
        // Five neighbours and one apart; a second slice without any, and a third.
        let triplets = [(0, 0), (0, 1), (0, 2), (1, 2), (1, 3), (1, 4), (2, 6), (2, 40), (64, 3), (64, 3)];
        let Some(made) = on_diagonals(65, 50, &triplets) else { return };
        let made = made.unwrap();
        assert_eq!(read(&made.starts), [0, 6, 6, 8]);
        let runs = read(&made.runs);
        assert_eq!((&runs[..3], &runs[6..]), (&[[0, 3], [3, 2], [38, 1]][..], &[[-61, 1], [-61, 1]][..]));
        assert_eq!(read(&made.masks), [1, 0b11, 0b11, 0b10, 0b100, 0b100, 1, 1]);
        let values = read(&made.values);
        assert_eq!(values.len(), 8 * SLICE);
        assert_eq!((values[SLICE], values[SLICE + 1], values[SLICE + 2]), (2.0, 4.0, 0.0));
        assert_eq!((values[5 * SLICE + 2], values[6 * SLICE], values[7 * SLICE]), (8.0, 9.0, 10.0));
    }

    #[test]
    fn what_is_not_on_diagonals_is_refused() {
        let scattered: Vec<(u32, u32)> = (0..40_000).map(|row| (row, row * 7919 % 40_000)).collect();
        let Some(made) = on_diagonals(40_000, 40_000, &scattered) else { return };
        let refusal = |made: Result<Diagonals<f64>, Refusal>| made.unwrap_err().to_string();
        assert_eq!(refusal(made), "32 places on diagonals for every nonzero: at most 8 are stored");
        let long: Vec<(u32, u32)> = (0..32_769).map(|column| (0, column)).collect();
        let made = on_diagonals(1, 40_000, &long).unwrap();
        assert_eq!(refusal(made), "a row has 32769 nonzeros: diagonals serve rows of 32768 at most");
        let made = on_diagonals(1, 1 << 31, &[(0, 7)]).unwrap();
        let why = "1 rows and 2147483648 columns: the kernel counts diagonals in 31 bits";
        assert_eq!(refusal(made), why);
    }
}

//! A in slices: the rows of a warp side by side, the first nonzero of each, then the second of each … Data, made on the host.

use crate::Scalar;
use crate::cpu::parallel;
use crate::machine::Machine;
use crate::matrix::Csr;
use crate::refusal::Refusal;
use crate::spmm::cuda::fast::layout::pieces::{Piece, start_of};

/// Slices of so many rows each.
#[derive(Debug, PartialEq)]
pub(crate) struct Sliced<S> {
    /// First entry of each slice.
    pub(crate) starts: Vec<u64>,
    pub(crate) lengths: Vec<u32>,
    /// Of a slice: the first entry of every row, then the second of every row …
    pub(crate) columns: Vec<u32>,
    pub(crate) values: Vec<S>,
}

impl<S: Scalar> Sliced<S> {
    /// Of the pieces in their order, which stand for rows.
    pub(crate) fn new(
        machine: &Machine,
        a: &Csr<S>,
        pieces: &[Piece],
        rows_per_slice: usize,
    ) -> Result<Self, Refusal> {
        let lengths: Vec<u32> = pieces.iter().map(|piece| piece[2]).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0) as usize;
        let width = |rows: &[u32]| rows.iter().copied().max().unwrap_or(0) as usize * rows_per_slice;
        let mut starts = vec![0];
        for rows in lengths.chunks(rows_per_slice) {
            starts.push(starts[starts.len() - 1] + width(rows));
        }
        let entries = starts[starts.len() - 1];
        let what = || format!("slices of {rows_per_slice} rows (longest row {longest})");
        let bytes = (entries as u64).checked_mul((size_of::<u32>() + size_of::<S>()) as u64);
        machine.check_memory(what(), bytes)?;
        // The kernel counts the entries of a slice in 32 bits.
        if u32::try_from(longest.saturating_mul(rows_per_slice)).is_err() {
            return Err(Refusal::Unsupported(format!("{} has more entries than the kernel counts", what())));
        }
        let (mut columns, mut values) = (vec![0; entries], vec![S::ZERO; entries]);
        let (mut shares, mut rest) = (Vec::new(), (&mut columns[..], &mut values[..]));
        for (rows, ends) in pieces.chunks(rows_per_slice).zip(starts.windows(2)) {
            let (of_columns, more_columns) = rest.0.split_at_mut(ends[1] - ends[0]);
            let (of_values, more_values) = rest.1.split_at_mut(ends[1] - ends[0]);
            shares.push((rows, of_columns, of_values));
            rest = (more_columns, more_values);
        }
        let view = a.view();
        parallel::for_each(shares, |(rows, columns, values): (&[Piece], &mut [u32], &mut [S])| {
            for (row, piece) in rows.iter().enumerate() {
                let range = start_of(piece)..start_of(piece) + piece[2] as usize;
                let nonzeros = view.columns()[range.clone()].iter().zip(&view.values()[range]);
                for (j, (&column, &value)) in nonzeros.enumerate() {
                    let place = j * rows_per_slice + row;
                    (columns[place], values[place]) = (column, value);
                }
            }
        });
        let starts = starts.iter().map(|&start| start as u64).collect();
        Ok(Sliced { starts, lengths, columns, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::CpuInfo;
    use crate::machine::Limits;
    use crate::matrix::{Coo, Duplicates};
    use crate::spmm::cuda::fast::layout::pieces::Pieces;

    fn sliced(machine: &Machine, coo: Coo<f64>, rows_per_slice: usize) -> Result<Sliced<f64>, Refusal> {
        let a = Csr::from_coo(&coo, Duplicates::Keep);
        let pieces = Pieces::in_order(a.view().offsets(), 0..a.rows() as u32).unwrap();
        Sliced::new(machine, &a, &pieces.list, rows_per_slice)
    }

    #[test]
    fn slices_hold_rows_side_by_side() {
        let coo =
            Coo::new(3, 9, vec![0, 0, 1, 2, 2], vec![3, 8, 5, 1, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let sliced = sliced(&Machine::with_threads(1).unwrap(), coo, 2).unwrap();
        assert_eq!((sliced.starts, sliced.lengths), (vec![0, 4, 8], vec![2, 1, 2]));
        assert_eq!(sliced.columns, [3, 5, 8, 0, 1, 0, 2, 0]);
        assert_eq!(sliced.values, [1.0, 3.0, 2.0, 0.0, 4.0, 0.0, 5.0, 0.0]);
    }

    #[test]
    fn slices_beyond_the_memory_budget_are_refused() {
        let coo = Coo::new(64, 1000, vec![7; 1000], (0..1000).collect(), vec![1.0; 1000]).unwrap();
        let cpu = CpuInfo::detect();
        let limits = Limits { memory_bytes: 100_000, ..Limits::of(&cpu) };
        let machine = Machine::new(cpu, 1, limits).unwrap();
        let refusal = sliced(&machine, coo, 32).unwrap_err();
        assert!(
            refusal.to_string().starts_with("slices of 32 rows (longest row 1000) would need 384 kB"),
            "{refusal}"
        );
    }
}

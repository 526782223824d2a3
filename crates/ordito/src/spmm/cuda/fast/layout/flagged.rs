//! CSR whose columns say where rows end, for kernels that walk over rows without looking at row starts.

use crate::Scalar;
use crate::cpu::parallel;
use crate::device::{Argument, Buffer, Device};
use crate::matrix::Csr;
use crate::refusal::Refusal;
use crate::spmm::cuda::fast::layout::pieces::check_rows;

/// The last entry of its row; an entry that is no nonzero.
pub(crate) const LAST: u32 = 1 << 31;
pub(crate) const NOTHING: u32 = 1 << 30;

/// Entries in the order of the rows: every nonzero, one for an empty row, and what fills blocks up.
#[derive(Debug, PartialEq)]
pub(crate) struct Flagged<S> {
    pub(crate) columns: Vec<u32>,
    pub(crate) values: Vec<S>,
    /// Where each row begins, and where the last one ends.
    pub(crate) starts: Vec<usize>,
}

impl<S: Scalar> Flagged<S> {
    /// Rows where `starts` says, in `entries` entries; what lies between them is nothing.
    pub(crate) fn fill(a: &Csr<S>, starts: Vec<usize>, entries: usize) -> Result<Self, Refusal> {
        check_rows(a.rows())?;
        if a.cols() > NOTHING as usize {
            let why = format!("the kernel counts {NOTHING} columns, not {}", a.cols());
            return Err(Refusal::Unsupported(why));
        }
        let (mut columns, mut values) = (vec![NOTHING; entries], vec![S::ZERO; entries]);
        let view = a.view();
        for_rows(&mut columns, &mut values, &starts[..a.rows()], |row, columns, values| {
            let nonzeros = view.range(row);
            let count = nonzeros.len();
            columns[..count].copy_from_slice(&view.columns()[nonzeros.clone()]);
            values[..count].copy_from_slice(&view.values()[nonzeros]);
            columns[count.max(1) - 1] |= LAST;
        });
        Ok(Flagged { columns, values, starts })
    }
}

/// Calls `fill` in parallel with every row's number and its entries, up to those of the next row.
fn for_rows<S: Send>(
    columns: &mut [u32],
    values: &mut [S],
    starts: &[usize],
    fill: impl Fn(usize, &mut [u32], &mut [S]) + Sync,
) {
    const ROWS_AT_ONCE: usize = 4096;
    let (mut shares, mut columns, mut values) = (Vec::new(), columns, values);
    let mut taken = 0;
    for (share, rows) in starts.chunks(ROWS_AT_ONCE).enumerate() {
        let next = (share + 1) * ROWS_AT_ONCE;
        let end = if next < starts.len() { starts[next] } else { taken + columns.len() };
        let (of_columns, more_columns) = columns.split_at_mut(end - taken);
        let (of_values, more_values) = values.split_at_mut(end - taken);
        shares.push((share * ROWS_AT_ONCE, rows, taken, of_columns, of_values));
        (columns, values, taken) = (more_columns, more_values, end);
    }
    parallel::for_each(shares, |(first, rows, taken, columns, values)| {
        for (index, &start) in rows.iter().enumerate() {
            let end = rows.get(index + 1).map_or(columns.len(), |end| end - taken);
            fill(first + index, &mut columns[start - taken..end], &mut values[start - taken..end]);
        }
    });
}

/// The entries on a device.
#[derive(Debug)]
pub(crate) struct DeviceFlagged<S> {
    columns: Buffer<u32>,
    values: Buffer<S>,
}

impl<S: Scalar> DeviceFlagged<S> {
    pub(crate) fn upload(device: &Device, entries: &Flagged<S>) -> Result<Self, Refusal> {
        Ok(DeviceFlagged {
            columns: device.upload("columns of A", &entries.columns)?,
            values: device.upload("values of A", &entries.values)?,
        })
    }

    /// `const u32* columns, const SCALAR* values`
    pub(crate) fn arguments(&self) -> [Argument; 2] {
        [Argument::from(&self.columns), Argument::from(&self.values)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Duplicates};

    #[test]
    fn rows_end_where_they_are_flagged_and_empty_ones_have_an_entry() {
        let coo = Coo::new(4, 9, vec![0, 0, 2], vec![3, 8, 5], vec![1.0, 2.0, 3.0]).unwrap();
        let a = Csr::from_coo(&coo, Duplicates::Keep);
        let flagged = Flagged::fill(&a, vec![0, 2, 3, 4, 5], 5).unwrap();
        assert_eq!(flagged.columns, [3, 8 | LAST, NOTHING | LAST, 5 | LAST, NOTHING | LAST]);
        assert_eq!(flagged.values, [1.0, 2.0, 0.0, 3.0, 0.0]);
        let apart = Flagged::fill(&a, vec![0, 4, 5, 6, 7], 8).unwrap();
        assert_eq!(
            apart.columns,
            [3, 8 | LAST, NOTHING, NOTHING, NOTHING | LAST, 5 | LAST, NOTHING | LAST, NOTHING]
        );
    }

    #[test]
    fn many_rows_are_filled_in_shares() {
        let rows: Vec<u32> = (0..10_000).filter(|row| row % 3 != 0).collect();
        let columns = rows.iter().map(|row| row / 2).collect();
        let values = rows.iter().map(|&row| f64::from(row)).collect();
        let a = Csr::from_coo(&Coo::new(10_000, 5000, rows, columns, values).unwrap(), Duplicates::Keep);
        let flagged = Flagged::fill(&a, (0..=10_000).collect(), 10_000).unwrap();
        for row in 0..10_000 {
            let expected = if row % 3 == 0 { NOTHING | LAST } else { (row / 2) | LAST };
            assert_eq!(flagged.columns[row as usize], expected);
        }
    }
}

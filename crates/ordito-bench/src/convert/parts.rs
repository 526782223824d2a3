//! What a conversion fills, whichever way it goes about it: the arrays of a format.

use crate::convert::Entries;
use ordito::Scalar;
use ordito::machine::Machine;
use ordito::matrix::{Coo, Csr, EllPadded, EllRagged, RaggedRow};
use ordito::op::{RunError, check_padded};
use ordito::refusal::Refusal;

/// What is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Csr,
    Padded,
    Ragged,
}

/// The arrays of a format, not yet checked.
pub(crate) enum Parts<S> {
    Csr { offsets: Vec<usize>, columns: Vec<u32>, values: Vec<S> },
    Padded { width: usize, row_lengths: Vec<usize>, columns: Vec<u32>, values: Vec<S> },
    Ragged { rows: Vec<RaggedRow<S>> },
}

/// Columns and values of a row.
pub(crate) type RowMut<'a, S> = (&'a mut [u32], &'a mut [S]);

impl<S: Scalar> Parts<S> {
    /// Rows of these lengths, zeros everywhere.
    pub(crate) fn zeros(format: Format, lengths: &[usize]) -> Self {
        let zeros = |places: usize| (vec![0; places], vec![S::ZERO; places]);
        match format {
            Format::Csr => {
                let offsets = offsets(lengths);
                let (columns, values) = zeros(lengths.iter().sum());
                Parts::Csr { offsets, columns, values }
            }
            Format::Padded => {
                let width = lengths.iter().copied().max().unwrap_or(0);
                let (columns, values) = zeros(lengths.len() * width);
                Parts::Padded { width, row_lengths: lengths.to_vec(), columns, values }
            }
            Format::Ragged => {
                let ragged = |&length: &usize| {
                    let (columns, values) = zeros(length);
                    RaggedRow { columns: columns.into(), values: values.into() }
                };
                Parts::Ragged { rows: lengths.iter().map(ragged).collect() }
            }
        }
    }

    /// All rows, each of the length that it has in the format: padding is there, too.
    pub(crate) fn rows_mut(&mut self) -> Vec<RowMut<'_, S>> {
        match self {
            Parts::Csr { offsets, columns, values } => {
                let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]);
                cut(lengths, columns, values)
            }
            Parts::Padded { width, row_lengths, columns, values } => {
                cut(row_lengths.iter().map(|_| *width), columns, values)
            }
            Parts::Ragged { rows } => {
                rows.iter_mut().map(|row| (&mut row.columns[..], &mut row.values[..])).collect()
            }
        }
    }

    /// Checks the invariant of the format and lists the entries.
    pub(crate) fn entries(&self, rows: usize, cols: usize) -> Result<Entries<S>, RunError> {
        let coo = match self {
            Parts::Csr { offsets, columns, values } => {
                Csr::from_parts(rows, cols, offsets.clone(), columns.clone(), values.clone())?.to_coo()
            }
            Parts::Padded { width, row_lengths, columns, values } => {
                let (lengths, columns, values) = (row_lengths.clone(), columns.clone(), values.clone());
                EllPadded::from_parts(rows, cols, *width, lengths, columns, values)?.to_coo()
            }
            Parts::Ragged { rows } => EllRagged::from_rows(cols, rows.clone())?.to_coo(),
        };
        Ok(Entries::sorted(&coo))
    }
}

/// Rows that lie one behind the other.
fn cut<'a, S>(
    lengths: impl Iterator<Item = usize>,
    mut columns: &'a mut [u32],
    mut values: &'a mut [S],
) -> Vec<RowMut<'a, S>> {
    let row = |length| {
        let (of_row, later) = std::mem::take(&mut columns).split_at_mut(length);
        columns = later;
        let (values_of_row, later) = std::mem::take(&mut values).split_at_mut(length);
        values = later;
        (of_row, values_of_row)
    };
    lengths.map(row).collect()
}

/// Refuses what of a result does not fit. (Padding is checked with a sentence of its own.)
pub(crate) fn check_memory<S: Scalar>(
    machine: &Machine,
    format: Format,
    coo: &Coo<S>,
) -> Result<(), Refusal> {
    let (rows, nonzeros) = (coo.rows(), coo.nnz());
    // Every conversion begins with these.
    let of_rows = (rows as u64).checked_mul(2 * size_of::<usize>() as u64);
    machine.check_memory(format!("lengths and starts of {rows} rows"), of_rows)?;
    match format {
        Format::Csr => machine.check_memory(
            format!("CSR ({rows} rows, {nonzeros} nonzeros)"),
            Csr::<S>::bytes_for(rows, nonzeros),
        ),
        Format::Ragged => machine.check_memory(
            format!("ragged ELLPACK ({rows} rows, {nonzeros} nonzeros)"),
            EllRagged::<S>::bytes_for(rows, nonzeros),
        ),
        Format::Padded => check_padded::<S>(machine, rows, coo.row_lengths().into_iter().max().unwrap_or(0)),
    }
}

/// Where each row starts: the prefix sum of their lengths.
pub(crate) fn offsets(lengths: &[usize]) -> Vec<usize> {
    let mut offsets = Vec::with_capacity(lengths.len() + 1);
    let mut end = 0;
    offsets.push(0);
    for length in lengths {
        end += length;
        offsets.push(end);
    }
    offsets
}

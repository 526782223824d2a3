//! Rows cut by whose X they multiply, columns numbered anew in every part.

use crate::error::Error;
use crate::local_rows::LocalRows;
use crate::near::Near;
use crate::partition::Partition;
use ordito::{Csr, Scalar};
use std::ops::Range;

/// What multiplies X of others.
pub(crate) struct Outer<S> {
    /// Some rows × rows of X that come, or are read.
    pub(crate) a: Csr<S>,
    /// Which rows; none: all.
    pub(crate) rows: Option<Vec<u32>>,
}

impl<S: Scalar> Outer<S> {
    /// No row, of so many columns.
    pub(crate) fn empty(width: usize) -> Result<Self, Error> {
        Ok(Outer { a: Csr::from_parts(0, width, vec![0], Vec::new(), Vec::new())?, rows: Some(Vec::new()) })
    }
}

/// Whose X a column multiplies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    Own,
    Near,
    Far,
}

/// Tells ranks apart, as one of them sees them.
pub(crate) struct View {
    pub(crate) whose: Vec<Whose>,
}

impl View {
    pub(crate) fn new(rank: usize, count: usize, members: &[usize]) -> Self {
        let whose = |other: usize| match other {
            _ if other == rank => Whose::Own,
            _ if members.binary_search(&other).is_ok() => Whose::Near,
            _ => Whose::Far,
        };
        View { whose: (0..count).map(whose).collect() }
    }

    /// Distinct columns of that kind, ascending.
    pub(crate) fn distinct(&self, columns: &[u64], of: &Partition, wanted: Whose) -> Vec<u64> {
        let mut found: Vec<u64> =
            columns.iter().copied().filter(|&column| self.whose[of.owner(column)] == wanted).collect();
        found.sort_unstable();
        found.dedup();
        found.shrink_to_fit();
        found
    }

    /// Rows that multiply own X and that of others here.
    pub(crate) fn rows_of_both<S: Scalar>(&self, block: &LocalRows<S>, of: &Partition) -> usize {
        if !self.whose.contains(&Whose::Near) {
            return 0;
        }
        let has_both = |&row: &usize| {
            let has = |wanted| block.row(row).any(|(column, _)| self.whose[of.owner(column)] == wanted);
            has(Whose::Own) && has(Whose::Near)
        };
        (0..block.rows()).filter(has_both).count()
    }
}

/// The part of rows that has these columns, ascending, numbered as `places` says.
pub(crate) fn outer<S: Scalar>(
    block: &LocalRows<S>,
    columns: &[u64],
    places: impl Fn(usize) -> u32,
    width: usize,
) -> Result<Outer<S>, Error> {
    let mut rows = Rows::new(block.rows());
    let mut with_any = Vec::new();
    let mut entries: Vec<(u32, S)> = Vec::new();
    for row in 0..block.rows() {
        // Columns ascend in a row, and so do those that are looked for: the search goes on from where it was.
        let mut searched = 0;
        entries.clear();
        for (column, value) in block.row(row) {
            searched += columns[searched..].partition_point(|&known| known < column);
            if columns.get(searched) == Some(&column) {
                entries.push((places(searched), value));
            }
        }
        entries.sort_unstable_by_key(|entry| entry.0);
        if !entries.is_empty() {
            with_any.push(row as u32);
        }
        rows.push(&entries);
    }
    // Where most rows have none, the others lie together: Y is then read and written once more in these rows only.
    let compact = (with_any.len() * 2 < block.rows()).then_some(with_any);
    if let Some(kept) = &compact {
        rows.keep(kept);
    }
    Ok(Outer { a: rows.build(width)?, rows: compact })
}

/// The part of rows that has columns of this range, numbered from its start.
pub(crate) fn own<S: Scalar>(block: &LocalRows<S>, mine: Range<u64>) -> Result<Csr<S>, Error> {
    let width = (mine.end - mine.start) as usize;
    some_columns(block, width, |column| mine.contains(&column).then(|| (column - mine.start) as u32))
}

/// The part that has columns of this range or such that others show, numbered as all of them are shown.
pub(crate) fn whole<S: Scalar>(block: &LocalRows<S>, mine: Range<u64>, near: &Near) -> Result<Csr<S>, Error> {
    some_columns(block, near.total, |column| match mine.contains(&column) {
        true => Some((near.first as u64 + column - mine.start) as u32),
        false => near.halo.columns().binary_search(&column).ok().map(|at| near.places[at]),
    })
}

fn some_columns<S: Scalar>(
    block: &LocalRows<S>,
    width: usize,
    place: impl Fn(u64) -> Option<u32>,
) -> Result<Csr<S>, Error> {
    let mut rows = Rows::new(block.rows());
    let mut entries = Vec::new();
    for row in 0..block.rows() {
        entries.clear();
        // Whoever has earlier columns shows earlier: places ascend as columns do.
        entries.extend(block.row(row).filter_map(|(column, value)| Some((place(column)?, value))));
        rows.push(&entries);
    }
    rows.build(width)
}

/// What multiplies own rows of X and what multiplies those of others, in one: own columns begin at `first`, the others have `numbers`.
pub(crate) fn together<S: Scalar>(
    own: &Csr<S>,
    first: usize,
    others: &Outer<S>,
    numbers: &[u32],
    width: usize,
) -> Result<Csr<S>, Error> {
    let mut rows = Rows::new(own.rows());
    rows.columns.reserve_exact(own.nnz() + others.a.nnz());
    rows.values.reserve_exact(own.nnz() + others.a.nnz());
    let mut entries = Vec::new();
    // Rows of `others` that were passed, where only some are there.
    let mut passed = 0;
    for row in 0..own.rows() {
        entries.clear();
        entries.extend(entries_of(own, row).map(|(column, value)| (column + first as u32, value)));
        let there = match &others.rows {
            None => Some(row),
            Some(list) => (list.get(passed) == Some(&(row as u32))).then_some(passed),
        };
        if let Some(at) = there {
            passed += 1;
            entries
                .extend(entries_of(&others.a, at).map(|(column, value)| (numbers[column as usize], value)));
            entries.sort_by_key(|entry| entry.0); // keeps the order of equal ones
        }
        rows.push(&entries);
    }
    rows.build(width)
}

fn entries_of<S: Scalar>(a: &Csr<S>, row: usize) -> impl Iterator<Item = (u32, S)> + '_ {
    let range = a.row_offsets()[row]..a.row_offsets()[row + 1];
    a.col_indices()[range.clone()].iter().copied().zip(a.values()[range].iter().copied())
}

/// The same with columns numbered anew, as many as said. Numbers ascend as those before them do.
pub(crate) fn renumbered<S: Scalar>(a: Csr<S>, numbers: &[u32], width: usize) -> Result<Csr<S>, Error> {
    let rows = a.rows();
    let (offsets, mut columns, values) = a.into_parts();
    columns.iter_mut().for_each(|column| *column = numbers[*column as usize]);
    Ok(Csr::from_parts(rows, width, offsets, columns, values)?)
}

/// A matrix row after row.
struct Rows<S> {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<S>,
}

impl<S: Scalar> Rows<S> {
    fn new(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Rows { offsets, columns: Vec::new(), values: Vec::new() }
    }
    fn push(&mut self, entries: &[(u32, S)]) {
        self.columns.extend(entries.iter().map(|entry| entry.0));
        self.values.extend(entries.iter().map(|entry| entry.1));
        self.offsets.push(self.values.len());
    }
    /// The others are empty.
    fn keep(&mut self, rows: &[u32]) {
        let ends = rows.iter().map(|&row| self.offsets[row as usize + 1]);
        self.offsets = std::iter::once(0).chain(ends).collect();
    }
    fn build(mut self, cols: usize) -> Result<Csr<S>, Error> {
        self.columns.shrink_to_fit();
        self.values.shrink_to_fit();
        Ok(Csr::from_parts(self.offsets.len() - 1, cols, self.offsets, self.columns, self.values)?)
    }
}

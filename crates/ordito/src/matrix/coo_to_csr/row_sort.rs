//! The rows of one bucket: entries grouped by row, every row sorted by column, without changing the order of equal
//! columns.

use crate::Scalar;
use crate::matrix::coo::Duplicates;

/// Rows up to this length are sorted by counting, for every entry, how many come before it: the square of the length in
/// steps, but vectors of them and none that has to be predicted.
const LONGEST_RANKED: usize = 48;

/// Sorts the entries of one bucket after the other, in memory that it keeps.
#[derive(Default)]
pub(crate) struct BucketSort<S> {
    cursors: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<S>,
}

impl<S: Scalar> BucketSort<S> {
    /// Of entries in any order, in their place, with rows counted from the bucket's first; leaves the lengths of rows in `lengths`.
    /// Behind what duplicates leave stands anything.
    pub(crate) fn entries(
        &mut self,
        rows: &[u16],
        (columns, values): (&mut [u32], &mut [S]),
        lengths: &mut [usize],
        duplicates: Duplicates,
    ) {
        let count = self.count(rows, lengths);
        grow(&mut self.columns, &mut self.values, count);
        group(rows, &mut self.cursors, (columns, values), (&mut self.columns, &mut self.values));
        let by_row = (&self.columns[..count], &self.values[..count]);
        sort_rows(by_row, (columns, values), lengths, duplicates);
    }

    /// Of entries whose columns never fall, in their place: grouped by row, they are sorted. Duplicates are kept.
    pub(crate) fn columns_in_order(
        &mut self,
        rows: &[u16],
        (columns, values): (&mut [u32], &mut [S]),
        lengths: &mut [usize],
    ) {
        let count = self.count(rows, lengths);
        grow(&mut self.columns, &mut self.values, count);
        self.columns[..count].copy_from_slice(columns);
        self.values[..count].copy_from_slice(values);
        group(rows, &mut self.cursors, (&self.columns, &self.values), (columns, values));
    }

    /// Counts the entries of every row, and where in the bucket they begin.
    fn count(&mut self, rows: &[u16], lengths: &mut [usize]) -> usize {
        lengths.fill(0);
        for &row in rows {
            lengths[usize::from(row)] += 1;
        }
        let mut count = 0;
        self.cursors.clear();
        self.cursors.extend(lengths.iter().map(|length| {
            let start = count;
            count += length;
            start
        }));
        count
    }

    /// Of entries that stand row by row; leaves the lengths of rows in `lengths`. As many as there were: behind what duplicates
    /// leave stands anything.
    pub(crate) fn rows_in_order(
        &mut self,
        rows: &[u32],
        entries: (&[u32], &[S]),
        first_row: usize,
        lengths: &mut [usize],
        duplicates: Duplicates,
    ) -> (&[u32], &[S]) {
        lengths_of_sorted(rows, first_row, lengths);
        grow(&mut self.columns, &mut self.values, rows.len());
        let (columns, values) = (&mut self.columns[..rows.len()], &mut self.values[..rows.len()]);
        sort_rows(entries, (&mut *columns, &mut *values), lengths, duplicates);
        (columns, values)
    }
}

/// Brings every entry to where its row begins, behind those that are there.
#[inline(always)]
fn group<S: Scalar>(
    rows: &[u16],
    cursors: &mut [usize],
    (columns, values): (&[u32], &[S]),
    (grouped_columns, grouped_values): (&mut [u32], &mut [S]),
) {
    for ((&row, &column), &value) in rows.iter().zip(columns).zip(values) {
        let cursor = &mut cursors[usize::from(row)];
        (grouped_columns[*cursor], grouped_values[*cursor]) = (column, value);
        *cursor += 1;
    }
}

/// Makes both at least so long.
fn grow<S: Scalar>(columns: &mut Vec<u32>, values: &mut Vec<S>, count: usize) {
    if columns.len() < count {
        columns.resize(count, 0);
        values.resize(count, S::ZERO);
    }
}

/// Lengths of rows whose entries stand row by row.
fn lengths_of_sorted(rows: &[u32], first_row: usize, lengths: &mut [usize]) {
    // Where each row ends: the last entry to say so is right, and nothing has to be predicted.
    lengths.fill(0);
    for (entry, &row) in rows.iter().enumerate() {
        lengths[row as usize - first_row] = entry + 1;
    }
    let mut start = 0;
    for length in lengths.iter_mut().filter(|end| **end > 0) {
        (start, *length) = (*length, *length - start);
    }
}

/// Sorts every row by column, and leaves in `lengths` what duplicates leave of them.
fn sort_rows<S: Scalar>(
    (columns, values): (&[u32], &[S]),
    (sorted_columns, sorted_values): (&mut [u32], &mut [S]),
    lengths: &mut [usize],
    duplicates: Duplicates,
) {
    let (mut read, mut written) = (0, 0);
    for length in lengths {
        let row = read..read + *length;
        read = row.end;
        let into = written..written + *length;
        let (row_columns, row_values) = (&mut sorted_columns[into.clone()], &mut sorted_values[into]);
        sort_row(&columns[row.clone()], &values[row], row_columns, row_values);
        if duplicates == Duplicates::Sum {
            *length = merge_duplicates(row_columns, row_values);
        }
        written += *length;
    }
}

/// Writes a row sorted by column.
#[inline]
fn sort_row<S: Scalar>(columns: &[u32], values: &[S], sorted_columns: &mut [u32], sorted_values: &mut [S]) {
    // Files are mostly sorted one way or the other, and then every row already is.
    if columns.is_sorted() {
        sorted_columns.copy_from_slice(columns);
        sorted_values.copy_from_slice(values);
        return;
    }
    let mut put = |ranks: &[u32]| {
        for ((&rank, &column), &value) in ranks.iter().zip(columns).zip(values) {
            (sorted_columns[rank as usize], sorted_values[rank as usize]) = (column, value);
        }
    };
    match columns.len() {
        0..=16 => put(&ranks::<16>(columns)),
        17..=24 => put(&ranks::<24>(columns)),
        25..=32 => put(&ranks::<32>(columns)),
        33..=LONGEST_RANKED => put(&ranks::<LONGEST_RANKED>(columns)),
        _ => sort_long_row(columns, values, sorted_columns, sorted_values),
    }
}

/// Where each of at most `LANES` columns stands once they are sorted.
#[inline]
fn ranks<const LANES: usize>(columns: &[u32]) -> [u32; LANES] {
    // Signed, because the vectors of every CPU compare such numbers.
    let mut signed = [i32::MAX; LANES];
    for (signed, column) in signed.iter_mut().zip(columns) {
        *signed = (column ^ 1 << 31) as i32;
    }
    let count = columns.len();
    let mut ranks = [0; LANES];
    for other in &signed[..count] {
        for (rank, column) in ranks.iter_mut().zip(&signed) {
            *rank += u32::from(other < column);
        }
    }
    // Without equal columns these are 0, 1, 2 …; with some, each moves on by those before it.
    if ranks[..count].iter().sum::<u32>() as usize != count * count.saturating_sub(1) / 2 {
        let mut equal_before = [0; LANES];
        for rank in &mut ranks[..count] {
            let before = &mut equal_before[*rank as usize];
            *rank += *before;
            *before += 1;
        }
    }
    ranks
}

/// By comparing and moving.
fn sort_long_row<S: Scalar>(
    columns: &[u32],
    values: &[S],
    sorted_columns: &mut [u32],
    sorted_values: &mut [S],
) {
    let mut entries: Vec<(u32, S)> = columns.iter().copied().zip(values.iter().copied()).collect();
    entries.sort_by_key(|&(column, _)| column);
    let places = sorted_columns.iter_mut().zip(sorted_values);
    for (&entry, (column, value)) in entries.iter().zip(places) {
        (*column, *value) = entry;
    }
}

/// Adds up neighbours with the same column, in their order, and says how many entries remain.
#[inline]
fn merge_duplicates<S: Scalar>(columns: &mut [u32], values: &mut [S]) -> usize {
    if columns.windows(2).all(|pair| pair[0] != pair[1]) {
        return columns.len();
    }
    let mut last = 0;
    for entry in 1..columns.len() {
        if columns[entry] == columns[last] {
            let value = values[entry];
            values[last] += value;
        } else {
            last += 1;
            (columns[last], values[last]) = (columns[entry], values[entry]);
        }
    }
    last + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_rows_have_no_length() {
        let mut lengths = [9; 5];
        lengths_of_sorted(&[11, 11, 13], 10, &mut lengths);
        assert_eq!(lengths, [0, 2, 0, 1, 0]);
    }

    #[test]
    fn rows_of_any_length_are_sorted_stably() {
        for length in [0, 1, 2, 3, 16, LONGEST_RANKED, LONGEST_RANKED + 1, 300] {
            for spread in [1, 2, 7, 1000] {
                let columns: Vec<u32> =
                    (0..length).map(|entry| (entry * 7919 + 13) as u32 % spread).collect();
                let values: Vec<f64> = (0..length).map(|entry| entry as f64).collect();
                let mut expected: Vec<(u32, f64)> =
                    columns.iter().copied().zip(values.iter().copied()).collect();
                expected.sort_by_key(|&(column, _)| column);
                let (mut found_columns, mut found_values) = (vec![0; length], vec![f64::NAN; length]);
                sort_row(&columns, &values, &mut found_columns, &mut found_values);
                let found: Vec<_> = found_columns.into_iter().zip(found_values).collect();
                assert_eq!(found, expected, "{length} entries in {spread} columns");
            }
        }
    }

    #[test]
    fn neighbours_are_added_in_their_order() {
        let mut columns = [1, 1, 1, 4, 6, 6];
        let mut values = [1e16, 1.0, -1e16, 7.0, 2.0, 3.0];
        let kept = merge_duplicates(&mut columns, &mut values);
        assert_eq!(columns[..kept], [1, 4, 6]);
        assert_eq!(values[..kept], [(1e16 + 1.0) - 1e16, 7.0, 5.0]);
        assert_eq!(merge_duplicates::<f64>(&mut [], &mut []), 0);
    }
}

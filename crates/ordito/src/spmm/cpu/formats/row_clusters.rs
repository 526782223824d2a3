//! An order of rows in which those that share columns stand together: what one has read of X, the next finds in the cache.

use crate::Scalar;
use crate::matrix::{CsrSlices, FormatError};

/// Columns with more entries than this lead to rows that have nothing else in common, and would make growing quadratic.
const MOST_ENTRIES_OF_COLUMN: usize = 64;

/// Clusters touch at least so many columns: what one leaves waiting (a quarter of that, and the entries of a column) stays in
/// proportion to its entries.
const LEAST_COLUMNS: usize = 64;

/// Marks of a row: in no queue yet, or taken; else the number of the cluster in whose queue it is.
const UNSEEN: u32 = 0;
const TAKEN: u32 = u32::MAX;

/// Every row once, in clusters that touch about a given number of columns each.
///
/// A cluster is grown breadth first: from a row to those that share a column with it. When it has touched enough columns, the next
/// one begins with a row that was waiting, so that it lies beside it, or, where none waits, with the first row that is left.
/// The order depends on the pattern alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowClusters {
    order: Vec<u32>,
    /// Where each cluster begins, and the end of the last.
    borders: Vec<usize>,
}

impl RowClusters {
    /// Clusters that touch `columns` columns each (64, where that is less), and at most a row more. Matrices with 2³² entries or more are refused.
    pub(crate) fn grow<S: Scalar>(a: CsrSlices<'_, S>, columns: usize) -> Result<Self, FormatError> {
        if u32::try_from(a.nnz()).is_err() {
            return Err(FormatError::TooManyElements { what: "an order of rows in clusters" });
        }
        Ok(Growing::new(a.cols(), a.offsets(), a.columns()).all(columns.max(LEAST_COLUMNS)))
    }

    /// Rows of a cluster in order of length, so that the processor foresees where they end, and equally long ones by number, so that
    /// what is written row by row lies together. Measured against the order of growing: 1.05 to 1.3 times as fast where lengths
    /// differ or rows are short, 0.9 to 1.0 elsewhere.
    pub(crate) fn sort_by_length<S: Scalar>(&mut self, a: CsrSlices<'_, S>) {
        for border in self.borders.windows(2) {
            let rows = &mut self.order[border[0]..border[1]];
            rows.sort_unstable_by_key(|&row| (a.range(row as usize).len(), row));
        }
    }

    /// Which row stands in each place.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Which row stands in each place, to keep.
    pub(crate) fn into_order(self) -> Vec<u32> {
        self.order
    }

    /// Bytes that growing takes, for a matrix of this shape; what is kept is part of it.
    pub(crate) fn bytes_for(rows: usize, cols: usize, nonzeros: usize) -> Option<u64> {
        // Entries by column, and up to 1.25 rows waiting for each, in a list that doubles as it grows; of a column its start and
        // mark; of a row its mark, its place, the queue and the borders.
        let of_entries = (nonzeros as u64).checked_mul(4 + 10)?;
        of_entries.checked_add((cols as u64).checked_mul(8)?)?.checked_add((rows as u64).checked_mul(24)?)
    }
}

/// A matrix half taken apart.
struct Growing<'a> {
    offsets: &'a [usize],
    columns: &'a [u32],
    /// The rows of column `c` are `by_column[column_starts[c]..column_starts[c + 1]]`.
    column_starts: Vec<u32>,
    by_column: Vec<u32>,
    /// The last cluster that touched it, by column.
    touched: Vec<u32>,
    marks: Vec<u32>,
    /// Rows that earlier clusters left in their queues, the best last; some have been taken since.
    waiting: Vec<u32>,
    next_row: usize,
}

impl<'a> Growing<'a> {
    fn new(cols: usize, offsets: &'a [usize], columns: &'a [u32]) -> Self {
        let (column_starts, by_column) = transpose(cols, offsets, columns);
        let (touched, marks) = (vec![0; cols], vec![UNSEEN; offsets.len() - 1]);
        Growing {
            offsets,
            columns,
            column_starts,
            by_column,
            touched,
            marks,
            waiting: Vec::new(),
            next_row: 0,
        }
    }

    fn all(mut self, columns: usize) -> RowClusters {
        let mut order = Vec::with_capacity(self.marks.len());
        let (mut borders, mut queue) = (vec![0], Vec::new());
        while let Some(seed) = self.seed() {
            self.grow(borders.len() as u32, seed, columns, &mut queue, &mut order); // clusters hold a row, of which there are < 2³²
            borders.push(order.len());
        }
        RowClusters { order, borders }
    }

    fn seed(&mut self) -> Option<u32> {
        while let Some(row) = self.waiting.pop() {
            if self.marks[row as usize] != TAKEN {
                return Some(row);
            }
        }
        self.next_row += self.marks[self.next_row..].iter().position(|&mark| mark != TAKEN)?;
        Some(self.next_row as u32)
    }

    fn grow(&mut self, cluster: u32, seed: u32, most: usize, queue: &mut Vec<u32>, order: &mut Vec<u32>) {
        queue.clear();
        queue.push(seed);
        let (mut next, mut columns) = (0, 0);
        while next < queue.len() && columns < most {
            let row = queue[next] as usize;
            next += 1;
            self.marks[row] = TAKEN;
            order.push(row as u32);
            for &column in &self.columns[self.offsets[row]..self.offsets[row + 1]] {
                let column = column as usize;
                if self.touched[column] == cluster {
                    continue;
                }
                self.touched[column] = cluster;
                columns += 1;
                // With so many waiting the cluster will be full before it comes to those behind them.
                if queue.len() - next > most / 4 {
                    continue;
                }
                let (start, end) = (self.column_starts[column], self.column_starts[column + 1]);
                if (end - start) as usize > MOST_ENTRIES_OF_COLUMN {
                    continue;
                }
                for &other in &self.by_column[start as usize..end as usize] {
                    let mark = &mut self.marks[other as usize];
                    if *mark != TAKEN && *mark != cluster {
                        *mark = cluster;
                        queue.push(other);
                    }
                }
            }
        }
        self.waiting.extend(queue[next..].iter().rev());
    }
}

/// Where the entries of each column start, and their rows.
fn transpose(cols: usize, offsets: &[usize], columns: &[u32]) -> (Vec<u32>, Vec<u32>) {
    // Counted one place further on: after the sums `starts[c + 1]` is where column `c` begins, after dealing where it ends.
    let mut starts = vec![0u32; cols + 2];
    for &column in columns {
        starts[column as usize + 2] += 1;
    }
    for column in 2..starts.len() {
        starts[column] += starts[column - 1];
    }
    let mut rows = vec![0; columns.len()];
    for (row, range) in offsets.windows(2).enumerate() {
        for &column in &columns[range[0]..range[1]] {
            let at = &mut starts[column as usize + 1];
            rows[*at as usize] = row as u32; // `check_dimensions` of the CSR matrix
            *at += 1;
        }
    }
    starts.pop();
    (starts, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Csr, Duplicates};

    #[test]
    fn rows_that_share_a_column_come_together() {
        let a = CsrSlices::from_parts(4, 4, &[0, 1, 2, 3, 4], &[2, 0, 2, 0], &[1.0; 4]).unwrap();
        assert_eq!(RowClusters::grow(a, 1).unwrap().order(), [0, 2, 1, 3]);
    }

    fn matrix(rows: usize, cols: usize, places: impl Iterator<Item = (u32, u32)>) -> Csr<f64> {
        let (of_rows, of_cols): (Vec<u32>, Vec<u32>) = places.unzip();
        let values = vec![1.0; of_rows.len()];
        Csr::from_coo(&Coo::new(rows, cols, of_rows, of_cols, values).unwrap(), Duplicates::Sum)
    }

    /// Rows of 0 to 8 entries, all over the place.
    fn uneven() -> Csr<f64> {
        let columns = |row: u32| (0..row * 7919 % 9).map(move |i| (row, (row * 31 + i * i * 97) % 300));
        matrix(700, 300, (0..700).flat_map(columns))
    }

    /// Columns that each cluster touches.
    fn touched(a: &Csr<f64>, clusters: &RowClusters) -> Vec<usize> {
        let columns = |border: &[usize]| {
            let rows = clusters.order[border[0]..border[1]].iter();
            let mut columns: Vec<u32> =
                rows.flat_map(|&row| a.view().columns()[a.view().range(row as usize)].to_vec()).collect();
            columns.sort_unstable();
            columns.dedup();
            columns.len()
        };
        clusters.borders.windows(2).map(columns).collect()
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn every_row_stands_once_whatever_the_pattern() {
        let path = |row: u32| [(row, row), (row, (row + 1) % 50)];
        let hub = (0..500).flat_map(|row| [(row, 0), (row, 1 + row / 2)]);
        let matrices = [
            matrix(0, 0, std::iter::empty()),
            matrix(5, 7, std::iter::empty()),
            matrix(9, 9, (0..9).map(|i| (i, i))),
            matrix(50, 50, (0..50).flat_map(path)),
            matrix(500, 300, hub),
            uneven(),
        ];
        for a in &matrices {
            for columns in [0, 1, 7, 100, usize::MAX] {
                let mut clusters = RowClusters::grow(a.view(), columns).unwrap();
                assert_eq!(clusters, RowClusters::grow(a.view(), columns).unwrap());
                clusters.sort_by_length(a.view());
                let mut order = clusters.order().to_vec();
                order.sort_unstable();
                assert!(order.into_iter().eq(0..a.rows() as u32), "{columns} columns");
                let most = columns.max(LEAST_COLUMNS).saturating_add(a.longest_row());
                assert!(touched(a, &clusters).into_iter().all(|columns| columns < most));
            }
        }
    }

    #[test]
    fn rows_that_share_columns_find_each_other() {
        // Row r has columns r % 10 and r % 10 + 10: ten clusters of fifty rows, none of which knows another.
        let a = matrix(500, 20, (0..500).flat_map(|row| [(row, row % 10), (row, row % 10 + 10)]));
        let clusters = RowClusters::grow(a.view(), 100).unwrap();
        for (cluster, rows) in clusters.order().chunks(50).enumerate() {
            assert!(rows.iter().all(|&row| row as usize % 10 == cluster));
        }
    }

    #[test]
    fn lengths_rise_inside_a_cluster() {
        let a = uneven();
        let mut clusters = RowClusters::grow(a.view(), 50).unwrap();
        clusters.sort_by_length(a.view());
        let length = |&row: &u32| (a.view().range(row as usize).len(), row);
        for border in clusters.borders.windows(2) {
            assert!(clusters.order[border[0]..border[1]].is_sorted_by_key(length));
        }
    }
}

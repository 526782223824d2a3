//! Rows that share their pattern: consecutive rows with the same columns list them once. Finite elements with several unknowns
//! per node are like that.

use crate::Scalar;
use crate::cpu::parallel;
#[cfg(test)]
use crate::matrix::Coo;
use crate::matrix::concat::concat_into;
use crate::matrix::{CsrSlices, FormatError, huge_pages};
use crate::spmm::cpu::formats::side_by_side::{alternate, fill_parts};

/// Rows that one group may have: so many sums fit the registers, and what a fifth would save is little.
pub(crate) const MOST_ROWS: usize = 4;
/// Rows that one task looks at; groups do not cross its border, so that the result does not depend on the threads.
const ROWS_PER_TASK: usize = 4096;

/// Groups that one thread fills at a time.
const GROUPS_PER_TASK: usize = 2048;
/// Values that one thread copies at a time, where they stand as in CSR.
const VALUES_PER_TASK: usize = 1 << 16;

/// How the values of a group stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Column by column, in each the rows of the group: a kernel that takes the columns one by one reads straight on.
    ByColumn,
    /// Row by row, as in CSR: for one that takes neighbouring columns at once.
    ByRow,
}

/// Where a group begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    /// Its first row.
    pub row: u32,
    /// Where its columns begin.
    pub column: u32,
    /// Where its values begin.
    pub value: u32,
}

/// A sparse matrix by groups of up to [`MOST_ROWS`] consecutive rows with the same columns in the same order.
///
/// Invariant: group `g` has the rows `groups[g].row .. groups[g + 1].row`, at least one and at most four, and likewise its
/// columns and values: as many values as rows times columns. The last element of `groups` only ends the one before. Every
/// column is below `cols`. Nothing is stored that the matrix does not have. Positions take 32 bits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowGroups<S> {
    cols: usize,
    order: Order,
    groups: Vec<Group>,
    columns: Vec<u32>,
    values: Vec<S>,
}

impl<S: Scalar> RowGroups<S> {
    /// Finds the groups, on the threads of the current rayon pool.
    pub(crate) fn from_csr(a: CsrSlices<'_, S>, order: Order) -> Result<Self, FormatError> {
        if u32::try_from(a.nnz()).is_err() {
            return Err(FormatError::TooManyElements { what: "row groups, with 32-bit positions," });
        }
        let tasks = a.rows().div_ceil(ROWS_PER_TASK);
        let found: Vec<Vec<Group>> = parallel::map_index(tasks, |task| find(a, task));
        let shared: usize = found.iter().filter_map(|groups| Some(groups.last()?.column as usize)).sum();
        let (mut columns, mut values) = (huge_pages::zeros(shared), huge_pages::zeros(a.nnz()));
        let mut groups = Vec::with_capacity(found.iter().map(Vec::len).sum::<usize>() + 1);
        let (mut column_rest, mut value_rest) = (&mut columns[..], &mut values[..]);
        let mut work = Vec::with_capacity(tasks);
        let (mut first_column, mut first_value) = (0, 0);
        for found in &found {
            let Some((end, begins)) = found.split_last() else { continue };
            let (columns, values);
            (columns, column_rest) = column_rest.split_at_mut(end.column as usize);
            (values, value_rest) = value_rest.split_at_mut(end.value as usize);
            groups.extend(begins.iter().map(|group| Group {
                column: group.column + first_column,
                value: group.value + first_value,
                ..*group
            }));
            (first_column, first_value) = (first_column + end.column, first_value + end.value);
            work.push((found, columns, values));
        }
        groups.push(Group { row: a.rows() as u32, column: first_column, value: first_value });
        // Columns and values group by group: in two passes, by `set_values`, it took 1.00 to 1.09 of the time.
        parallel::for_each(work, |(found, columns, values)| {
            for pair in found.windows(2) {
                columns[pair[0].column as usize..pair[1].column as usize]
                    .copy_from_slice(&a.columns()[a.range(pair[0].row as usize)]);
                place(a, order, pair, &mut values[pair[0].value as usize..pair[1].value as usize]);
            }
        });
        Ok(RowGroups { cols: a.cols(), order, groups, columns, values })
    }

    /// New numbers in the pattern that it was made of, in one pass over them. `a` has the pattern that it was made of.
    pub(crate) fn set_values(&mut self, a: CsrSlices<'_, S>) {
        let (order, groups) = (self.order, &self.groups);
        if order == Order::ByRow {
            return concat_into(a.values().chunks(VALUES_PER_TASK), &mut self.values); // as they stand there
        }
        let count = groups.len() - 1; // the last one only ends them
        let last = |task: usize| count.min((task + 1) * GROUPS_PER_TASK);
        let ends = (0..count.div_ceil(GROUPS_PER_TASK)).map(|task| groups[last(task)].value as usize);
        fill_parts(&mut self.values, ends, |task, mut to| {
            for pair in groups[task * GROUPS_PER_TASK..=last(task)].windows(2) {
                let (values, rest) = to.split_at_mut((pair[1].value - pair[0].value) as usize);
                place(a, order, pair, values);
                to = rest;
            }
        });
    }

    /// The triplets, in the order in which they are stored.
    #[cfg(test)]
    pub(crate) fn to_coo(&self) -> Coo<S> {
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        for pair in self.groups.windows(2) {
            let (group_rows, group_columns) = (pair[0].row..pair[1].row, pair[0].column..pair[1].column);
            let group_columns = &self.columns[group_columns.start as usize..group_columns.end as usize];
            match self.order {
                Order::ByColumn => group_columns.iter().for_each(|&col| {
                    rows.extend(group_rows.clone());
                    columns.resize(rows.len(), col);
                }),
                Order::ByRow => group_rows.for_each(|row| {
                    columns.extend_from_slice(group_columns);
                    rows.resize(columns.len(), row);
                }),
            }
        }
        Coo::new(self.rows(), self.cols, rows, columns, self.values.clone())
            .expect("groups have valid indices")
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.groups.last().map_or(0, |end| end.row as usize)
    }
    /// Number of columns.
    pub(crate) fn cols(&self) -> usize {
        self.cols
    }
    /// How the values stand.
    pub(crate) fn order(&self) -> Order {
        self.order
    }
    /// Where the groups begin; one more than there are groups.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }
    /// The columns of every group.
    pub(crate) fn columns(&self) -> &[u32] {
        &self.columns
    }
    /// The values of every group.
    pub(crate) fn values(&self) -> &[S] {
        &self.values
    }
    /// Bytes at most, for a matrix in which no row is like the one before.
    pub(crate) fn bytes_for(rows: usize, nonzeros: usize) -> Option<u64> {
        let groups = (rows as u64).checked_add(1)?.checked_mul(size_of::<Group>() as u64)?;
        (nonzeros as u64).checked_mul((size_of::<u32>() + size_of::<S>()) as u64)?.checked_add(groups)
    }
}

/// The groups among the rows of one task, their positions counted from its first entry; the last element ends them.
fn find<S: Scalar>(a: CsrSlices<'_, S>, task: usize) -> Vec<Group> {
    let (first, end) = (task * ROWS_PER_TASK, a.rows().min((task + 1) * ROWS_PER_TASK));
    let columns = |row: usize| &a.columns()[a.range(row)];
    let mut groups = Vec::new();
    let (mut row, mut column) = (first, 0);
    while row < end {
        let value = (a.offsets()[row] - a.offsets()[first]) as u32; // checked: all entries fit
        groups.push(Group { row: row as u32, column, value });
        let alike =
            (row + 1..end.min(row + MOST_ROWS)).take_while(|&next| columns(next) == columns(row)).count();
        column += columns(row).len() as u32;
        row += 1 + alike;
    }
    groups.push(Group { row: row as u32, column, value: (a.offsets()[end] - a.offsets()[first]) as u32 });
    groups
}

/// Writes the values of a group, which ends where the next begins.
#[inline(always)]
fn place<S: Scalar>(a: CsrSlices<'_, S>, order: Order, group_and_next: &[Group], to: &mut [S]) {
    let rows = group_and_next[0].row as usize..group_and_next[1].row as usize;
    match order {
        Order::ByRow => to.copy_from_slice(&a.values()[a.offsets()[rows.start]..a.offsets()[rows.end]]),
        Order::ByColumn => {
            let mut values = [&[][..]; MOST_ROWS];
            values.iter_mut().zip(rows.clone()).for_each(|(values, row)| *values = &a.values()[a.range(row)]);
            alternate(&values[..rows.len()], to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Csr, Duplicates};

    #[test]
    fn two_rows_with_the_same_columns_are_a_group() {
        let a = CsrSlices::from_parts(2, 2, &[0, 2, 4], &[0, 1, 0, 1], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        let groups = RowGroups::from_csr(a, Order::ByColumn).unwrap();
        assert_eq!((groups.columns(), groups.values()), (&[0, 1][..], &[1.0, 3.0, 2.0, 4.0][..]));
    }

    /// Rows of nodes of three unknowns, each with the columns of its node and the next.
    fn nodes() -> Csr<f64> {
        const SIDE: u32 = if cfg!(miri) { 600 } else { 10_000 };
        let places: Vec<(u32, u32)> = (0..SIDE)
            .flat_map(|row| (row / 3 * 3..row / 3 * 3 + 6).map(move |col| (row, col % SIDE)))
            .collect();
        let (rows, cols) = places.iter().copied().unzip();
        let values = (0..places.len()).map(|i| i as f64).collect();
        Csr::from_coo(&Coo::new(SIDE as usize, SIDE as usize, rows, cols, values).unwrap(), Duplicates::Keep)
    }

    #[test]
    fn rows_that_are_alike_list_their_columns_once() {
        let a = nodes();
        for order in [Order::ByColumn, Order::ByRow] {
            let groups = RowGroups::from_csr(a.view(), order).unwrap();
            assert_eq!(Csr::from_coo(&groups.to_coo(), Duplicates::Keep), a);
            assert!(groups.columns().len() * 28 < a.nnz() * 10);
            assert!(groups.groups().windows(2).all(|pair| (1..=4).contains(&(pair[1].row - pair[0].row))));
        }
    }

    #[test]
    fn empty_rows_and_empty_matrices_are_groups_too() {
        let a = CsrSlices::<f32>::from_parts(6, 3, &[0; 7], &[], &[]).unwrap();
        for order in [Order::ByColumn, Order::ByRow] {
            assert_eq!(RowGroups::from_csr(a, order).unwrap().groups().len(), 3);
        }
        let none = CsrSlices::<f32>::from_parts(0, 3, &[0], &[], &[]).unwrap();
        let groups = RowGroups::from_csr(none, Order::ByRow).unwrap();
        assert_eq!((groups.rows(), groups.groups().len()), (0, 1));
    }
}

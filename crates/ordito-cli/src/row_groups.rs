//! `--groups N --group-order …`: which rows of a matrix belong together.

use clap::ValueEnum;
use ordito::Scalar;
use ordito::matrix::{Dense, FormatError};
use ordito_eeg::GroupOrder;
use std::num::NonZeroUsize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupOrderArg {
    /// Row i belongs to group i mod N
    Interleaved,
    /// The first N-th of the rows is the first group
    Blocked,
}

impl From<GroupOrderArg> for GroupOrder {
    fn from(order: GroupOrderArg) -> Self {
        match order {
            GroupOrderArg::Interleaved => GroupOrder::Interleaved,
            GroupOrderArg::Blocked => GroupOrder::Blocked,
        }
    }
}

/// Rows in so many groups.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowGroups {
    count: usize,
    order: GroupOrder,
}

impl RowGroups {
    /// As asked for, if it was.
    pub(crate) fn new(count: Option<NonZeroUsize>, order: Option<GroupOrderArg>) -> Option<Self> {
        let order = order.map_or(GroupOrder::default(), GroupOrder::from);
        count.map(|count| RowGroups { count: count.get(), order })
    }

    pub(crate) fn count(self) -> usize {
        self.count
    }

    /// Rows of the largest one.
    pub(crate) fn most_rows(self, rows: usize) -> usize {
        rows.div_ceil(self.count)
    }

    /// Can so many rows be cut?
    pub(crate) fn check(self, rows: usize) -> anyhow::Result<()> {
        let RowGroups { count, order } = self;
        anyhow::ensure!(
            count <= rows,
            "--groups {count}: there are {rows} rows, which make no {count} groups"
        );
        let over = rows % count;
        anyhow::ensure!(
            over == 0 || order == GroupOrder::Interleaved,
            "--groups {count}: {rows} rows make no {count} equal blocks, {over} are left over; is the order interleaved?"
        );
        Ok(())
    }

    /// What records call a group of a matrix, counted from 0.
    pub(crate) fn name(self, group: usize, matrix: &str) -> String {
        let (number, count) = (group + 1, self.count);
        match self.order {
            GroupOrder::Interleaved => format!("{matrix}, group {number} of {count}"),
            GroupOrder::Blocked => format!("{matrix}, block {number} of {count}"),
        }
    }

    /// The rows of a group, counted from 0, copied together.
    pub(crate) fn take<S: Scalar>(self, data: &Dense<S>, group: usize) -> Result<Dense<S>, FormatError> {
        let (all, share) = (data.rows(), data.rows() / self.count);
        let rows = match self.order {
            GroupOrder::Interleaved => (group..all).step_by(self.count),
            GroupOrder::Blocked => (group * share..(group + 1) * share).step_by(1),
        };
        let count = rows.len();
        let numbers = rows.flat_map(|row| data.view().row(row)).copied().collect();
        Dense::from_rows(count, data.cols(), numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(count: usize, order: GroupOrderArg) -> RowGroups {
        RowGroups::new(NonZeroUsize::new(count), Some(order)).unwrap()
    }

    #[test]
    fn rows_alternate_or_stand_in_blocks() {
        let data = Dense::from_rows(6, 1, (0..6).map(f64::from).collect()).unwrap();
        let second = |order| groups(3, order).take(&data, 1).unwrap().into_data();
        assert_eq!(second(GroupOrderArg::Interleaved), [1.0, 4.0]);
        assert_eq!(second(GroupOrderArg::Blocked), [2.0, 3.0]);
        let uneven = groups(4, GroupOrderArg::Interleaved);
        assert_eq!((uneven.take(&data, 0).unwrap().into_data(), uneven.most_rows(6)), (vec![0.0, 4.0], 2));
        let nothing = Dense::<f32>::zeros(4, 0).unwrap();
        assert_eq!(groups(2, GroupOrderArg::Blocked).take(&nothing, 1).unwrap().shape(), (2, 0));
    }

    #[test]
    fn what_cannot_be_cut_is_said() {
        let said = |count, order, rows| groups(count, order).check(rows).unwrap_err().to_string();
        assert_eq!(
            said(8, GroupOrderArg::Interleaved, 7),
            "--groups 8: there are 7 rows, which make no 8 groups"
        );
        assert_eq!(
            said(3, GroupOrderArg::Blocked, 7),
            "--groups 3: 7 rows make no 3 equal blocks, 1 are left over; is the order interleaved?"
        );
        assert!(groups(3, GroupOrderArg::Interleaved).check(7).is_ok());
        assert!(groups(7, GroupOrderArg::Blocked).check(7).is_ok());
    }
}

//! Nontarget epochs by the offset at which they were cut.

use crate::error::ErpError;

/// Offsets of a cycle: windows of 800 time units with eight offsets of 100.
const OFFSETS: usize = 8;
/// The one that is the target; the others make up the nontarget file.
const TARGET_OFFSET: usize = 6;

/// How nontarget epochs fall into groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Groups {
    /// How many.
    pub count: usize,
    /// Which rows belong together.
    pub order: GroupOrder,
}

/// Which rows of the nontarget files belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupOrder {
    /// Row i belongs to group i mod count: epochs stand as they were recorded.
    #[default]
    Interleaved,
    /// The first share of the rows is the first group.
    Blocked,
}

impl Groups {
    /// The names of the groups: seven are the offsets of a cycle without the target's.
    pub fn labels(self) -> Vec<String> {
        let (offsets, _) = self.offsets();
        let label = |offset| match self.are_offsets() {
            true => format!("offset {offset}"),
            false => format!("group {}", offset + 1),
        };
        offsets.map(label).collect()
    }

    /// Are they the offsets of the standard cycle?
    pub(crate) fn are_offsets(self) -> bool {
        self.count == OFFSETS - 1
    }

    /// The offset of every group in the cycle, and how many offsets that has.
    pub(crate) fn offsets(self) -> (impl Iterator<Item = usize>, usize) {
        let (left_out, all) =
            if self.are_offsets() { (TARGET_OFFSET, OFFSETS) } else { (self.count, self.count) };
        ((0..all).filter(move |&offset| offset != left_out), all)
    }

    /// The offset of the target in the same cycle, where that is known.
    pub(crate) fn target_offset(self) -> Option<usize> {
        self.are_offsets().then_some(TARGET_OFFSET)
    }

    /// Bytes of the statistics of all groups; `None` where not even 64 bits hold that.
    pub(crate) fn bytes_of_statistics(self, columns: usize) -> Option<u64> {
        // Mean, variance, smallest and largest of every column.
        const PER_COLUMN: u64 = 4 * size_of::<f64>() as u64;
        (self.count as u64).checked_mul(columns as u64)?.checked_mul(PER_COLUMN)
    }

    /// The group of a row, counted from 0, of `rows`.
    pub(crate) fn of(self, row: usize, rows: usize) -> usize {
        match self.order {
            GroupOrder::Interleaved => row % self.count,
            GroupOrder::Blocked => row / (rows / self.count),
        }
    }

    /// Can so many rows be cut? A sentence where they can, but not evenly.
    pub(crate) fn check(self, rows: usize) -> Result<Option<String>, ErpError> {
        let Groups { count: groups, order } = self;
        let failed = |problem: String| Err(ErpError::Groups { groups, problem });
        if groups == 0 || groups > rows {
            return failed(format!("there are {rows} nontarget epochs"));
        }
        match (order, rows % groups) {
            (_, 0) => Ok(None),
            (GroupOrder::Blocked, over) => failed(format!(
                "{rows} nontarget epochs make no {groups} equal blocks, {over} are left over; is the order interleaved?"
            )),
            (GroupOrder::Interleaved, over) => Ok(Some(format!(
                "{rows} nontarget epochs make no {groups} equal groups: {over} groups have one epoch more; is a cycle cut off?"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_groups_are_the_offsets_without_the_targets() {
        let seven = Groups { count: 7, order: GroupOrder::Interleaved };
        assert_eq!(seven.labels()[5..], ["offset 5", "offset 7"]);
        assert_eq!(Groups { count: 2, ..seven }.labels(), ["group 1", "group 2"]);
    }

    #[test]
    fn rows_are_dealt_out_or_cut() {
        let groups = |order| (0..6).map(move |row| Groups { count: 3, order }.of(row, 6)).collect::<Vec<_>>();
        assert_eq!(groups(GroupOrder::Interleaved), [0, 1, 2, 0, 1, 2]);
        assert_eq!(groups(GroupOrder::Blocked), [0, 0, 1, 1, 2, 2]);
        let uneven = |order| Groups { count: 3, order }.check(7);
        assert!(uneven(GroupOrder::Interleaved).unwrap().unwrap().contains("1 groups have one epoch more"));
        assert!(uneven(GroupOrder::Blocked).unwrap_err().to_string().contains("1 are left over"));
        assert!(Groups { count: 8, order: GroupOrder::Blocked }.check(7).is_err());
        assert!(Groups { count: 0, order: GroupOrder::Blocked }.check(7).is_err());
    }
}

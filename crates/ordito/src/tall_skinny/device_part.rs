//! A few columns of a block on a device, and the groups of them that kernels work on.

use crate::Scalar;
use crate::device::{Argument, DeviceView, DeviceViewMut};
use std::marker::PhantomData;

/// Columns that lie side by side in every row of a block: what [`Part`](crate::tall_skinny::Part) is on the host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DevicePart<S> {
    /// Of the first element.
    pub(crate) address: u64,
    pub(crate) cols: usize,
    /// From one row to the next, in elements.
    pub(crate) distance: usize,
    element: PhantomData<S>,
}

impl<S: Scalar> DevicePart<S> {
    pub(crate) fn new(address: u64, cols: usize, distance: usize) -> Self {
        DevicePart { address, cols, distance, element: PhantomData }
    }
    pub(crate) fn read(view: &DeviceView<'_, S>) -> Self {
        DevicePart::new(view.address(), view.cols(), view.leading_dimension())
    }
    pub(crate) fn written(view: &DeviceViewMut<'_, S>) -> Self {
        DevicePart::new(view.address(), view.cols(), view.leading_dimension())
    }
}

/// Columns of a group at most: a side of what a tensor core multiplies.
pub(crate) const GROUP_COLS: usize = 8;
/// The header that declares groups.
pub(crate) static GROUPS_HEADER: (&str, &str) = ("groups.cuh", include_str!("groups.cuh"));

/// As `groups.cuh` declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) address: u64,
    pub(crate) distance: u64,
    pub(crate) cols: u32,
    /// Number of its first column among those of all parts.
    pub(crate) first: u32,
}

impl Group {
    /// A group without columns: nothing of it is read.
    pub(crate) const NONE: Group = Group { address: 0, distance: 0, cols: 0, first: 0 };

    /// These groups as a kernel's parameter.
    pub(crate) fn argument(groups: &[Group]) -> Argument {
        let words =
            |group: &Group| [group.address, group.distance, bytemuck::cast([group.cols, group.first])];
        Argument::list(&groups.iter().map(words).collect::<Vec<[u64; 3]>>())
    }
}

/// All columns of all parts, in groups.
pub(crate) fn groups_of<S: Scalar>(parts: &[DevicePart<S>]) -> Vec<Group> {
    let (mut groups, mut first) = (Vec::new(), 0);
    for part in parts {
        for col in (0..part.cols).step_by(GROUP_COLS) {
            groups.push(Group {
                address: part.address + (col * size_of::<S>()) as u64,
                distance: part.distance as u64,
                cols: GROUP_COLS.min(part.cols - col) as u32,
                first: (first + col) as u32,
            });
        }
        first += part.cols;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_cover_every_column_of_every_part_once() {
        let parts =
            [DevicePart::<f64>::new(1024, 17, 20), DevicePart::new(8192, 0, 3), DevicePart::new(4096, 8, 8)];
        let found: Vec<_> =
            groups_of(&parts).iter().map(|group| (group.address, group.cols, group.first)).collect();
        assert_eq!(found, [(1024, 8, 0), (1088, 8, 8), (1152, 1, 16), (4096, 8, 17)]);
    }
}

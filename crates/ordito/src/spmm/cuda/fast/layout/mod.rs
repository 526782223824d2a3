//! A rearranged on the device: kernels list its rows (`row_list`) and move the nonzeros there from CSR as it was uploaded (`entries`), into
//! slices, windows, diagonals, or rows with flags. The host looks at lengths of rows alone, and deals out what a kernel cannot: parts of long rows,
//! teams, blocks of shares, windows of a mesh.

pub(crate) mod by_class;
pub(crate) mod diagonals;
pub(crate) mod entries;
pub(crate) mod flagged;
pub(crate) mod parts;
pub(crate) mod parts_in_place;
pub(crate) mod pieces;
pub(crate) mod row_list;
pub(crate) mod row_teams;
pub(crate) mod sliced;
pub(crate) mod teams;
pub(crate) mod windowed;

#[cfg(test)]
#[cfg(feature = "emulator")]
mod testing;

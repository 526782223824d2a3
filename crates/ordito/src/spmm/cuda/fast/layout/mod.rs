//! A rearranged on the device. Which row comes where is found on the host, from the lengths of the rows; kernels move the nonzeros
//! there, from CSR as it was uploaded (`entries`): pieces and parts of rows, slices, flags, teams, windows.

pub(crate) mod by_class;
pub(crate) mod entries;
pub(crate) mod flagged;
pub(crate) mod parts;
pub(crate) mod parts_in_place;
pub(crate) mod pieces;
pub(crate) mod sliced;
pub(crate) mod teams;
pub(crate) mod windowed;

#[cfg(all(test, feature = "emulator"))]
mod testing;

//! A rearranged on the device: pieces and parts of rows, slices, flags, teams.

pub(crate) mod flagged;
pub(crate) mod parts;
pub(crate) mod parts_in_place;
pub(crate) mod pieces;
pub(crate) mod sliced;
pub(crate) mod teams;

//! The whole reader on tiny grids.

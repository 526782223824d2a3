//! Column statistics on the CPU.

pub(crate) mod cell;
pub(crate) mod dense_serial_blocks;
pub(crate) mod dense_threads_blocks;
pub(crate) mod fill;
pub(crate) mod host;
pub(crate) mod row_blocks;

//! Kernels of the CPU.

pub(crate) mod dense_serial_loops;
pub(crate) mod dense_threads_panels;
mod host;
mod tile;

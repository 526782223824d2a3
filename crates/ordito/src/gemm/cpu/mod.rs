//! Dense products on the CPU.

pub(crate) mod dense_serial_blocked;
pub(crate) mod dense_serial_loops;
pub(crate) mod dense_threads_packed;
pub(crate) mod host;
mod packed;

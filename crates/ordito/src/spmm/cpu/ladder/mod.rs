//! The ladder: products as the studies had them, there to be compared with.

pub(crate) mod collapsed;
pub(crate) mod csr_serial;
pub(crate) mod csr_threads_rows;
pub(crate) mod ell_padded_serial;
pub(crate) mod ell_padded_threads;
pub(crate) mod ell_ragged_serial;
pub(crate) mod ell_ragged_threads;
#[cfg(feature = "wrong-variant")]
pub(crate) mod wrong;

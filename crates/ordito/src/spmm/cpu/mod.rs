//! Products on the CPU: one file per variant, `ladder/` for those that exist to be compared with.

pub(crate) mod csr_ordered;
pub(crate) mod csr_product;
pub(crate) mod csr_threads_clustered;
pub(crate) mod csr_threads_nnz;
pub(crate) mod csr_threads_sorted;
pub(crate) mod diagonals;
pub(crate) mod formats;
pub(crate) mod groups_threads_rows;
pub(crate) mod host;
pub(crate) mod kernels;
pub(crate) mod ladder;
pub(crate) mod partition;
pub(crate) mod prefetch;
pub(crate) mod sell;

#[cfg(test)]
mod tests;

//! Products on the CPU: one file per variant, `ladder/` for those that exist to be compared with.
//!
//! **Vectors.** Kernels of CSR, of CSR sorted or in clusters, and of groups are written once, generic over `Vectors` (an instruction
//! set). `Machine::vectorized` calls them, compiled for every set of the architecture. Those of `diagonals/` and `sell/` are written for AVX-512, with
//! plain loops for other CPUs. A function without `#[target_feature]` that such a kernel inlines must have no closures over vectors:
//! one that is not inlined is compiled without the instructions.
//!
//! **Columns.** `kernels/span.rs` cuts K into spans of columns whose sums stay in registers: whole registers, and for the rest the
//! narrowest one that holds it, masked where it must be. Nothing beyond a row of X or Y is touched.
//!
//! **Rows.** `row_kernel` walks rows of plain CSR and of rows in clusters or by their lengths; they differ by a `RowList`. `group_kernel` walks groups of rows
//! that share their columns. Both have a form of their own for K = 1, where registers hold entries of a row and X is gathered.
//! `stretch_kernel` walks CSR sorted by length, eight rows in one loop; where the columns of two or four rows fit a vector of 64 bytes,
//! they stand side by side in it.
//!
//! **Load balancing.** `partition` shares out the work: chunks of about equal nonzeros, in all but small products more than there are
//! threads, which a `Team` takes and steals. Where a chunk ends does not decide how a sum is formed: rows beyond 16 K nonzeros are
//! summed in pieces of that length, always, and only whole pieces are shared. So a product has the same bits on any number of threads.
//!
//! **Prefetch.** `prefetch` decides from the shape whether X is asked for before it is needed.
//!
//! **Columns of X and Y** that stand one after the other (Fortran order) are packed around the kernels, panel by panel (`panels`).
//!
//! `csr_product` is the product without a plan: it converts nothing.

pub(crate) mod csr_ordered;
pub(crate) mod csr_product;
pub(crate) mod csr_threads_by_length;
pub(crate) mod csr_threads_clustered;
pub(crate) mod csr_threads_nnz;
pub(crate) mod csr_threads_sorted;
pub(crate) mod diagonals;
pub(crate) mod formats;
pub(crate) mod groups_threads_rows;
pub(crate) mod host;
pub(crate) mod kernels;
pub(crate) mod ladder;
pub(crate) mod panels;
pub(crate) mod partition;
pub(crate) mod prefetch;
pub(crate) mod sell;

#[cfg(test)]
pub(crate) mod tests;

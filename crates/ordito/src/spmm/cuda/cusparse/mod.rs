//! NVIDIA's own products, as peers in the same table.

pub(crate) mod csr_cuda_cusparse;
pub(crate) mod csr_cuda_cusparse_columns;
pub(crate) mod csr_cuda_cusparse_spmv;

//! CSR_Vector_by_row: one warp per row of Y, cut into 8 sub-warps of 4 lanes, which share out the K columns of the row;
//! 16 rows per block of 512 threads. Touches A's row once per column, by one warp alone, so that the cache serves all but the
//! first; X is transposed. Loses on short rows and small K: sub-warps idle, and transposing X costs as much as reading it twice.

use crate::op::{Description, Place};
use crate::spmm::cuda::ladder::rung::{KernelFile, OPEN, Rung, Storage, Work, kernel_file};

const KERNEL: KernelFile = kernel_file!("csr_warp_row", "csr_cuda_warp_row.cu");

/// CSR_Vector_by_row.
pub(crate) const PER_ROW: Rung = Rung {
    description: Description::new(
        "csr-cuda-warp-per-row",
        "CSR, X transposed, one warp per row of Y, 8 sub-warps of 4 lanes share out its columns (CSR_Vector_by_row)",
        Place::Cuda,
        KERNEL.source,
    )
    .ladder()
    .adjustable(OPEN)
    .known_as(&["CSR_Vector_by_row"]),
    kernel: KERNEL,
    storage: Storage::Csr,
    work: Work::Row,
    lanes: None,
};

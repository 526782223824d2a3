//! CSR_Vector: one warp per element of Y; its lanes share out the row's nonzeros and add up in shared memory.
//! Touches A's row coalesced, once for each of its K elements, and per lane an element of X in a row of its own.
//! Loses on rows shorter than a warp: the other lanes idle, and the reduction costs the same.

use crate::op::{Description, Place};
use crate::spmm::cuda::ladder::rung::{KernelFile, OPEN, Rung, Storage, Work, kernel_file};

const KERNEL: KernelFile = kernel_file!("csr_warp", "csr_cuda_warp.cu");

/// CSR_Vector.
pub(crate) const PER_ELEMENT: Rung = Rung {
    description: Description::new(
        "csr-cuda-warp-per-element",
        "CSR, one warp per element of Y, reduction in shared memory (CSR_Vector)",
        Place::Cuda,
        KERNEL.source,
    )
    .ladder()
    .adjustable(OPEN)
    .known_as(&["CSR_Vector"]),
    kernel: KERNEL,
    storage: Storage::Csr,
    work: Work::Element { threads: 32 },
    lanes: None,
};

//! CSR_Scalar v1, v2, v3: one thread per element of Y, which walks its row alone. They differ in what they ask memory
//! for at every nonzero: v1 the sum and the row's end, v2 the row's end, v3 neither.
//! Touch A's row in every one of the row's K threads and one element of X per product.
//! Lose on long rows: one thread walks them alone while its warp waits.

use crate::op::{Description, Place};
use crate::spmm::cuda::ladder::rung::{KernelFile, OPEN, Rung, Storage, Work, kernel_file};

/// CSR_Scalar v1.
pub(crate) const ADDS_IN_MEMORY: Rung = thread(
    "csr-cuda-thread-adds-in-memory",
    "CSR, one thread per element of Y, adds into Y in memory at every nonzero (CSR_Scalar v1)",
    kernel_file!("csr_thread_in_memory", "csr_cuda_thread_in_memory.cu"),
    &["CSR_Scalar_v1"],
);

/// CSR_Scalar v2.
pub(crate) const ADDS_IN_REGISTER: Rung = thread(
    "csr-cuda-thread-adds-in-register",
    "CSR, one thread per element of Y, sum in a register, row's end read at every nonzero (CSR_Scalar v2)",
    kernel_file!("csr_thread_in_register", "csr_cuda_thread_in_register.cu"),
    &["CSR_Scalar_v2"],
);

/// CSR_Scalar v3.
pub(crate) const PER_ELEMENT: Rung = thread(
    "csr-cuda-thread-per-element",
    "CSR, one thread per element of Y, sum in a register, row bounds read once (CSR_Scalar v3)",
    kernel_file!("csr_thread", "csr_cuda_thread.cu"),
    &["csr", "CSR_Scalar", "CSR_Scalar_v3"],
);

const fn thread(
    name: &'static str,
    about: &'static str,
    kernel: KernelFile,
    known_as: &'static [&'static str],
) -> Rung {
    let description = Description::new(name, about, Place::Cuda, kernel.source)
        .ladder()
        .adjustable(OPEN)
        .known_as(known_as);
    Rung { description, kernel, storage: Storage::Csr, work: Work::Element { threads: 1 }, lanes: None }
}

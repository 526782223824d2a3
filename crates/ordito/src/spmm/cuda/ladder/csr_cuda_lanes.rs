//! CSR_Vector_Sub_warp: 2, 4, 8, 16 or 32 lanes per element of Y share out the row's nonzeros and add up in shared
//! memory. Touches A's row in runs of that length, once for each of its K elements, and an element of X per product.
//! Loses on rows shorter than the lanes (they idle) and on rows much longer (they walk on while their warp waits).

use crate::op::{Description, Place};
use crate::spmm::cuda::ladder::rung::{KernelFile, OPEN, Rung, Storage, Work, kernel_file};

const KERNEL: KernelFile = kernel_file!("csr_lanes", "csr_cuda_lanes.cu");

macro_rules! lanes {
    ($lanes:literal $(, $known_as:literal)*) => {
        Rung {
            description: Description::new(
                concat!("csr-cuda-lanes", $lanes, "-per-element"),
                concat!(
                    "CSR, ",
                    $lanes,
                    " lanes per element of Y, reduction in shared memory (CSR_Vector_Sub_warp)"
                ),
                Place::Cuda,
                KERNEL.source,
            )
            .ladder()
            .adjustable(OPEN)
            .params(&[("lanes", $lanes)])
            .known_as(&[$($known_as),*]),
            kernel: KERNEL,
            storage: Storage::Csr,
            work: Work::Element { threads: $lanes },
            lanes: Some($lanes),
        }
    };
}

/// CSR_Vector_Sub_warp, as it was.
pub(crate) const LANES_2: Rung = lanes!(2, "CSR_Vector_Sub_warp");
/// With 4 lanes.
pub(crate) const LANES_4: Rung = lanes!(4);
/// With 8 lanes.
pub(crate) const LANES_8: Rung = lanes!(8);
/// With 16 lanes.
pub(crate) const LANES_16: Rung = lanes!(16);
/// With 32 lanes.
pub(crate) const LANES_32: Rung = lanes!(32);

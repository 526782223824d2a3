//! ELLPACK_kernel and ELLPACK_Sub_warp: one thread, or two lanes that add up in shared memory, per element of Y, on padded
//! and on ragged storage. Touch one element of X per place; the padded ones multiply the padding too, as on the CPU.
//! NaN and infinities of X's first row so reach every row that is shorter than the longest: `auto` never takes a padded one.
//! Lose on skewed matrices: padded ones by the padding, ragged ones by the warps that wait for their longest row.

use crate::op::{Description, Place};
use crate::spmm::cuda::ladder::rung::{KernelFile, OPEN, Rung, Storage, Work, kernel_file};

/// Lanes of an element where there are several.
const LANES: u32 = 2;

/// ELLPACK_kernel, padded.
pub(crate) const PADDED_THREAD: Rung = rung(
    "ell-padded-cuda-thread-per-element",
    "padded ELLPACK, one thread per element of Y (ELLPACK_kernel); padding spreads NaN of X's first row",
    kernel_file!("ell_padded_thread", "ell_padded_cuda_thread.cu"),
    Storage::EllPadded,
    None,
);

/// ELLPACK_kernel, ragged.
pub(crate) const RAGGED_THREAD: Rung = rung(
    "ell-ragged-cuda-thread-per-element",
    "ragged ELLPACK, one thread per element of Y (ELLPACK_kernel)",
    kernel_file!("ell_ragged_thread", "ell_ragged_cuda_thread.cu"),
    Storage::EllRagged,
    None,
);

/// ELLPACK_Sub_warp, padded.
pub(crate) const PADDED_LANES: Rung = rung(
    "ell-padded-cuda-lanes2-per-element",
    "padded ELLPACK, 2 lanes per element of Y, reduction in shared memory (ELLPACK_Sub_warp); padding spreads NaN of X's first row",
    kernel_file!("ell_padded_lanes", "ell_padded_cuda_lanes.cu"),
    Storage::EllPadded,
    Some(LANES),
);

/// ELLPACK_Sub_warp, ragged.
pub(crate) const RAGGED_LANES: Rung = rung(
    "ell-ragged-cuda-lanes2-per-element",
    "ragged ELLPACK, 2 lanes per element of Y, reduction in shared memory (ELLPACK_Sub_warp)",
    kernel_file!("ell_ragged_lanes", "ell_ragged_cuda_lanes.cu"),
    Storage::EllRagged,
    Some(LANES),
);

const fn rung(
    name: &'static str,
    about: &'static str,
    kernel: KernelFile,
    storage: Storage,
    lanes: Option<u32>,
) -> Rung {
    let description = Description::new(name, about, Place::Cuda, kernel.source);
    let description = description.ladder().adjustable(OPEN).converted();
    let description = match storage {
        Storage::EllPadded => description.never_chosen(), // NaN in X's first row would reach rows that do not have it
        _ => description,
    };
    let (description, threads) = match lanes {
        Some(lanes) => (description.params(&[("lanes", LANES)]), lanes),
        None => (description, 1),
    };
    // Without padding, as the study had it in the end: with it, its own matrices did not fit.
    let description = match (storage, lanes) {
        (Storage::EllRagged, Some(_)) => description.known_as(&["ellpack_sw", "ELLPACK_Sub_warp"]),
        (Storage::EllRagged, None) => description.known_as(&["ellpack", "ELLPACK_kernel"]),
        _ => description,
    };
    Rung { description, kernel, storage, work: Work::Element { threads }, lanes }
}

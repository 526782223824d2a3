//! What the parts of a product cost on a device, in nanoseconds: fitted, not written.
//!
//! `cargo bench --bench spmm_choices -- --fit FOLDER` made the table of the times in `measurements/2026-11-17-h200/spmm-choices`, of 239
//! generated matrices (of `drawn:1` to `drawn:240`; one is too large for its K), both precisions, 15 numbers of columns, with a warm and with an empty cache. No
//! real matrix had a part in it: those judge.
//!
//! Bytes, steps and warps count for each multiprocessor, so that a device with more of them is that much faster. For what each
//! column is, see [`Work::terms`](crate::spmm::cuda::fast::work::Work::terms).

use crate::op::Description;
use crate::spmm::cuda::fast::work::Terms;
use crate::spmm::cuda::fast::{csr_cuda_rows, csr_cuda_shares, csr_cuda_windows, sell_cuda_slices};

/// The prices of one kernel.
pub(super) struct Cost {
    /// Whose they are, for readers and for a test.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(super) of: &'static Description,
    pub(super) ns: Terms,
}

/// In the order of the candidates.
#[rustfmt::skip]
pub(super) const COSTS: [Cost; 8] = [
    // launch, streamed, far, read, steps, wide_steps, warps, wide_warps, second, unfilled, chain
    Cost { of: &csr_cuda_rows::ROWS_8.description,            ns: [2529.7183, 0.0097, 0.0127, 0.0000, 5.5811, 0.0000, 12.2267, 13.6258, 3996.3345, 69.2072, 272.0640] },
    Cost { of: &csr_cuda_rows::ROWS_8_SHUFFLED.description,   ns: [2421.5679, 0.0227, 0.0123, 0.0000, 4.6546, 0.0000, 11.9454, 13.1745, 3217.1538, 12.2826, 263.2662] },
    Cost { of: &csr_cuda_rows::ROWS_32.description,           ns: [2485.2547, 0.0130, 0.0131, 0.0000, 4.1588, 1.1359, 11.8362, 9.8257, 3239.5408, 164.8565, 205.0420] },
    Cost { of: &csr_cuda_rows::ROWS_32_SHUFFLED.description,  ns: [2376.6421, 0.0157, 0.0118, 0.0000, 3.8251, 1.2109, 13.8738, 15.4687, 3045.7229, 93.2622, 134.5415] },
    Cost { of: &sell_cuda_slices::SLICES.description,         ns: [2599.7827, 0.0257, 0.0080, 0.0000, 8.0245, 0.0000, 0.0000, 14.9324, 0.0000, 48.6815, 315.5261] },
    Cost { of: &sell_cuda_slices::SORTED.description,         ns: [2816.0544, 0.0447, 0.0057, 0.0000, 0.0000, 4.9954, 13.2442, 3.6656, 4119.1286, 128.1647, 149.4138] },
    Cost { of: &csr_cuda_shares::SHARES.description,          ns: [3315.3565, 0.0099, 0.0004, 0.0074, 8.3086, 8.4757, 0.0000, 0.0000, 0.0000, 37.7423, 54.2358] },
    Cost { of: &csr_cuda_windows::WINDOWS.description,        ns: [2902.6764, 0.0060, 0.0117, 0.0017, 12.3066, 9.9107, 39.3637, 20.1341, 0.0000, 174.2219, 248.3524] },
];

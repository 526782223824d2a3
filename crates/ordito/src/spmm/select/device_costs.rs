//! What the parts of a product cost on a device, in nanoseconds: fitted, not written.
//!
//! `cargo bench --bench spmm_choices -- --fit FOLDER` made the table of the times in `measurements/2026-11-17-h200/spmm-choices`, of
//! `drawn:1` to `drawn:240`, both precisions, 15 numbers of columns, with a warm and with an empty cache. No real matrix had a part in
//! it: those judge.
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
    // launch, streamed, streamed_far, written, fetched, fetched_far, looked_up, steps, asking, warps, wide_warps, second, unfilled, chain
    Cost { of: &csr_cuda_rows::ROWS_8.description,            ns: [2579.1014, 0.0002, 0.0265, 0.0000, 0.0050, 0.0055, 0.1713, 1.7450, 2.6477, 24.0350, 0.1196, 2385.1847, 48.2334, 330.3528] },
    Cost { of: &csr_cuda_rows::ROWS_8_SHUFFLED.description,   ns: [2200.0296, 0.0309, 0.0223, 0.0000, 0.0022, 0.0083, 0.3740, 0.5704, 0.2670, 16.2895, 4.0685, 1839.9229, 53.1600, 252.6444] },
    Cost { of: &csr_cuda_rows::ROWS_32.description,           ns: [2533.7862, 0.0000, 0.0236, 0.0000, 0.0035, 0.0101, 0.0526, 2.1709, 2.8135, 15.2362, 8.0894, 2317.0458, 146.6751, 298.8827] },
    Cost { of: &csr_cuda_rows::ROWS_32_SHUFFLED.description,  ns: [2015.4861, 0.0193, 0.0142, 0.0000, 0.0021, 0.0118, 0.1646, 1.4387, 0.8866, 19.0875, 12.7931, 3240.6556, 100.6837, 199.5140] },
    Cost { of: &sell_cuda_slices::SLICES.description,         ns: [2618.1178, 0.0007, 0.0251, 0.0001, 0.0001, 0.0042, 0.0497, 8.0390, 2.4088, 4.7582, 15.4338, 0.0000, 30.5688, 406.0697] },
    Cost { of: &sell_cuda_slices::SORTED.description,         ns: [3247.0657, 0.0019, 0.0271, 0.0000, 0.0027, 0.0023, 0.3467, 3.3853, 1.6002, 45.8685, 6.2692, 3105.5855, 75.0134, 203.2424] },
    Cost { of: &csr_cuda_shares::SHARES.description,          ns: [2562.7229, 0.0026, 0.0038, 0.0000, 0.0016, 0.0011, 0.3835, 16.3404, 2.0541, 4.1788, 9.2750, 1034.0188, 155.4756, 9.9213] },
    Cost { of: &csr_cuda_windows::WINDOWS.description,        ns: [2914.9653, 0.0000, 0.0171, 0.0106, 0.0113, 0.0000, 0.8887, 9.7232, 2.9785, 39.3979, 5.5369, 972.3551, 119.0258, 227.9348] },
];

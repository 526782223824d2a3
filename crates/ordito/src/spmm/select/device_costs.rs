//! What the parts of a product cost on a device, in nanoseconds: fitted, not written.
//!
//! `cargo bench --bench spmm_choices -- --fit FOLDERS --newer FOLDERS` made the table, and that of `device_trees`, of the times in
//! `measurements/2026-11-17-h200/spmm-choices` and `2026-11-18-h200/spmm-choices`, and newer ones of kernels that changed in
//! `2026-11-19-h200/spmm-choices`: of 892 matrices `drawn:…`, `small:…` and `sketched:…`,
//! both precisions, 15 numbers of columns, with a warm and with an empty cache. No time of a real matrix had a part in it: those
//! judge. Which statistics there are was decided with the worst of them in view.
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
    Cost { of: &csr_cuda_rows::ROWS_8.description,            ns: [2624.4062, 0.0001, 0.0317, 0.0000, 0.0006, 0.0079, 0.3296, 3.0368, 2.3316, 21.3111, 0.2719, 1118.4098, 57.8687, 337.7781] },
    Cost { of: &csr_cuda_rows::ROWS_8_SHUFFLED.description,   ns: [2221.3034, 0.0159, 0.0299, 0.0000, 0.0009, 0.0084, 0.4970, 2.7893, 0.0100, 17.5171, 4.9515, 1510.7676, 109.6444, 221.7067] },
    Cost { of: &csr_cuda_rows::ROWS_32.description,           ns: [2593.5062, 0.0000, 0.0192, 0.0000, 0.0029, 0.0108, 0.0968, 3.6364, 2.6128, 13.2315, 8.9844, 1597.4756, 189.9611, 222.4843] },
    Cost { of: &csr_cuda_rows::ROWS_32_SHUFFLED.description,  ns: [2283.5973, 0.0104, 0.0160, 0.0000, 0.0052, 0.0092, 0.2438, 1.4161, 0.4270, 17.5003, 14.9287, 1350.6472, 20.9615, 81.3174] },
    Cost { of: &sell_cuda_slices::SLICES.description,         ns: [2718.5821, 0.0013, 0.0298, 0.0000, 0.0001, 0.0040, 0.1164, 7.4829, 2.3292, 0.3868, 15.8640, 0.0000, 25.9811, 382.9551] },
    Cost { of: &sell_cuda_slices::SORTED.description,         ns: [3389.8630, 0.0071, 0.0343, 0.0000, 0.0036, 0.0016, 0.3088, 3.9681, 1.4017, 34.4546, 3.2248, 3193.0383, 61.7597, 177.6406] },
    Cost { of: &csr_cuda_shares::SHARES.description,          ns: [3008.1528, 0.0062, 0.0049, 0.0000, 0.0014, 0.0039, 0.5179, 7.6119, 2.9538, 4.0242, 58.1733, 1097.9949, 86.7169, 5.6859] },
    Cost { of: &csr_cuda_windows::WINDOWS.description,        ns: [3027.2927, 0.0000, 0.0163, 0.0111, 0.0097, 0.0025, 0.7468, 9.8966, 3.7395, 37.7815, 5.7975, 1688.4002, 149.2035, 208.2174] },
];

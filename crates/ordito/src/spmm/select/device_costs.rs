//! What the parts of a product cost on a device, in nanoseconds: fitted, not written.
//!
//! `cargo bench --bench spmm_choices -- --fit FOLDERS --newer FOLDERS` made the table, and that of `device_trees`, of the times in
//! `measurements/2026-11-17-h200/spmm-choices` and `2026-11-18-h200/spmm-choices`, and newer ones of kernels that changed in
//! `2026-11-19-h200/spmm-choices` and `…/diagonals`: of 892 matrices `drawn:…`, `small:…` and `sketched:…`,
//! both precisions, 15 numbers of columns, with a warm and with an empty cache. No time of a real matrix had a part in it: those
//! judge. Which statistics there are was decided with the worst of them in view.
//!
//! Bytes, steps and warps count for each multiprocessor, so that a device with more of them is that much faster. For what each
//! column is, see [`Work::terms`](crate::spmm::cuda::fast::work::Work::terms).

use crate::op::Description;
use crate::spmm::cuda::fast::work::Terms;
use crate::spmm::cuda::fast::{
    csr_cuda_rows, csr_cuda_shares, csr_cuda_windows, diagonals_cuda_slices, sell_cuda_slices,
};

/// The prices of one kernel.
pub(super) struct Cost {
    /// Whose they are, for readers and for a test.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(super) of: &'static Description,
    pub(super) ns: Terms,
}

/// In the order of the candidates.
#[rustfmt::skip]
pub(super) const COSTS: [Cost; 9] = [
    // launch, streamed, streamed_far, written, fetched, fetched_far, looked_up, steps, asking, warps, wide_warps, second, unfilled, chain
    Cost { of: &csr_cuda_rows::ROWS_8.description,            ns: [2630.9214, 0.0001, 0.0327, 0.0000, 0.0005, 0.0084, 0.3514, 3.0766, 2.2564, 20.6516, 0.5555, 1120.1418, 57.5352, 334.3419] },
    Cost { of: &csr_cuda_rows::ROWS_8_SHUFFLED.description,   ns: [2210.6305, 0.0157, 0.0296, 0.0000, 0.0011, 0.0084, 0.4979, 2.7221, 0.0105, 17.1754, 5.3638, 1508.7456, 110.6386, 223.6723] },
    Cost { of: &csr_cuda_rows::ROWS_32.description,           ns: [2592.8780, 0.0000, 0.0194, 0.0000, 0.0029, 0.0110, 0.1042, 3.6559, 2.5705, 13.2118, 8.9311, 1601.1915, 190.9511, 221.2139] },
    Cost { of: &csr_cuda_rows::ROWS_32_SHUFFLED.description,  ns: [2279.5835, 0.0099, 0.0164, 0.0000, 0.0053, 0.0091, 0.2477, 1.3617, 0.4260, 17.5973, 14.8797, 1352.3784, 21.7626, 82.5673] },
    Cost { of: &sell_cuda_slices::SLICES.description,         ns: [2730.4176, 0.0131, 0.0341, 0.0000, 0.0002, 0.0041, 0.0693, 6.8806, 2.7244, 0.3333, 10.8426, 0.0000, 25.0304, 383.2683] },
    Cost { of: &sell_cuda_slices::SORTED.description,         ns: [3382.5148, 0.0058, 0.0332, 0.0000, 0.0037, 0.0016, 0.3141, 3.9417, 1.3183, 34.6614, 3.8658, 3191.6800, 62.3015, 178.0611] },
    Cost { of: &csr_cuda_shares::SHARES.description,          ns: [2989.3207, 0.0068, 0.0046, 0.0000, 0.0018, 0.0038, 0.5257, 6.3133, 2.9034, 3.5824, 67.9720, 1104.4493, 88.6487, 5.6819] },
    Cost { of: &csr_cuda_windows::WINDOWS.description,        ns: [3028.8974, 0.0000, 0.0183, 0.0093, 0.0099, 0.0018, 0.7605, 9.4183, 3.9967, 34.0168, 10.7159, 1674.1799, 148.0324, 208.9654] },
    Cost { of: &diagonals_cuda_slices::SLICES.description,    ns: [2435.0941, 0.0069, 0.0127, 0.0308, 0.0021, 0.0000, 0.5359, 2.4896, 0.0088, 1.6451, 0.0352, 0.0000, 287.8759, 213.2896] },
];

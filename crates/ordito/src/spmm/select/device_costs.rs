//! What the parts of a product cost on a device, in nanoseconds: fitted, not written.
//!
//! `cargo bench --bench spmm_choices -- --fit FOLDERS` made the table, and that of `device_trees`, of the times in
//! `measurements/2026-11-17-h200/spmm-choices` and `2026-11-18-h200/spmm-choices`: of 892 matrices `drawn:…`, `small:…` and `sketched:…`,
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
    Cost { of: &csr_cuda_rows::ROWS_8.description,            ns: [2585.4792, 0.0002, 0.0268, 0.0000, 0.0030, 0.0081, 0.2695, 1.8529, 2.6929, 22.1391, 0.0698, 1790.0182, 24.2862, 346.2907] },
    Cost { of: &csr_cuda_rows::ROWS_8_SHUFFLED.description,   ns: [2325.3218, 0.0240, 0.0274, 0.0000, 0.0012, 0.0097, 0.4405, 0.9666, 0.1497, 15.8492, 3.5624, 1757.9115, 36.3825, 245.9899] },
    Cost { of: &csr_cuda_rows::ROWS_32.description,           ns: [2584.1525, 0.0000, 0.0252, 0.0000, 0.0026, 0.0110, 0.1020, 2.8703, 2.6312, 14.1926, 7.3657, 2078.9870, 102.5584, 295.4047] },
    Cost { of: &csr_cuda_rows::ROWS_32_SHUFFLED.description,  ns: [2105.5557, 0.0221, 0.0128, 0.0000, 0.0008, 0.0128, 0.2014, 1.7330, 0.8442, 17.5441, 12.4517, 3280.7106, 61.8179, 181.5999] },
    Cost { of: &sell_cuda_slices::SLICES.description,         ns: [2696.1599, 0.0010, 0.0288, 0.0000, 0.0001, 0.0044, 0.1039, 7.5605, 2.3067, 0.3789, 16.2238, 0.0000, 25.6836, 385.3502] },
    Cost { of: &sell_cuda_slices::SORTED.description,         ns: [3379.3079, 0.0039, 0.0316, 0.0000, 0.0016, 0.0026, 0.3143, 4.3038, 1.2716, 44.7379, 2.0346, 3165.2109, 65.6439, 178.0897] },
    Cost { of: &csr_cuda_shares::SHARES.description,          ns: [2748.5497, 0.0050, 0.0048, 0.0000, 0.0002, 0.0034, 0.5436, 9.7719, 2.8868, 4.2026, 47.9545, 860.0322, 119.4115, 5.6392] },
    Cost { of: &csr_cuda_windows::WINDOWS.description,        ns: [3021.2257, 0.0000, 0.0172, 0.0090, 0.0096, 0.0019, 0.9823, 8.5364, 3.5229, 35.8195, 7.8589, 1890.3459, 136.3162, 205.4750] },
];

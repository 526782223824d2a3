//! What the parts of a product cost on a device, in nanoseconds: fitted, not written.
//!
//! `cargo bench --bench spmm_choices -- --fit FOLDER` made the table of the times in `measurements/2026-11-17-h200/spmm-choices`, of
//! `drawn:1` to `drawn:240`, both precisions, 15 numbers of columns, with a warm and with an empty cache. No time of a real
//! matrix had a part in it: those judge. Which statistics there are was decided with the worst of them in view.
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
    Cost { of: &csr_cuda_rows::ROWS_8.description,            ns: [2578.5547, 0.0002, 0.0264, 0.0000, 0.0051, 0.0055, 0.1705, 1.7487, 2.6473, 24.0508, 0.1205, 2392.0575, 48.4303, 329.8975] },
    Cost { of: &csr_cuda_rows::ROWS_8_SHUFFLED.description,   ns: [2200.0398, 0.0310, 0.0222, 0.0000, 0.0021, 0.0083, 0.3733, 0.6011, 0.2866, 16.2814, 4.0178, 1839.9501, 53.3536, 252.0818] },
    Cost { of: &csr_cuda_rows::ROWS_32.description,           ns: [2534.0419, 0.0000, 0.0236, 0.0000, 0.0033, 0.0101, 0.0536, 2.2135, 2.8047, 15.1973, 8.1019, 2323.0052, 146.9080, 298.0343] },
    Cost { of: &csr_cuda_rows::ROWS_32_SHUFFLED.description,  ns: [2016.5703, 0.0197, 0.0140, 0.0000, 0.0020, 0.0118, 0.1631, 1.4695, 0.9014, 19.0735, 12.7396, 3261.4171, 100.8157, 198.1588] },
    Cost { of: &sell_cuda_slices::SLICES.description,         ns: [2617.5705, 0.0007, 0.0250, 0.0001, 0.0001, 0.0042, 0.0498, 8.0356, 2.4079, 4.7910, 15.4480, 0.0000, 30.6043, 405.9854] },
    Cost { of: &sell_cuda_slices::SORTED.description,         ns: [3247.7680, 0.0021, 0.0270, 0.0000, 0.0026, 0.0024, 0.3481, 3.3409, 1.5955, 45.8912, 6.2327, 3104.4020, 75.6326, 201.1132] },
    Cost { of: &csr_cuda_shares::SHARES.description,          ns: [2562.7322, 0.0027, 0.0037, 0.0000, 0.0016, 0.0011, 0.3822, 16.3533, 2.0640, 4.1487, 8.9484, 1031.3932, 155.4744, 9.9213] },
    Cost { of: &csr_cuda_windows::WINDOWS.description,        ns: [2888.4225, 0.0000, 0.0154, 0.0058, 0.0114, 0.0000, 0.9598, 9.1601, 2.1179, 39.4681, 11.8871, 1663.4140, 156.7136, 205.7298] },
];

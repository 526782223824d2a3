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
    // launch, streamed, far, read, steps, wide_steps, warps, wide_warps, second, unfilled, chain
    Cost { of: &csr_cuda_rows::ROWS_8.description,            ns: [2507.5147, 0.0121, 0.0124, 0.0000, 4.5735, 0.2047, 12.1635, 13.8260, 4210.4047, 70.9539, 299.5975] },
    Cost { of: &csr_cuda_rows::ROWS_8_SHUFFLED.description,   ns: [2376.4900, 0.0300, 0.0113, 0.0000, 2.1157, 1.3485, 14.2606, 10.1498, 3709.2444, 52.0353, 247.4097] },
    Cost { of: &csr_cuda_rows::ROWS_32.description,           ns: [2463.8216, 0.0126, 0.0129, 0.0000, 3.1734, 1.4541, 12.6682, 9.9570, 3739.3951, 225.3308, 242.1210] },
    Cost { of: &csr_cuda_rows::ROWS_32_SHUFFLED.description,  ns: [2358.9191, 0.0184, 0.0111, 0.0000, 2.5775, 1.8929, 15.2771, 15.0081, 3290.1483, 165.8592, 124.7828] },
    Cost { of: &sell_cuda_slices::SLICES.description,         ns: [2584.9756, 0.0275, 0.0080, 0.0000, 8.3314, 0.0000, 0.0000, 13.9227, 0.0000, 53.6675, 311.4631] },
    Cost { of: &sell_cuda_slices::SORTED.description,         ns: [2846.7239, 0.0453, 0.0056, 0.0000, 0.0000, 4.9871, 7.7772, 6.6511, 4169.1776, 132.0797, 130.1557] },
    Cost { of: &csr_cuda_shares::SHARES.description,          ns: [3318.0004, 0.0093, 0.0007, 0.0080, 8.3820, 8.3800, 0.0000, 0.0000, 0.0000, 37.7383, 68.3980] },
    Cost { of: &csr_cuda_windows::WINDOWS.description,        ns: [2905.7807, 0.0070, 0.0116, 0.0029, 13.0145, 8.4484, 39.2125, 20.2028, 0.0000, 176.5179, 248.9970] },
];

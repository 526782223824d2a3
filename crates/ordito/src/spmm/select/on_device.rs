//! What `auto` takes, as data: from the lengths of the rows, K and the machine, without running anything.

use crate::Scalar;
use crate::device::DeviceLimits;
use crate::machine::Machine;
use crate::op::{Choice, Description};
use crate::spmm::analysis::shape::Shape;
use crate::spmm::cuda::fast::{csr_cuda_rows, csr_cuda_shares, csr_cuda_windows, sell_cuda_slices};
use crate::spmm::product::Subject;

/// On the machine's device; on an H200, where it cannot be had.
pub(super) fn on_device<S: Scalar>(machine: &Machine, subject: &Subject<S>) -> Choice {
    let limits = machine.device().map_or_else(|_| DeviceLimits::h200(), |device| device.limits().clone());
    by_shape(&limits, Shape::of(&subject.a), subject.k, size_of::<S>())
}

// Fitted to the yardstick (`bench spmm --suite gpu`) on an H200 (measurements/2026-11-16-h200/spmm-suite): within 10 % of the
// best kernel in 142 of its 144 cases with the cache emptied, in 136 with a warm one.

/// Longest rows of so many mean ones, and long in themselves: warps would wait for them.
const SKEWED: f64 = 16.0;
const LONG_ROW: usize = 256;
/// Bytes of a load of a lane; a row of X takes so many loads.
const LOAD: usize = 16;
/// Nonzeros that share a column of X within 8 rows: with so many, windows read it once for all of them; with fewer, that pays
/// in f64 for many columns.
const WINDOW_REUSE: f64 = 6.0;
const WINDOW_REUSE_F64: f64 = 4.0;
const LOADS_FOR_WINDOWS_F64: usize = 32;
/// Loads per row of X from which windows pay.
const LOADS_FOR_WINDOWS: usize = 4;
/// Where lengths differ: loads up to which equal shares of nonzeros pay, in small matrices and where a few rows have most of it:
/// there the longest rows end last. One row of 10⁷ nonzeros, f64: 69 µs instead of 151 sorted at K = 1, 220 instead of 257 at K = 4.
const LOADS_FOR_SHARES: usize = 4;
const SMALL: usize = 1_500_000;
const LARGE: usize = 8_000_000;
/// Loads up to which handing nonzeros round pays.
const MOST_LOADS_TO_HAND_ROUND: usize = 16;
/// In small matrices in f64, loads up to which reading nonzeros again is better than handing them round.
const MOST_LOADS_TO_READ_AGAIN: usize = 8;
/// The longest row has such a part of all nonzeros: with more loads windows, since there is much to share, however little
/// neighbours do elsewhere.
const A_FEW_ROWS: usize = 16;
/// In f64, loads for which rows that are gathered into windows pay, if they share so much.
const GATHERED_LOADS: std::ops::RangeInclusive<usize> = 8..=32;
const GATHERED_REUSE: f64 = 3.0;
/// Rows that fill the device by themselves, and entries of slices for every nonzero up to which padding does not matter.
const MANY_ROWS: usize = 1 << 16;
const PADDED: f64 = 1.25;

/// By the lengths of rows, what they share, and how many loads a row of X takes.
fn by_shape(limits: &DeviceLimits, shape: Shape, k: usize, scalar_bytes: usize) -> Choice {
    let Shape { rows, nonzeros, mean, longest, padded, reuse, gathered } = shape;
    let about = format!("rows of {mean:.1} nonzeros on average and {longest} at most, {k} columns");
    let choice = |variant: &Description, why: &str| Choice::new(variant, format!("{about}: {why}"));
    let (loads, is_f64) = (k.saturating_mul(scalar_bytes).div_ceil(LOAD), scalar_bytes == 8);
    let skewed = longest >= LONG_ROW && longest as f64 > SKEWED * mean.max(1.0);
    let (small, large) = (nonzeros < SMALL, nonzeros >= LARGE);
    if skewed && longest >= nonzeros / A_FEW_ROWS && loads > LOADS_FOR_SHARES {
        return choice(
            &csr_cuda_windows::WINDOWS.description,
            "a few rows have most of it: what they share is read once",
        );
    }
    let (least_reuse, least_loads) = match is_f64 {
        _ if skewed => (f64::INFINITY, usize::MAX),
        true if loads >= LOADS_FOR_WINDOWS_F64 => (WINDOW_REUSE_F64, LOADS_FOR_WINDOWS_F64),
        _ => (WINDOW_REUSE, LOADS_FOR_WINDOWS),
    };
    if reuse >= least_reuse && loads >= least_loads {
        return choice(
            &csr_cuda_windows::WINDOWS.description,
            &format!("a column serves {reuse:.1} of 8 neighbouring rows, so it is read once for all of them"),
        );
    }
    if skewed {
        return match loads {
            ..=LOADS_FOR_SHARES if small || longest >= nonzeros / A_FEW_ROWS => choice(
                &csr_cuda_shares::SHARES.description,
                "lengths differ much: equal shares of nonzeros, whatever the rows",
            ),
            _ if large || (!small && loads <= MOST_LOADS_TO_HAND_ROUND) => choice(
                &sell_cuda_slices::SORTED.description,
                "lengths differ much: slices of rows that are equally long",
            ),
            ..=MOST_LOADS_TO_HAND_ROUND => choice(
                &csr_cuda_rows::ROWS_8_SHUFFLED.description,
                "lengths differ much: rows in order, nonzeros handed round",
            ),
            _ => choice(
                &csr_cuda_rows::ROWS_8.description,
                "lengths differ much: rows in their order, long ones in parts",
            ),
        };
    }
    if rows >= MANY_ROWS && is_f64 && GATHERED_LOADS.contains(&loads) && gathered >= GATHERED_REUSE {
        return choice(
            &csr_cuda_windows::WINDOWS.description,
            &format!("a column serves {gathered:.1} of 8 rows that were gathered for it"),
        );
    }
    if rows >= MANY_ROWS && padded <= PADDED {
        return choice(
            &sell_cuda_slices::SLICES.description,
            "neighbours are about as long: slices, lanes side by side for the columns",
        );
    }
    let threads = limits.multiprocessors as usize * limits.threads_per_multiprocessor as usize;
    let eight_lanes_fill = rows.saturating_mul(8) >= threads / 2;
    match (eight_lanes_fill, loads) {
        (true, 0..LOADS_FOR_WINDOWS) => choice(&csr_cuda_rows::ROWS_8.description, "8 lanes share out a row"),
        (true, _) if rows >= MANY_ROWS => choice(
            &csr_cuda_rows::ROWS_8_SHUFFLED.description,
            "8 lanes share out a row and hand its nonzeros round",
        ),
        (_, ..=1) => choice(
            &csr_cuda_shares::SHARES.description,
            "few rows and columns: equal shares of nonzeros fill the device",
        ),
        _ if is_f64 && loads <= MOST_LOADS_TO_READ_AGAIN => {
            choice(&csr_cuda_rows::ROWS_32.description, "few rows: a warp shares out each")
        }
        _ => choice(
            &csr_cuda_rows::ROWS_32_SHUFFLED.description,
            "few rows: a warp shares out each and hands its nonzeros round",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Op;
    use crate::spmm::product::Spmm;

    fn chosen(shape: Shape, k: usize, scalar_bytes: usize) -> &'static str {
        by_shape(&DeviceLimits::h200(), shape, k, scalar_bytes).variant
    }

    #[test]
    fn the_choice_on_a_device_follows_rows_and_columns() {
        let shape = |rows, nonzeros, longest, padded, reuse| Shape {
            rows,
            nonzeros,
            mean: nonzeros as f64 / rows as f64,
            longest,
            padded,
            reuse,
            gathered: reuse,
        };
        let stencil27 = shape(1_000_000, 26_463_592, 27, 1.0, 2.4);
        assert!([1, 8, 128].iter().all(|&k| chosen(stencil27, k, 8) == "sell-cuda-slices"));
        let gathered = Shape { gathered: 3.2, ..stencil27 };
        assert_eq!([16, 64].map(|k| chosen(gathered, k, 8)), ["csr-cuda-windows"; 2]);
        assert_eq!([8, 128].map(|k| chosen(gathered, k, 8)), ["sell-cuda-slices"; 2]);
        let band = shape(20_000, 1_000_000, 50, 1.0, 7.0);
        assert_eq!([1, 4, 8].map(|k| chosen(band, k, 4)), ["csr-cuda-rows8"; 3]);
        assert_eq!(chosen(band, 16, 4), "csr-cuda-windows");
        let web = shape(325_557, 3_216_152, 2716, 2.0, 3.2);
        assert_eq!(
            [1, 8, 16, 128].map(|k| chosen(web, k, 4)),
            ["sell-cuda-sorted", "sell-cuda-sorted", "sell-cuda-sorted", "csr-cuda-rows8"]
        );
        let social = shape(75_888, 508_837, 1801, 4.0, 1.3);
        assert_eq!(
            [16, 64, 128].map(|k| chosen(social, k, 4)),
            ["csr-cuda-shares", "csr-cuda-rows8-shuffled", "csr-cuda-rows8"]
        );
        let powerlaw = shape(1_000_000, 15_164_791, 50_000, 4.0, 1.1);
        assert_eq!([1, 2, 128].map(|k| chosen(powerlaw, k, 4)), ["sell-cuda-sorted"; 3]);
        let few_rows = shape(93_279, 652_246, 93_261, 8.0, 1.0);
        assert_eq!([16, 32].map(|k| chosen(few_rows, k, 4)), ["csr-cuda-shares", "csr-cuda-windows"]);
        let small = shape(10_974, 428_650, 150, 1.2, 4.4);
        assert_eq!(
            [1, 8, 32].map(|k| chosen(small, k, 4)),
            ["csr-cuda-shares", "csr-cuda-rows32-shuffled", "csr-cuda-rows32-shuffled"]
        );
        assert_eq!([8, 32].map(|k| chosen(small, k, 8)), ["csr-cuda-rows32", "csr-cuda-rows32-shuffled"]);
    }

    #[test]
    fn every_choice_is_a_variant_with_a_reason() {
        for rows in [0, 1, 1000, 100_000_000] {
            for (nonzeros, longest) in [(0, 0), (rows, 1), (30 * rows, 2000), (5 * rows, 5 * rows)] {
                for (k, reuse) in [(0, 1.0), (1, 8.0), (3, 1.0), (64, 8.0), (usize::MAX, 1.0)] {
                    let mean = nonzeros as f64 / rows.max(1) as f64;
                    let shape = Shape { rows, nonzeros, mean, longest, padded: 1.5, reuse, gathered: reuse };
                    let choice = by_shape(&DeviceLimits::h200(), shape, k, 4);
                    assert!(Spmm::<f32>::variant(choice.variant).is_some(), "{}", choice.variant);
                    assert!(choice.reason.contains("columns: "));
                }
            }
        }
    }
}

//! What `auto` takes, as data: from the lengths of the rows, K and the machine, without running anything.

use super::Subject;
use super::csr_threads_nnz::SERIAL_BELOW;
use crate::Scalar;
use crate::machine::{Accelerator, DeviceLimits, Machine};
use crate::ops::Choice;

/// On a device where the machine has one, otherwise on the CPU.
pub(super) fn choose<S: Scalar>(machine: &Machine, subject: &Subject<S>) -> Choice {
    match machine.accelerator() {
        Accelerator::None => on_cpu(machine, subject),
        Accelerator::Cuda(_) | Accelerator::Emulator => {
            let a = &subject.a;
            let limits =
                machine.device().map_or_else(|_| DeviceLimits::h200(), |device| device.limits().clone());
            on_device(&limits, Rows::new(a.rows(), a.nonzeros(), a.longest_row()), subject.k)
        }
    }
}

/// With the variants there are, the one that shares out nonzeros and vectorises over K has no rival at any K; what
/// differs is whether its threads are worth waking.
fn on_cpu<S: Scalar>(machine: &Machine, subject: &Subject<S>) -> Choice {
    let (threads, steps) = (machine.threads(), subject.a.nonzeros().saturating_mul(subject.k));
    let reason = if threads == 1 {
        "one thread: vector instructions across K, no conversion".into()
    } else if steps < SERIAL_BELOW {
        format!("{steps} multiply-adds are too few to wake a second thread: runs on the calling one")
    } else {
        let longest = subject.a.longest_row();
        let mean = subject.a.nonzeros() as f64 / subject.a.rows().max(1) as f64;
        format!(
            "{threads} threads, rows of {mean:.1} nonzeros on average and {longest} at most: equal nonzeros per thread"
        )
    };
    Choice { variant: "csr-threads-nnz", reason }
}

/// How many rows, and how long they are.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rows {
    count: usize,
    mean: f64,
    longest: usize,
}

impl Rows {
    fn new(count: usize, nonzeros: usize, longest: usize) -> Self {
        Rows { count, mean: nonzeros as f64 / count.max(1) as f64, longest }
    }
    /// Times the mean row that the longest one has.
    fn skew(self) -> f64 {
        self.longest as f64 / self.mean.max(1.0)
    }
}

// Measured on an H200, eight matrices, K = 1 to 64, f64 (measurements/2026-11-15-h200/sweep.csv): the choice is within 10 %
// of the best rung in 32 of 48 cases, 1.07 times as slow in the geometric mean, 1.38 times at worst.

/// Longest rows of so many mean ones, and long in themselves: warps wait for them.
const SKEWED: f64 = 16.0;
const LONG_ROW: usize = 256;
/// And of so many: one row is a good part of the whole time, and lanes alone do not help.
const VERY_SKEWED: f64 = 1000.0;
/// Lanes × K that keep a warp's loads together where rows are alike, and where they are not.
const LANES_TIMES_K: usize = 8;
const LANES_TIMES_K_SKEWED: usize = 32;
const LANES_TIMES_K_VERY_SKEWED: usize = 256;
/// Columns up to which blocks for long rows beat lanes.
const COLUMNS_FOR_BLOCKS: usize = 8;
/// Nonzeros per lane that pay for adding up the lanes' sums.
const NONZEROS_PER_LANE: f64 = 4.0;

/// Among the rungs of the ladder: as many lanes per element as K leaves room for, more where rows differ (the others wait
/// for the longest) and where there are fewer elements than the device has threads.
fn on_device(limits: &DeviceLimits, rows: Rows, k: usize) -> Choice {
    let Rows { count, mean, longest } = rows;
    let shape = format!("rows of {mean:.1} nonzeros on average and {longest} at most, {k} columns");
    let skewed = longest >= LONG_ROW && rows.skew() > SKEWED;
    let very_skewed = skewed && rows.skew() > VERY_SKEWED;
    if very_skewed && k <= COLUMNS_FOR_BLOCKS {
        let reason = format!("{shape}: the longest rows get blocks of their own");
        return Choice { variant: "csr-cuda-adaptive-sub-blocks32", reason };
    }
    let by_k = |lanes_times_k: usize| lanes_times_k / k.max(1);
    let lanes = match (skewed, very_skewed) {
        (_, true) => by_k(LANES_TIMES_K_VERY_SKEWED).max(2),
        (true, _) => by_k(LANES_TIMES_K_SKEWED).max(2),
        _ => by_k(LANES_TIMES_K).min((mean / NONZEROS_PER_LANE).round() as usize).max(1),
    };
    let threads = limits.multiprocessors as usize * limits.threads_per_multiprocessor as usize;
    let to_fill = threads.div_ceil(count.saturating_mul(k).max(1)).next_power_of_two();
    let to_fill = to_fill.min((mean as usize).max(1));
    let (lanes, why) = if to_fill > lanes {
        (to_fill, "more lanes per element, so that there is work for all threads")
    } else if skewed {
        (lanes, "lanes share out the long rows that their warp would wait for")
    } else if lanes > 1 {
        (lanes, "few columns: lanes read neighbouring nonzeros")
    } else {
        (1, "one thread per element: neighbours read neighbouring columns of X")
    };
    let variant = match lanes {
        ..=1 => "csr-cuda-thread-per-element",
        2..=3 => "csr-cuda-lanes2-per-element",
        4..=7 => "csr-cuda-lanes4-per-element",
        8..=15 => "csr-cuda-lanes8-per-element",
        16..=31 => "csr-cuda-lanes16-per-element",
        32.. => "csr-cuda-lanes32-per-element",
    };
    Choice { variant, reason: format!("{shape}: {why}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::Op;
    use crate::ops::spmm::Spmm;

    #[test]
    fn the_choice_on_a_device_follows_rows_and_columns() {
        let h200 = DeviceLimits::h200();
        let chosen =
            |count, nonzeros, longest, k| on_device(&h200, Rows::new(count, nonzeros, longest), k).variant;
        // stencil27:100, stencil5:1000: rows alike, a million of them.
        let stencil27 = |k| chosen(1_000_000, 26_463_592, 27, k);
        assert_eq!(
            [1, 2, 4].map(stencil27),
            ["csr-cuda-lanes4-per-element", "csr-cuda-lanes4-per-element", "csr-cuda-lanes2-per-element"]
        );
        assert_eq!([8, 64].map(stencil27), ["csr-cuda-thread-per-element"; 2]);
        assert_eq!(chosen(1_000_000, 4_996_000, 5, 1), "csr-cuda-thread-per-element");
        let reason = on_device(&h200, Rows::new(1_000_000, 26_463_592, 27), 64).reason;
        assert!(
            reason.ends_with("one thread per element: neighbours read neighbouring columns of X"),
            "{reason}"
        );
        // bcsstk17: few rows.
        assert_eq!(chosen(10_974, 428_650, 150, 1), "csr-cuda-lanes32-per-element");
        // powerlaw:1000000x16: a row of a hundred thousand.
        let powerlaw = |k| chosen(1_000_000, 15_000_000, 113_136, k);
        assert_eq!([1, 8].map(powerlaw), ["csr-cuda-adaptive-sub-blocks32"; 2]);
        assert_eq!([16, 64].map(powerlaw), ["csr-cuda-lanes16-per-element", "csr-cuda-lanes4-per-element"]);
    }

    #[test]
    fn every_choice_is_a_variant_with_a_reason() {
        let h200 = DeviceLimits::h200();
        for count in [0, 1, 1000, 100_000_000] {
            for (nonzeros, longest) in [(0, 0), (count, 1), (30 * count, 2000), (5 * count, 5 * count)] {
                for k in [0, 1, 3, 8, 64, usize::MAX] {
                    let choice = on_device(&h200, Rows::new(count, nonzeros, longest), k);
                    assert!(Spmm::<f32>::variant(choice.variant).is_some(), "{}", choice.variant);
                    assert!(choice.reason.contains("columns: "));
                }
            }
        }
    }
}

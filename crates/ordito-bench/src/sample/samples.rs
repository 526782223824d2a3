//! What a series of runs gave, and the numbers a report shows of it.

use crate::sample::quantile::Quantiles;
use crate::sample::stop::StopReason;
use crate::sample::welford::Welford;

/// The times of one series, in the order in which they were taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// One per sample. Nothing was subtracted from them.
    pub times_ns: Vec<f64>,
    /// When each began, in nanoseconds since 1970; of runs that were taken over from a check nothing is known.
    pub starts_ns: Vec<u64>,
    /// Why there are no more.
    pub stop_reason: StopReason,
    /// Runs before the first sample.
    pub warm_up_runs: usize,
    /// What the timer reports for a run that does nothing, to judge very short runs by. Runs are not
    /// batched to get above it: each needs its own reset.
    pub timer_overhead_ns: f64,
    /// Were the caches emptied before each run?
    pub cold: bool,
    /// Everything: warm-up, resets, flushes, runs.
    pub elapsed_ns: u64,
}

/// The numbers of a series. `None` where the work does not apply (no flops) or a number would not be finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// How many samples.
    pub samples: usize,
    /// Mean time.
    pub mean_ns: f64,
    /// Standard deviation of the times; `None` for a single sample.
    pub stddev_ns: Option<f64>,
    /// Shortest time.
    pub min_ns: f64,
    /// Longest time.
    pub max_ns: f64,
    /// Median time.
    pub median_ns: f64,
    /// Five percent were faster.
    pub p05_ns: f64,
    /// Five percent were slower.
    pub p95_ns: f64,
    /// The median lies above, with a confidence of 95 % (together with the next); `None` for few samples.
    pub median_low_ns: Option<f64>,
    /// The median lies below.
    pub median_high_ns: Option<f64>,
    /// From the median time.
    pub gflops: Option<f64>,
    /// Mean of every sample's GFLOP/s.
    pub gflops_mean: Option<f64>,
    /// Standard deviation of every sample's GFLOP/s.
    pub gflops_stddev: Option<f64>,
    /// Least bytes that must move over the median time.
    pub gbytes_per_s: Option<f64>,
}

impl Samples {
    /// Mean, spread and rates for a run of so many flops and least bytes; `None` without a sample.
    ///
    /// Rates come from the median, which a few disturbed runs do not move. One flop per nanosecond is one
    /// GFLOP/s, one byte per nanosecond one GB/s.
    pub fn summary(&self, flops: u64, bytes: u64) -> Option<Summary> {
        let times: Welford = self.times_ns.iter().copied().collect();
        let quantiles = Quantiles::of(&self.times_ns)?;
        let rate = |work: u64, ns: f64| {
            (work > 0 && ns > 0.0).then(|| work as f64 / ns).filter(|rate| rate.is_finite())
        };
        let rates: Welford = self.times_ns.iter().filter_map(|&ns| rate(flops, ns)).collect();
        Some(Summary {
            samples: self.times_ns.len(),
            mean_ns: times.mean()?,
            stddev_ns: times.stddev(),
            min_ns: times.min()?,
            max_ns: times.max()?,
            median_ns: quantiles.median,
            p05_ns: quantiles.p05,
            p95_ns: quantiles.p95,
            median_low_ns: quantiles.median_interval.map(|(low, _)| low),
            median_high_ns: quantiles.median_interval.map(|(_, high)| high),
            gflops: rate(flops, quantiles.median),
            gflops_mean: rates.mean(),
            gflops_stddev: rates.stddev(),
            gbytes_per_s: rate(bytes, quantiles.median),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(times_ns: &[f64]) -> Samples {
        Samples {
            times_ns: times_ns.to_vec(),
            starts_ns: Vec::new(),
            stop_reason: StopReason::Samples,
            warm_up_runs: 0,
            timer_overhead_ns: 0.0,
            cold: false,
            elapsed_ns: 0,
        }
    }

    #[test]
    fn rates_come_from_the_median() {
        let summary = samples(&[100.0, 200.0, 1000.0]).summary(4000, 800).unwrap();
        assert_eq!((summary.gflops, summary.gbytes_per_s), (Some(20.0), Some(4.0)));
        assert!((summary.gflops_mean.unwrap() - 64.0 / 3.0).abs() < 1e-12);
        assert!((summary.gflops_stddev.unwrap() - 18.036_999_011).abs() < 1e-6);
        assert_eq!((summary.min_ns, summary.max_ns, summary.samples), (100.0, 1000.0, 3));
        assert_eq!((summary.median_low_ns, summary.median_high_ns), (None, None));
        let summary = samples(&[3.0, 1.0, 2.0, 6.0, 5.0, 4.0]).summary(0, 0).unwrap();
        assert_eq!((summary.median_low_ns, summary.median_high_ns), (Some(1.0), Some(6.0)));
    }

    #[test]
    fn nothing_is_infinite_or_nan() {
        let summary = samples(&[0.0, 0.0, 50.0]).summary(100, 100).unwrap();
        assert_eq!((summary.gflops, summary.gbytes_per_s), (None, None));
        assert_eq!((summary.gflops_mean, summary.gflops_stddev), (Some(2.0), None));
        let summary = samples(&[10.0]).summary(0, 0).unwrap();
        assert_eq!((summary.gflops, summary.gflops_mean, summary.gbytes_per_s), (None, None, None));
        assert_eq!(summary.stddev_ns, None);
        assert_eq!(samples(&[]).summary(1, 1), None);
    }
}

//! A time that may be compared with others, and how well it is known.

use super::{Outcome, Record};
use serde::Serialize;

/// The median time of a record.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Timed {
    /// The median.
    pub median_ns: f64,
    /// Where it lies with a confidence of 95 %: from, to. Both are positive, and the median is between them.
    #[serde(rename = "median_interval_ns", skip_serializing_if = "Option::is_none")]
    pub interval_ns: Option<(f64, f64)>,
}

impl Timed {
    /// Of a record that passed and was timed; none in the emulator, whose times are no measure of anything.
    pub fn of(record: &Record) -> Option<Self> {
        let comparable = record.outcome == Outcome::Passed && record.place != "emulator";
        let median_ns = record.median_ns.filter(|&ns| comparable && ns.is_finite() && ns > 0.0)?;
        let interval = interval_of_median(record).or_else(|| interval_of_mean(record));
        // The interval of a mean need not hold the median: what is said of the median must.
        let around = interval.map(|(low, high)| (low.min(median_ns), high.max(median_ns)));
        let interval_ns = around.filter(|(low, high)| *low > 0.0 && high.is_finite());
        Some(Timed { median_ns, interval_ns })
    }
}

fn interval_of_median(record: &Record) -> Option<(f64, f64)> {
    Some((record.median_low_ns?, record.median_high_ns?))
}

/// What files have that know no interval of the median, and series too short for one: Student's, of the mean. It trusts
/// the times to be distributed as errors are, which they are not quite.
fn interval_of_mean(record: &Record) -> Option<(f64, f64)> {
    let (samples, mean) = (record.samples.filter(|&samples| samples >= 2)?, record.mean_ns?);
    let deviation = record.stddev_ns.filter(|deviation| *deviation >= 0.0)?;
    let half = student_t(samples - 1) * deviation / (samples as f64).sqrt();
    Some((mean - half, mean + half))
}

/// The 97.5 % quantile of Student's distribution: a table where it falls steeply; beyond that two terms of its expansion
/// in 1/ν around the normal distribution's 1.96 (Fisher and Cornish), which are right to 0.003.
fn student_t(degrees_of_freedom: u64) -> f64 {
    const FEW: [f64; 9] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];
    let index = usize::try_from(degrees_of_freedom.saturating_sub(1)).unwrap_or(usize::MAX);
    FEW.get(index).copied().unwrap_or_else(|| {
        let (z, nu) = (1.959_964_f64, degrees_of_freedom as f64);
        let first = (z.powi(3) + z) / 4.0;
        let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
        z + first / nu + second / (nu * nu)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(samples: u64, median_ns: f64, mean_ns: f64, stddev_ns: f64) -> Record {
        Record {
            samples: Some(samples),
            median_ns: Some(median_ns),
            mean_ns: Some(mean_ns),
            stddev_ns: Some(stddev_ns),
            ..Record::new("spmm", "csr-serial", Outcome::Passed)
        }
    }

    #[test]
    fn student_is_that_of_the_tables() {
        for (nu, t) in [(1, 12.706), (9, 2.262), (10, 2.228), (20, 2.086), (30, 2.042), (120, 1.980)] {
            assert!((student_t(nu) - t).abs() < 0.003, "{nu}: {}", student_t(nu));
        }
    }

    #[test]
    fn the_median_has_its_own_interval_or_that_of_the_mean() {
        let mut known = record(10, 100.0, 110.0, 10.0);
        (known.median_low_ns, known.median_high_ns) = (Some(95.0), Some(104.0));
        assert_eq!(Timed::of(&known).unwrap().interval_ns, Some((95.0, 104.0)));
        // 4 samples: 3.182 · 10 / 2 on either side of the mean.
        let (low, high) = Timed::of(&record(4, 100.0, 110.0, 10.0)).unwrap().interval_ns.unwrap();
        assert!((low - 94.09).abs() < 1e-9 && (high - 125.91).abs() < 1e-9, "{low} {high}");
        let skewed = Timed::of(&record(4, 100.0, 130.0, 10.0)).unwrap();
        assert_eq!(skewed.interval_ns.unwrap().0, 100.0, "the median is in it");
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        assert_eq!(Timed::of(&record(1, 100.0, 100.0, 0.0)).unwrap().interval_ns, None);
        assert_eq!(Timed::of(&record(2, 100.0, 100.0, 90.0)).unwrap().interval_ns, None, "no negative times");
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Timed::of(&record(9, wrong, 1.0, 1.0)), None);
        }
        let emulated = Record { place: "emulator".to_owned(), ..record(9, 1.0, 1.0, 1.0) };
        let wrong = Record { outcome: Outcome::Incorrect, ..record(9, 1.0, 1.0, 1.0) };
        assert_eq!((Timed::of(&emulated), Timed::of(&wrong)), (None, None));
    }
}

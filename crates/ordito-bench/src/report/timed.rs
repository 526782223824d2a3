//! A time that may be compared with others, and how well it is known.

use crate::report::outcome::Outcome;
use crate::report::record::Record;
use ordito::column_stats::student_t;
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
        Some(Timed::around(median_ns, interval_of_median(record).or_else(|| interval_of_mean(record))))
    }

    /// The same with the GPU's cache emptied before every run, where that was timed beside the other.
    pub fn flushed(record: &Record) -> Option<Self> {
        let comparable = record.outcome == Outcome::Passed;
        let median_ns = record.flushed_median_ns.filter(|&ns| comparable && ns.is_finite() && ns > 0.0)?;
        Some(Timed::around(median_ns, record.flushed_median_low_ns.zip(record.flushed_median_high_ns)))
    }

    /// The interval of a mean need not hold the median: what is said of the median must.
    fn around(median_ns: f64, interval: Option<(f64, f64)>) -> Self {
        let around = interval.map(|(low, high)| (low.min(median_ns), high.max(median_ns)));
        let interval_ns = around.filter(|(low, high)| *low > 0.0 && high.is_finite());
        Timed { median_ns, interval_ns }
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
    let half = student_t((samples - 1) as f64) * deviation / (samples as f64).sqrt();
    Some((mean - half, mean + half))
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
    fn the_median_has_its_own_interval_or_that_of_the_mean() {
        let mut known = record(10, 100.0, 110.0, 10.0);
        (known.median_low_ns, known.median_high_ns) = (Some(95.0), Some(104.0));
        assert_eq!(Timed::of(&known).unwrap().interval_ns, Some((95.0, 104.0)));
        // 4 samples: 3.182446 · 10 / 2 on either side of the mean.
        let (low, high) = Timed::of(&record(4, 100.0, 110.0, 10.0)).unwrap().interval_ns.unwrap();
        assert!((low - 94.0878).abs() < 1e-3 && (high - 125.9122).abs() < 1e-3, "{low} {high}");
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

//! What the largest |t| of every permutation say of the observed ones.

use crate::recording::Recording;

/// A max-statistic permutation test of the difference.
#[derive(Debug, Clone, PartialEq)]
pub struct PermutationTest {
    /// How often the labels were permuted.
    pub count: usize,
    /// The seed of the permutations.
    pub seed: u64,
    /// For every sensor and sample: the share of permutations whose largest |t| anywhere reached this |t|, the observed
    /// labels counted among them. Corrected for having looked everywhere.
    pub p: Vec<f64>,
    /// |t| above this has p ≤ 0.05.
    pub critical_t: f64,
    /// Where p ≤ 0.05, sensor by sensor.
    pub intervals: Vec<Interval>,
}

/// Consecutive samples of one sensor with p ≤ 0.05.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Which sensor.
    pub sensor: usize,
    /// The first sample.
    pub from: usize,
    /// The last one.
    pub to: usize,
    /// The smallest p among them.
    pub p: f64,
}

/// What is called significant.
pub const ALPHA: f64 = 0.05;
/// Fewer permutations cannot reach it.
pub(crate) const FEWEST: usize = 19;
/// p, the critical |t| and the significant intervals from the largest |t| of every permutation.
pub(crate) fn judge(
    recording: &Recording,
    t: &[f64],
    mut maxima: Vec<f64>,
    seed: u64,
    epsilon: f64,
) -> PermutationTest {
    let count = maxima.len();
    maxima.sort_unstable_by(f64::total_cmp);
    // A permutation that restores the observed labels must count as reaching them, whatever rounding says.
    let slack = 1.0 - epsilon.sqrt();
    let p_of = |&t: &f64| {
        let reached = count - maxima.partition_point(|&largest| largest < t.abs() * slack);
        if t.is_nan() { 1.0 } else { (1 + reached) as f64 / (count + 1) as f64 }
    };
    let p: Vec<f64> = t.iter().map(p_of).collect();
    // So many permutations may reach a |t| that is called significant.
    let may_reach = (ALPHA * (count + 1) as f64 + 1e-9) as usize - 1;
    let critical_t = maxima[count - 1 - may_reach];
    let sensors = 0..recording.sensors.len();
    let intervals = sensors.flat_map(|sensor| intervals(sensor, recording.sensor(&p, sensor))).collect();
    PermutationTest { count, seed, p, critical_t, intervals }
}

/// Runs of p ≤ 0.05.
fn intervals(sensor: usize, p: &[f64]) -> Vec<Interval> {
    let mut found: Vec<Interval> = Vec::new();
    for (sample, &p) in p.iter().enumerate().filter(|(_, p)| **p <= ALPHA) {
        match found.last_mut() {
            Some(last) if last.to + 1 == sample => (last.to, last.p) = (sample, last.p.min(p)),
            _ => found.push(Interval { sensor, from: sample, to: sample, p }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(samples: usize) -> Recording {
        let sensors = vec!["A".to_string()];
        Recording { sensors, samples, rate_hz: 1.0, start_s: 0.0, unit: String::new() }
    }

    #[test]
    fn the_critical_t_divides_what_is_significant() {
        let maxima: Vec<f64> = (1..=19).map(f64::from).collect();
        let test = judge(&recording(3), &[19.5, -18.9, f64::NAN], maxima, 0, f64::EPSILON);
        assert_eq!((test.critical_t, &test.p[..]), (19.0, &[0.05, 0.1, 1.0][..]));
        assert_eq!(test.intervals, [Interval { sensor: 0, from: 0, to: 0, p: 0.05 }]);
    }

    #[test]
    fn intervals_are_runs() {
        let found = intervals(3, &[0.04, 0.01, 0.2, 0.05]);
        assert_eq!(
            found,
            [
                Interval { sensor: 3, from: 0, to: 1, p: 0.01 },
                Interval { sensor: 3, from: 3, to: 3, p: 0.05 }
            ]
        );
    }
}

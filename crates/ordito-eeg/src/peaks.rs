//! The peaks of waves: where, when, how large.

use crate::recording::Recording;

/// Of which wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wave {
    /// The mean of [`Analysis::conditions`](crate::analysis::Analysis::conditions) with this index.
    Condition(usize),
    /// The difference wave.
    Difference,
}

/// A local extremum over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Peak {
    /// Of which wave.
    pub of: Wave,
    /// Which sensor; `None`: the global field power of that wave.
    pub sensor: Option<usize>,
    /// Which sample.
    pub sample: usize,
    /// When that was.
    pub time_s: f64,
    /// In the unit of the recording; negative for a trough.
    pub amplitude: f64,
}

/// Peaks of each polarity that are told.
const FEW: usize = 3;
/// Peaks of one polarity that are nearer in time are one component seen by several sensors: the largest stands for it.
const APART_S: f64 = 0.05;

/// The largest peaks and troughs of a wave, then the largest peaks of its field power.
pub(crate) fn find(recording: &Recording, of: Wave, wave: &[f64], field_power: &[f64]) -> Vec<Peak> {
    let peak =
        |sensor, sample, amplitude| Peak { of, sensor, sample, time_s: recording.time_s(sample), amplitude };
    let of_sensors = |sign: f64| {
        (0..recording.sensors.len()).flat_map(move |sensor| {
            let wave = recording.sensor(wave, sensor);
            maxima(wave, sign).map(move |sample| peak(Some(sensor), sample, wave[sample]))
        })
    };
    let mut found = largest(of_sensors(1.0).collect());
    found.extend(largest(of_sensors(-1.0).collect()));
    found.extend(largest(maxima(field_power, 1.0).map(|at| peak(None, at, field_power[at])).collect()));
    found
}

/// Samples at which `sign` times the wave is positive, larger than before, and after which it falls, at once or from the end of
/// a plateau. The ends of an epoch are no peaks: nobody knows how it goes on.
fn maxima(wave: &[f64], sign: f64) -> impl Iterator<Item = usize> {
    (1..wave.len().saturating_sub(1)).filter(move |&at| {
        let [before, here] = [wave[at - 1], wave[at]].map(|x| sign * x);
        let mut after = wave[at + 1..].iter().map(|x| sign * x);
        here > 0.0 && here > before && after.find(|next| *next != here).is_some_and(|next| next < here)
    })
}

/// The largest few that are apart in time, largest first.
fn largest(mut candidates: Vec<Peak>) -> Vec<Peak> {
    candidates.sort_by(|a, b| b.amplitude.abs().total_cmp(&a.amplitude.abs()));
    let mut found: Vec<Peak> = Vec::new();
    for candidate in candidates {
        let apart = found.iter().all(|peak| (peak.time_s - candidate.time_s).abs() > APART_S);
        if apart && found.len() < FEW {
            found.push(candidate);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_component_is_told_once_by_its_largest_sensor() {
        let sensors = ["A", "B"].map(String::from).to_vec();
        let recording = Recording { sensors, samples: 8, rate_hz: 10.0, start_s: -0.1, unit: "µV".into() };
        #[rustfmt::skip]
        let wave = [
            9.0, 1.0, 5.0, 1.0, -2.0, 0.0, 2.0, 0.0,
            0.0, 1.0, 7.0, 7.0, -1.0, -4.0, 0.0, 9.0,
        ];
        let power = [0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let peaks = find(&recording, Wave::Difference, &wave, &power);
        let told: Vec<_> = peaks.iter().map(|peak| (peak.sensor, peak.sample, peak.amplitude)).collect();
        let expected =
            [(Some(1), 2, 7.0), (Some(0), 6, 2.0), (Some(1), 5, -4.0), (Some(0), 4, -2.0), (None, 1, 3.0)];
        assert_eq!(told, expected);
        assert!((peaks[0].time_s - 0.1).abs() < 1e-12);
    }

    #[test]
    fn a_plateau_is_a_peak_only_where_it_falls_behind() {
        let peaks = |wave: &[f64]| maxima(wave, 1.0).collect::<Vec<_>>();
        assert!(peaks(&[1.0, 2.0, 2.0, 3.0]).is_empty());
        assert_eq!(peaks(&[1.0, 2.0, 2.0, 3.0, 3.0, 1.0]), [3]);
        assert!(peaks(&[1.0, 2.0, 2.0]).is_empty(), "nobody knows how it goes on");
        assert_eq!(maxima(&[-1.0, -2.0, -2.0, -1.0], -1.0).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn short_waves_have_no_peaks() {
        for samples in 0..3 {
            assert_eq!(maxima(&vec![1.0; samples], 1.0).count(), 0);
        }
    }
}

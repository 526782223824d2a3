//! A made-up analysis for tests of figures and page: 64 sensors × 82 samples with a P300 around Pz at 350 ms.

use crate::analysis::{Analysis, Chosen, Stages};
use crate::condition::Condition;
use crate::difference::Difference;
use crate::field_power;
use crate::montage::position;
use crate::montage::tests::BCI2000;
use crate::peaks::{Peak, Wave};
use crate::recording::Recording;
use crate::reject::Rejected;
use crate::significance::{Interval, PermutationTest};
use crate::windows::Windows;

/// When the planted component is largest.
const LATENCY_S: f64 = 0.35;

/// Noise that is the same every time, between −1 and 1.
fn noise(seed: usize) -> f64 {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / (1u64 << 23) as f64 - 1.0
}

fn bump(time: f64, middle: f64, width: f64) -> f64 {
    (-((time - middle) / width).powi(2)).exp()
}

/// A condition with a P300 of `strength` µV, from `epochs` epochs.
fn condition(name: &str, recording: &Recording, strength: f64, epochs: u64, seed: usize) -> Condition {
    let [pz, oz] = ["Pz", "Oz"].map(|name| position(name).unwrap());
    let error = 12.0 / (epochs as f64).sqrt();
    let mut mean = Vec::new();
    for (sensor, name) in recording.sensors.iter().enumerate() {
        let place = position(name).unwrap_or(pz);
        for sample in 0..recording.samples {
            let time = recording.time_s(sample);
            let early = -3.0 * bump(time, 0.17, 0.03) * place.dot(oz).max(0.0).powi(2);
            let late = strength * bump(time, LATENCY_S, 0.07) * (place.dot(pz).max(0.0)).powi(3);
            mean.push(early + late + 0.7 * error * noise(seed + sensor * 1000 + sample / 2));
        }
    }
    let count = recording.elements();
    let sem = (0..count).map(|index| error * (1.0 + 0.1 * noise(seed + index))).collect::<Vec<f64>>();
    let rejected = vec![Rejected { epoch: 17, sensor: 3, peak_to_peak: 512.5 }];
    Condition {
        name: name.to_owned(),
        read: epochs as usize + 1,
        windows: None,
        rejected,
        kept: epochs,
        field_power: field_power(recording, &mean),
        half_width: sem.iter().map(|sem| 1.97 * sem).collect(),
        mean,
        sem,
    }
}

/// The largest value of a wave over time, for every sensor and for the field power.
fn peaks(recording: &Recording, of: Wave, wave: &[f64], power: &[f64]) -> Vec<Peak> {
    let largest = |values: &[f64], sensor: Option<usize>| {
        let sample = (0..values.len()).max_by(|&a, &b| values[a].abs().total_cmp(&values[b].abs())).unwrap();
        Peak { of, sensor, sample, time_s: recording.time_s(sample), amplitude: values[sample] }
    };
    let mut peaks: Vec<Peak> = (0..recording.sensors.len())
        .map(|sensor| largest(recording.sensor(wave, sensor), Some(sensor)))
        .collect();
    peaks.sort_by(|one, other| other.amplitude.abs().total_cmp(&one.amplitude.abs()));
    peaks.truncate(6);
    let early = largest(&power[..power.len() / 3], None);
    peaks.extend([largest(power, None), early]);
    peaks
}

/// Target, nontarget by seven groups, difference, permutation test.
pub(crate) fn planted() -> Analysis {
    let sensors = BCI2000.split_whitespace().map(|name| name.trim_end_matches('.').to_owned()).collect();
    let recording = Recording { sensors, samples: 82, rate_hz: 102.4, start_s: -0.1, unit: "µV".into() };
    let conditions = vec![
        condition("target", &recording, 9.0, 357, 1),
        condition("nontarget", &recording, 1.0, 2505, 500_000),
    ];
    let groups = (0..7)
        .map(|group| {
            let name = format!("offset {}", group * 100);
            let first_s = group as f64 / 10.0;
            let windows = Some(Windows { first_s, step_s: 0.8, first_epoch: group + 1, epoch_step: 7 });
            Condition { windows, ..condition(&name, &recording, 1.0, 358, 900_000 + group * 70_000) }
        })
        .collect();
    let mut difference = Difference::new(&recording, &conditions[0], &conditions[1]);
    let mut intervals = Vec::new();
    for sensor in 0..recording.sensors.len() {
        let t = recording.sensor(&difference.t, sensor);
        let beyond = |sample: &usize| t[*sample].abs() > 4.6;
        let late = (0..recording.samples).filter(|&sample| recording.time_s(sample) > 0.25);
        let samples: Vec<usize> = late.filter(beyond).collect();
        if let (Some(&from), Some(&to)) = (samples.first(), samples.last()) {
            intervals.push(Interval { sensor, from, to, p: 0.001 });
        }
    }
    let p = vec![1.0; recording.elements()];
    difference.permutations = Some(PermutationTest { count: 999, seed: 7, p, critical_t: 4.6, intervals });
    let mut all = peaks(&recording, Wave::Difference, &difference.mean, &difference.field_power);
    for (index, of) in conditions.iter().enumerate() {
        all.extend(peaks(&recording, Wave::Condition(index), &of.mean, &of.field_power));
    }
    Analysis {
        protocol: vec![("target", "planted".to_owned())],
        recording,
        conditions,
        groups,
        difference: Some(difference),
        peaks: all,
        warnings: vec!["The data look sample-major: try --layout sample-major.".to_owned()],
        chosen: vec![Chosen {
            step: "statistics",
            variant: "rows-threads".into(),
            reason: "no GPU was asked for".into(),
        }],
        stages: Stages { read_ns: 3e6, parse_ns: 9e7, kernel_ns: 2e6, write_ns: 1.2e7, ..Stages::default() },
    }
}

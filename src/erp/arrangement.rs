//! Where the numbers of an epoch stand in a row of a file.

use super::settings::STANDARD_SENSORS;
use super::{ErpError, Layout, Recording, Sensors, Settings, sensors};
use std::ops::Range;
use std::path::Path;

/// The shape of the epochs of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EpochShape {
    pub(super) columns: usize,
    /// Sensors, samples and layout, where the file says them: a `.npy` of three dimensions.
    pub(super) stack: Option<(usize, usize, Layout)>,
}

/// Sensors and samples found in the columns of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arrangement {
    /// Bad channels left out.
    pub(super) recording: Recording,
    pub(super) shape: EpochShape,
    pub(super) layout: Layout,
    /// Sensors of the file, and those of them that are used.
    pub(super) all_sensors: usize,
    pub(super) used: Vec<usize>,
    /// Columns from one sensor to the next, and from one sample to the next.
    sensor_step: usize,
    sample_step: usize,
    /// Samples of the baseline.
    pub(super) baseline: Option<Range<usize>>,
}

impl Arrangement {
    pub(super) fn new(settings: &Settings, path: &Path, shape: EpochShape) -> Result<Self, ErpError> {
        if !(settings.rate_hz > 0.0 && settings.rate_hz.is_finite()) {
            return Err(ErpError::Rate(settings.rate_hz));
        }
        if !settings.start_s.is_finite() {
            return Err(ErpError::Start(settings.start_s));
        }
        if let Some(limit) = settings.reject.filter(|limit| !(*limit > 0.0 && limit.is_finite())) {
            return Err(ErpError::Limit(limit));
        }
        let (all_sensors, samples, layout) = dimensions(settings, path, shape)?;
        let mut names = match &settings.sensors {
            Sensors::Named(names) => names.clone(),
            _ => sensors::default_names(all_sensors),
        };
        let mut used: Vec<usize> = (0..all_sensors).collect();
        for name in &settings.bad_channels {
            let bad = sensors::find(&names, name)?;
            used.retain(|&sensor| sensor != bad);
        }
        if used.is_empty() {
            return Err(ErpError::NoSensorsLeft);
        }
        names = used.iter().map(|&sensor| names[sensor].clone()).collect();
        let (rate_hz, start_s, unit) = (settings.rate_hz, settings.start_s, settings.unit.clone());
        let recording = Recording { sensors: names, samples, rate_hz, start_s, unit };
        let baseline = baseline_samples(settings, &recording)?;
        let (sensor_step, sample_step) = steps(layout, all_sensors, samples);
        Ok(Arrangement { recording, shape, layout, all_sensors, used, sensor_step, sample_step, baseline })
    }

    /// The column of a sensor of the file at a sample.
    #[inline(always)]
    pub(super) fn column(&self, file_sensor: usize, sample: usize) -> usize {
        file_sensor * self.sensor_step + sample * self.sample_step
    }

    /// The columns of a wave, in its order.
    pub(super) fn columns(&self) -> Vec<usize> {
        let samples = 0..self.recording.samples;
        self.used.iter().flat_map(|&s| samples.clone().map(move |sample| self.column(s, sample))).collect()
    }
}

/// Columns from one sensor to the next, and from one sample to the next.
pub(super) fn steps(layout: Layout, sensors: usize, samples: usize) -> (usize, usize) {
    match layout {
        Layout::SensorMajor => (samples, 1),
        Layout::SampleMajor => (1, sensors),
    }
}

/// Sensors and samples that fit the columns, and their layout.
fn dimensions(
    settings: &Settings,
    path: &Path,
    shape: EpochShape,
) -> Result<(usize, usize, Layout), ErpError> {
    let asked_sensors = match &settings.sensors {
        Sensors::Unsaid => None,
        Sensors::Count(count) => Some(*count),
        Sensors::Named(names) => Some(names.len()),
    };
    if asked_sensors == Some(0) {
        return Err(ErpError::Sensors("at least one is needed".into()));
    }
    let columns = shape.columns;
    let path = || path.to_owned();
    if let Some((sensors, samples, layout)) = shape.stack {
        for (what, found, asked) in
            [("sensors", sensors, asked_sensors), ("samples", samples, settings.samples)]
        {
            if let Some(asked) = asked.filter(|asked| *asked != found) {
                return Err(ErpError::Stack { path: path(), what, found, asked });
            }
        }
        return Ok((sensors, samples, layout));
    }
    // Where only the samples were said, there are as many sensors as that makes.
    let implied = settings.samples.filter(|samples| columns.is_multiple_of(*samples) && *samples > 0);
    let sensors = asked_sensors.or(implied.map(|samples| columns / samples)).unwrap_or(STANDARD_SENSORS);
    let samples = settings.samples.unwrap_or(columns / sensors);
    match sensors.checked_mul(samples) {
        Some(product) if product == columns => Ok((sensors, samples, settings.layout)),
        _ if settings.samples.is_none() => Err(ErpError::NotDivisible { path: path(), columns, sensors }),
        _ => Err(ErpError::NotTheProduct { path: path(), columns, sensors, samples }),
    }
}

/// The samples from the first to the last time of the baseline, both included.
fn baseline_samples(settings: &Settings, recording: &Recording) -> Result<Option<Range<usize>>, ErpError> {
    let Some(baseline) = settings.baseline else { return Ok(None) };
    // Times that were rounded when they were written must not miss their sample.
    let slack = 1e-6 / recording.rate_hz;
    let within = |&sample: &usize| {
        let time = recording.time_s(sample);
        baseline.from_s - slack <= time && time <= baseline.to_s + slack
    };
    let mut samples = (0..recording.samples).filter(within);
    let (first_s, last_s) = (recording.start_s, recording.time_s(recording.samples.saturating_sub(1)));
    let period_s = 1.0 / recording.rate_hz;
    let reaches_out = baseline.from_s < first_s - period_s || baseline.to_s > last_s + period_s;
    match samples.next().filter(|_| !reaches_out) {
        Some(first) => Ok(Some(first..samples.next_back().unwrap_or(first) + 1)),
        None => Err(ErpError::Baseline { from_s: baseline.from_s, to_s: baseline.to_s, first_s, last_s }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::erp::Baseline;

    fn arrange(settings: Settings, columns: usize) -> Result<Arrangement, String> {
        let shape = EpochShape { columns, stack: None };
        Arrangement::new(&settings, Path::new("a.txt"), shape).map_err(|error| error.to_string())
    }

    #[test]
    fn waves_are_sensor_major_whatever_the_file_is() {
        let bad_channels = vec!["s2".to_string()];
        let settings = Settings { sensors: Sensors::Count(3), bad_channels, ..Settings::default() };
        let sensor_major = arrange(settings.clone(), 6).unwrap();
        assert_eq!(sensor_major.recording.sensors, ["S1", "S3"]);
        assert_eq!(sensor_major.columns(), [0, 1, 4, 5]);
        let sample_major = arrange(Settings { layout: Layout::SampleMajor, ..settings }, 6).unwrap();
        assert_eq!(sample_major.columns(), [0, 3, 2, 5]);
    }

    #[test]
    fn what_does_not_fit_is_said_in_one_line() {
        let fault = |settings: Settings, columns| arrange(settings, columns).unwrap_err();
        let three = Settings { sensors: Sensors::Count(3), ..Settings::default() };
        assert_eq!(
            fault(three.clone(), 7),
            "a.txt has 7 columns, which is no multiple of 3 sensors: how many are there (--sensors)?"
        );
        assert_eq!(
            fault(Settings { samples: Some(4), ..three.clone() }, 6),
            "a.txt has 6 columns, but 3 sensors × 4 samples are 12"
        );
        assert!(fault(Settings { rate_hz: 0.0, ..three.clone() }, 6).starts_with("--rate 0: a positive"));
        assert!(fault(Settings { reject: Some(f64::NAN), ..three.clone() }, 6).starts_with("--reject NaN"));
        let all = ["S1", "S2", "S3"].map(String::from).to_vec();
        assert_eq!(
            fault(Settings { bad_channels: all, ..three.clone() }, 6),
            "--bad-channels leaves no sensor"
        );
        assert_eq!(
            fault(Settings { sensors: Sensors::Count(0), ..three }, 6),
            "--sensors: at least one is needed"
        );
    }

    #[test]
    fn a_baseline_holds_both_its_ends() {
        let settings = |from_s, to_s| Settings {
            sensors: Sensors::Count(1),
            rate_hz: 10.0,
            start_s: -0.3,
            baseline: Some(Baseline { from_s, to_s }),
            ..Settings::default()
        };
        assert_eq!(arrange(settings(-0.2, 0.0), 8).unwrap().baseline, Some(1..4));
        assert_eq!(arrange(settings(-0.35, 0.45), 8).unwrap().baseline, Some(0..8));
        assert!(arrange(settings(-0.5, 0.0), 8).is_err(), "perhaps --start was forgotten");
        assert_eq!(
            arrange(settings(0.5, 0.9), 8).unwrap_err(),
            "--baseline 0.5:0.9 does not lie inside of the epoch, which goes from -0.3000 s to 0.4000 s (--start, --rate)"
        );
    }
}

//! Where the numbers of an epoch stand in a row of a file.

use crate::error::ErpError;
use crate::recording::Recording;
use crate::sensors;
use crate::settings::STANDARD_SENSORS;
use crate::settings::{Layout, Sensors, Settings};
use std::ops::Range;
use std::path::Path;

/// The shape of the epochs of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EpochShape {
    pub(crate) columns: usize,
    /// Where the file has three dimensions: a `.npy`.
    pub(crate) stack: Option<Stack>,
}

/// What follows the epochs in a file of three dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stack {
    pub(crate) second: usize,
    pub(crate) third: usize,
    /// In every row, the third dimension is the slowest (Fortran order), not the second.
    pub(crate) third_is_slowest: bool,
}

/// Sensors and samples, and how they stand in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) sensors: usize,
    pub(crate) samples: usize,
    pub(crate) order: Layout,
}

impl Reading {
    /// Columns from one sensor to the next, and from one sample to the next.
    pub(crate) fn steps(self) -> (usize, usize) {
        match self.order {
            Layout::SensorMajor => (self.samples, 1),
            Layout::SampleMajor => (1, self.sensors),
        }
    }
}

/// Sensors and samples found in the columns of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arrangement {
    /// Bad channels left out.
    pub(crate) recording: Recording,
    pub(crate) shape: EpochShape,
    /// All sensors of the file, and how they stand in it.
    pub(crate) reading: Reading,
    /// What the other `--layout` would make of the file, where it fits.
    pub(crate) otherwise: Option<(Layout, Reading)>,
    /// Sensors of the file that are used.
    pub(crate) used: Vec<usize>,
    /// Columns from one sensor to the next, and from one sample to the next.
    sensor_step: usize,
    sample_step: usize,
    /// Samples of the baseline.
    pub(crate) baseline: Option<Range<usize>>,
}

impl Arrangement {
    /// Of settings that were [checked](Settings::check).
    pub(crate) fn new(settings: &Settings, path: &Path, shape: EpochShape) -> Result<Self, ErpError> {
        let reading = read_as(settings, settings.layout, path, shape)?;
        let other = settings.layout.other();
        let otherwise = read_as(settings, other, path, shape).ok().map(|reading| (other, reading));
        let mut names = match &settings.sensors {
            Sensors::Named(names) => names.clone(),
            _ => sensors::default_names(reading.sensors),
        };
        let mut used: Vec<usize> = (0..reading.sensors).collect();
        for name in &settings.bad_channels {
            let bad = sensors::find(&names, name)?;
            used.retain(|&sensor| sensor != bad);
        }
        if used.is_empty() {
            return Err(ErpError::NoSensorsLeft);
        }
        names = used.iter().map(|&sensor| names[sensor].clone()).collect();
        let (rate_hz, start_s, unit) = (settings.rate_hz, settings.start_s, settings.unit.clone());
        let recording = Recording { sensors: names, samples: reading.samples, rate_hz, start_s, unit };
        let baseline = baseline_samples(settings, &recording)?;
        let (sensor_step, sample_step) = reading.steps();
        Ok(Arrangement { recording, shape, reading, otherwise, used, sensor_step, sample_step, baseline })
    }

    /// The column of a sensor of the file at a sample.
    #[inline(always)]
    pub(crate) fn column(&self, file_sensor: usize, sample: usize) -> usize {
        file_sensor * self.sensor_step + sample * self.sample_step
    }

    /// The columns of a wave, in its order.
    pub(crate) fn columns(&self) -> Vec<usize> {
        let samples = 0..self.recording.samples;
        self.used.iter().flat_map(|&s| samples.clone().map(move |sample| self.column(s, sample))).collect()
    }
}

/// Sensors and samples that fit the columns, if the layout is that.
fn read_as(settings: &Settings, layout: Layout, path: &Path, shape: EpochShape) -> Result<Reading, ErpError> {
    let asked_sensors = match &settings.sensors {
        Sensors::Unsaid => None,
        Sensors::Count(count) => Some(*count),
        Sensors::Named(names) => Some(names.len()),
    };
    let columns = shape.columns;
    let path = || path.to_owned();
    if let Some(Stack { second, third, third_is_slowest }) = shape.stack {
        // Of three dimensions, the layout says which is which; the file says how they lie in a row.
        let (sensors, samples) = match layout {
            Layout::SensorMajor => (second, third),
            Layout::SampleMajor => (third, second),
        };
        let order = if third_is_slowest { layout.other() } else { layout };
        for (what, found, asked) in
            [("sensors", sensors, asked_sensors), ("samples", samples, settings.samples)]
        {
            if let Some(asked) = asked.filter(|asked| *asked != found) {
                return Err(ErpError::Stack { path: path(), what, found, asked, layout });
            }
        }
        return Ok(Reading { sensors, samples, order });
    }
    // Where only the samples were said, there are as many sensors as that makes.
    let implied = settings.samples.filter(|samples| columns.is_multiple_of(*samples) && *samples > 0);
    let sensors = asked_sensors.or(implied.map(|samples| columns / samples)).unwrap_or(STANDARD_SENSORS);
    let samples = settings.samples.unwrap_or(columns / sensors);
    match sensors.checked_mul(samples) {
        Some(product) if product == columns => Ok(Reading { sensors, samples, order: layout }),
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
    use crate::settings::Baseline;

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
    fn of_three_dimensions_the_layout_says_which_is_which() {
        let arrange = |third_is_slowest, layout, sensors| {
            let stack = Some(Stack { second: 2, third: 3, third_is_slowest });
            let settings = Settings { layout, sensors, ..Settings::default() };
            Arrangement::new(&settings, Path::new("a.npy"), EpochShape { columns: 6, stack })
        };
        for (third_is_slowest, layout, sensors, columns) in [
            (false, Layout::SensorMajor, 2, [0, 1, 2, 3, 4, 5]),
            (true, Layout::SensorMajor, 2, [0, 2, 4, 1, 3, 5]),
            (false, Layout::SampleMajor, 3, [0, 3, 1, 4, 2, 5]),
            (true, Layout::SampleMajor, 3, [0, 1, 2, 3, 4, 5]),
        ] {
            let found = arrange(third_is_slowest, layout, Sensors::Unsaid).unwrap();
            assert_eq!((found.reading.sensors, &found.columns()[..]), (sensors, &columns[..]));
            assert_eq!(found.otherwise.unwrap().1.sensors, 5 - sensors);
        }
        let said = arrange(false, Layout::SensorMajor, Sensors::Count(3)).unwrap_err().to_string();
        assert_eq!(
            said,
            "a.npy has 2 sensors if it is epochs × sensors × samples (--layout sensor-major), and 3 were asked for"
        );
        let fits = arrange(false, Layout::SensorMajor, Sensors::Count(2)).unwrap();
        assert_eq!(fits.otherwise, None, "what contradicts --sensors is not what was meant");
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
        let all = ["S1", "S2", "S3"].map(String::from).to_vec();
        assert_eq!(fault(Settings { bad_channels: all, ..three }, 6), "--bad-channels leaves no sensor");
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

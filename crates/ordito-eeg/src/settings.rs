//! What is asked for.

use crate::error::ErpError;
use crate::groups::Groups;
use crate::significance::FEWEST;

/// How the columns of a row are ordered, or the dimensions of a `.npy` of three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// All samples of the first sensor, then all of the second; epochs × sensors × samples.
    #[default]
    SensorMajor,
    /// All sensors at the first sample, then all at the second; epochs × samples × sensors.
    SampleMajor,
}

impl Layout {
    /// The other one.
    pub(crate) fn other(self) -> Self {
        match self {
            Layout::SensorMajor => Layout::SampleMajor,
            Layout::SampleMajor => Layout::SensorMajor,
        }
    }
    /// What `--layout` calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Layout::SensorMajor => "sensor-major",
            Layout::SampleMajor => "sample-major",
        }
    }
    /// What the dimensions of a file of three are.
    pub(crate) fn dimensions(self) -> &'static str {
        match self {
            Layout::SensorMajor => "epochs × sensors × samples",
            Layout::SampleMajor => "epochs × samples × sensors",
        }
    }
}

/// Which sensors there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Sensors {
    /// 64, or as many as a stack of epochs has.
    #[default]
    Unsaid,
    /// So many.
    Count(usize),
    /// These.
    Named(Vec<String>),
}

/// From when to when the mean of every sensor is taken to be 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Baseline {
    /// The first time.
    pub from_s: f64,
    /// The last one.
    pub to_s: f64,
}

/// How epochs are laid out, cleaned and compared. The default: 64 sensors, sensor-major, 102.4 samples
/// per second from 0 s on, µV; nothing is corrected, nothing rejected.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Which sensors there are, in the order of the file.
    pub sensors: Sensors,
    /// Samples per sensor; the columns over the sensors where nothing is said.
    pub samples: Option<usize>,
    /// Samples per second.
    pub rate_hz: f64,
    /// The time of the first sample.
    pub start_s: f64,
    /// How columns are ordered.
    pub layout: Layout,
    /// Of the amplitudes.
    pub unit: String,
    /// Names of sensors to leave out.
    pub bad_channels: Vec<String>,
    /// Subtract, at every sample, the mean over sensors?
    pub average_reference: bool,
    /// Subtract the mean of an interval from every sensor of every epoch?
    pub baseline: Option<Baseline>,
    /// Leave out epochs in which a sensor moves farther than this.
    pub reject: Option<f64>,
    /// Average nontarget epochs by groups too?
    pub groups: Option<Groups>,
    /// When the first group's first window begins in the recording; 0 where nothing is said.
    pub window_start_s: Option<f64>,
    /// From one window of a group to its next: one of every group, and one of the target, lie within. 0.8 s where nothing is
    /// said and groups and epochs are those of the standard case.
    pub window_step_s: Option<f64>,
    /// How often labels are permuted to test the difference.
    pub permutations: Option<usize>,
    /// Of the permutations.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            sensors: Sensors::Unsaid,
            samples: None,
            rate_hz: STANDARD_RATE_HZ,
            start_s: 0.0,
            layout: Layout::SensorMajor,
            unit: "µV".into(),
            bad_channels: Vec::new(),
            average_reference: false,
            baseline: None,
            reject: None,
            groups: None,
            window_start_s: None,
            window_step_s: None,
            permutations: None,
            seed: 0,
        }
    }
}

/// Sensors of the standard case.
pub(crate) const STANDARD_SENSORS: usize = 64;
/// Its rate: 82 samples in 800 ms.
pub const STANDARD_RATE_HZ: f64 = 102.4;

/// Times beyond this are a slip: no recording takes thirty years.
const LONGEST_S: f64 = 1e9;

impl Settings {
    /// Refuses what no file could make right: known before anything is read.
    pub fn check(&self) -> Result<(), ErpError> {
        let positive = |number: f64| number > 0.0 && number.is_finite();
        if !positive(self.rate_hz) {
            return Err(ErpError::Rate(self.rate_hz));
        }
        if !self.start_s.is_finite() {
            return Err(ErpError::Start(self.start_s));
        }
        if let Some(limit) = self.reject.filter(|limit| !positive(*limit)) {
            return Err(ErpError::Limit(limit));
        }
        if let Some(Baseline { from_s, to_s }) = self.baseline
            && !(from_s <= to_s && from_s.is_finite() && to_s.is_finite())
        {
            return Err(ErpError::BaselineTimes { from_s, to_s });
        }
        let no_sensors = match &self.sensors {
            Sensors::Unsaid => false,
            Sensors::Count(count) => *count == 0,
            Sensors::Named(names) => names.is_empty(),
        };
        if no_sensors {
            return Err(ErpError::Sensors("at least one is needed".into()));
        }
        if self.samples == Some(0) {
            return Err(ErpError::NoSamples);
        }
        if self.groups.is_some_and(|groups| groups.count == 0) {
            return Err(ErpError::Groups { groups: 0, problem: "at least one is needed".into() });
        }
        if let Some(step_s) = self.window_step_s.filter(|step_s| !positive(*step_s) || *step_s > LONGEST_S) {
            return Err(ErpError::WindowStep(step_s));
        }
        if let Some(start_s) =
            self.window_start_s.filter(|start_s| !start_s.is_finite() || start_s.abs() > LONGEST_S)
        {
            return Err(ErpError::WindowStart(start_s));
        }
        if self.groups.is_none() && (self.window_start_s.is_some() || self.window_step_s.is_some()) {
            return Err(ErpError::WindowsOfNothing);
        }
        match self.permutations {
            Some(count) if count < FEWEST => Err(ErpError::FewPermutations(count)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groups::GroupOrder;

    #[test]
    fn what_no_file_could_make_right_is_refused() {
        let none = Groups { count: 0, order: GroupOrder::Interleaved };
        let cases = [
            (Settings { rate_hz: 0.0, ..Settings::default() }, "--rate 0: a positive"),
            (Settings { rate_hz: f64::NAN, ..Settings::default() }, "--rate NaN: a positive"),
            (Settings { start_s: f64::INFINITY, ..Settings::default() }, "--start inf: a time"),
            (Settings { reject: Some(-1.0), ..Settings::default() }, "--reject -1: a positive"),
            (Settings { reject: Some(f64::NAN), ..Settings::default() }, "--reject NaN: a positive"),
            (
                Settings { baseline: Some(Baseline { from_s: 1.0, to_s: 0.0 }), ..Settings::default() },
                "--baseline 1:0: two times",
            ),
            (Settings { sensors: Sensors::Count(0), ..Settings::default() }, "--sensors: at least one"),
            (Settings { sensors: Sensors::Named(vec![]), ..Settings::default() }, "--sensors: at least one"),
            (Settings { samples: Some(0), ..Settings::default() }, "--samples 0: at least one"),
            (Settings { groups: Some(none), ..Settings::default() }, "--groups 0: at least one"),
            (Settings { permutations: Some(18), ..Settings::default() }, "--permutations 18: 19 at least"),
            (
                Settings { window_step_s: Some(0.0), ..Settings::default() },
                "windows of a group begin 0 s apart: a positive",
            ),
            (
                Settings { window_step_s: Some(1e300), ..Settings::default() },
                &format!("windows of a group begin {} s apart: a positive", 1e300),
            ),
            (
                Settings { window_start_s: Some(f64::NAN), ..Settings::default() },
                "the first window begins at NaN s: a time",
            ),
            (
                Settings { window_step_s: Some(0.8), ..Settings::default() },
                "times of windows are those of groups, and no",
            ),
        ];
        for (settings, expected) in cases {
            let said = settings.check().unwrap_err().to_string();
            assert!(said.starts_with(expected), "{said}");
        }
        assert!(Settings::default().check().is_ok());
    }
}

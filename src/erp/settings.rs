//! What is asked for.

use super::Groups;

/// How the columns of a row are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// All samples of the first sensor, then all of the second.
    #[default]
    SensorMajor,
    /// All sensors at the first sample, then all at the second.
    SampleMajor,
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
            permutations: None,
            seed: 0,
        }
    }
}

/// Sensors of the standard case.
pub(super) const STANDARD_SENSORS: usize = 64;
/// Its rate: 82 samples in 800 ms.
pub const STANDARD_RATE_HZ: f64 = 102.4;

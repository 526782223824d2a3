//! What was recorded: sensors, samples, when and in which unit.

/// The shape of every epoch, bad channels left out. Waves of it stand *sensor-major*: all samples of the first sensor, then
/// all of the second.
///
/// ```
/// use ordito_eeg::Recording;
/// let sensors = ["Fz", "Cz", "Pz"].map(String::from).to_vec();
/// let recording = Recording { sensors, samples: 82, rate_hz: 102.4, start_s: -0.1, unit: "µV".into() };
/// assert_eq!(recording.elements(), 3 * 82);
/// assert_eq!(recording.index(2, 5), 2 * 82 + 5);
/// assert_eq!(recording.time_s(0), -0.1);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Their names, in the order of the file.
    pub sensors: Vec<String>,
    /// Per sensor and epoch.
    pub samples: usize,
    /// Samples per second.
    pub rate_hz: f64,
    /// The time of the first sample; 0 is when whatever is studied happened.
    pub start_s: f64,
    /// Of the amplitudes.
    pub unit: String,
}

impl Recording {
    /// Numbers of a wave: sensors × samples.
    pub fn elements(&self) -> usize {
        self.sensors.len() * self.samples
    }
    /// Where a sample of a sensor stands in a wave.
    pub fn index(&self, sensor: usize, sample: usize) -> usize {
        sensor * self.samples + sample
    }
    /// When a sample was taken.
    pub fn time_s(&self, sample: usize) -> f64 {
        self.start_s + sample as f64 / self.rate_hz
    }
    /// When all of them were.
    pub fn times(&self) -> Vec<f64> {
        (0..self.samples).map(|sample| self.time_s(sample)).collect()
    }
    /// One sensor of a wave.
    pub fn sensor<'a>(&self, wave: &'a [f64], sensor: usize) -> &'a [f64] {
        &wave[sensor * self.samples..(sensor + 1) * self.samples]
    }
}

//! Global field power: how much the sensors differ from each other, at every sample.

use crate::recording::Recording;

/// The standard deviation over sensors (of all of them: divided by their number) at every sample.
pub(crate) fn field_power(recording: &Recording, wave: &[f64]) -> Vec<f64> {
    let sensors = recording.sensors.len() as f64;
    let at = |sample: usize| {
        let over_sensors = || (0..recording.sensors.len()).map(move |s| wave[recording.index(s, sample)]);
        let mean = over_sensors().sum::<f64>() / sensors;
        (over_sensors().map(|x| (x - mean) * (x - mean)).sum::<f64>() / sensors).sqrt()
    };
    (0..recording.samples).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_numpys_standard_deviation_over_sensors() {
        let sensors = ["A", "B", "C"].map(String::from).to_vec();
        let recording = Recording { sensors, samples: 2, rate_hz: 1.0, start_s: 0.0, unit: String::new() };
        // numpy.std([[1, 4], [2, 4], [6, 4]], axis=0)
        let power = field_power(&recording, &[1.0, 4.0, 2.0, 4.0, 6.0, 4.0]);
        assert!((power[0] - 2.160246899469287).abs() < 1e-15 && power[1] == 0.0, "{power:?}");
    }
}

//! Do the columns look as if they were ordered the other way?

use crate::arrangement::{Arrangement, Reading};
use ordito::Scalar;
use ordito::matrix::DenseView;
use ordito::units;

/// Epochs that are looked at: some are enough, and a large file must not be walked twice.
const EPOCHS: usize = 16;
/// How much rougher waves must be than in the other reading for a warning. Real recordings read the wrong way are rougher
/// several times over; noise without any order is equally rough both ways.
const ROUGHER: f64 = 1.25;

/// Neighbouring samples of one sensor resemble each other: a sentence where they do so in the other reading only.
pub(crate) fn warning<S: Scalar>(arrangement: &Arrangement, epochs: DenseView<'_, S>) -> Option<String> {
    let (layout, other) = arrangement.otherwise?;
    let (said, otherwise) = (roughness(arrangement.reading, epochs)?, roughness(other, epochs)?);
    (said > ROUGHER * otherwise).then(|| {
        let (said, otherwise, name) = (units::number(said), units::number(otherwise), layout.name());
        let what = match arrangement.shape.stack {
            None => format!("the columns are {name}"),
            Some(_) => format!("the file is {}", layout.dimensions()),
        };
        format!(
            "neighbouring samples of a sensor differ by {said} on average, but by only {otherwise} if {what}: is --layout {name} meant?"
        )
    })
}

/// The mean |difference| of neighbouring samples of a sensor, read that way, in the median epoch: an artefact in one of them
/// must not decide. `None` where there are no neighbours.
fn roughness<S: Scalar>(reading: Reading, epochs: DenseView<'_, S>) -> Option<f64> {
    let Reading { sensors, samples, .. } = reading;
    let (sensor_step, sample_step) = reading.steps();
    if sensors < 2 || samples < 2 {
        return None;
    }
    let of_epoch = |row: usize| {
        let epoch = epochs.row(row);
        let of_sensor = |sensor: usize| {
            let number = |sample: usize| epoch[sensor * sensor_step + sample * sample_step].to_f64();
            (1..samples).map(|sample| (number(sample) - number(sample - 1)).abs()).sum::<f64>()
        };
        (0..sensors).map(of_sensor).sum::<f64>() / (sensors * (samples - 1)) as f64
    };
    let mut found: Vec<f64> = (0..epochs.rows().min(EPOCHS)).map(of_epoch).collect();
    found.sort_by(f64::total_cmp);
    found.get(found.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrangement::{EpochShape, Stack};
    use crate::settings::{Layout, Sensors, Settings};
    use ordito::matrix::Dense;
    use ordito::matrix::random_dense;
    use std::path::Path;

    fn warned(layout: Layout, epochs: &Dense<f64>) -> Option<String> {
        let settings = Settings { sensors: Sensors::Count(8), layout, ..Settings::default() };
        let shape = EpochShape { columns: epochs.cols(), stack: None };
        warning(&Arrangement::new(&settings, Path::new("a"), shape).unwrap(), epochs.view())
    }

    #[test]
    fn smooth_waves_read_the_wrong_way_are_noticed() {
        let wave = |i: usize| ((i % 20) as f64 * 0.3).sin() + (i / 20) as f64;
        let sensor_major = Dense::from_rows(1, 160, (0..160).map(wave).collect()).unwrap();
        assert_eq!(warned(Layout::SensorMajor, &sensor_major), None);
        let warning = warned(Layout::SampleMajor, &sensor_major).unwrap();
        assert!(warning.ends_with("is --layout sensor-major meant?"), "{warning}");
        let transposed = (0..160).map(|i| wave(i % 8 * 20 + i / 8)).collect();
        let sample_major = Dense::from_rows(1, 160, transposed).unwrap();
        assert_eq!(warned(Layout::SampleMajor, &sample_major), None);
        assert!(warned(Layout::SensorMajor, &sample_major).is_some());
    }

    #[test]
    fn the_advice_for_three_dimensions_names_them() {
        // 20 samples × 8 sensors, read as 20 sensors × 8 samples, in both orders of memory.
        let wave = |sample: usize, sensor: usize| (sample as f64 * 0.3).sin() + sensor as f64;
        let c = (0..160).map(|i| wave(i / 8, i % 8)).collect();
        let fortran = (0..160).map(|i| wave(i % 20, i / 20)).collect();
        for (numbers, third_is_slowest) in [(c, false), (fortran, true)] {
            let epochs = Dense::from_rows(1, 160, numbers).unwrap();
            let stack = Some(Stack { second: 20, third: 8, third_is_slowest });
            let warned = |layout| {
                let settings = Settings { layout, ..Settings::default() };
                let shape = EpochShape { columns: 160, stack };
                warning(&Arrangement::new(&settings, Path::new("a"), shape).unwrap(), epochs.view())
            };
            let said = warned(Layout::SensorMajor).unwrap();
            assert!(
                said.ends_with("if the file is epochs × samples × sensors: is --layout sample-major meant?"),
                "{said}"
            );
            assert_eq!(warned(Layout::SampleMajor), None);
        }
    }

    #[test]
    fn noise_says_nothing() {
        let noise = random_dense::<f64>(5, 160, 1).unwrap();
        assert_eq!((warned(Layout::SensorMajor, &noise), warned(Layout::SampleMajor, &noise)), (None, None));
        let mut artefact = noise;
        artefact.data_mut()[40..60].iter_mut().step_by(2).for_each(|x| *x += 1000.0);
        assert_eq!(warned(Layout::SensorMajor, &artefact), None, "one epoch does not decide");
    }
}

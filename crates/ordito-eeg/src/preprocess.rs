//! Every epoch by itself, where it lies: average reference, then baseline, then how far each sensor moves.

use crate::arrangement::Arrangement;
use crate::reject::Rejected;
use crate::settings::Settings;
use ordito::Scalar;
use ordito::cpu::Pool;
use ordito::matrix::DenseViewMut;
use rayon::prelude::*;

/// Epochs that one thread takes at least: a block of a file, which its thread has just read, stays with it.
const AT_A_TIME: usize = 64;

/// What is done to every epoch.
pub(crate) struct Preprocess<'a> {
    arrangement: &'a Arrangement,
    average_reference: bool,
    reject: Option<f64>,
}

impl<'a> Preprocess<'a> {
    pub(crate) fn new(settings: &Settings, arrangement: &'a Arrangement) -> Self {
        Preprocess { arrangement, average_reference: settings.average_reference, reject: settings.reject }
    }

    /// Is there anything to do?
    pub(crate) fn is_needed(&self) -> bool {
        self.average_reference || self.arrangement.baseline.is_some() || self.reject.is_some()
    }

    /// Changes every epoch in place. Of each, with its row in this matrix: the sensor that moves farthest, and how far, where
    /// that is asked for. What comes out does not depend on the number of threads: no two epochs meet.
    pub(crate) fn apply<S: Scalar>(
        &self,
        epochs: &mut DenseViewMut<'_, S>,
        pool: &Pool,
    ) -> Vec<Option<Rejected>> {
        let (rows, cols, distance) = (epochs.rows(), epochs.cols(), epochs.leading_dimension());
        let row = |(row, epoch): (usize, &mut [S])| {
            let epoch = &mut epoch[..cols];
            if self.average_reference {
                self.subtract_reference(epoch);
            }
            self.subtract_baseline(epoch);
            self.reject.map(|_| self.farthest(row, epoch))
        };
        let epochs = epochs.data_mut().par_chunks_mut(distance).take(rows).enumerate();
        pool.install(|| epochs.with_min_len(AT_A_TIME).map(row).collect())
    }

    /// The largest peak-to-peak amplitude that is kept. NaN is not.
    pub(crate) fn keeps(&self, farthest: &Rejected) -> bool {
        self.reject.is_none_or(|limit| farthest.peak_to_peak <= limit)
    }

    fn subtract_reference<S: Scalar>(&self, epoch: &mut [S]) {
        let Arrangement { used, recording, .. } = self.arrangement;
        let mut reference = vec![0.0; recording.samples];
        for &sensor in used {
            for (sample, sum) in reference.iter_mut().enumerate() {
                *sum += epoch[self.arrangement.column(sensor, sample)].to_f64();
            }
        }
        let sensors = used.len() as f64;
        for &sensor in used {
            for (sample, sum) in reference.iter().enumerate() {
                let number = &mut epoch[self.arrangement.column(sensor, sample)];
                *number = S::from_f64(number.to_f64() - sum / sensors);
            }
        }
    }

    fn subtract_baseline<S: Scalar>(&self, epoch: &mut [S]) {
        let Some(baseline) = &self.arrangement.baseline else { return };
        for &sensor in &self.arrangement.used {
            let number = |sample| epoch[self.arrangement.column(sensor, sample)].to_f64();
            let mean = baseline.clone().map(number).sum::<f64>() / baseline.len() as f64;
            for sample in 0..self.arrangement.recording.samples {
                let number = &mut epoch[self.arrangement.column(sensor, sample)];
                *number = S::from_f64(number.to_f64() - mean);
            }
        }
    }

    fn farthest<S: Scalar>(&self, row: usize, epoch: &[S]) -> Rejected {
        let mut farthest = Rejected { epoch: row, sensor: 0, peak_to_peak: 0.0 };
        for (sensor, &file_sensor) in self.arrangement.used.iter().enumerate() {
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for sample in 0..self.arrangement.recording.samples {
                let number = epoch[self.arrangement.column(file_sensor, sample)].to_f64();
                (low, high) = (low.min(number), high.max(number));
            }
            if high - low > farthest.peak_to_peak {
                (farthest.sensor, farthest.peak_to_peak) = (sensor, high - low);
            }
        }
        farthest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrangement::EpochShape;
    use crate::settings::{Baseline, Layout, Sensors};
    use ordito::matrix::Dense;
    use std::path::Path;

    /// Two epochs of three sensors and four samples, sensor-major.
    const EPOCHS: [f64; 24] = [
        1.0, 2.0, 3.0, 6.0, 10.0, 10.0, 10.0, 10.0, -5.0, 5.0, 0.0, 0.0, //
        0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 7.0, 7.0, 7.0, 8.0,
    ];

    fn preprocessed(settings: &Settings, epochs: &[f64]) -> (Vec<f64>, Vec<Option<Rejected>>) {
        let shape = EpochShape { columns: 12, stack: None };
        let arrangement = Arrangement::new(settings, Path::new("a"), shape).unwrap();
        let mut matrix = Dense::from_rows(2, 12, epochs.to_vec()).unwrap();
        let (preprocess, pool) = (Preprocess::new(settings, &arrangement), Pool::new(2).unwrap());
        let found = preprocess.apply(&mut matrix.view_mut(), &pool);
        (matrix.data().to_vec(), found)
    }

    fn settings() -> Settings {
        let baseline = Some(Baseline { from_s: 0.0, to_s: 1.0 });
        Settings { sensors: Sensors::Count(3), rate_hz: 1.0, baseline, ..Settings::default() }
    }

    #[test]
    fn the_baseline_of_every_sensor_has_mean_zero() {
        let (found, _) = preprocessed(&settings(), &EPOCHS);
        assert_eq!(found[..12], [-0.5, 0.5, 1.5, 4.5, 0.0, 0.0, 0.0, 0.0, -5.0, 5.0, 0.0, 0.0]);
        assert_eq!(found[12..], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn the_average_reference_leaves_bad_channels_alone() {
        let bad_channels = vec!["S2".to_string()];
        let settings = Settings { baseline: None, average_reference: true, bad_channels, ..settings() };
        let (found, _) = preprocessed(&settings, &EPOCHS);
        assert_eq!(found[..12], [3.0, -1.5, 1.5, 3.0, 10.0, 10.0, 10.0, 10.0, -3.0, 1.5, -1.5, -3.0]);
    }

    #[test]
    fn the_sensor_that_moves_farthest_is_found() {
        let settings = Settings { reject: Some(5.0), ..settings() };
        let (_, found) = preprocessed(&settings, &EPOCHS);
        assert_eq!(found[0], Some(Rejected { epoch: 0, sensor: 2, peak_to_peak: 10.0 }));
        assert_eq!(found[1], Some(Rejected { epoch: 1, sensor: 1, peak_to_peak: 1.0 }));
    }

    #[test]
    fn layouts_give_the_same() {
        let settings = Settings { average_reference: true, reject: Some(5.0), ..settings() };
        let (sensor_major, farthest) = preprocessed(&settings, &EPOCHS);
        let transpose = |epochs: &[f64]| -> Vec<f64> {
            epochs.chunks(12).flat_map(|e| (0..12).map(|i| e[i % 3 * 4 + i / 3])).collect()
        };
        let sample_major = Settings { layout: Layout::SampleMajor, ..settings };
        let (found, farthest_there) = preprocessed(&sample_major, &transpose(&EPOCHS));
        assert_eq!((found, farthest_there), (transpose(&sensor_major), farthest));
    }
}

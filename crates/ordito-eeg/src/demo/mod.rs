//! A recording that never was, with known peaks in it: to try the command on, and to test it with.
//!
//! Every epoch is a sum of what a recording consists of: waves that several sensors see (slow activity, alpha), what each
//! sensor adds (noise, drift, offset), the response to any stimulus, and, in target epochs, N200 and P300. Every epoch comes
//! from random numbers of its own, so that epochs can be made in any order.

mod scalp;
mod text;

use crate::demo::scalp::weight;
use crate::demo::text::line_of;
use crate::recording::Recording;
use crate::sensors::default_names;
use crate::settings::STANDARD_RATE_HZ;
use ordito::cpu::Pool;
use ordito::files::{WriteError, write_atomically};
use ordito::matrix::Random;
use rayon::prelude::*;
use std::f64::consts::TAU;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// What it is written to.
const FILES: [&str; 2] = ["target.txt", "nontarget.txt"];

/// A synthetic recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Demo {
    /// What it looks like. Sensors whose names are not of the 10-10 system see noise only.
    pub recording: Recording,
    /// Target epochs.
    pub targets: usize,
    /// Nontarget epochs.
    pub nontargets: usize,
    /// Target epochs that are spoilt, counted from 1.
    pub bad_epochs: Vec<usize>,
    /// Factor on the responses; 0 leaves noise.
    pub response: f64,
    /// Of all random numbers.
    pub seed: u64,
}

/// A response: a bump in time around a place on the head.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Component {
    /// What it is called.
    pub name: &'static str,
    /// The sensor that sees it best.
    pub sensor: &'static str,
    /// When it is largest.
    pub latency_s: f64,
    /// How large, in µV, in target epochs.
    pub in_targets: f64,
    /// How large in nontarget epochs.
    pub in_nontargets: f64,
    /// Its standard deviation in time.
    width_s: f64,
    /// Its standard deviation over the head, in steps from one sensor to the next.
    spread: f64,
}

/// What is planted.
pub const COMPONENTS: [Component; 4] = [
    Component {
        name: "P300",
        sensor: "Pz",
        latency_s: 0.35,
        in_targets: 7.0,
        in_nontargets: 1.0,
        width_s: 0.05,
        spread: 1.7,
    },
    Component {
        name: "N200",
        sensor: "FCz",
        latency_s: 0.2,
        in_targets: -4.0,
        in_nontargets: -0.5,
        width_s: 0.025,
        spread: 1.7,
    },
    Component {
        name: "P100",
        sensor: "Oz",
        latency_s: 0.1,
        in_targets: 2.5,
        in_nontargets: 2.5,
        width_s: 0.015,
        spread: 1.4,
    },
    Component {
        name: "N100",
        sensor: "Cz",
        latency_s: 0.11,
        in_targets: -2.0,
        in_nontargets: -2.0,
        width_s: 0.02,
        spread: 2.0,
    },
];

/// Waves of the brain that several sensors see.
const SOURCES: usize = 6;

/// Random numbers of a seed that all epochs share; those of epochs are counted from 0.
const SHARED_STREAM: u64 = u64::MAX;

impl Demo {
    /// The standard case: 64 sensors, 82 samples, 358 target and 7 × 358 nontarget epochs, two of them spoilt.
    pub fn standard(seed: u64) -> Self {
        let recording = Recording {
            sensors: default_names(64),
            samples: 82,
            rate_hz: STANDARD_RATE_HZ,
            start_s: -0.1,
            unit: "µV".into(),
        };
        let (targets, nontargets) = (358, 7 * 358);
        Demo { recording, targets, nontargets, bad_epochs: vec![17, 203], response: 1.0, seed }
    }

    /// The sample at which a component is largest.
    pub fn sample_of(&self, component: &Component) -> usize {
        ((component.latency_s - self.recording.start_s) * self.recording.rate_hz).round() as usize
    }

    /// One target epoch, counted from 0, sensor-major.
    pub fn target(&self, epoch: usize) -> Vec<f64> {
        let mut wave = self.epoch(epoch as u64, |component| component.in_targets);
        if self.bad_epochs.contains(&(epoch + 1)) {
            self.spoil(epoch, &mut wave);
        }
        wave
    }

    /// One nontarget epoch.
    pub fn nontarget(&self, epoch: usize) -> Vec<f64> {
        self.epoch((self.targets + epoch) as u64, |component| component.in_nontargets)
    }

    fn epoch(&self, number: u64, amplitude: impl Fn(&Component) -> f64) -> Vec<f64> {
        let Recording { sensors, samples, .. } = &self.recording;
        let mut random = Random::new(self.seed, number);
        let sources: Vec<Vec<f64>> = (0..SOURCES).map(|_| slow_wave(*samples, &mut random)).collect();
        let (alpha, phase) = (2.0 + 2.0 * random.unit(), random.unit());
        let frequency_hz = 9.0 + 2.0 * random.unit();
        let times = self.recording.times();
        let bump = |component: &Component, time: f64| {
            let distance = (time - component.latency_s) / component.width_s;
            self.response * amplitude(component) * (-0.5 * distance * distance).exp()
        };
        let courses = COMPONENTS.map(|of| times.iter().map(|&time| bump(&of, time)).collect::<Vec<_>>());
        let rhythm = |time: &f64| alpha * (TAU * (frequency_hz * time + phase)).sin();
        let rhythm: Vec<f64> = times.iter().map(rhythm).collect();
        let mut shared = Random::new(self.seed, SHARED_STREAM);
        let mut wave = Vec::with_capacity(sensors.len() * samples);
        for name in sensors {
            let offset = 20.0 * shared.normal();
            let weights = [(); SOURCES].map(|()| shared.normal() / (SOURCES as f64).sqrt());
            let (jump, drift) = (2.0 * random.normal(), 4.0 * random.normal());
            let seen = COMPONENTS.map(|component| weight(name, component.sensor, component.spread));
            let seen_rhythm = weight(name, "Oz", 3.0);
            for sample in 0..*samples {
                let slow: f64 = sources.iter().zip(weights).map(|(of, weight)| weight * of[sample]).sum();
                let response: f64 = courses.iter().zip(seen).map(|(of, seen)| seen * of[sample]).sum();
                let own = offset + jump + drift * sample as f64 / *samples as f64 + 1.5 * random.normal();
                wave.push(own + slow + seen_rhythm * rhythm[sample] + response);
            }
        }
        wave
    }

    /// A blink over the forehead in every other bad epoch, an electrode that comes loose in the rest: hundreds of µV.
    fn spoil(&self, epoch: usize, wave: &mut [f64]) {
        let Recording { sensors, samples, .. } = &self.recording;
        let is_blink = self.bad_epochs.iter().position(|bad| *bad == epoch + 1).is_some_and(|at| at % 2 == 0);
        for (sensor, name) in sensors.iter().enumerate() {
            let strength = match is_blink {
                true => 350.0 * weight(name, "Fpz", 1.5),
                false if sensor == sensors.len() / 2 => 500.0,
                false => 0.0,
            };
            for (sample, number) in wave[sensor * samples..(sensor + 1) * samples].iter_mut().enumerate() {
                let share = sample as f64 / *samples as f64;
                let course = if is_blink {
                    (-80.0 * (share - 0.5) * (share - 0.5)).exp()
                } else {
                    f64::from(share > 0.6)
                };
                *number += strength * course;
            }
        }
    }

    /// Writes `target.txt` and `nontarget.txt` as `numpy.savetxt` would: `%.18e`, blanks between numbers.
    pub fn write(&self, folder: &Path, pool: &Pool) -> Result<(), WriteError> {
        std::fs::create_dir_all(folder)
            .map_err(|reason| WriteError::Io { path: folder.to_owned(), reason })?;
        FILES.into_iter().try_for_each(|name| {
            write_atomically(&folder.join(name), |mut file| self.write_rows(name, &mut file, pool))
        })
    }

    /// What is there already and is not what [`write`](Self::write) would write. A run that was ended may have left one of the
    /// two files, which is in nobody's way.
    pub fn in_the_way(&self, folder: &Path, pool: &Pool) -> Option<PathBuf> {
        let is_same = |name: &str, path: &Path| -> io::Result<bool> {
            // Nobody waits for a pipe.
            if !path.metadata()?.is_file() {
                return Ok(false);
            }
            let mut same = Same(BufReader::new(File::open(path)?));
            self.write_rows(name, &mut same, pool)?;
            Ok(same.0.fill_buf()?.is_empty())
        };
        let paths = FILES.into_iter().map(|name| (name, folder.join(name)));
        let mut there = paths.filter(|(_, path)| path.symlink_metadata().is_ok());
        there.find(|(name, path)| !is_same(name, path).unwrap_or(false)).map(|(_, path)| path)
    }

    fn write_rows(&self, name: &str, file: &mut impl Write, pool: &Pool) -> io::Result<()> {
        /// Rows that are made before they are written: some for every thread.
        const ROWS_AT_ONCE: usize = 64;
        let is_target = name == FILES[0];
        let rows = if is_target { self.targets } else { self.nontargets };
        let line = |row: usize| line_of(&if is_target { self.target(row) } else { self.nontarget(row) });
        for first in (0..rows).step_by(ROWS_AT_ONCE) {
            let batch = first..rows.min(first + ROWS_AT_ONCE);
            let lines: Vec<String> = pool.install(|| batch.into_par_iter().map(line).collect());
            lines.iter().try_for_each(|line| file.write_all(line.as_bytes()))?;
        }
        Ok(())
    }
}

/// Takes what is in a file already, and nothing else.
struct Same<R>(R);

impl<R: Read> Write for Same<R> {
    fn write(&mut self, expected: &[u8]) -> io::Result<usize> {
        let mut found = vec![0; expected.len()];
        self.0.read_exact(&mut found)?;
        if found == expected { Ok(found.len()) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Slow activity: the sum of three processes that forget at different speeds, which together fall off as 1/f.
fn slow_wave(samples: usize, random: &mut Random) -> Vec<f64> {
    let memories = [0.98, 0.9, 0.6];
    let mut states = memories.map(|_| 3.0 * random.normal());
    let mut step = || {
        for (state, memory) in states.iter_mut().zip(memories) {
            *state = memory * *state + 3.0 * (1.0 - memory * memory).sqrt() * random.normal();
        }
        states.iter().sum()
    };
    (0..samples).map(|_| step()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_are_repeatable_and_differ() {
        let demo = Demo::standard(3);
        assert_eq!(demo.target(4), demo.target(4));
        assert!(demo.target(4) != demo.target(5) && demo.target(0) != demo.nontarget(0));
        assert!(demo.target(4) != Demo::standard(4).target(4));
    }

    #[test]
    fn only_spoilt_epochs_move_far() {
        let demo = Demo::standard(0);
        let farthest = |epoch: Vec<f64>| {
            let span = |wave: &[f64]| {
                wave.iter().copied().fold(f64::MIN, f64::max) - wave.iter().copied().fold(f64::MAX, f64::min)
            };
            epoch.chunks(82).map(span).fold(0.0, f64::max)
        };
        let far: Vec<usize> =
            (0..300).filter(|&epoch| farthest(demo.target(epoch)) > 150.0).map(|e| e + 1).collect();
        assert_eq!(far, demo.bad_epochs);
    }
}

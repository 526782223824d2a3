//! The folder of `--out`: every wave as `.npy` (sensors × samples, f64) and as CSV (a row per sample), and the tables.

mod stale;

use crate::analysis::Analysis;
use crate::condition::Condition;
use crate::peaks::Wave;
use crate::recording::Recording;
use ordito::files::{WriteError, write_atomically};
use ordito::io::write_npy;
use ordito::matrix::DenseView;
use ordito::text::csv_cell;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

/// Writes everything there is to know into a folder, which is made if need be. The names are those of the conditions:
/// `mean_target.npy`, `sem_target.csv` …; `groups/` holds the same of every group. What an earlier run wrote and this one does
/// not is removed.
pub fn write_files(analysis: &Analysis, folder: &Path) -> Result<(), WriteError> {
    make(folder)?;
    let recording = &analysis.recording;
    write_atomically(&folder.join("sensors.txt"), |file| {
        recording.sensors.iter().try_for_each(|sensor| writeln!(file, "{sensor}"))
    })?;
    for condition in &analysis.conditions {
        write_condition(recording, condition, folder)?;
    }
    for (name, wave) in difference_waves(analysis) {
        write_wave(recording, wave, folder, name)?;
    }
    if !analysis.groups.is_empty() {
        let groups = folder.join("groups");
        make(&groups)?;
        for group in &analysis.groups {
            write_condition(recording, group, &groups)?;
        }
    }
    write_field_power(analysis, &folder.join("field_power.csv"))?;
    write_tables(analysis, folder)?;
    if !write_windows(analysis, &folder.join("windows.csv"))? {
        stale::remove_file(&folder.join("windows.csv"))?;
    }
    stale::remove(analysis, folder)
}

/// The waves of the difference, by the names of their files.
fn difference_waves(analysis: &Analysis) -> Vec<(&'static str, &Vec<f64>)> {
    let Some(difference) = &analysis.difference else { return Vec::new() };
    let mut waves = vec![
        ("difference", &difference.mean),
        ("sem_difference", &difference.sem),
        ("t", &difference.t),
        ("degrees_of_freedom", &difference.degrees),
    ];
    waves.extend(difference.permutations.as_ref().map(|test| ("p", &test.p)));
    waves
}

/// The waves of a condition, by the names of their files.
fn condition_waves(condition: &Condition) -> [(String, &Vec<f64>); 2] {
    let name = condition.name.replace(' ', "_");
    [(format!("mean_{name}"), &condition.mean), (format!("sem_{name}"), &condition.sem)]
}

fn make(folder: &Path) -> Result<(), WriteError> {
    fs::create_dir_all(folder).map_err(|reason| WriteError::Io { path: folder.to_owned(), reason })
}

fn write_condition(recording: &Recording, condition: &Condition, folder: &Path) -> Result<(), WriteError> {
    condition_waves(condition)
        .into_iter()
        .try_for_each(|(name, wave)| write_wave(recording, wave, folder, &name))
}

/// One wave, as `.npy` and as CSV.
fn write_wave(recording: &Recording, wave: &[f64], folder: &Path, name: &str) -> Result<(), WriteError> {
    let path = folder.join(format!("{name}.npy"));
    let (sensors, samples) = (recording.sensors.len(), recording.samples);
    let shaped = DenseView::new(wave, sensors, samples, samples);
    let shaped =
        shaped.map_err(|error| WriteError::Io { path: path.clone(), reason: io::Error::other(error) });
    write_npy(shaped?, &path)?;
    let header = recording.sensors.iter().map(String::as_str);
    let rows = (0..samples).map(|sample| {
        let of_sensors = (0..sensors).map(|sensor| wave[recording.index(sensor, sample)].to_string());
        [recording.time_s(sample).to_string()].into_iter().chain(of_sensors).collect()
    });
    write_csv(&folder.join(format!("{name}.csv")), ["time_s"].into_iter().chain(header), rows)
}

fn write_field_power(analysis: &Analysis, path: &Path) -> Result<(), WriteError> {
    let conditions = analysis.conditions.iter().map(|of| (of.name.as_str(), &of.field_power));
    let difference = analysis.difference.iter().map(|of| ("difference", &of.field_power));
    let waves: Vec<(&str, &Vec<f64>)> = conditions.chain(difference).collect();
    let header = ["time_s"].into_iter().chain(waves.iter().map(|(name, _)| *name));
    let rows = (0..analysis.recording.samples).map(|sample| {
        let powers = waves.iter().map(|(_, wave)| wave[sample].to_string());
        [analysis.recording.time_s(sample).to_string()].into_iter().chain(powers).collect()
    });
    write_csv(path, header, rows)
}

/// `windows.csv`: when every epoch was recorded, by its group; `false` where nothing is known of that.
fn write_windows(analysis: &Analysis, path: &Path) -> Result<bool, WriteError> {
    let known =
        || analysis.conditions.iter().chain(&analysis.groups).filter_map(|of| Some((of, of.windows?)));
    if known().next().is_none() {
        return Ok(false);
    }
    let rows = known().flat_map(|(of, windows)| {
        let rejected: HashSet<usize> = of.rejected.iter().map(|rejected| rejected.epoch).collect();
        windows.starts(of.read).map(move |(epoch, start_s)| {
            let kept = if rejected.contains(&epoch) { "no" } else { "yes" };
            vec![of.name.clone(), epoch.to_string(), start_s.to_string(), kept.to_owned()]
        })
    });
    write_csv(path, ["wave", "epoch", "start_s", "kept"], rows)?;
    Ok(true)
}

/// `peaks.csv`, `rejected.csv`, and `intervals.csv` where there was a permutation test.
fn write_tables(analysis: &Analysis, folder: &Path) -> Result<(), WriteError> {
    let recording = &analysis.recording;
    let sensor = |sensor: usize| recording.sensors[sensor].clone();
    let peaks = analysis.peaks.iter().map(|peak| {
        vec![
            analysis.name_of(peak.of).to_owned(),
            peak.sensor.map_or("field power".into(), sensor),
            peak.time_s.to_string(),
            peak.amplitude.to_string(),
        ]
    });
    let amplitude = format!("amplitude ({})", recording.unit);
    write_csv(&folder.join("peaks.csv"), ["wave", "sensor", "time_s", &amplitude], peaks)?;
    let rejected = analysis.conditions.iter().flat_map(|condition| {
        condition.rejected.iter().map(|rejected| {
            let (epoch, far) = (rejected.epoch.to_string(), rejected.peak_to_peak.to_string());
            vec![condition.name.clone(), epoch, sensor(rejected.sensor), far]
        })
    });
    let peak_to_peak = format!("peak-to-peak ({})", recording.unit);
    write_csv(&folder.join("rejected.csv"), ["condition", "epoch", "sensor", &peak_to_peak], rejected)?;
    let Some(test) = analysis.difference.as_ref().and_then(|difference| difference.permutations.as_ref())
    else {
        return Ok(());
    };
    let intervals = test.intervals.iter().map(|found| {
        let [from, to] = [found.from, found.to].map(|sample| recording.time_s(sample).to_string());
        vec![sensor(found.sensor), from, to, found.p.to_string()]
    });
    write_csv(&folder.join("intervals.csv"), ["sensor", "from_s", "to_s", "p"], intervals)
}

fn write_csv<'a>(
    path: &Path,
    header: impl IntoIterator<Item = &'a str>,
    rows: impl Iterator<Item = Vec<String>>,
) -> Result<(), WriteError> {
    write_atomically(path, |file| {
        let mut csv = csv::Writer::from_writer(file);
        csv.write_record(header.into_iter().map(|name| csv_cell(name).into_owned()))?;
        for row in rows {
            csv.write_record(row.iter().map(|cell| csv_cell(cell).into_owned()))?;
        }
        csv.flush()
    })
}

impl Analysis {
    /// What a wave is called.
    pub fn name_of(&self, wave: Wave) -> &str {
        match wave {
            Wave::Condition(index) => self.conditions.get(index).map_or("", |condition| &condition.name),
            Wave::Difference => "difference",
        }
    }
}

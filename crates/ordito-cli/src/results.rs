//! The folder of `bench --out`: `samples.csv`, `samples.json`, `report.html`, and the figures in `plots/`.

use crate::console::Console;
use crate::instruments::Instruments;
use crate::interrupt;
use crate::out_folder::OutFolder;
use anyhow::Context;
use ordito::cpu::CpuInfo;
use ordito::device::gpu::GpuFingerprint;
use ordito_bench::report::{Fingerprint, MatrixFacts, Record, Run, csv, figures, html, json, runs_csv};
use ordito_chart::plots;
use std::path::Path;

/// What is to be written.
pub(crate) struct Measured<'a> {
    pub(crate) cpu: &'a CpuInfo,
    pub(crate) instruments: &'a Instruments,
    pub(crate) matrices: &'a [MatrixFacts],
    pub(crate) records: &'a [Record],
    /// Inputs of a suite that are not there.
    pub(crate) left_out: &'a [String],
}

/// A folder that results are written to, again and again while they grow.
pub(crate) struct ResultsFolder {
    folder: OutFolder,
    /// The variant that speed-ups are held against.
    baseline: Option<String>,
    /// What was written last.
    written: Option<Run>,
}

impl ResultsFolder {
    /// Makes the folder, which is this run's alone from now on.
    pub(crate) fn make(path: &Path, baseline: Option<String>, console: &Console) -> anyhow::Result<Self> {
        Ok(ResultsFolder { folder: OutFolder::make(path, console)?, baseline, written: None })
    }

    /// Writes the numbers. Without records nothing is touched: whatever lies there stays.
    pub(crate) fn write(&mut self, measured: &Measured<'_>, console: &Console) -> anyhow::Result<()> {
        let Measured { cpu, instruments, matrices, records, left_out } = *measured;
        if records.is_empty() {
            return Ok(());
        }
        if self.written.is_none() {
            self.folder.begin()?;
            self.move_aside(console)?;
        }
        let command: Vec<String> =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        let fingerprint = Fingerprint {
            ceilings: instruments.ceilings.clone(),
            gpu: instruments.gpu.as_ref().map(GpuFingerprint::closed),
            device_ceilings: instruments.device_ceilings.clone(),
            left_out: left_out.to_vec(),
            interrupted: interrupt::interrupted(),
            ..Fingerprint::new(cpu, &command)
        };
        csv::write_samples(&self.folder.path().join("samples.csv"), records)?;
        let runs = self.folder.path().join("runs.csv");
        if records.iter().any(|record| !record.runs.is_empty()) {
            runs_csv::write_runs(&runs, records)?;
        } else if runs.exists() {
            std::fs::remove_file(&runs).with_context(|| runs.display().to_string())?; // of an earlier run
        }
        let label = self.folder.path().display().to_string();
        let (matrices, records) = (matrices.to_vec(), records.to_vec());
        let run = Run { label, fingerprint, matrices, records, baseline: self.baseline.clone() };
        json::write_samples(&self.folder.path().join("samples.json"), &run)?;
        self.written = Some(run);
        Ok(())
    }

    /// Writes the page and the figures, once at the end: pictures take longer than numbers.
    pub(crate) fn draw(&self, console: &Console) -> anyhow::Result<()> {
        let Some(run) = self.written.as_ref().map(std::slice::from_ref) else { return Ok(()) };
        let explain =
            || format!("--out {}: all results are kept, but not all pictures", self.folder.path().display());
        if let Some(baseline) = &self.baseline {
            let timed = run[0].records.iter().any(|record| record.variant == *baseline);
            anyhow::ensure!(timed, "--baseline {baseline}: no variant of that name was run");
        }
        html::write(&self.folder.path().join("report.html"), run).with_context(explain)?;
        let notes =
            plots::write(&self.folder.path().join("plots"), &figures::sections(run)).with_context(explain)?;
        notes.iter().for_each(|note| console.note(note));
        Ok(self.folder.finish()?)
    }

    /// Samples of an earlier run get a name with their date: nobody's measurements are overwritten.
    fn move_aside(&self, console: &Console) -> anyhow::Result<()> {
        let samples = self.folder.path().join("samples.json");
        if samples.exists() {
            let date = json::read_samples(&samples).map_or("older".into(), |run| run.fingerprint.date);
            let date: String = date.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            let name = |count: usize| match count {
                1 => format!("samples-{date}.json"),
                _ => format!("samples-{date}-{count}.json"),
            };
            let free = (1..).map(|count| self.folder.path().join(name(count))).find(|path| !path.exists());
            let aside = free.context("no name is free for the earlier samples")?;
            std::fs::rename(&samples, &aside)
                .with_context(|| format!("--out {}", self.folder.path().display()))?;
            console.note(&format!("earlier samples are kept as {}", aside.display()));
        }
        Ok(())
    }

    /// Tells a person at a terminal where the files are.
    pub(crate) fn note(&self, console: &Console) {
        if self.written.is_some() {
            let path = self.folder.path().display();
            console.note(&format!("written: {path}/samples.csv, samples.json, report.html, plots"));
        }
    }
}

//! What the terminal tells.

use crate::analysis::Analysis;
use crate::condition::Condition;
use crate::peaks::{Peak, Wave};
use crate::significance::PermutationTest;
use ordito::units;
use std::fmt::Write as _;

/// Rejected epochs and significant intervals that are named; the files hold them all.
const FEW: usize = 6;

/// Epochs, peaks, significant intervals and times, in a dozen lines.
pub fn summary(analysis: &Analysis) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_summary(analysis, &mut text);
    text.truncate(text.trim_end().len());
    text
}

fn write_summary(analysis: &Analysis, text: &mut String) -> std::fmt::Result {
    let recording = &analysis.recording;
    let (sensors, samples) = (recording.sensors.len(), recording.samples);
    let last_s = recording.time_s(samples.saturating_sub(1));
    let (from, to) = (milliseconds(recording.start_s), milliseconds(last_s));
    writeln!(text, "{sensors} sensors × {samples} samples, {} Hz, {from} to {to}", recording.rate_hz)?;
    for condition in analysis.conditions.iter().chain(&analysis.groups) {
        writeln!(text, "{}", epochs_of(analysis, condition))?;
    }
    let waves = (0..analysis.conditions.len()).map(Wave::Condition);
    for wave in waves.chain(analysis.difference.as_ref().map(|_| Wave::Difference)) {
        writeln!(text, "{}", peaks_of(analysis, wave))?;
    }
    if let Some(difference) = &analysis.difference {
        writeln!(text, "{}", largest_t(analysis, &difference.t))?;
        if let Some(test) = &difference.permutations {
            writeln!(text, "{}", test_of(analysis, test))?;
        }
    }
    for chosen in &analysis.chosen {
        writeln!(text, "{:<13}{}: {}", chosen.step, chosen.variant, chosen.reason)?;
    }
    let stages =
        analysis.stages.named().into_iter().map(|(name, ns)| format!("{name} {}", units::duration(ns)));
    writeln!(text, "{:<13}{}", "times", stages.collect::<Vec<_>>().join(", "))?;
    analysis.warnings.iter().try_for_each(|warning| writeln!(text, "warning: {warning}"))
}

/// `target       356 of 358 epochs, windows at 600, 1400, 2200 … ms, rejected 17 (Fpz 352 µV), 203 (F2 507 µV)`
fn epochs_of(analysis: &Analysis, condition: &Condition) -> String {
    let Condition { name, read, windows, kept, rejected, .. } = condition;
    let mut line = format!("{name:<13}{kept} of {read} epochs");
    if let Some(windows) = windows {
        let _ = write!(line, ", windows at {windows}");
    }
    if rejected.is_empty() {
        return line;
    }
    let named = rejected.iter().take(FEW).map(|rejected| {
        let sensor = &analysis.recording.sensors[rejected.sensor];
        let far = units::number(rejected.peak_to_peak);
        format!("{} ({sensor} {far} {})", rejected.epoch, analysis.recording.unit)
    });
    let _ = write!(line, ", rejected {}", named.collect::<Vec<_>>().join(", "));
    if rejected.len() > FEW {
        let _ = write!(line, " and {} more", rejected.len() - FEW);
    }
    line
}

/// `difference   peaks 6.21 µV Pz 349 ms, …; field power 2.1 µV 349 ms`: the two largest of each polarity, `peaks.csv` has more.
fn peaks_of(analysis: &Analysis, wave: Wave) -> String {
    const OF_EACH: usize = 2;
    let unit = &analysis.recording.unit;
    let peaks = || analysis.peaks.iter().filter(|peak| peak.of == wave);
    let told = |peak: &Peak| {
        let sensor = peak.sensor.map_or(String::new(), |at| format!("{} ", analysis.recording.sensors[at]));
        format!("{} {unit} {sensor}{}", units::number(peak.amplitude), milliseconds(peak.time_s))
    };
    let of_sensors = |positive: bool| {
        let these = peaks().filter(move |peak| peak.sensor.is_some() && (peak.amplitude > 0.0) == positive);
        these.take(OF_EACH).map(told)
    };
    let sensors: Vec<String> = of_sensors(true).chain(of_sensors(false)).collect();
    let power = peaks().find(|peak| peak.sensor.is_none()).map(told);
    let name = analysis.name_of(wave);
    if sensors.is_empty() {
        return format!("{name:<13}no peaks");
    }
    let power = power.map_or(String::new(), |peak| format!("; field power {peak}"));
    format!("{name:<13}peaks {}{power}", sensors.join(", "))
}

/// `largest |t|  11.30 at Pz 349 ms`
fn largest_t(analysis: &Analysis, t: &[f64]) -> String {
    let finite = t.iter().enumerate().filter(|(_, t)| t.is_finite());
    let Some((at, t)) = finite.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())) else {
        return "no t: nothing varies".into();
    };
    let recording = &analysis.recording;
    let (sensor, sample) = (at / recording.samples, at % recording.samples);
    let time = milliseconds(recording.time_s(sample));
    format!("{:<13}{:.2} at {} {time} (Welch)", "largest |t|", t, recording.sensors[sensor])
}

/// The permutation test: the longest intervals first.
fn test_of(analysis: &Analysis, test: &PermutationTest) -> String {
    let mut intervals: Vec<_> = test.intervals.iter().collect();
    intervals.sort_by_key(|found| std::cmp::Reverse(found.to - found.from));
    let recording = &analysis.recording;
    let named = intervals.iter().take(FEW).map(|found| {
        let [from, to] = [found.from, found.to].map(|sample| milliseconds(recording.time_s(sample)));
        format!("{} {from} to {to}", recording.sensors[found.sensor])
    });
    let told = match intervals.len() {
        0 => "nothing is significant".to_owned(),
        count => {
            let more = if count > FEW { format!(" and {} more", count - FEW) } else { String::new() };
            format!("p ≤ 0.05 at {}{more}", named.collect::<Vec<_>>().join(", "))
        }
    };
    format!("{:<13}{told} ({} permutations, critical |t| {:.2})", "significant", test.count, test.critical_t)
}

/// `349 ms`
fn milliseconds(seconds: f64) -> String {
    format!("{:.0} ms", 1000.0 * seconds)
}

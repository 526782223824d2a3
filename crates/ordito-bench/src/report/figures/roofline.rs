//! What the machine allows, and how close every variant comes.

use crate::report::figures::many::readable;
use crate::report::figures::quantity::Best;
use crate::report::record::Record;
use crate::report::{Run, table};
use ordito::units;
use ordito_chart::{Axis, Figure, Guide, Plot, Point, Scale, Series, Style};
use std::collections::BTreeSet;

/// How far the axis reaches beyond the points and the ridge: a factor.
const MARGIN: f64 = 3.0;

/// A roof: everything in it was measured with the same limits.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
struct Roof {
    /// Where, for the title.
    place: String,
    /// Bandwidths in GB/s, named; the last is that of memory.
    bandwidths: Vec<(&'static str, f64)>,
    /// Peak in GFLOP/s.
    peak: Option<f64>,
}

/// A figure for every run, place, number of threads and dtype that has flops and measured ceilings.
pub(crate) fn all(runs: &[Run]) -> Vec<(String, Figure)> {
    let mut figures = Vec::new();
    for run in runs {
        let settings: BTreeSet<(&str, Option<u64>, &str)> = run.records.iter().map(setting_of).collect();
        for setting in settings {
            let of_setting =
                run.records.iter().filter(|record| setting_of(record) == setting && !record.outcome.is_bad());
            let points: Vec<(&Record, f64, f64)> = of_setting.filter_map(place_of).collect();
            let is_known =
                |roof: &Roof| roof.bandwidths.iter().all(|(_, rate)| rate.is_finite() && *rate > 0.0);
            let roof = roof_of(run, setting).filter(is_known).filter(|_| !points.is_empty());
            let Some(roof) = roof else { continue };
            let name = match runs.len() {
                1 => roof.place.clone(),
                _ => format!("{}, {}", roof.place, run.label),
            };
            figures.push((name.clone(), draw(&name, &roof, &points)));
        }
    }
    figures
}

/// Where, with how many threads, in which dtype.
fn setting_of(record: &Record) -> (&str, Option<u64>, &str) {
    let threads = record.threads.filter(|_| record.place == "cpu");
    (&record.place, threads, &record.dtype)
}

/// Flops per byte and GFLOP/s.
fn place_of(record: &Record) -> Option<(&Record, f64, f64)> {
    let (gflops, gbytes) = (record.gflops?, record.gbytes_per_s?);
    let intensity = gflops / gbytes;
    (gflops > 0.0 && intensity.is_finite() && intensity > 0.0).then_some((record, intensity, gflops))
}

fn roof_of(run: &Run, (place, threads, dtype): (&str, Option<u64>, &str)) -> Option<Roof> {
    if place == "cpu" {
        let ceilings = run.fingerprint.ceilings_of(threads)?;
        return Some(Roof {
            place: format!("CPU, {}, {dtype}", units::threads(ceilings.threads as u64)),
            bandwidths: vec![
                ("nearest cache", ceilings.bandwidth_for(0)),
                ("memory", ceilings.bandwidth_for(u64::MAX)),
            ],
            peak: ceilings.peak_gflops(dtype),
        });
    }
    let ceilings = run.fingerprint.device_ceilings.as_ref().filter(|_| place == "cuda")?;
    let peak = if dtype == "f32" { ceilings.peak_gflops_f32 } else { ceilings.peak_gflops_f64 };
    let bandwidths = vec![("memory", ceilings.copy_gbytes_per_s)];
    Some(Roof { place: format!("{}, {dtype}", ceilings.device), bandwidths, peak })
}

fn draw(name: &str, roof: &Roof, points: &[(&Record, f64, f64)]) -> Figure {
    let mut series: Vec<Series> = Vec::new();
    for &(record, x, y) in points {
        let setting = record.k.map(|k| format!(", K = {k}")).unwrap_or_default();
        let share =
            record.percent_of_ceiling.map(|p| format!(", {p:.0} % of the ceiling")).unwrap_or_default();
        let text = format!(
            "{}: {} GFLOP/s at {} flop/B ({}{setting}){share}",
            record.name(),
            units::number(y),
            units::number(x),
            table::input_text(record)
        );
        let point = Point { x, y, range: None, text };
        match series.iter_mut().find(|series| series.name == record.name()) {
            Some(series) => series.points.push(point),
            None => {
                let name = record.name();
                series.push(Series { name, style: Style::Dots, points: vec![point], ..Series::default() });
            }
        }
    }
    let ridge = |bandwidth: f64| roof.peak.map(|peak| peak / bandwidth);
    let intensities = points.iter().map(|&(_, x, _)| x);
    let ridges = roof.bandwidths.iter().filter_map(|&(_, bandwidth)| ridge(bandwidth));
    let (low, high) = intensities
        .chain(ridges)
        .filter(|x| x.is_finite() && *x > 0.0)
        .fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
    let (low, high) = (low / MARGIN, high * MARGIN);
    let guides = roof.bandwidths.iter().map(|&(what, bandwidth)| {
        let mut path = vec![(low, low * bandwidth)];
        match (ridge(bandwidth), roof.peak) {
            (Some(ridge), Some(peak)) => path.extend([(ridge, peak), (high, peak)]),
            _ => path.push((high, high * bandwidth)),
        }
        Guide { label: format!("{what}: {} GB/s", units::number(bandwidth)), path }
    });
    let note = roof.peak.map(|peak| format!("Measured peak: {} GFLOP/s.", units::number(peak)));
    let plot = Plot {
        title: format!("Roofline: {name}"),
        note: note.unwrap_or_default(),
        x: Axis { label: "flops per byte that must move".into(), scale: Scale::Log10, ..Axis::default() },
        y: Axis { label: "GFLOP/s".into(), scale: Scale::Log10, ..Axis::default() },
        series,
        guides: guides.collect(),
    };
    readable(plot, Best::Highest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::tests::{run, timed};
    use crate::sample::DeviceCeilings;

    fn with_device(peak: Option<f64>) -> Run {
        let mut record = timed("x", 8, 1, 100.0);
        record.place = "cuda".into();
        let mut run = run("a", vec![record]);
        run.fingerprint.device_ceilings = Some(DeviceCeilings {
            device: "GPU".into(),
            copy_gbytes_per_s: 1000.0,
            peak_gflops_f64: peak,
            peak_gflops_f32: None,
        });
        run
    }

    #[test]
    fn the_roof_rises_to_the_ridge_and_is_flat_behind_it() {
        let figures = all(&[with_device(Some(8000.0))]);
        let [(name, Figure::Plot(plot))] = figures.as_slice() else { panic!("{figures:?}") };
        assert_eq!(name, "GPU, f64");
        let path = &plot.guides[0].path;
        assert_eq!((path[1], path[2].1), ((8.0, 8000.0), 8000.0));
        assert!((path[0].1 / path[0].0 - 1000.0).abs() < 1e-9 && path[2].0 > 8.0);
        assert_eq!((plot.series[0].points[0].x, plot.series[0].points[0].y), (2.0, 100.0));
    }

    #[test]
    fn without_a_peak_it_only_rises_and_without_ceilings_there_is_none() {
        let figures = all(&[with_device(None)]);
        let [(_, Figure::Plot(plot))] = figures.as_slice() else { panic!("{figures:?}") };
        assert_eq!(plot.guides[0].path.len(), 2);
        assert_eq!(all(&[run("a", vec![timed("x", 8, 1, 1.0)])]), []);
    }
}

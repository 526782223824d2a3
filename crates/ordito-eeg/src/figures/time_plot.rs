//! Plots over time: axes with units, the lines of zero and of the stimulus, curves of waves.

use crate::analysis::Analysis;
use crate::figures::unit;
use crate::recording::Recording;
use ordito_chart::{Axis, Figure, Guide, Plot, Point, Scale, Series, Style};

/// A sample's time as it is drawn.
pub(crate) fn milliseconds(recording: &Recording, sample: usize) -> f64 {
    1e3 * recording.time_s(sample)
}

/// One sensor of a wave, with its 95 % band where one is known.
pub(crate) fn curve(
    analysis: &Analysis,
    name: &str,
    sensor: usize,
    wave: &[f64],
    half_width: Option<&[f64]>,
) -> Series {
    let recording = &analysis.recording;
    let values = recording.sensor(wave, sensor);
    let around = half_width.map(|half_width| recording.sensor(half_width, sensor));
    let point = |(sample, &y): (usize, &f64)| {
        let half = around.and_then(|around| around.get(sample)).filter(|half| half.is_finite());
        let range = half.map(|half| (y - half, y + half));
        Point { x: milliseconds(recording, sample), y, range, text: String::new() }
    };
    let points = values.iter().enumerate().map(point).collect();
    Series { name: name.to_owned(), style: Style::Curve, look: None, points }
}

/// A value for every sample.
pub(crate) fn over_time(analysis: &Analysis, name: &str, values: &[f64]) -> Series {
    let point = |(sample, &y): (usize, &f64)| Point {
        x: milliseconds(&analysis.recording, sample),
        y,
        ..Point::default()
    };
    let points = values.iter().enumerate().map(point).collect();
    Series { name: name.to_owned(), style: Style::Curve, look: None, points }
}

/// The plot. `holds` are amplitudes that its axis reaches in any case, so that several plots can be compared.
pub(crate) fn plot(analysis: &Analysis, title: String, series: Vec<Series>, holds: &[f64]) -> Figure {
    let recording = &analysis.recording;
    let zero = Guide { path: vec![(f64::NEG_INFINITY, 0.0), (f64::INFINITY, 0.0)], ..Guide::default() };
    let mut guides = vec![zero];
    let last = recording.time_s(recording.samples.saturating_sub(1));
    if recording.start_s <= 0.0 && last > 0.0 {
        let path = vec![(0.0, f64::NEG_INFINITY), (0.0, f64::INFINITY)];
        guides.push(Guide { label: "stimulus".to_owned(), path });
    }
    Figure::Plot(Plot {
        title,
        note: String::new(),
        x: Axis { label: "time (ms)".to_owned(), scale: Scale::Linear, ..Axis::default() },
        y: Axis { label: unit(analysis).to_owned(), holds: holds.to_vec(), ..Axis::default() },
        series,
        guides,
    })
}

/// Smallest and largest of the values that are finite.
pub(crate) fn extremes(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    values.filter(|value| value.is_finite()).fold(None, |ends: Option<[f64; 2]>, value| {
        let [low, high] = ends.unwrap_or([value, value]);
        Some([low.min(value), high.max(value)])
    })
}

/// What the points of series reach, bands included.
pub(crate) fn reach(series: &[Series]) -> Vec<f64> {
    let points = series.iter().flat_map(|series| &series.points);
    let ends = points.flat_map(|point| [Some(point.y), point.range.map(|r| r.0), point.range.map(|r| r.1)]);
    extremes(ends.flatten()).map_or_else(Vec::new, |ends| ends.to_vec())
}

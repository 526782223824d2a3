//! A small plot for every sensor where it sits on the head; those without a place stand below.

use crate::analysis::Analysis;
use crate::figures::time_plot::{extremes, milliseconds};
use crate::figures::unit;
use crate::head::Head;
use ordito::units;
use ordito_chart::{Figure, Panel, Panels};

/// Width of a panel over its height. Rows of the 10-10 system are about as far apart as their sensors.
const SHAPE: f64 = 1.05;
/// How much of the way to its neighbour a panel takes.
const FILL: f64 = 0.94;
/// Sensors that are drawn: more would be too small to be read.
const MOST: usize = 256;

/// Both conditions at every sensor.
pub(crate) fn panels(analysis: &Analysis, head: Option<&Head>) -> Figure {
    let recording = &analysis.recording;
    let count = recording.sensors.len().min(MOST);
    let (places, height) = places(count, head);
    let panel = |(sensor, at): (usize, (f64, f64))| Panel {
        name: recording.sensors[sensor].clone(),
        at,
        curves: (analysis.conditions.iter())
            .map(|of| recording.sensor(&of.mean, sensor).iter().enumerate())
            .map(|wave| wave.map(|(sample, &y)| (milliseconds(recording, sample), y)).collect())
            .collect(),
    };
    let [low, high] =
        extremes(analysis.conditions.iter().flat_map(|of| of.mean.iter().copied()).chain([0.0]))
            .filter(|[low, high]| low < high)
            .unwrap_or([-1.0, 1.0]);
    let x = (milliseconds(recording, 0), milliseconds(recording, recording.samples.saturating_sub(1)));
    let mut note = format!(
        "Every plot reaches from {:.0} to {:.0} ms and from {} to {} {}.",
        x.0,
        x.1,
        units::number(low),
        units::number(high),
        unit(analysis)
    );
    let unplaced =
        count - head.map_or(0, |head| head.sensors.iter().filter(|&&sensor| sensor < count).count());
    if unplaced > 0 {
        note += &format!(
            " {unplaced} of the sensors have no place of their own in the 10-10 system: they stand below."
        );
    }
    if count < recording.sensors.len() {
        note += &format!(" Only the first {count} sensors are drawn.");
    }
    Figure::Panels(Panels {
        title: "All sensors".to_owned(),
        note,
        x,
        y: (low, high),
        names: analysis.conditions.iter().map(|of| of.name.clone()).collect(),
        size: (SHAPE * height, height),
        panels: places.into_iter().enumerate().map(panel).collect(),
    })
}

/// The place of every sensor, and the height of a panel with which none lies over another.
fn places(count: usize, head: Option<&Head>) -> (Vec<(f64, f64)>, f64) {
    let on_head: Vec<(usize, (f64, f64))> = head.map_or_else(Vec::new, |head| {
        let down = head.flat().into_iter().map(|(x, y)| (x, -y));
        head.sensors.iter().copied().zip(down).filter(|(sensor, _)| *sensor < count).collect()
    });
    let mut height = if on_head.len() > 1 { 0.5 } else { 1.0 };
    for (index, (_, one)) in on_head.iter().enumerate() {
        for (_, other) in &on_head[..index] {
            // Two panels are apart when they are so in one direction.
            let apart = ((one.0 - other.0).abs() / SHAPE).max((one.1 - other.1).abs());
            height = f64::min(height, apart * FILL);
        }
    }
    let mut places = vec![None; count];
    // At least as wide as a head, wherever the sensors sit.
    let (mut lowest, mut widest) = (0.0f64, 1.0f64);
    for &(sensor, at) in &on_head {
        places[sensor] = Some(at);
        (lowest, widest) = (lowest.max(at.1), widest.max(at.0.abs()));
    }
    let (across, down) = (height * SHAPE / FILL, height / FILL);
    let unplaced = places.iter().filter(|place| place.is_none()).count();
    // As wide as the head; without one, about as wide as high.
    let columns = if on_head.is_empty() {
        (unplaced as f64).sqrt().ceil()
    } else {
        (2.0 * widest / across).floor() + 1.0
    };
    let columns = columns.max(1.0) as usize;
    let first = if on_head.is_empty() { 0.0 } else { lowest + 1.5 * down };
    let mut next = 0;
    let placed = places.into_iter().map(|place| {
        place.unwrap_or_else(|| {
            let (row, col) = (next / columns, next % columns);
            next += 1;
            ((col as f64 - (columns - 1) as f64 / 2.0) * across, first + row as f64 * down)
        })
    });
    (placed.collect(), height)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::planted;

    fn no_panel_lies_over_another(panels: &Panels) {
        for (index, one) in panels.panels.iter().enumerate() {
            for other in &panels.panels[..index] {
                let (dx, dy) = ((one.at.0 - other.at.0).abs(), (one.at.1 - other.at.1).abs());
                assert!(dx > panels.size.0 || dy > panels.size.1, "{} over {}", one.name, other.name);
            }
        }
    }

    #[test]
    fn panels_are_apart_with_and_without_places() {
        let mut analysis = planted();
        for unknown in [0, 5, 64] {
            for name in analysis.recording.sensors.iter_mut().take(unknown) {
                *name = format!("E{name}");
            }
            let head = Head::new(&analysis.recording.sensors);
            assert_eq!(head.is_none(), unknown == 64);
            let Figure::Panels(panels) = panels(&analysis, head.as_ref()) else { panic!("not panels") };
            assert_eq!(panels.panels.len(), 64);
            assert!(panels.size.1 > 0.1, "{:?}", panels.size);
            assert_eq!(panels.note.contains("no place"), unknown > 0);
            no_panel_lies_over_another(&panels);
        }
    }
}

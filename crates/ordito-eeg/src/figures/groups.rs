//! The groups of the nontarget together, with the target.

use crate::analysis::Analysis;
use crate::condition::Condition;
use crate::figures::chosen::chosen_sensors;
use crate::figures::time_plot::{curve, plot, reach};
use crate::windows::milliseconds;
use ordito_chart::{Figure, Series};

/// Sensors that are drawn: each is a plot of its own.
const MOST_SENSORS: usize = 4;

/// `offset 2, 200 ms`: what begins when.
fn named(of: &Condition) -> String {
    let start = of.windows.map(|windows| format!(", {} ms", milliseconds(windows.first_s)));
    of.name.clone() + &start.unwrap_or_default()
}

/// `, windows every 800 ms`, where that is known.
fn every(analysis: &Analysis) -> String {
    let windows = analysis.groups.first().and_then(|group| group.windows);
    windows.map_or(String::new(), |windows| format!(", windows every {} ms", milliseconds(windows.step_s)))
}

/// A plot per chosen sensor; empty where nothing was grouped.
pub(crate) fn all(analysis: &Analysis) -> Vec<(String, Figure)> {
    if analysis.groups.is_empty() {
        return Vec::new();
    }
    let sensors = chosen_sensors(analysis);
    let sensors = &sensors[..sensors.len().min(MOST_SENSORS)];
    let of = |&sensor: &usize| -> Vec<Series> {
        let conditions = analysis.conditions.first().into_iter().chain(&analysis.groups);
        conditions.map(|of| curve(analysis, &named(of), sensor, &of.mean, None)).collect()
    };
    let series: Vec<Vec<Series>> = sensors.iter().map(of).collect();
    let holds = reach(&series.concat());
    let drawn = |(&sensor, series): (&usize, Vec<Series>)| {
        let name = analysis.recording.sensors.get(sensor).cloned().unwrap_or_default();
        let figure = plot(analysis, format!("{name}: groups{}", every(analysis)), series, &holds);
        (name, figure)
    };
    sensors.iter().zip(series).map(drawn).collect()
}

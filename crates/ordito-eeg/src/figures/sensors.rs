//! Chosen sensors one by one: the conditions with their bands, and the difference with its own.

use crate::analysis::Analysis;
use crate::difference::Difference;
use crate::figures::chosen::chosen_sensors;
use crate::figures::time_plot::{curve, milliseconds, plot, reach};
use ordito_chart::{Figure, Point, Series, Style};

/// The green of the difference, so that it is no condition's.
const DIFFERENCE: usize = 2;
/// The grey of what is significant.
const SIGNIFICANT: usize = 7;

/// A plot per chosen sensor, all with the same axes.
pub(crate) fn conditions(analysis: &Analysis) -> Vec<(String, Figure)> {
    let conditions = &analysis.conditions;
    let of = |sensor: usize| -> Vec<Series> {
        let one = |of: &crate::condition::Condition| {
            curve(analysis, &of.name, sensor, &of.mean, Some(&of.half_width))
        };
        conditions.iter().map(one).collect()
    };
    let names: Vec<&str> = conditions.iter().map(|condition| condition.name.as_str()).collect();
    if names.is_empty() {
        return Vec::new();
    }
    drawn(analysis, &names.join(" and "), of)
}

/// The same for the difference; empty where there is none.
pub(crate) fn differences(analysis: &Analysis) -> Vec<(String, Figure)> {
    let Some(difference) = &analysis.difference else {
        return Vec::new();
    };
    let of = |sensor: usize| {
        let wave = curve(analysis, "difference", sensor, &difference.mean, Some(&difference.half_width));
        vec![Series { look: Some(DIFFERENCE), ..wave }]
    };
    let mut figures = drawn(analysis, "difference", of);
    if let Some(test) = &difference.permutations {
        for ((_, figure), sensor) in figures.iter_mut().zip(chosen_sensors(analysis)) {
            if let Figure::Plot(plot) = figure {
                let low = plot.y.holds.first().copied().unwrap_or(0.0);
                let marked = significant(analysis, difference, sensor, low);
                plot.note = format!(
                    "{}: {} permutations, corrected for all sensors and times.",
                    if marked.is_some() { "Bar: p ≤ 0.05" } else { "Nowhere p ≤ 0.05" },
                    test.count
                );
                plot.series.extend(marked);
            }
        }
    }
    figures
}

fn drawn(analysis: &Analysis, title: &str, of: impl Fn(usize) -> Vec<Series>) -> Vec<(String, Figure)> {
    let sensors = chosen_sensors(analysis);
    let all: Vec<Vec<Series>> = sensors.iter().map(|&sensor| of(sensor)).collect();
    let holds = reach(&all.concat());
    let named = |(&sensor, series): (&usize, Vec<Series>)| {
        let name = analysis.recording.sensors.get(sensor).cloned().unwrap_or_default();
        let figure = plot(analysis, format!("{name}: {title}"), series, &holds);
        (name, figure)
    };
    sensors.iter().zip(all).map(named).collect()
}

/// Bars under the wave where the permutation test found the difference significant.
fn significant(analysis: &Analysis, difference: &Difference, sensor: usize, low: f64) -> Option<Series> {
    let test = difference.permutations.as_ref()?;
    let mut points = Vec::new();
    for interval in test.intervals.iter().filter(|interval| interval.sensor == sensor) {
        let samples = interval.from..=interval.to;
        let at = |sample: usize| milliseconds(&analysis.recording, sample);
        points.extend(samples.map(|sample| Point { x: at(sample), y: low, ..Point::default() }));
        points.push(Point { x: f64::NAN, ..Point::default() });
    }
    let series =
        Series { name: "p ≤ 0.05".to_owned(), style: Style::Curve, look: Some(SIGNIFICANT), points };
    (!series.points.is_empty()).then_some(series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::planted;

    #[test]
    fn bands_are_around_the_means_and_intervals_are_marked() {
        let analysis = planted();
        let Figure::Plot(plot) = &conditions(&analysis)[0].1 else { panic!("not a plot") };
        assert_eq!(plot.series.len(), 2);
        for point in plot.series.iter().flat_map(|series| &series.points) {
            let (from, to) = point.range.unwrap();
            assert!(from < point.y && point.y < to);
        }
        let Figure::Plot(plot) = &differences(&analysis)[0].1 else { panic!("not a plot") };
        let marked: Vec<f64> =
            plot.series[1].points.iter().map(|point| point.x).filter(|x| x.is_finite()).collect();
        assert!(marked.iter().all(|time| (200.0..500.0).contains(time)) && marked.len() > 3, "{marked:?}");
    }

    #[test]
    fn all_sensors_have_the_same_axis() {
        let analysis = planted();
        let axis = |figure: &Figure| match figure {
            Figure::Plot(plot) => plot.y.clone(),
            _ => panic!("not a plot"),
        };
        let figures = conditions(&analysis);
        assert!(figures.len() > 3 && figures.iter().all(|(_, figure)| axis(figure) == axis(&figures[0].1)));
    }
}

//! All sensors of a wave in one plot, with the global field power.

use crate::analysis::Analysis;
use crate::figures::time_plot::{extremes, milliseconds, over_time, plot};
use ordito_chart::{Figure, Point, Series, Style};

/// The grey that sensors are drawn in.
const SENSORS: usize = 7;
/// The orange of the field power.
const FIELD_POWER: usize = 1;

/// One per condition and one for the difference, all with the same axes.
pub(crate) fn all(analysis: &Analysis) -> Vec<(String, Figure)> {
    let conditions = analysis.conditions.iter();
    let mut waves: Vec<(&str, &[f64], &[f64])> =
        conditions.map(|of| (of.name.as_str(), &of.mean[..], &of.field_power[..])).collect();
    waves.extend(analysis.difference.iter().map(|of| ("difference", &of.mean[..], &of.field_power[..])));
    let values = waves.iter().flat_map(|(_, mean, power)| mean.iter().chain(power.iter()).copied());
    let holds = extremes(values).map_or_else(Vec::new, |ends| ends.to_vec());
    let one = |&(name, mean, power): &(&str, &[f64], &[f64])| {
        let series = vec![
            sensors(analysis, mean),
            Series { look: Some(FIELD_POWER), ..over_time(analysis, "global field power", power) },
        ];
        (name.to_owned(), plot(analysis, format!("All sensors, {name}"), series, &holds))
    };
    waves.iter().map(one).collect()
}

/// Every sensor as a line of its own, ended by a point that cannot be drawn.
fn sensors(analysis: &Analysis, wave: &[f64]) -> Series {
    let recording = &analysis.recording;
    let mut points = Vec::with_capacity(recording.elements() + recording.sensors.len());
    for (sensor, name) in recording.sensors.iter().enumerate() {
        for (sample, &y) in recording.sensor(wave, sensor).iter().enumerate() {
            let text = if sample == 0 { name.clone() } else { String::new() };
            points.push(Point { x: milliseconds(recording, sample), y, range: None, text });
        }
        points.push(Point { x: f64::NAN, ..Point::default() });
    }
    let name = match recording.sensors.len() {
        1 => "1 sensor".to_owned(),
        count => format!("{count} sensors"),
    };
    Series { name, style: Style::Thin, look: Some(SENSORS), points }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::planted;

    #[test]
    fn every_sensor_is_a_line_that_says_its_name() {
        let analysis = planted();
        let figures = all(&analysis);
        assert_eq!(
            figures.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            ["target", "nontarget", "difference"]
        );
        let Figure::Plot(plot) = &figures[2].1 else { panic!("not a plot") };
        let lines: Vec<&[Point]> = plot.series[0].points.split(|point| point.x.is_nan()).collect();
        assert_eq!(lines.len(), 64 + 1); // nothing follows the last
        let pz = lines.iter().find(|line| line[0].text == "Pz").unwrap();
        let largest = pz.iter().max_by(|a, b| a.y.total_cmp(&b.y)).unwrap();
        assert!((largest.x - 350.0).abs() < 20.0 && largest.y > 5.0, "{largest:?}");
        assert_eq!(plot.series[1].points.len(), analysis.recording.samples);
    }
}

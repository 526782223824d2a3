//! Maps of the head at the peaks.

use crate::analysis::Analysis;
use crate::figures::chosen::latencies;
use crate::figures::time_plot::milliseconds;
use crate::figures::unit;
use crate::head::{Field, Head};
use ordito_chart::{Figure, Map, Maps};

/// Cells on a side of a map.
const SIDE: usize = 64;

/// Difference and its t, then the conditions on a scale of their own; all at the same times.
pub(crate) fn all(analysis: &Analysis, head: &Head) -> Vec<(String, Figure)> {
    let Some(field) = head.field(SIDE) else {
        return Vec::new();
    };
    let times = latencies(analysis);
    let row = |title: String, label: String, wave: &[f64]| Maps {
        title,
        note: String::new(),
        label,
        most: None,
        side: SIDE,
        outline: head.outline(),
        dots: dots(analysis, head),
        maps: times.iter().map(|&sample| map(analysis, head, &field, wave, sample)).collect(),
    };
    let mut figures = Vec::new();
    if let Some(difference) = &analysis.difference {
        let amplitude = row("Difference".into(), unit(analysis).into(), &difference.mean);
        figures.push(("difference".to_owned(), Figure::Maps(amplitude)));
        let t = row("Difference, Welch’s t".into(), "t".into(), &difference.t);
        figures.push(("t".to_owned(), Figure::Maps(t)));
    }
    let one = |of: &crate::condition::Condition| {
        (of.name.clone(), row(of.name.clone(), unit(analysis).into(), &of.mean))
    };
    let conditions: Vec<(String, Maps)> = analysis.conditions.iter().map(one).collect();
    let values = conditions.iter().flat_map(|(_, maps)| &maps.maps).flat_map(|map| &map.values);
    let most = values.filter(|value| value.is_finite()).fold(0.0, |most: f64, value| most.max(value.abs()));
    for (name, maps) in conditions {
        figures.push((name, Figure::Maps(Maps { most: Some(most), ..maps })));
    }
    figures
}

fn dots(analysis: &Analysis, head: &Head) -> Vec<(String, (f64, f64))> {
    let name = |&sensor: &usize| analysis.recording.sensors[sensor].clone();
    head.sensors.iter().map(name).zip(head.dots()).collect()
}

fn map(analysis: &Analysis, head: &Head, field: &Field, wave: &[f64], sample: usize) -> Map {
    let recording = &analysis.recording;
    let measured: Vec<f64> =
        head.sensors.iter().map(|&sensor| wave[recording.index(sensor, sample)]).collect();
    let title = format!("{:.0} ms", milliseconds(recording, sample));
    Map { title, values: field.values(&measured), measured }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::planted;

    #[test]
    fn conditions_share_a_scale() {
        let analysis = planted();
        let figures = all(&analysis, &Head::new(&analysis.recording.sensors).unwrap());
        let names: Vec<&str> = figures.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["difference", "t", "target", "nontarget"]);
        let most = |figure: &Figure| match figure {
            Figure::Maps(maps) => (maps.most, maps.maps.len()),
            _ => panic!("not a map"),
        };
        assert!(most(&figures[2].1).0.is_some() && most(&figures[2].1) == most(&figures[3].1));
    }
}

//! The cursor: one time in all plots, the values there, and the map there. The numbers that the script needs are attributes
//! of its panel, as f32 in base64.

use crate::analysis::Analysis;
use crate::figures::{chosen_sensors, latencies, main_wave, unit};
use crate::head::Head;
use crate::recording::Recording;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ordito_chart::markup::escape;
use std::fmt::Write;

/// Cells on a side of the map; the browser smooths them.
const SIDE: usize = 32;
/// Numbers of the map's wave: of a longer one, every so many-th sample.
const MOST_NUMBERS: usize = 100_000;

/// The panel, which the script shows; empty where there is no wave.
pub(crate) fn panel(analysis: &Analysis) -> String {
    let Some((_, name, wave)) = main_wave(analysis) else {
        return String::new();
    };
    let recording = &analysis.recording;
    let every = recording.elements().div_ceil(MOST_NUMBERS).max(1);
    let samples: Vec<usize> = (0..recording.samples).step_by(every).collect();
    let times: Vec<f64> = samples.iter().map(|&sample| 1e3 * recording.time_s(sample)).collect();
    let start = start(analysis, wave) / every;
    let map = Head::new(&recording.sensors)
        .map_or_else(String::new, |head| map(recording, &head, &samples, name, wave));
    format!(
        "<aside class=\"cursor\" id=\"cursor\" aria-label=\"Time cursor\" hidden data-times=\"{}\" {}>\n\
         <details open><summary>Time cursor: <output id=\"cursor-time\"></output></summary>\n\
         <input type=\"range\" id=\"cursor-slider\" aria-label=\"Time\" min=\"0\" max=\"{}\" value=\"{start}\">\n\
         <div class=\"cursor-parts\">{map}{}</div>\n</details></aside>\n",
        floats(times),
        values(analysis, &samples),
        samples.len().saturating_sub(1),
        table(analysis),
    )
}

/// Where the cursor stands at first: at the largest value of the times that have a map.
fn start(analysis: &Analysis, wave: &[f64]) -> usize {
    let recording = &analysis.recording;
    let largest = |sample: &usize| {
        let values = (0..recording.sensors.len()).map(|sensor| wave[recording.index(sensor, *sample)].abs());
        values.filter(|value| value.is_finite()).fold(0.0, f64::max)
    };
    let times = latencies(analysis);
    times.into_iter().max_by(|one, other| largest(one).total_cmp(&largest(other))).unwrap_or(0)
}

/// A canvas that the script paints, under the outline of the head.
fn map(recording: &Recording, head: &Head, samples: &[usize], name: &str, wave: &[f64]) -> String {
    let Some(field) = head.field(SIDE) else {
        return String::new();
    };
    let measured = |&sensor: &usize| samples.iter().map(move |&sample| wave[recording.index(sensor, sample)]);
    let waves = floats(head.sensors.iter().flat_map(measured));
    let inside = floats(field.inside.iter().map(|&cell| cell as f64));
    let weights = floats(field.weights.iter().copied());
    let mut outline = String::new();
    for line in head.outline() {
        let points: Vec<String> =
            line.iter().map(|(x, y)| format!("{:.2},{:.2}", 100.0 * x, 100.0 * y)).collect();
        let _ = write!(outline, "<polyline points=\"{}\"/>", points.join(" ")); // writing to a string cannot fail
    }
    for (x, y) in head.dots() {
        let _ = write!(outline, "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"0.8\"/>", 100.0 * x, 100.0 * y);
    }
    format!(
        "<div class=\"cursor-map\"><canvas id=\"cursor-map\" width=\"{SIDE}\" height=\"{SIDE}\" role=\"img\" \
         aria-label=\"Map of the {0} at the cursor\" style=\"clip-path: circle({1:.2}%)\" data-waves=\"{waves}\" \
         data-inside=\"{inside}\" data-weights=\"{weights}\"></canvas>\
         <svg viewBox=\"0 0 100 100\" aria-hidden=\"true\">{outline}</svg><p>{0}, ± <span id=\"cursor-most\"></span> {2}</p></div>",
        escape(name),
        100.0 * head.disc(),
        escape(&recording.unit),
    )
}

/// Waves of the chosen sensors: condition after condition, then the difference; in each sensor after sensor.
fn values(analysis: &Analysis, samples: &[usize]) -> String {
    let sensors = chosen_sensors(analysis);
    let waves = columns(analysis);
    let mut values = Vec::new();
    for (_, wave) in &waves {
        for &sensor in &sensors {
            values.extend(samples.iter().map(|&sample| wave[analysis.recording.index(sensor, sample)]));
        }
    }
    format!("data-values=\"{}\"", floats(values))
}

fn columns(analysis: &Analysis) -> Vec<(&str, &[f64])> {
    let mut waves: Vec<(&str, &[f64])> =
        analysis.conditions.iter().map(|of| (of.name.as_str(), &of.mean[..])).collect();
    waves.extend(analysis.difference.iter().map(|of| ("difference", &of.mean[..])));
    waves
}

/// A cell for each of the values; the script fills them.
fn table(analysis: &Analysis) -> String {
    let waves = columns(analysis);
    let titles: String =
        waves.iter().map(|(name, _)| format!("<th scope=\"col\">{}</th>", escape(name))).collect();
    let mut rows = String::new();
    for &sensor in &chosen_sensors(analysis) {
        let name = analysis.recording.sensors.get(sensor).map_or("", String::as_str);
        let cells = "<td></td>".repeat(waves.len());
        let _ = writeln!(rows, "<tr><th scope=\"row\">{}</th>{cells}</tr>", escape(name));
    }
    format!(
        "<div class=\"cursor-values\" tabindex=\"0\"><table id=\"cursor-values\">\n<caption>{} at the cursor</caption>\n\
         <thead><tr><th scope=\"col\">sensor</th>{titles}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>",
        escape(unit(analysis))
    )
}

/// Numbers as f32, little-endian, in base64. What is not finite is 0: a picture of it would be blank as well.
fn floats(values: impl IntoIterator<Item = f64>) -> String {
    let finite = values.into_iter().map(|value| if value.is_finite() { value as f32 } else { 0.0 });
    let bytes: Vec<u8> = finite.flat_map(f32::to_le_bytes).collect();
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::planted;

    fn decoded(html: &str, attribute: &str) -> Vec<f32> {
        let from = html.find(&format!("{attribute}=\"")).unwrap() + attribute.len() + 2;
        let text = &html[from..from + html[from..].find('"').unwrap()];
        let bytes = STANDARD.decode(text).unwrap();
        bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
    }

    #[test]
    fn the_script_gets_every_number() {
        let analysis = planted();
        let html = panel(&analysis);
        let (inside, weights) = (decoded(&html, "data-inside"), decoded(&html, "data-weights"));
        assert_eq!((decoded(&html, "data-times").len(), decoded(&html, "data-waves").len()), (82, 64 * 82));
        assert_eq!(weights.len(), inside.len() * 64);
        assert_eq!(decoded(&html, "data-values").len(), 3 * chosen_sensors(&analysis).len() * 82);
        // Weights add up to 1: a constant stays one.
        assert!(weights.chunks(64).all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-3));
        let start: usize = html.split("value=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        assert!((analysis.recording.time_s(start) - 0.35).abs() < 0.02, "{start}");
    }

    #[test]
    fn long_recordings_are_thinned() {
        let mut analysis = planted();
        analysis.recording.samples = 4000;
        let elements = analysis.recording.elements();
        for of in &mut analysis.conditions {
            of.mean = vec![1.0; elements];
        }
        analysis.difference = None;
        let html = panel(&analysis);
        assert!(
            decoded(&html, "data-waves").len() <= MOST_NUMBERS && decoded(&html, "data-times").len() > 1000
        );
    }
}

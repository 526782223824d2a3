//! A line chart as inline SVG: a rate over K, one line per series. Plain data in, text out.

use super::escape;
use crate::units;
use std::fmt::Write;

/// One line of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Series {
    pub(super) name: String,
    /// (K, rate), K ascending.
    pub(super) points: Vec<(u64, f64)>,
}

/// Colours in the style sheet; further series start again, dashed.
const COLOURS: usize = 8;
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 42.0;

/// Class of the n-th series.
pub(super) fn colour(series: usize) -> String {
    format!("s{}", series % COLOURS)
}

fn dashes(series: usize) -> &'static str {
    ["", " stroke-dasharray=\"7 4\"", " stroke-dasharray=\"2 3\""][series / COLOURS % 3]
}

/// The chart; nothing where there are not two different K to draw a line between. `id` must be unique in
/// the page.
pub(super) fn lines(id: &str, title: &str, unit: &str, series: &[Series]) -> String {
    let mut ks: Vec<u64> =
        series.iter().flat_map(|s| s.points.iter().map(|p| p.0)).filter(|&k| k > 0).collect();
    ks.sort_unstable();
    ks.dedup();
    let (Some(&first), Some(&last)) = (ks.first(), ks.last()) else {
        return String::new();
    };
    if first == last {
        return String::new();
    }
    let highest = series.iter().flat_map(|s| s.points.iter().map(|p| p.1)).fold(0.0, f64::max);
    let step = nice_step(highest);
    let top = step * (highest / step).ceil().max(1.0);
    let (low, high) = ((first as f64).log2(), (last as f64).log2());
    let x = |k: u64| LEFT + (WIDTH - LEFT - RIGHT) * ((k as f64).log2() - low) / (high - low);
    let y = |rate: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * rate / top;

    let description: Vec<String> = series.iter().map(described).collect();
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" \
         aria-labelledby=\"{id}-title {id}-desc\">\n<title id=\"{id}-title\">{}</title>\n\
         <desc id=\"{id}-desc\">{}</desc>\n",
        escape(title),
        escape(&description.join(". "))
    );
    let mut add = |text: String| svg.push_str(&text);
    for tick in 0..=(top / step).round() as u64 {
        let (rate, right) = (tick as f64 * step, WIDTH - RIGHT);
        let at = y(rate);
        add(format!("<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>"));
        let (beside, below) = (LEFT - 6.0, at + 4.0);
        let label = units::number(rate);
        add(format!("<text x=\"{beside}\" y=\"{below:.1}\" text-anchor=\"end\">{label}</text>\n"));
    }
    let under = HEIGHT - BOTTOM + 18.0;
    for &k in &ks {
        add(format!("<text x=\"{:.1}\" y=\"{under}\" text-anchor=\"middle\">{k}</text>\n", x(k)));
    }
    let (middle, foot) = ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 6.0);
    add(format!(
        "<text x=\"{middle}\" y=\"{foot}\" text-anchor=\"middle\">K (log scale); {unit} upwards</text>\n"
    ));
    for (number, series) in series.iter().enumerate() {
        let points = series.points.iter().filter(|(k, _)| *k > 0);
        let path: Vec<String> =
            points.clone().map(|&(k, rate)| format!("{:.1},{:.1}", x(k), y(rate))).collect();
        let (class, dashes) = (colour(number), dashes(number));
        add(format!(
            "<g class=\"{class}\"><polyline class=\"series\"{dashes} points=\"{}\"/>",
            path.join(" ")
        ));
        for &(k, rate) in points {
            let (cx, cy, rate) = (x(k), y(rate), units::number(rate));
            let name = escape(&series.name);
            add(format!("<circle class=\"point\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"3\">"));
            add(format!("<title>{name}, K = {k}: {rate} {unit}</title></circle>"));
        }
        add("</g>\n".to_owned());
    }
    svg.push_str("</svg>\n");
    svg
}

/// The line in words.
fn described(series: &Series) -> String {
    let mut text = format!("{}:", series.name);
    for (k, rate) in &series.points {
        let _ = write!(text, " {} at K = {k}", units::number(*rate)); // writing to a string cannot fail
    }
    text
}

/// 1, 2 or 5 times a power of ten: about five steps to the highest value.
fn nice_step(highest: f64) -> f64 {
    if !(highest > 0.0 && highest.is_finite()) {
        return 1.0;
    }
    let rough = highest / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|&step| step >= rough * 0.999).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (highest, step) in [(4.9, 1.0), (5.0, 1.0), (5.1, 2.0), (23.0, 5.0), (99.0, 20.0), (0.0, 1.0)] {
            assert_eq!(nice_step(highest), step, "{highest}");
        }
        assert_eq!(nice_step(f64::NAN), 1.0);
    }

    #[test]
    fn the_axis_is_logarithmic_and_names_are_escaped() {
        let series = [Series { name: "<b>&".to_owned(), points: vec![(4, 1.0), (8, 2.0), (16, 4.0)] }];
        let svg = lines("c0", "A \"title\"", "GFLOP/s", &series);
        assert!(svg.contains("points=\"56.0,212.0 402.0,146.0 748.0,14.0\""), "{svg}");
        assert!(svg.contains("&lt;b&gt;&amp;, K = 8: 2.00 GFLOP/s") && !svg.contains("<b>"));
        assert!(svg.contains("<title id=\"c0-title\">A &quot;title&quot;</title>"));
        assert_eq!(svg.matches("<circle").count(), 3);
    }

    #[test]
    fn one_k_makes_no_line() {
        let one = [Series { name: "a".to_owned(), points: vec![(8, 1.0)] }];
        assert_eq!(lines("c", "t", "u", &one), "");
        assert_eq!(lines("c", "t", "u", &[]), "");
    }

    #[test]
    fn later_series_are_dashed() {
        assert_eq!((colour(1), colour(9)), ("s1".to_owned(), "s1".to_owned()));
        assert!(dashes(1).is_empty() && !dashes(9).is_empty());
    }
}

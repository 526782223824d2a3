//! A field of cells, shaded by value.

use super::drawing::{Drawing, nothing};
use super::frame::Frame;
use super::palette::{Look, look};
use super::pen::{Anchor, Lettering, Medium, Pen, Stroke, px, rectangle};
use super::{Grid, Shades, text, ticks};
use std::fmt::Write;

/// Shades that can be told apart. Neighbours of one shade become one rectangle, so few shades also make small files.
const LEVELS: u8 = 8;
/// Which colours stand for values above and below 0.
const HUES: [usize; 2] = [0, 1];

/// Shade of a cell: which hue, and how strong, from 1 to `LEVELS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Shade {
    below_zero: bool,
    level: u8,
}

/// Smallest and largest size of a value that is not blank.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sizes {
    least: f64,
    most: f64,
}

/// The field with its key, without title.
pub(super) fn draw(grid: &Grid, medium: Medium) -> Drawing {
    let Some(sizes) = sizes(grid).filter(|_| grid.rows > 0 && grid.cols > 0) else {
        return nothing(medium);
    };
    let area = area(grid, medium);
    let mut pen = Pen::new(medium);
    edges(&mut pen, grid, &area);
    for below_zero in [false, true] {
        let hue = hue(below_zero);
        let shades: Vec<(Shade, String)> = (1..=LEVELS)
            .map(|level| Shade { below_zero, level })
            .map(|shade| (shade, cells(grid, sizes, shade)))
            .collect();
        if shades.iter().all(|(_, cells)| cells.is_empty()) {
            continue;
        }
        pen.begin_series(usize::from(below_zero), hue);
        let (across, down) = (area.width() / grid.cols as f64, area.height() / grid.rows as f64);
        // Without crisp edges there would be thin lines between neighbouring cells.
        pen.raw(&format!(
            "<g shape-rendering=\"crispEdges\" fill=\"{}\" transform=\"translate({} {}) scale({across:.4} {down:.4})\">\n",
            medium.colour(hue),
            px(area.left),
            px(area.top)
        ));
        for (shade, cells) in shades.iter().filter(|(_, cells)| !cells.is_empty()) {
            pen.raw(&format!("<path fill-opacity=\"{:.2}\" d=\"{cells}\"/>\n", opacity(shade.level)));
        }
        pen.raw("</g>\n");
        pen.end_series();
    }
    pen.path(Stroke::Frame, &rectangle(area.left, area.top, area.width(), area.height()));
    key(&mut pen, grid, sizes, &area);
    Drawing { height: area.bottom + medium.letters() * 3.2, body: pen.finish() }
}

fn hue(below_zero: bool) -> Look {
    look(HUES[usize::from(below_zero)])
}

fn opacity(level: u8) -> f64 {
    0.16 + 0.84 * f64::from(level) / f64::from(LEVELS)
}

/// Square cells, as far as that leaves a field people can see.
fn area(grid: &Grid, medium: Medium) -> Frame {
    let letters = medium.letters();
    let ends = [grid.y.first, grid.y.last].map(|end| text::width(&ticks::plain(end), letters));
    let left = ends[0].max(ends[1]) + 14.0;
    let widest = medium.width() - left - letters * 9.0;
    let highest = medium.plot_height() * 1.25;
    let shape = (grid.rows as f64 / grid.cols as f64).clamp(0.12, 8.0);
    let width = widest.min(highest / shape).max(30.0);
    let top = letters * 2.0;
    Frame { left, top, right: left + width, bottom: top + (width * shape).min(highest) }
}

/// Names and end values of both directions.
fn edges(pen: &mut Pen, grid: &Grid, area: &Frame) {
    let letters = pen.medium.letters();
    let room = pen.medium.width() - 4.0;
    pen.text(Lettering::AxisLabel, Anchor::Start, (2.0, letters), &text::cut(&grid.y.label, letters, room));
    let beside = area.left - 6.0;
    pen.text(Lettering::Tick, Anchor::End, (beside, area.top + letters * 0.8), &ticks::plain(grid.y.first));
    pen.text(Lettering::Tick, Anchor::End, (beside, area.bottom), &ticks::plain(grid.y.last));
    let below = area.bottom + letters * 1.3;
    pen.text(Lettering::Tick, Anchor::Start, (area.left, below), &ticks::plain(grid.x.first));
    pen.text(Lettering::Tick, Anchor::End, (area.right, below), &ticks::plain(grid.x.last));
    let label = text::cut(&grid.x.label, letters, room);
    let half = text::width(&label, letters) / 2.0;
    let middle = ((area.left + area.right) / 2.0).clamp(half, (room - half).max(half));
    pen.text(Lettering::AxisLabel, Anchor::Middle, (middle, area.bottom + letters * 2.6), &label);
}

fn size(grid: &Grid, value: f64) -> Option<f64> {
    let size = if grid.shades == Shades::Signed { value.abs() } else { value };
    (size.is_finite() && size > 0.0).then_some(size)
}

fn sizes(grid: &Grid) -> Option<Sizes> {
    let sizes = || {
        grid.values.iter().take(grid.rows.saturating_mul(grid.cols)).filter_map(|&value| size(grid, value))
    };
    let first = sizes().next()?;
    Some(Sizes { least: sizes().fold(first, f64::min), most: sizes().fold(first, f64::max) })
}

fn shade(grid: &Grid, sizes: Sizes, value: f64) -> Option<Shade> {
    let size = size(grid, value)?;
    let share = match grid.shades {
        Shades::Counts if sizes.least < sizes.most => {
            (size.ln() - sizes.least.ln()) / (sizes.most.ln() - sizes.least.ln())
        }
        Shades::Counts => 1.0,
        Shades::Signed => size / sizes.most,
    };
    let level = 1 + (share * f64::from(LEVELS)).clamp(0.0, f64::from(LEVELS - 1)) as u8;
    Some(Shade { below_zero: value < 0.0, level })
}

/// All cells of one shade, neighbours in a row as one rectangle, in units of cells.
fn cells(grid: &Grid, sizes: Sizes, wanted: Shade) -> String {
    let mut path = String::new();
    for (row, values) in grid.values.chunks(grid.cols).take(grid.rows).enumerate() {
        let mut col = 0;
        let is_wanted = |value: &f64| shade(grid, sizes, *value) == Some(wanted);
        for run in values.chunk_by(|one, other| is_wanted(one) == is_wanted(other)) {
            if run.first().is_some_and(is_wanted) {
                // Writing to a string cannot fail.
                let _ = write!(path, "M{col} {row}h{}v1H{col}z", run.len());
            }
            col += run.len();
        }
    }
    path
}

/// The shades one under the other beside the field, the largest value on top.
fn key(pen: &mut Pen, grid: &Grid, sizes: Sizes, area: &Frame) {
    let (medium, letters) = (pen.medium, pen.medium.letters());
    let left = area.right + letters * 1.2;
    let room = medium.width() - left;
    let signed = grid.shades == Shades::Signed && grid.values.iter().any(|value| *value < 0.0);
    let mut shades: Vec<Shade> = (1..=LEVELS).rev().map(|level| Shade { below_zero: false, level }).collect();
    if signed {
        shades.extend((1..=LEVELS).map(|level| Shade { below_zero: true, level }));
    }
    let lines = text::wrap(&grid.label, letters, room, 3);
    for (line, words) in lines.iter().enumerate() {
        let baseline = area.top + letters * (0.8 + 1.15 * line as f64);
        pen.text(Lettering::AxisLabel, Anchor::Start, (left, baseline), words);
    }
    let top = area.top + letters * (0.6 + 1.15 * lines.len() as f64);
    // The height of the key is its own: a flat field has one, too.
    let height = if signed { letters * 0.5 } else { letters * 0.75 };
    for (number, shade) in shades.iter().enumerate() {
        let hue = hue(shade.below_zero);
        let outline = rectangle(left, top + height * number as f64, letters * 1.3, height);
        let class =
            if medium == Medium::Page { format!(" class=\"s{}\"", hue.colour) } else { String::new() };
        let (colour, strength) = (medium.colour(hue), opacity(shade.level));
        pen.raw(&format!(
            "<path{class} fill=\"{colour}\" fill-opacity=\"{strength:.2}\" d=\"{outline}\"/>\n"
        ));
    }
    let bottom = top + height * shades.len() as f64;
    let beside = left + letters * 1.3 + 5.0;
    let mut at = |height: f64, value: f64| {
        pen.text(Lettering::Tick, Anchor::Start, (beside, height), &ticks::plain(value));
    };
    at(top + letters * 0.7, sizes.most);
    match (grid.shades, signed) {
        (Shades::Counts, _) if sizes.least == sizes.most => {}
        (Shades::Counts, _) => at(bottom, sizes.least),
        (Shades::Signed, false) => at(bottom, 0.0),
        (Shades::Signed, true) => {
            at((top + bottom) / 2.0 + letters * 0.35, 0.0);
            at(bottom, -sizes.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_are_one_rectangle() {
        let grid =
            Grid { rows: 2, cols: 3, values: vec![5.0, 5.0, 0.0, f64::NAN, 5.0, 5.0], ..Grid::default() };
        let sizes = sizes(&grid).unwrap();
        let all = Shade { below_zero: false, level: LEVELS };
        assert_eq!(cells(&grid, sizes, all), "M0 0h2v1H0zM1 1h2v1H1z");
    }

    #[test]
    fn shades_go_by_the_logarithm_of_counts_and_the_sign_of_others() {
        let grid = Grid { rows: 1, cols: 3, values: vec![1.0, 10.0, 100.0], ..Grid::default() };
        let level =
            |grid: &Grid, value| shade(grid, sizes(grid).unwrap(), value).map(|s| (s.below_zero, s.level));
        assert_eq!(
            [1.0, 10.0, 100.0].map(|v| level(&grid, v)),
            [Some((false, 1)), Some((false, 5)), Some((false, 8))]
        );
        assert_eq!((level(&grid, 0.0), level(&grid, -1.0), level(&grid, f64::NAN)), (None, None, None));
        let grid = Grid { shades: Shades::Signed, values: vec![-4.0, 0.0, 2.0], ..grid };
        assert_eq!([-4.0, 2.0, 0.0].map(|v| level(&grid, v)), [Some((true, 8)), Some((false, 5)), None]);
    }
}

//! A field of cells, shaded by value.

use crate::drawing::{Drawing, nothing};
use crate::frame::Frame;
use crate::outline::rectangle;
use crate::pen::{Anchor, Lettering, Medium, Pen, Stroke};
use crate::shades;
use crate::shades::{Hues, Shade};
use crate::{Grid, Shades, text, ticks};

/// Blue above 0, orange below; the smallest value can be told from none.
const HUES: Hues = Hues { looks: [0, 1], faintest: 0.265 };

/// Smallest and largest size of a value that is not blank.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sizes {
    least: f64,
    most: f64,
}

/// The field with its key, without title.
pub(crate) fn draw(grid: &Grid, medium: Medium) -> Drawing {
    let Some(sizes) = sizes(grid).filter(|_| grid.rows > 0 && grid.cols > 0) else {
        return nothing(medium);
    };
    let area = area(grid, medium);
    let mut pen = Pen::new(medium);
    edges(&mut pen, grid, &area);
    shades::field(&mut pen, &area, (grid.rows, grid.cols), &grid.values, HUES, &|value| {
        shade(grid, sizes, value)
    });
    pen.path(Stroke::Frame, rectangle(area.left, area.top, area.width(), area.height()));
    key(&mut pen, grid, sizes, &area);
    Drawing { height: area.bottom + medium.letters() * 3.2, elements: pen.finish() }
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
    Some(Shade::of_share(share, value < 0.0))
}

/// The shades one under the other beside the field, the largest value on top.
fn key(pen: &mut Pen, grid: &Grid, sizes: Sizes, area: &Frame) {
    let (medium, letters) = (pen.medium, pen.medium.letters());
    let left = area.right + letters * 1.2;
    let room = medium.width() - left;
    let signed = grid.shades == Shades::Signed && grid.values.iter().any(|value| *value < 0.0);
    let shades = shades::all(signed);
    let lines = text::wrap(&grid.label, letters, room, 3);
    for (line, words) in lines.iter().enumerate() {
        let baseline = area.top + letters * (0.8 + 1.15 * line as f64);
        pen.text(Lettering::AxisLabel, Anchor::Start, (left, baseline), words);
    }
    let top = area.top + letters * (0.6 + 1.15 * lines.len() as f64);
    // The height of the key is its own: a flat field has one, too.
    let height = if signed { letters * 0.5 } else { letters * 0.75 };
    shades::samples(pen, (left, top), (letters * 1.3, height), &shades, HUES);
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

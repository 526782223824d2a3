//! Horizontal bars, one under the other.

use crate::drawing::{Drawing, nothing};
use crate::frame::Frame;
use crate::outline::rectangle;
use crate::palette::look;
use crate::pen::{Anchor, Lettering, Medium, Pen, Shape, Stroke};
use crate::scale::{Fit, Ruler, drawable};
use crate::{Axis, Bar, Bars, Scale, axes, text, ticks};

/// How much of a row a bar fills.
const FILL: f64 = 0.68;

/// Bars without title and legend.
pub(crate) fn draw(bars: &Bars, medium: Medium) -> Drawing {
    let parts = part_count(bars);
    let scale = if parts > 1 { Scale::Linear } else { bars.scale };
    let drawn: Vec<f64> = bars.rows.iter().flat_map(ends).filter(|&end| drawable(scale, end)).collect();
    if drawn.is_empty() {
        return nothing(medium);
    }
    let axis = Axis { scale, from_zero: true, ..Axis::default() };
    let ruler = Ruler::new(&axis, &drawn, Fit::Bars);

    let (letters, width) = (medium.letters(), medium.width());
    let row_height = letters * 1.55;
    let widest = |texts: Vec<String>| texts.iter().map(|text| text::width(text, letters)).fold(0.0, f64::max);
    let names: Vec<String> =
        bars.rows.iter().map(|row| text::cut_middle(&row.name, letters, width * 0.45)).collect();
    let values: Vec<String> = bars.rows.iter().map(|row| value_text(row, letters, width * 0.28)).collect();
    let left = widest(names.clone()) + 10.0;
    let right = width - (widest(values.clone()) + 8.0).max(letters * 1.5);
    let area = Frame { left, top: 2.0, right, bottom: 4.0 + row_height * bars.rows.len() as f64 };

    let mut pen = Pen::new(medium);
    axes::across(&mut pen, &area, &ruler, &bars.label);
    let top = |row: usize| area.top + 1.0 + row_height * row as f64;
    let baseline = |row: usize| top(row) + row_height / 2.0 + letters * 0.35;
    for (row, name) in names.iter().enumerate() {
        pen.text(Lettering::Name, Anchor::End, (area.left - 6.0, baseline(row)), name);
    }
    for part in 0..parts {
        pen.begin_series(part, look(part));
        for (row, bar) in bars.rows.iter().enumerate() {
            if let Some((from, to)) = extent(bar, part, &ruler) {
                let (from, to) = (area.place(from, 0.0).0, area.place(to, 0.0).0);
                let inset = row_height * (1.0 - FILL) / 2.0;
                let outline =
                    rectangle(from.min(to), top(row) + inset, (to - from).abs().max(0.5), row_height * FILL);
                pen.shape(Shape::Bar, look(part), outline, &told(bars, bar, part));
            }
        }
        pen.end_series();
    }
    for (row, (bar, value)) in bars.rows.iter().zip(&values).enumerate() {
        let furthest = ends(bar).filter_map(|end| ruler.at(end)).fold(origin(&ruler), f64::max);
        let behind = area.place(furthest, 0.0).0 + 6.0;
        pen.text(Lettering::Value, Anchor::Start, (behind, baseline(row)), value);
    }
    let zero = area.place(origin(&ruler), 0.0).0;
    pen.line(Stroke::Axis, (zero, area.top), (zero, area.bottom));
    Drawing { height: area.bottom + axes::below(medium), elements: pen.finish() }
}

/// How many parts a bar has.
pub(crate) fn part_count(bars: &Bars) -> usize {
    bars.rows.iter().map(|row| row.values.len()).fold(bars.parts.len(), usize::max)
}

/// Where bars begin: at 0, or where a logarithmic axis does.
fn origin(ruler: &Ruler) -> f64 {
    ruler.at(0.0).unwrap_or(0.0)
}

/// Both ends of a bar: sums of what is positive and of what is negative.
fn ends(bar: &Bar) -> impl Iterator<Item = f64> {
    let values = || bar.values.iter().copied().filter(|value| value.is_finite());
    let any = values().next().is_some();
    let positive: f64 = values().filter(|value| *value > 0.0).sum();
    let negative: f64 = values().filter(|value| *value < 0.0).sum();
    [positive, negative].into_iter().filter(move |_| any)
}

/// From where to where a part of a bar is drawn; parts of the same sign follow one another.
fn extent(bar: &Bar, part: usize, ruler: &Ruler) -> Option<(f64, f64)> {
    let value = bar.values.get(part).copied().filter(|value| value.is_finite())?;
    let before = bar.values.iter().take(part).filter(|other| other.is_finite());
    let before: f64 = before.filter(|other| (**other < 0.0) == (value < 0.0)).sum();
    let from = if before == 0.0 { origin(ruler) } else { ruler.at(before)? };
    (value != 0.0).then_some((from, ruler.at(before + value)?))
}

fn total(bar: &Bar) -> f64 {
    bar.values
        .iter()
        .copied()
        .filter(|value| value.is_finite())
        .reduce(|sum, value| sum + value)
        .unwrap_or(f64::NAN)
}

fn value_text(bar: &Bar, letters: f64, room: f64) -> String {
    if bar.text.is_empty() { ticks::plain(total(bar)) } else { text::cut(&bar.text, letters, room) }
}

/// What a reader who points at a part of a bar is told.
fn told(bars: &Bars, bar: &Bar, part: usize) -> String {
    let value = bar.values.get(part).copied().unwrap_or(f64::NAN);
    match bars.parts.get(part).filter(|name| !name.is_empty()) {
        Some(name) => format!("{}, {name}: {}", bar.name, ticks::plain(value)),
        None if bar.text.is_empty() => format!("{}: {}", bar.name, ticks::plain(value)),
        None => format!("{}: {}", bar.name, bar.text),
    }
}

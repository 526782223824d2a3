//! The two axes of a plot: rules, marks and names.

use crate::frame::Frame;
use crate::pen::{Anchor, Lettering, Medium, Pen, Stroke};
use crate::scale::Ruler;
use crate::text;

/// Between the area and what is written beside it.
const GAP: f64 = 7.0;
/// Length of a mark without a text.
const MINOR: f64 = 4.0;

/// How much is written below the area.
pub(crate) fn below(medium: Medium) -> f64 {
    medium.letters() * 3.4
}

/// The area that is left beside the texts of the upward axis and under its name.
pub(crate) fn area(medium: Medium, y: &Ruler, y_label: &str) -> Frame {
    let letters = medium.letters();
    let widest = y.ticks().map(|(_, tick)| text::width(&tick.label, letters)).fold(0.0, f64::max);
    let top = if y_label.is_empty() { letters } else { letters * 2.0 };
    // The text of the last mark is centred below it and may reach beyond the area.
    let right = medium.width() - letters * 1.2;
    Frame { left: widest + 2.0 * GAP, top, right, bottom: top + medium.plot_height() }
}

/// Both axes, each with its name.
pub(crate) fn draw(pen: &mut Pen, area: &Frame, (x, x_label): (&Ruler, &str), (y, y_label): (&Ruler, &str)) {
    let (letters, width) = (pen.medium.letters(), pen.medium.width());
    let mut lowest_free = f64::INFINITY;
    for (up, tick) in y.ticks() {
        let height = area.place(0.0, up).1;
        if tick.label.is_empty() {
            pen.line(Stroke::Axis, (area.left - MINOR, height), (area.left, height));
            continue;
        }
        pen.line(Stroke::Rule, (area.left, height), (area.right, height));
        // Marks that are asked for can be too close to be written.
        if (lowest_free - height).abs() >= letters {
            pen.text(Lettering::Tick, Anchor::End, (area.left - GAP, height + letters * 0.35), &tick.label);
            lowest_free = height;
        }
    }
    across(pen, area, x, x_label);
    pen.line(Stroke::Axis, (area.left, area.bottom), (area.right, area.bottom));
    pen.line(Stroke::Axis, (area.left, area.top), (area.left, area.bottom));
    let label = text::cut(y_label, letters, width - 4.0);
    pen.text(Lettering::AxisLabel, Anchor::Start, (2.0, letters), &label);
}

/// Marks, rules and name of an axis from left to right.
pub(crate) fn across(pen: &mut Pen, area: &Frame, x: &Ruler, label: &str) {
    let (letters, width) = (pen.medium.letters(), pen.medium.width());
    let mut written_to = f64::NEG_INFINITY;
    for (share, tick) in x.ticks() {
        let at = area.place(share, 0.0).0;
        if tick.label.is_empty() {
            pen.line(Stroke::Axis, (at, area.bottom), (at, area.bottom + MINOR));
            continue;
        }
        pen.line(Stroke::Rule, (at, area.top), (at, area.bottom));
        let half = text::width(&tick.label, letters) / 2.0;
        let middle = at.clamp(half, (width - half).max(half));
        if middle - half > written_to {
            pen.text(Lettering::Tick, Anchor::Middle, (middle, area.bottom + letters * 1.35), &tick.label);
            written_to = middle + half + letters * 0.4;
        }
    }
    let label = text::cut(label, letters, width - 4.0);
    // In the middle of the area, as far as the picture's edges let it.
    let half = text::width(&label, letters) / 2.0;
    let middle = ((area.left + area.right) / 2.0).clamp(half, (width - half).max(half));
    pen.text(Lettering::AxisLabel, Anchor::Middle, (middle, area.bottom + letters * 2.9), &label);
}

//! Small plots with common axes, each at its place.

use crate::drawing::{Drawing, nothing};
use crate::frame::{Frame, Spot};
use crate::outline::polyline;
use crate::palette::look;
use crate::pen::{Anchor, Lettering, Medium, Pen, Shape, Stroke};
use crate::thin::thinned;
use crate::{Panel, Panels, text};

/// Height of a panel, at most, over that of a plot.
const MOST_HEIGHT: f64 = 0.45;

/// The panels without title and legend.
pub(crate) fn draw(panels: &Panels, medium: Medium) -> Drawing {
    let finite = |panel: &&Panel| panel.at.0.is_finite() && panel.at.1.is_finite();
    let drawn: Vec<&Panel> = panels.panels.iter().filter(finite).collect();
    let ends = |of: fn(&Panel) -> f64| {
        let values = drawn.iter().map(|panel| of(panel));
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)))
    };
    let ((left, right), (top, bottom)) = (ends(|panel| panel.at.0), ends(|panel| panel.at.1));
    // A pixel at each side is for the lines of the frames.
    let scale = (medium.width() - 2.0) / (right - left + panels.size.0);
    if drawn.is_empty() || !(scale > 0.0 && scale.is_finite()) {
        return nothing(medium);
    }
    // Few panels must not fill a whole page each.
    let scale = scale.min(medium.plot_height() * MOST_HEIGHT / panels.size.1);
    let (width, height) = (panels.size.0 * scale, panels.size.1 * scale);
    let margin = (medium.width() - (right - left) * scale - width) / 2.0;
    let mut pen = Pen::new(medium);
    for panel in &drawn {
        let (x, y) = (margin + (panel.at.0 - left) * scale, 1.0 + (panel.at.1 - top) * scale);
        one(&mut pen, panels, panel, &Frame { left: x, top: y, right: x + width, bottom: y + height });
    }
    Drawing { height: (bottom - top) * scale + height + 4.0, elements: pen.finish() }
}

fn one(pen: &mut Pen, panels: &Panels, panel: &Panel, area: &Frame) {
    let share = |value: f64, (from, to): (f64, f64)| (value - from) / (to - from);
    let place = |&(x, y): &(f64, f64)| -> Option<Spot> {
        let (across, up) = (share(x, panels.x), share(y, panels.y));
        (across.is_finite() && up.is_finite()).then(|| area.place(across.clamp(0.0, 1.0), up.clamp(0.0, 1.0)))
    };
    pen.area(area, Some(panels.x));
    // Both zero lines are all the axes that fit.
    for (from, to) in [((panels.x.0, 0.0), (panels.x.1, 0.0)), ((0.0, panels.y.0), (0.0, panels.y.1))] {
        let (across, up) = (share(from.0, panels.x), share(from.1, panels.y));
        if let (Some(from), Some(to), true) =
            (place(&from), place(&to), (0.0..=1.0).contains(&across) && (0.0..=1.0).contains(&up))
        {
            pen.line(Stroke::Rule, from, to);
        }
    }
    for (number, curve) in panel.curves.iter().enumerate() {
        let look = look(number);
        pen.begin_series(number, look);
        let places: Vec<Option<Spot>> = curve.iter().map(place).collect();
        for run in places.split(Option::is_none) {
            let run: Vec<((), Spot)> = run.iter().flatten().map(|&place| ((), place)).collect();
            let seen: Vec<Spot> = thinned(&run).into_iter().map(|(_, place)| place).collect();
            if seen.len() > 1 {
                pen.shape(Shape::Thin, look, polyline(seen), "");
            }
        }
        pen.end_series();
    }
    let letters = if pen.medium == Medium::Page { 10.0 } else { 8.0 };
    let name = text::cut(&panel.name, letters, area.width());
    pen.text(Lettering::Small, Anchor::Start, (area.left + 1.0, area.top + letters * 0.9), &name);
}

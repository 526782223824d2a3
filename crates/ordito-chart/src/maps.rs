//! Fields over one outline, side by side, shaded on a common scale.

use crate::drawing::{Drawing, nothing};
use crate::frame::{Frame, Spot};
use crate::outline::{polygon, polyline, rectangle};
use crate::pen::{Anchor, Element, Lettering, Medium, Pen, Stroke};
use crate::shades;
use crate::shades::{Hues, Shade};
use crate::{Map, Maps, text, ticks};

/// Orange above 0, blue below, as readers of such maps expect; about 0 is nearly blank.
const HUES: Hues = Hues { looks: [1, 0], faintest: 0.06 };
/// Fields in a row, at most.
const MOST_ACROSS: usize = 4;
/// Of a dot.
const RADIUS: f64 = 1.3;

/// The fields with their key, without title.
pub(crate) fn draw(maps: &Maps, medium: Medium) -> Drawing {
    let finite = maps.maps.iter().flat_map(|map| &map.values).filter(|value| value.is_finite());
    let largest = finite.fold(None, |most: Option<f64>, value| Some(most.unwrap_or(0.0).max(value.abs())));
    let Some(largest) = largest.filter(|_| maps.side > 0) else {
        return nothing(medium);
    };
    // A field of zeros is blank, and its scale as good as any.
    let most = maps.most.unwrap_or(largest);
    let most = if most > 0.0 && most.is_finite() { most } else { 1.0 };
    let letters = medium.letters();
    let room = medium.width() - letters * 7.0;
    // As few rows as possible, all about as full.
    let lines = maps.maps.len().div_ceil(MOST_ACROSS);
    let across = maps.maps.len().div_ceil(lines.max(1)).max(2);
    let side = room / across as f64 * 0.96;
    let line = side + letters * 1.8;
    let mut pen = Pen::new(medium);
    for (number, map) in maps.maps.iter().enumerate() {
        let left = (number % across) as f64 * room / across as f64;
        let top = (number / across) as f64 * line + letters * 1.5;
        let area = Frame { left, top, right: left + side, bottom: top + side };
        one(&mut pen, maps, map, &area, most);
    }
    let key_height = key(&mut pen, maps, room + letters * 0.6, most);
    Drawing { height: (line * lines as f64 + 4.0).max(key_height), elements: pen.finish() }
}

fn one(pen: &mut Pen, maps: &Maps, map: &Map, area: &Frame, most: f64) {
    let letters = pen.medium.letters();
    let title = text::cut(&map.title, letters, area.width());
    let middle = (area.left + area.right) / 2.0;
    pen.text(Lettering::AxisLabel, Anchor::Middle, (middle, area.top - letters * 0.4), &title);
    let shade = |value: f64| {
        value.is_finite().then(|| Shade::of_share(value.abs() / most, value < 0.0)).filter(|_| value != 0.0)
    };
    shades::field(pen, area, (maps.side, maps.side), &map.values, HUES, &shade);
    let place = |&(x, y): &(f64, f64)| area.place(x, 1.0 - y);
    mask(pen, maps, area);
    for line in &maps.outline {
        pen.path(Stroke::Outline, polyline(line.iter().map(place).collect()));
    }
    for (dot, (name, at)) in maps.dots.iter().enumerate() {
        let value = map.measured.get(dot).map_or(String::new(), |&value| ticks::plain(value));
        pen.draw(Element::Dot { place: place(at), radius: RADIUS, told: format!("{name}: {value}") });
    }
}

/// Cells have corners: what lies beyond the first line is painted over. (A clip path would need a name of its own.)
fn mask(pen: &mut Pen, maps: &Maps, area: &Frame) {
    let Some(bound) = maps.outline.first() else { return };
    let places: Vec<Spot> = bound.iter().map(|&(x, y)| area.place(x, 1.0 - y)).collect();
    let around = rectangle(area.left, area.top, area.width(), area.height());
    pen.draw(Element::Mask(around.and(polygon(places))));
}

/// The shades beside the fields; how far down they reach.
fn key(pen: &mut Pen, maps: &Maps, left: f64, most: f64) -> f64 {
    let letters = pen.medium.letters();
    let lines = text::wrap(&maps.label, letters, pen.medium.width() - left, 3);
    for (line, words) in lines.iter().enumerate() {
        pen.text(Lettering::AxisLabel, Anchor::Start, (left, letters * (1.0 + 1.15 * line as f64)), words);
    }
    let (shades, height) = (shades::all(true), letters * 0.5);
    let top = letters * (0.8 + 1.15 * lines.len() as f64);
    let bottom = top + height * shades.len() as f64;
    shades::samples(pen, (left, top), (letters * 1.3, height), &shades, HUES);
    let beside = left + letters * 1.3 + 5.0;
    for (at, value) in
        [(top + letters * 0.7, most), ((top + bottom) / 2.0 + letters * 0.35, 0.0), (bottom, -most)]
    {
        pen.text(Lettering::Tick, Anchor::Start, (beside, at), &ticks::plain(value));
    }
    bottom + letters
}

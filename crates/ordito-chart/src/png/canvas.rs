//! Elements of a picture as pixels. What is only for the script and the readers of the page is passed over.

use super::letters::Fonts;
use crate::frame::Spot;
use crate::ink;
use crate::ink::{Colour, DARK, Edge, Ink, Inside, LEGEND, Letters, Line, WHITE};
use crate::outline::{Outline, Piece, mark, polyline, tenths};
use crate::palette::{Mark, corners, reach};
use crate::paper::{MARGIN, Sheet};
use crate::pen::{Anchor, Cells, Element};
use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};

/// Pixels, and where on them is drawn.
pub(super) struct Canvas {
    pixels: Pixmap,
    fonts: Fonts,
    scale: f32,
    /// Places are seen from here.
    origin: Spot,
}

impl Canvas {
    /// White, with so many pixels per unit.
    pub(super) fn new(mut pixels: Pixmap, scale: f32, fonts: Fonts) -> Self {
        pixels.fill(Color::WHITE);
        Canvas { pixels, fonts, scale, origin: (0.0, 0.0) }
    }

    /// What was drawn.
    pub(super) fn finish(self) -> Pixmap {
        self.pixels
    }

    /// A whole sheet.
    pub(super) fn sheet(&mut self, sheet: &Sheet) {
        for line in &sheet.head {
            self.text(&line.text, line.letters, Anchor::Start, (MARGIN, line.baseline));
        }
        self.origin = (MARGIN, tenths(sheet.drawing_top));
        self.elements(&sheet.drawing);
        for item in &sheet.legend {
            let (x, y) = item.corner;
            self.origin = (MARGIN + tenths(x), tenths(sheet.legend_top) + tenths(y));
            self.elements(&item.swatch);
            self.text(&item.name, LEGEND, Anchor::Start, item.name_at);
        }
    }

    /// One after the other.
    pub(super) fn elements(&mut self, elements: &[Element]) {
        for element in elements {
            self.element(element);
        }
    }

    fn element(&mut self, element: &Element) {
        let filled = |colour, strength| Ink { inside: Inside::Filled(colour, strength), line: None };
        match element {
            Element::Line(stroke, from, to) => {
                let line = polyline(vec![*from, *to]);
                self.outline(&line, &Ink::of_stroke(*stroke), FillRule::Winding);
            }
            Element::Path(stroke, outline) => {
                self.outline(outline, &Ink::of_stroke(*stroke), FillRule::Winding);
            }
            Element::Shape { shape, look, outline, .. } => {
                self.outline(outline, &Ink::of_shape(*shape, *look), FillRule::Winding);
            }
            Element::Sample { hue, strength, outline } => {
                self.outline(outline, &filled(ink::of_look(*hue), *strength), FillRule::Winding);
            }
            Element::Mask(outline) => self.outline(outline, &filled(WHITE, 1.0), FillRule::EvenOdd),
            Element::Dot { place, radius, .. } => {
                let dot = mark(Mark::Circle, *place, *radius);
                self.outline(&dot, &filled(DARK, 1.0), FillRule::Winding);
            }
            Element::Text { lettering, anchor, place, text } => {
                self.text(text, Letters::of(*lettering), *anchor, *place);
            }
            Element::Cells(cells) => self.cells(cells),
            Element::Area(..) | Element::BeginSeries(..) | Element::EndSeries => {}
        }
    }

    fn outline(&mut self, outline: &Outline, ink: &Ink, rule: FillRule) {
        // Nothing to see, or nothing that has a place.
        let Some(path) = path(outline) else { return };
        if let Inside::Filled(colour, strength) = ink.inside {
            self.fill(&path, colour, strength, rule);
        }
        if let Some(line) = &ink.line {
            self.stroke(&path, line);
        }
    }

    fn text(&mut self, text: &str, letters: Letters, anchor: Anchor, (x, y): Spot) {
        let place = (tenths(x), tenths(y));
        let Some(path) = self.fonts.outline(text, letters.size as f32, anchor, place) else { return };
        let edge = |colour, width| Line { colour, width, strength: 1.0, round: false, dashes: &[] };
        if let Edge::Halo(colour, width) = letters.edge {
            self.stroke(&path, &edge(colour, width));
        }
        self.fill(&path, letters.colour, 1.0, FillRule::Winding);
        if let Edge::Bold(width) = letters.edge {
            self.stroke(&path, &edge(letters.colour, width));
        }
    }

    /// With crisp edges: otherwise there would be thin lines between neighbouring cells.
    fn cells(&mut self, cells: &Cells) {
        let (left, top) = (tenths(cells.corner.0), tenths(cells.corner.1));
        let (across, down) = (cells.size.0 as f32, cells.size.1 as f32);
        let transform = self.transform().pre_translate(left as f32, top as f32).pre_scale(across, down);
        for (strength, runs) in &cells.shades {
            let mut builder = PathBuilder::new();
            for run in runs {
                if let Some(rect) = Rect::from_xywh(run.col as f32, run.row as f32, run.length as f32, 1.0) {
                    builder.push_rect(rect);
                }
            }
            if let Some(path) = builder.finish() {
                let paint = Paint { anti_alias: false, ..paint(ink::of_look(cells.hue), *strength) };
                self.pixels.fill_path(&path, &paint, FillRule::Winding, transform, None);
            }
        }
    }

    fn fill(&mut self, path: &Path, colour: Colour, strength: f64, rule: FillRule) {
        let transform = self.transform();
        self.pixels.fill_path(path, &paint(colour, strength), rule, transform, None);
    }

    fn stroke(&mut self, path: &Path, line: &Line) {
        let stroke = Stroke {
            width: line.width as f32,
            line_join: if line.round { LineJoin::Round } else { LineJoin::Miter },
            // None where there are no dashes.
            dash: StrokeDash::new(line.dashes.iter().copied().map(f32::from).collect(), 0.0),
            ..Stroke::default()
        };
        let transform = self.transform();
        self.pixels.stroke_path(path, &paint(line.colour, line.strength), &stroke, transform, None);
    }

    fn transform(&self) -> Transform {
        let (x, y) = self.origin;
        Transform::from_scale(self.scale, self.scale).pre_translate(x as f32, y as f32)
    }
}

fn paint(Colour(colour): Colour, strength: f64) -> Paint<'static> {
    let [_, red, green, blue] = colour.to_be_bytes();
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(red, green, blue, (strength.clamp(0.0, 1.0) * 255.0).round() as u8);
    paint
}

/// The same places as in the SVG file.
fn path(outline: &Outline) -> Option<Path> {
    let mut builder = PathBuilder::new();
    let at = |value: f64| tenths(value) as f32;
    for piece in &outline.0 {
        match piece {
            Piece::Open(places) => through(&mut builder, places.iter().map(|&(x, y)| (at(x), at(y)))),
            Piece::Closed(places) => {
                through(&mut builder, places.iter().map(|&(x, y)| (at(x), at(y))));
                builder.close();
            }
            &Piece::Rectangle { left, top, width, height } => {
                let (left, top) = (at(left), at(top));
                let (right, bottom) = (left + at(width), top + at(height));
                through(
                    &mut builder,
                    [(left, top), (right, top), (right, bottom), (left, bottom)].into_iter(),
                );
                builder.close();
            }
            &Piece::Mark(Mark::Circle, (x, y), radius) => builder.push_circle(at(x), at(y), radius as f32),
            &Piece::Mark(mark, (x, y), radius) => {
                let r = reach(mark, radius);
                through(&mut builder, corners(mark).iter().map(|(dx, dy)| (at(x + r * dx), at(y + r * dy))));
                builder.close();
            }
        }
    }
    builder.finish()
}

fn through(builder: &mut PathBuilder, places: impl Iterator<Item = (f32, f32)>) {
    for (number, (x, y)) in places.enumerate() {
        if number == 0 {
            builder.move_to(x, y);
        } else {
            builder.line_to(x, y);
        }
    }
}

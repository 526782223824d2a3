//! Elements of a picture as pixels. What is only for the script and the readers of the page is passed over.

use super::area::{Area, Rule};
use super::letters::Fonts;
use super::path::Path;
use super::pixels::Pixels;
use super::stroke::stroke;
use crate::frame::{Frame, Spot};
use crate::ink;
use crate::ink::{Colour, DARK, Edge, Ink, Inside, LEGEND, Letters, Line, WHITE};
use crate::outline::{Outline, Piece, mark, polyline, tenths};
use crate::palette::{Mark, corners, reach};
use crate::paper::{MARGIN, Sheet};
use crate::pen::{Anchor, Cells, Element};

/// Pixels, and where on them is drawn.
pub(super) struct Canvas {
    pixels: Pixels,
    fonts: Fonts,
    scale: f64,
    /// Places are seen from here.
    origin: Spot,
}

impl Canvas {
    /// With so many pixels per unit.
    pub(super) fn new(pixels: Pixels, scale: f64, fonts: Fonts) -> Self {
        Canvas { pixels, fonts, scale, origin: (0.0, 0.0) }
    }

    /// What was drawn.
    pub(super) fn finish(self) -> Pixels {
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
                self.outline(&line, &Ink::of_stroke(*stroke), Rule::NonZero);
            }
            Element::Path(stroke, outline) => {
                self.outline(outline, &Ink::of_stroke(*stroke), Rule::NonZero);
            }
            Element::Shape { shape, look, outline, .. } => {
                self.outline(outline, &Ink::of_shape(*shape, *look), Rule::NonZero);
            }
            Element::Sample { hue, strength, outline } => {
                self.outline(outline, &filled(ink::of_look(*hue), *strength), Rule::NonZero);
            }
            Element::Mask(outline) => self.outline(outline, &filled(WHITE, 1.0), Rule::EvenOdd),
            Element::Dot { place, radius, .. } => {
                let dot = mark(Mark::Circle, *place, *radius);
                self.outline(&dot, &filled(DARK, 1.0), Rule::NonZero);
            }
            Element::Text { lettering, anchor, place, text } => {
                self.text(text, Letters::of(*lettering), *anchor, *place);
            }
            Element::Cells(cells) => self.cells(cells),
            Element::Area(..) | Element::BeginSeries(..) | Element::EndSeries => {}
        }
    }

    fn outline(&mut self, outline: &Outline, ink: &Ink, rule: Rule) {
        let path = path(outline);
        if let Inside::Filled(colour, strength) = ink.inside {
            self.fill(&path, colour, strength, rule);
        }
        if let Some(line) = &ink.line {
            self.stroke(&path, line);
        }
    }

    fn text(&mut self, text: &str, letters: Letters, anchor: Anchor, (x, y): Spot) {
        let place = (tenths(x), tenths(y));
        let Some(path) = self.fonts.outline(text, letters.size, anchor, place) else { return };
        let edge = |colour, width| Line { colour, width, strength: 1.0, round: false, dashes: &[] };
        if let Edge::Halo(colour, width) = letters.edge {
            self.stroke(&path, &edge(colour, width));
        }
        self.fill(&path, letters.colour, 1.0, Rule::NonZero);
        if let Edge::Bold(width) = letters.edge {
            self.stroke(&path, &edge(letters.colour, width));
        }
    }

    /// With crisp edges: otherwise there would be thin lines between neighbouring cells.
    fn cells(&mut self, cells: &Cells) {
        let (left, top) = (tenths(cells.corner.0), tenths(cells.corner.1));
        let corner =
            |col: usize, row: usize| (left + col as f64 * cells.size.0, top + row as f64 * cells.size.1);
        for (strength, runs) in &cells.shades {
            for run in runs {
                let (left, top) = self.pixel(corner(run.col, run.row));
                let (right, bottom) = self.pixel(corner(run.col + run.length, run.row + 1));
                self.pixels.crisp(Frame { left, top, right, bottom }, ink::of_look(cells.hue), *strength);
            }
        }
    }

    fn fill(&mut self, path: &Path, colour: Colour, strength: f64, rule: Rule) {
        let mut area = Area::new(self.pixels.height());
        for line in &path.0 {
            area.ring(line.places.iter().map(|&place| self.pixel(place)));
        }
        self.pixels.fill(area, rule, colour, strength);
    }

    fn stroke(&mut self, path: &Path, line: &Line) {
        let mut area = Area::new(self.pixels.height());
        stroke(path, line, |ring| area.ring(ring.iter().map(|&place| self.pixel(place))));
        self.pixels.fill(area, Rule::NonZero, line.colour, line.strength);
    }

    /// Where a place is, in pixels from the upper left corner of the picture.
    fn pixel(&self, (x, y): Spot) -> Spot {
        ((x + self.origin.0) * self.scale, (y + self.origin.1) * self.scale)
    }
}

/// The same places as in the SVG file.
fn path(outline: &Outline) -> Path {
    let mut path = Path::default();
    let at = |(x, y): Spot| (tenths(x), tenths(y));
    for piece in &outline.0 {
        match piece {
            Piece::Open(places) => path.through(places.iter().copied().map(at), false),
            Piece::Closed(places) => path.through(places.iter().copied().map(at), true),
            &Piece::Rectangle { left, top, width, height } => {
                let (left, top) = at((left, top));
                let (right, bottom) = (left + tenths(width), top + tenths(height));
                path.through([(left, top), (right, top), (right, bottom), (left, bottom)], true);
            }
            &Piece::Mark(Mark::Circle, place, radius) => path.circle(at(place), radius),
            &Piece::Mark(mark, (x, y), radius) => {
                let r = reach(mark, radius);
                path.through(corners(mark).iter().map(|(dx, dy)| at((x + r * dx, y + r * dy))), true);
            }
        }
    }
    path
}

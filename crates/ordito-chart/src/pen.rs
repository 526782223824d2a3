//! A picture as a list of what is drawn, each by its kind. What a kind looks like is known to the style sheet in the page
//! and to `ink` on paper; `svg` and `png` make files of the list.

use crate::frame::{Frame, Spot};
use crate::outline::Outline;
use crate::palette::Look;

/// Where a picture will be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Medium {
    /// In the report.
    Page,
    /// In a file of its own.
    Paper,
}

/// Kinds of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lettering {
    /// At a mark of an axis.
    Tick,
    /// The name of an axis.
    AxisLabel,
    /// The name of a bar.
    Name,
    /// A value behind a bar.
    Value,
    /// Beside a guide.
    GuideLabel,
    /// Beside a point.
    PointLabel,
    /// In a small plot.
    Small,
    /// Beside and above one of many plots.
    Panel,
}

/// Where a text begins, seen from its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Kinds of lines that are no data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// Across the plot at a mark of an axis.
    Rule,
    /// The axis itself.
    Axis,
    /// What data are held against.
    Guide,
    /// Around a field of cells.
    Frame,
    /// The outline of what fields lie over.
    Outline,
    /// Data that are not talked about: grey, behind those that are.
    Behind,
}

/// Kinds of shapes that are data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// From point to point.
    Line,
    /// The same, one of many.
    Thin,
    /// Around a line, where it may as well be.
    Band,
    /// Uncertainty of one point.
    Range,
    /// A mark.
    Point,
    /// A bar, or a part of one.
    Bar,
}

impl Medium {
    /// Width of every picture. On paper, figures are often 8 cm wide: few pixels make large letters.
    pub(crate) fn width(self) -> f64 {
        match self {
            Medium::Page => 720.0,
            Medium::Paper => 480.0,
        }
    }

    /// Height of the area of a plot.
    pub(crate) fn plot_height(self) -> f64 {
        match self {
            Medium::Page => 300.0,
            Medium::Paper => 250.0,
        }
    }

    /// Size of the letters.
    pub(crate) fn letters(self) -> f64 {
        match self {
            Medium::Page => 13.0, // as in chart.css
            Medium::Paper => 14.0,
        }
    }
}

/// What a picture consists of. `told` is what a reader of the page who points at it is told; it may be empty.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Element {
    /// A straight line that is no data.
    Line(Stroke, Spot, Spot),
    /// An outline that is no data.
    Path(Stroke, Outline),
    /// A text; the place is its baseline's.
    Text { lettering: Lettering, anchor: Anchor, place: Spot, text: String },
    /// Where data lie, for the script of the page, which has to find a value's place: the rectangle, and the values at its
    /// left and right.
    Area(Frame, (f64, f64)),
    /// What follows belongs to a series.
    BeginSeries(usize, Look),
    /// The series is complete.
    EndSeries,
    /// A shape of a series.
    Shape { shape: Shape, look: Look, outline: Outline, told: String },
    /// Cells of one hue.
    Cells(Cells),
    /// A sample of a shade: its hue and how strong it is.
    Sample { hue: Look, strength: f64, outline: Outline },
    /// Paper over what was drawn before, except in the holes of the outline.
    Mask(Outline),
    /// A small full circle.
    Dot { place: Spot, radius: f64, told: String },
}

/// Cells of one hue in a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cells {
    pub(crate) hue: Look,
    /// The upper left corner of the field.
    pub(crate) corner: Spot,
    /// Width and height of a cell.
    pub(crate) size: (f64, f64),
    /// How strong a shade is, and where it is.
    pub(crate) shades: Vec<(f64, Vec<Run>)>,
}

/// Neighbours in a row of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) row: usize,
    /// Of the first one.
    pub(crate) col: usize,
    /// How many.
    pub(crate) length: usize,
}

/// A drawing under way.
pub(crate) struct Pen {
    /// What it is for.
    pub(crate) medium: Medium,
    elements: Vec<Element>,
}

impl Pen {
    /// On an empty sheet.
    pub(crate) fn new(medium: Medium) -> Self {
        Pen { medium, elements: Vec::new() }
    }

    /// What was drawn.
    pub(crate) fn finish(self) -> Vec<Element> {
        self.elements
    }

    /// Anything.
    pub(crate) fn draw(&mut self, element: Element) {
        self.elements.push(element);
    }

    /// A line that is no data.
    pub(crate) fn line(&mut self, stroke: Stroke, from: Spot, to: Spot) {
        self.draw(Element::Line(stroke, from, to));
    }

    /// An outline that is no data.
    pub(crate) fn path(&mut self, stroke: Stroke, outline: Outline) {
        self.draw(Element::Path(stroke, outline));
    }

    /// A text; the place is its baseline's.
    pub(crate) fn text(&mut self, lettering: Lettering, anchor: Anchor, place: Spot, text: &str) {
        self.draw(Element::Text { lettering, anchor, place, text: text.to_owned() });
    }

    /// Where data lie, and the values at its left and right where they are known.
    pub(crate) fn area(&mut self, area: &Frame, ends: Option<(f64, f64)>) {
        if let Some(ends) = ends {
            self.draw(Element::Area(*area, ends));
        }
    }

    /// What follows belongs to a series, until [`end_series`](Self::end_series).
    pub(crate) fn begin_series(&mut self, number: usize, look: Look) {
        self.draw(Element::BeginSeries(number, look));
    }

    /// The series is complete.
    pub(crate) fn end_series(&mut self) {
        self.draw(Element::EndSeries);
    }

    /// A shape of a series; `told` is what a reader who points at it is told.
    pub(crate) fn shape(&mut self, shape: Shape, look: Look, outline: Outline, told: &str) {
        self.draw(Element::Shape { shape, look, outline, told: told.to_owned() });
    }
}

//! What pictures are drawn with: names of classes in the page, whose style sheet knows the colours, and fixed colours on
//! paper.

use crate::frame::{Frame, Place};
use crate::markup::escape;
use crate::palette::{Look, ON_WHITE};
use std::fmt::Write;

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

    fn stroke(self, stroke: Stroke) -> &'static str {
        match (self, stroke) {
            (Medium::Page, Stroke::Rule) => "class=\"rule\"",
            (Medium::Page, Stroke::Axis) => "class=\"axis-line\"",
            (Medium::Page, Stroke::Guide) => "class=\"guide\"",
            (Medium::Page, Stroke::Frame) => "class=\"frame\"",
            (Medium::Page, Stroke::Outline) => "class=\"outline\"",
            (Medium::Paper, Stroke::Rule) => "stroke=\"#dcdfe3\"",
            (Medium::Paper, Stroke::Axis) => "stroke=\"#555b61\"",
            (Medium::Paper, Stroke::Guide) => {
                "fill=\"none\" stroke=\"#555b61\" stroke-width=\"1.4\" stroke-dasharray=\"6 4\""
            }
            (Medium::Paper, Stroke::Frame) => "fill=\"none\" stroke=\"#9aa0a6\"",
            (Medium::Paper, Stroke::Outline) => {
                "fill=\"none\" stroke=\"#1c1e21\" stroke-width=\"1.3\" stroke-linejoin=\"round\""
            }
        }
    }

    fn lettering(self, lettering: Lettering) -> &'static str {
        match (self, lettering) {
            (Medium::Page, Lettering::Tick) => "class=\"tick\"",
            (Medium::Page, Lettering::AxisLabel) => "class=\"axis-label\"",
            (Medium::Page, Lettering::Name) => "class=\"name\"",
            (Medium::Page, Lettering::Value) => "class=\"value\"",
            (Medium::Page, Lettering::GuideLabel) => "class=\"guide-label\"",
            (Medium::Page, Lettering::PointLabel) => "class=\"point-label\"",
            (Medium::Page, Lettering::Small) => "class=\"small\"",
            (Medium::Paper, Lettering::Small) => "font-size=\"8\"",
            (Medium::Paper, Lettering::GuideLabel | Lettering::PointLabel | Lettering::Value) => {
                "paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"3\""
            }
            (Medium::Paper, _) => "",
        }
    }

    /// The colour of a series.
    pub(crate) fn colour(self, look: Look) -> &'static str {
        match self {
            Medium::Page => "currentColor",
            Medium::Paper => ON_WHITE[look.colour % ON_WHITE.len()],
        }
    }

    /// Attributes of a shape of a series.
    pub(crate) fn shape(self, shape: Shape, look: Look) -> String {
        let dashes = match (shape, look.dashes) {
            (Shape::Line, dashes) if !dashes.is_empty() => format!(" stroke-dasharray=\"{dashes}\""),
            _ => String::new(),
        };
        let strength = match (shape, look.strength) {
            (Shape::Bar, strength) if strength < 100 => {
                format!(" fill-opacity=\"{}\"", f64::from(strength) / 100.0)
            }
            _ => String::new(),
        };
        let colour = self.colour(look);
        let basic = match (self, shape) {
            (Medium::Page, Shape::Line) => "class=\"line\"".to_owned(),
            (Medium::Page, Shape::Thin) => "class=\"line thin\"".to_owned(),
            (Medium::Page, Shape::Band) => "class=\"band\"".to_owned(),
            (Medium::Page, Shape::Range) => "class=\"range\"".to_owned(),
            (Medium::Page, Shape::Point) => "class=\"point\"".to_owned(),
            (Medium::Page, Shape::Bar) => "class=\"bar\"".to_owned(),
            (Medium::Paper, Shape::Line) => {
                format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-linejoin=\"round\"")
            }
            (Medium::Paper, Shape::Thin) => {
                format!(
                    "fill=\"none\" stroke=\"{colour}\" stroke-width=\"0.6\" stroke-opacity=\"0.7\" stroke-linejoin=\"round\""
                )
            }
            (Medium::Paper, Shape::Band) => format!("fill=\"{colour}\" fill-opacity=\"0.2\""),
            (Medium::Paper, Shape::Range) => {
                format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.4\"")
            }
            (Medium::Paper, Shape::Point) => {
                format!("fill=\"{colour}\" stroke=\"#ffffff\" stroke-width=\"0.8\"")
            }
            (Medium::Paper, Shape::Bar) => {
                format!("fill=\"{colour}\" stroke=\"#ffffff\" stroke-width=\"0.5\"")
            }
        };
        format!("{basic}{dashes}{strength}")
    }
}

/// A drawing under way.
pub(crate) struct Pen {
    /// What it is for.
    pub(crate) medium: Medium,
    svg: String,
}

impl Pen {
    /// On an empty sheet.
    pub(crate) fn new(medium: Medium) -> Self {
        Pen { medium, svg: String::new() }
    }

    /// What was drawn.
    pub(crate) fn finish(self) -> String {
        self.svg
    }

    /// SVG as it is.
    pub(crate) fn raw(&mut self, svg: &str) {
        self.svg.push_str(svg);
    }

    /// A line that is no data.
    pub(crate) fn line(&mut self, stroke: Stroke, from: Place, to: Place) {
        let (x1, y1, x2, y2) = (px(from.0), px(from.1), px(to.0), px(to.1));
        let attributes = self.medium.stroke(stroke);
        // Writing to a string cannot fail.
        let _ = writeln!(self.svg, "<line {attributes} x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>");
    }

    /// A path that is no data.
    pub(crate) fn path(&mut self, stroke: Stroke, outline: &str) {
        let attributes = self.medium.stroke(stroke);
        let _ = writeln!(self.svg, "<path {attributes} d=\"{outline}\"/>");
    }

    /// A text; the place is its baseline's.
    pub(crate) fn text(&mut self, lettering: Lettering, anchor: Anchor, place: Place, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y, attributes) = (px(place.0), px(place.1), self.medium.lettering(lettering));
        let text = escape(text);
        let _ = writeln!(self.svg, "<text {attributes} x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>");
    }

    /// Where data lie, for a script that has to find a value's place: the rectangle, and the values at its left and right.
    pub(crate) fn area(&mut self, area: &Frame, ends: Option<(f64, f64)>) {
        if let (Medium::Page, Some((from, to))) = (self.medium, ends) {
            let (x, y, width, height) = (px(area.left), px(area.top), px(area.width()), px(area.height()));
            let _ = writeln!(
                self.svg,
                "<rect class=\"area\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
                 data-from=\"{from}\" data-to=\"{to}\"/>"
            );
        }
    }

    /// What follows belongs to a series, until [`end_series`](Self::end_series).
    pub(crate) fn begin_series(&mut self, number: usize, look: Look) {
        match self.medium {
            Medium::Page => {
                let _ = writeln!(self.svg, "<g class=\"series s{}\" data-series=\"{number}\">", look.colour);
            }
            Medium::Paper => self.svg.push_str("<g>\n"),
        }
    }

    /// The series is complete.
    pub(crate) fn end_series(&mut self) {
        self.svg.push_str("</g>\n");
    }

    /// A shape of a series; `told` is what a reader who points at it is told.
    pub(crate) fn shape(&mut self, shape: Shape, look: Look, outline: &str, told: &str) {
        let attributes = self.medium.shape(shape, look);
        if told.is_empty() || self.medium == Medium::Paper {
            let _ = writeln!(self.svg, "<path {attributes} d=\"{outline}\"/>");
        } else {
            let told = escape(told);
            let _ = writeln!(self.svg, "<path {attributes} d=\"{outline}\"><title>{told}</title></path>");
        }
    }
}

/// A coordinate as text, to a tenth of a pixel; never NaN, whatever was computed.
pub(crate) fn px(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let tenths = (value.clamp(-1e6, 1e6) * 10.0).round() / 10.0;
    // No "-0".
    (tenths + 0.0).to_string()
}

/// A line through places, as the `d` of a path.
pub(crate) fn polyline(places: &[Place]) -> String {
    let steps: Vec<String> = places.iter().map(|&(x, y)| format!("{} {}", px(x), px(y))).collect();
    if steps.is_empty() { String::new() } else { format!("M{}", steps.join("L")) }
}

/// A rectangle, as the `d` of a path.
pub(crate) fn rectangle(left: f64, top: f64, width: f64, height: f64) -> String {
    format!("M{} {}h{}v{}h{}z", px(left), px(top), px(width), px(height), px(-width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_finite() {
        for (value, text) in [(1.0, "1"), (1.25, "1.3"), (-0.01, "0"), (f64::NAN, "0"), (1e300, "1000000")] {
            assert_eq!(px(value), text);
        }
        assert_eq!(polyline(&[(0.0, 1.0), (2.0, 3.5)]), "M0 1L2 3.5");
        assert_eq!(rectangle(1.0, 2.0, 3.0, 4.0), "M1 2h3v4h-3z");
    }
}

//! Colours, widths and sizes of what is drawn on paper. (In the page they are the style sheet's.)

use crate::palette::{Look, ON_WHITE};
use crate::pen::{Lettering, Medium, Shape, Stroke};
use std::fmt;

/// Red, green and blue, eight bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Colour(pub(crate) u32);

/// Of letters and dots.
pub(crate) const DARK: Colour = Colour(0x1c_1e21);
/// Of the paper.
pub(crate) const WHITE: Colour = Colour(0xff_ffff);
const BLACK: Colour = Colour(0x00_0000);
/// Of axes and guides.
const QUIET: Colour = Colour(0x55_5b61);

impl fmt::Display for Colour {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "#{:06x}", self.0)
    }
}

/// What an outline is drawn with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ink {
    /// Within it.
    pub(crate) inside: Inside,
    /// Along it.
    pub(crate) line: Option<Line>,
}

/// What is within an outline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Inside {
    /// It is a straight line: nothing is, and nothing is said about it.
    Straight,
    /// What lies below is seen.
    Empty,
    /// A colour, and how strong it is, up to 1.
    Filled(Colour, f64),
}

/// A line along an outline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    pub(crate) colour: Colour,
    pub(crate) width: f64,
    /// Up to 1.
    pub(crate) strength: f64,
    /// Are its corners round?
    pub(crate) round: bool,
    /// Lengths of dashes and gaps in turn; none: solid.
    pub(crate) dashes: &'static [u8],
}

const fn line(colour: Colour, width: f64) -> Line {
    Line { colour, width, strength: 1.0, round: false, dashes: &[] }
}

impl Ink {
    /// Of lines that are no data.
    pub(crate) fn of_stroke(stroke: Stroke) -> Self {
        let (inside, line) = match stroke {
            Stroke::Rule => (Inside::Straight, line(Colour(0xdc_dfe3), 1.0)),
            Stroke::Axis => (Inside::Straight, line(QUIET, 1.0)),
            Stroke::Guide => (Inside::Empty, Line { dashes: &[6, 4], ..line(QUIET, 1.4) }),
            Stroke::Frame => (Inside::Empty, line(Colour(0x9a_a0a6), 1.0)),
            Stroke::Outline => (Inside::Empty, Line { round: true, ..line(DARK, 1.3) }),
            Stroke::Behind => (Inside::Empty, Line { round: true, ..line(Colour(0xb4_bac1), 0.8) }),
        };
        Ink { inside, line: Some(line) }
    }

    /// Of shapes that are data.
    pub(crate) fn of_shape(shape: Shape, look: Look) -> Self {
        let colour = of_look(look);
        let (inside, line) = match shape {
            Shape::Line => {
                (Inside::Empty, Some(Line { round: true, dashes: look.dashes, ..line(colour, 2.0) }))
            }
            Shape::Thin => (Inside::Empty, Some(Line { round: true, strength: 0.7, ..line(colour, 0.6) })),
            Shape::Band => (Inside::Filled(colour, 0.2), None),
            Shape::Range => (Inside::Empty, Some(line(colour, 1.4))),
            Shape::Point => (Inside::Filled(colour, 1.0), Some(line(WHITE, 0.8))),
            Shape::Bar => (Inside::Filled(colour, f64::from(look.strength) / 100.0), Some(line(WHITE, 0.5))),
        };
        Ink { inside, line }
    }

    /// As SVG says it; what SVG takes for granted is not said.
    pub(crate) fn attributes(&self) -> String {
        let mut said = Vec::new();
        match self.inside {
            Inside::Straight => {}
            Inside::Empty => said.push("fill=\"none\"".to_owned()),
            Inside::Filled(colour, _) => said.push(format!("fill=\"{colour}\"")),
        }
        if let Some(line) = self.line {
            said.push(format!("stroke=\"{}\"", line.colour));
            if line.width != 1.0 {
                said.push(format!("stroke-width=\"{}\"", line.width));
            }
            if line.strength < 1.0 {
                said.push(format!("stroke-opacity=\"{}\"", line.strength));
            }
            if line.round {
                said.push("stroke-linejoin=\"round\"".to_owned());
            }
            if !line.dashes.is_empty() {
                said.push(format!("stroke-dasharray=\"{}\"", dash_array(line.dashes)));
            }
        }
        match self.inside {
            Inside::Filled(_, strength) if strength < 1.0 => {
                said.push(format!("fill-opacity=\"{strength}\""));
            }
            _ => {}
        }
        said.join(" ")
    }
}

/// The colour of a series.
pub(crate) fn of_look(look: Look) -> Colour {
    ON_WHITE[look.colour % ON_WHITE.len()]
}

/// Dashes as SVG writes them.
pub(crate) fn dash_array(dashes: &[u8]) -> String {
    dashes.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")
}

/// What text is written with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Letters {
    pub(crate) size: f64,
    pub(crate) colour: Colour,
    pub(crate) edge: Edge,
}

/// A line around every letter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Edge {
    None,
    /// Under the letters, so that they can be read on whatever lies below: colour and width.
    Halo(Colour, f64),
    /// Over the letters, which makes them stronger: in their own colour, with this width.
    Bold(f64),
}

/// The title; the font of the PNG files has no bold face.
pub(crate) const TITLE: Letters = Letters { size: 16.0, colour: BLACK, edge: Edge::Bold(0.4) };
/// How to read the figure.
pub(crate) const NOTE: Letters = Letters { size: 13.0, colour: Colour(0x4a_4f55), edge: Edge::None };
/// Size of what is written at one of many plots, on paper and in the page.
pub(crate) const PANEL_LETTERS: f64 = 12.0;
/// Names in the legend.
pub(crate) const LEGEND: Letters = Letters { size: 13.0, colour: DARK, edge: Edge::None };

impl Letters {
    /// Of text inside the drawing.
    pub(crate) fn of(lettering: Lettering) -> Self {
        let plain = Letters { size: Medium::Paper.letters(), colour: DARK, edge: Edge::None };
        match lettering {
            Lettering::Small => Letters { size: 8.0, ..plain },
            Lettering::Panel => Letters { size: PANEL_LETTERS, ..plain },
            Lettering::GuideLabel | Lettering::PointLabel | Lettering::Value => {
                Letters { edge: Edge::Halo(WHITE, 3.0), ..plain }
            }
            Lettering::Tick | Lettering::AxisLabel | Lettering::Name => plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::look;

    #[test]
    fn ink_says_what_svg_does_not_take_for_granted() {
        assert_eq!(Ink::of_stroke(Stroke::Rule).attributes(), "stroke=\"#dcdfe3\"");
        assert_eq!(
            Ink::of_stroke(Stroke::Guide).attributes(),
            "fill=\"none\" stroke=\"#555b61\" stroke-width=\"1.4\" stroke-dasharray=\"6 4\""
        );
        assert_eq!(
            Ink::of_shape(Shape::Bar, look(8)).attributes(),
            "fill=\"#0072b2\" stroke=\"#ffffff\" stroke-width=\"0.5\" fill-opacity=\"0.62\""
        );
        assert_eq!(Ink::of_shape(Shape::Band, look(0)).attributes(), "fill=\"#0072b2\" fill-opacity=\"0.2\"");
    }
}

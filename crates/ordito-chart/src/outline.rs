//! Outlines of what is drawn, as data: one writer makes the path of an SVG file of them, another one pixels.

use crate::frame::Spot;
use crate::palette::{Mark, corners, reach};

/// A part of an outline.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// From place to place.
    Open(Vec<Spot>),
    /// The same and back to the first.
    Closed(Vec<Spot>),
    /// Along the axes.
    Rectangle { left: f64, top: f64, width: f64, height: f64 },
    /// A mark around a place, as large as its radius says.
    Mark(Mark, Spot, f64),
}

/// One piece after the other.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Outline(pub(crate) Vec<Piece>);

/// A line through places.
pub(crate) fn polyline(places: Vec<Spot>) -> Outline {
    Outline(vec![Piece::Open(places)])
}

/// The area that a line through places surrounds.
pub(crate) fn polygon(places: Vec<Spot>) -> Outline {
    Outline(vec![Piece::Closed(places)])
}

/// A rectangle.
pub(crate) fn rectangle(left: f64, top: f64, width: f64, height: f64) -> Outline {
    Outline(vec![Piece::Rectangle { left, top, width, height }])
}

/// A mark around a place.
pub(crate) fn mark(mark: Mark, place: Spot, radius: f64) -> Outline {
    Outline(vec![Piece::Mark(mark, place, radius)])
}

impl Outline {
    /// Both, this one first.
    pub(crate) fn and(mut self, other: Outline) -> Outline {
        self.0.extend(other.0);
        self
    }

    /// The `d` of a path.
    pub(crate) fn steps(&self) -> String {
        self.0.iter().map(Piece::steps).collect()
    }
}

impl Piece {
    fn steps(&self) -> String {
        let through = |places: &[Spot]| {
            let steps: Vec<String> = places.iter().map(|&(x, y)| format!("{} {}", px(x), px(y))).collect();
            if steps.is_empty() { String::new() } else { format!("M{}", steps.join("L")) }
        };
        match self {
            Piece::Open(places) => through(places),
            Piece::Closed(places) => through(places) + "z",
            &Piece::Rectangle { left, top, width, height } => {
                format!("M{} {}h{}v{}h{}z", px(left), px(top), px(width), px(height), px(-width))
            }
            &Piece::Mark(Mark::Circle, (x, y), radius) => {
                let (r, d) = (radius, 2.0 * radius);
                format!("M{:.1} {y:.1}a{r} {r} 0 1 0 {d:.1} 0a{r} {r} 0 1 0 -{d:.1} 0z", x - r)
            }
            &Piece::Mark(mark, (x, y), radius) => {
                let r = reach(mark, radius);
                let corner = |(dx, dy): &Spot| format!("{:.1} {:.1}", x + r * dx, y + r * dy);
                let corners: Vec<String> = corners(mark).iter().map(corner).collect();
                format!("M{}z", corners.join("L"))
            }
        }
    }
}

/// A coordinate to a tenth of a pixel; never NaN, whatever was computed.
pub(crate) fn tenths(value: f64) -> f64 {
    if !value.is_finite() {
        return 0.0;
    }
    // No "-0".
    (value.clamp(-1e6, 1e6) * 10.0).round() / 10.0 + 0.0
}

/// A coordinate as text.
pub(crate) fn px(value: f64) -> String {
    tenths(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_finite() {
        for (value, text) in [(1.0, "1"), (1.25, "1.3"), (-0.01, "0"), (f64::NAN, "0"), (1e300, "1000000")] {
            assert_eq!(px(value), text);
        }
    }

    #[test]
    fn pieces_follow_one_another() {
        assert_eq!(polyline(vec![(0.0, 1.0), (2.0, 3.5)]).steps(), "M0 1L2 3.5");
        assert_eq!(polygon(vec![(0.0, 1.0), (2.0, 3.5)]).steps(), "M0 1L2 3.5z");
        assert_eq!(rectangle(1.0, 2.0, 3.0, 4.0).and(polyline(vec![(0.0, 0.0)])).steps(), "M1 2h3v4h-3zM0 0");
        assert_eq!(mark(Mark::Circle, (5.0, 5.0), 4.0).steps(), "M1.0 5.0a4 4 0 1 0 8.0 0a4 4 0 1 0 -8.0 0z");
        assert_eq!(polyline(Vec::new()).steps(), "");
    }
}

//! How series are told apart: by colour first, then by the shape of their marks and the dashes of their lines, so that a
//! reader who sees no colours, and a figure of thirty series, can do without.

use crate::frame::Spot;
use crate::ink::Colour;

/// Colours on white, after Okabe and Ito; those too pale for thin lines are darker here. `chart.css` has the same.
pub(crate) const ON_WHITE: [Colour; 8] = [
    Colour(0x00_72b2),
    Colour(0xc9_4a00),
    Colour(0x00_8a64),
    Colour(0xb0_508a),
    Colour(0xa8_7400),
    Colour(0x2f_8fcb),
    Colour(0x6e_6400),
    Colour(0x4a_4f55),
];

/// Patterns of lines, in their order of use: lengths of dashes and gaps in turn; the first is solid.
pub(crate) const DASHES: [&[u8]; 6] = [&[], &[7, 4], &[2, 3], &[10, 3, 2, 3], &[14, 4], &[5, 2, 1, 2, 1, 2]];

/// Shapes of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mark {
    Circle,
    Square,
    Up,
    Diamond,
    Down,
    Cross,
}

const MARKS: [Mark; 6] = [Mark::Circle, Mark::Square, Mark::Up, Mark::Diamond, Mark::Down, Mark::Cross];

/// What the n-th series looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Look {
    /// Which of the colours.
    pub(crate) colour: usize,
    /// Which pattern: lengths of dashes and gaps in turn; none: solid.
    pub(crate) dashes: &'static [u8],
    /// Its marks.
    pub(crate) mark: Mark,
    /// How strong areas are, in percent.
    pub(crate) strength: u8,
}

/// The look of a series; lines, marks and areas alone are each told apart for the first 24, most for more.
pub(crate) fn look(series: usize) -> Look {
    let (colour, round) = (series % ON_WHITE.len(), series / ON_WHITE.len());
    Look {
        colour,
        dashes: DASHES[round % DASHES.len()],
        mark: MARKS[(colour + round) % MARKS.len()],
        strength: [100, 62, 34][round % 3],
    }
}

/// How far a mark reaches: shapes with corners look smaller than a circle of the same radius.
pub(crate) fn reach(mark: Mark, radius: f64) -> f64 {
    match mark {
        Mark::Circle => radius,
        Mark::Square => radius * 0.9,
        Mark::Cross => radius * 1.1,
        Mark::Up | Mark::Diamond | Mark::Down => radius * 1.25,
    }
}

/// Corners of a mark around (0, 0), in units of its reach; a circle has none.
pub(crate) fn corners(mark: Mark) -> &'static [Spot] {
    match mark {
        Mark::Circle => &[],
        Mark::Square => &[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)],
        Mark::Up => &[(0.0, -1.0), (1.0, 0.8), (-1.0, 0.8)],
        Mark::Diamond => &[(0.0, -1.1), (1.1, 0.0), (0.0, 1.1), (-1.1, 0.0)],
        Mark::Down => &[(0.0, 1.0), (1.0, -0.8), (-1.0, -0.8)],
        Mark::Cross => &[
            (-1.0, -0.4),
            (-0.4, -0.4),
            (-0.4, -1.0),
            (0.4, -1.0),
            (0.4, -0.4),
            (1.0, -0.4),
            (1.0, 0.4),
            (0.4, 0.4),
            (0.4, 1.0),
            (-0.4, 1.0),
            (-0.4, 0.4),
            (-1.0, 0.4),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// How bright a colour like `#0072b2` is, as WCAG counts it.
    fn luminance(colour: &str) -> f64 {
        let channel = |from: usize| {
            let share = f64::from(u8::from_str_radix(&colour[from..from + 2], 16).unwrap()) / 255.0;
            if share <= 0.03928 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn thirty_series_have_thirty_looks() {
        let lines: HashSet<_> = (0..48).map(|n| (look(n).colour, look(n).dashes)).collect();
        let marks: HashSet<_> = (0..48).map(|n| (look(n).colour, look(n).mark)).collect();
        let areas: HashSet<_> = (0..24).map(|n| (look(n).colour, look(n).strength)).collect();
        assert_eq!((lines.len(), marks.len(), areas.len()), (48, 48, 24));
    }

    #[test]
    fn colours_stand_out_from_the_page_and_are_those_of_the_style_sheet() {
        let sheet = include_str!("chart.css");
        let dark = sheet.split("prefers-color-scheme: dark").nth(1).unwrap();
        for (number, colour) in ON_WHITE.iter().enumerate() {
            let colour = &colour.to_string();
            assert!(contrast(colour, "#ffffff") >= 3.0, "{colour}: {}", contrast(colour, "#ffffff"));
            assert!(sheet.contains(&format!("--s{number}: {colour};")), "{colour} is not in chart.css");
            let start = dark.find(&format!("--s{number}: ")).unwrap() + 6;
            assert!(contrast(&dark[start..start + 7], "#16181b") >= 3.0, "{}", &dark[start..start + 7]);
        }
    }
}

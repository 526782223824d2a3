//! Cells shaded by value: two hues on either side of 0, each in a few strengths.

use crate::frame::Frame;
use crate::outline::rectangle;
use crate::palette::{Look, look};
use crate::pen::{Cells, Element, Pen, Run};

/// Shades that can be told apart. Neighbours of one shade become one rectangle, so few shades also make small files.
pub(crate) const LEVELS: u8 = 8;

/// Shade of a cell: which hue, and how strong, from 1 to `LEVELS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shade {
    pub(crate) below_zero: bool,
    pub(crate) level: u8,
}

impl Shade {
    /// The shade of a value whose size is a share of the largest.
    pub(crate) fn of_share(share: f64, below_zero: bool) -> Self {
        let level = 1 + (share * f64::from(LEVELS)).clamp(0.0, f64::from(LEVELS - 1)) as u8;
        Shade { below_zero, level }
    }
}

/// How shades look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hues {
    /// Which looks lend their colours to values above and below 0.
    pub(crate) looks: [usize; 2],
    /// How strong the first level is; the last one is 1.
    pub(crate) faintest: f64,
}

impl Hues {
    fn of(self, below_zero: bool) -> Look {
        look(self.looks[usize::from(below_zero)])
    }

    fn opacity(self, level: u8) -> f64 {
        let share = f64::from(level.saturating_sub(1)) / f64::from(LEVELS - 1);
        self.faintest + (1.0 - self.faintest) * share
    }
}

/// Row after row of cells, as many as `cols` to a row, spread over the area; what has no shade is left blank.
pub(crate) fn field(
    pen: &mut Pen,
    area: &Frame,
    (rows, cols): (usize, usize),
    values: &[f64],
    hues: Hues,
    shade: &dyn Fn(f64) -> Option<Shade>,
) {
    let shaded: Vec<Option<Shade>> = values.iter().take(rows * cols).map(|&value| shade(value)).collect();
    for below_zero in [false, true] {
        let hue = hues.of(below_zero);
        let shades: Vec<(f64, Vec<Run>)> = (1..=LEVELS)
            .map(|level| (hues.opacity(level), runs(&shaded, cols, Shade { below_zero, level })))
            .filter(|(_, runs)| !runs.is_empty())
            .collect();
        if shades.is_empty() {
            continue;
        }
        let size = (area.width() / cols as f64, area.height() / rows as f64);
        pen.begin_series(usize::from(below_zero), hue);
        pen.draw(Element::Cells(Cells { hue, corner: (area.left, area.top), size, shades }));
        pen.end_series();
    }
}

/// All cells of one shade, neighbours in a row together.
fn runs(shaded: &[Option<Shade>], cols: usize, wanted: Shade) -> Vec<Run> {
    let mut found = Vec::new();
    for (row, shades) in shaded.chunks(cols).enumerate() {
        let mut col = 0;
        let is_wanted = |shade: &Option<Shade>| *shade == Some(wanted);
        for run in shades.chunk_by(|one, other| is_wanted(one) == is_wanted(other)) {
            if run.first().is_some_and(is_wanted) {
                found.push(Run { row, col, length: run.len() });
            }
            col += run.len();
        }
    }
    found
}

/// Shades from the strongest above 0 to the strongest below, or to the faintest where nothing is below.
pub(crate) fn all(signed: bool) -> Vec<Shade> {
    let mut shades: Vec<Shade> = (1..=LEVELS).rev().map(|level| Shade { below_zero: false, level }).collect();
    if signed {
        shades.extend((1..=LEVELS).map(|level| Shade { below_zero: true, level }));
    }
    shades
}

/// A sample of every shade, one under the other, each as large as `size`.
pub(crate) fn samples(
    pen: &mut Pen,
    (left, top): (f64, f64),
    (width, height): (f64, f64),
    shades: &[Shade],
    hues: Hues,
) {
    for (number, shade) in shades.iter().enumerate() {
        let hue = hues.of(shade.below_zero);
        let outline = rectangle(left, top + height * number as f64, width, height);
        pen.draw(Element::Sample { hue, strength: hues.opacity(shade.level), outline });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_are_one_run() {
        let strong = Shade { below_zero: false, level: LEVELS };
        let shaded = [5.0, 5.0, 0.0, f64::NAN, 5.0, 5.0].map(|value| (value == 5.0).then_some(strong));
        let run = |row, col| Run { row, col, length: 2 };
        assert_eq!(runs(&shaded, 3, strong), [run(0, 0), run(1, 1)]);
    }
}

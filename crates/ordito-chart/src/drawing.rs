//! What the renderers make of a figure before title and legend are added.

use crate::pen::{Anchor, Element, Lettering, Medium, Pen};
use crate::{Figure, bars, dots, grid, maps, multiples, panels, plot};

/// A picture as wide as its medium says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawing {
    /// How high it is.
    pub(crate) height: f64,
    /// What it consists of.
    pub(crate) elements: Vec<Element>,
}

/// Any figure.
pub(crate) fn draw(figure: &Figure, medium: Medium) -> Drawing {
    match figure {
        Figure::Plot(plot) => plot::draw(plot, medium),
        Figure::Bars(bars) => bars::draw(bars, medium),
        Figure::Grid(grid) => grid::draw(grid, medium),
        Figure::Maps(maps) => maps::draw(maps, medium),
        Figure::Panels(panels) => panels::draw(panels, medium),
        Figure::Multiples(multiples) => multiples::draw(multiples, medium),
        Figure::Dots(dots) => dots::draw(dots, medium),
    }
}

/// A figure without data says so.
pub(crate) fn nothing(medium: Medium) -> Drawing {
    let mut pen = Pen::new(medium);
    pen.text(Lettering::Tick, Anchor::Middle, (medium.width() / 2.0, 34.0), "nothing to draw");
    Drawing { height: 60.0, elements: pen.finish() }
}

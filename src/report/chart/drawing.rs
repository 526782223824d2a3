//! What the renderers make of a figure before title and legend are added.

use super::pen::{Anchor, Lettering, Medium, Pen};
use super::{Figure, bars, grid, maps, panels, plot};

/// A piece of SVG as wide as its medium says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Drawing {
    /// How high it is.
    pub(super) height: f64,
    /// Its elements.
    pub(super) body: String,
}

/// Any figure.
pub(super) fn draw(figure: &Figure, medium: Medium) -> Drawing {
    match figure {
        Figure::Plot(plot) => plot::draw(plot, medium),
        Figure::Bars(bars) => bars::draw(bars, medium),
        Figure::Grid(grid) => grid::draw(grid, medium),
        Figure::Maps(maps) => maps::draw(maps, medium),
        Figure::Panels(panels) => panels::draw(panels, medium),
    }
}

/// A figure without data says so.
pub(super) fn nothing(medium: Medium) -> Drawing {
    let mut pen = Pen::new(medium);
    pen.text(Lettering::Tick, Anchor::Middle, (medium.width() / 2.0, 34.0), "nothing to draw");
    Drawing { height: 60.0, body: pen.finish() }
}

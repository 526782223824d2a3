//! Figures and pages of Ordito's reports. What a chart shows is plain data: a [`Figure`]. How it looks is the business of the
//! renderers:
//!
//! | module | draws |
//! |---|---|
//! | [`page`] | for a page, where style sheet and script take part |
//! | [`paper`] | an SVG file that stands alone |
//! | `png` | the same elements as pixels (feature `png`) |
//! | [`html`], [`markup`], [`sections`] | the page around them: one file that fetches nothing |
//! | [`plots`] | a folder of figures |
//!
//! Every figure has its numbers as a table ([`Numbers`]), for those who cannot see it.

pub mod html;
pub mod markup;
pub mod plots;
pub mod sections;
pub mod page;
pub mod paper;
#[cfg(feature = "png")]
pub mod png;

mod axes;
mod bars;
mod dots;
mod drawing;
mod frame;
mod grid;
mod ink;
mod legend;
mod maps;
mod multiples;
mod numbers;
mod outline;
mod palette;
mod panels;
mod pen;
mod plot;
mod room;
mod scale;
mod shades;
mod svg;
mod text;
mod thin;
mod ticks;

pub use dots::{DotSeries, Dots};
pub use multiples::{Multiple, Multiples};

#[cfg(test)]
mod gallery;
#[cfg(test)]
mod tests;

/// Colours of the palette.
pub const COLOURS: usize = palette::ON_WHITE.len();
/// How many looks there are before they begin again.
pub const LOOKS: usize = COLOURS * palette::DASHES.len();

/// How figures look in a page; goes after the page's own style sheet.
pub const STYLE: &str = include_str!("chart.css");

/// Anything that can be drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure {
    /// Points and lines over two axes.
    Plot(Plot),
    /// Horizontal bars, one under the other, of one or more parts.
    Bars(Bars),
    /// A field of cells, shaded by value.
    Grid(Grid),
    /// Fields over one outline, side by side.
    Maps(Maps),
    /// Small plots with common axes, each at its place.
    Panels(Panels),
    /// Small plots with common axes, side by side.
    Multiples(Multiples),
    /// Dots in rows.
    Dots(Dots),
}

impl Figure {
    /// What it shows.
    pub fn title(&self) -> &str {
        match self {
            Figure::Plot(plot) => &plot.title,
            Figure::Bars(bars) => &bars.title,
            Figure::Grid(grid) => &grid.title,
            Figure::Maps(maps) => &maps.title,
            Figure::Panels(panels) => &panels.title,
            Figure::Multiples(multiples) => &multiples.title,
            Figure::Dots(dots) => &dots.title,
        }
    }

    /// How to read it.
    pub fn note(&self) -> &str {
        match self {
            Figure::Plot(plot) => &plot.note,
            Figure::Bars(bars) => &bars.note,
            Figure::Grid(grid) => &grid.note,
            Figure::Maps(maps) => &maps.note,
            Figure::Panels(panels) => &panels.note,
            Figure::Multiples(multiples) => &multiples.note,
            Figure::Dots(dots) => &dots.note,
        }
    }
}

/// Points and lines over two axes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// How to read it, in a sentence; may be empty.
    pub note: String,
    /// From left to right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// What is drawn, in the order of the legend.
    pub series: Vec<Series>,
    /// Lines that data are held against: a ceiling, "as fast as the baseline".
    pub guides: Vec<Guide>,
}

/// One direction of a plot.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// Name and unit.
    pub label: String,
    /// How values are spread.
    pub scale: Scale,
    /// Exactly these marks; none: round numbers.
    pub ticks: Vec<f64>,
    /// Values that it reaches in any case, so that several figures can have the same.
    pub holds: Vec<f64>,
    /// Does a linear axis begin at 0, however large the values are?
    pub from_zero: bool,
}

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Equal steps are equal differences.
    #[default]
    Linear,
    /// Equal steps double; marks at powers of two.
    Log2,
    /// Equal steps are factors of ten.
    Log10,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// How its points are joined.
    pub style: Style,
    /// Which of the looks it has, so that it can be the same in several figures; none: by its place.
    pub look: Option<usize>,
    /// Those whose coordinates are not finite, or not positive on a logarithmic axis, are left out.
    pub points: Vec<Point>,
}

/// How points of a series are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// A line, with marks at the points.
    #[default]
    Line,
    /// Marks only.
    Dots,
    /// A line alone, for many points.
    Curve,
    /// Many thin lines of one look; a point that cannot be drawn ends a line. Each is named by the text of its first point.
    Thin,
}

/// A value at a place.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Point {
    /// Along x.
    pub x: f64,
    /// Along y.
    pub y: f64,
    /// Its uncertainty: from, to. Drawn as a band along lines and curves, as a bar at dots.
    pub range: Option<(f64, f64)>,
    /// What a reader who points at it is told.
    pub text: String,
}

/// A line that data are held against.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Guide {
    /// Written beside it.
    pub label: String,
    /// From point to point; where an end is infinite, to the edge of the plot.
    pub path: Vec<(f64, f64)>,
}

/// Horizontal bars.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    /// What it shows.
    pub title: String,
    /// How to read it, in a sentence; may be empty.
    pub note: String,
    /// Name and unit of the values.
    pub label: String,
    /// How values are spread; parts need a linear scale.
    pub scale: Scale,
    /// Names of the parts of a bar; one, possibly without a name, for plain bars.
    pub parts: Vec<String>,
    /// From top to bottom.
    pub rows: Vec<Bar>,
}

/// One bar.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bar {
    /// Before it.
    pub name: String,
    /// A value for every part, one after the other from left to right.
    pub values: Vec<f64>,
    /// Behind it.
    pub text: String,
}

/// A field of cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grid {
    /// What it shows.
    pub title: String,
    /// How to read it, in a sentence; may be empty.
    pub note: String,
    /// Along the columns: name, value at the left edge, value at the right edge.
    pub x: Edge,
    /// Along the rows: name, value at the top edge, value at the bottom edge.
    pub y: Edge,
    /// How many rows of cells.
    pub rows: usize,
    /// How many columns of cells.
    pub cols: usize,
    /// Row after row; NaN is left blank.
    pub values: Vec<f64>,
    /// How values become shades.
    pub shades: Shades,
    /// What a value is, for the key beside the grid.
    pub label: String,
}

/// What one direction of a grid stands for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Edge {
    /// Name.
    pub label: String,
    /// Value at the left or top edge.
    pub first: f64,
    /// Value at the right or bottom edge.
    pub last: f64,
}

/// How values of a grid become shades.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shades {
    /// 0 is blank, the rest from light to dark by the logarithm.
    #[default]
    Counts,
    /// Two hues on either side of 0.
    Signed,
}

/// Fields of values over one outline, such as a head's, side by side and shaded on a common scale.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Maps {
    /// What they show.
    pub title: String,
    /// How to read them, in a sentence; may be empty.
    pub note: String,
    /// What a value is, for the key.
    pub label: String,
    /// The value of the strongest shade; `None`: the largest there is.
    pub most: Option<f64>,
    /// Cells on a side of every field, which is square.
    pub side: usize,
    /// Lines over every field, from point to point; the first one bounds it. Places are shares of its side, from the left and
    /// from the top.
    pub outline: Vec<Vec<(f64, f64)>>,
    /// Where was measured: name and place.
    pub dots: Vec<(String, (f64, f64))>,
    /// One field after the other.
    pub maps: Vec<Map>,
}

/// One field of [`Maps`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Map {
    /// Above it.
    pub title: String,
    /// What was measured at every dot.
    pub measured: Vec<f64>,
    /// Row after row; NaN is left blank.
    pub values: Vec<f64>,
}

/// Small plots with common axes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panels {
    /// What they show.
    pub title: String,
    /// How to read them, in a sentence; may be empty.
    pub note: String,
    /// Both ends of every axis from left to right.
    pub x: (f64, f64),
    /// Both ends of every axis upwards.
    pub y: (f64, f64),
    /// Names of the curves, in the legend.
    pub names: Vec<String>,
    /// Width and height of a panel, in the unit of their places.
    pub size: (f64, f64),
    /// All of them.
    pub panels: Vec<Panel>,
}

/// One of [`Panels`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    /// Inside it.
    pub name: String,
    /// Its middle: to the right, downwards.
    pub at: (f64, f64),
    /// For every name, a curve; values that are not finite are left out.
    pub curves: Vec<Vec<(f64, f64)>>,
}

/// The numbers of a figure as a table, for those who cannot see it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Numbers {
    /// Titles of the columns.
    pub titles: Vec<String>,
    /// Rows of cells.
    pub rows: Vec<Vec<String>>,
}

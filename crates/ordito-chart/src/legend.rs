//! Which look belongs to which name.

use crate::outline::{mark, polyline, rectangle};
use crate::palette::{Look, look};
use crate::pen::{Element, Medium, Pen, Shape};
use crate::{Figure, Style, bars, multiples};

/// Width of a sample of a look.
pub(crate) const SWATCH_WIDTH: f64 = 30.0;
/// Height of a sample of a look.
pub(crate) const SWATCH_HEIGHT: f64 = 16.0;

/// One line of a legend.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The whole name.
    pub(crate) name: String,
    /// How it is drawn.
    pub(crate) look: Look,
    sample: Sample,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sample {
    Line { marks: bool },
    Mark,
    Area,
}

/// All entries; none where there is but one thing, which the title names.
pub(crate) fn entries(figure: &Figure) -> Vec<Entry> {
    let named = |number: usize, name: &str, kind: &str| match name {
        "" => format!("{kind} {}", number + 1),
        name => name.to_owned(),
    };
    let entries: Vec<Entry> = match figure {
        Figure::Plot(plot) => (plot.series.iter().enumerate())
            .map(|(number, series)| {
                let look = look(series.look.unwrap_or(number));
                Entry { name: named(number, &series.name, "series"), look, sample: sample(series.style) }
            })
            .collect(),
        Figure::Bars(bars) => (0..bars::part_count(bars))
            .map(|number| {
                let name = bars.parts.get(number).map_or("", String::as_str);
                Entry { name: named(number, name, "part"), look: look(number), sample: Sample::Area }
            })
            .collect(),
        Figure::Panels(panels) => (panels.names.iter().enumerate())
            .map(|(number, name)| {
                let (look, sample) = (look(number), Sample::Line { marks: false });
                Entry { name: named(number, name, "curve"), look, sample }
            })
            .collect(),
        Figure::Multiples(of) => (multiples::line_names(of).into_iter())
            .map(|(name, look, style)| Entry { name: name.to_owned(), look, sample: sample(style) })
            .collect(),
        Figure::Dots(dots) => (dots.coloured().enumerate())
            .map(|(number, series)| {
                let look = look(series.look.unwrap_or(number));
                Entry { name: named(number, &series.name, "series"), look, sample: Sample::Mark }
            })
            .collect(),
        Figure::Grid(_) | Figure::Maps(_) => Vec::new(),
    };
    if entries.len() < 2 { Vec::new() } else { entries }
}

fn sample(style: Style) -> Sample {
    match style {
        Style::Line => Sample::Line { marks: true },
        Style::Curve | Style::Thin => Sample::Line { marks: false },
        Style::Dots => Sample::Mark,
    }
}

/// A sample of the look, its upper left corner at (0, 0).
pub(crate) fn swatch(entry: &Entry, medium: Medium) -> Vec<Element> {
    let (middle, centre, look) = (SWATCH_HEIGHT / 2.0, SWATCH_WIDTH / 2.0, entry.look);
    let mut pen = Pen::new(medium);
    if let Sample::Line { .. } = entry.sample {
        pen.shape(Shape::Line, look, polyline(vec![(0.0, middle), (SWATCH_WIDTH, middle)]), "");
    }
    match entry.sample {
        Sample::Line { marks: false } => {}
        Sample::Line { marks: true } | Sample::Mark => {
            pen.shape(Shape::Point, look, mark(look.mark, (centre, middle), 4.0), "");
        }
        Sample::Area => pen.shape(Shape::Bar, look, rectangle(8.0, 2.0, SWATCH_WIDTH - 8.0, 12.0), ""),
    }
    pen.finish()
}

//! Dots in rows: where names are many and long, they stand before the rows and not below an axis.

use crate::drawing::{Drawing, nothing};
use crate::frame::{Frame, Spot};
use crate::outline::{Outline, Piece, mark};
use crate::palette::look;
use crate::pen::{Anchor, Lettering, Medium, Pen, Shape, Stroke};
use crate::plot::RADIUS;
use crate::scale::{Fit, Ruler, drawable};
use crate::{Axis, axes, text};

/// Between the areas of two axes.
const GAP: f64 = 26.0;
/// Height of a row over that of the letters; few have room for more.
const ROW: f64 = 1.6;
const TALL_ROW: f64 = 2.4;
/// So many are few.
const FEW: usize = 8;
/// How much of a row its dots are spread over, so that equal ones are both seen.
const SPREAD: f64 = 0.4;

/// Dots in rows, over one axis or several side by side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dots {
    /// What they show.
    pub title: String,
    /// How to read them, in a sentence; may be empty.
    pub note: String,
    /// From left to right; all have the same rows.
    pub axes: Vec<Axis>,
    /// Names of the rows, from top to bottom.
    pub rows: Vec<String>,
    /// In the order of the legend.
    pub series: Vec<DotSeries>,
}

/// Dots that belong together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DotSeries {
    /// In the legend.
    pub name: String,
    /// Which of the looks it has; none: by its place.
    pub look: Option<usize>,
    /// Is it a grey stroke only, without an entry in the legend?
    pub is_grey: bool,
    /// For every row a value on every axis; what cannot be drawn there is left out.
    pub values: Vec<Vec<f64>>,
    /// For every row, what a reader who points at its dots is told.
    pub texts: Vec<String>,
}

impl Dots {
    /// Those with an entry in the legend.
    pub(crate) fn coloured(&self) -> impl Iterator<Item = &DotSeries> {
        self.series.iter().filter(|series| !series.is_grey)
    }

    /// The drawable values of a series on an axis, each with its row.
    fn values<'a>(&'a self, series: &'a DotSeries, axis: usize) -> impl Iterator<Item = (usize, f64)> + 'a {
        let scale = self.axes.get(axis).map(|axis| axis.scale).unwrap_or_default();
        let of_row = move |(row, values): (usize, &Vec<f64>)| Some((row, *values.get(axis)?));
        let rows = series.values.iter().take(self.rows.len()).enumerate();
        rows.filter_map(of_row).filter(move |&(_, value)| drawable(scale, value))
    }
}

/// One axis over all rows.
struct Column<'a> {
    axis: usize,
    label: &'a str,
    ruler: Ruler,
    area: Frame,
}

/// The dots without title and legend.
pub(crate) fn draw(dots: &Dots, medium: Medium) -> Drawing {
    let values = |axis: usize| -> Vec<f64> {
        dots.series.iter().flat_map(|series| dots.values(series, axis).map(|(_, value)| value)).collect()
    };
    let used: Vec<(usize, Vec<f64>)> =
        (0..dots.axes.len()).map(|axis| (axis, values(axis))).filter(|(_, v)| !v.is_empty()).collect();
    if used.is_empty() {
        return nothing(medium);
    }
    let (letters, width) = (medium.letters(), medium.width());
    let row_height = letters * if dots.rows.len() > FEW { ROW } else { TALL_ROW };
    let names: Vec<String> =
        dots.rows.iter().map(|name| text::cut_middle(name, letters, width * 0.36)).collect();
    let left = names.iter().map(|name| text::width(name, letters)).fold(0.0, f64::max) + 12.0;
    let each = (width - letters * 1.2 - left + GAP) / used.len() as f64;
    let bottom = 4.0 + row_height * dots.rows.len() as f64;
    let columns: Vec<Column<'_>> = (used.iter().enumerate())
        .map(|(place, (axis, values))| {
            let from = left + each * place as f64;
            Column {
                axis: *axis,
                label: &dots.axes[*axis].label,
                ruler: Ruler::new(&dots.axes[*axis], values, Fit::Round),
                area: Frame { left: from, top: 2.0, right: from + each - GAP, bottom },
            }
        })
        .collect();

    let mut pen = Pen::new(medium);
    let middle = |row: usize| 3.0 + row_height * (row as f64 + 0.5);
    for (row, name) in names.iter().enumerate() {
        pen.text(Lettering::Name, Anchor::End, (left - 8.0, middle(row) + letters * 0.35), name);
    }
    for Column { label, ruler, area, .. } in &columns {
        for row in 0..dots.rows.len() {
            pen.line(Stroke::Rule, (area.left, middle(row)), (area.right, middle(row)));
        }
        axes::across(&mut pen, area, ruler, &text::cut(label, letters, area.width() + GAP));
        pen.line(Stroke::Axis, (area.left, area.top), (area.left, area.bottom));
    }
    let mut behind = Outline::default();
    for series in dots.series.iter().filter(|series| series.is_grey) {
        for column in &columns {
            for (row, value) in dots.values(series, column.axis) {
                let Some(across) = column.ruler.at(value) else { continue };
                let (x, half) = (column.area.place(across, 0.0).0, row_height * 0.3);
                behind.0.push(Piece::Open(vec![(x, middle(row) - half), (x, middle(row) + half)]));
            }
        }
    }
    pen.path(Stroke::Behind, behind);
    let count = dots.coloured().count();
    for (number, series) in dots.coloured().enumerate() {
        let look = look(series.look.unwrap_or(number));
        let share = (number as f64 + 0.5) / count as f64 - 0.5;
        pen.begin_series(number, look);
        for column in &columns {
            for (row, value) in dots.values(series, column.axis) {
                let Some(across) = column.ruler.at(value) else { continue };
                let place: Spot =
                    (column.area.place(across, 0.0).0, middle(row) + share * SPREAD * row_height);
                let told = series.texts.get(row).unwrap_or(&series.name);
                pen.shape(Shape::Point, look, mark(look.mark, place, RADIUS), told);
            }
        }
        pen.end_series();
    }
    Drawing { height: bottom + axes::below(medium), elements: pen.finish() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Figure, Scale, page, paper};

    fn of_two() -> Dots {
        let series = |name: &str, is_grey, values: [[f64; 2]; 2]| DotSeries {
            name: name.to_owned(),
            is_grey,
            values: values.map(|of_row| of_row.to_vec()).to_vec(),
            texts: vec![format!("{name} here"), format!("{name} there")],
            ..DotSeries::default()
        };
        Dots {
            axes: vec![
                Axis { label: "GFLOP/s".into(), from_zero: true, ..Axis::default() },
                Axis { label: "time in ms".into(), scale: Scale::Log10, ..Axis::default() },
            ],
            rows: vec!["here".into(), "there".into()],
            series: vec![
                series("a", false, [[3.0, 0.1], [4.0, 20.0]]),
                series("b", false, [[2.0, 0.2], [f64::NAN, f64::NAN]]),
                series("c", true, [[1.0, 0.3], [0.5, 0.0]]),
            ],
            ..Dots::default()
        }
    }

    #[test]
    fn what_can_be_drawn_has_a_dot_and_the_rest_of_them_a_grey_stroke() {
        let html = page::render(&Figure::Dots(of_two()), "d");
        assert_eq!(html.matches("<path class=\"point\"").count(), 4 + 2 + 2, "two are in the legend");
        assert!(html.contains("<title>b here</title>") && !html.contains("<title>b there</title>"));
        let grey = html.split("class=\"behind\" d=\"").nth(1).unwrap();
        assert_eq!(grey[..grey.find('"').unwrap()].matches('M').count(), 3, "0 has no logarithm");
        assert_eq!(html.matches("<button").count(), 2);
        for label in ["GFLOP/s", "time in ms", "here", "there"] {
            assert!(html.contains(&format!(">{label}</text>")), "{label}");
        }
    }

    #[test]
    fn grey_ones_are_in_the_table_too() {
        let numbers = crate::numbers::of(&Figure::Dots(of_two()));
        assert_eq!(numbers.titles, ["", "series", "GFLOP/s", "time in ms"]);
        assert_eq!(numbers.rows.len(), 5);
        assert_eq!(numbers.rows[2], ["here", "c", "1", "0.300"]);
    }

    #[test]
    fn rows_without_series_say_so() {
        let dots = Dots { rows: vec!["a".into()], ..Dots::default() };
        assert!(paper::render(&Figure::Dots(dots)).contains("nothing to draw"));
    }
}

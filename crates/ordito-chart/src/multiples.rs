//! Small plots of one kind, side by side: of more lines than eight in one plot, nobody can follow any.

use crate::drawing::{Drawing, nothing};
use crate::frame::{Frame, Spot};
use crate::ink::PANEL_LETTERS;
use crate::outline::{Outline, Piece};
use crate::palette::{Look, look};
use crate::pen::{Anchor, Lettering, Medium, Pen, Stroke};
use crate::plot::{Field, rulers, usable};
use crate::scale::Ruler;
use crate::{Axis, Guide, Plot, Point, Series, Style, text};

/// Between panels, from left to right.
const GAP: f64 = 14.0;
/// Between the panel and the texts beside it.
const BESIDE: f64 = 5.0;
/// Height of a panel over its width, and the limits of its height.
const SHAPE: f64 = 0.62;
const HEIGHTS: (f64, f64) = (70.0, 180.0);
/// Height of a line of a panel's name.
const NAME_LINE: f64 = PANEL_LETTERS * 1.15;
/// Of marks: panels are small.
const RADIUS: f64 = 2.5;

/// Small plots with common axes, side by side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Multiples {
    /// What they show.
    pub title: String,
    /// How to read them, in a sentence; may be empty.
    pub note: String,
    /// From left to right, of every panel.
    pub x: Axis,
    /// Upwards, of every panel.
    pub y: Axis,
    /// In reading order. Lines of one name look the same in all of them and are one entry of the legend.
    pub panels: Vec<Multiple>,
    /// What has no panel.
    pub others: Vec<Series>,
    /// Does every panel show all other lines in grey, behind its own?
    pub with_others: bool,
    /// Lines that the data of every panel are held against; their labels are not written.
    pub guides: Vec<Guide>,
}

/// One of [`Multiples`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Multiple {
    /// Above it.
    pub name: String,
    /// Its lines; one that the name of the panel names already may have none.
    pub series: Vec<Series>,
}

/// What the lines are called, how each looks and how its points are joined; those without a name are left out.
pub(crate) fn line_names(multiples: &Multiples) -> Vec<(&str, Look, Style)> {
    let mut names: Vec<(&str, Look, Style)> = Vec::new();
    for series in multiples.panels.iter().flat_map(|panel| &panel.series) {
        if !series.name.is_empty() && !names.iter().any(|(name, ..)| *name == series.name) {
            names.push((&series.name, look(series.look.unwrap_or(names.len())), series.style));
        }
    }
    names
}

/// The panels without title and legend.
pub(crate) fn draw(multiples: &Multiples, medium: Medium) -> Drawing {
    let of_panels = multiples.panels.iter().flat_map(|panel| &panel.series);
    let others = multiples.others.iter().filter(|_| multiples.with_others);
    let all = Plot {
        x: multiples.x.clone(),
        y: multiples.y.clone(),
        series: of_panels.chain(others).cloned().collect(),
        guides: multiples.guides.clone(),
        ..Plot::default()
    };
    let points: Vec<&Point> =
        all.series.iter().flat_map(|series| &series.points).filter(|point| usable(&all, point)).collect();
    if points.is_empty() {
        return nothing(medium);
    }
    let (x, y) = rulers(&all, &points);
    let layout = Layout::new(medium, &y, &multiples.panels);
    let names = line_names(multiples);
    let mut pen = Pen::new(medium);
    let mut first = 0; // of the panel's own lines among all
    for (number, panel) in multiples.panels.iter().enumerate() {
        let (x, y, area) = (x.clone(), y.clone(), layout.frame(number));
        let field = Field { plot: &all, x, y, area, radius: RADIUS };
        axes(&mut pen, &field, layout.begins_row(number), layout.ends_column(number));
        for (from, to) in multiples.guides.iter().flat_map(|guide| field.guide(guide)) {
            pen.line(Stroke::Guide, from, to);
        }
        let own = first..first + panel.series.len();
        first = own.end;
        if multiples.with_others {
            let behind = (all.series.iter().enumerate()).filter(|(number, _)| !own.contains(number));
            pen.path(Stroke::Behind, grey(&field, behind.map(|(_, series)| series)));
        }
        for series in &panel.series {
            let known = names.iter().position(|(name, ..)| *name == series.name);
            let number = known.unwrap_or(names.len());
            let look = known.map_or(look(series.look.unwrap_or(number)), |known| names[known].1);
            pen.begin_series(number, look);
            field.series(&mut pen, series, look);
            pen.end_series();
        }
        for (above, line) in text::in_two(&panel.name, PANEL_LETTERS, area.width()).iter().rev().enumerate() {
            let place = (area.left, area.top - 4.0 - NAME_LINE * above as f64);
            pen.text(Lettering::Panel, Anchor::Start, place, line);
        }
    }
    let (letters, width) = (medium.letters(), medium.width());
    let [x_label, y_label] = [&all.x, &all.y].map(|axis| text::cut(&axis.label, letters, width - 4.0));
    pen.text(Lettering::AxisLabel, Anchor::Start, (2.0, letters), &y_label);
    let below = layout.bottom() + PANEL_LETTERS * 1.5 + letters * 1.4;
    pen.text(Lettering::AxisLabel, Anchor::Middle, (width / 2.0, below), &x_label);
    Drawing { height: below + letters * 0.6, elements: pen.finish() }
}

/// Lines of all series in one outline; marks alone would be too many.
fn grey<'a>(field: &Field<'_>, series: impl Iterator<Item = &'a Series>) -> Outline {
    let runs = series.filter(|series| series.style != Style::Dots).flat_map(|series| field.runs(series));
    let places = runs.map(|run| run.iter().map(|(_, place)| *place).collect::<Vec<Spot>>());
    Outline(places.filter(|places| places.len() > 1).map(Piece::Open).collect())
}

/// Rules at the marks of both axes; what they say is written once for a row and once for a column.
fn axes(pen: &mut Pen, field: &Field<'_>, write_y: bool, write_x: bool) {
    let (area, letters) = (field.area, PANEL_LETTERS);
    let mut lowest_free = f64::INFINITY;
    for (up, tick) in field.y.ticks().filter(|(_, tick)| !tick.label.is_empty()) {
        let height = area.place(0.0, up).1;
        pen.line(Stroke::Rule, (area.left, height), (area.right, height));
        if write_y && (lowest_free - height).abs() >= letters {
            let place = (area.left - BESIDE, height + letters * 0.35);
            pen.text(Lettering::Panel, Anchor::End, place, &tick.label);
            lowest_free = height;
        }
    }
    let mut written_to = f64::NEG_INFINITY;
    for (share, tick) in field.x.ticks().filter(|(_, tick)| !tick.label.is_empty()) {
        let at = area.place(share, 0.0).0;
        pen.line(Stroke::Rule, (at, area.top), (at, area.bottom));
        let half = text::width(&tick.label, letters) / 2.0;
        let middle = at.clamp(half, (pen.medium.width() - half).max(half));
        if write_x && middle - half > written_to {
            pen.text(Lettering::Panel, Anchor::Middle, (middle, area.bottom + letters * 1.3), &tick.label);
            written_to = middle + half + letters * 0.4;
        }
    }
    pen.line(Stroke::Axis, (area.left, area.bottom), (area.right, area.bottom));
    pen.line(Stroke::Axis, (area.left, area.top), (area.left, area.bottom));
}

/// Where panels are.
struct Layout {
    count: usize,
    columns: usize,
    left: f64,
    /// Of every row of panels.
    tops: Vec<f64>,
    width: f64,
    height: f64,
}

impl Layout {
    fn new(medium: Medium, y: &Ruler, panels: &[Multiple]) -> Self {
        let most = match medium {
            Medium::Page => 4,
            Medium::Paper => 3,
        };
        // As many in the last row as in the others, nearly.
        let count = panels.len();
        let rows = count.div_ceil(most).max(1);
        let columns = count.div_ceil(rows).max(1);
        let letters = PANEL_LETTERS;
        let widest = y.ticks().map(|(_, tick)| text::width(&tick.label, letters)).fold(0.0, f64::max);
        let left = widest + BESIDE + 2.0;
        let room = medium.width() - left - letters;
        let width = ((room + GAP) / columns as f64 - GAP).max(1.0);
        let height = (width * SHAPE).clamp(HEIGHTS.0, HEIGHTS.1);
        let (mut tops, mut free) = (Vec::new(), medium.letters() * 1.4);
        for row in panels.chunks(columns) {
            let lines = row.iter().map(|panel| text::in_two(&panel.name, letters, width).len()).max();
            let top = free + NAME_LINE * lines.unwrap_or(1) as f64 + letters * 0.5;
            tops.push(top);
            free = top + height + letters * 0.5;
        }
        Layout { count, columns, left, tops, width, height }
    }

    fn frame(&self, number: usize) -> Frame {
        let (row, column) = (number / self.columns, (number % self.columns) as f64);
        let left = self.left + column * (self.width + GAP);
        let top = self.tops.get(row).copied().unwrap_or(0.0);
        Frame { left, top, right: left + self.width, bottom: top + self.height }
    }

    fn begins_row(&self, number: usize) -> bool {
        number.is_multiple_of(self.columns)
    }

    fn ends_column(&self, number: usize) -> bool {
        number + self.columns >= self.count
    }

    fn bottom(&self) -> f64 {
        self.frame(self.count.saturating_sub(1)).bottom
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Figure, page, paper};

    fn of(count: usize, with_others: bool) -> Multiples {
        let line = |name: &str, y: f64| Series {
            name: name.to_owned(),
            points: vec![Point { x: 1.0, y, ..Point::default() }, Point { x: 2.0, y, ..Point::default() }],
            ..Series::default()
        };
        let panel = |number: usize| Multiple {
            name: format!("panel {number}"),
            series: vec![line("one", number as f64), line("two", number as f64 + 0.5)],
        };
        let panels = (0..count).map(panel).collect();
        Multiples { panels, others: vec![line("left out", 3.0)], with_others, ..Multiples::default() }
    }

    #[test]
    fn every_panel_has_its_lines_and_all_others_in_grey() {
        let html = page::render(&Figure::Multiples(of(9, true)), "m");
        assert_eq!(html.matches("class=\"line\"").count(), 9 * 2 + 2, "two more in the legend");
        assert_eq!(html.matches("<button").count(), 2, "a name is one entry");
        let grey: Vec<&str> = html.split("class=\"behind\" d=\"").skip(1).collect();
        assert_eq!(grey.len(), 9);
        let lines = |text: &&str| text[..text.find('"').unwrap()].matches('M').count();
        assert!(grey.iter().all(|text| lines(text) == 8 * 2 + 1), "all but its own, and what has no panel");
        assert!(!page::render(&Figure::Multiples(of(9, false)), "m").contains("class=\"behind\""));
    }

    #[test]
    fn all_numbers_are_in_the_table() {
        let html = page::render(&Figure::Multiples(of(2, true)), "m");
        for name in ["panel 0, one", "panel 1, two", "left out"] {
            assert!(html.contains(&format!("<th scope=\"row\">{name}</th>")), "{name}");
        }
    }

    #[test]
    fn rows_are_filled_evenly_and_axes_are_written_once() {
        let ruler = Ruler::new(&Axis::default(), &[0.0, 1.0], crate::scale::Fit::Round);
        let layout = |count| Layout::new(Medium::Page, &ruler, &of(count, false).panels);
        let columns = |count| layout(count).columns;
        assert_eq!([1, 2, 4, 5, 9, 23].map(columns), [1, 2, 4, 3, 3, 4]);
        let written: Vec<usize> = (0..5).filter(|&number| layout(5).ends_column(number)).collect();
        assert_eq!(written, [2, 3, 4]);
    }

    #[test]
    fn nothing_to_draw_is_said() {
        for multiples in [Multiples::default(), of(0, false)] {
            assert!(paper::render(&Figure::Multiples(multiples)).contains("nothing to draw"));
        }
    }
}

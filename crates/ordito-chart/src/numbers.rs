//! A figure as a table.

use crate::{Bars, Dots, Figure, Grid, Maps, Multiples, Numbers, Plot, Point, Series, Shades, Style};
use crate::{bars, plot, ticks};

/// Different x up to which every x is a column.
const MOST_COLUMNS: usize = 16;
/// Points of one series that are listed; of more, every so many-th.
const MOST_POINTS: usize = 60;
/// Rows and columns of a grid that are listed; of more, several are put together.
const MOST_CELLS: usize = 12;

/// The numbers that are drawn.
pub(crate) fn of(figure: &Figure) -> Numbers {
    match figure {
        Figure::Plot(plot) => of_plot(plot),
        Figure::Bars(bars) => of_bars(bars),
        Figure::Grid(grid) => of_grid(grid),
        Figure::Maps(maps) => of_maps(maps),
        // As many as a file holds, and a file is where they are better looked up.
        Figure::Panels(_) => Numbers::default(),
        Figure::Multiples(multiples) => of_multiples(multiples),
        Figure::Dots(dots) => of_dots(dots),
    }
}

/// Those of all lines, the grey ones too.
fn of_multiples(multiples: &Multiples) -> Numbers {
    let named = |panel: &str, series: &Series| {
        let parts = [panel, series.name.as_str()].into_iter().filter(|part| !part.is_empty());
        Series { name: parts.collect::<Vec<_>>().join(", "), ..series.clone() }
    };
    let of_panels = multiples
        .panels
        .iter()
        .flat_map(|panel| panel.series.iter().map(|series| named(&panel.name, series)));
    let series = of_panels.chain(multiples.others.iter().cloned()).collect();
    of_plot(&Plot { x: multiples.x.clone(), y: multiples.y.clone(), series, ..Plot::default() })
}

fn of_dots(dots: &Dots) -> Numbers {
    let titles = ["", "series"].into_iter().chain(dots.axes.iter().map(|axis| axis.label.as_str()));
    let titles = titles.map(str::to_owned).collect();
    let mut rows = Vec::new();
    for (number, name) in dots.rows.iter().enumerate() {
        for series in &dots.series {
            let values = series.values.get(number).map_or(&[][..], Vec::as_slice);
            if values.iter().any(|value| value.is_finite()) {
                let cell = |axis: usize| values.get(axis).filter(|value| value.is_finite());
                let cells = (0..dots.axes.len())
                    .map(|axis| cell(axis).map_or(String::new(), |&value| ticks::plain(value)));
                rows.push([name.clone(), series.name.clone()].into_iter().chain(cells).collect());
            }
        }
    }
    Numbers { titles, rows }
}

fn drawn<'a>(plot: &'a Plot, series: &'a Series) -> impl Iterator<Item = &'a Point> {
    series.points.iter().filter(|point| plot::usable(plot, point))
}

fn with_range(point: &Point) -> String {
    match point.range {
        Some((from, to)) => {
            format!("{} ({} to {})", ticks::plain(point.y), ticks::plain(from), ticks::plain(to))
        }
        None => ticks::plain(point.y),
    }
}

fn of_plot(plot: &Plot) -> Numbers {
    let mut xs: Vec<f64> =
        plot.series.iter().flat_map(|series| drawn(plot, series).map(|point| point.x)).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let dots_only = plot.series.iter().all(|series| drawn(plot, series).count() < 2);
    if xs.len() > MOST_COLUMNS || dots_only { one_row_per_point(plot) } else { one_row_per_series(plot, &xs) }
}

fn one_row_per_series(plot: &Plot, xs: &[f64]) -> Numbers {
    let first = if plot.x.label.is_empty() { "x".to_owned() } else { plot.x.label.clone() };
    let titles = std::iter::once(first).chain(xs.iter().map(|&x| ticks::plain(x))).collect();
    let row = |series: &Series| {
        let cell = |&x: &f64| {
            let there: Vec<String> =
                drawn(plot, series).filter(|point| point.x == x).map(with_range).collect();
            there.join(", ")
        };
        std::iter::once(series.name.clone()).chain(xs.iter().map(cell)).collect()
    };
    Numbers { titles, rows: plot.series.iter().map(row).collect() }
}

fn one_row_per_point(plot: &Plot) -> Numbers {
    let or =
        |label: &str, otherwise: &str| if label.is_empty() { otherwise.to_owned() } else { label.to_owned() };
    let titles = vec!["series".to_owned(), or(&plot.x.label, "x"), or(&plot.y.label, "y")];
    let mut rows = Vec::new();
    // Of very many lines a few points would say nothing.
    for series in plot.series.iter().filter(|series| series.style != Style::Thin) {
        let every = drawn(plot, series).count().div_ceil(MOST_POINTS).max(1);
        for point in drawn(plot, series).step_by(every) {
            rows.push(vec![series.name.clone(), ticks::plain(point.x), with_range(point)]);
        }
    }
    Numbers { titles, rows }
}

fn of_bars(bars: &Bars) -> Numbers {
    let parts = bars::part_count(bars);
    let mut titles = vec![String::new()];
    titles.extend((0..parts).map(|part| match bars.parts.get(part).filter(|name| !name.is_empty()) {
        Some(name) => name.clone(),
        None => bars.label.clone(),
    }));
    titles.push("shown as".to_owned());
    let row = |bar: &crate::Bar| {
        let cells =
            (0..parts).map(|part| bar.values.get(part).map_or(String::new(), |&value| ticks::plain(value)));
        let mut row = vec![bar.name.clone()];
        row.extend(cells);
        row.push(bar.text.clone());
        row
    };
    let mut rows: Vec<Vec<String>> = bars.rows.iter().map(row).collect();
    if bars.rows.iter().all(|bar| bar.text.is_empty()) {
        titles.pop();
        rows.iter_mut().for_each(|row| {
            row.pop();
        });
    }
    Numbers { titles, rows }
}

fn of_maps(maps: &Maps) -> Numbers {
    let titles =
        std::iter::once(String::new()).chain(maps.maps.iter().map(|map| map.title.clone())).collect();
    let row = |(dot, (name, _)): (usize, &(String, (f64, f64)))| {
        let at = |map: &crate::Map| map.measured.get(dot).map_or(String::new(), |&value| ticks::plain(value));
        std::iter::once(name.clone()).chain(maps.maps.iter().map(at)).collect()
    };
    Numbers { titles, rows: maps.dots.iter().enumerate().map(row).collect() }
}

fn of_grid(grid: &Grid) -> Numbers {
    if grid.rows == 0 || grid.cols == 0 {
        return Numbers::default();
    }
    let (down, across) = (grid.rows.div_ceil(MOST_CELLS), grid.cols.div_ceil(MOST_CELLS));
    let what = match (grid.shades, down > 1 || across > 1) {
        (_, false) => "",
        (Shades::Counts, true) => ", sums",
        (Shades::Signed, true) => ", means",
    };
    let place = |edge: &crate::Edge, cell: usize, cells: usize| {
        let value = edge.first + (edge.last - edge.first) * cell as f64 / cells as f64;
        // Rows and columns are counted; where many are one cell, parts of them mean nothing.
        let counted = (edge.last - edge.first).abs() > 2.0 * cells as f64;
        ticks::plain(if counted { value.round() } else { value })
    };
    let mut titles = vec![format!("{} \\ {}{what}", grid.y.label, grid.x.label)];
    titles
        .extend((0..grid.cols).step_by(across).map(|col| format!("from {}", place(&grid.x, col, grid.cols))));
    let rows = (0..grid.rows).step_by(down).map(|row| {
        let block = |col: usize| {
            let cells = (row..(row + down).min(grid.rows))
                .flat_map(|row| (col..(col + across).min(grid.cols)).map(move |col| row * grid.cols + col));
            let values: Vec<f64> = cells
                .filter_map(|cell| grid.values.get(cell).copied())
                .filter(|value| value.is_finite())
                .collect();
            if values.is_empty() {
                return String::new();
            }
            let sum: f64 = values.iter().sum();
            let mean = sum / values.len() as f64;
            ticks::plain(if grid.shades == Shades::Signed { mean } else { sum })
        };
        let name = format!("from {}", place(&grid.y, row, grid.rows));
        std::iter::once(name).chain((0..grid.cols).step_by(across).map(block)).collect()
    });
    Numbers { titles, rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Bar, Edge};

    fn series(name: &str, points: &[(f64, f64)]) -> Series {
        let points = points.iter().map(|&(x, y)| Point { x, y, ..Point::default() }).collect();
        Series { name: name.to_owned(), points, ..Series::default() }
    }

    #[test]
    fn few_x_are_columns() {
        let x = Axis { label: "K".to_owned(), ..Axis::default() };
        let all = vec![series("a", &[(1.0, 2.0), (8.0, 3.5)]), series("b", &[(8.0, 4.0), (9.0, f64::NAN)])];
        let numbers = of(&Figure::Plot(Plot { x, series: all, ..Plot::default() }));
        assert_eq!(numbers.titles, ["K", "1", "8"]);
        assert_eq!(numbers.rows, [["a", "2", "3.50"], ["b", "", "4"]]);
    }

    #[test]
    fn many_x_are_rows_and_not_too_many() {
        let points: Vec<(f64, f64)> = (0..1000).map(|n| (f64::from(n), 1.0)).collect();
        let numbers = of(&Figure::Plot(Plot { series: vec![series("a", &points)], ..Plot::default() }));
        assert_eq!(numbers.titles, ["series", "x", "y"]);
        assert!(numbers.rows.len() <= MOST_POINTS && numbers.rows.len() > MOST_POINTS / 2);
    }

    #[test]
    fn bars_have_a_column_per_part() {
        let row = Bar { name: "r".to_owned(), values: vec![1.0, 2.5], text: String::new() };
        let bars = Bars { parts: vec!["p".to_owned(), "q".to_owned()], rows: vec![row], ..Bars::default() };
        let numbers = of(&Figure::Bars(bars));
        assert_eq!(
            (numbers.titles, numbers.rows),
            (
                vec!["".into(), "p".into(), "q".into()],
                vec![vec!["r".to_owned(), "1".to_owned(), "2.50".to_owned()]]
            )
        );
    }

    #[test]
    fn large_grids_are_put_together() {
        let edge = |label: &str| Edge { label: label.to_owned(), first: 0.0, last: 96.0 };
        let grid = Grid {
            rows: 96,
            cols: 96,
            values: vec![1.0; 96 * 96],
            x: edge("columns"),
            y: edge("rows"),
            ..Grid::default()
        };
        let numbers = of(&Figure::Grid(grid));
        assert_eq!((numbers.titles.len(), numbers.rows.len()), (13, 12));
        assert_eq!(numbers.titles[..2], ["rows \\ columns, sums", "from 0"]);
        assert_eq!(numbers.rows[1][..2], ["from 8", "64"]);
    }
}

//! What was found, as a page: the table, the way there, where the time went. One file that fetches nothing.

use crate::solvers::solved::Solved;
use crate::solvers::table::{digits, heading, ranks as ranks_of, solver, time};
use ordito::files::{WriteError, write_atomically};
use ordito::solve::Stopped;
use ordito::units;
use ordito_chart::html::{Cell, Contents, page, row, table};
use ordito_chart::markup::escape;
use ordito_chart::sections::{drawn, named};
use ordito_chart::{Axis, Bar, Bars, Figure, Guide, Plot, Point, Scale, Series, Style};
use std::path::Path;

/// Curves that a legend can name; more are thin lines of one look.
const MOST_NAMED: usize = 12;
/// Points up to which each has a mark.
const MOST_MARKED: usize = 40;

/// Writes the page, whole or not at all.
pub(crate) fn write(path: &Path, solved: &Solved) -> Result<(), WriteError> {
    write_atomically(path, |file| file.write_all(render(solved).as_bytes()))
}

fn render(solved: &Solved) -> String {
    let mut contents = Contents::default();
    contents.add("Results", &results(solved));
    contents.add("Ranks", &ranks(solved));
    let all = [
        (
            "convergence",
            "Convergence",
            "Lower is better: residuals on a logarithmic scale, each relative to what it is held against.",
            // Of a method that knows no residuals on its way there is nothing to draw.
            if has_curves(solved) { vec![(String::new(), convergence(solved))] } else { Vec::new() },
        ),
        (
            "time",
            "Where the time went",
            "Products are with the matrix itself; the rest is what the method does with blocks of vectors.",
            if solved.parts_are_known { vec![(String::new(), times(solved))] } else { Vec::new() },
        ),
    ];
    for section in named(all) {
        contents.add(section.title, &drawn(&section));
    }
    let command = escape(&solved.fingerprint.command);
    contents.add("To repeat it", &format!("<pre>{command}</pre>\n"));
    page(&format!("Ordito {}", solved.question.op), &header(solved), &contents)
}

fn header(solved: &Solved) -> String {
    let class = match solved.stopped {
        _ if solved.is_good() => "good",
        Stopped::Cancelled => "neutral",
        _ => "bad",
    };
    let fingerprint = &solved.fingerprint;
    let facts: Vec<&str> =
        [fingerprint.cpu.model.as_str(), &fingerprint.date].into_iter().filter(|it| !it.is_empty()).collect();
    let lines = [Some(heading(solved)), Some(solver(solved)), ranks_of(solved), Some(time(solved))];
    let lines: Vec<String> =
        lines.into_iter().flatten().map(|line| format!("<p>{}</p>\n", escape(&line))).collect();
    format!(
        "<p class=\"verdict {class}\" role=\"status\">{}</p>\n{}<p class=\"quiet\">{}</p>\n",
        escape(&solved.outcome()),
        lines.concat(),
        escape(&facts.join(" · "))
    )
}

fn results(solved: &Solved) -> String {
    let number = |text: String, value: f64| Cell { value: Some(value), ..Cell::number(text) };
    let relative = format!("residual/{}", solved.question.tolerance_of);
    let mut titles = vec![("#", "number")];
    titles.extend(solved.value_name.map(|name| (name, "number")));
    titles.extend([("residual", "number"), (relative.as_str(), "number"), ("", "")]);
    let mut rows = String::new();
    for (index, found) in solved.results.iter().enumerate() {
        let mut cells = vec![number((index + 1).to_string(), index as f64)];
        cells.extend(found.value.map(|value| number(digits(value, solved), value)));
        cells.push(number(units::error(found.residual), found.residual));
        cells.push(number(units::error(found.relative_residual), found.relative_residual));
        cells.push(Cell::text(if found.converged { "converged" } else { "not converged" }));
        rows += &row(solved.has_goal && !found.converged, &cells);
    }
    let bound = solved.bound.map(|bound| format!("<p>Bound: {}.</p>\n", escape(bound))).unwrap_or_default();
    let caption = format!("{}: {}", solved.question.op, solved.question.asked);
    format!("{}{bound}", table(&caption, &titles, &rows))
}

/// The first nodes of every ranking; nothing where there is none.
fn ranks(solved: &Solved) -> String {
    let number = |text: String, value: f64| Cell { value: Some(value), ..Cell::number(text) };
    let mut rows = String::new();
    for top in &solved.top {
        let whole = [top.seed, top.place, top.node].map(|it| number(it.to_string(), it as f64));
        let cells: Vec<Cell> =
            whole.into_iter().chain([number(format!("{:.6e}", top.rank), top.rank)]).collect();
        rows += &row(false, &cells);
    }
    let titles = [("seed", "number"), ("place", "number"), ("node", "number"), ("rank", "number")];
    if rows.is_empty() { rows } else { table("The first nodes of every ranking", &titles, &rows) }
}

fn has_curves(solved: &Solved) -> bool {
    solved.curves().iter().any(|curve| curve.len() > 1)
}

/// Residuals over iterations.
fn convergence(solved: &Solved) -> Figure {
    let curves = solved.curves();
    let name = |column: usize| match solved.results[column].value {
        Some(value) => format!("{} ({})", column + 1, units::number(value)),
        None => (column + 1).to_string(),
    };
    let point =
        |&(x, y): &(f64, f64)| Point { x, y, text: format!("{x}: {}", units::error(y)), ..Point::default() };
    let series = if curves.len() <= MOST_NAMED {
        let style = if solved.iterations <= MOST_MARKED { Style::Line } else { Style::Curve };
        let named = |(column, curve): (usize, &Vec<(f64, f64)>)| Series {
            name: name(column),
            style,
            look: None,
            points: curve.iter().map(point).collect(),
        };
        curves.iter().enumerate().map(named).collect()
    } else {
        let mut points = Vec::new();
        for (column, curve) in curves.iter().enumerate() {
            let from = points.len();
            points.extend(curve.iter().map(point));
            if let Some(first) = points.get_mut(from) {
                first.text = name(column);
            }
            // A point that cannot be drawn ends a line.
            points.push(Point { y: f64::NAN, ..Point::default() });
        }
        vec![Series { name: "all".into(), style: Style::Thin, look: None, points }]
    };
    let tolerance = solved.question.tolerance;
    let guide = Guide {
        label: "tolerance".into(),
        path: vec![(f64::NEG_INFINITY, tolerance), (f64::INFINITY, tolerance)],
    };
    Figure::Plot(Plot {
        title: "Residuals".into(),
        note: "The line across is the tolerance: what is below it has converged.".into(),
        x: Axis { label: "iteration".into(), ..Axis::default() },
        y: Axis {
            label: format!("residual/{}", solved.question.tolerance_of),
            scale: Scale::Log10,
            ..Axis::default()
        },
        series,
        guides: if tolerance > 0.0 { vec![guide] } else { Vec::new() },
    })
}

fn times(solved: &Solved) -> Figure {
    let total = solved.times_ns.total;
    let bar = |(name, ns): (&str, f64)| Bar {
        name: name.into(),
        values: vec![1e-9 * ns],
        text: format!("{} ({:.0} %)", units::duration(ns), 100.0 * ns / total),
    };
    Figure::Bars(Bars {
        title: format!("Time: {} in all", units::duration(total)),
        note: String::new(),
        label: "s".into(),
        scale: Scale::Linear,
        parts: vec![String::new()],
        rows: solved.times_ns.parts().into_iter().map(bar).collect(),
    })
}

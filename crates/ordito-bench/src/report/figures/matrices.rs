//! Row lengths and places of the entries of every matrix.

use crate::report::Run;
use crate::report::matrix_facts::MatrixFacts;
use ordito::matrix::Spy;
use ordito::units;
use ordito_chart::{Bar, Bars, Edge, Figure, Grid, Shades};

/// The figures of every matrix, each matrix once.
pub(crate) fn all(runs: &[Run]) -> Vec<(String, Figure)> {
    let mut seen: Vec<&MatrixFacts> = Vec::new();
    for facts in runs.iter().flat_map(|run| &run.matrices) {
        let shape = |facts: &MatrixFacts| (facts.rows, facts.cols, facts.nnz);
        if !seen.iter().any(|known| known.matrix == facts.matrix && shape(known) == shape(facts)) {
            seen.push(facts);
        }
    }
    let figures = |facts: &&MatrixFacts| {
        let name = &facts.matrix;
        let named =
            |what: &str, figure: Option<Figure>| figure.map(|figure| (format!("{what}-{name}"), figure));
        [named("row-lengths", row_lengths(facts)), named("spy", spy(facts))]
    };
    seen.iter().flat_map(figures).flatten().collect()
}

fn row_lengths(facts: &MatrixFacts) -> Option<Figure> {
    let rows = facts.row_lengths.iter().map(|bin| Bar {
        name: bin.to_string(),
        values: vec![bin.rows as f64],
        text: units::count(bin.rows as u64),
    });
    let rows: Vec<Bar> = rows.collect();
    let note = format!(
        "{} × {}, {} entries; rows of {} to {}, {} on average; {} without any.",
        units::count(facts.rows),
        units::count(facts.cols),
        units::count(facts.nnz),
        units::count(facts.row_length_min),
        units::count(facts.row_length_max),
        units::number(facts.row_length_mean),
        units::count(facts.empty_rows),
    );
    (!rows.is_empty()).then(|| {
        Figure::Bars(Bars {
            title: format!("Entries per row: {}", facts.matrix),
            note,
            label: "rows".into(),
            parts: vec![String::new()],
            rows,
            ..Bars::default()
        })
    })
}

fn spy(facts: &MatrixFacts) -> Option<Figure> {
    let spy = facts.spy.as_ref().filter(|spy| is_drawable(spy))?;
    Some(Figure::Grid(Grid {
        title: format!("Where the entries lie: {}", facts.matrix),
        note: format!(
            "Bandwidth {} below and {} above the diagonal; {}.",
            units::count(facts.lower_bandwidth),
            units::count(facts.upper_bandwidth),
            facts.symmetry
        ),
        x: Edge { label: "column".into(), first: 0.0, last: facts.cols as f64 },
        y: Edge { label: "row".into(), first: 0.0, last: facts.rows as f64 },
        rows: spy.rows,
        cols: spy.cols,
        values: spy.counts.iter().map(|&count| count as f64).collect(),
        shades: Shades::Counts,
        label: "entries".into(),
    }))
}

/// Files may say anything: only what has as many counts as cells, and not more cells than can be seen.
fn is_drawable(spy: &Spy) -> bool {
    const MOST_SIDE: usize = 1024;
    !spy.counts.is_empty()
        && spy.rows.max(spy.cols) <= MOST_SIDE
        && spy.rows.checked_mul(spy.cols) == Some(spy.counts.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::tests::run;
    use ordito::matrix::LengthBin;

    #[test]
    fn every_matrix_once_and_only_what_is_known() {
        let bins = vec![LengthBin { from: 1, to: 1, rows: 3 }, LengthBin { from: 2, to: 3, rows: 1 }];
        let spy = Some(Spy { rows: 1, cols: 2, counts: vec![3, 2] });
        let facts = MatrixFacts { matrix: "a".into(), row_lengths: bins, spy, ..MatrixFacts::default() };
        let absurd = Spy { rows: (1 << 63) + 1, cols: 2, counts: vec![1, 1] };
        let other = MatrixFacts { matrix: "b".into(), spy: Some(absurd), ..MatrixFacts::default() };
        let runs = [Run { matrices: vec![facts.clone(), other, facts], ..run("x", Vec::new()) }];
        let found = all(&runs);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["row-lengths-a", "spy-a"]);
        let Figure::Bars(bars) = &found[0].1 else { panic!("no bars") };
        assert_eq!(bars.rows[1].name, "2–3");
    }
}

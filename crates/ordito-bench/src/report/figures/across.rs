//! All matrices side by side: which variant is good everywhere, and which only here and there.

use crate::report::figures::groups::{Group, Member, Sweep};
use crate::report::figures::many::{MOST_LINES, spread};
use crate::report::figures::quantity::Quantity;
use crate::report::record::Record;
use ordito_chart::{DotSeries, Dots, Figure};
use std::collections::BTreeSet;

/// Figures of one operation and dtype: a page of them is all that anybody turns.
const MOST_K: usize = 8;
/// Matrices of one figure: what fits on a screen, or on a sheet of paper.
const MOST_ROWS: usize = 40;

/// A figure for every operation, dtype and K that was timed on two matrices or more.
pub(crate) fn all(groups: &[Group<'_>]) -> Vec<(String, Figure)> {
    let mut families: Vec<(String, Vec<&Group<'_>>)> = Vec::new();
    for group in groups.iter().filter(|group| group.sweep == Sweep::K && !group.input.is_empty()) {
        let Some(first) = group.members.first() else { continue };
        let dtype = Some(first.record.dtype.as_str()).filter(|dtype| !dtype.is_empty());
        let family =
            [Some(first.record.op.as_str()), dtype].into_iter().flatten().collect::<Vec<_>>().join(", ");
        match families.iter_mut().find(|(known, _)| *known == family) {
            Some((_, groups)) => groups.push(group),
            None => families.push((family, vec![group])),
        }
    }
    families.iter().flat_map(|(family, groups)| of_family(family, groups)).collect()
}

fn of_family(family: &str, groups: &[&Group<'_>]) -> Vec<(String, Figure)> {
    let places: BTreeSet<Option<u64>> =
        groups.iter().flat_map(|group| &group.members).map(|member| Sweep::K.of(member.record)).collect();
    let drawable: Vec<(Option<u64>, Vec<Row<'_>>)> = (places.into_iter())
        .map(|place| (place, groups.iter().filter_map(|group| row(group, place)).collect::<Vec<_>>()))
        .filter(|(_, rows)| rows.len() > 1)
        .collect();
    let kept = spread(&drawable, MOST_K);
    let left_out = drawable.iter().filter(|one| !kept.iter().any(|kept| kept.0 == one.0));
    let left_out: Vec<String> = left_out.filter_map(|(k, _)| Some(Sweep::K.say((*k)?))).collect();
    let note = match left_out.as_slice() {
        [] => String::new(),
        some => format!("Not drawn: {}.", some.join(", ")),
    };
    let figure = |(place, rows): &&(Option<u64>, Vec<Row<'_>>)| {
        let at = place.map(|k| format!(", {}", Sweep::K.say(k))).unwrap_or_default();
        let title = format!("All matrices: {family}{at}");
        Some((format!("{family}{at}"), Figure::Dots(draw(title, &note, rows)?)))
    };
    kept.iter().filter_map(figure).collect()
}

/// A matrix and what was timed on it.
struct Row<'a> {
    input: &'a str,
    members: Vec<Member<'a>>,
}

/// Of every variant the record with the most threads; `None` where nothing was timed at this place.
fn row<'a>(group: &'a Group<'a>, place: Option<u64>) -> Option<Row<'a>> {
    let mut members: Vec<Member<'a>> = Vec::new();
    for &member in group.members.iter().filter(|member| Sweep::K.of(member.record) == place) {
        let same = |known: &&mut Member<'a>| {
            let what = |member: &Member<'a>| (member.record.name(), &member.record.place, member.record.cold);
            what(known) == what(&member) && known.run.label == member.run.label
        };
        match members.iter_mut().find(same) {
            Some(known) if known.record.threads < member.record.threads => *known = member,
            Some(_) => {}
            None => members.push(member),
        }
    }
    (!members.is_empty()).then_some(Row { input: &group.input, members })
}

fn draw(title: String, note: &str, all: &[Row<'_>]) -> Option<Dots> {
    let rows = &all[..all.len().min(MOST_ROWS)];
    let members = rows.iter().flat_map(|row| row.members.iter().copied()).collect();
    // One group of them all: names then say what differs between any two.
    let group = Group::new(title, Sweep::K, members);
    let quantities: Vec<Quantity> =
        [Quantity::rate_of(&group), Quantity::time_of(&group)].into_iter().flatten().collect();
    let mut series: Vec<DotSeries> = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        for &member in &row.members {
            let name = group.name_over_threads(member);
            let found: Vec<_> = quantities.iter().map(|quantity| quantity.value(&group, member)).collect();
            let Some(told) = found.iter().flatten().map(|value| value.text.as_str()).next() else { continue };
            let text = format!("{name}, {}: {told}", row.input);
            let values = found.iter().map(|value| value.as_ref().map_or(f64::NAN, |value| value.value));
            let known = series.iter().position(|series| series.name == name).unwrap_or_else(|| {
                series.push(DotSeries {
                    name,
                    values: vec![Vec::new(); rows.len()],
                    texts: vec![String::new(); rows.len()],
                    ..DotSeries::default()
                });
                series.len() - 1
            });
            (series[known].values[number], series[known].texts[number]) = (values.collect(), text);
        }
    }
    let mut said = vec![threads_said(rows), greyed(&mut series, rows, &group), note.to_owned()];
    if all.len() > rows.len() {
        said.push(format!("The first {} of {} matrices.", rows.len(), all.len()));
    }
    said.retain(|sentence| !sentence.is_empty());
    let title = group.title;
    (!series.is_empty()).then(|| Dots {
        title,
        note: said.join(" "),
        axes: quantities.iter().map(Quantity::axis).collect(),
        rows: rows.iter().map(|row| row.input.to_owned()).collect(),
        series,
    })
}

/// What a reader must know of the numbers of threads.
fn threads_said(rows: &[Row<'_>]) -> String {
    let records = rows.iter().flat_map(|row| &row.members).map(|member| member.record);
    let threads: BTreeSet<u64> = records.filter_map(|record| record.threads).collect();
    let several = threads.len() > 1;
    if several { "Each with the most threads that it was timed with.".to_owned() } else { String::new() }
}

/// Leaves the colours to those that come closest to the fastest of every matrix, on average; a sentence says so.
fn greyed(series: &mut [DotSeries], rows: &[Row<'_>], group: &Group<'_>) -> String {
    let count = series.len();
    if count <= MOST_LINES {
        return String::new();
    }
    let ns = |record: &Record| record.median_ns.filter(|&ns| ns > 0.0);
    let mut shares: Vec<(String, f64)> = series.iter().map(|series| (series.name.clone(), 0.0)).collect();
    for row in rows {
        let times = row.members.iter().filter_map(|member| ns(member.record));
        let fastest = times.fold(f64::INFINITY, f64::min);
        for &member in &row.members {
            let name = group.name_over_threads(member);
            let share = shares.iter_mut().find(|(known, _)| *known == name);
            if let (Some((_, share)), Some(ns)) = (share, ns(member.record)) {
                *share += fastest / ns; // what was not timed on a matrix has none of it
            }
        }
    }
    shares.sort_by(|one, other| other.1.total_cmp(&one.1));
    let best = &shares[..MOST_LINES];
    for series in series.iter_mut() {
        series.is_grey = !best.iter().any(|(name, _)| *name == series.name);
    }
    format!(
        "In colour the {MOST_LINES} that come closest to the fastest, on average; the other {} are grey strokes.",
        count - MOST_LINES
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::groups::timed as grouped;
    use crate::report::figures::tests::{run, timed};

    fn on(matrix: &str, record: Record) -> Record {
        Record { matrix: Some(matrix.to_owned()), ..record }
    }

    fn found(records: Vec<Record>) -> Vec<(String, Dots)> {
        let runs = [run("a", records)];
        let figures = all(&grouped(&runs));
        let dots = |(name, figure)| match figure {
            Figure::Dots(dots) => (name, dots),
            _ => panic!("no dots"),
        };
        figures.into_iter().map(dots).collect()
    }

    #[test]
    fn every_k_has_a_figure_with_rates_and_times_of_all_matrices() {
        let mut records = Vec::new();
        for (matrix, factor) in [("a", 1.0), ("b", 10.0)] {
            for k in [4, 8] {
                records.push(on(matrix, timed("x", k, 1, factor)));
                records.push(on(matrix, timed("x", k, 2, 2.0 * factor)));
            }
        }
        records.push(on("b", timed("y", 8, 1, 5.0)));
        let found = found(records);
        let titles: Vec<&str> = found.iter().map(|(_, dots)| dots.title.as_str()).collect();
        assert_eq!(titles, ["All matrices: spmm, f64, K = 4", "All matrices: spmm, f64, K = 8"]);
        assert_eq!(found[1].0, "spmm, f64, K = 8");
        let dots = &found[1].1;
        assert_eq!(dots.rows, ["a", "b"]);
        let labels: Vec<&str> = dots.axes.iter().map(|axis| axis.label.as_str()).collect();
        assert_eq!(labels, ["GFLOP/s", "time in µs"]);
        assert_eq!(dots.series[0].values, [[2.0, 500.0], [20.0, 50.0]], "with two threads");
        assert_eq!(dots.series[1].values, [vec![], vec![5.0, 200.0]], "not timed on the first");
        assert_eq!(dots.series[0].texts[0], "x, a: 2.00 GFLOP/s at K = 8 (500 µs)");
        assert!(dots.note.contains("most threads"), "{}", dots.note);
    }

    #[test]
    fn one_matrix_has_none_and_sweeps_over_sizes_neither() {
        assert_eq!(found(vec![timed("x", 4, 1, 1.0), timed("x", 8, 1, 1.0)]), []);
        let square = |n| Record {
            op: "gemm".into(),
            matrix: None,
            k: None,
            n: Some(n),
            m: Some(n),
            p: Some(n),
            ..timed("x", 8, 1, 1.0)
        };
        assert_eq!(found(vec![square(10), square(20)]), []);
    }

    #[test]
    fn conversions_have_one_without_a_k() {
        let converted = |matrix: &str| Record {
            op: "convert".into(),
            k: None,
            gflops: None,
            ..on(matrix, timed("x", 8, 1, 2.0))
        };
        let found = found(vec![converted("a"), converted("b")]);
        assert_eq!((found.len(), found[0].1.title.as_str()), (1, "All matrices: convert, f64"));
        assert_eq!(found[0].1.axes[0].label, "GB/s");
    }

    #[test]
    fn the_eight_nearest_to_the_fastest_have_colours() {
        let mut records = Vec::new();
        for variant in 0..11 {
            records.push(on("a", timed(&format!("v{variant}"), 8, 1, 1.0 + f64::from(variant))));
            records.push(on("b", timed(&format!("v{variant}"), 8, 1, 1.0 + f64::from(variant))));
        }
        // The fastest where it runs, but it runs on one of the two only.
        records.push(on("a", timed("half", 8, 1, 12.0)));
        let found = found(records);
        let grey: Vec<&str> = found[0]
            .1
            .series
            .iter()
            .filter(|series| series.is_grey)
            .map(|series| series.name.as_str())
            .collect();
        assert_eq!(grey, ["v0", "v1", "v2", "v3"]);
        assert!(found[0].1.note.contains("the other 4 are grey"), "{}", found[0].1.note);
    }

    #[test]
    fn figures_and_rows_are_bounded_and_say_so() {
        let ks: Vec<u64> = (1..=10).collect();
        let of = |matrix: usize, k: u64| on(&format!("m{matrix}"), timed("x", k, 1, 1.0));
        let found = found((0..45).flat_map(|matrix| ks.iter().map(move |&k| of(matrix, k))).collect());
        assert_eq!((found.len(), found[0].1.rows.len()), (8, 40));
        let note = &found[0].1.note;
        assert_eq!(note, "Not drawn: K = 3, K = 8. The first 40 of 45 matrices.");
    }
}

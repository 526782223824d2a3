//! A chart and a list of bars for every input and dtype.

use super::chart::{self, Series};
use super::escape;
use crate::report::{Record, Run, table};
use crate::units;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What is drawn of a record: its unit and its value.
type Rate = (&'static str, fn(&Record) -> Option<f64>);

/// The first of these that the records have: sorting and copying compute nothing.
const RATES: [Rate; 2] = [("GFLOP/s", |record| record.gflops), ("GB/s", |record| record.gbytes_per_s)];

/// Everything that was timed of one input in one dtype, with the label of its file.
struct Group<'a> {
    title: String,
    members: Vec<(&'a str, &'a Record)>,
}

/// All charts of the report.
pub(super) fn charts(runs: &[Run]) -> String {
    let mut html = String::new();
    for (number, group) in grouped(runs).iter().enumerate() {
        let drawn = |rate: &&Rate| group.members.iter().any(|(_, record)| (rate.1)(record).is_some());
        let Some(&(unit, rate)) = RATES.iter().find(drawn) else {
            continue;
        };
        let series = series_of(group, rate);
        let title = format!("{unit} over K: {}", group.title);
        let _ = writeln!(html, "<h3>{}</h3>", escape(&group.title)); // writing to a string cannot fail
        html.push_str(&chart::lines(&format!("chart{number}"), &title, unit, &series));
        html.push_str(&bars(unit, &series));
    }
    if html.is_empty() { html } else { format!("<h2>Speed</h2>\n{html}") }
}

fn grouped(runs: &[Run]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for run in runs {
        for record in run.records.iter().filter(|record| record.median_ns.is_some()) {
            let title = format!("{}, {}", table::input_text(record), record.dtype);
            match groups.iter_mut().find(|group| group.title == title) {
                Some(group) => group.members.push((&run.label, record)),
                None => groups.push(Group { title, members: vec![(&run.label, record)] }),
            }
        }
    }
    groups
}

/// One series per variant; file and threads are part of the name where they differ within the group.
fn series_of(group: &Group<'_>, rate: fn(&Record) -> Option<f64>) -> Vec<Series> {
    let labels: BTreeSet<&str> = group.members.iter().map(|(label, _)| *label).collect();
    let threads: BTreeSet<Option<u64>> = group.members.iter().map(|(_, record)| record.threads).collect();
    let places: BTreeSet<&str> = group.members.iter().map(|(_, record)| record.place.as_str()).collect();
    let name = |label: &str, record: &Record| {
        let mut parts = vec![record.variant.clone()];
        // Every other variant says in its name where it runs.
        let tells_place = places.len() > 1 && (record.chosen.is_some() || record.place == "emulator");
        parts.extend(tells_place.then(|| format!("on {}", record.place)));
        parts.extend(record.threads.filter(|_| threads.len() > 1).map(units::threads));
        parts.extend(record.cold.then(|| "cold".to_owned()));
        parts.extend((labels.len() > 1).then(|| label.to_owned()));
        parts.join(", ")
    };
    let mut all: Vec<Series> = Vec::new();
    for (label, record) in &group.members {
        let Some(value) = rate(record).filter(|value| value.is_finite()) else {
            continue;
        };
        let (name, point) = (name(label, record), (record.k.unwrap_or(0), value));
        match all.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => all.push(Series { name, points: vec![point] }),
        }
    }
    for series in &mut all {
        series.points.sort_by_key(|(k, _)| *k);
    }
    all
}

/// The best of every series, fastest first, in the colours of the chart: its legend as well.
fn bars(unit: &str, series: &[Series]) -> String {
    let best = |series: &Series| series.points.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    let mut bars: Vec<(usize, &str, u64, f64)> = series
        .iter()
        .enumerate()
        .filter_map(|(number, series)| best(series).map(|(k, rate)| (number, series.name.as_str(), k, rate)))
        .collect();
    bars.sort_by(|a, b| b.3.total_cmp(&a.3));
    let highest = bars.first().map_or(0.0, |bar| bar.3);
    let mut html = format!(
        "<div class=\"scroll\"><table class=\"bars\">\n<caption>Best {unit} of each</caption>\n<thead><tr>\
         <th scope=\"col\">variant</th><th scope=\"col\" class=\"number\">{unit}</th>\
         <th scope=\"col\">at K</th><th scope=\"col\">share of the fastest</th></tr></thead>\n<tbody>\n"
    );
    for (number, name, k, rate) in bars {
        let percent = if highest > 0.0 { 100.0 * rate / highest } else { 0.0 };
        let k = if k == 0 { String::new() } else { k.to_string() };
        let _ = writeln!(
            html,
            "<tr class=\"{}\"><th scope=\"row\">{}</th><td class=\"number\">{}</td><td>{k}</td>\
             <td class=\"track\"><span class=\"bar\" style=\"width:{percent:.1}%\"></span></td></tr>",
            chart::colour(number),
            escape(name),
            units::number(rate),
        );
    }
    html + "</tbody>\n</table></div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Outcome;

    fn timed(variant: &str, k: u64, threads: u64, gflops: f64) -> Record {
        let mut record = Record::new("spmm", variant, Outcome::Passed);
        (record.matrix, record.dtype) = (Some("m".to_owned()), "f64".to_owned());
        (record.k, record.threads) = (Some(k), Some(threads));
        (record.median_ns, record.gflops) = (Some(1.0), Some(gflops));
        record
    }
    fn run(label: &str, records: Vec<Record>) -> Run {
        Run { label: label.to_owned(), records, ..Run::default() }
    }

    #[test]
    fn names_hold_what_differs() {
        let runs = [run("a", vec![timed("x", 8, 1, 2.0), timed("x", 4, 1, 1.0), timed("y", 8, 1, 3.0)])];
        let groups = grouped(&runs);
        let series = series_of(&groups[0], RATES[0].1);
        assert_eq!(series[0], Series { name: "x".to_owned(), points: vec![(4, 1.0), (8, 2.0)] });
        assert_eq!((groups.len(), series.len()), (1, 2));
        let runs = [
            run("a", vec![timed("x", 8, 1, 2.0), timed("x", 8, 2, 4.0)]),
            run("b", vec![timed("x", 8, 1, 1.0)]),
        ];
        let names: Vec<String> =
            series_of(&grouped(&runs)[0], RATES[0].1).into_iter().map(|s| s.name).collect();
        assert_eq!(names, ["x, 1 thread, a", "x, 2 threads, a", "x, 1 thread, b"]);
    }

    #[test]
    fn bars_fall_from_the_fastest() {
        let page = charts(&[run("a", vec![timed("slow", 8, 1, 2.0), timed("fast", 8, 1, 8.0)])]);
        assert!(page.find("fast").unwrap() < page.find("slow").unwrap());
        assert!(page.contains("width:100.0%") && page.contains("width:25.0%"));
        assert!(!page.contains("<svg"), "a single K needs no lines");
    }

    #[test]
    fn without_flops_bytes_are_drawn_and_without_either_nothing() {
        let mut copy = timed("copy", 0, 1, 0.0);
        (copy.gflops, copy.k, copy.gbytes_per_s) = (None, None, Some(12.0));
        assert!(charts(&[run("a", vec![copy.clone()])]).contains("Best GB/s of each"));
        copy.gbytes_per_s = None;
        assert_eq!(charts(&[run("a", vec![copy])]), "");
    }
}

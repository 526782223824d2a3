//! What more threads do to every variant, at every place of what was varied.

use crate::report::figures::groups::Group;
use crate::report::figures::many::{MOST_LINES, MOST_PANELS, best_panels, readable, spread};
use crate::report::figures::quantity::Quantity;
use crate::report::record::Record;
use ordito_chart::{Axis, Figure, Multiple, Multiples, Plot, Scale, Series};
use std::collections::BTreeSet;

/// The rate over threads.
pub(crate) fn rates(group: &Group<'_>) -> Option<Figure> {
    draw(group, Quantity::rate_of(group)?)
}

/// The time over threads.
pub(crate) fn times(group: &Group<'_>) -> Option<Figure> {
    draw(group, Quantity::time_of(group)?)
}

/// What was measured at one place of what was varied: the place in words, and a line for every variant.
type AtPlace = (String, Vec<Series>);

/// Of variants that ran with several numbers of threads: a plot where that was at one place, else one figure for all.
fn draw(group: &Group<'_>, quantity: Quantity) -> Option<Figure> {
    let places = group.places();
    let all: Vec<AtPlace> = match places.as_slice() {
        [] => vec![(String::new(), lines(group, quantity, None))],
        some => some.iter().map(|&at| (group.sweep.say(at), lines(group, quantity, Some(at)))).collect(),
    };
    let mut all: Vec<AtPlace> = all.into_iter().filter(|(_, series)| !series.is_empty()).collect();
    let title = format!("{} over threads: {}", quantity.title(), group.title);
    let ticks = all.iter().flat_map(|(_, series)| series).flat_map(|series| &series.points);
    let ticks: BTreeSet<u64> = ticks.map(|point| point.x as u64).collect();
    let x = Axis {
        label: "threads".into(),
        scale: Scale::Log2,
        ticks: ticks.into_iter().map(|threads| threads as f64).collect(),
        ..Axis::default()
    };
    if all.len() > 1 {
        return Some(Figure::Multiples(Multiples { title, x, ..panels(&all, quantity) }));
    }
    let (place, series) = all.pop()?;
    let at = if place.is_empty() { place } else { format!(", {place}") };
    let plot = Plot { title: title + &at, x, y: quantity.axis(), series, ..Plot::default() };
    Some(readable(plot, quantity.best()))
}

/// A line for every variant that ran there with several numbers of threads.
fn lines(group: &Group<'_>, quantity: Quantity, at: Option<u64>) -> Vec<Series> {
    let threads =
        |record: &Record| record.threads.filter(|_| group.sweep.of(record) == at).map(|count| count as f64);
    let name = |member| group.name_over_threads(member);
    let mut series = group.series(name, threads, |member| quantity.value(group, member));
    series.retain(|series| series.points.len() > 1);
    series
}

/// Few variants are lines, with a panel for every place; many have a panel each, with a line for every place.
fn panels(all: &[AtPlace], quantity: Quantity) -> Multiples {
    let mut names: Vec<&str> = Vec::new();
    for series in all.iter().flat_map(|(_, series)| series) {
        if !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    let by_variant = names.len() > MOST_LINES;
    let most = if by_variant { MOST_LINES } else { MOST_PANELS };
    let kept = spread(all, most);
    let (mut panels, mut others) = (Vec::new(), Vec::new());
    let mut note = vec!["Both axes are logarithmic: perfect scaling is as steep everywhere.".to_owned()];
    if by_variant {
        let of_variant = |name: &&str| {
            let line = |(look, at): (usize, &&AtPlace)| {
                let series = at.1.iter().find(|series| series.name == *name)?;
                Some(Series { name: at.0.clone(), look: Some(look), ..without_ranges(series) })
            };
            let series = kept.iter().enumerate().filter_map(line).collect();
            Multiple { name: (*name).to_owned(), series }
        };
        panels.extend(names.iter().map(of_variant).filter(|panel| !panel.series.is_empty()));
        note.push("A panel for every variant, from the fastest on.".to_owned());
        note.push(best_panels(&mut panels, &mut others, quantity.best()));
    } else {
        panels.extend(kept.iter().map(|(place, series)| Multiple {
            name: place.clone(),
            series: series.iter().map(without_ranges).collect(),
        }));
    }
    for at in all.iter().filter(|at| !kept.iter().any(|kept| kept.0 == at.0)) {
        let whole =
            |series: &Series| Series { name: format!("{}, {}", series.name, at.0), ..without_ranges(series) };
        others.extend(at.1.iter().map(whole));
        note.push(format!("{} is only in the numbers.", at.0));
    }
    note.retain(|sentence| !sentence.is_empty());
    Multiples { note: note.join(" "), y: quantity.logarithmic_axis(), panels, others, ..Multiples::default() }
}

/// Bands of several lines in a small panel would only cover each other.
fn without_ranges(series: &Series) -> Series {
    let mut series = series.clone();
    series.points.iter_mut().for_each(|point| point.range = None);
    series
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::groups::timed as grouped;
    use crate::report::figures::tests::{run, timed};

    fn multiples(figure: Option<Figure>) -> Multiples {
        let Some(Figure::Multiples(multiples)) = figure else { panic!("no multiples") };
        multiples
    }

    #[test]
    fn only_what_ran_with_several_is_drawn() {
        let records = vec![
            timed("x", 4, 1, 1.0),
            timed("x", 8, 1, 2.0),
            timed("x", 8, 2, 4.0),
            timed("serial", 8, 1, 1.0),
        ];
        let runs = [run("a", records)];
        let group = &grouped(&runs)[0];
        let Some(Figure::Plot(plot)) = rates(group) else { panic!("no plot") };
        assert_eq!(plot.title, "GFLOP/s over threads: spmm m, f64, K = 8");
        assert_eq!((plot.series.len(), plot.series[0].name.as_str()), (1, "x"));
        assert_eq!(plot.x.ticks, [1.0, 2.0]);
        let Some(Figure::Plot(plot)) = times(group) else { panic!("no plot") };
        assert_eq!(plot.title, "Time over threads: spmm m, f64, K = 8");
        let ms: Vec<f64> = plot.series[0].points.iter().map(|point| point.y).collect();
        assert_eq!((plot.y.label.as_str(), ms), ("time in ms", vec![0.5, 0.25]));
        let runs = [run("a", vec![timed("x", 8, 1, 2.0)])];
        assert_eq!((rates(&grouped(&runs)[0]), times(&grouped(&runs)[0])), (None, None));
    }

    /// Every variant at every K with one and with two threads.
    fn swept(variants: usize, ks: &[u64]) -> Vec<crate::report::record::Record> {
        let mut records = Vec::new();
        for variant in 0..variants {
            for &k in ks {
                for threads in [1, 2] {
                    records.push(timed(&format!("v{variant}"), k, threads, (1 + variant) as f64));
                }
            }
        }
        records
    }

    #[test]
    fn every_k_has_a_panel_with_a_line_for_every_variant() {
        let runs = [run("a", swept(3, &[1, 4, 8]))];
        let found = multiples(rates(&grouped(&runs)[0]));
        assert_eq!(found.title, "GFLOP/s over threads: spmm m, f64");
        let names: Vec<&str> = found.panels.iter().map(|panel| panel.name.as_str()).collect();
        assert_eq!(names, ["K = 1", "K = 4", "K = 8"]);
        let lines: Vec<&str> = found.panels[1].series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(lines, ["v0", "v1", "v2"]);
        assert_eq!(multiples(times(&grouped(&runs)[0])).panels.len(), 3);
    }

    #[test]
    fn many_variants_have_a_panel_each_with_a_line_for_every_k() {
        let runs = [run("a", swept(9, &[1, 4, 8]))];
        let found = multiples(rates(&grouped(&runs)[0]));
        assert_eq!((found.panels.len(), found.panels[0].name.as_str()), (9, "v8"));
        assert!(found.note.contains("A panel for every variant"), "{}", found.note);
        let lines: Vec<&str> = found.panels[0].series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(lines, ["K = 1", "K = 4", "K = 8"]);
        assert_eq!(multiples(times(&grouped(&runs)[0])).panels[0].name, "v8", "the shortest time");
        let ks: Vec<u64> = (1..=10).collect();
        let runs = [run("a", swept(9, &ks))];
        let found = multiples(rates(&grouped(&runs)[0]));
        assert_eq!((found.panels[0].series.len(), found.others.len()), (8, 2 * 9));
        assert!(found.note.contains("K = 3 is only in the numbers."), "{}", found.note);
    }

    #[test]
    fn what_has_no_k_is_drawn_over_threads_too() {
        let converted = |variant: &str, threads, rate| {
            let mut record = timed(variant, 8, threads, rate);
            (record.op, record.k, record.gflops) = ("convert".into(), None, None);
            record
        };
        let runs = [run("a", vec![converted("x", 1, 2.0), converted("x", 2, 4.0)])];
        let Some(Figure::Plot(plot)) = rates(&grouped(&runs)[0]) else { panic!("no plot") };
        assert_eq!(plot.title, "GB/s over threads: convert m, f64");
        let Some(Figure::Plot(plot)) = times(&grouped(&runs)[0]) else { panic!("no plot") };
        assert_eq!(plot.title, "Time over threads: convert m, f64");
    }
}

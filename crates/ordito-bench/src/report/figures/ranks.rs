//! What more ranks do, and how much of them is used: over all files of a report, since every run has one number of ranks.

use crate::report::figures::groups::Group;
use crate::report::record::Record;
use ordito::units;
use ordito_chart::{Axis, Figure, Plot, Point, Scale, Series};
use std::collections::{BTreeMap, BTreeSet};

/// A process alone is one rank.
fn ranks_of(record: &Record) -> u64 {
    record.ranks.unwrap_or(1)
}

/// Records of one line: by variant, K and threads of a rank, then by ranks; of several the fastest.
type Lines<'a> = BTreeMap<(String, Option<u64>, Option<u64>), BTreeMap<u64, &'a Record>>;

fn lines<'a>(group: &Group<'a>) -> Lines<'a> {
    let mut lines = Lines::new();
    for member in &group.members {
        let record = member.record;
        let line = lines.entry((record.name(), record.k, record.threads)).or_default();
        let kept = line.entry(ranks_of(record)).or_insert(record);
        if record.median_ns < kept.median_ns {
            *kept = record;
        }
    }
    lines.retain(|_, line| line.len() > 1);
    lines
}

/// GFLOP/s over ranks.
pub(crate) fn rates(group: &Group<'_>) -> Option<Figure> {
    let value = |record: &Record, _: &Record| record.gflops;
    draw(group, "GFLOP/s over ranks", "GFLOP/s", Scale::Log2, &value)
}

/// How much of perfect scaling is reached, from the fewest ranks on.
pub(crate) fn efficiencies(group: &Group<'_>) -> Option<Figure> {
    let value = |record: &Record, fewest: &Record| {
        let [work, least] = [record, fewest].map(|record| Some(record.median_ns? * ranks_of(record) as f64));
        Some(100.0 * least? / work?)
    };
    draw(group, "Efficiency over ranks", "%", Scale::Linear, &value)
}

fn draw(
    group: &Group<'_>,
    title: &str,
    unit: &str,
    scale: Scale,
    value: &dyn Fn(&Record, &Record) -> Option<f64>,
) -> Option<Figure> {
    let lines = lines(group);
    let several_threads = lines.keys().map(|(_, _, threads)| threads).collect::<BTreeSet<_>>().len() > 1;
    let series: Vec<Series> = lines
        .iter()
        .map(|((variant, k, threads), line)| {
            let k = k.map(|k| format!("K = {k}"));
            let threads = threads.filter(|_| several_threads).map(units::threads);
            let name =
                [Some(variant.clone()), k, threads].into_iter().flatten().collect::<Vec<_>>().join(", ");
            let fewest = line.values().next();
            let point = |(&ranks, record): (&u64, &&Record)| {
                let y = value(record, fewest?)?;
                let text = format!("{name}, {}: {} {unit}", units::ranks(ranks), units::number(y));
                Some(Point { x: ranks as f64, y, text, ..Point::default() })
            };
            let points = line.iter().filter_map(point).collect();
            Series { name: name.clone(), points, ..Series::default() }
        })
        .filter(|series| series.points.len() > 1)
        .collect();
    let ticks: BTreeSet<u64> = lines.values().flat_map(|line| line.keys().copied()).collect();
    if series.is_empty() {
        return None;
    }
    let x = Axis {
        label: "ranks".into(),
        scale: Scale::Log2,
        ticks: ticks.into_iter().map(|ranks| ranks as f64).collect(),
        ..Axis::default()
    };
    let holds = if scale == Scale::Linear { vec![0.0, 100.0] } else { Vec::new() };
    let y = Axis { label: unit.into(), scale, holds, ..Axis::default() };
    Some(Figure::Plot(Plot { title: format!("{title}: {}", group.title), x, y, series, ..Plot::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::groups::timed as grouped;
    use crate::report::figures::tests::{run, timed};

    #[test]
    fn several_runs_make_a_line() {
        let on = |ranks: Option<u64>, gflops| Record { ranks, ..timed("auto", 8, 1, gflops) };
        let runs = [
            run("one", vec![on(None, 2.0)]),
            run("two", vec![on(Some(2), 3.0)]),
            run("four", vec![on(Some(4), 6.0)]),
        ];
        let groups = grouped(&runs);
        let Some(Figure::Plot(plot)) = efficiencies(&groups[0]) else { panic!("no plot") };
        let found: Vec<(f64, f64)> =
            plot.series[0].points.iter().map(|point| (point.x, point.y.round())).collect();
        assert_eq!(found, [(1.0, 100.0), (2.0, 75.0), (4.0, 75.0)]);
        let Some(Figure::Plot(plot)) = rates(&groups[0]) else { panic!("no plot") };
        assert_eq!((plot.series.len(), plot.series[0].name.as_str()), (1, "auto, K = 8"));
        // One number of ranks is no line.
        assert!(rates(&grouped(&runs[..1])[0]).is_none());
    }
}

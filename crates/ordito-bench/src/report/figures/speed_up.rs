//! How many times as fast as the baseline every variant is.

use crate::report::Run;
use crate::report::figures::groups::{Group, Member, Value};
use crate::report::figures::many::readable;
use crate::report::figures::quantity::Best;
use crate::report::record::Record;
use crate::report::speed_up::{SpeedUp, speed_ups};
use ordito::units;
use ordito_chart::{Axis, Bar, Bars, Figure, Guide, Plot};
use std::collections::HashMap;

/// Lines over what was varied, or bars where nothing was; nothing where there is only the baseline.
pub(crate) fn ratios(group: &Group<'_>) -> Option<Figure> {
    let known = of_runs(group);
    let of = |record: &Record| known.get(&std::ptr::from_ref(record));
    let found: Vec<(Member<'_>, &SpeedUp)> =
        group.members.iter().filter_map(|&member| Some((member, of(member.record)?))).collect();
    let baseline = found.first()?.1.baseline.clone();
    if found.iter().all(|(member, _)| member.record.name() == baseline) {
        return None;
    }
    // Without a serial variant it is the slowest, which may be another one at every place.
    let is_one = found.iter().all(|(_, speed_up)| speed_up.baseline == baseline);
    let baseline = if is_one { baseline } else { "the slowest".to_owned() };
    let title = format!("Times as fast as {baseline}: {}", group.title);
    let label = format!("speed-up over {baseline}");
    if group.places().len() < 2 {
        let mut rows: Vec<Bar> = found
            .iter()
            .map(|(member, speed_up)| Bar {
                name: group.name_of(*member),
                values: vec![speed_up.ratio],
                text: format!("{} ×", units::number(speed_up.ratio)),
            })
            .collect();
        rows.sort_by(|a, b| b.values[0].total_cmp(&a.values[0]));
        let parts = vec![String::new()];
        let title = format!("Times as fast as {baseline}: {}", group.title_at_the_last_place());
        return Some(Figure::Bars(Bars { title, label, parts, rows, ..Bars::default() }));
    }
    let value = |member: Member<'_>| {
        let at = group.sweep.of(member.record).map(|at| group.sweep.say(at)).unwrap_or_default();
        let ratio = of(member.record)?.ratio;
        Some(Value { value: ratio, range: None, text: format!("{} × at {at}", units::number(ratio)) })
    };
    let one = vec![(f64::NEG_INFINITY, 1.0), (f64::INFINITY, 1.0)];
    let plot = Plot {
        title,
        note: String::new(),
        x: group.axis(),
        y: Axis { label, from_zero: true, ..Axis::default() },
        series: group.series(|member| group.name_of(member), |record| group.place_of(record), value),
        guides: vec![Guide { label: String::new(), path: one }],
    };
    Some(readable(plot, Best::Highest))
}

/// The speed-ups of all records of the runs that the group is from, by where the records are.
fn of_runs(group: &Group<'_>) -> HashMap<*const Record, SpeedUp> {
    let mut runs: Vec<&Run> = Vec::new();
    for member in &group.members {
        if !runs.iter().any(|run| std::ptr::eq(*run, member.run)) {
            runs.push(member.run);
        }
    }
    let of_run = |run: &&Run| {
        let records = run.records.as_slice();
        let placed = move |speed_up: SpeedUp| (std::ptr::from_ref(&records[speed_up.record]), speed_up);
        speed_ups(records, run.baseline.as_deref()).into_iter().map(placed).collect::<Vec<_>>()
    };
    runs.iter().flat_map(of_run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::groups::timed as grouped;
    use crate::report::figures::tests::{run, timed};

    #[test]
    fn the_baseline_is_one() {
        let runs = [run("a", vec![timed("csr-serial", 8, 1, 2.0), timed("csr-threads-rows", 8, 2, 5.0)])];
        let Some(Figure::Bars(bars)) = ratios(&grouped(&runs)[0]) else { panic!("no bars") };
        let rows: Vec<(f64, &str)> = bars.rows.iter().map(|b| (b.values[0], b.text.as_str())).collect();
        assert_eq!(rows, [(2.5, "2.50 ×"), (1.0, "1.00 ×")]);
        let runs = [run("a", vec![timed("csr-serial", 8, 1, 2.0)])];
        assert_eq!(ratios(&grouped(&runs)[0]), None);
    }

    #[test]
    fn several_k_are_lines() {
        let records = vec![
            timed("csr-serial", 8, 1, 2.0),
            timed("csr-serial", 16, 1, 2.0),
            timed("x", 8, 1, 4.0),
            timed("x", 16, 1, 8.0),
        ];
        let runs = [run("a", records)];
        let Some(Figure::Plot(plot)) = ratios(&grouped(&runs)[0]) else { panic!("no plot") };
        let found: Vec<f64> = plot.series[1].points.iter().map(|point| point.y).collect();
        assert_eq!(found, [2.0, 4.0]);
    }
}

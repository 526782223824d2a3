//! How fast every variant is with more threads.

use crate::report::figures::groups::{Group, Member, rate_of, rate_value};
use crate::report::record::Record;
use ordito_chart::{Axis, Figure, Plot, Scale};
use std::collections::BTreeSet;

/// The rate over threads at the last place of what was varied, of variants that ran with several numbers of them.
pub(crate) fn rates(group: &Group<'_>) -> Option<Figure> {
    let rate = rate_of(group)?;
    let last = Group::new(group.title_at_the_last_place(), group.sweep, group.at_the_last_place().collect());
    let value = |member: Member<'_>| rate_value(&last, member, rate);
    let threads = |record: &Record| record.threads.map(|threads| threads as f64);
    let mut series = last.series(|member| last.name_over_threads(member), threads, value);
    series.retain(|series| series.points.len() > 1);
    if series.is_empty() {
        return None;
    }
    let ticks: BTreeSet<u64> = last.members.iter().filter_map(|member| member.record.threads).collect();
    Some(Figure::Plot(Plot {
        title: format!("{} over threads: {}", rate.0, last.title),
        x: Axis {
            label: "threads".into(),
            scale: Scale::Log2,
            ticks: ticks.into_iter().map(|threads| threads as f64).collect(),
            ..Axis::default()
        },
        y: Axis { label: rate.0.into(), from_zero: true, ..Axis::default() },
        series,
        ..Plot::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::groups::timed as grouped;
    use crate::report::figures::tests::{run, timed};

    #[test]
    fn only_what_ran_with_several_is_drawn_at_the_largest_k() {
        let records = vec![
            timed("x", 4, 1, 1.0),
            timed("x", 8, 1, 2.0),
            timed("x", 8, 2, 4.0),
            timed("serial", 8, 1, 1.0),
        ];
        let runs = [run("a", records)];
        let Some(Figure::Plot(plot)) = rates(&grouped(&runs)[0]) else { panic!("no plot") };
        assert_eq!(plot.title, "GFLOP/s over threads: spmm m, f64, K = 8");
        assert_eq!((plot.series.len(), plot.series[0].name.as_str()), (1, "x"));
        assert_eq!(plot.x.ticks, [1.0, 2.0]);
        let runs = [run("a", vec![timed("x", 8, 1, 2.0)])];
        assert_eq!(rates(&grouped(&runs)[0]), None);
    }
}

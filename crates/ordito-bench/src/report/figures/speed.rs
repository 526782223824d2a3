//! How fast every variant is, over what was varied, or as bars where nothing was.

use crate::report::Run;
use crate::report::figures::groups::{BANDWIDTH, Group, Member, Rate, rate_of, rate_value};
use crate::report::record::Record;
use ordito::units;
use ordito_chart::{Axis, Bar, Bars, Figure, Guide, Plot};

/// Bands of more lines than this would only cover each other.
const MOST_BANDS: usize = 6;

/// GFLOP/s, or GB/s of what computes nothing.
pub(crate) fn rates(group: &Group<'_>) -> Option<Figure> {
    let rate = rate_of(group)?;
    draw(group, rate, format!("{}: {}", rate.0, group.title))
}

/// GB/s, where it was not drawn as the speed itself.
pub(crate) fn bandwidths(group: &Group<'_>) -> Option<Figure> {
    if rate_of(group)?.0 == BANDWIDTH.0 {
        return None;
    }
    draw(group, BANDWIDTH, format!("Least bytes over time: {}", group.title))
}

fn draw(group: &Group<'_>, rate: Rate, title: String) -> Option<Figure> {
    if group.places().len() < 2 {
        return bars(group, rate, title);
    }
    let value = |member: Member<'_>| rate_value(group, member, rate);
    let mut series = group.series(|member| group.name_of(member), |record| group.place_of(record), value);
    if series.is_empty() {
        return None;
    }
    if series.len() > MOST_BANDS {
        series.iter_mut().flat_map(|series| &mut series.points).for_each(|point| point.range = None);
    }
    let guides = if rate.0 == BANDWIDTH.0 { measured_bandwidths(group) } else { Vec::new() };
    Some(Figure::Plot(Plot {
        title,
        note: String::new(),
        x: group.axis(),
        y: Axis { label: rate.0.into(), from_zero: true, ..Axis::default() },
        series,
        guides,
    }))
}

fn bars(group: &Group<'_>, rate: Rate, title: String) -> Option<Figure> {
    let mut rows: Vec<(f64, Bar)> = Vec::new();
    for &member in &group.members {
        let Some(found) = rate_value(group, member, rate) else { continue };
        let text = format!("{} {}", units::number(found.value), rate.0);
        rows.push((found.value, Bar { name: group.name_of(member), values: vec![found.value], text }));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let rows: Vec<Bar> = rows.into_iter().map(|(_, bar)| bar).collect();
    let at = group.places().first().map(|&at| format!(", {}", group.sweep.say(at))).unwrap_or_default();
    let bars = Bars {
        title: title + &at,
        label: rate.0.into(),
        parts: vec![String::new()],
        rows,
        ..Bars::default()
    };
    (!bars.rows.is_empty()).then_some(Figure::Bars(bars))
}

/// What the machines of the group were measured to move from their memory, a line for each.
fn measured_bandwidths(group: &Group<'_>) -> Vec<Guide> {
    let mut guides: Vec<Guide> = Vec::new();
    for member in &group.members {
        let Some((label, rate)) = measured_bandwidth(member.run, member.record) else { continue };
        let path = vec![(f64::NEG_INFINITY, rate), (f64::INFINITY, rate)];
        let guide = Guide { label, path };
        if !guides.contains(&guide) {
            guides.push(guide);
        }
    }
    guides
}

fn measured_bandwidth(run: &Run, record: &Record) -> Option<(String, f64)> {
    let (what, rate) = if record.place == "cpu" {
        let ceilings = run.fingerprint.ceilings_of(record.threads)?;
        (format!("memory, {}", units::threads(record.threads?)), ceilings.bandwidth_for(u64::MAX))
    } else {
        ("copy on the GPU".to_owned(), run.fingerprint.device_ceilings.as_ref()?.copy_gbytes_per_s)
    };
    rate.is_finite().then(|| (format!("{what}: {} GB/s", units::number(rate)), rate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::groups::timed as grouped;
    use crate::report::figures::tests::{run, timed};

    #[test]
    fn several_k_are_lines_and_one_is_bars_from_the_fastest() {
        let runs = [run("a", vec![timed("x", 4, 1, 1.0), timed("x", 8, 1, 2.0)])];
        let Some(Figure::Plot(plot)) = rates(&grouped(&runs)[0]) else { panic!("no plot") };
        assert_eq!((plot.x.ticks, plot.series.len()), (vec![4.0, 8.0], 1));
        assert_eq!(plot.x.scale, ordito_chart::Scale::Log2);
        let runs = [run("a", vec![timed("slow", 8, 1, 2.0), timed("fast", 8, 1, 8.0)])];
        let Some(Figure::Bars(bars)) = rates(&grouped(&runs)[0]) else { panic!("no bars") };
        assert_eq!(bars.title, "GFLOP/s: spmm m, f64, K = 8");
        let names: Vec<&str> = bars.rows.iter().map(|bar| bar.name.as_str()).collect();
        assert_eq!(names, ["fast", "slow"]);
    }

    #[test]
    fn without_flops_bytes_are_the_speed_and_without_either_nothing_is_drawn() {
        let mut copy = timed("copy", 8, 1, 2.0);
        copy.gflops = None;
        let runs = [run("a", vec![copy.clone()])];
        let Some(Figure::Bars(bars)) = rates(&grouped(&runs)[0]) else { panic!("no bars") };
        assert_eq!(bars.label, "GB/s");
        assert_eq!(bandwidths(&grouped(&runs)[0]), None);
        copy.gbytes_per_s = None;
        let runs = [run("a", vec![copy])];
        assert_eq!(rates(&grouped(&runs)[0]), None);
    }
}

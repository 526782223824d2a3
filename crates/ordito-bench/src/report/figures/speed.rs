//! How fast every variant is and how long it takes, over what was varied; rates as bars where nothing was.

use crate::report::Run;
use crate::report::figures::groups::{Group, Member};
use crate::report::figures::many::readable;
use crate::report::figures::quantity::Quantity;
use crate::report::record::Record;
use ordito::units;
use ordito_chart::{Bar, Bars, Figure, Guide, Plot};

/// GFLOP/s, or GB/s of what computes nothing.
pub(crate) fn rates(group: &Group<'_>) -> Option<Figure> {
    let rate = Quantity::rate_of(group)?;
    draw(group, rate, rate.title())
}

/// Median times, where anything was varied: what bars of them would show, those of the rates do.
pub(crate) fn times(group: &Group<'_>) -> Option<Figure> {
    let time = Quantity::time_of(group).filter(|_| group.places().len() > 1)?;
    draw(group, time, time.title())
}

/// GB/s, where it was not drawn as the speed itself.
pub(crate) fn bandwidths(group: &Group<'_>) -> Option<Figure> {
    if Quantity::rate_of(group)?.is_bandwidth() {
        return None;
    }
    draw(group, Quantity::BANDWIDTH, "Least bytes over time")
}

fn draw(group: &Group<'_>, quantity: Quantity, what: &str) -> Option<Figure> {
    let title = format!("{what}: {}", group.title);
    if group.places().len() < 2 {
        return bars(group, quantity, title);
    }
    let value = |member: Member<'_>| quantity.value(group, member);
    let series = group.series(|member| group.name_of(member), |record| group.place_of(record), value);
    if series.is_empty() {
        return None;
    }
    let guides = if quantity.is_bandwidth() { measured_bandwidths(group) } else { Vec::new() };
    let plot = Plot { title, note: String::new(), x: group.axis(), y: quantity.axis(), series, guides };
    Some(readable(plot, quantity.best()))
}

fn bars(group: &Group<'_>, rate: Quantity, title: String) -> Option<Figure> {
    let mut rows: Vec<(f64, Bar)> = Vec::new();
    for &member in &group.members {
        let Some(found) = rate.value(group, member) else { continue };
        let text = format!("{} {}", units::number(found.value), rate.label());
        rows.push((found.value, Bar { name: group.name_of(member), values: vec![found.value], text }));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let rows: Vec<Bar> = rows.into_iter().map(|(_, bar)| bar).collect();
    let at = group.places().first().map(|&at| format!(", {}", group.sweep.say(at))).unwrap_or_default();
    let bars =
        Bars { title: title + &at, label: rate.label(), parts: vec![String::new()], rows, ..Bars::default() };
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
    fn times_are_drawn_over_several_k_only() {
        let runs = [run("a", vec![timed("x", 4, 1, 1.0), timed("x", 8, 1, 2.0)])];
        let Some(Figure::Plot(plot)) = times(&grouped(&runs)[0]) else { panic!("no plot") };
        assert_eq!((plot.title.as_str(), plot.y.label.as_str()), ("Time: spmm m, f64", "time in ms"));
        assert_eq!(plot.y.scale, ordito_chart::Scale::Log10);
        let points = &plot.series[0].points;
        assert_eq!([(points[0].x, points[0].y), (points[1].x, points[1].y)], [(4.0, 1.0), (8.0, 0.5)]);
        assert_eq!(points[1].range, Some((0.45, 0.6)));
        let runs = [run("a", vec![timed("x", 8, 1, 2.0), timed("y", 8, 2, 8.0)])];
        assert_eq!(times(&grouped(&runs)[0]), None);
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

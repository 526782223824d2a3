//! A table with a line for every variant.

use crate::xrayed::counted::Xrayed;
use ordito::device::emulator::xray::{AccessCounts, GpuModel, LaunchXray, LineAccess, Space};
use ordito::units;
use ordito_bench::report::setting::Setting;
use ordito_bench::report::table::{Printed, laid_out};

/// One table for each input and setting, and what could not be counted.
pub(crate) fn table(xrayed: &[Xrayed], gpu: &GpuModel) -> String {
    let mut groups: Vec<(String, Vec<&Xrayed>)> = Vec::new();
    for one in xrayed {
        let heading = heading(one);
        match groups.last_mut().filter(|(last, _)| *last == heading) {
            Some((_, group)) => group.push(one),
            None => groups.push((heading, vec![one])),
        }
    }
    let mut text = Vec::new();
    for (heading, group) in groups {
        text.push(format!(
            "{heading}: counted; caches and times are those of a model of {} ({})",
            gpu.architecture, gpu.name
        ));
        let counted: Vec<&Xrayed> = group.iter().copied().filter(|one| !one.launches.is_empty()).collect();
        if !counted.is_empty() {
            text.extend(laid_out(&columns(&counted)));
        }
        text.extend(group.iter().filter_map(|one| sampled(one)));
        for one in group {
            let why = one.failure.as_ref().map(|why| format!("failed: {why}"));
            let why = why.or_else(|| one.refusal.as_ref().map(|why| format!("refused: {why}")));
            text.extend(why.map(|why| format!("{}: {why}", one.name())));
        }
        text.push(String::new());
    }
    text.join("\n").trim_end().to_owned()
}

/// `spmm stencil27:20, k = 8, f64`
pub(crate) fn heading(one: &Xrayed) -> String {
    let record = &one.record;
    let k = record.k.map_or(String::new(), |k| format!(", k = {k}"));
    let geometry = record.geometry.as_ref().map_or(String::new(), |geometry| format!(", {geometry}"));
    let dtype = if record.dtype.is_empty() { String::new() } else { format!(", {}", record.dtype) };
    let input = Setting::of(record).input();
    let input = if input.is_empty() { input } else { format!(" {input}") };
    format!("{}{input}{k}{dtype}{geometry}", record.op)
}

/// What is said where only some of the blocks were run.
fn sampled(one: &Xrayed) -> Option<String> {
    let (launch, _) = one.launches.iter().find(|(launch, _)| launch.factor > 1.0)?;
    Some(format!(
        "{}: {} of {} blocks were run, counts are multiplied by {:.4}; caches saw only those blocks",
        one.name(),
        launch.blocks_counted,
        launch.blocks,
        launch.factor
    ))
}

/// A count of all launches, multiplied where only some blocks were run.
pub(crate) fn total(one: &Xrayed, count: impl Fn(&LaunchXray) -> u64) -> f64 {
    one.launches.iter().map(|(launch, _)| launch.factor * count(launch) as f64).sum()
}

pub(crate) fn columns(xrayed: &[&Xrayed]) -> Vec<Printed<'static>> {
    let column = |title, cell: &dyn Fn(&Xrayed) -> String| Printed {
        title,
        is_text: title == "variant" || title == "limit",
        cells: xrayed.iter().map(|one| cell(one)).collect(),
    };
    let sum = |one: &Xrayed, wanted: fn(&LineAccess) -> bool, count: fn(&AccessCounts) -> u64| {
        total(one, |launch| count(&launch.sum(wanted)))
    };
    let global =
        |one: &Xrayed, count: fn(&AccessCounts) -> u64| sum(one, |line| line.space == Space::Global, count);
    let shared =
        |one: &Xrayed, count: fn(&AccessCounts) -> u64| sum(one, |line| line.space == Space::Shared, count);
    let in_memory =
        |one: &Xrayed, count: fn(&AccessCounts) -> u64| sum(one, |line| line.space != Space::Local, count);
    let mut columns = vec![
        column("variant", &|one| one.name().to_owned()),
        column("launches", &|one| one.launches.len().to_string()),
        column("global", &|one| count(global(one, |counts| counts.instructions))),
        column("sectors", &|one| count(global(one, |counts| counts.sectors))),
        column("per product", &|one| {
            one.products().map_or(String::new(), |all| {
                format!("{:.3}", global(one, |counts| counts.sectors) / all as f64)
            })
        }),
        column("used", &|one| {
            percent(global(one, |counts| counts.used_bytes), 32.0 * global(one, |counts| counts.sectors))
        }),
        column("lanes", &|one| {
            format!(
                "{:.1}",
                in_memory(one, |counts| counts.lanes) / in_memory(one, |counts| counts.instructions).max(1.0)
            )
        }),
    ];
    if xrayed.iter().any(|one| shared(one, |counts| counts.instructions) > 0.0) {
        columns.extend([
            column("shared", &|one| count(shared(one, |counts| counts.instructions))),
            column("conflicts", &|one| count(shared(one, AccessCounts::conflicts))),
        ]);
    }
    if xrayed.iter().any(|one| total(one, |launch| launch.blocks_total().barriers) > 0.0) {
        columns.push(column("barriers", &|one| count(total(one, |launch| launch.blocks_total().barriers))));
    }
    if xrayed.iter().any(|one| global(one, |counts| counts.collisions) > 0.0) {
        columns.push(column("collisions", &|one| count(global(one, |counts| counts.collisions))));
    }
    columns.extend([
        column("L1 hits", &|one| {
            percent(global(one, |counts| counts.l1_hits), global(one, |counts| counts.sectors))
        }),
        column("L2 hits", &|one| {
            percent(global(one, |counts| counts.l2_hits), global(one, |counts| counts.l2_sectors))
        }),
        column("DRAM", &|one| {
            let bytes = total(one, |launch| launch.caches.dram_read_bytes + launch.caches.dram_written_bytes);
            units::bytes(bytes as u64)
        }),
        column("predicted", &|one| units::duration(one.predicted_s() * 1e9)),
        column("limit", &|one| {
            let slowest = one.launches.iter().max_by(|(_, a), (_, b)| a.seconds.total_cmp(&b.seconds));
            slowest.map_or(String::new(), |(_, prediction)| prediction.slowest().into())
        }),
    ]);
    if xrayed.iter().any(|one| one.measured_ns.is_some()) {
        columns.push(column("measured", &|one| one.measured_ns.map_or(String::new(), units::duration)));
    }
    columns
}

pub(crate) fn count(value: f64) -> String {
    units::count(value.round() as u64)
}

pub(crate) fn percent(part: f64, of: f64) -> String {
    if of > 0.0 { format!("{:.0} %", 100.0 * part / of) } else { String::new() }
}

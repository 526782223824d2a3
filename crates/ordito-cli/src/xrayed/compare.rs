//! `--compare a,b`: two variants side by side.

use crate::xrayed::counted::Xrayed;
use crate::xrayed::table::{count, heading, total};
use anyhow::Context;
use ordito::device::emulator::xray::{AccessCounts, LaunchXray};
use ordito_bench::report::table::{Printed, laid_out};
use ordito_bench::workbench::is_called;

/// One line of the comparison: what it is, and how much of it there is.
type Counted = (&'static str, fn(&LaunchXray) -> u64);

const COUNTS: &[Counted] = &[
    ("global instructions", |launch| launch.global().instructions),
    ("global accesses of threads", |launch| launch.global().lanes),
    ("sectors", |launch| launch.global().sectors),
    ("lines of 128 bytes", |launch| launch.global().lines),
    ("bytes used", |launch| launch.global().used_bytes),
    ("bytes moved", |launch| launch.global().sectors * 32),
    ("sectors from L1 (model)", |launch| launch.global().l1_hits),
    ("sectors from L2 (model)", |launch| launch.global().l2_hits),
    ("DRAM bytes (model)", |launch| launch.caches.dram_read_bytes + launch.caches.dram_written_bytes),
    ("shared instructions", |launch| launch.shared().instructions),
    ("passes over banks", |launch| launch.shared().wavefronts),
    ("of them conflicts", |launch| AccessCounts::conflicts(&launch.shared())),
    ("branches where lanes part", |launch| launch.blocks_total().parted),
    ("shuffles and votes", |launch| launch.blocks_total().collectives),
    ("barriers", |launch| launch.blocks_total().barriers),
    ("atomics that collide", |launch| launch.global().collisions),
    ("flops", |launch| {
        let arithmetic = &launch.arithmetic;
        arithmetic.f32_flops
            + arithmetic.f64_flops
            + arithmetic.tensor_f64_flops
            + arithmetic.tensor_tf32_flops
    }),
    ("instructions (model)", LaunchXray::instructions),
];

/// Both variants on every input that both were counted on.
pub(crate) fn compare(xrayed: &[Xrayed], one: &str, other: &str) -> anyhow::Result<String> {
    let found = |wanted: &str| -> anyhow::Result<Vec<&Xrayed>> {
        let found: Vec<&Xrayed> = xrayed
            .iter()
            .filter(|xrayed| {
                let called = |description| is_called(description, wanted);
                xrayed.name() == wanted || xrayed.description.is_some_and(called)
            })
            .filter(|xrayed| !xrayed.launches.is_empty())
            .collect();
        (!found.is_empty()).then_some(found).with_context(|| format!("--compare: `{wanted}` was not counted"))
    };
    let (first, second) = (found(one)?, found(other)?);
    let mut text = Vec::new();
    for left in first {
        let same = |right: &&&Xrayed| heading(right) == heading(left) && right.name() != left.name();
        let Some(right) = second.iter().find(same) else { continue };
        text.push(heading(left));
        text.extend(laid_out(&columns(left, right)));
        text.push(String::new());
    }
    anyhow::ensure!(!text.is_empty(), "--compare: no input on which both were counted");
    Ok(text.join("\n").trim_end().to_owned())
}

fn columns(left: &Xrayed, right: &Xrayed) -> Vec<Printed<'static>> {
    let mut rows: Vec<[String; 4]> = Vec::new();
    for (what, of) in COUNTS {
        let (one, other) = (total(left, of), total(right, of));
        if one + other > 0.0 {
            rows.push([(*what).into(), count(one), count(other), ratio(one, other)]);
        }
    }
    let lanes = |one: &Xrayed| {
        let launches = one.launches.iter().map(|(launch, _)| launch);
        let accesses = launches
            .map(|launch| launch.sum(|line| line.space != ordito::device::emulator::xray::Space::Local));
        let (lanes, all) =
            accesses.fold((0, 0), |(lanes, all), counts| (lanes + counts.lanes, all + counts.instructions));
        lanes as f64 / all.max(1) as f64
    };
    rows.push([
        "lanes of an access".into(),
        format!("{:.1}", lanes(left)),
        format!("{:.1}", lanes(right)),
        ratio(lanes(left), lanes(right)),
    ]);
    let time = |one: &Xrayed| ordito::units::duration(one.predicted_s() * 1e9);
    rows.push([
        "predicted (model)".into(),
        time(left),
        time(right),
        ratio(left.predicted_s(), right.predicted_s()),
    ]);
    let titles = ["", left.name(), right.name(), "ratio"];
    let columns = (0..4).map(|index| Printed {
        title: String::from(titles[index]).leak(),
        is_text: index == 0,
        cells: rows.iter().map(|row| row[index].clone()).collect(),
    });
    columns.collect()
}

fn ratio(one: f64, other: f64) -> String {
    if one > 0.0 { format!("{:.3}", other / one) } else { String::new() }
}

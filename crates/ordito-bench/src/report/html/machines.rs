//! The machines side by side: a fact per row, a run per column.

use crate::report::Run;
use crate::report::fingerprint::Fingerprint;
use crate::sample::Ceilings;
use ordito::units;
use ordito_chart::html::{Cell, row, table};

/// A name and what a machine says to it; empty where it says nothing.
type Fact = (&'static str, fn(&Fingerprint) -> String);

const FACTS: &[Fact] = &[
    ("date", |f| f.date.clone()),
    ("processor", |f| f.cpu.model.clone()),
    ("threads", |f| f.threads.to_string()),
    ("SIMD", |f| f.cpu.simd.to_string()),
    ("caches", caches),
    ("memory", |f| f.cpu.memory_bytes.map(units::binary_bytes).unwrap_or_default()),
    ("measured ceilings", |f| f.ceilings.iter().map(ceilings).collect::<Vec<_>>().join("; ")),
    ("GPU", |f| f.gpu.as_ref().map(|of| of.gpu.name.clone()).unwrap_or_default()),
    ("GPU's ceilings", |f| f.device_ceilings.as_ref().map(ToString::to_string).unwrap_or_default()),
    ("system", |f| format!("{} {}", f.os, f.arch)),
    ("Ordito", |f| f.version.clone()),
    ("compiler", |f| format!("{}, {} build", f.compiler, f.profile)),
];

fn caches(fingerprint: &Fingerprint) -> String {
    let cpu = &fingerprint.cpu;
    let caches = [("L1d", cpu.l1d_bytes), ("L2", cpu.l2_bytes), ("L3", cpu.l3_bytes)];
    let known = caches.into_iter().filter_map(|(name, bytes)| Some((name, bytes?)));
    known.map(|(name, bytes)| format!("{name} {}", units::binary_bytes(bytes))).collect::<Vec<_>>().join(", ")
}

fn ceilings(of: &Ceilings) -> String {
    let (near, far) = (of.bandwidth_for(0), of.bandwidth_for(u64::MAX));
    let [near, far, single, double] = [near, far, of.peak_gflops_f32, of.peak_gflops_f64].map(units::number);
    let threads = units::threads(of.threads as u64);
    format!("{threads}: {double} GFLOP/s f64, {single} f32; {near} to {far} GB/s")
}

pub(crate) fn section(runs: &[Run]) -> String {
    if runs.is_empty() {
        return String::new();
    }
    let mut rows = String::new();
    for (name, fact) in FACTS {
        let said: Vec<String> = runs.iter().map(|run| fact(&run.fingerprint)).collect();
        if said.iter().all(String::is_empty) {
            continue;
        }
        let cells: Vec<Cell> =
            [Cell::text(*name)].into_iter().chain(said.into_iter().map(Cell::wide)).collect();
        rows.push_str(&row(false, &cells));
    }
    let mut titles = vec![("", "")];
    titles.extend(runs.iter().map(|run| (run.label.as_str(), "wide")));
    table("Where it was measured", &titles, &rows)
}

//! `--json`: one object for every variant.

use crate::xrayed::counted::Xrayed;
use ordito::device::emulator::xray::{Access, AccessCounts, BlockCounts, LaunchXray, Prediction, Space};
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct Object<'a> {
    op: &'a str,
    variant: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nnz: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<u64>,
    dtype: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    products: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
    predicted_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_ns: Option<f64>,
    launches: Vec<Launch<'a>>,
}

#[derive(Serialize)]
struct Launch<'a> {
    #[serde(flatten)]
    launch: &'a LaunchXray,
    totals: Totals,
    prediction: &'a Prediction,
}

/// Sums over all lines, as counted: multiply with `factor`.
#[derive(Serialize)]
struct Totals {
    global_loads: AccessCounts,
    global_stores: AccessCounts,
    global_atomics: AccessCounts,
    global_copies: AccessCounts,
    shared_loads: AccessCounts,
    shared_stores: AccessCounts,
    shared_atomics: AccessCounts,
    shared_copies: AccessCounts,
    local_loads: AccessCounts,
    local_stores: AccessCounts,
    blocks: BlockCounts,
    shared_conflicts: u64,
    active_lanes: f64,
    used_percent: f64,
    instructions: u64,
}

pub(crate) fn of(one: &Xrayed) -> Object<'_> {
    let record = &one.record;
    let launch = |(launch, prediction): &'_ (LaunchXray, Prediction)| -> Totals {
        let _ = prediction;
        let total = |space, access| launch.total(space, access);
        Totals {
            global_loads: total(Space::Global, Access::Load),
            global_stores: total(Space::Global, Access::Store),
            global_atomics: total(Space::Global, Access::Atomic),
            global_copies: total(Space::Global, Access::Copy),
            shared_loads: total(Space::Shared, Access::Load),
            shared_stores: total(Space::Shared, Access::Store),
            shared_atomics: total(Space::Shared, Access::Atomic),
            shared_copies: total(Space::Shared, Access::Copy),
            local_loads: total(Space::Local, Access::Load),
            local_stores: total(Space::Local, Access::Store),
            blocks: launch.blocks_total(),
            shared_conflicts: launch.shared().conflicts(),
            active_lanes: launch.active_lanes(),
            used_percent: launch.used_percent(),
            instructions: launch.instructions(),
        }
    };
    Object {
        op: &record.op,
        variant: &record.variant,
        matrix: record.matrix.as_deref(),
        nnz: record.nnz,
        k: record.k,
        dtype: &record.dtype,
        products: one.products(),
        refusal: one.refusal.as_deref(),
        failure: one.failure.as_deref(),
        predicted_s: one.predicted_s(),
        measured_ns: one.measured_ns,
        launches: one
            .launches
            .iter()
            .map(|pair| Launch { launch: &pair.0, totals: launch(pair), prediction: &pair.1 })
            .collect(),
    }
}

//! `ordito erp --demo DIR`

use crate::console::Console;
use ordito::machine::Machine;
use ordito_eeg::demo::{COMPONENTS, Demo};
use serde_json::{Value, json};
use std::path::Path;

/// Writes the synthetic recording; tells what is in it and what to do with it.
pub(crate) fn write_demo(
    folder: &Path,
    seed: u64,
    as_json: bool,
    machine: &Machine,
    console: &Console,
) -> anyhow::Result<u8> {
    let demo = Demo::standard(seed);
    // Recordings are called so too, and nobody has them twice.
    if let Some(file) = demo.in_the_way(folder, machine.pool()) {
        anyhow::bail!("--demo: {} is there already; name another folder", file.display());
    }
    let busy = console.busy(format!("writing {}", folder.display()));
    demo.write(folder, machine.pool())?;
    drop(busy);
    if as_json {
        console.json(&described(&demo, folder))?;
        return Ok(0);
    }
    let (columns, shown) = (demo.recording.elements(), folder.display());
    console.line(format!("{shown}/target.txt     {} epochs × {columns}, planted:", demo.targets))?;
    for component in &COMPONENTS {
        let time_ms = 1000.0 * demo.recording.time_s(demo.sample_of(component));
        console.line(format!(
            "  {} at {}, {time_ms:.0} ms: {} µV, nontarget {} µV",
            component.name, component.sensor, component.in_targets, component.in_nontargets
        ))?;
    }
    let bad = demo.bad_epochs.iter().map(usize::to_string).collect::<Vec<_>>().join(" and ");
    console.line(format!("  epochs {bad}: artefacts of hundreds of µV"))?;
    console.line(format!("{shown}/nontarget.txt  {} epochs × {columns}", demo.nontargets))?;
    console.line("Try:")?;
    console.line(format!(
        "  ordito erp {shown}/target.txt {shown}/nontarget.txt --sensors 64 --rate {} --start -100ms --baseline -100ms:0 --reject 150 --groups 7 --permutations 1000 --out {shown}/results",
        demo.recording.rate_hz
    ))?;
    Ok(0)
}

/// What was written, for scripts.
fn described(demo: &Demo, folder: &Path) -> Value {
    let planted = COMPONENTS.iter().map(|component| {
        json!({
            "name": component.name,
            "sensor": component.sensor,
            "time_s": demo.recording.time_s(demo.sample_of(component)),
            "in_targets": component.in_targets,
            "in_nontargets": component.in_nontargets,
        })
    });
    json!({
        "op": "erp-demo",
        "schema": 1,
        "target": folder.join("target.txt"),
        "nontarget": folder.join("nontarget.txt"),
        "target_epochs": demo.targets,
        "nontarget_epochs": demo.nontargets,
        "sensors": demo.recording.sensors,
        "samples": demo.recording.samples,
        "rate_hz": demo.recording.rate_hz,
        "start_s": demo.recording.start_s,
        "unit": demo.recording.unit,
        "bad_epochs": demo.bad_epochs,
        "planted": planted.collect::<Vec<_>>(),
    })
}

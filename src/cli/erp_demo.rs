//! `ordito erp --demo DIR`

use super::console::Console;
use crate::erp::demo::{COMPONENTS, Demo};
use crate::machine::Machine;
use std::path::Path;

/// Writes the synthetic recording; tells what is in it and what to do with it.
pub(super) fn write_demo(
    folder: &Path,
    seed: u64,
    machine: &Machine,
    console: &Console,
) -> anyhow::Result<u8> {
    let demo = Demo::standard(seed);
    let busy = console.busy(format!("writing {}", folder.display()));
    demo.write(folder, machine.pool())?;
    drop(busy);
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

//! Textbook kernels and those of the studies: counts that can be worked out on paper.

mod launches;
mod studies;
mod textbook;

use crate::device::argument::Argument;
use crate::device::emulator::Emulator;
use crate::device::emulator::xray::{Access, AccessCounts, LaunchXray, SM_90, Space, XrayOptions};
use crate::device::handle::Device;
use crate::device::launch::LaunchPlan;
use crate::device::source::KernelSource;
use std::io::Write;

/// An emulator that counts; none where there is no compiler, which is said aloud, and a failure where one is required.
fn counting(most_blocks: Option<u64>, cores: usize) -> Option<(Device, std::sync::Arc<Emulator>)> {
    match Emulator::counting(XrayOptions { gpu: &SM_90, most_blocks, cores }) {
        Ok(emulator) => Some((Device::Emulator(emulator.clone()), emulator)),
        Err(refusal) => {
            let required = std::env::var("ORDITO_REQUIRE_EMULATOR").is_ok_and(|value| value == "1");
            assert!(!required, "ORDITO_REQUIRE_EMULATOR=1, but: {refusal}");
            let _ = writeln!(std::io::stderr(), "an X-ray test is skipped: {refusal}");
            None
        }
    }
}

/// Grid, block and dynamic shared memory.
type Launch = ([u64; 3], [u32; 3], u64);

/// Counts one launch of `k(x, y)`, two arrays of `len` floats; the body stands after line 1.
fn count(body: &str, launch: Launch, len: usize) -> Option<LaunchXray> {
    let text = format!("#include \"ordito.cuh\"\n{body}");
    let source = KernelSource::new("k", "k.cu", text.leak());
    let (device, emulator) = counting(None, 1)?;
    let mut x = device.upload("X", &vec![1.0_f32; len]).unwrap();
    let mut y = device.upload("Y", &vec![0.0_f32; len]).unwrap();
    run(&device, &source, launch, &[Argument::from(&mut x), Argument::from(&mut y)]);
    emulator.take_xray().pop()
}

fn run(device: &Device, source: &KernelSource, (grid, block, shared): Launch, arguments: &[Argument]) {
    let plan = LaunchPlan::new(device.limits(), grid, block, shared).unwrap();
    let kernel = device.kernel(source).unwrap();
    // SAFETY: the emulator lets a kernel touch nothing but the buffers that its arguments point into.
    unsafe { kernel.launch(&plan, arguments) }.unwrap();
}

fn loads(launch: &LaunchXray) -> AccessCounts {
    launch.total(Space::Global, Access::Load)
}
fn stores(launch: &LaunchXray) -> AccessCounts {
    launch.total(Space::Global, Access::Store)
}

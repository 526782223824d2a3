//! Small kernels: what must work, and what must be found.

mod barriers;
mod detections;
mod features;
mod orders;
mod ptx;

use crate::device::argument::Argument;
use crate::device::backend::DeviceError;
use crate::device::buffer::Buffer;
use crate::device::emulator::Emulator;
use crate::device::emulator::order::Order;
use crate::device::handle::Device;
use crate::device::launch::LaunchPlan;
use crate::device::source::KernelSource;
use bytemuck::Pod;
use std::io::Write;

/// Said aloud, and a failure with `ORDITO_REQUIRE_EMULATOR=1`: what is not tried must be seen.
fn no_compiler() -> bool {
    let refusal = Emulator::open().err();
    if let Some(refusal) = &refusal {
        let required = std::env::var("ORDITO_REQUIRE_EMULATOR").is_ok_and(|value| value == "1");
        assert!(!required, "ORDITO_REQUIRE_EMULATOR=1, but: {refusal}");
        let _ = writeln!(std::io::stderr(), "an emulator test is skipped: {refusal}");
    }
    refusal.is_some()
}

fn device() -> Device {
    Device::Emulator(Emulator::open().unwrap())
}

/// The kernel `k` of this text after `#include "ordito.cuh"`, which is line 1.
fn source(body: &str) -> KernelSource {
    let text = format!("#include \"ordito.cuh\"\n{body}");
    KernelSource::new("k", "k.cu", text.leak())
}

fn plan(grid: [u64; 3], block: [u32; 3], shared_bytes: u64) -> LaunchPlan {
    LaunchPlan::new(device().limits(), grid, block, shared_bytes).unwrap()
}

/// Runs `k(y)` on a copy of `y`; what is there then.
fn run<T: Pod>(body: &str, plan: LaunchPlan, y: &[T]) -> Result<Vec<T>, DeviceError> {
    run_with(&device(), body, plan, y, &[])
}

/// Runs `k(y, more…)`.
fn run_with<T: Pod>(
    device: &Device,
    body: &str,
    plan: LaunchPlan,
    y: &[T],
    more: &[Argument],
) -> Result<Vec<T>, DeviceError> {
    let kernel = device.kernel(&source(body)).unwrap();
    let mut buffer: Buffer<T> = device.upload("Y", y).unwrap();
    let mut arguments = vec![Argument::from(&mut buffer)];
    arguments.extend(more.iter().cloned());
    // SAFETY: the emulator lets a kernel touch nothing but the buffers that its arguments point into.
    unsafe { kernel.launch(&plan, &arguments) }?;
    let mut result = y.to_vec();
    buffer.read(&mut result)?;
    Ok(result)
}

/// The message of a launch of one block that must fail.
fn fault_of<T: Pod>(body: &str, threads: u32, y: &[T]) -> String {
    fault_with(body, plan([1, 1, 1], [threads, 1, 1], 0), y)
}

fn fault_with<T: Pod>(body: &str, plan: LaunchPlan, y: &[T]) -> String {
    let error = run(body, plan, y).map(|_| ()).unwrap_err();
    assert!(matches!(error, DeviceError::Emulated(_)), "{error}");
    error.to_string()
}

#[track_caller]
fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
}

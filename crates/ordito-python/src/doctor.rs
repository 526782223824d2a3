//! What of this computer is usable.

use crate::aside::aside;
use ordito::cpu::{CpuInfo, default_threads};
use ordito::device::Gpu;
use ordito::device::gpu::Library;
use ordito::units::binary_bytes;
use pyo3::prelude::*;

/// Names, whether it can be used, and what was found or what to do.
#[pyfunction]
pub(crate) fn doctor(py: Python<'_>) -> Vec<(&'static str, bool, String)> {
    aside(py, || {
        let mut findings = vec![processor(), threads()];
        match Gpu::list() {
            Ok(gpus) => findings.extend(gpus.iter().map(|listed| {
                let [major, minor] = listed.compute_capability;
                let memory = binary_bytes(listed.memory_bytes);
                let text = format!(
                    "{}: {}, {memory}, compute capability {major}.{minor}",
                    listed.number, listed.name
                );
                match Gpu::open(listed.number) {
                    Ok(_) => ("gpu", true, text),
                    Err(refusal) => ("gpu", false, format!("{text}: {refusal}")),
                }
            })),
            Err(refusal) => findings.push(("gpu", false, refusal.to_string())),
        }
        findings.push(match Library::Nvrtc.find() {
            Ok(found) => ("nvrtc", true, found.to_string()),
            Err(refusal) => ("nvrtc", false, refusal.to_string()),
        });
        findings
    })
}

fn processor() -> (&'static str, bool, String) {
    let cpu = CpuInfo::detect();
    let memory = cpu.memory_bytes.map_or("memory unknown".into(), binary_bytes);
    ("processor", true, format!("{}, {} threads, {}, {memory}", cpu.model, cpu.logical_cores, cpu.simd))
}

fn threads() -> (&'static str, bool, String) {
    match default_threads() {
        Ok(threads) => ("threads", true, threads.to_string()),
        Err(wrong) => ("threads", false, wrong.to_string()),
    }
}

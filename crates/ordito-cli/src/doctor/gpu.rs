//! What `ordito doctor` finds out about GPUs, their libraries and the emulator.

use crate::doctor::{Finding, State};
use crate::targets::gpu_is_required;
use ordito::device::gpu::{GpuInfo, Library, nvrtc};
use ordito::device::{Device, Emulator, Gpu, KernelSource};
use ordito::machine::{Accelerator, Machine};
use ordito::matrix::{Coo, Csr, Dense, Duplicates};
use ordito::op::{Op, RunError, Variant};
use ordito::refusal::Refusal;
use ordito::spmm::{Plan, Spmm};
use ordito::units::binary_bytes;
use ordito_bench::sample::{DeviceCeilings, DeviceLatencies};
use serde::Serialize;
use std::sync::Arc;

/// What kernels are tried for where there is no GPU.
const ARCHITECTURE: u32 = 90;

/// The GPUs that the driver lists, and why there are none where there are none.
pub(crate) struct Gpus {
    pub(crate) list: Vec<Listed>,
    refusal: Option<Refusal>,
}

/// One GPU.
#[derive(Serialize)]
pub(crate) struct Listed {
    #[serde(flatten)]
    info: GpuInfo,
    #[serde(skip_serializing_if = "Option::is_none")]
    free_bytes: Option<u64>,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
    /// How long it waits for memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    latencies: Option<DeviceLatencies>,
}

impl Gpus {
    pub(crate) fn look() -> Self {
        match Gpu::list() {
            Ok(list) => Gpus { list: list.into_iter().map(Listed::open).collect(), refusal: None },
            Err(refusal) => Gpus { list: Vec::new(), refusal: Some(refusal) },
        }
    }
}

impl Listed {
    fn open(info: GpuInfo) -> Self {
        let free = Gpu::open(info.number)
            .and_then(|gpu| gpu.free_memory().map_err(|error| Refusal::Device(error.to_string())));
        match free {
            Ok(free) => Listed { info, free_bytes: Some(free), refusal: None, latencies: None },
            Err(refusal) => {
                Listed { info, free_bytes: None, refusal: Some(refusal.to_string()), latencies: None }
            }
        }
    }
}

/// Everything, in the order in which it is shown. What is missing is a note: a machine without a GPU is well.
pub(crate) fn findings(gpus: &mut Gpus) -> Vec<Finding> {
    let mut findings = vec![driver(gpus)];
    let none_usable = gpus.list.iter().all(|gpu| gpu.refusal.is_some());
    let unusable_matters = gpu_is_required() && none_usable;
    findings.extend(gpus.list.iter().map(|listed| gpu(listed, unusable_matters)));
    findings.extend([
        library("nvrtc", Library::Nvrtc, true),
        library("cusparse", Library::Cusparse, false),
        library("cublas", Library::Cublas, false),
    ]);
    findings.extend(compiler(gpus));
    let usable = || gpus.list.iter().filter(|gpu| gpu.refusal.is_none());
    findings.extend(usable().map(product));
    findings.extend(usable().map(ceilings));
    findings.extend(gpus.list.iter_mut().filter(|gpu| gpu.refusal.is_none()).map(latencies));
    findings.push(emulator());
    findings
}

fn driver(gpus: &Gpus) -> Finding {
    match (&gpus.refusal, Library::Cuda.find()) {
        (Some(refusal), _) => Finding::new("driver", state(refusal), refusal.to_string()),
        (None, Err(refusal)) => Finding::new("driver", state(&refusal), refusal.to_string()),
        (None, Ok(found)) => Finding::new("driver", State::Good, format!("CUDA {found}")),
    }
}

/// `unusable_matters`: a GPU is required, and no other one can be used.
fn gpu(listed: &Listed, unusable_matters: bool) -> Finding {
    let GpuInfo { number, name, compute_capability: [major, minor], memory_bytes, pci_bus_id } = &listed.info;
    let text = format!(
        "{number}: {name}, {}, compute capability {major}.{minor}, {pci_bus_id}",
        binary_bytes(*memory_bytes)
    );
    match (&listed.refusal, listed.free_bytes) {
        (Some(refusal), _) => {
            let state = if unusable_matters { State::Bad } else { State::Note };
            Finding::new("gpu", state, format!("{text}: {refusal}"))
        }
        (None, free) => {
            Finding::new("gpu", State::Good, format!("{text}, {} free", binary_bytes(free.unwrap_or(0))))
        }
    }
}

/// `needed`: no kernel runs without it.
fn library(name: &'static str, library: Library, needed: bool) -> Finding {
    match library.find() {
        Ok(found) => Finding::new(name, State::Good, found.to_string()),
        Err(refusal) if needed => Finding::new(name, state(&refusal), refusal.to_string()),
        Err(refusal) => Finding::new(name, State::Note, refusal.to_string()),
    }
}

/// The simplest kernel there is stands for all: a thread for every element, which everybody calls `csr`.
fn simplest() -> Result<&'static dyn Variant<Spmm<f64>>, Refusal> {
    let name = "csr";
    let found = Spmm::<f64>::variants().iter().copied().find(|variant| variant.describe().is_known_as(name));
    found.ok_or_else(|| Refusal::UnknownVariant { name: name.into() })
}

fn kernel() -> Option<KernelSource> {
    simplest().ok()?.kernels().into_iter().next()
}

/// Compiles one kernel, for the first GPU or for a common one; nothing where there is no compiler.
fn compiler(gpus: &Gpus) -> Option<Finding> {
    Library::Nvrtc.find().ok()?;
    let kernel = kernel()?;
    let of = |listed: &Listed| {
        let [major, minor] = listed.info.compute_capability;
        major * 10 + minor
    };
    let usable = gpus.list.iter().find(|listed| listed.refusal.is_none());
    let target = kernel.target(usable.map_or(ARCHITECTURE, of));
    let compiled = target.and_then(|target| nvrtc::compile(&kernel, target).map(|_| target));
    Some(match compiled {
        Ok(architecture) => {
            let registers = nvrtc::check(&kernel, architecture).map(|resources| resources.registers);
            let takes = registers.map_or(String::new(), |registers| format!(", {registers} registers"));
            let text = format!("{} compiled for sm_{architecture}{takes}", kernel.file);
            Finding::new("compiler", State::Good, text)
        }
        Err(refusal) => Finding::new("compiler", state(&refusal), refusal.to_string()),
    })
}

/// One tiny product on the GPU, every element compared.
fn product(listed: &Listed) -> Finding {
    let number = listed.info.number;
    let (state, text) = match multiply(Accelerator::Cuda(number)) {
        Ok(true) => (State::Good, format!("a small A·X on GPU {number} is right")),
        Ok(false) => (State::Bad, format!("a small A·X on GPU {number} is WRONG: please report it")),
        Err(RunError::Refused(refusal)) => (state(&refusal), format!("no A·X on GPU {number}: {refusal}")),
        Err(error) => (State::Bad, format!("a small A·X on GPU {number} failed: {error}")),
    };
    Finding::new("product", state, text)
}

fn device(listed: &Listed) -> Result<Device, Refusal> {
    Machine::all_cores()?.with_accelerator(Accelerator::Cuda(listed.info.number)).device()
}

/// What results are held against; costs a fraction of a second.
fn ceilings(listed: &Listed) -> Finding {
    let number = listed.info.number;
    let measured = device(listed).and_then(|device| {
        Ok(DeviceCeilings::measure(&device)?.map(|ceilings| ceilings.with_peaks(&device)))
    });
    let (state, text) = match measured {
        Ok(Some(ceilings)) => (State::Good, format!("GPU {number}: {ceilings}")),
        Ok(None) => (State::Note, format!("GPU {number}: not measured")),
        Err(refusal) => (state(&refusal), format!("GPU {number}: {refusal}")),
    };
    Finding::new("ceilings", state, text)
}

/// How long a load takes, and kept for scripts.
fn latencies(listed: &mut Listed) -> Finding {
    let measured = device(listed).and_then(|device| DeviceLatencies::measure(&device));
    let number = listed.info.number;
    let (state, text) = match &measured {
        Ok(Some(latencies)) => (State::Good, format!("GPU {number}: {latencies}")),
        Ok(None) => (State::Note, format!("GPU {number}: not measured")),
        Err(refusal) => (state(refusal), format!("GPU {number}: {refusal}")),
    };
    listed.latencies = measured.ok().flatten();
    Finding::new("latency", state, text)
}

fn multiply(accelerator: Accelerator) -> Result<bool, RunError> {
    let (n, k) = (1000, 5);
    let diagonal: Vec<u32> = (0..n as u32).collect();
    let twos = Coo::new(n, n, diagonal.clone(), diagonal, vec![2.0; n])?;
    let x = Dense::from_rows(n, k, (0..n * k).map(|i| i as f64).collect())?;
    let mut y = Dense::filled(n, k, f64::NAN)?;
    let machine: Arc<Machine> = Machine::all_cores()?.with_accelerator(accelerator);
    let a = Csr::from_coo(&twos, Duplicates::Sum);
    Plan::with_variant(simplest()?.name(), a, &machine)?.apply(1.0, x.view(), 0.0, y.view_mut())?;
    Ok(x.data().iter().zip(y.data()).all(|(x, y)| 2.0 * x == *y))
}

/// One tiny product there: a compiler that is found may still not compile, or its result not be loaded.
fn emulator() -> Finding {
    let compiler = match Emulator::open() {
        Ok(emulator) => emulator.compiler(),
        Err(refusal) => return Finding::new("emulator", State::Note, refusal.to_string()),
    };
    let (state, text) = match multiply(Accelerator::Emulator) {
        Ok(true) => (State::Good, format!("runs CUDA kernels on this CPU, compiled by {compiler}")),
        Ok(false) => (State::Bad, "a small A·X in the emulator is WRONG: please report it".into()),
        Err(error) => (State::Bad, format!("no A·X in the emulator ({compiler}): {error}")),
    };
    Finding::new("emulator", state, text)
}

/// Something that is missing is a note, unless a GPU is required; something that is there and fails is bad.
fn state(refusal: &Refusal) -> State {
    if refusal.is_failure() || gpu_is_required() { State::Bad } else { State::Note }
}

//! Every kernel is compiled for every architecture that it declares, and nothing may spill: without
//! a GPU, wherever NVRTC is found (`pip install nvidia-cuda-nvrtc`). ORDITO_REQUIRE_NVRTC=1 makes its absence fail.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use ordito::column_stats::Columns;
use ordito::device::gpu::{Library, Resources, nvrtc};
use ordito::device::{Architecture, KernelSource, PLAIN_ARCHITECTURES, PTX, SM_90A, kernels_that_take};
use ordito::files::write_own;
use ordito::gemm::Gemm;
use ordito::op::Op;
use ordito::refusal::Refusal;
use ordito::spmm::Spmm;
use ordito::tall_skinny::combine::Combine;
use ordito::tall_skinny::gram::Gram;
use ordito::tall_skinny::kernels_of_no_variant;
use ordito_bench::sample::{DeviceCeilings, DeviceFlush, DeviceLatencies};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Stores and loads of registers that did not fit: a kernel that needs them wants another launch bound or tile.
const SPILL_BYTES_ALLOWED: u32 = 0;
/// Arrays that are indexed at run time and so lie in memory.
const STACK_BYTES_ALLOWED: u32 = 0;
const THREADS: usize = 2;

fn add_kernels<O: Op>(to: &mut Vec<KernelSource>) {
    for kernel in O::variants().iter().flat_map(|variant| variant.kernels()) {
        if !to.contains(&kernel) {
            to.push(kernel);
        }
    }
}

fn kernels() -> Vec<KernelSource> {
    let mut kernels = Vec::new();
    add_kernels::<Spmm<f32>>(&mut kernels);
    add_kernels::<Spmm<f64>>(&mut kernels);
    add_kernels::<Gemm<f32>>(&mut kernels);
    add_kernels::<Gemm<f64>>(&mut kernels);
    add_kernels::<Columns<f32>>(&mut kernels);
    add_kernels::<Columns<f64>>(&mut kernels);
    add_kernels::<Gram<f32>>(&mut kernels);
    add_kernels::<Gram<f64>>(&mut kernels);
    add_kernels::<Combine<f32>>(&mut kernels);
    add_kernels::<Combine<f64>>(&mut kernels);
    kernels.extend(kernels_of_no_variant::<f32>());
    kernels.extend(kernels_of_no_variant::<f64>());
    kernels.extend(kernels_that_take());
    kernels.extend(DeviceCeilings::kernels());
    kernels.push(DeviceFlush::kernel());
    kernels.extend(DeviceLatencies::kernels());
    kernels
}

fn is_full() -> bool {
    std::env::var("ORDITO_NVRTC_FULL").as_deref() == Ok("1")
}

/// Counted up where a compiler's words are judged in another way: what was found without a fault before is looked at again.
const JUDGED: u32 = 1;

/// What a kernel takes. The same text and options give the same code: what was found without a fault is kept beside the build, by all
/// that it depends on, and not compiled again. ORDITO_NVRTC_FULL=1 compiles all.
fn check(kernel: &KernelSource, architecture: Architecture) -> Result<Resources, Refusal> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nvrtc");
    let fingerprint = nvrtc::fingerprint(kernel, architecture)?;
    let file = folder.join(format!("{JUDGED}-{fingerprint}-{}", kernel.entry));
    // What cannot be read is compiled again.
    let kept = std::fs::read_to_string(&file).ok().filter(|_| !is_full()).and_then(|kept| {
        let (registers, shared) = kept.split_once(' ')?;
        Some((registers.parse().ok()?, shared.parse().ok()?))
    });
    if let Some((registers, shared_bytes)) = kept {
        return Ok(Resources { registers, shared_bytes, ..Resources::default() });
    }
    let found = nvrtc::check(kernel, architecture)?;
    let Resources { registers, shared_bytes, .. } = found;
    if found == (Resources { registers, shared_bytes, ..Resources::default() }) {
        std::fs::create_dir_all(&folder).unwrap();
        write_own(&file, format!("{registers} {shared_bytes}").as_bytes()).unwrap();
    }
    Ok(found)
}

/// Kernel and architecture: every pair once.
fn tasks() -> Vec<(KernelSource, Architecture)> {
    // Of kernels for all architectures every one is compiled for the one in the middle, and each sixth for each of the others:
    // what differs between definitions of one kernel seldom differs between architectures too. ORDITO_NVRTC_FULL=1 compiles all.
    let full = is_full();
    let in_turn = |index: usize, place: usize| place == 1 || index % 6 == 3 * (place / 2);
    let pairs = |(index, kernel): (usize, KernelSource)| {
        let plain = !full && kernel.architectures == PLAIN_ARCHITECTURES;
        let targets = kernel.architectures.iter().enumerate();
        let targets = targets.filter(move |(place, _)| !plain || in_turn(index, *place));
        targets.map(|(_, &target)| (kernel.clone(), target)).collect::<Vec<_>>()
    };
    kernels().into_iter().enumerate().flat_map(pairs).collect()
}

/// Texts of all `.cu` files in and below a folder, with their names.
fn kernel_files(folder: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(kernel_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "cu") {
            files.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
        }
    }
    files
}

#[test]
fn no_kernel_file_is_left_out() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (kernels, mut files) = (kernels(), Vec::new());
    for entry in std::fs::read_dir(crates).unwrap() {
        let source = entry.unwrap().path().join("src");
        if source.is_dir() {
            files.extend(kernel_files(&source));
        }
    }
    assert!(!files.is_empty());
    files.retain(|(_, text)| !kernels.iter().any(|kernel| kernel.text == text));
    let names: Vec<String> = files.into_iter().map(|(name, _)| name).collect();
    assert!(names.is_empty(), "compiled by no test: {names:#?}");
}

#[test]
fn every_kernel_compiles_for_its_architectures_and_nothing_spills() {
    let tasks = tasks();
    assert!(!tasks.is_empty());
    let found = match Library::Nvrtc.find() {
        Ok(found) => found,
        Err(refusal) => {
            println!("NVRTC not found: {} kernels not compiled ({refusal})", tasks.len());
            assert_ne!(
                std::env::var("ORDITO_REQUIRE_NVRTC").as_deref(),
                Ok("1"),
                "ORDITO_REQUIRE_NVRTC is 1"
            );
            return;
        }
    };
    println!("NVRTC {found}");
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some((kernel, architecture)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = check(kernel, *architecture);
                    results.lock().unwrap().push((kernel.title(), kernel.entry, *architecture, result));
                }
            });
        }
    });
    let mut results: Vec<(String, &str, Architecture, Result<Resources, Refusal>)> =
        results.into_inner().unwrap();
    results.sort_by_key(|(title, entry, architecture, _)| (title.clone(), *entry, *architecture));
    let mut faults = Vec::new();
    println!("{:>9} {:>6} {:>6} {:>6}  {:<8} kernel", "registers", "spills", "stack", "shared", "target");
    for (title, entry, architecture, result) in &results {
        match result {
            Ok(Resources { registers, spill_bytes, stack_bytes, shared_bytes, warnings }) => {
                println!(
                    "{registers:>9} {spill_bytes:>6} {stack_bytes:>6} {shared_bytes:>6}  sm_{architecture:<5} {entry} in {title}"
                );
                if *stack_bytes > STACK_BYTES_ALLOWED {
                    faults.push(format!(
                        "{entry} in {title} has a stack of {stack_bytes} bytes on sm_{architecture}"
                    ));
                }
                faults.extend(
                    warnings.iter().map(|warning| format!("{entry} on sm_{architecture}: {warning}")),
                );
                if *spill_bytes > SPILL_BYTES_ALLOWED {
                    faults
                        .push(format!("{entry} in {title} spills {spill_bytes} bytes on sm_{architecture}"));
                }
            }
            Err(refusal) => faults.push(format!("{entry} on sm_{architecture}: {refusal}")),
        }
    }
    assert_eq!(results.len(), tasks.len());
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), tasks.len(), faults.join("\n"));
}

#[test]
fn a_kernel_that_does_not_compile_shows_file_and_line() {
    if Library::Nvrtc.find().is_err() {
        println!("NVRTC not found: skipped");
        return;
    }
    let text = "#include \"ordito.cuh\"\nextern \"C\" __global__ void broken(SCALAR* y) { y[0] = unknown; }";
    let source = KernelSource::new("broken", "broken.cu", text).define("SCALAR", "double");
    let refusal = nvrtc::compile(&source, Architecture::plain(90)).unwrap_err().to_string();
    assert!(refusal.contains("broken.cu SCALAR=double does not compile"), "{refusal}");
    assert!(refusal.contains("broken.cu(2)") && refusal.contains("unknown"), "{refusal}");
    let refusal = nvrtc::compile(&source, Architecture::plain(35)).unwrap_err().to_string();
    assert!(refusal.contains("cannot compile for sm_35"), "{refusal}");
}

#[test]
fn spills_are_seen() {
    if Library::Nvrtc.find().is_err() {
        println!("NVRTC not found: skipped");
        return;
    }
    // 60 doubles in flight, and 1024 threads twice on a multiprocessor leave 32 registers to each.
    let text =
        "extern \"C\" __global__ void __launch_bounds__(1024, 2) crowded(double* y, const double* x, int n) {
        double a[60];
        #pragma unroll
        for (int i = 0; i < 60; ++i) a[i] = x[i * n + threadIdx.x];
        #pragma unroll
        for (int i = 0; i < 60; ++i) y[i * n + threadIdx.x] = a[59 - i] * a[i];
    }";
    let resources =
        nvrtc::check(&KernelSource::new("crowded", "crowded.cu", text), Architecture::plain(90)).unwrap();
    assert!(resources.spill_bytes > 0 && resources.registers == 32, "{resources:?}");
}

/// Every function of ptx.cuh, through a header of its own.
#[test]
fn asynchronous_copies_and_tensor_cores_compile_for_every_architecture() {
    if Library::Nvrtc.find().is_err() {
        println!("NVRTC not found: skipped");
        return;
    }
    let text = r#"
#include "ordito.cuh"
#include "tile.cuh"
extern "C" __global__ void all(double* y, float* z, const double* x, u32 valid) {
    __shared__ __align__(16) double tile[64];
    copy_tile(tile, x, valid);
    double c[4] = {}, a[4] = {tile[threadIdx.x], 1, 2, 3}, b[2] = {4, tile[threadIdx.x + 32]};
    multiply_16x8x8(c, a, b);
    float d[4] = {};
    const u32 e[4] = {to_tf32(z[0]), 1, 2, 3}, f[2] = {to_tf32(z[threadIdx.x]), 5};
    multiply_16x8x8(d, e, f);
    for (u32 i = 0; i < 4; ++i) y[4 * threadIdx.x + i] = c[i], z[4 * threadIdx.x + i] = d[i];
}"#;
    let tile = r#"#include "ptx.cuh"
__device__ inline void copy_tile(double* tile, const double* x, u32 valid) {
    const u32 i = threadIdx.x;
    if (i < 8) copy_async<16>(tile + 2 * i, x + 2 * i, valid);
    else if (i < 16) copy_async<16>(tile + 2 * i, x + 2 * i);
    else copy_async<8>(tile + i + 16, x + i, valid), copy_async<8>(tile + i + 32, x + i);
    copy_async_commit();
    copy_async_wait<1>();
    copy_async<4>(tile + 32, x, valid);
    copy_async<4>(tile + 33, x);
    copy_async_commit();
    copy_async_wait<0>();
    __syncthreads();
}
"#;
    let source = KernelSource::new("all", "all.cu", text).include("tile.cuh", tile).include(PTX.0, PTX.1);
    for &architecture in PLAIN_ARCHITECTURES.iter().chain(&[SM_90A]) {
        let resources = nvrtc::check(&source, architecture).unwrap();
        assert_eq!(resources.spill_bytes, 0, "sm_{architecture}");
    }
    let wrong = KernelSource::new("all", "all.cu", text).include("tile.cuh", tile);
    let refusal = nvrtc::check(&wrong, Architecture::plain(90)).unwrap_err().to_string();
    assert!(refusal.contains("tile.cuh(1)") && refusal.contains("ptx.cuh"), "{refusal}");
}

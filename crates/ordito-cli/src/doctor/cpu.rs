//! What `ordito doctor` finds out about processor, memory and folders.

use crate::console::Console;
use crate::doctor::{Finding, State};
use ordito::cpu::{CpuInfo, Pool, SimdLevel, default_threads};
use ordito::files::{cache_dir, take_cache_notes};
use ordito::io::MATRICES_VARIABLE;
use ordito::matrix::{Coo, Csr, Dense, Duplicates};
use ordito::units;
use ordito::units::binary_bytes;
use ordito_bench::sample::Ceilings;
use ordito_bench::sample::ceilings::Bandwidth;
use std::path::Path;

/// Everything, in the order in which it is shown.
pub(crate) fn findings(cpu: &CpuInfo, measure: bool, console: &Console) -> Vec<Finding> {
    let mut findings = vec![
        processor(cpu),
        threads(cpu),
        vectors(cpu),
        memory(cpu),
        cache_folder(),
        matrix_folder(),
        product(),
    ];
    let mut threads = vec![1, cpu.logical_cores];
    threads.dedup();
    findings.extend(threads.into_iter().map(|threads| ceilings(threads, measure, cpu, console)));
    findings
}

fn processor(cpu: &CpuInfo) -> Finding {
    let cache = |name: &str, bytes: Option<u64>| bytes.map(|bytes| format!("{name} {}", binary_bytes(bytes)));
    let caches = [cache("L1", cpu.l1d_bytes), cache("L2", cpu.l2_bytes), cache("L3", cpu.l3_bytes)];
    let caches = caches.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let caches = if caches.is_empty() { "cache sizes unknown".into() } else { caches };
    let text = format!("{}, {} threads, {caches}", cpu.model, cpu.logical_cores);
    Finding { name: "processor", state: State::Good, text }
}

fn threads(cpu: &CpuInfo) -> Finding {
    let (state, text) = match default_threads() {
        Ok(threads) if threads == cpu.logical_cores => {
            (State::Good, format!("{threads}, as many as can run at once"))
        }
        Ok(threads) => {
            (State::Note, format!("{threads} as ORDITO_THREADS asks; {} can run at once", cpu.logical_cores))
        }
        Err(wrong) => (State::Bad, wrong.to_string()),
    };
    Finding { name: "threads", state, text }
}

fn vectors(cpu: &CpuInfo) -> Finding {
    let (state, text) = match (&cpu.simd_note, cpu.simd) {
        (Some(note), _) => (State::Note, note.clone()),
        (None, level) if level < cpu.simd_supported => {
            (State::Note, format!("{level} as ORDITO_SIMD asks; this CPU has {}", cpu.simd_supported))
        }
        (None, SimdLevel::Portable) => {
            (State::Note, "neither AVX2 nor NEON: kernels run with plain loops, correct but slower".into())
        }
        (None, level) if cpu.gathers_are_slow => (
            State::Good,
            format!("{level}; gather instructions are slow here: one column is loaded number by number"),
        ),
        (None, level) => (State::Good, level.to_string()),
    };
    Finding { name: "vectors", state, text }
}

fn memory(cpu: &CpuInfo) -> Finding {
    let (state, text) = match (cpu.memory_bytes, cpu.available_memory_bytes) {
        (Some(total), Some(free)) => {
            (State::Good, format!("{}, {} free", binary_bytes(total), binary_bytes(free)))
        }
        _ => (State::Note, "size unknown: limits assume 4 GB; set --memory-limit".into()),
    };
    Finding { name: "memory", state, text }
}

fn cache_folder() -> Finding {
    let (state, text) = match cache_dir() {
        Some(folder) => (State::Good, folder.display().to_string()),
        None => match take_cache_notes().pop() {
            Some(why) => (State::Note, why),
            None => (
                State::Note,
            "none that can be written: set ORDITO_CACHE_DIR to one, or ceilings are measured and kernels compiled every time"
                .into(),
        ),
        },
    };
    Finding { name: "cache", state, text }
}

fn matrix_folder() -> Finding {
    let (state, text) = match std::env::var_os(MATRICES_VARIABLE) {
        None => (
            State::Note,
            format!("{MATRICES_VARIABLE} is not set: bare names such as `ML_Laplace` are not found"),
        ),
        Some(folder) => match std::fs::read_dir(&folder) {
            Ok(_) => (State::Good, folder.to_string_lossy().into_owned()),
            Err(error) => (State::Note, format!("{MATRICES_VARIABLE}={}: {error}", folder.to_string_lossy())),
        },
    };
    Finding { name: "matrices", state, text }
}

/// One tiny product on all threads.
fn product() -> Finding {
    let multiply = || -> anyhow::Result<bool> {
        let n = 1000;
        let diagonal: Vec<u32> = (0..n as u32).collect();
        let twos = Coo::new(n, n, diagonal.clone(), diagonal, vec![2.0; n])?;
        let x = Dense::from_rows(n, 100, (0..n * 100).map(|i| i as f64).collect())?;
        let mut y = Dense::filled(n, 100, f64::NAN)?;
        let a = Csr::from_coo(&twos, Duplicates::Sum);
        ordito::spmm::multiply(1.0, &a, x.view(), 0.0, y.view_mut())?;
        Ok(x.data().iter().zip(y.data()).all(|(x, y)| 2.0 * x == *y))
    };
    let (state, text) = match multiply() {
        Ok(true) => (State::Good, "a small A·X on all threads is right".into()),
        Ok(false) => (State::Bad, "a small A·X is WRONG on this machine: please report it".into()),
        Err(error) => (State::Bad, format!("a small A·X failed: {error:#}")),
    };
    Finding { name: "product", state, text }
}

fn ceilings(threads: usize, again: bool, cpu: &CpuInfo, console: &Console) -> Finding {
    let _busy = console.busy(format!("ceilings of this machine with {}", units::threads(threads as u64)));
    let measure = |cpu: &CpuInfo, pool: &Pool, cache: Option<&Path>| match again {
        true => Ceilings::measure_and_keep(cpu, pool, cache),
        false => Ceilings::load_or_measure(cpu, pool, cache, u64::MAX),
    };
    let measured = Pool::new(threads)
        .map_err(|refusal| refusal.to_string())
        .and_then(|pool| measure(cpu, &pool, cache_dir().as_deref()).map_err(|error| error.to_string()));
    let threads = units::threads(threads as u64);
    let (state, text) = match measured {
        Ok(ceilings) => {
            let show = |at: &Bandwidth| {
                format!("{:.0} of {}", at.gbytes_per_s, units::binary_bytes(at.working_set_bytes))
            };
            let read = ceilings.read.iter().map(show).collect::<Vec<_>>().join(", ");
            let (single, double) = (ceilings.peak_gflops_f32, ceilings.peak_gflops_f64);
            (State::Good, format!("{threads}: {double:.0} GFLOP/s f64, {single:.0} f32; reads GB/s: {read}"))
        }
        Err(why) => (State::Note, format!("{threads}: {why}")),
    };
    Finding { name: "ceilings", state, text }
}

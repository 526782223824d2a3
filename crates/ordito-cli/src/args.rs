//! Arguments that several commands share.

use crate::host::host;
use crate::interrupt;
use anyhow::Context;
use clap::{Args, ValueEnum};
use ordito::cpu::{CpuInfo, default_threads};
use ordito::io::ReadOptions;
use ordito::machine::{Limits, Machine};
use ordito::matrix::Duplicates;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// Do both names lead to one file that is there?
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}

/// A precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dtype {
    F32,
    F64,
}

/// Calls a generic function with the scalar type that a [`Dtype`] names.
macro_rules! with_scalar {
    ($dtype:expr, $scalar:ident => $call:expr) => {
        match $dtype {
            $crate::args::Dtype::F32 => {
                type $scalar = f32;
                $call
            }
            $crate::args::Dtype::F64 => {
                type $scalar = f64;
                $call
            }
        }
    };
}
pub(crate) use with_scalar;

/// Where variants may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    /// Threads of this machine
    Cpu,
    /// An NVIDIA GPU
    Cuda,
    /// The CUDA kernels on the CPU: slow, every access checked
    Emulator,
    /// The CPU, and the GPU if there is one
    #[value(alias = "auto")]
    All,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum DuplicatesArg {
    /// Add up entries at the same place
    Sum,
    /// Keep each of them
    Keep,
}

/// How matrices are read.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// Entries at the same place
    #[arg(long, value_enum, default_value = "sum")]
    duplicates: DuplicatesArg,
    /// Seed of synthetic matrices and of X
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    memory: MemoryArgs,
}

/// How much memory may be taken.
#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    /// Refuse what would need more memory than this, e.g. 4G [default: half of what is free]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    memory_limit: Option<u64>,
}

impl MemoryArgs {
    pub(crate) fn limits(&self) -> Limits {
        let cpu = cpu();
        let limits = Limits::of(cpu);
        // Of all that is held at a time: twice what one thing may take by itself. Ranks of one computer share it.
        let default = limits.memory_bytes.saturating_mul(2) / host().ranks as u64;
        // No wish goes beyond the memory there is: an allocation that fails ends the program.
        let memory_bytes = self.memory_limit.unwrap_or(default).min(cpu.memory_bytes.unwrap_or(u64::MAX));
        Limits { memory_bytes, ..limits }
    }
}

impl ReadArgs {
    pub(crate) fn options(&self) -> ReadOptions {
        let duplicates = match self.duplicates {
            DuplicatesArg::Sum => Duplicates::Sum,
            DuplicatesArg::Keep => Duplicates::Keep,
        };
        ReadOptions { duplicates, max_bytes: self.limits().memory_bytes, seed: self.seed }
    }

    pub(crate) fn limits(&self) -> Limits {
        self.memory.limits()
    }

    /// A machine of `threads` threads (if not given, as `ORDITO_THREADS` says, or all) under these limits.
    pub(crate) fn machine(&self, threads: Option<NonZeroUsize>) -> anyhow::Result<Arc<Machine>> {
        machine(threads, self.limits())
    }
}

/// With the value 1: threads stay on one core each.
const PIN_VARIABLE: &str = "ORDITO_PIN";

pub(crate) fn machine(threads: Option<NonZeroUsize>, limits: Limits) -> anyhow::Result<Arc<Machine>> {
    let threads = threads.map_or_else(threads_of_this_process, |threads| Ok(threads.get()))?;
    let machine = Machine::new(cpu().clone(), threads, limits).context("--threads")?;
    let machine = machine.interrupted_by(interrupt::interrupt());
    match std::env::var(PIN_VARIABLE).as_deref() {
        Ok("1") => machine.pinned().context(PIN_VARIABLE),
        Err(_) | Ok("" | "0") => Ok(machine),
        Ok(other) => anyhow::bail!("{PIN_VARIABLE}={other}: 1 keeps each thread on one core, 0 does not"),
    }
}

/// All cores, or as many as this rank has of those of its computer.
fn threads_of_this_process() -> Result<usize, ordito::Refusal> {
    let usable = default_threads()?;
    Ok(host().threads(usable, cpu().logical_cores))
}

/// What the system tells of the processor. It takes some thirty files, which are read once.
fn cpu() -> &'static CpuInfo {
    static CPU: LazyLock<CpuInfo> = LazyLock::new(CpuInfo::detect);
    &CPU
}

/// `4G`, `1.5M`, `800` (decimal units; `Gi` and the like are binary).
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_lowercase().trim_end_matches('b') {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        "t" => 1e12,
        "ki" => 1024.0,
        "mi" => 1024f64.powi(2),
        "gi" => 1024f64.powi(3),
        "ti" => 1024f64.powi(4),
        unit => return Err(format!("`{unit}` is no unit: k, M, G, T, Ki, Mi, Gi, Ti")),
    };
    match digits.parse::<f64>() {
        Ok(number) if factor == 1.0 && number.fract() != 0.0 => Err("bytes come whole".into()),
        Ok(number) if number >= 0.0 && number * factor < 1.8e19 => Ok((number * factor) as u64),
        _ => Err("a number of bytes such as 4G, 500M or 800".into()),
    }
}

/// `2e9`, `1000000`: a count that may be written in exponential notation.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    if let Ok(count) = text.parse::<u64>() {
        return Ok(count);
    }
    match text.parse::<f64>() {
        Ok(count) if (0.0..1.8e19).contains(&count) => Ok(count as u64),
        _ => Err("a count such as 2000000000 or 2e9".into()),
    }
}

/// A number of elements, which may be 0.
pub(crate) fn parse_elements(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "a number of elements such as 0 or 8".into())
}

/// Any number but NaN and the infinities.
pub(crate) fn parse_finite(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if number.is_finite() { Ok(number) } else { Err("a finite number is needed".into()) }
}

/// Seconds as a positive number.
pub(crate) fn parse_seconds(text: &str) -> Result<std::time::Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|&seconds| seconds > 0.0 && seconds <= 1e9);
    seconds.map(std::time::Duration::from_secs_f64).ok_or_else(|| "a positive number of seconds".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        assert_eq!(parse_bytes("800"), Ok(800));
        assert_eq!(parse_bytes("1.5M"), Ok(1_500_000));
        assert_eq!(parse_bytes("4GB"), Ok(4_000_000_000));
        assert_eq!(parse_bytes("2Gi"), Ok(2 << 30));
        for wrong in ["", "G", "-1", "4X", "1e30", "nan", "1.5"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts_may_be_exponential() {
        assert_eq!(parse_count("2e9"), Ok(2_000_000_000));
        assert_eq!(parse_count("18446744073709551615"), Ok(u64::MAX));
        assert!(parse_count("-1").is_err() && parse_count("many").is_err());
    }
}

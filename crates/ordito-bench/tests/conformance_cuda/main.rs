//! Every CUDA variant × every dtype × every matrix against the oracle: in the emulator with a choice of K, the smaller the
//! more rows there are (all of them with `ORDITO_EMULATOR_FULL=1`), and on a GPU where there is one with all K; dense products
//! in the emulator of a few shapes, on a GPU of all. Nothing is skipped silently: what cannot run is counted, and fails with `ORDITO_REQUIRE_EMULATOR=1` or `ORDITO_REQUIRE_GPU=1`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod blocks;
#[path = "../common/columns.rs"]
mod columns;
#[path = "../common/mod.rs"]
mod common;
mod dense;
#[path = "../common/fast_spmm.rs"]
mod fast_spmm;
#[path = "../common/gemm.rs"]
mod gemm;
mod sparse;
#[path = "../common/spmm.rs"]
mod spmm;
mod statistics;
#[path = "../common/tall_skinny.rs"]
mod tall_skinny;

use blocks::{combine_conforms, gram_conforms};
use common::{Shape, say};
use dense::{gemm_exact_with_gaps, gemm_within_the_bound};
use ordito::cpu::CpuInfo;
use ordito::machine::{Accelerator, Limits, Machine};
use ordito::op::{Op, Place, Role, Variant};
use ordito::refusal::Refusal;
use sparse::{apply_on_memory_of_the_user, exact_with_gaps, within_the_bound};
use spmm::KS;
use statistics::columns_conform;
use std::sync::Arc;

/// Where a test runs, and how much of it.
struct Bench {
    machine: Arc<Machine>,
    /// The same with 64-bit row starts everywhere.
    wide: Arc<Machine>,
    /// A part of the cases, for the emulator: a choice of K, α and β in turn.
    part: bool,
}

impl Bench {
    /// A block of 512 threads takes the emulator milliseconds, and there is one for every few elements of Y.
    fn ks(part: bool, shape: &Shape) -> &'static [usize] {
        match shape.rows {
            _ if !part => &KS,
            // Under a sanitizer everything takes several times as long.
            0..100 if std::env::var_os("ORDITO_EMULATOR_SANITIZE").is_some() => &[3, 8],
            0..50 => &[1, 6, 8, 33],
            50..100 => &[1, 8],
            100..1000 => &[1, 3],
            _ => &[1],
        }
    }
}

fn is_set(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|value| value == "1")
}

/// `None`, and a line that says why, where the accelerator does not open; a failure where it must.
fn bench<O: Op>(accelerator: Accelerator, cases: fn(Accelerator, bool) -> usize) -> Option<Bench> {
    let cpu = CpuInfo::detect();
    let limits = Limits::of(&cpu);
    let with = |limits| Machine::new(cpu.clone(), 1, limits).unwrap().with_accelerator(accelerator);
    let (machine, wide) = (with(limits), with(Limits { narrow_offsets: 0, ..limits }));
    let (name, required, part) = match accelerator {
        Accelerator::Emulator => ("emulator", "ORDITO_REQUIRE_EMULATOR", !is_set("ORDITO_EMULATOR_FULL")),
        _ => ("GPU", "ORDITO_REQUIRE_GPU", false),
    };
    if let Err(refusal) = machine.device() {
        assert!(!is_set(required), "{required}=1, but: {refusal}");
        let refused = cases(accelerator, part) * cuda_variants::<O>().count();
        say(&format!("{refused} {name} cases of {} refused: {refusal}", O::NAME));
        return None;
    }
    Some(Bench { machine, wide, part })
}

fn cuda_variants<O: Op>() -> impl Iterator<Item = &'static dyn Variant<O>> {
    O::variants().iter().copied().filter(|variant| variant.describe().place == Place::Cuda)
}

/// Has it kernels for other precisions or devices only?
fn is_written_for_others<O: Op>(machine: &Arc<Machine>, variant: &dyn Variant<O>) -> bool {
    let (kernels, device) = (variant.kernels(), machine.device().unwrap());
    let of_one_precision = kernels.is_empty() && variant.describe().role == Role::Ours;
    of_one_precision || kernels.iter().any(|kernel| device.takes(kernel).is_err())
}

/// `None` where the emulator cannot run the variant, or a library does not take such operands; any other refusal is a
/// failure.
fn prepare<O: Op>(
    machine: &Arc<Machine>,
    variant: &dyn Variant<O>,
    subject: &O::Subject,
) -> Option<Box<O::Ready>> {
    match variant.prepare(machine, subject) {
        Ok(ready) => Some(ready),
        Err(Refusal::NotEmulated(_)) if machine.accelerator() == Accelerator::Emulator => None,
        // cuSPARSE takes no empty operands and no 64-bit row starts.
        Err(Refusal::Unsupported(_)) if variant.describe().role == Role::Peer => None,
        // Of one precision, or for another generation of GPUs; a library has no kernels of ours.
        Err(Refusal::Unsupported(_)) if is_written_for_others(machine, variant) => None,
        Err(refusal) => panic!("{}: {refusal}", variant.name()),
    }
}

#[test]
fn emulator_gram_conforms() {
    gram_conforms::<f32>(Accelerator::Emulator);
    gram_conforms::<f64>(Accelerator::Emulator);
}
#[test]
fn emulator_combine_conforms() {
    combine_conforms::<f32>(Accelerator::Emulator);
    combine_conforms::<f64>(Accelerator::Emulator);
}
#[test]
fn gpu_gram_conforms() {
    gram_conforms::<f32>(Accelerator::Cuda(0));
    gram_conforms::<f64>(Accelerator::Cuda(0));
}
#[test]
fn gpu_combine_conforms() {
    combine_conforms::<f32>(Accelerator::Cuda(0));
    combine_conforms::<f64>(Accelerator::Cuda(0));
}
#[test]
fn emulator_columns_conform() {
    columns_conform::<f32>(Accelerator::Emulator);
    columns_conform::<f64>(Accelerator::Emulator);
}
#[test]
fn gpu_columns_conform() {
    columns_conform::<f32>(Accelerator::Cuda(0));
    columns_conform::<f64>(Accelerator::Cuda(0));
}
#[test]
fn emulator_f32_gemm_within_the_bound() {
    gemm_within_the_bound::<f32>(Accelerator::Emulator);
}
#[test]
fn emulator_f64_gemm_within_the_bound() {
    gemm_within_the_bound::<f64>(Accelerator::Emulator);
}
#[test]
fn emulator_f32_gemm_exact_with_gaps() {
    gemm_exact_with_gaps::<f32>(Accelerator::Emulator);
}
#[test]
fn emulator_f64_gemm_exact_with_gaps() {
    gemm_exact_with_gaps::<f64>(Accelerator::Emulator);
}
#[test]
fn gpu_f32_gemm_within_the_bound() {
    gemm_within_the_bound::<f32>(Accelerator::Cuda(0));
}
#[test]
fn gpu_f64_gemm_within_the_bound() {
    gemm_within_the_bound::<f64>(Accelerator::Cuda(0));
}
#[test]
fn gpu_f32_gemm_exact_with_gaps() {
    gemm_exact_with_gaps::<f32>(Accelerator::Cuda(0));
}
#[test]
fn gpu_f64_gemm_exact_with_gaps() {
    gemm_exact_with_gaps::<f64>(Accelerator::Cuda(0));
}
#[test]
fn emulator_f32_within_the_bound() {
    within_the_bound::<f32>(Accelerator::Emulator);
}
#[test]
fn emulator_f64_within_the_bound() {
    within_the_bound::<f64>(Accelerator::Emulator);
}
#[test]
fn emulator_f32_exact_with_gaps() {
    exact_with_gaps::<f32>(Accelerator::Emulator);
}
#[test]
fn emulator_f64_exact_with_gaps() {
    exact_with_gaps::<f64>(Accelerator::Emulator);
}
#[test]
fn emulator_applies_to_memory_of_the_user() {
    apply_on_memory_of_the_user::<f32>(Accelerator::Emulator);
    apply_on_memory_of_the_user::<f64>(Accelerator::Emulator);
}
#[test]
fn gpu_f32_within_the_bound() {
    within_the_bound::<f32>(Accelerator::Cuda(0));
}
#[test]
fn gpu_f64_within_the_bound() {
    within_the_bound::<f64>(Accelerator::Cuda(0));
}
#[test]
fn gpu_f32_exact_with_gaps() {
    exact_with_gaps::<f32>(Accelerator::Cuda(0));
}
#[test]
fn gpu_f64_exact_with_gaps() {
    exact_with_gaps::<f64>(Accelerator::Cuda(0));
}
#[test]
fn gpu_applies_to_memory_of_the_user() {
    apply_on_memory_of_the_user::<f32>(Accelerator::Cuda(0));
    apply_on_memory_of_the_user::<f64>(Accelerator::Cuda(0));
}

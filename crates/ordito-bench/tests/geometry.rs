//! Kernels of the ladders in blocks of every size and shape that can be asked for, exact: in the emulator, and on a GPU where
//! there is one; `ORDITO_REQUIRE_EMULATOR=1` and `ORDITO_REQUIRE_GPU=1` make what cannot run a failure.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
#[path = "common/gemm.rs"]
#[allow(dead_code)] // what other tests need of it
mod gemm;
#[path = "common/spmm.rs"]
#[allow(dead_code)]
mod spmm;

use common::{Values, say, shapes};
use ordito::device::{Adjustable, Geometry};
use ordito::gemm::{Gemm, Shape};
use ordito::machine::{Accelerator, Machine};
use ordito::op::{Op, Variant};
use ordito::spmm::Spmm;
use std::sync::Arc;

fn machine(accelerator: Accelerator) -> Option<Arc<Machine>> {
    let machine = Machine::with_threads(1).unwrap().with_accelerator(accelerator);
    let Err(refusal) = machine.device() else { return Some(machine) };
    let required = match accelerator {
        Accelerator::Emulator => "ORDITO_REQUIRE_EMULATOR",
        _ => "ORDITO_REQUIRE_GPU",
    };
    assert!(std::env::var(required).as_deref() != Ok("1"), "{required}=1, but: {refusal}");
    say(&format!("{accelerator:?} was not tried: {refusal}"));
    None
}

fn leaving_open<O: Op>(part: Adjustable) -> Vec<&'static dyn Variant<O>> {
    let all = O::variants().iter().copied();
    all.filter(|variant| variant.describe().adjustable.contains(&part)).collect()
}

/// Small, large, and one that is no power of two.
const THREADS: [u32; 3] = [64, 96, 1024];

fn sparse_products_in_all_blocks(accelerator: Accelerator) {
    let Some(machine) = machine(accelerator) else { return };
    let variants = leaving_open::<Spmm<f64>>(Adjustable::ThreadsPerBlock);
    assert!(variants.len() >= 14, "the rungs with one element or row at a time, and the sub-blocks");
    let shapes = shapes();
    let shape = shapes.iter().find(|shape| shape.name.starts_with("staircase")).unwrap();
    let (subject, _) = spmm::spmm_case::<f64>(shape, Values::Integers, 3);
    let inputs = spmm::with_gaps(shape, 3, (-2.0, 1.0));
    let mut refused = 0;
    for threads in THREADS {
        let machine = machine
            .with_geometry(Geometry { threads_per_block: Some(threads), ..Default::default() })
            .unwrap();
        for variant in &variants {
            let what = format!("{}, {threads} threads", variant.name());
            match variant.prepare(&machine, &subject) {
                Ok(mut ready) => {
                    spmm::assert_exact(&mut *ready, &subject, &inputs, &what);
                    let launched = ready.launches().last().unwrap().plan.threads_per_block();
                    // Sub-blocks are no more than there are columns.
                    let is_whole = variant.describe().param("sub_block_size").is_none();
                    assert!(if is_whole { launched == threads } else { launched <= threads }, "{what}");
                    assert!(launched.is_multiple_of(32), "{what}: {launched}");
                }
                Err(refusal) => {
                    assert!(refusal.to_string().contains("hold no sub-block of 128"), "{what}: {refusal}");
                    refused += 1;
                }
            }
        }
    }
    assert_eq!(refused, 2, "sub-blocks of 128 threads in blocks of 64 and 96");
}

fn row_blocks_of_all_sizes(accelerator: Accelerator) {
    let Some(machine) = machine(accelerator) else { return };
    let shapes = shapes();
    for name in ["staircase", "every other row empty", "one huge row"] {
        let shape = shapes.iter().find(|shape| shape.name.starts_with(name)).unwrap();
        let (subject, _) = spmm::spmm_case::<f64>(shape, Values::Integers, 2);
        let inputs = spmm::with_gaps(shape, 2, (3.0, -1.0));
        for local_size in [Some(1), Some(256), Some(1024), None] {
            let machine = machine.with_geometry(Geometry { local_size, ..Default::default() }).unwrap();
            for variant in leaving_open::<Spmm<f64>>(Adjustable::LocalSize) {
                let what = format!("{}, {name}, local size {local_size:?}", variant.name());
                let mut ready = variant.prepare(&machine, &subject).unwrap();
                spmm::assert_exact(&mut *ready, &subject, &inputs, &what);
                let counted = ready.launches().pop().unwrap().counted;
                let of = |name: &str| counted[name] as usize;
                let nonzeros = of("nonzeros_through_stream") + of("nonzeros_through_vector");
                assert_eq!(nonzeros, subject.a.nnz(), "{what}");
                if let Some(asked) = local_size {
                    assert_eq!(of("local_size"), asked as usize, "{what}");
                }
                // Of one row at most each: none goes through Stream.
                assert_eq!(local_size == Some(1), of("stream_row_blocks") == 0, "{what}");
            }
        }
    }
}

fn dense_products_in_blocks_of_any_shape(accelerator: Accelerator) {
    let Some(machine) = machine(accelerator) else { return };
    let variants = leaving_open::<Gemm<f64>>(Adjustable::BlockShape);
    assert_eq!(variants.len(), 2, "kernel1 and kernel2");
    for block_shape in [[8, 32], [32, 8], [5, 7], [1, 1], [1, 64], [256, 1]].map(Some) {
        let machine = machine.with_geometry(Geometry { block_shape, ..Default::default() }).unwrap();
        for shape in [Shape { m: 33, k: 37, n: 31 }, Shape { m: 3, k: 1, n: 65 }, Shape { m: 5, k: 0, n: 4 }]
        {
            for variant in &variants {
                let mut ready = variant.prepare(&machine, &shape).unwrap();
                for scaling in [(1.0, 1.0), (-0.5, 2.5), (1.0, 0.0)] {
                    let what = format!("{}, {block_shape:?}, {shape:?}, {scaling:?}", variant.name());
                    let inputs = gemm::with_gaps::<f64>(shape, scaling);
                    gemm::assert_exact(&mut *ready, shape, &inputs, &what);
                }
                let plan = ready.launches().last().unwrap().plan;
                let [rows, cols] = block_shape.unwrap();
                assert_eq!(plan.block(), [rows, cols, 1]);
                assert!(plan.grid()[1] as usize == shape.n.div_ceil(cols as usize), "two dimensions");
            }
        }
    }
}

#[test]
fn emulator_sparse_products_in_all_blocks() {
    sparse_products_in_all_blocks(Accelerator::Emulator);
}
#[test]
fn gpu_sparse_products_in_all_blocks() {
    sparse_products_in_all_blocks(Accelerator::Cuda(0));
}
#[test]
fn emulator_row_blocks_of_all_sizes() {
    row_blocks_of_all_sizes(Accelerator::Emulator);
}
#[test]
fn gpu_row_blocks_of_all_sizes() {
    row_blocks_of_all_sizes(Accelerator::Cuda(0));
}
#[test]
fn emulator_dense_products_in_blocks_of_any_shape() {
    dense_products_in_blocks_of_any_shape(Accelerator::Emulator);
}
#[test]
fn gpu_dense_products_in_blocks_of_any_shape() {
    dense_products_in_blocks_of_any_shape(Accelerator::Cuda(0));
}

//! Dense products.

use crate::{bench, cuda_variants, gemm, prepare};
use ordito::Scalar;
use ordito::gemm::{self as dense_product, Gemm};
use ordito::machine::Accelerator;
use ordito::op::Op;
use ordito_bench::check::Precision;
use ordito_bench::report::{Outcome, Record};
use ordito_bench::workbench::{Case, OracleLimits, Side, Wanted, Workbench, select};

/// Shapes for the emulator: every side once below, on and above what tiles are cut into, and nothing at all.
const FEW_SHAPES: [(usize, usize, usize); 14] = [
    (0, 5, 3),
    (5, 0, 3),
    (5, 3, 0),
    (1, 1, 1),
    (7, 1, 33),
    (1, 33, 7),
    (33, 7, 8),
    (8, 9, 10),
    (31, 33, 32),
    (32, 16, 33),
    (10, 65, 11),
    (65, 8, 1),
    (33, 33, 33),
    (64, 17, 65),
];

/// Shapes for kernels with large tiles: whole ones of every size and an edge, and more rows of them than walk together.
const LARGE_SHAPES: [(usize, usize, usize); 2] = [(129, 65, 130), (290, 17, 40)];

/// A few in the emulator, all of the smaller ones there if asked for, every combination of `sides` on a GPU.
fn gemm_shapes(accelerator: Accelerator, part: bool, sides: &[usize]) -> Vec<dense_product::Shape> {
    match accelerator {
        Accelerator::Emulator if part => {
            FEW_SHAPES.map(|(n, m, p)| dense_product::Shape { m: n, k: m, n: p }).into()
        }
        Accelerator::Emulator => gemm::all_shapes(&[0, 1, 7, 31, 32, 33]).collect(),
        _ => gemm::all_shapes(sides).collect(),
    }
}

fn gemm_cases(accelerator: Accelerator, part: bool) -> usize {
    gemm_shapes(accelerator, part, &gemm::EDGES).len()
}

pub(crate) fn gemm_within_the_bound<S: Scalar>(accelerator: Accelerator) {
    let Some(bench) = bench::<Gemm<S>>(accelerator, gemm_cases) else { return };
    let selected = select::<Gemm<S>>(&Wanted::all(), Side::Device).unwrap();
    let mut shapes = gemm_shapes(accelerator, bench.part, &gemm::EDGES);
    if accelerator != Accelerator::Emulator {
        shapes.push(dense_product::Shape { m: 1000, k: 777, n: 1234 });
    }
    let tiled = Wanted::variants(["dense-cuda-registers-*", "dense-cuda-tensor-*"]);
    let tiled = select::<Gemm<S>>(&tiled, Side::Device).unwrap();
    let large = LARGE_SHAPES.map(|(n, m, p)| (dense_product::Shape { m: n, k: m, n: p }, &tiled));
    let (mut passed, mut refused) = (0, 0);
    for (shape, selected) in shapes.into_iter().map(|shape| (shape, &selected)).chain(large) {
        let (inputs, precision) = (gemm::gemm_case::<S>(shape), Precision::of::<S>());
        let case = Case::<Gemm<S>>::new(shape, inputs, precision, Record::default(), OracleLimits::default());
        for record in Workbench::new(&bench.machine).verify(&case, selected) {
            if record.outcome == Outcome::Refused {
                let variant = Gemm::<S>::variant(record.chosen.as_ref().unwrap_or(&record.variant)).unwrap();
                assert!(prepare(&bench.machine, variant, &shape).is_none(), "{}", record.variant);
                refused += 1;
                continue;
            }
            let what = format!("{shape}, {}: {}", S::NAME, record.variant);
            assert_eq!(record.outcome, Outcome::Passed, "{what}: {:?}", record.error);
            passed += 1;
        }
    }
    println!("gemm {} on {accelerator:?}: {passed} results within the bound, {refused} refused", S::NAME);
}

/// αAB + βC in rows with gaps: exact for integers, NaN in the gaps and in what is not read.
pub(crate) fn gemm_exact_with_gaps<S: Scalar>(accelerator: Accelerator) {
    let Some(bench) = bench::<Gemm<S>>(accelerator, gemm_cases) else { return };
    let (mut equal, mut refused) = (0, 0);
    let in_turn = if bench.part { 9 } else { 4 };
    for (index, shape) in
        gemm_shapes(accelerator, bench.part, &[0, 1, 7, 32, 33, 64, 129]).into_iter().enumerate()
    {
        // Every α and every β in turn.
        for (number, scaling) in gemm::scalings().enumerate() {
            if number % in_turn != index % in_turn {
                continue;
            }
            let inputs = gemm::with_gaps::<S>(shape, scaling);
            for variant in cuda_variants::<Gemm<S>>() {
                let Some(mut ready) = prepare(&bench.machine, variant, &shape) else {
                    refused += 1;
                    continue;
                };
                let what = format!("{}, {shape}, {scaling:?}", variant.name());
                gemm::assert_exact(&mut *ready, shape, &inputs, &what);
                equal += 1;
            }
        }
    }
    println!("gemm {} on {accelerator:?}: {equal} results exact, {refused} refused", S::NAME);
}

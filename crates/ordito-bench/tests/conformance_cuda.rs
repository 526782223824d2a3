//! Every CUDA variant × every dtype × every matrix against the oracle: in the emulator with a choice of K, the smaller the
//! more rows there are (all of them with `ORDITO_EMULATOR_FULL=1`), and on a GPU where there is one with all K; dense products
//! in the emulator of a few shapes, on a GPU of all. Nothing is skipped silently: what cannot run is counted, and fails with `ORDITO_REQUIRE_EMULATOR=1` or `ORDITO_REQUIRE_GPU=1`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "common/columns.rs"]
mod columns;
mod common;
#[path = "common/fast_spmm.rs"]
mod fast_spmm;
#[path = "common/gemm.rs"]
mod gemm;
#[path = "common/spmm.rs"]
mod spmm;

use common::{Shape, Values, say, shapes};
use ordito::Scalar;
use ordito::column_stats::{self as statistics, Columns};
use ordito::cpu::CpuInfo;
use ordito::gemm::{self as dense_product, Gemm};
use ordito::machine::{Accelerator, Limits, Machine};
use ordito::matrix::Dense;
use ordito::op::{Computes, Op, Place, Role, RunError, Variant};
use ordito::refusal::Refusal;
use ordito::spmm::{Inputs, Product, Spmm};
use ordito_bench::check::Precision;
use ordito_bench::report::{Outcome, Record};
use ordito_bench::workbench::{Case, OracleLimits, Side, Wanted, Workbench, select};
use spmm::{KS, SCALINGS, assert_exact, spmm_case, with_gaps};
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
            0..50 => &[1, 3, 8, 33],
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

/// How many matrices and Ks there are.
fn spmm_cases(_: Accelerator, part: bool) -> usize {
    shapes().iter().map(|shape| Bench::ks(part, shape).len()).sum()
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

fn within_the_bound<S: Scalar>(accelerator: Accelerator) {
    let Some(bench) = bench::<Spmm<S>>(accelerator, spmm_cases) else { return };
    let selected = select::<Spmm<S>>(&Wanted::all(), Side::Device).unwrap();
    let (mut passed, mut refused) = (0, 0);
    for shape in shapes() {
        // Every fourth K in the emulator: what other K do is seen by the exact products.
        for &k in Bench::ks(bench.part, &shape).iter().step_by(if bench.part { 4 } else { 1 }) {
            let (subject, inputs) = spmm_case::<S>(&shape, Values::Reals, k);
            let (precision, limits) = (Precision::of::<S>(), OracleLimits::default());
            let case = Case::<Spmm<S>>::new(subject, inputs, precision, Record::default(), limits);
            for record in Workbench::new(&bench.machine).verify(&case, &selected) {
                let fault = record.error.as_ref().or(record.refusal.as_ref());
                let says = |start| record.refusal.as_ref().is_some_and(|why| why.starts_with(start));
                let not_emulated = accelerator == Accelerator::Emulator && says("runs on a GPU only");
                if not_emulated || record.role == Some(Role::Peer) && says("cuSPARSE") {
                    refused += 1;
                    continue;
                }
                let what = format!("{}, k = {k}, {}: {}", shape.name, S::NAME, record.variant);
                assert_eq!(record.outcome, Outcome::Passed, "{what}: {fault:?}");
                passed += 1;
            }
        }
    }
    println!("spmm {} on {accelerator:?}: {passed} results within the bound, {refused} refused", S::NAME);
}

/// αAX + βY into rows with gaps: exact for integers, NaN in the gaps untouched. Half of the cases have 64-bit row starts.
fn exact_with_gaps<S: Scalar>(accelerator: Accelerator) {
    let Some(bench) = bench::<Spmm<S>>(accelerator, spmm_cases) else { return };
    let (mut equal, mut refused, mut wide) = (0, 0, 0);
    for (index, shape) in shapes().iter().enumerate() {
        for (turn, &k) in Bench::ks(bench.part, shape).iter().enumerate() {
            // In the emulator every second K, of one shape those of odd and of the next those of even number.
            if bench.part && !(index + turn).is_multiple_of(2) {
                continue;
            }
            let (subject, _) = spmm_case::<S>(shape, Values::Integers, k);
            for (number, scaling) in SCALINGS.into_iter().enumerate() {
                if bench.part && number != (index + turn / 2) % SCALINGS.len() {
                    continue;
                }
                let is_wide = (index / SCALINGS.len() + turn).is_multiple_of(2);
                let machine = if is_wide { &bench.wide } else { &bench.machine };
                let inputs = with_gaps(shape, k, scaling);
                for variant in cuda_variants::<Spmm<S>>() {
                    let Some(mut ready) = prepare(machine, variant, &subject) else {
                        refused += 1;
                        continue;
                    };
                    let what = format!("{}, {}, k = {k}, {scaling:?}", variant.name(), shape.name);
                    // Nor does cuSPARSE take every leading dimension.
                    if let Err(RunError::Refused(Refusal::Unsupported(_))) = ready.load(&inputs) {
                        assert!(variant.describe().role == Role::Peer, "{what}");
                        refused += 1;
                        continue;
                    }
                    assert_exact(&mut *ready, &subject, &inputs, &what);
                    equal += 1;
                    wide += usize::from(is_wide);
                }
            }
        }
    }
    println!(
        "spmm {} on {accelerator:?}: {equal} results exact, {wide} with 64-bit row starts, {refused} refused",
        S::NAME
    );
}

/// The library's call: operands of the user, β = 0 does not read Y, wrong shapes are errors; and what a run launches.
fn apply_on_memory_of_the_user<S: Scalar>(accelerator: Accelerator) {
    let Some(bench) = bench::<Spmm<S>>(accelerator, spmm_cases) else { return };
    let shape = &shapes()[12];
    let (subject, inputs) = spmm_case::<S>(shape, Values::Integers, 5);
    for variant in cuda_variants::<Spmm<S>>() {
        let Some(mut ready) = prepare(&bench.machine, variant, &subject) else { continue };
        let mut y = Dense::filled(shape.rows, 5, S::POISON).unwrap();
        ready.apply(S::ONE, inputs.x.view(), S::ZERO, y.view_mut()).unwrap();
        assert!(y.data().iter().all(|y| y.is_finite()), "{} reads Y", variant.name());
        let once = y.clone();
        ready.apply(S::ONE, inputs.x.view(), S::ONE, y.view_mut()).unwrap();
        let twice = |(once, twice): (&S, &S)| once.to_f64() * 2.0 == twice.to_f64();
        assert!(once.data().iter().zip(y.data()).all(twice), "{} does not add to Y", variant.name());
        let long = Dense::filled(shape.cols + 1, 5, S::ONE).unwrap();
        assert!(ready.apply(S::ONE, long.view(), S::ZERO, y.view_mut()).is_err());
        ready.load(&inputs).unwrap();
        let kernels: Vec<String> = ready.launches().into_iter().map(|launch| launch.kernel).collect();
        memory_of_another_shape(&mut *ready, variant.name(), &inputs, shape.rows);
        // What cuSPARSE launches is its own affair.
        let own = usize::from(!variant.kernels().is_empty() && variant.describe().role != Role::Peer);
        // Once more where a row is added up from parts.
        let parts = usize::from(kernels.iter().any(|name| name == fast_spmm::ADDS_PARTS));
        let expected = own + parts + usize::from(ready.repack().unwrap());
        assert_eq!(kernels.len(), expected, "{}: {kernels:?}", variant.name());
        assert!(kernels.iter().all(|name| variant.kernels().iter().any(|kernel| kernel.entry == name)));
    }
}

/// What was loaded is what runs, whatever `apply` was given in between: rows with gaps, and memory of other shapes.
fn memory_of_another_shape<S: Scalar>(
    ready: &mut dyn Product<S>,
    name: &str,
    inputs: &Inputs<S>,
    rows: usize,
) {
    ready.load(inputs).unwrap();
    ready.reset().unwrap();
    ready.run().unwrap();
    let right = ready.fetch().unwrap();
    // A multiple of 16 bytes apart, as cuSPARSE wants it.
    let distance = 8;
    let spread = |dense: &Dense<S>| {
        let rows = (0..dense.rows()).flat_map(|row| {
            let gap = std::iter::repeat_n(S::POISON, distance - dense.cols());
            dense.view().row(row).iter().copied().chain(gap)
        });
        Dense::with_leading_dimension(dense.rows(), dense.cols(), distance, rows.collect()).unwrap()
    };
    let x = spread(&inputs.x);
    let mut y = spread(&Dense::filled(rows, 5, S::ONE).unwrap());
    ready.apply(S::ONE, x.view(), S::ZERO, y.view_mut()).unwrap();
    for row in 0..rows {
        assert_eq!(y.view().row(row), right.view().row(row), "{name}, row {row}");
    }
    let gaps = y.data().chunks(distance).flat_map(|row| &row[5..]);
    assert!(gaps.clone().count() > 0 && gaps.into_iter().all(|gap| !gap.is_finite()), "{name} wrote a gap");
    ready.reset().unwrap();
    ready.run().unwrap();
    assert_eq!(ready.fetch().unwrap(), right, "{name} ran on other memory than was loaded");
}

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

fn gemm_within_the_bound<S: Scalar>(accelerator: Accelerator) {
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
fn gemm_exact_with_gaps<S: Scalar>(accelerator: Accelerator) {
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

/// Shapes for the emulator: both sides of strips, warps, blocks and batches of rows in flight, once each.
const FEW_COLUMNS: [(usize, usize); 13] = [
    (0, 5),
    (5, 0),
    (1, 1),
    (1, 33),
    (31, 32),
    (33, 31),
    (63, 17),
    (64, 65),
    (65, 3),
    (129, 16),
    (257, 5),
    (358, 2),
    (1000, 1),
];

/// Long enough for several slices of rows in every kernel of ours.
const SLICED_COLUMNS: [(usize, usize); 2] = [(513, 33), (1100, 2)];

fn column_shapes(accelerator: Accelerator, part: bool) -> Vec<statistics::Shape> {
    match accelerator {
        Accelerator::Emulator if part => {
            FEW_COLUMNS.map(|(rows, cols)| statistics::Shape { rows, cols }).into()
        }
        Accelerator::Emulator => columns::all_shapes(&[0, 1, 31, 33, 65, 129]).collect(),
        _ => columns::all_shapes(&columns::EDGES).collect(),
    }
}

fn column_cases(accelerator: Accelerator, part: bool) -> usize {
    column_shapes(accelerator, part).len()
}

/// Statistics of columns: real numbers within the bound, also on an offset; exact where that can be; the same bits in
/// every run; NaN and infinities where they belong.
fn columns_conform<S: Scalar>(accelerator: Accelerator) {
    let Some(bench) = bench::<Columns<S>>(accelerator, column_cases) else { return };
    let ours = select::<Columns<S>>(&Wanted::variants(["dense-cuda-strips-*"]), Side::Device).unwrap();
    let selected = select::<Columns<S>>(&Wanted::all(), Side::Device).unwrap();
    let shapes = column_shapes(accelerator, bench.part).into_iter().map(|shape| (shape, &selected));
    let sliced = SLICED_COLUMNS.map(|(rows, cols)| (statistics::Shape { rows, cols }, &ours));
    let mut passed = 0;
    for (index, (shape, selected)) in shapes.chain(sliced).enumerate() {
        let data = if index % 4 == 3 { columns::with_offset::<S>(shape) } else { columns::reals(shape) };
        let (precision, limits) = (Precision::of::<f64>(), OracleLimits::default());
        let case = Case::<Columns<S>>::new(shape, data, precision, Record::default(), limits);
        let case = case.of_data(Precision::of::<S>());
        for record in Workbench::new(&bench.machine).verify(&case, selected) {
            let fault = record.error.as_ref().or(record.refusal.as_ref());
            let what = format!("{shape}, {}: {}", S::NAME, record.variant);
            assert_eq!(record.outcome, Outcome::Passed, "{what}: {fault:?}");
            assert_eq!(
                record.partial.is_none(),
                shape.cols == 0 || !is_mean_only::<S>(&record.variant),
                "{what}"
            );
            passed += 1;
        }
    }
    let exact =
        if bench.part { &[(64, 33), (128, 3), (512, 2)][..] } else { &[(1, 70), (64, 129), (1024, 33)] };
    for &(rows, cols) in exact {
        let shape = statistics::Shape { rows, cols };
        for variant in cuda_variants::<Columns<S>>() {
            let what = format!("{}, {shape}", variant.name());
            let Some(mut ready) = prepare(&bench.machine, variant, &shape) else { panic!("{what} refused") };
            columns::assert_exact(&mut *ready, &columns::integers(shape), &what);
            if !is_mean_only::<S>(variant.name()) && rows > 1 {
                columns::assert_exact(&mut *ready, &columns::not_finite(shape), &what);
            }
        }
    }
    println!("columns {} on {accelerator:?}: {passed} results within the bound", S::NAME);
}

/// Of `auto` too, which never takes such a one.
fn is_mean_only<S: Scalar>(name: &str) -> bool {
    let variant = Columns::<S>::variant(name);
    variant.is_some_and(|variant| variant.describe().computes == Computes::MeanOnly)
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

//! Sparse products.

use crate::common::{Values, shapes};
use crate::spmm::{SCALINGS, assert_exact, spmm_case, with_gaps};
use crate::{Bench, bench, cuda_variants, fast_spmm, prepare};
use ordito::Scalar;
use ordito::machine::Accelerator;
use ordito::matrix::Dense;
use ordito::op::{Role, RunError};
use ordito::refusal::Refusal;
use ordito::spmm::{Inputs, Product, Spmm};
use ordito_bench::check::Precision;
use ordito_bench::report::{Outcome, Record};
use ordito_bench::workbench::{Case, OracleLimits, Side, Wanted, Workbench, select};

/// How many matrices and Ks there are.
fn spmm_cases(_: Accelerator, part: bool) -> usize {
    shapes().iter().map(|shape| Bench::ks(part, shape).len()).sum()
}

pub(crate) fn within_the_bound<S: Scalar>(accelerator: Accelerator) {
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
pub(crate) fn exact_with_gaps<S: Scalar>(accelerator: Accelerator) {
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
pub(crate) fn apply_on_memory_of_the_user<S: Scalar>(accelerator: Accelerator) {
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

//! Inner products and combinations of tall and skinny blocks.

use crate::common::Values;
use crate::{bench, cuda_variants, prepare, tall_skinny};
use ordito::Scalar;
use ordito::machine::Accelerator;
use ordito::tall_skinny::combine::Combine;
use ordito::tall_skinny::gram::Gram;
use ordito_bench::check::{Precision, Save};
use ordito_bench::report::{Outcome, Record};
use ordito_bench::workbench::{Case, OracleLimits, Side, Wanted, Workbench, select};

fn cases(_: Accelerator, _: bool) -> usize {
    tall_skinny::SIZES.len()
}

/// Real numbers: within the bound, or refused.
fn within_the_bound<O: Save>(machine: &std::sync::Arc<ordito::Machine>, case: &Case<O>, what: &str) {
    let selected = select::<O>(&Wanted::all(), Side::Device).unwrap();
    for record in Workbench::new(machine).verify(case, &selected) {
        let what = format!("{what}: {}", record.variant);
        let is_peer = record.role == Some(ordito::op::Role::Peer);
        if record.outcome != Outcome::Refused || !is_peer {
            assert_eq!(record.outcome, Outcome::Passed, "{what}: {:?} {:?}", record.error, record.refusal);
        }
    }
}

pub(crate) fn gram_conforms<S: Scalar>(accelerator: Accelerator) {
    let Some(bench) = bench::<Gram<S>>(accelerator, cases) else { return };
    for (index, sizes) in tall_skinny::SIZES.into_iter().enumerate() {
        for symmetric in [false, true] {
            let shape = tall_skinny::gram_shape(sizes, symmetric);
            // In the emulator in turn.
            if !bench.part || (index + usize::from(symmetric)).is_multiple_of(2) {
                let (inputs, limits) =
                    (tall_skinny::gram_case::<S>(shape, Values::Reals), OracleLimits::default());
                let case =
                    Case::<Gram<S>>::new(shape, inputs, Precision::of::<f64>(), Record::default(), limits);
                let case = case.of_data(Precision::of::<S>());
                within_the_bound(&bench.machine, &case, &format!("{shape}, {}", S::NAME));
                if bench.part {
                    continue;
                }
            }
            for variant in cuda_variants::<Gram<S>>() {
                let Some(mut ready) = prepare(&bench.machine, variant, &shape) else { continue };
                tall_skinny::assert_exact_gram(&mut *ready, shape, &format!("{}, {shape}", variant.name()));
            }
        }
    }
}

pub(crate) fn combine_conforms<S: Scalar>(accelerator: Accelerator) {
    let Some(bench) = bench::<Combine<S>>(accelerator, cases) else { return };
    for (index, sizes) in tall_skinny::SIZES.into_iter().enumerate() {
        let shape = tall_skinny::combine_shape(sizes);
        if !bench.part || index.is_multiple_of(2) {
            let (inputs, limits) =
                (tall_skinny::combine_case::<S>(shape, Values::Reals), OracleLimits::default());
            let case =
                Case::<Combine<S>>::new(shape, inputs, Precision::of::<S>(), Record::default(), limits);
            within_the_bound(&bench.machine, &case, &format!("{shape}, {}", S::NAME));
        }
        for variant in cuda_variants::<Combine<S>>() {
            let Some(mut ready) = prepare(&bench.machine, variant, &shape) else { continue };
            tall_skinny::assert_exact_combine(&mut *ready, shape, &format!("{}, {shape}", variant.name()));
        }
    }
}

//! Every variant × every dtype × every case against the oracle. Outputs start as NaN and every run happens twice;
//! integer-valued operands must match exactly, real ones within the bound.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod common;
#[path = "common/spmm.rs"]
mod spmm;

use common::{Values, fill, shapes};
use ordito::Scalar;
use ordito::check::Precision;
use ordito::machine::{CpuInfo, Limits, Machine, SimdLevel};
use ordito::matrix::Dense;
use ordito::ops::convert::Convert;
use ordito::ops::spmm::Spmm;
use ordito::ops::{Op, Place, Variant};
use ordito::report::{Outcome, Record};
use ordito::workbench::{Case, OracleLimits, Side, Workbench, select};
use spmm::{KS, SCALINGS, assert_exact, spmm_case, with_gaps};
use std::sync::Arc;

/// Several numbers of threads and every vector level this CPU has.
fn machines() -> Vec<Arc<Machine>> {
    let cpu = CpuInfo::detect();
    let machine = |(threads, simd)| {
        let cpu = CpuInfo { simd, ..cpu.clone() };
        Machine::new(cpu.clone(), threads, Limits::of(&cpu)).unwrap()
    };
    let levels = [(1, SimdLevel::Avx512), (2, SimdLevel::Portable), (5, SimdLevel::Avx2)];
    levels.into_iter().map(machine).collect()
}

/// Records of all variants; each must have passed.
fn all_pass<O: Op>(case: &Case<O>, machine: &Arc<Machine>, what: &str) -> usize {
    let records = Workbench::new(machine).verify(case, &select::<O>(&[], Side::Cpu).unwrap());
    for record in &records {
        let expected = if record.variant.ends_with("-wrong") { continue } else { Outcome::Passed };
        let fault = record.error.as_ref().or(record.refusal.as_ref());
        assert_eq!(record.outcome, expected, "{what}: {}: {fault:?}", record.variant);
    }
    records.len()
}

fn spmm_within_the_bound<S: Scalar>() {
    let (machines, mut runs) = (machines(), 0);
    for shape in shapes() {
        for k in KS {
            let (subject, inputs) = spmm_case::<S>(&shape, Values::Reals, k);
            let precision = Precision::of::<S>();
            let case =
                Case::<Spmm<S>>::new(subject, inputs, precision, Record::default(), OracleLimits::default());
            for machine in &machines {
                let what = format!("{}, k = {k}, {}, {} threads", shape.name, S::NAME, machine.threads());
                runs += all_pass(&case, machine, &what);
            }
        }
    }
    println!("spmm {}: {runs} results within the bound", S::NAME);
}

/// αAX + βY into rows with gaps: exact for integers, NaN in the gaps untouched.
fn spmm_exact_with_gaps<S: Scalar>() {
    let machines = machines();
    for (index, shape) in shapes().iter().enumerate() {
        for k in KS {
            let (subject, _) = spmm_case::<S>(shape, Values::Integers, k);
            for scaling in SCALINGS {
                let inputs = with_gaps(shape, k, scaling);
                let machine = &machines[(index + k) % machines.len()];
                for variant in cpu_variants::<S>() {
                    let what = format!("{}, {}, k = {k}, {scaling:?}", variant.name(), shape.name);
                    let mut ready = variant.prepare(machine, &subject).unwrap();
                    assert_exact(&mut *ready, &subject, &inputs, &what);
                }
            }
        }
    }
}

fn cpu_variants<S: Scalar>() -> impl Iterator<Item = &'static dyn Variant<Spmm<S>>> {
    let here = |variant: &&dyn Variant<Spmm<S>>| {
        variant.place() != Place::Cuda && !variant.name().ends_with("-wrong")
    };
    Spmm::<S>::variants().iter().copied().filter(here)
}

/// With β = 0 the old Y is not read: NaN there does not spread.
fn beta_zero_does_not_read_y<S: Scalar>() {
    let machine = Machine::with_threads(2).unwrap();
    let shape = &shapes()[12];
    let (subject, inputs) = spmm_case::<S>(shape, Values::Integers, 5);
    for variant in cpu_variants::<S>() {
        let mut ready = variant.prepare(&machine, &subject).unwrap();
        let mut y = Dense::filled(shape.rows, 5, S::POISON).unwrap();
        ready.apply(S::ONE, inputs.x.view(), S::ZERO, y.view_mut()).unwrap();
        assert!(y.data().iter().all(|y| y.is_finite()), "{} reads Y", variant.name());
        ready.apply(S::ONE, inputs.x.view(), S::ONE, y.view_mut()).unwrap();
        let short = Dense::filled(shape.cols + 1, 5, S::ONE).unwrap();
        assert!(ready.apply(S::ONE, short.view(), S::ZERO, y.view_mut()).is_err());
    }
}

fn convert_is_exact<S: Scalar>() {
    let (machines, mut runs) = (machines(), 0);
    for shape in shapes() {
        let coo = Arc::new(fill::<S>(&shape, Values::Reals));
        let precision = Precision::of::<S>();
        let case = Case::<Convert<S>>::new(coo, (), precision, Record::default(), OracleLimits::default());
        for machine in &machines {
            runs += all_pass(&case, machine, &format!("{}, {} threads", shape.name, machine.threads()));
        }
    }
    println!("convert {}: {runs} results equal", S::NAME);
}

#[test]
fn spmm_f32_within_the_bound() {
    spmm_within_the_bound::<f32>();
}
#[test]
fn spmm_f64_within_the_bound() {
    spmm_within_the_bound::<f64>();
}
#[test]
fn spmm_f32_exact_with_gaps() {
    spmm_exact_with_gaps::<f32>();
}
#[test]
fn spmm_f64_exact_with_gaps() {
    spmm_exact_with_gaps::<f64>();
}
#[test]
fn spmm_with_beta_zero_does_not_read_y() {
    beta_zero_does_not_read_y::<f32>();
    beta_zero_does_not_read_y::<f64>();
}
#[test]
fn convert_f32_is_exact() {
    convert_is_exact::<f32>();
}
#[test]
fn convert_f64_is_exact() {
    convert_is_exact::<f64>();
}

/// Above the limits of the oracle a sample of rows and a projection judge.
#[test]
fn a_sampled_oracle_passes_what_is_right() {
    let machine = Machine::with_threads(2).unwrap();
    for shape in shapes() {
        let (subject, inputs) = spmm_case::<f32>(&shape, Values::Reals, 12);
        let (limits, precision) = (OracleLimits { steps: 0, bytes: 0 }, Precision::of::<f32>());
        let case = Case::<Spmm<f32>>::new(subject, inputs, precision, Record::default(), limits);
        all_pass(&case, &machine, &shape.name);
    }
}

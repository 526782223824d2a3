//! What is multiplied by 0 is not read, and what a row does not have does not reach it: of every variant, on the CPU and in
//! the emulator.

#![allow(clippy::unwrap_used, clippy::panic)] // in helpers of tests too

use ordito::op::{Op, Variant};
use ordito::spmm::{Product, Spmm, Subject, multiply};
use ordito::{Coo, Csr, Dense, Duplicates, Machine, Refusal};
use std::sync::Arc;

const K: usize = 3;

/// Rows of 0 to 3 nonzeros of 7 columns, the first of which only row 5 has.
fn subject(value: f64) -> Subject<f64> {
    let (mut rows, mut cols) = (Vec::new(), Vec::new());
    for row in 0..40u32 {
        for entry in 0..row % 4 {
            rows.push(row);
            cols.push(if row == 5 { 0 } else { 1 + (row + 2 * entry) % 6 });
        }
    }
    let values = vec![value; rows.len()];
    let a = Csr::from_coo(&Coo::new(40, 7, rows, cols, values).unwrap(), Duplicates::Keep);
    Subject { a: Arc::new(a), triplets: None, k: K }
}

/// The CPU, and the emulator where there is a compiler.
fn machines() -> Vec<Arc<Machine>> {
    let mut machines = vec![Machine::with_threads(2).unwrap()];
    #[cfg(feature = "emulator")]
    match Machine::emulator() {
        Ok(machine) => machines.push(machine),
        Err(refusal) => assert!(std::env::var_os("ORDITO_REQUIRE_EMULATOR").is_none(), "{refusal}"),
    }
    machines
}

/// Every variant that takes such a matrix.
fn for_each_variant(
    subject: &Subject<f64>,
    mut work: impl FnMut(&'static dyn Variant<Spmm<f64>>, &mut dyn Product<f64>),
) {
    let mut ready = 0;
    for machine in machines() {
        for &variant in Spmm::<f64>::variants() {
            match variant.available(&machine).and_then(|()| variant.prepare(&machine, subject)) {
                Ok(mut product) => work(variant, &mut *product),
                Err(Refusal::Compile { kernel, log }) => panic!("{kernel}: {log}"),
                Err(_) => continue,
            }
            ready += 1;
        }
    }
    assert!(ready >= 10, "{ready} variants were tried");
}

#[test]
fn with_alpha_0_neither_a_nor_x_is_read() {
    let nan = subject(f64::NAN);
    let x = Dense::filled(7, K, f64::NAN).unwrap();
    for (beta, before, expected) in [(0.0, f64::NAN, 0.0), (1.0, 3.0, 3.0), (2.5, 2.0, 5.0)] {
        let y = || Dense::with_leading_dimension(40, K, K + 1, vec![before; 40 * (K + 1)]).unwrap();
        let check = |y: &Dense<f64>, what: &str| {
            let right = |row: usize| y.view().row(row).iter().all(|&y| y == expected);
            assert!((0..40).all(right), "{what}, β = {beta}: {:?}", y.data());
            let gaps = y.data().chunks(K + 1).filter_map(|row| row.get(K));
            assert!(
                gaps.into_iter().all(|gap| gap.to_bits() == before.to_bits()),
                "{what}, β = {beta}: a gap"
            );
        };
        for_each_variant(&nan, |variant, product| {
            let mut y = y();
            product.apply(0.0, x.view(), beta, y.view_mut()).unwrap();
            check(&y, variant.describe().name);
        });
        let mut y = y();
        multiply(0.0, &*nan.a, x.view(), beta, y.view_mut()).unwrap();
        check(&y, "multiply");
    }
}

#[cfg(feature = "emulator")]
#[test]
fn recorded_products_with_alpha_0_read_neither() {
    use ordito::device::DeviceDense;
    use ordito::spmm::{Plan, Step};
    let Ok(machine) = Machine::emulator() else { return };
    let device = machine.device().unwrap();
    let plan = Plan::new(Arc::unwrap_or_clone(subject(f64::NAN).a), &machine).unwrap();
    let x = DeviceDense::<f64>::new(&device, "X", 7, K).unwrap(); // NaN
    let mut y = DeviceDense::new(&device, "Y", 40, K).unwrap();
    y.write(Dense::filled(40, K, 3.0).unwrap().view()).unwrap();
    plan.record(vec![Step::new(0.0, x.view(), 2.0, y.view_mut())]).unwrap().launch().unwrap();
    let mut found = Dense::zeros(40, K).unwrap();
    y.read(found.view_mut()).unwrap();
    assert!(found.data().iter().all(|&y| y == 6.0), "{:?}", found.data());
}

#[test]
fn what_a_row_does_not_have_does_not_reach_it_or_the_variant_says_so() {
    let subject = subject(1.0);
    let mut x = Dense::filled(7, K, 1.0).unwrap();
    x.view_mut().row_mut(0).fill(f64::NAN);
    let mut spread = Vec::new();
    for_each_variant(&subject, |variant, product| {
        let description = variant.describe();
        let mut y = Dense::filled(40, K, f64::NAN).unwrap();
        product.apply(1.0, x.view(), 0.0, y.view_mut()).unwrap();
        assert!(y.view().row(5).iter().all(|y| y.is_nan()), "{}: row 5 has the NaN", description.name);
        let reached = (0..40).filter(|&row| row != 5).any(|row| y.view().row(row).iter().any(|y| y.is_nan()));
        let says_so = description.about.contains("padding spreads NaN");
        assert_eq!(reached, says_so, "{}: {}", description.name, description.about);
        if reached {
            assert!(!description.can_be_chosen, "{}", description.name);
            spread.push(description.name);
        }
    });
    assert!(spread.iter().all(|name| name.starts_with("ell-padded")), "{spread:?}");
}

//! Solvers wholly on a device: in the emulator, where every access is checked.

use crate::matrix::{Coo, Csr, Dense, Duplicates, random_dense, random_rows};
use crate::solve::blocks::Blocks;
use crate::solve::device_blocks::DeviceBlocks;
use crate::solve::{
    Control, Lanczos, Lobpcg, Operator, Preconditioner, RandomizedSvd, Source, Svds, Tolerance, Which, eigsh,
    lobpcg, randomized_svd, svds,
};
use crate::spmm::Plan;
use crate::{Accelerator, Machine, Scalar};
use std::sync::Arc;

/// A machine with the emulator; said aloud where there is none, and a failure with `ORDITO_REQUIRE_EMULATOR=1`.
fn emulated() -> Option<Arc<Machine>> {
    let machine = Machine::with_threads(2).unwrap().with_accelerator(Accelerator::Emulator);
    match machine.device() {
        Ok(_) => Some(machine),
        Err(refusal) => {
            let required = std::env::var("ORDITO_REQUIRE_EMULATOR").is_ok_and(|value| value == "1");
            assert!(!required, "ORDITO_REQUIRE_EMULATOR=1, but: {refusal}");
            None
        }
    }
}

/// 2 on the diagonal, −1 beside it: eigenvalues 2 − 2cos(πj/(n + 1)).
fn path<S: Scalar>(n: usize) -> Csr<S> {
    let mut triplets = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..n {
        for (col, value) in [(row.wrapping_sub(1), -1.0), (row, 2.0), (row + 1, -1.0)] {
            if col < n {
                triplets.0.push(row as u32);
                triplets.1.push(col as u32);
                triplets.2.push(S::from_f64(value));
            }
        }
    }
    Csr::from_coo(&Coo::new(n, n, triplets.0, triplets.1, triplets.2).unwrap(), Duplicates::Sum)
}

fn eigenvalue(n: usize, j: usize) -> f64 {
    2.0 - 2.0 * (std::f64::consts::PI * j as f64 / (n as f64 + 1.0)).cos()
}

#[test]
#[cfg_attr(miri, ignore = "the emulator runs compiled C++")]
fn eigenvectors_are_found_where_the_plan_runs() {
    let Some(machine) = emulated() else { return };
    let n = 80;
    let halves = vec![0.5; n];
    // Residuals are the next directions as they are, or become them first; numbers are of a size that can be squared, or not.
    for (preconditioner, exponent) in [(None, 0), (Some(&halves), 0), (None, -600), (Some(&halves), -600)] {
        let factor = 2_f64.powi(exponent);
        let a = path::<f64>(n);
        let values = a.values().iter().map(|value| value * factor).collect();
        let plan = Plan::new(a.with_values(values).unwrap(), &machine).unwrap();
        let found = lobpcg(
            &plan,
            Lobpcg {
                count: 3,
                which: Which::Smallest,
                preconditioner: preconditioner.map(|halves| Preconditioner::Diagonal(halves)),
                control: Control {
                    tolerance: Some(Tolerance::Absolute(1e-9 * factor)),
                    ..Control::default()
                },
                ..Lobpcg::default()
            },
        )
        .unwrap();
        assert!(found.history.converged(), "{:?}", found.history.stopped);
        for (j, value) in found.values.iter().enumerate() {
            assert!((value / factor - eigenvalue(n, j + 1)).abs() < 1e-12, "{value} of 2^{exponent}");
        }
        assert!(found.vectors.shape() == (n, 3) && found.vectors_on_device.is_none());
    }

    let plan = Plan::new(path::<f64>(n), &machine).unwrap();
    let found = eigsh(&plan, Lanczos { count: 2, which: Which::Largest, ..Lanczos::default() }).unwrap();
    assert!(found.history.converged());
    assert!((found.values[0] - eigenvalue(n, n)).abs() < 1e-12);
}

#[test]
#[cfg_attr(miri, ignore = "the emulator runs compiled C++")]
fn vectors_come_from_the_device_and_stay_there() {
    let Some(machine) = emulated() else { return };
    let n = 40;
    let plan = Plan::new(path::<f32>(n), &machine).unwrap();
    let device = Operator::device(&plan).unwrap().clone();
    let mut start = crate::device::DeviceDense::new(&device, "start", n, 5).unwrap();
    start.write(random_dense::<f32>(n, 5, 3).unwrap().view()).unwrap();
    let control = Control { keep_on_device: true, ..Control::default() };
    let options =
        Lobpcg { count: 2, start: Some(Source::Device(start.view())), control, ..Lobpcg::default() };
    let found = lobpcg(&plan, options).unwrap();
    assert!(found.history.converged(), "{:?}", found.history.stopped);
    for (j, value) in found.values.iter().enumerate() {
        assert!((value - eigenvalue(n, n - j)).abs() < 1e-5, "{value}");
    }
    assert_eq!(found.vectors.shape(), (n, 0));
    let mut vectors = Dense::zeros(n, 2).unwrap();
    found.vectors_on_device.unwrap().read(vectors.view_mut()).unwrap();
    let norm: f32 = (0..n).map(|row| vectors.view().row(row)[0].powi(2)).sum();
    assert!((norm - 1.0).abs() < 1e-5, "{norm}");
}

#[test]
#[cfg_attr(miri, ignore = "the emulator runs compiled C++")]
fn singular_vectors_use_both_products_of_the_device() {
    let Some(machine) = emulated() else { return };
    let a = crate::io::read_csr::<f64>("uniform:80x4").unwrap();
    let on_device = Plan::new(a.clone(), &machine).unwrap();
    let on_host = Plan::new(a, &Machine::with_threads(2).unwrap()).unwrap();
    let [found, expected] =
        [&on_device, &on_host].map(|plan| svds(plan, Svds { count: 3, ..Svds::default() }).unwrap());
    assert!(found.history.converged());
    for (found, expected) in found.values.iter().zip(&expected.values) {
        assert!((found - expected).abs() < 1e-9 * expected);
    }
    let nearly = randomized_svd(&on_device, RandomizedSvd { count: 3, ..RandomizedSvd::default() }).unwrap();
    assert!((nearly.values[0] - expected.values[0]).abs() < 1e-2 * expected.values[0]);
    assert!(nearly.residuals.iter().all(|residual| residual.is_finite()));
}

/// However many columns there are, whichever of a block they are, and wherever rows begin: a rank's may begin anywhere.
#[test]
#[cfg_attr(miri, ignore = "the emulator runs compiled C++")]
fn random_vectors_are_those_of_the_host() {
    let Some(machine) = emulated() else { return };
    random_vectors_are_the_same::<f32>(&machine);
    random_vectors_are_the_same::<f64>(&machine);
}

fn random_vectors_are_the_same<S: Scalar>(machine: &Machine) {
    let device = machine.device().unwrap();
    let beyond = (1 << 32) + 7;
    for (rows, cols, first_row) in
        [(1, 1, 0), (50, 3, 0), (300, 8, 41), (70, 33, beyond), (20, 70, u64::MAX / 70 - 30), (0, 4, 9)]
    {
        let mut blocks = DeviceBlocks::<S>::new(&device);
        let block = blocks.add("X", rows, cols + 2).unwrap();
        let drawn = block.range(1, cols);
        blocks.randomize(drawn, first_row, 11).unwrap();
        let mut found = Dense::filled(rows, cols + 2, S::POISON).unwrap();
        blocks.read(block.all(), found.view_mut()).unwrap();
        let expected = random_rows::<S>(first_row..first_row + rows as u64, cols, 11).unwrap();
        for row in 0..rows {
            let (found, expected) = (found.view().row(row), expected.view().row(row));
            assert_eq!(&found[1..=cols], expected, "{rows}×{cols} from {first_row}, row {row}");
            assert!(found[0] == S::ZERO && found[cols + 1] == S::ZERO, "columns beside them");
        }
    }
}

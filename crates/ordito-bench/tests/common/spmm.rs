//! Operands of spmm for every matrix that sits on the edges.

use crate::common::{Shape, Values, dense, fill};
use ordito::Scalar;
use ordito::machine::Interrupt;
use ordito::matrix::{Csr, Duplicates};
use ordito::op::{Extent, Op};
use ordito::spmm::{Inputs, Product, Spmm, Subject};
use std::sync::Arc;

/// Columns of X on both sides of what kernels are cut into.
pub(crate) const KS: [usize; 14] = [1, 2, 3, 4, 6, 7, 8, 12, 16, 31, 32, 33, 64, 65];

/// Y = A·X.
pub(crate) fn spmm_case<S: Scalar>(shape: &Shape, values: Values, k: usize) -> (Subject<S>, Inputs<S>) {
    let coo = fill::<S>(shape, values);
    let a = Arc::new(Csr::from_coo(&coo, Duplicates::Keep));
    let x = Arc::new(dense::<S>(shape.cols, k, 0, values, k as u64));
    (Subject { a, triplets: Some(Arc::new(coo)), k }, Inputs::product(x))
}

/// α and β that take every path: 0, 1, and neither.
pub(crate) const SCALINGS: [(f64, f64); 4] = [(1.0, 0.0), (-2.0, 1.0), (3.0, -1.0), (0.0, 2.0)];

/// αAX + βY of integers, with NaN between the rows of X and Y; X is nothing but NaN where it may not be read.
pub(crate) fn with_gaps<S: Scalar>(shape: &Shape, k: usize, (alpha, beta): (f64, f64)) -> Inputs<S> {
    let mut x = dense::<S>(shape.cols, k, 3, Values::Integers, 1);
    if alpha == 0.0 {
        x.data_mut().fill(S::POISON);
    }
    let x = Arc::new(x);
    let y = Arc::new(dense::<S>(shape.rows, k, 2, Values::Integers, 2));
    Inputs { x, alpha: S::from_f64(alpha), beta: S::from_f64(beta), y: Some(y) }
}

/// Twice exactly what the oracle says, and the NaN between the rows of Y untouched.
pub(crate) fn assert_exact<S: Scalar>(
    ready: &mut dyn Product<S>,
    subject: &Subject<S>,
    inputs: &Inputs<S>,
    what: &str,
) {
    let (rows, k) = (subject.a.rows(), subject.k);
    let distance = inputs.y.as_ref().map_or(k, |y| y.view().leading_dimension());
    let expected = Spmm::oracle(subject, inputs, Extent::Whole, &Interrupt::default()).unwrap().expected;
    ready.load(inputs).unwrap();
    for run in 0..2 {
        ready.reset().unwrap();
        ready.run().unwrap_or_else(|error| panic!("{what}, run {run}: {error}"));
        let found = ready.fetch().unwrap();
        for row in 0..rows {
            let got: Vec<f64> = found.view().row(row).iter().map(|y| y.to_f64()).collect();
            let expected = &expected[row * k..(row + 1) * k];
            // NaN for NaN: where operands hold some, it is the answer.
            let same = got.iter().zip(expected).all(|(a, b)| a == b || a.is_nan() && b.is_nan());
            assert!(same, "{what}, run {run}, row {row}: {got:?} instead of {expected:?}");
        }
        let gaps = found.data().chunks(distance).flat_map(|row| &row[k..]);
        assert!(gaps.clone().all(|gap| gap.to_f64().is_nan()), "{what}, run {run}: a gap was written");
        assert_eq!(gaps.count(), (distance - k) * rows);
    }
}

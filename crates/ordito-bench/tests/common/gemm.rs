//! Operands of gemm on both sides of every edge that tiles, panels and vectors have.

use crate::common::{Values, dense};
use ordito::Scalar;
use ordito::gemm::{Gemm, Inputs, Product, Shape};
use ordito::machine::Interrupt;
use ordito::op::{Extent, Op};
use std::sync::Arc;

/// Sides on both sides of what kernels are cut into.
pub(crate) const EDGES: [usize; 12] = [0, 1, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129];

/// Every N×M×P of these sides.
pub(crate) fn all_shapes(sides: &[usize]) -> impl Iterator<Item = Shape> + '_ {
    let all = move |n: usize| {
        sides.iter().flat_map(move |&m| sides.iter().map(move |&p| Shape { m: n, k: m, n: p }))
    };
    sides.iter().flat_map(move |&n| all(n))
}

/// C = C + A·B.
pub(crate) fn gemm_case<S: Scalar>(shape: Shape) -> Inputs<S> {
    let Shape { m: n, k: m, n: p } = shape;
    let random = |rows, cols, seed| Arc::new(dense::<S>(rows, cols, 0, Values::Reals, seed));
    Inputs::sum(random(n, m, 1), random(m, p, 2), random(n, p, 3))
}

/// Every α with every β: what multiplies, what only scales, and what reads nothing.
pub(crate) fn scalings() -> impl Iterator<Item = (f64, f64)> {
    [1.0, -0.5, 0.0].into_iter().flat_map(|alpha| [0.0, 1.0, 2.5].map(|beta| (alpha, beta)))
}

/// αAB + βC of integers, with NaN between the rows of all three, and for all of what BLAS does not read: A and B where
/// α is 0, C where β is 0.
pub(crate) fn with_gaps<S: Scalar>(shape: Shape, (alpha, beta): (f64, f64)) -> Inputs<S> {
    let Shape { m: n, k: m, n: p } = shape;
    let integers = |rows, cols, gap, seed, is_read: bool| {
        let mut integers = dense::<S>(rows, cols, gap, Values::Integers, seed);
        if !is_read {
            integers.data_mut().fill(S::POISON);
        }
        Arc::new(integers)
    };
    Inputs {
        a: integers(n, m, 3, 1, alpha != 0.0),
        b: integers(m, p, 5, 2, alpha != 0.0),
        alpha: S::from_f64(alpha),
        beta: S::from_f64(beta),
        c: Some(integers(n, p, 2, 3, beta != 0.0)),
    }
}

/// Exactly what the oracle says, twice as the workbench runs it and once as the library is called, and the NaN between
/// the rows of C with every bit it had.
pub(crate) fn assert_exact<S: Scalar>(
    ready: &mut dyn Product<S>,
    shape: Shape,
    inputs: &Inputs<S>,
    what: &str,
) {
    let expected = Gemm::oracle(&shape, inputs, Extent::Whole, &Interrupt::default()).unwrap().expected;
    let before = inputs.c.as_ref().unwrap();
    let distance = before.leading_dimension();
    let gaps = |data: &[S]| -> Vec<u64> {
        let gaps = data.chunks(distance.max(1)).flat_map(|row| &row[shape.n..]);
        gaps.map(|gap| gap.to_f64().to_bits()).collect()
    };
    ready.load(inputs).unwrap();
    for run in 0..3 {
        let found = if run < 2 {
            ready.reset().unwrap();
            ready.run().unwrap_or_else(|error| panic!("{what}, run {run}: {error}"));
            ready.fetch().unwrap()
        } else {
            let mut c = before.as_ref().clone();
            let (a, b) = (inputs.a.view(), inputs.b.view());
            ready.apply(inputs.alpha, a, b, inputs.beta, c.view_mut()).unwrap();
            c
        };
        for row in 0..shape.m {
            let got: Vec<f64> = found.view().row(row).iter().map(|c| c.to_f64()).collect();
            assert_eq!(got, expected[row * shape.n..(row + 1) * shape.n], "{what}, run {run}, row {row}");
        }
        assert_eq!(gaps(found.data()), gaps(before.data()), "{what}, run {run}: a gap was written");
    }
}

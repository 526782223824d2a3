//! What the harness of host and device knows of the product: A and B are read, C written.

use crate::Scalar;
use crate::gemm::product::{Gemm, Inputs, Shape};
use crate::matrix::Dense;
use crate::op::operands::{DenseOp, Operands, Shapes};

impl<S: Scalar> DenseOp<2> for Gemm<S> {
    type Read = S;
    type Written = S;
    /// α and β.
    type Factors = (S, S);
    const READ_NAMES: [&'static str; 2] = ["A", "B"];
    const WRITTEN_NAME: &'static str = "C";

    fn adds((_, beta): (S, S)) -> bool {
        beta != S::ZERO
    }
    fn operands(inputs: &Inputs<S>) -> Operands<'_, Self, 2> {
        let Inputs { a, b, alpha, beta, c } = inputs;
        Operands { factors: (*alpha, *beta), read: [a, b], before: c.as_deref() }
    }
    fn output(_: &Shapes<2>, c: Dense<S>) -> Dense<S> {
        c
    }
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    fn matrix_of(c: &mut Dense<S>) -> Option<&mut Dense<S>> {
        Some(c)
    }
}

/// Of A, B and C.
pub(crate) fn shapes(Shape { m, k, n }: Shape) -> Shapes<2> {
    Shapes { read: [(m, k), (k, n)], written: (m, n) }
}

//! What the harness of host and device knows of the product: X is read, Y written.

use crate::Scalar;
use crate::matrix::Dense;
use crate::op::operands::{DenseOp, Operands, Shapes};
use crate::spmm::product::{Inputs, Spmm};

impl<S: Scalar> DenseOp<1> for Spmm<S> {
    type Read = S;
    type Written = S;
    /// α and β.
    type Factors = (S, S);
    const READ_NAMES: [&'static str; 1] = ["X"];
    const WRITTEN_NAME: &'static str = "Y";

    fn adds((_, beta): (S, S)) -> bool {
        beta != S::ZERO
    }
    fn operands(inputs: &Inputs<S>) -> Operands<'_, Self, 1> {
        let Inputs { x, alpha, beta, y } = inputs;
        Operands { factors: (*alpha, *beta), read: [x], before: y.as_deref() }
    }
    fn output(_: &Shapes<1>, y: Dense<S>) -> Dense<S> {
        y
    }
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    fn matrix_of(y: &mut Dense<S>) -> Option<&mut Dense<S>> {
        Some(y)
    }
}

/// Of X and Y, for a matrix of shape `a` and `k` columns of X.
pub(crate) fn shapes(a: (usize, usize), k: usize) -> Shapes<1> {
    Shapes { read: [(a.1, k)], written: (a.0, k) }
}

//! What the harness of host and device knows of it: X and C are read, Y written.

use crate::Scalar;
use crate::matrix::Dense;
use crate::op::operands::{DenseOp, Operands, Shapes};
use crate::tall_skinny::combine::contract::{Combine, Inputs, Shape};

impl<S: Scalar> DenseOp<2> for Combine<S> {
    type Read = S;
    type Written = S;
    type Factors = ();
    const READ_NAMES: [&'static str; 2] = ["X", "C"];
    const WRITTEN_NAME: &'static str = "Y";

    fn adds(_: ()) -> bool {
        false
    }
    fn operands(inputs: &Inputs<S>) -> Operands<'_, Self, 2> {
        Operands { factors: (), read: [&inputs.x, &inputs.c], before: None }
    }
    fn output(_: &Shapes<2>, y: Dense<S>) -> Dense<S> {
        y
    }
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    fn matrix_of(y: &mut Dense<S>) -> Option<&mut Dense<S>> {
        Some(y)
    }
}

/// Of X, C and Y.
pub(crate) fn shapes(Shape { rows, x_cols, y_cols }: Shape) -> Shapes<2> {
    Shapes { read: [(rows, x_cols), (x_cols, y_cols)], written: (rows, y_cols) }
}

//! What the harness of host and device knows of it: X and Y are read, G written.

use crate::Scalar;
use crate::matrix::Dense;
use crate::op::operands::{DenseOp, Operands, Shapes};
use crate::tall_skinny::gram::contract::{Gram, Inputs, Shape};

impl<S: Scalar> DenseOp<2> for Gram<S> {
    type Read = S;
    type Written = f64;
    type Factors = ();
    const READ_NAMES: [&'static str; 2] = ["X", "Y"];
    const WRITTEN_NAME: &'static str = "G";

    fn adds(_: ()) -> bool {
        false
    }
    fn operands(inputs: &Inputs<S>) -> Operands<'_, Self, 2> {
        Operands { factors: (), read: [&inputs.x, &inputs.y], before: None }
    }
    fn output(_: &Shapes<2>, g: Dense<f64>) -> Dense<f64> {
        g
    }
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    fn matrix_of(g: &mut Dense<f64>) -> Option<&mut Dense<f64>> {
        Some(g)
    }
}

/// Of X, Y and G.
pub(crate) fn shapes(Shape { rows, x_cols, y_cols, .. }: Shape) -> Shapes<2> {
    Shapes { read: [(rows, x_cols), (rows, y_cols)], written: (x_cols, y_cols) }
}

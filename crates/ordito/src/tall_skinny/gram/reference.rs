//! The serial answer in f64, with Σ|x||y| beside the sum for the error bound.

use crate::Scalar;
use crate::machine::{Interrupt, Interrupted};
use crate::op::Reference;
use crate::precision::compiled_here;
use crate::tall_skinny::gram::contract::{Inputs, Shape};

/// XᵀY, all of it: it is small, and every row of X and Y is needed for each of its elements.
pub(crate) fn oracle<S: Scalar>(
    shape: Shape,
    inputs: &Inputs<S>,
    interrupt: &Interrupt,
) -> Result<Reference, Interrupted> {
    type Compute<S> = fn(Shape, &Inputs<S>, &Interrupt) -> Result<Reference, Interrupted>;
    compiled_here!(S, computed, Compute)(shape, inputs, interrupt)
}

fn computed<S: Scalar>(
    shape: Shape,
    inputs: &Inputs<S>,
    interrupt: &Interrupt,
) -> Result<Reference, Interrupted> {
    let Shape { rows, x_cols, y_cols, .. } = shape;
    let mut expected = vec![0.0; x_cols * y_cols];
    let mut magnitude = expected.clone();
    for row in interrupt.until_set(0..rows) {
        let (x, y) = (inputs.x.view().row(row), inputs.y.view().row(row));
        for (i, x) in x.iter().enumerate() {
            for (j, y) in y.iter().enumerate() {
                let product = x.to_f64() * y.to_f64();
                expected[i * y_cols + j] += product;
                magnitude[i * y_cols + j] += product.abs();
            }
        }
    }
    interrupt.check()?;
    Ok(Reference {
        rows: x_cols,
        cols: y_cols,
        expected,
        magnitude,
        // A product and an addition count once for each row, fused or not.
        terms: vec![rows as u64; x_cols],
        ..Reference::default()
    })
}

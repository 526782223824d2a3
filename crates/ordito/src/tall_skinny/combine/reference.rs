//! The serial answer in f64, with Σ|x||c| beside the sum for the error bound.

use crate::Scalar;
use crate::machine::{Interrupt, Interrupted};
use crate::op::{Extent, Projection, Reference};
use crate::precision::compiled_here;
use crate::tall_skinny::combine::contract::{Inputs, Shape};

/// XC in f64, in full or sampled.
pub(crate) fn oracle<S: Scalar>(
    shape: Shape,
    inputs: &Inputs<S>,
    extent: Extent,
    interrupt: &Interrupt,
) -> Result<Reference, Interrupted> {
    type Compute<S> = fn(Shape, &Inputs<S>, Extent, &Interrupt) -> Result<Reference, Interrupted>;
    compiled_here!(S, computed, Compute)(shape, inputs, extent, interrupt)
}

fn computed<S: Scalar>(
    shape: Shape,
    inputs: &Inputs<S>,
    extent: Extent,
    interrupt: &Interrupt,
) -> Result<Reference, Interrupted> {
    let Shape { rows, x_cols, y_cols: cols } = shape;
    let terms = x_cols as u64;
    let listed_rows = extent.listed_rows(rows);
    let listed = listed_rows.clone().unwrap_or_else(|| (0..rows).collect());
    let (mut expected, mut magnitude) = (vec![0.0; listed.len() * cols], vec![0.0; listed.len() * cols]);
    for (index, &row) in interrupt.until_set(listed.iter().enumerate()) {
        for (x, c) in inputs.x.view().row(row).iter().zip(0..) {
            for (col, c) in inputs.c.view().row(c).iter().enumerate() {
                let product = x.to_f64() * c.to_f64();
                expected[index * cols + col] += product;
                magnitude[index * cols + col] += product.abs();
            }
        }
    }
    let projection = match extent {
        Extent::Whole => None,
        Extent::Sampled { seed, .. } => Some(project(shape, inputs, seed, interrupt)),
    };
    interrupt.check()?;
    let terms = vec![terms; listed.len()];
    Ok(Reference { rows, cols, listed_rows, expected, magnitude, terms, projection, ..Reference::default() })
}

/// X(Cw).
fn project<S: Scalar>(shape: Shape, inputs: &Inputs<S>, seed: u64, interrupt: &Interrupt) -> Projection {
    let weights = Projection::weights(shape.y_cols, seed);
    let weigh = |row: usize| {
        let products = inputs.c.view().row(row).iter().zip(&weights).map(|(c, w)| c.to_f64() * w);
        products.fold((0.0, 0.0), |(sum, size), product| (sum + product, size + product.abs()))
    };
    let c: Vec<(f64, f64)> = (0..shape.x_cols).map(weigh).collect();
    let of_row = |row: usize| {
        let x = inputs.x.view().row(row).iter().zip(&c);
        x.fold((0.0, 0.0), |(sum, size), (x, (c, c_size))| {
            (sum + x.to_f64() * c, size + x.to_f64().abs() * c_size)
        })
    };
    let (expected, magnitude) = interrupt.until_set(0..shape.rows).map(of_row).unzip();
    Projection { weights, expected, magnitude, terms: vec![shape.x_cols as u64; shape.rows] }
}

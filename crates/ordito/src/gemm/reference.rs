//! The serial answer in f64: three loops, with Σ|a||b| beside the sum for the error bound.

use crate::Scalar;
use crate::gemm::product::{Inputs, Shape};
use crate::machine::{Interrupt, Interrupted};
use crate::op::{Extent, Projection, Reference};
use crate::precision::compiled_here;

/// αAB + βC in f64, in full or sampled.
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
    let Shape { m: rows, n: cols, .. } = shape;
    let listed_rows = extent.listed_rows(rows);
    let listed = listed_rows.clone().unwrap_or_else(|| (0..rows).collect());
    let mut expected = vec![0.0; listed.len() * cols];
    let mut magnitude = expected.clone();
    let answers = expected.chunks_exact_mut(cols.max(1)).zip(magnitude.chunks_exact_mut(cols.max(1)));
    for (&row, (expected, magnitude)) in interrupt.until_set(listed.iter().zip(answers)) {
        compute_row(inputs, row, expected, magnitude);
    }
    let terms = terms(shape, inputs);
    let projection = match extent {
        Extent::Whole => None,
        Extent::Sampled { seed, .. } => Some(project(shape, inputs, terms, seed, interrupt)),
    };
    interrupt.check()?;
    Ok(Reference {
        structure: Vec::new(),
        rows,
        cols,
        listed_rows,
        expected,
        magnitude,
        terms: vec![terms; listed.len()],
        amplification: inputs.alpha.to_f64().abs(),
        projection,
        nan_is_an_answer: false,
    })
}

/// Rounded operations behind an element: a product and an addition count once for each column of A, fused or not;
/// α and β where they do something.
fn terms<S: Scalar>(shape: Shape, inputs: &Inputs<S>) -> u64 {
    shape.k as u64 + u64::from(inputs.alpha != S::ONE) + 2 * u64::from(inputs.beta != S::ZERO)
}

/// Row `row` of A, of which BLAS reads nothing when α = 0.
fn row_of_a<S: Scalar>(inputs: &Inputs<S>, row: usize) -> &[S] {
    if inputs.alpha == S::ZERO { &[] } else { inputs.a.view().row(row) }
}

/// Row `row` of αAB + βC, and of |α||A||B| + |β||C|.
fn compute_row<S: Scalar>(inputs: &Inputs<S>, row: usize, expected: &mut [f64], magnitude: &mut [f64]) {
    for (k, a) in row_of_a(inputs, row).iter().enumerate() {
        let b = inputs.b.view().row(k);
        for ((sum, size), b) in expected.iter_mut().zip(&mut *magnitude).zip(b) {
            let product = a.to_f64() * b.to_f64();
            *sum += product;
            *size += product.abs();
        }
    }
    // Nothing was added up, so nothing is scaled, not even by an infinite α.
    let alpha = if inputs.a.cols() == 0 { 0.0 } else { inputs.alpha.to_f64() };
    let beta = inputs.beta.to_f64();
    let before = inputs.c.as_ref().filter(|_| beta != 0.0).map(|c| c.view().row(row));
    for (col, (sum, size)) in expected.iter_mut().zip(magnitude).enumerate() {
        *sum *= alpha;
        *size *= alpha.abs();
        if let Some(before) = before {
            let added = beta * before[col].to_f64();
            *sum += added;
            *size += added.abs();
        }
    }
}

/// αA(Bw) + βCw: two products with a single column.
fn project<S: Scalar>(
    shape: Shape,
    inputs: &Inputs<S>,
    terms: u64,
    seed: u64,
    interrupt: &Interrupt,
) -> Projection {
    let weights = Projection::weights(shape.n, seed);
    let weigh = |row: &[S]| {
        let products = row.iter().zip(&weights).map(|(x, w)| x.to_f64() * w);
        products.fold((0.0, 0.0), |(sum, magnitude), n| (sum + n, magnitude + n.abs()))
    };
    let b: Vec<(f64, f64)> =
        interrupt.until_set(0..shape.k).map(|row| weigh(inputs.b.view().row(row))).collect();
    let (alpha, beta) = (inputs.alpha.to_f64(), inputs.beta.to_f64());
    let before = inputs.c.as_ref().filter(|_| beta != 0.0);
    let project_row = |row: usize| {
        let a = row_of_a(inputs, row);
        let (mut sum, mut size) = (0.0, 0.0);
        for (a, (b, b_size)) in a.iter().zip(&b) {
            sum += alpha * a.to_f64() * b;
            size += (alpha * a.to_f64()).abs() * b_size;
        }
        if let Some(before) = before {
            let (added, added_size) = weigh(before.view().row(row));
            sum += beta * added;
            size += beta.abs() * added_size;
        }
        (sum, size)
    };
    let (expected, magnitude) = interrupt.until_set(0..shape.m).map(project_row).unzip();
    Projection { weights, expected, magnitude, terms: vec![terms; shape.m] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Dense;
    use std::sync::Arc;

    /// The answer, which nobody interrupts.
    fn oracle<S: Scalar>(shape: Shape, inputs: &Inputs<S>, extent: Extent) -> Reference {
        super::oracle(shape, inputs, extent, &Interrupt::default()).unwrap()
    }

    fn example() -> (Shape, Inputs<f64>) {
        let a = Arc::new(Dense::from_rows(2, 3, vec![1.0, -2.0, 0.0, 0.0, 3.0, 1.0]).unwrap());
        let b = Arc::new(Dense::from_rows(3, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, -6.0]).unwrap());
        let c = Arc::new(Dense::from_rows(2, 2, vec![1.0; 4]).unwrap());
        (Shape { m: 2, k: 3, n: 2 }, Inputs { a, b, alpha: 2.0, beta: -1.0, c: Some(c) })
    }

    #[test]
    fn small_product_by_hand() {
        let (shape, inputs) = example();
        let reference = oracle(shape, &inputs, Extent::Whole);
        assert_eq!(reference.expected, [-11.0, -13.0, 27.0, 11.0]);
        assert_eq!(reference.magnitude, [15.0, 21.0, 29.0, 37.0]);
        assert_eq!(reference.terms, [6, 6]);
    }

    #[test]
    fn projection_is_the_weighted_sum_of_the_whole() {
        let (shape, inputs) = example();
        let whole = oracle(shape, &inputs, Extent::Whole);
        let sampled = oracle(shape, &inputs, Extent::Sampled { rows: 1, seed: 3 });
        let listed = sampled.listed_rows.unwrap();
        assert_eq!(sampled.expected, whole.expected[listed[0] * 2..listed[0] * 2 + 2]);
        let projection = sampled.projection.unwrap();
        for row in 0..2 {
            let (y, size) = (&whole.expected[row * 2..][..2], &whole.magnitude[row * 2..][..2]);
            let weighted: f64 = projection.weights.iter().zip(y).map(|(w, y)| w * y).sum();
            let sizes: f64 = projection.weights.iter().zip(size).map(|(w, size)| w.abs() * size).sum();
            assert!((projection.expected[row] - weighted).abs() < 1e-12, "row {row}");
            assert!((projection.magnitude[row] - sizes).abs() < 1e-12, "row {row}");
        }
    }

    #[test]
    fn without_alpha_neither_a_nor_b_is_read() {
        let (shape, mut inputs) = example();
        inputs.alpha = 0.0;
        inputs.b = Arc::new(Dense::filled(3, 2, f64::NAN).unwrap());
        assert_eq!(oracle(shape, &inputs, Extent::Whole).expected, [-1.0; 4]);
    }

    #[test]
    fn empty_operands_have_answers() {
        let shape = Shape { m: 2, k: 0, n: 2 };
        let dense = |rows, cols, value| Arc::new(Dense::filled(rows, cols, value).unwrap());
        let inputs =
            Inputs { beta: 3.0, ..Inputs::sum(dense(2, 0, 0.0), dense(0, 2, 0.0), dense(2, 2, 2.0)) };
        assert_eq!(oracle(shape, &inputs, Extent::Whole).expected, [6.0; 4]);
        let shape = Shape { m: 2, k: 2, n: 0 };
        let inputs = Inputs::product(dense(2, 2, 1.0), dense(2, 0, 0.0));
        assert!(oracle(shape, &inputs, Extent::Whole).expected.is_empty());
    }
}

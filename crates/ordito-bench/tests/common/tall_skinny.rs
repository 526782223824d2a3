//! Tall and skinny blocks on both sides of every edge that panels, groups of columns and steps of rows have.

use crate::common::{Values, dense};
use ordito::Scalar;
use ordito::machine::Interrupt;
use ordito::op::{Extent, Op};
use ordito::tall_skinny::combine::{self, Combination, Combine};
use ordito::tall_skinny::gram::{self, Gram, InnerProducts, Sums};
use std::sync::Arc;

/// Rows, and columns of X and Y.
pub(crate) const SIZES: [(usize, usize, usize); 20] = [
    (0, 3, 2),
    (5, 0, 3),
    (5, 3, 0),
    (1, 1, 1),
    (2, 7, 8),
    (3, 8, 9),
    (4, 9, 1),
    (5, 1, 17),
    (15, 16, 7),
    (16, 24, 24),
    (17, 17, 33),
    (31, 32, 8),
    (32, 33, 32),
    (33, 50, 9),
    (63, 8, 50),
    (65, 24, 16),
    (129, 100, 70), // more columns than one launch reads and writes
    (700, 3, 5),
    (1023, 8, 8),
    (2500, 1, 2),
];

/// XᵀX, or XᵀY.
pub(crate) fn gram_shape((rows, x_cols, y_cols): (usize, usize, usize), symmetric: bool) -> gram::Shape {
    let y_cols = if symmetric { x_cols } else { y_cols };
    gram::Shape { rows, x_cols, y_cols, symmetric, sums: Sums::AsData }
}

/// With gaps of NaN between the rows.
pub(crate) fn gram_case<S: Scalar>(shape: gram::Shape, values: Values) -> gram::Inputs<S> {
    let gap = shape.rows % 3;
    let x = Arc::new(dense(shape.rows, shape.x_cols, gap, values, 1));
    let y =
        if shape.symmetric { x.clone() } else { Arc::new(dense(shape.rows, shape.y_cols, gap, values, 2)) };
    gram::Inputs { x, y }
}

pub(crate) fn combine_shape((rows, x_cols, y_cols): (usize, usize, usize)) -> combine::Shape {
    combine::Shape { rows, x_cols, y_cols }
}

/// With gaps of NaN between the rows.
pub(crate) fn combine_case<S: Scalar>(shape: combine::Shape, values: Values) -> combine::Inputs<S> {
    let x = dense(shape.rows, shape.x_cols, shape.rows % 3, values, 1);
    let c = dense(shape.x_cols, shape.y_cols, shape.rows % 2, values, 2);
    combine::Inputs { x: Arc::new(x), c: Arc::new(c) }
}

/// Whole numbers, twice as the workbench runs it and once as the library is called: exactly what the oracle says.
pub(crate) fn assert_exact_gram<S: Scalar>(ready: &mut dyn InnerProducts<S>, shape: gram::Shape, what: &str) {
    let inputs = gram_case::<S>(shape, Values::Integers);
    let expected = Gram::oracle(&shape, &inputs, Extent::Whole, &Interrupt::default()).unwrap().expected;
    ready.load(&inputs).unwrap();
    for run in 0..2 {
        ready.reset().unwrap();
        ready.run().unwrap_or_else(|error| panic!("{what}, run {run}: {error}"));
        assert_eq!(ready.fetch().unwrap().data(), expected, "{what}, run {run}");
    }
    assert_eq!(ready.apply(inputs.x.view(), inputs.y.view()).unwrap().data(), expected, "{what}, applied");
}

/// The same; gaps between the rows of Y keep every bit they had.
pub(crate) fn assert_exact_combine<S: Scalar>(
    ready: &mut dyn Combination<S>,
    shape: combine::Shape,
    what: &str,
) {
    let inputs = combine_case::<S>(shape, Values::Integers);
    let expected = Combine::oracle(&shape, &inputs, Extent::Whole, &Interrupt::default()).unwrap().expected;
    let numbers = |row: &[S]| row.iter().map(|y| y.to_f64()).collect::<Vec<f64>>();
    ready.load(&inputs).unwrap();
    for run in 0..2 {
        ready.reset().unwrap();
        ready.run().unwrap_or_else(|error| panic!("{what}, run {run}: {error}"));
        assert_eq!(numbers(ready.fetch().unwrap().data()), expected, "{what}, run {run}");
    }
    let mut y = dense::<S>(shape.rows, shape.y_cols, 1, Values::Integers, 3);
    ready.apply(inputs.x.view(), inputs.c.view(), y.view_mut()).unwrap();
    let found: Vec<f64> = (0..shape.rows).flat_map(|row| numbers(y.view().row(row))).collect();
    assert_eq!(found, expected, "{what}, applied");
    let gaps = y.data().chunks(shape.y_cols + 1).filter_map(|row| row.get(shape.y_cols));
    assert!(gaps.into_iter().all(|gap| gap.to_f64().is_nan()), "{what}: a gap was written");
}

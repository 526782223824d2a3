//! Matrices whose columns are reduced, on both sides of every edge that blocks, strips and trees have.

use crate::common::{Values, dense};
use ordito::Scalar;
use ordito::column_stats::{Columns, Reduction, Shape, Statistics};
use ordito::machine::Interrupt;
use ordito::matrix::Dense;
use ordito::op::{Extent, Op};
use std::sync::Arc;

/// Sides on both sides of what kernels are cut into.
pub(crate) const EDGES: [usize; 15] = [0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257, 358, 512, 1000];

/// Every R×C of these sides.
pub(crate) fn all_shapes(sides: &[usize]) -> impl Iterator<Item = Shape> + '_ {
    sides.iter().flat_map(move |&rows| sides.iter().map(move |&cols| Shape { rows, cols }))
}

/// Numbers between −1 and 1, in rows with gaps of NaN.
pub(crate) fn reals<S: Scalar>(shape: Shape) -> Arc<Dense<S>> {
    Arc::new(dense(shape.rows, shape.cols, shape.cols % 3, Values::Reals, shape.rows as u64))
}

/// Integers in rows with gaps of NaN: sums are exact, and so is a mean of 2ᵏ rows.
pub(crate) fn integers<S: Scalar>(shape: Shape) -> Arc<Dense<S>> {
    Arc::new(dense(shape.rows, shape.cols, 3, Values::Integers, shape.cols as u64))
}

/// An EEG with an offset of 30 mV, in µV: the spread is a few of the last digits of an f32.
pub(crate) fn with_offset<S: Scalar>(shape: Shape) -> Arc<Dense<S>> {
    let mut data = dense::<S>(shape.rows, shape.cols, 0, Values::Reals, 4);
    data.data_mut().iter_mut().for_each(|x| *x = S::from_f64(30_000.0 + x.to_f64()));
    Arc::new(data)
}

/// Integers, and every other column has something that is not finite: a NaN in some row, an infinity, or both kinds of infinity.
pub(crate) fn not_finite<S: Scalar>(shape: Shape) -> Arc<Dense<S>> {
    let mut data = dense::<S>(shape.rows, shape.cols, 0, Values::Integers, 5);
    for col in (0..shape.cols).step_by(2) {
        let at = |row: usize| row % shape.rows * shape.cols + col;
        let odd: &[f64] = match col / 2 % 4 {
            0 => &[f64::NAN],
            1 => &[f64::NEG_INFINITY],
            2 => &[f64::INFINITY, f64::NEG_INFINITY],
            _ => &[f64::NAN, f64::INFINITY],
        };
        for (i, &x) in odd.iter().enumerate() {
            data.data_mut()[at(7 * col + i)] = S::from_f64(x);
        }
    }
    Arc::new(data)
}

/// Twice as the workbench runs it and once as the library is called: the same bits, and what is exact is exact.
pub(crate) fn assert_exact<S: Scalar>(ready: &mut dyn Reduction<S>, data: &Arc<Dense<S>>, what: &str) {
    let shape = Shape { rows: data.rows(), cols: data.cols() };
    let expected = Columns::oracle(&shape, data, Extent::Whole, &Interrupt::default()).unwrap().expected;
    let expected: Vec<&[f64]> = (0..4).map(|row| &expected[row * shape.cols..][..shape.cols]).collect();
    ready.load(data).unwrap();
    let mut run = || {
        ready.reset().unwrap();
        ready.run().unwrap_or_else(|error| panic!("{what}: {error}"));
        ready.fetch().unwrap()
    };
    let (once, again) = (run(), run());
    let applied = ready.apply(data.view()).unwrap();
    let all =
        |found: &Statistics| [&found.mean, &found.variance, &found.min, &found.max].map(|row| bits(row));
    for found in [&again, &applied] {
        assert_eq!(all(found), all(&once), "{what}: not the same bits");
    }
    assert_eq!(once.count, shape.rows as u64, "{what}");
    let missing = |row: &[f64]| row.iter().map(|x| x.is_nan()).collect::<Vec<_>>();
    assert_eq!(missing(&once.mean), missing(expected[0]), "{what}");
    if shape.rows.is_power_of_two() {
        assert_eq!(bits(&once.mean), bits(expected[0]), "{what}");
    }
    if !once.min.is_empty() {
        assert_eq!(missing(&once.variance), missing(expected[1]), "{what}");
        assert_eq!((bits(&once.min), bits(&once.max)), (bits(expected[2]), bits(expected[3])), "{what}");
    }
}

/// A NaN is one like the other, and so is a 0.
fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| if x.is_nan() { u64::MAX } else { (x + 0.0).to_bits() }).collect()
}

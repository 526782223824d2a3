//! What the harness of host and device knows of the reduction: a matrix is read, and a row written for each statistic.

use crate::Scalar;
use crate::column_stats::reduction::{Columns, Shape};
use crate::column_stats::statistics::Statistics;
use crate::matrix::Dense;
use crate::op::operands::{DenseOp, Operands, Shapes};
use std::sync::Arc;

impl<S: Scalar> DenseOp<1> for Columns<S> {
    type Read = S;
    type Written = f64;
    type Factors = ();
    const READ_NAMES: [&'static str; 1] = ["the matrix"];
    const WRITTEN_NAME: &'static str = "the matrix of statistics";

    fn adds(_: ()) -> bool {
        false
    }
    fn operands(data: &Arc<Dense<S>>) -> Operands<'_, Self, 1> {
        Operands { factors: (), read: [data], before: None }
    }
    fn output(shapes: &Shapes<1>, results: Dense<f64>) -> Statistics {
        statistics_of(shapes.read[0].0, &results)
    }
}

/// Of the matrix and of `statistics` rows of results.
pub(crate) fn shapes(Shape { rows, cols }: Shape, statistics: usize) -> Shapes<1> {
    Shapes { read: [(rows, cols)], written: (statistics, cols) }
}

/// Out of a matrix with a row for each statistic, without gaps, of so many rows of data.
pub(crate) fn statistics_of(count: usize, results: &Dense<f64>) -> Statistics {
    Statistics::from_rows(count as u64, results.data(), results.rows())
}

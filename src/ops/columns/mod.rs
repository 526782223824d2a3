//! Count, mean, variance, least and greatest element of every column of a row-major matrix with a leading dimension, in f64
//! whatever the precision of the data.
//!
//! All variants add up differences from the column's first element, in f64: an offset that is large beside the spread of a
//! column then costs no digits of its variance. A NaN in a column makes its mean, variance, least and greatest element NaN.
//! The mean of no rows and the variance of one are NaN.

mod choose;
mod dense_cuda_column;
mod dense_cuda_strips;
mod dense_cuda_tree;
mod dense_serial_blocks;
mod dense_threads_blocks;
mod device;
mod host;
mod oracle;
mod plan;
mod row_blocks;
mod statistics;

pub use plan::{Plan, columns};
pub use statistics::Statistics;

use super::{Choice, Cost, Extent, Op, Prepared, Reference, RunError, Variant, of_precision};
use crate::Scalar;
use crate::io::{WriteError, write_npy};
use crate::machine::Machine;
use crate::matrix::{Dense, DenseView};
use dense_cuda_column::{IN_MEMORY, IN_REGISTER};
use dense_cuda_strips::STRIPS;
use dense_cuda_tree::{INTERLEAVED, SEQUENTIAL};
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

/// The operation, on data of one precision.
#[derive(Debug)]
pub struct Columns<S>(PhantomData<S>);

/// Size of the matrix: all that preparing may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows: what is added up.
    pub rows: usize,
    /// Columns, each with statistics of its own.
    pub cols: usize,
}

impl Shape {
    /// Elements; as many as 64 bits can say where there are more.
    pub fn elements(self) -> u64 {
        (self.rows as u64).saturating_mul(self.cols as u64)
    }
}

/// `358x5248`: what the command line takes.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.cols)
    }
}

/// A prepared reduction: what the workbench runs, and what the library calls on memory of the user.
pub trait Reduction<S: Scalar>: Prepared<Columns<S>> {
    /// The statistics of `data`; gaps between rows are never read.
    fn apply(&mut self, data: DenseView<'_, S>) -> Result<Statistics, RunError>;
}

/// Statistics that a variant computes: mean, variance, least and greatest element, each a row of its results; the first
/// rungs of the ladder compute the mean only.
const ALL_STATISTICS: usize = 4;
const MEAN_ONLY: usize = 1;

/// Every way to do it.
fn list<S: Scalar>() -> &'static [&'static dyn Variant<Columns<S>>] {
    &[
        &dense_serial_blocks::DenseSerialBlocks,
        &dense_threads_blocks::DenseThreadsBlocks,
        &IN_MEMORY,
        &IN_REGISTER,
        &INTERLEAVED,
        &SEQUENTIAL[0],
        &SEQUENTIAL[1],
        &SEQUENTIAL[2],
        &SEQUENTIAL[3],
        &STRIPS[0],
        &STRIPS[1],
        &STRIPS[2],
    ]
}

#[inline(never)] // see `of_precision`
fn in_f32() -> &'static [&'static dyn Variant<Columns<f32>>] {
    list()
}

#[inline(never)]
fn in_f64() -> &'static [&'static dyn Variant<Columns<f64>>] {
    list()
}

impl<S: Scalar> Op for Columns<S> {
    const NAME: &'static str = "columns";
    const ABOUT: &'static str = "mean, variance, least and greatest element of every column";
    type Subject = Shape;
    /// The matrix.
    type Inputs = Arc<Dense<S>>;
    type Output = Statistics;
    type Ready = dyn Reduction<S>;

    fn variants() -> &'static [&'static dyn Variant<Self>] {
        of_precision(&in_f32(), &in_f64())
    }

    fn choose(machine: &Machine, shape: &Shape) -> Choice {
        choose::choose::<S>(machine, *shape)
    }

    fn cost(shape: &Shape) -> Cost {
        let results = (shape.cols as u64).saturating_mul((ALL_STATISTICS * size_of::<f64>()) as u64);
        let elements = shape.elements();
        Cost {
            // Moving data, not computing with them, is the work.
            flops: 0,
            least_bytes: elements.saturating_mul(size_of::<S>() as u64).saturating_add(results),
            // Two passes over what has been made in one: never too long, and never sampled.
            oracle_steps: 0,
            oracle_row_steps: 0,
            oracle_bytes: 0,
            oracle_row_bytes: 0,
        }
    }

    fn oracle(_: &Shape, data: &Arc<Dense<S>>, _: Extent) -> Reference {
        oracle::oracle(data.view())
    }

    fn save(_: &Shape, data: &Arc<Dense<S>>, found: &Statistics, folder: &Path) -> Result<(), WriteError> {
        write_npy(data.view(), &folder.join("data.npy"))?;
        for (name, values) in found.named() {
            let view = DenseView::new(values, values.len().min(1), values.len(), values.len());
            if let Ok(view) = view {
                write_npy(view, &folder.join(format!("{name}_found.npy")))?;
            }
        }
        Ok(())
    }
}

/// Is the matrix of this shape?
fn check_shape<S: Scalar>(shape: Shape, data: &DenseView<'_, S>) -> Result<(), RunError> {
    let found = Shape { rows: data.rows(), cols: data.cols() };
    if found == shape {
        return Ok(());
    }
    let text = |shape: Shape| format!("{}×{}", shape.rows, shape.cols);
    Err(RunError::Shape { what: "the matrix", found: text(found), expected: text(shape) })
}

//! What is computed: the operation, its shape, a prepared reduction.

use crate::Scalar;
use crate::column_stats::statistics::Statistics;
use crate::device::{DeviceView, DeviceViewMut};
use crate::matrix::DenseView;
use crate::op::{Prepared, RunError};
use crate::refusal::Refusal;
use std::fmt;
use std::marker::PhantomData;

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

    /// Reduces a matrix that lies on the device, into a matrix there: rows of means, variances, least and greatest
    /// elements. Only enqueues.
    fn apply_on_device(
        &mut self,
        _data: DeviceView<'_, S>,
        _results: DeviceViewMut<'_, f64>,
    ) -> Result<(), RunError> {
        Err(Refusal::NoDevice.into())
    }
}

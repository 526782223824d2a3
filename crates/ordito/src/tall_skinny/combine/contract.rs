//! What is computed, of what, and what a prepared one can do.

use crate::Scalar;
use crate::device::{DeviceView, DeviceViewMut};
use crate::matrix::{Dense, DenseView, DenseViewMut};
use crate::op::{Prepared, RunError};
use crate::refusal::Refusal;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// The operation, in one precision.
#[derive(Debug)]
pub struct Combine<S>(PhantomData<S>);

/// Sizes of the operands: all that preparing may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows of X and Y.
    pub rows: usize,
    /// Columns of X, rows of C: the terms of every sum.
    pub x_cols: usize,
    /// Columns of C and Y.
    pub y_cols: usize,
}

impl Shape {
    /// Multiply-adds; as many as 64 bits can say where there are more.
    pub fn multiply_adds(self) -> u64 {
        (self.rows as u64).saturating_mul(self.x_cols as u64).saturating_mul(self.y_cols as u64)
    }
}

/// `100000x24x16`: what the command line takes.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.rows, self.x_cols, self.y_cols)
    }
}

/// What a run reads.
#[derive(Debug, Clone)]
pub struct Inputs<S> {
    /// X.
    pub x: Arc<Dense<S>>,
    /// C, in the precision of the data.
    pub c: Arc<Dense<S>>,
}

/// Prepared: what the workbench runs, and what the library calls on memory of the user.
pub trait Combination<S: Scalar>: Prepared<Combine<S>> {
    /// Y = XC; gaps between rows are never touched.
    fn apply(
        &mut self,
        x: DenseView<'_, S>,
        c: DenseView<'_, S>,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError>;

    /// The same on operands that lie on the device. Only enqueues.
    fn apply_on_device(
        &mut self,
        _x: DeviceView<'_, S>,
        _c: DeviceView<'_, S>,
        _y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        Err(Refusal::NoDevice.into())
    }
}

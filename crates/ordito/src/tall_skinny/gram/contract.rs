//! What is computed, of what, and what a prepared one can do.

use crate::Scalar;
use crate::device::{DeviceView, DeviceViewMut};
use crate::matrix::{Dense, DenseView};
use crate::op::{Prepared, RunError};
use crate::refusal::Refusal;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// The operation, on data of one precision.
#[derive(Debug)]
pub struct Gram<S>(PhantomData<S>);

/// Sizes of the operands: all that preparing may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows of X and Y: the terms of every sum.
    pub rows: usize,
    /// Columns of X, rows of G.
    pub x_cols: usize,
    /// Columns of Y and of G.
    pub y_cols: usize,
    /// Is Y the same matrix as X?
    pub symmetric: bool,
    /// How sums of f32 are added up.
    pub sums: Sums,
}

impl Shape {
    pub(crate) fn kind(self) -> Kind {
        if self.symmetric { Kind::Symmetric } else { Kind::General }
    }
    /// Multiply-adds; as many as 64 bits can say where there are more.
    pub fn multiply_adds(self) -> u64 {
        (self.rows as u64).saturating_mul(self.x_cols as u64).saturating_mul(self.y_cols as u64)
    }
}

/// `100000x8`, or `100000x8x16` where X and Y differ: what the command line takes.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { rows, x_cols, y_cols, .. } = *self;
        if self.symmetric { write!(f, "{rows}x{x_cols}") } else { write!(f, "{rows}x{x_cols}x{y_cols}") }
    }
}

/// How sums of f32 are added up. Data in f64 know only one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Sums {
    /// Short runs of rows in the precision of the data, these in f64.
    #[default]
    AsData,
    /// Every product and every sum in f64: columns that are nearly dependent can be told apart better.
    F64,
}

/// Is Y the same matrix as X?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    General,
    Symmetric,
}

/// What a run reads.
#[derive(Debug, Clone)]
pub struct Inputs<S> {
    /// X.
    pub x: Arc<Dense<S>>,
    /// Y; the same as X where the shape is symmetric.
    pub y: Arc<Dense<S>>,
}

/// Prepared: what the workbench runs, and what the library calls on memory of the user.
pub trait InnerProducts<S: Scalar>: Prepared<Gram<S>> {
    /// G = XᵀY; gaps between rows are never touched.
    fn apply(&mut self, x: DenseView<'_, S>, y: DenseView<'_, S>) -> Result<Dense<f64>, RunError>;

    /// The same on operands that lie on the device. Only enqueues.
    fn apply_on_device(
        &mut self,
        _x: DeviceView<'_, S>,
        _y: DeviceView<'_, S>,
        _g: DeviceViewMut<'_, f64>,
    ) -> Result<(), RunError> {
        Err(Refusal::NoDevice.into())
    }
}

//! C = αAB + βC: A dense m×k, B dense k×n, C dense m×n, all row-major with leading dimensions.

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
pub struct Gemm<S>(PhantomData<S>);

/// Sizes of the operands: all that preparing may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of A, rows of B: the terms of every sum.
    pub k: usize,
    /// Columns of B and C.
    pub n: usize,
}

impl Shape {
    /// A square product.
    pub fn square(m: usize) -> Self {
        Shape { m, k: m, n: m }
    }
    /// Multiply-adds; as many as 64 bits can say where there are more.
    pub fn multiply_adds(self) -> u64 {
        (self.m as u64).saturating_mul(self.k as u64).saturating_mul(self.n as u64)
    }
}

/// `1000`, or `1000x777x1234` where the sides differ: what the command line takes.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { m, k, n } = *self;
        if m == k && k == n { write!(f, "{m}") } else { write!(f, "{m}x{k}x{n}") }
    }
}

/// What a run reads.
#[derive(Debug, Clone)]
pub struct Inputs<S> {
    /// A.
    pub a: Arc<Dense<S>>,
    /// B.
    pub b: Arc<Dense<S>>,
    /// α.
    pub alpha: S,
    /// β; with 0, C is not read.
    pub beta: S,
    /// C before the run, where β is not 0. Its leading dimension is that of the result.
    pub c: Option<Arc<Dense<S>>>,
}

impl<S: Scalar> Inputs<S> {
    /// C = A·B.
    pub fn product(a: Arc<Dense<S>>, b: Arc<Dense<S>>) -> Self {
        Inputs { a, b, alpha: S::ONE, beta: S::ZERO, c: None }
    }
    /// C = C + A·B.
    pub fn sum(a: Arc<Dense<S>>, b: Arc<Dense<S>>, c: Arc<Dense<S>>) -> Self {
        Inputs { a, b, alpha: S::ONE, beta: S::ONE, c: Some(c) }
    }
}

/// A prepared product: what the workbench runs, and what the library calls on memory of the user.
pub trait Product<S: Scalar>: Prepared<Gemm<S>> {
    /// C = αAB + βC. With β = 0, C is not read; gaps between rows are never touched.
    fn apply(
        &mut self,
        alpha: S,
        a: DenseView<'_, S>,
        b: DenseView<'_, S>,
        beta: S,
        c: DenseViewMut<'_, S>,
    ) -> Result<(), RunError>;

    /// C = αAB + βC on operands that lie on the device. Only enqueues.
    fn apply_on_device(
        &mut self,
        _alpha: S,
        _a: DeviceView<'_, S>,
        _b: DeviceView<'_, S>,
        _beta: S,
        _c: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        Err(Refusal::NoDevice.into())
    }
}

/// Do A, B and C have this shape?
pub(crate) fn check_shapes<S: Scalar>(
    shape: Shape,
    a: &DenseView<'_, S>,
    b: &DenseView<'_, S>,
    c: (usize, usize),
) -> Result<(), RunError> {
    let Shape { m, k, n } = shape;
    let text = |(rows, cols)| format!("{rows}×{cols}");
    let operands =
        [("A", (a.rows(), a.cols()), (m, k)), ("B", (b.rows(), b.cols()), (k, n)), ("C", c, (m, n))];
    for (what, found, expected) in operands {
        if found != expected {
            return Err(RunError::Shape { what, found: text(found), expected: text(expected) });
        }
    }
    Ok(())
}

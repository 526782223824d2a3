//! Y = αAX + βY: A sparse M×N, X dense N×K and Y dense M×K, both row-major with leading dimensions.

use crate::Scalar;
use crate::device::{DeviceView, DeviceViewMut};
use crate::matrix::{Coo, Csr, Dense, DenseView, DenseViewMut};
use crate::op::{Prepared, RunError, check_shape};
use crate::refusal::Refusal;
use std::marker::PhantomData;
use std::sync::Arc;

/// The operation, in one precision.
#[derive(Debug)]
pub struct Spmm<S>(PhantomData<S>);

/// The sparse matrix and the number of columns of X: all that preparing may depend on.
#[derive(Debug, Clone)]
pub struct Subject<S> {
    /// A.
    pub a: Arc<Csr<S>>,
    /// A as it was read, where it was: the oracle walks these triplets, so that a wrong conversion to CSR
    /// cannot hide.
    pub triplets: Option<Arc<Coo<S>>>,
    /// Columns of X and Y.
    pub k: usize,
}

/// What a run reads beside A.
#[derive(Debug, Clone)]
pub struct Inputs<S> {
    /// X.
    pub x: Arc<Dense<S>>,
    /// α; with 0, neither A nor X is read.
    pub alpha: S,
    /// β; with 0, Y is not read.
    pub beta: S,
    /// Y before the run, where β is not 0. Its leading dimension is that of the result.
    pub y: Option<Arc<Dense<S>>>,
}

impl<S: Scalar> Inputs<S> {
    /// Y = A·X.
    pub fn product(x: Arc<Dense<S>>) -> Self {
        Inputs { x, alpha: S::ONE, beta: S::ZERO, y: None }
    }
}

/// A prepared product: what the workbench runs, and what the library calls on memory of the user.
pub trait Product<S: Scalar>: Prepared<Spmm<S>> {
    /// Y = αAX + βY. With α = 0 neither A nor X is read, with β = 0 not Y; gaps between rows are never touched.
    fn apply(
        &mut self,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError>;

    /// Why another variant would do as well, where preparing has found that out: `auto` then takes that one.
    fn does_not_pay(&self) -> Option<&str> {
        None
    }

    /// Told where operands on the device lie, and α, before [`apply_on_device`](Self::apply_on_device) gets them.
    fn get_ready(&mut self, _alpha: S, _x: DeviceView<'_, S>, _y: DeviceView<'_, S>) -> Result<(), RunError> {
        Ok(())
    }

    /// Y = αAX + βY on operands that lie on the device. Only enqueues.
    fn apply_on_device(
        &mut self,
        _alpha: S,
        _x: DeviceView<'_, S>,
        _beta: S,
        _y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        Err(Refusal::NoDevice.into())
    }
}

/// Do X and Y fit A?
pub(crate) fn check_shapes<S: Scalar>(
    a: (usize, usize),
    k: usize,
    x: &DenseView<'_, S>,
    y: (usize, usize),
) -> Result<(), RunError> {
    check_shape("X", (x.rows(), x.cols()), (a.1, k))?;
    check_shape("Y", y, (a.0, k))
}

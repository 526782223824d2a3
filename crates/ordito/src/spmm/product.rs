//! Y = αAX + βY: A sparse M×N, X dense N×K and Y dense M×K, both row-major with leading dimensions.

use crate::Scalar;
use crate::device::{DeviceView, DeviceViewMut};
use crate::machine::Machine;
use crate::matrix::{BlockView, BlockViewMut, Coo, Csr, CsrSlices, Dense, DenseView, DenseViewMut};
use crate::op::{Prepared, RunError, check_shape};
use crate::refusal::Refusal;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

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

    /// As the library's plan keeps it.
    fn into_shared(self: Box<Self>) -> Shared<S>;

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

/// A product on the CPU: as many callers as there are multiply at once.
pub(crate) trait HostProduct<S: Scalar>: Send + Sync {
    /// As [`Product::apply`].
    fn multiply(
        &self,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError>;
    /// The same with X and Y in either order; `a` is the matrix that it was prepared for.
    fn multiply_blocks(
        &self,
        machine: &Machine,
        a: CsrSlices<'_, S>,
        factors: (S, S),
        x: BlockView<'_, S>,
        y: BlockViewMut<'_, S>,
    ) -> Result<(), RunError>;
    /// For the columns of `subject`, whose matrix is the same, with A as it lies prepared here; `None` where it would lie
    /// otherwise.
    fn for_columns(&self, subject: &Subject<S>) -> Option<Box<dyn HostProduct<S>>>;
    /// Takes the numbers of a matrix of the same pattern; `false` where it has to be prepared again, and is of no use any more.
    /// Nobody else may have what [`for_columns`](Self::for_columns) shares.
    fn set_values(&mut self, a: &Arc<Csr<S>>) -> bool;
    /// As [`Product::does_not_pay`].
    fn does_not_pay(&self) -> Option<&str>;
    /// Bytes that preparing has made of A; 0 where A is used as it is.
    fn bytes(&self) -> u64;
}

/// A prepared product as the library's plan keeps it: any thread may ask for it.
#[doc(hidden)]
#[expect(private_interfaces, reason = "what is inside stays in this crate")]
pub enum Shared<S: Scalar> {
    /// On the CPU.
    OnHost(Box<dyn HostProduct<S>>),
    /// A device has room for one X and one Y: callers wait for each other.
    OnDevice(Mutex<Box<dyn Product<S>>>),
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

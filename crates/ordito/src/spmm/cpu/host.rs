//! What every CPU variant shares: a kernel over views, made into a [`Product`] that owns its operands.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{BlockView, BlockViewMut, Csr, CsrSlices, DenseView, DenseViewMut};
use crate::op::RunError;
use crate::op::on_host::{self, HostOp};
use crate::spmm::cpu::panels::{self, InParts, Panels};
use crate::spmm::operands::shapes;
use crate::spmm::product::{HostProduct, Product, Shared, Spmm, Subject};
use std::sync::{Arc, Mutex, OnceLock, TryLockError};

/// The heart of a CPU variant: many threads may use it at once. Shapes have been checked.
pub(crate) trait HostKernel<S: Scalar>: Send + Sync {
    /// Rearranges X into `room`; `false` where the kernel reads X as it is.
    fn repack(&self, _x: DenseView<'_, S>, _room: &mut Vec<S>) -> bool {
        false
    }
    /// Y = αAX + βY, α not being 0 and `repacked` being what [`repack`](Self::repack) has made of X.
    fn multiply(&self, alpha: S, x: DenseView<'_, S>, repacked: &[S], beta: S, y: DenseViewMut<'_, S>);
    /// See [`Product::does_not_pay`].
    fn does_not_pay(&self) -> Option<&str> {
        None
    }
    /// For another number of columns, with A as it lies prepared here: nothing is converted. `None` where it would lie otherwise.
    fn for_columns(&self, _subject: &Subject<S>) -> Option<Box<dyn HostKernel<S>>> {
        None
    }
    /// Takes the numbers of a matrix of the pattern that it was prepared for; `false` where it has to be prepared again, and is
    /// of no use any more. Nobody else may use what [`for_columns`](Self::for_columns) has shared.
    fn set_values(&mut self, _a: &Arc<Csr<S>>) -> bool {
        false
    }
    /// What preparing has made of A, in bytes; 0 where A is used as it is.
    fn bytes(&self) -> u64 {
        0
    }
    /// For X and Y column after column; `None` where rows do not stand together, or some are shared between threads.
    fn in_parts(&self) -> Option<&dyn InParts<S>> {
        None
    }
}

/// A kernel, and memory for what it makes of X.
pub(crate) struct WithRoom<S> {
    kernel: Box<dyn HostKernel<S>>,
    /// Kept between products. Whoever finds it taken has memory of his own for that time.
    room: Mutex<Vec<S>>,
    /// Known once X or Y have come column after column.
    panels: OnceLock<Panels>,
}

impl<S: Scalar> WithRoom<S> {
    fn new(kernel: Box<dyn HostKernel<S>>) -> Self {
        WithRoom { kernel, room: Mutex::new(Vec::new()), panels: OnceLock::new() }
    }

    fn with_room<R>(&self, use_it: impl FnOnce(&mut Vec<S>) -> R) -> R {
        match self.room.try_lock() {
            Ok(mut room) => use_it(&mut room),
            // Whoever panicked has left numbers there that nobody reads.
            Err(TryLockError::Poisoned(room)) => use_it(&mut room.into_inner()),
            Err(TryLockError::WouldBlock) => use_it(&mut Vec::new()),
        }
    }

    fn repack(&self, x: DenseView<'_, S>) -> bool {
        self.with_room(|room| self.kernel.repack(x, room))
    }

    fn run(&self, alpha: S, x: DenseView<'_, S>, beta: S, mut y: DenseViewMut<'_, S>) {
        if alpha == S::ZERO {
            return y.scale(beta); // by the rules of BLAS neither A nor X is read
        }
        self.with_room(|room| {
            self.kernel.repack(x, room);
            self.kernel.multiply(alpha, x, room, beta, y);
        });
    }

    /// X or Y or both column after column.
    fn run_by_columns(
        &self,
        machine: &Machine,
        a: CsrSlices<'_, S>,
        (alpha, beta): (S, S),
        x: BlockView<'_, S>,
        mut y: BlockViewMut<'_, S>,
    ) {
        if alpha == S::ZERO {
            return match &mut y {
                BlockViewMut::Rows(y) => y.scale(beta),
                BlockViewMut::Columns(y) => y.scale(beta),
            };
        }
        let k = x.shape().1;
        self.with_room(|room| match self.kernel.in_parts() {
            Some(kernel) => {
                let panels = self.panels.get_or_init(|| Panels::new(machine, kernel, a, k));
                panels::multiply(machine, kernel, panels, room, alpha, x, beta, y);
            }
            None => panels::by_rows(machine, (x, room), (alpha, beta), y, |alpha, x, beta, y| {
                let mut repacked = Vec::new();
                self.kernel.repack(x, &mut repacked);
                self.kernel.multiply(alpha, x, &repacked, beta, y);
            }),
        });
    }
}

/// A kernel with its operands.
pub(crate) type OnHost<S> = on_host::OnHost<Spmm<S>, 1>;

impl<S: Scalar> OnHost<S> {
    /// Of a kernel made for `machine`, a matrix of shape `a_shape` and `k` columns of X.
    pub(crate) fn boxed(
        machine: &Machine,
        kernel: impl HostKernel<S> + 'static,
        a_shape: (usize, usize),
        k: usize,
    ) -> Box<dyn Product<S>> {
        let kernel = WithRoom::new(Box::new(kernel));
        Box::new(OnHost::new(machine, Box::new(kernel), shapes(a_shape, k)))
    }
}

impl<S: Scalar> HostProduct<S> for OnHost<S> {
    fn multiply(
        &self,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.shapes().check::<Spmm<S>>([(x.rows(), x.cols())], (y.rows(), y.cols()))?;
        self.kernel().run(alpha, x, beta, y);
        Ok(self.interrupt().check()?)
    }
    fn multiply_blocks(
        &self,
        machine: &Machine,
        a: CsrSlices<'_, S>,
        (alpha, beta): (S, S),
        x: BlockView<'_, S>,
        y: BlockViewMut<'_, S>,
    ) -> Result<(), RunError> {
        match (x.by_rows_if_one_column(), y.by_rows_if_one_column()) {
            (BlockView::Rows(x), BlockViewMut::Rows(y)) => self.multiply(alpha, x, beta, y),
            (x, y) => {
                self.shapes().check::<Spmm<S>>([x.shape()], y.shape())?;
                if self.shapes().written.1 > 0 {
                    self.kernel().run_by_columns(machine, a, (alpha, beta), x, y);
                }
                Ok(self.interrupt().check()?)
            }
        }
    }
    fn for_columns(&self, subject: &Subject<S>) -> Option<Box<dyn HostProduct<S>>> {
        let kernel = WithRoom::new(self.kernel().kernel.for_columns(subject)?);
        Some(Box::new(self.like(Box::new(kernel), shapes(subject.a.shape(), subject.k))))
    }
    fn set_values(&mut self, a: &Arc<Csr<S>>) -> bool {
        self.kernel_mut().kernel.set_values(a)
    }
    fn does_not_pay(&self) -> Option<&str> {
        self.kernel().kernel.does_not_pay()
    }
    fn bytes(&self) -> u64 {
        self.kernel().kernel.bytes()
    }
}

impl<S: Scalar> HostOp<1> for Spmm<S> {
    type HostKernel = WithRoom<S>;

    fn repack_on_host(kernel: &mut Self::HostKernel, [x]: [DenseView<'_, S>; 1]) -> bool {
        kernel.repack(x)
    }
    fn run_on_host(
        kernel: &mut Self::HostKernel,
        (alpha, beta): (S, S),
        [x]: [DenseView<'_, S>; 1],
        y: DenseViewMut<'_, S>,
    ) {
        kernel.run(alpha, x, beta, y);
    }
}

impl<S: Scalar> Product<S> for OnHost<S> {
    fn apply(
        &mut self,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.multiply(alpha, x, beta, y)
    }

    fn into_shared(self: Box<Self>) -> Shared<S> {
        Shared::OnHost(self)
    }

    fn does_not_pay(&self) -> Option<&str> {
        HostProduct::does_not_pay(self)
    }
}

/// New numbers in a form of A that nobody else reads, on the threads of the machine; `false`: others read it.
pub(crate) fn refill<F: Send + Sync>(
    machine: &Machine,
    form: &mut Arc<F>,
    set_values: impl FnOnce(&mut F) + Send,
) -> bool {
    let Some(own) = Arc::get_mut(form) else { return false };
    machine.pool().install(|| set_values(own));
    true
}

/// X column after column. Always `true`: something was repacked.
pub(crate) fn transpose<S: Scalar>(x: DenseView<'_, S>, columns: &mut Vec<S>) -> bool {
    columns.resize(x.rows() * x.cols(), S::ZERO);
    x.columns_into(columns);
    true
}

//! Products of a plan with memory of the host, in either order, transposed, from the left.

use crate::Scalar;
use crate::matrix::{BlockView, BlockViewMut, DenseView, DenseViewMut};
use crate::op::{Phases, RunError, check_shape};
use crate::refusal::Refusal;
use crate::spmm::plan::Plan;
use crate::spmm::plan::kept::{Ready, unpoisoned};
use crate::spmm::product::Shared;
use std::sync::Arc;
use std::time::Instant;

impl<S: Scalar> Plan<S> {
    /// Y = αAX + βY, with as many columns as X has. With α = 0 neither A nor X is read, with β = 0 not Y; gaps between rows are
    /// never touched.
    ///
    /// X and Y may lie row after row ([`DenseView`]) or column after column ([`ColumnsView`](crate::ColumnsView)), each as it likes:
    /// the result has the same bits. Columns are packed around the kernel in small panels. X is copied as a whole where rows of A read
    /// from all over it, and X and Y both on a device and where the kernel takes rows in another order. That memory is kept for the
    /// next product.
    ///
    /// Many threads may call it at once: one of them has the threads of the machine, each of the others computes alone. On a
    /// device they wait for each other.
    pub fn apply<'x, 'y>(
        &self,
        alpha: S,
        x: impl Into<BlockView<'x, S>>,
        beta: S,
        y: impl Into<BlockViewMut<'y, S>>,
    ) -> Result<(), RunError> {
        self.multiply(alpha, x.into(), beta, y.into())
    }

    fn multiply(
        &self,
        alpha: S,
        x: BlockView<'_, S>,
        beta: S,
        y: BlockViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.check_shapes(x.shape(), y.shape())?;
        let ready = self.ready(x.shape().1)?;
        match &ready.product {
            Shared::OnHost(product) => {
                product.multiply_blocks(&self.machine, self.a.view(), (alpha, beta), x, y)
            }
            Shared::OnDevice(_) => by_rows(x, y, |x, y| self.multiply_on_device(&ready, alpha, x, beta, y)),
        }
    }

    /// From memory of the host and back.
    fn multiply_on_device(
        &self,
        ready: &Ready<S>,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        let mut overlapped = unpoisoned(&ready.overlapped);
        let phases = match overlapped.as_mut().filter(|ready| ready.takes(&x, beta, &y.as_view())) {
            Some(overlapped) => {
                let start = Instant::now();
                overlapped.apply(alpha, x, y)?;
                Phases { overlapped_ns: Some(start.elapsed().as_nanos() as f64), ..Phases::default() }
            }
            None => {
                drop(overlapped);
                let mut product = ready.on_device().ok_or(Refusal::NoDevice)?;
                product.apply(alpha, x, beta, y)?;
                product.phases()
            }
        };
        *unpoisoned(&self.phases) = phases;
        Ok(())
    }

    /// The plan of Aᵀ, for Aᵀ·X: made when it is first asked for, with a transposed copy of A, and kept. It has the same bits on any
    /// number of threads, as every product; [`bytes`](Self::bytes) counts it, and [`update_values`](Self::update_values) forgets it.
    ///
    /// ```
    /// use ordito::spmm::Plan;
    /// use ordito::{Coo, Csr, Dense, Duplicates, Machine};
    /// let a = Coo::new(2, 3, vec![0, 1], vec![2, 0], vec![2.0, 3.0])?;
    /// let plan = Plan::new(Csr::from_coo(&a, Duplicates::Sum), &Machine::all_cores()?)?;
    /// let (x, mut y) = (Dense::from_rows(2, 1, vec![1.0, 10.0])?, Dense::zeros(3, 1)?);
    /// plan.transposed()?.apply(1.0, x.view(), 0.0, y.view_mut())?;
    /// assert_eq!(y.data(), &[30.0, 0.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn transposed(&self) -> Result<&Plan<S>, Refusal> {
        if let Some(plan) = self.transposed.get() {
            return Ok(plan);
        }
        self.a.bring_values()?;
        let a = self.machine.pool().install(|| self.a.try_transpose())?;
        let plan = Plan::of(Arc::new(a), self.asked_for, &self.machine)?;
        // Where several threads ask at once, the first one's is kept.
        Ok(self.transposed.get_or_init(|| Box::new(plan)))
    }

    /// Y = αXA + βY: a block of row vectors, in either order, from the left. The [transposed](Self::transposed) plan computes
    /// Yᵀ = αAᵀXᵀ + βYᵀ, where rows of X and Y are columns, packed as [`apply`](Self::apply) says.
    ///
    /// ```
    /// use ordito::spmm::Plan;
    /// use ordito::{Coo, Csr, Dense, Duplicates, Machine};
    /// let a = Coo::new(2, 3, vec![0, 1], vec![2, 0], vec![2.0, 3.0])?;
    /// let plan = Plan::new(Csr::from_coo(&a, Duplicates::Sum), &Machine::all_cores()?)?;
    /// let (x, mut y) = (Dense::from_rows(1, 2, vec![1.0, 10.0])?, Dense::zeros(1, 3)?);
    /// plan.apply_from_left(1.0, x.view(), 0.0, y.view_mut())?;
    /// assert_eq!(y.data(), &[30.0, 0.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn apply_from_left<'x, 'y>(
        &self,
        alpha: S,
        x: impl Into<BlockView<'x, S>>,
        beta: S,
        y: impl Into<BlockViewMut<'y, S>>,
    ) -> Result<(), RunError> {
        let (x, y) = (x.into(), y.into());
        check_shape("X", x.shape(), (x.shape().0, self.a.rows()))?;
        check_shape("Y", y.shape(), (x.shape().0, self.a.cols()))?;
        self.transposed()?.multiply(alpha, x.transposed(), beta, y.transposed())
    }
}

/// Both row by row, in copies where they are not.
fn by_rows<S: Scalar>(
    x: BlockView<'_, S>,
    y: BlockViewMut<'_, S>,
    multiply: impl FnOnce(DenseView<'_, S>, DenseViewMut<'_, S>) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let x_copy;
    let x = match x.by_rows_if_one_column() {
        BlockView::Rows(x) => x,
        BlockView::Columns(x) => {
            x_copy = x.to_rows()?;
            x_copy.view()
        }
    };
    match y.by_rows_if_one_column() {
        BlockViewMut::Rows(y) => multiply(x, y),
        BlockViewMut::Columns(mut y) => {
            let mut copy = y.as_view().to_rows()?;
            multiply(x, copy.view_mut())?;
            y.set_rows(copy.view());
            Ok(())
        }
    }
}

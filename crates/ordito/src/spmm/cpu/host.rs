//! What every CPU variant shares: a kernel over views, made into a [`Product`] that owns its operands.

use crate::Scalar;
use crate::matrix::{Dense, DenseView, DenseViewMut};
use crate::op::{Prepared, RunError};
use crate::spmm::product::{Inputs, Product, Spmm, check_shapes};

/// The heart of a CPU variant. Shapes have been checked.
pub(crate) trait HostKernel<S: Scalar>: Send {
    /// Rearranges X into memory of its own; `false` where the kernel reads X as it is.
    fn repack(&mut self, _x: DenseView<'_, S>) -> bool {
        false
    }
    /// Y = αAX + βY, X having been repacked.
    fn multiply(&mut self, alpha: S, x: DenseView<'_, S>, beta: S, y: DenseViewMut<'_, S>);
    /// See [`Product::does_not_pay`].
    fn does_not_pay(&self) -> Option<&str> {
        None
    }
}

/// A kernel with its operands.
pub(crate) struct OnHost<S, K> {
    kernel: K,
    a_shape: (usize, usize),
    k: usize,
    loaded: Option<(Inputs<S>, Dense<S>)>,
}

impl<S: Scalar, K: HostKernel<S> + 'static> OnHost<S, K> {
    /// For a matrix of shape `a_shape` and `k` columns of X.
    pub(crate) fn boxed(kernel: K, a_shape: (usize, usize), k: usize) -> Box<dyn Product<S>> {
        Box::new(OnHost { kernel, a_shape, k, loaded: None })
    }
}

impl<S: Scalar, K: HostKernel<S>> Prepared<Spmm<S>> for OnHost<S, K> {
    fn load(&mut self, inputs: &Inputs<S>) -> Result<(), RunError> {
        let (rows, k) = (self.a_shape.0, self.k);
        let y = match &inputs.y {
            Some(y) => Dense::clone(y),
            None if inputs.beta == S::ZERO => Dense::filled(rows, k, S::POISON)?,
            None => return Err(RunError::NothingToAddTo("Y")),
        };
        check_shapes(self.a_shape, k, &inputs.x.view(), (y.rows(), y.cols()))?;
        self.loaded = Some((inputs.clone(), y));
        Ok(())
    }

    fn reset(&mut self) -> Result<(), RunError> {
        let (inputs, y) = self.loaded.as_mut().ok_or(RunError::NotLoaded)?;
        match &inputs.y {
            Some(before) => y.data_mut().copy_from_slice(before.data()),
            None => y.data_mut().fill(S::POISON),
        }
        Ok(())
    }

    fn repack(&mut self) -> Result<bool, RunError> {
        let (inputs, _) = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        Ok(self.kernel.repack(inputs.x.view()))
    }

    fn run(&mut self) -> Result<(), RunError> {
        let (inputs, y) = self.loaded.as_mut().ok_or(RunError::NotLoaded)?;
        self.kernel.repack(inputs.x.view());
        self.kernel.multiply(inputs.alpha, inputs.x.view(), inputs.beta, y.view_mut());
        Ok(())
    }

    fn fetch(&mut self) -> Result<Dense<S>, RunError> {
        self.loaded.as_ref().map(|(_, y)| y.clone()).ok_or(RunError::NotLoaded)
    }
}

impl<S: Scalar, K: HostKernel<S>> Product<S> for OnHost<S, K> {
    fn apply(
        &mut self,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        check_shapes(self.a_shape, self.k, &x, (y.rows(), y.cols()))?;
        self.kernel.repack(x);
        self.kernel.multiply(alpha, x, beta, y);
        Ok(())
    }

    fn does_not_pay(&self) -> Option<&str> {
        self.kernel.does_not_pay()
    }
}

/// X column after column, into memory that is kept between runs. Always `true`: something was repacked.
pub(crate) fn transpose<S: Scalar>(x: DenseView<'_, S>, columns: &mut Vec<S>) -> bool {
    columns.resize(x.rows() * x.cols(), S::ZERO);
    x.columns_into(columns);
    true
}

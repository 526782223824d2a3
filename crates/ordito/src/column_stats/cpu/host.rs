//! What every CPU variant shares: a kernel over a view, made into a [`Reduction`] that owns its operands.

use crate::Scalar;
use crate::column_stats::reduction::{ALL_STATISTICS, Columns, Reduction, Shape, check_shape};
use crate::column_stats::statistics::Statistics;
use crate::matrix::{Dense, DenseView};
use crate::op::{Prepared, RunError};
use std::sync::Arc;

/// The heart of a CPU variant. The shape has been checked.
pub(crate) trait HostKernel<S: Scalar>: Send {
    /// Writes all means, then all variances, all least and all greatest elements.
    fn reduce(&mut self, data: DenseView<'_, S>, results: &mut [f64]);
}

/// A kernel with its operands.
pub(crate) struct OnHost<S, K> {
    kernel: K,
    shape: Shape,
    results: Vec<f64>,
    loaded: Option<Arc<Dense<S>>>,
}

impl<S: Scalar, K: HostKernel<S> + 'static> OnHost<S, K> {
    pub(crate) fn boxed(kernel: K, shape: Shape) -> Box<dyn Reduction<S>> {
        let results = vec![f64::NAN; ALL_STATISTICS * shape.cols];
        Box::new(OnHost { kernel, shape, results, loaded: None })
    }
}

impl<S: Scalar, K: HostKernel<S>> OnHost<S, K> {
    fn statistics(&self) -> Statistics {
        Statistics::from_rows(self.shape.rows as u64, &self.results, ALL_STATISTICS)
    }
}

impl<S: Scalar, K: HostKernel<S>> Prepared<Columns<S>> for OnHost<S, K> {
    fn load(&mut self, data: &Arc<Dense<S>>) -> Result<(), RunError> {
        check_shape(self.shape, &data.view())?;
        self.loaded = Some(data.clone());
        Ok(())
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.results.fill(f64::NAN);
        Ok(())
    }

    fn run(&mut self) -> Result<(), RunError> {
        let data = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        self.kernel.reduce(data.view(), &mut self.results);
        Ok(())
    }

    fn fetch(&mut self) -> Result<Statistics, RunError> {
        self.loaded.as_ref().map(|_| self.statistics()).ok_or(RunError::NotLoaded)
    }
}

impl<S: Scalar, K: HostKernel<S>> Reduction<S> for OnHost<S, K> {
    fn apply(&mut self, data: DenseView<'_, S>) -> Result<Statistics, RunError> {
        check_shape(self.shape, &data)?;
        self.kernel.reduce(data, &mut self.results);
        Ok(self.statistics())
    }
}

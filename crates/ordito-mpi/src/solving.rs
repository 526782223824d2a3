//! The solvers of [`ordito::solve`] on ranks: a distributed plan is an operator whose rows are shared.
//!
//! ```
//! use ordito::Machine;
//! use ordito::io::ReadOptions;
//! use ordito::solve::{Lobpcg, lobpcg};
//! use ordito_mpi::ranks::{Patience, Ranks, on_threads};
//! use ordito_mpi::{DistributedCsr, Plan, reading};
//! use std::sync::Arc;
//! // The largest eigenvalue of a diagonal matrix, on three ranks.
//! let path = std::env::temp_dir().join(format!("ordito-diagonal-{}.mtx", std::process::id()));
//! let entries: String = (1..=100).map(|i| format!("{i} {i} {i}\n")).collect();
//! std::fs::write(&path, format!("%%MatrixMarket matrix coordinate real symmetric\n100 100 100\n{entries}")).unwrap();
//! let values = on_threads(3, Patience::default(), |ranks| -> Result<f64, ordito_mpi::Error> {
//!     let ranks: Arc<dyn Ranks> = Arc::new(ranks);
//!     let read = reading::load::<f64>(&*ranks, &path.to_string_lossy(), &ReadOptions::default())?;
//!     let a = DistributedCsr::from_local_rows(&ranks, read.rows.clone(), read.rows, read.local)?;
//!     let plan = Plan::new(a, &Machine::with_threads(1)?)?;
//!     // Vectors of the result are this rank's rows.
//!     let found = lobpcg(&plan, Lobpcg::default()).unwrap();
//!     Ok(found.values[0])
//! });
//! # std::fs::remove_file(&path).unwrap();
//! assert!(values.into_iter().all(|value| (value.unwrap() - 100.0).abs() < 1e-6));
//! ```

use crate::plan::Plan;
use ordito::device::{Device, DeviceView, DeviceViewMut};
use ordito::solve::{Operator, Share, Shared};
use ordito::{DenseView, DenseViewMut, Machine, RunError, Scalar};
use std::sync::Arc;

impl<S: Scalar> Operator<S> for Plan<S> {
    fn rows(&self) -> usize {
        Plan::rows(self).rows_of(self.ranks().rank())
    }
    fn cols(&self) -> usize {
        Plan::cols(self).rows_of(self.ranks().rank())
    }
    fn apply(&self, x: DenseView<'_, S>, y: DenseViewMut<'_, S>) -> Result<(), RunError> {
        Ok(Plan::apply(self, S::ONE, x, S::ZERO, y)?)
    }
    fn apply_transposed(&self, x: DenseView<'_, S>, y: DenseViewMut<'_, S>) -> Result<(), RunError> {
        Ok(Plan::apply_transposed(self, S::ONE, x, S::ZERO, y)?)
    }
    fn device(&self) -> Option<&Device> {
        Plan::device(self)
    }
    fn apply_on_device(&self, x: DeviceView<'_, S>, y: DeviceViewMut<'_, S>) -> Result<(), RunError> {
        Ok(Plan::apply_on_device(self, S::ONE, x, S::ZERO, y)?)
    }
    fn apply_transposed_on_device(
        &self,
        x: DeviceView<'_, S>,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        Ok(Plan::apply_transposed_on_device(self, S::ONE, x, S::ZERO, y)?)
    }
    fn machine(&self) -> Option<Arc<Machine>> {
        Some(Plan::machine(self).clone())
    }
    fn shared(&self) -> Option<Shared> {
        let rank = self.ranks().rank();
        let share = |all: &crate::Partition| Share { total: all.total(), first: all.range(rank).start };
        Some(Shared {
            rows: share(Plan::rows(self)),
            cols: share(Plan::cols(self)),
            ranks: self.sums.clone(),
        })
    }
}

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

use crate::error::Error;
use crate::plan::{Plan, unpoisoned};
use crate::ranks::{Collective, Ranks, RanksError, Sum};
use ordito::solve::{BetweenRanks, Operator, Share, Shared};
use ordito::{DenseView, DenseViewMut, Machine, RunError, Scalar};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex};

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

/// Sums over ranks that are ready to be taken again, for the lengths that were.
pub(crate) struct Sums {
    ranks: Arc<dyn Ranks>,
    ready: Mutex<HashMap<usize, Sum>>,
}

impl Sums {
    pub(crate) fn new(ranks: &Arc<dyn Ranks>) -> Arc<Self> {
        Arc::new(Sums { ranks: ranks.clone(), ready: Mutex::default() })
    }

    fn add(&self, numbers: &mut [f64]) -> Result<(), RanksError> {
        let ranks: &dyn Ranks = &*self.ranks;
        if ranks.count() == 1 {
            return Ok(());
        }
        let length = few_lengths(numbers.len());
        let mut ready = unpoisoned(&self.ready);
        let sum = match ready.entry(length) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Sum::new(ranks, length)?),
        };
        let mut padded = vec![0.0; length];
        padded[..numbers.len()].copy_from_slice(numbers);
        sum.add(ranks, &mut padded)?;
        numbers.copy_from_slice(&padded[..numbers.len()]);
        Ok(())
    }
}

/// Messages are kept for every length, and a block that becomes narrower, column by column, has many: at most an eighth more, and few of them.
fn few_lengths(length: usize) -> usize {
    length.next_multiple_of((length.next_power_of_two() / 16).max(8))
}

impl BetweenRanks for Sums {
    fn sum(&self, numbers: &mut [f64]) -> Result<(), RunError> {
        Ok(self.add(numbers).map_err(Error::from)?)
    }
    fn gather(&self, mine: &[u8]) -> Result<Vec<Vec<u8>>, RunError> {
        let ranks: &dyn Ranks = &*self.ranks;
        Ok(ranks.all_gather(mine).map_err(Error::from)?)
    }
    fn fail(&self, why: &str) {
        self.ranks.fail(why);
    }
}

/// What solvers know of: what failed between ranks keeps its words.
impl From<Error> for RunError {
    fn from(error: Error) -> Self {
        match error {
            Error::Run(error) => error,
            Error::Refused(refusal) => refusal.into(),
            Error::Format(error) => error.into(),
            Error::Ranks(RanksError::Interrupted(interrupted)) => interrupted.into(),
            other => RunError::BetweenRanks(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_few_and_little_more() {
        let lengths: std::collections::BTreeSet<usize> = (0..10_000).map(few_lengths).collect();
        assert!(lengths.len() < 100, "{}", lengths.len());
        assert!((64..10_000).all(|length| (length..=length + length / 8).contains(&few_lengths(length))));
        assert_eq!((few_lengths(0), few_lengths(1), few_lengths(8)), (0, 8, 8));
    }
}

//! A block of vectors whose rows lie on ranks.

use crate::error::Error;
use crate::partition::Partition;
use crate::ranks::Ranks;
use ordito::matrix::random_rows;
use ordito::{Dense, DenseView, DenseViewMut, Scalar};

/// Rows of a dense matrix, cut as a [`Partition`] says; this rank has its own.
#[derive(Debug, Clone, PartialEq)]
pub struct DistributedDense<S> {
    rows: Partition,
    local: Dense<S>,
}

impl<S: Scalar> DistributedDense<S> {
    /// Zeros.
    pub fn zeros(ranks: &dyn Ranks, rows: &Partition, cols: usize) -> Result<Self, Error> {
        let local = Dense::zeros(rows.rows_of(ranks.rank()), cols)?;
        Ok(DistributedDense { rows: rows.clone(), local })
    }
    /// Random numbers, those of `ordito::matrix::random_dense`, however the rows are cut.
    pub fn random(ranks: &dyn Ranks, rows: &Partition, cols: usize, seed: u64) -> Result<Self, Error> {
        let local = random_rows(rows.range(ranks.rank()), cols, seed)?;
        Ok(DistributedDense { rows: rows.clone(), local })
    }
    /// Of the rows of this rank.
    pub fn from_local(ranks: &dyn Ranks, rows: &Partition, local: Dense<S>) -> Result<Self, Error> {
        let expected = rows.rows_of(ranks.rank());
        if local.rows() != expected {
            return Err(Error::Asked(format!(
                "{} rows were given, {expected} are this rank's",
                local.rows()
            )));
        }
        Ok(DistributedDense { rows: rows.clone(), local })
    }
    /// Whose are which rows.
    pub fn rows(&self) -> &Partition {
        &self.rows
    }
    /// The rows of this rank.
    pub fn local(&self) -> &Dense<S> {
        &self.local
    }
    /// The rows of this rank, to be changed.
    pub fn local_mut(&mut self) -> &mut Dense<S> {
        &mut self.local
    }
    /// The rows of this rank.
    pub fn view(&self) -> DenseView<'_, S> {
        self.local.view()
    }
    /// The rows of this rank, to be changed.
    pub fn view_mut(&mut self) -> DenseViewMut<'_, S> {
        self.local.view_mut()
    }
}

//! Matrices that all ranks read together.

use ordito::Scalar;
use ordito::io::ReadOptions;
use ordito_bench::report::Record;
use ordito_mpi::ranks::Ranks;
use ordito_mpi::reading;
use ordito_mpi::{DistributedCsr, Error, LocalRows, Partition};
use std::sync::Arc;

/// A matrix as it was read, this rank's rows of it.
pub(super) struct Input<S> {
    pub(super) name: String,
    pub(super) rows: Partition,
    pub(super) cols: Partition,
    pub(super) local: LocalRows<S>,
}

impl<S: Scalar> Input<S> {
    pub(super) fn read(ranks: &dyn Ranks, name: &str, options: &ReadOptions) -> Result<Self, Error> {
        let read = reading::load::<S>(ranks, name, options)?;
        // X of a square matrix is cut as Y is, so that a solver's vectors are both.
        let cols = match read.cols == read.rows.total() {
            true => read.rows.clone(),
            false => Partition::even(read.cols, ranks.count()),
        };
        Ok(Input { name: read.name, rows: read.rows, cols, local: read.local })
    }

    /// What a record says of it.
    pub(super) fn record(&self, nnz: u64) -> Record {
        Record {
            matrix: Some(self.name.clone()),
            rows: Some(self.rows.total()),
            cols: Some(self.cols.total()),
            nnz: Some(nnz),
            dtype: S::NAME.into(),
            ..Record::default()
        }
    }

    /// Cut in two, columns numbered anew.
    pub(super) fn distribute(&self, ranks: &Arc<dyn Ranks>) -> Result<DistributedCsr<S>, Error> {
        DistributedCsr::from_local_rows(ranks, self.rows.clone(), self.cols.clone(), self.local.clone())
    }

    pub(super) fn into_distributed(self, ranks: &Arc<dyn Ranks>) -> Result<DistributedCsr<S>, Error> {
        DistributedCsr::from_local_rows(ranks, self.rows, self.cols, self.local)
    }
}

//! Matrices and vectors that all ranks read and write together.

use crate::rank_options::RankOptions;
use ordito::io::ReadOptions;
use ordito::io::npy::Conversion;
use ordito::matrix::{Dense, random_rows};
use ordito::{Accelerator, Machine, Scalar};
use ordito_bench::report::Record;
use ordito_mpi::ranks::{Collective, Ranks};
use ordito_mpi::reading::DistributedRows;
use ordito_mpi::{
    DistributedCsr, DistributedDense, Error, LocalRows, Partition, Renumbering, Teams, reading,
};
use std::path::Path;
use std::sync::Arc;

/// A matrix as it was read, this rank's rows of it.
pub(super) struct Input<S> {
    pub(super) name: String,
    pub(super) rows: Partition,
    pub(super) cols: Partition,
    pub(super) local: LocalRows<S>,
    pub(super) order: Order,
    teams: Option<Teams>,
}

/// How rows on ranks lie in files.
pub(super) struct Order {
    /// As they are cut in files.
    rows: Partition,
    cols: Partition,
    /// Rows in another order, if a partition was given.
    renumbering: Option<Renumbering>,
}

impl<S: Scalar> Input<S> {
    pub(super) fn read(
        ranks: &dyn Ranks,
        name: &str,
        options: &ReadOptions,
        sharing: &RankOptions,
    ) -> Result<Self, Error> {
        let count = ranks.count();
        let teams = sharing.team.map(|size| {
            Teams::of(size.get(), count)
                .ok_or(format!("--team {size}: {count} ranks cannot be cut into such teams"))
        });
        let teams = ranks.agree(teams.transpose())?;
        let read = reading::load::<S>(ranks, name, options)?;
        let input = Input { teams, ..Self::as_read(read) };
        let Some(path) = &sharing.partition else { return Ok(input) };
        let owners = reading::read_partition(ranks, path, &input.rows)?;
        let renumbering = Renumbering::new(ranks, &input.rows, &owners)?;
        let local = renumbering.rows_of(ranks, &input.local)?;
        let rows = renumbering.rows().clone();
        let order = Order { renumbering: Some(renumbering), ..input.order };
        Ok(Input { cols: rows.clone(), rows, local, order, ..input })
    }

    /// In the order of the file.
    pub(super) fn as_read(read: DistributedRows<S>) -> Self {
        let rows = read.rows;
        // X of a square matrix is cut as Y is, so that a solver's vectors are both.
        let cols = match read.cols == rows.total() {
            true => rows.clone(),
            false => Partition::even(read.cols, rows.ranks()),
        };
        let order = Order { rows: rows.clone(), cols: cols.clone(), renumbering: None };
        Input { name: read.name, rows, cols, local: read.local, order, teams: None }
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

    /// Cut by whose X is multiplied, columns numbered anew, for products on that machine: on CPUs X is shared.
    pub(super) fn distribute(
        &self,
        ranks: &Arc<dyn Ranks>,
        machine: &Machine,
    ) -> Result<DistributedCsr<S>, Error> {
        let (rows, cols, local) = (self.rows.clone(), self.cols.clone(), self.local.clone());
        for_products(DistributedCsr::with_teams(ranks, rows, cols, local, self.teams)?, machine)
    }

    /// The same, in the place of what was read.
    pub(super) fn into_distributed_for(
        self,
        ranks: &Arc<dyn Ranks>,
        machine: &Machine,
    ) -> Result<(DistributedCsr<S>, Order), Error> {
        let (a, order) = self.into_distributed(ranks)?;
        Ok((for_products(a, machine)?, order))
    }

    /// For an X that lies anywhere.
    pub(super) fn into_distributed(
        self,
        ranks: &Arc<dyn Ranks>,
    ) -> Result<(DistributedCsr<S>, Order), Error> {
        let a = DistributedCsr::with_teams(ranks, self.rows, self.cols, self.local, self.teams)?;
        Ok((a, self.order))
    }

    /// X of a file.
    pub(super) fn read_x(&self, ranks: &dyn Ranks, path: &Path) -> Result<DistributedDense<S>, Error> {
        let read = reading::read_npy_rows(ranks, path, &self.order.cols, Conversion::Allow)?;
        self.to_owners(ranks, read)
    }

    /// A random X, the same for the same matrix whoever has which rows.
    pub(super) fn random_x(
        &self,
        ranks: &dyn Ranks,
        k: usize,
        seed: u64,
    ) -> Result<DistributedDense<S>, Error> {
        self.to_owners(ranks, random_rows(self.order.cols.range(ranks.rank()), k, seed)?)
    }

    /// Rows of X in the order of the matrix, to those who have them.
    fn to_owners(&self, ranks: &dyn Ranks, x: Dense<S>) -> Result<DistributedDense<S>, Error> {
        let local = match &self.order.renumbering {
            Some(renumbering) => renumbering.to_new(ranks, x.view())?,
            None => x,
        };
        DistributedDense::from_local(ranks, &self.cols, local)
    }
}

/// All ranks run on the same devices.
fn for_products<S: Scalar>(a: DistributedCsr<S>, machine: &Machine) -> Result<DistributedCsr<S>, Error> {
    match machine.accelerator() {
        Accelerator::None => a.with_x_shared(),
        _ => Ok(a),
    }
}

impl Order {
    /// Y as a file, of one dimension where X had one.
    pub(super) fn write<S: Scalar>(
        &self,
        ranks: &dyn Ranks,
        y: &DistributedDense<S>,
        path: &Path,
        is_vector: bool,
    ) -> Result<(), Error> {
        let back =
            self.renumbering.as_ref().map(|renumbering| renumbering.to_old(ranks, y.view())).transpose()?;
        let local = back.as_ref().map_or(y.view(), |back| back.view());
        match is_vector {
            true => reading::write_npy_vector_rows(ranks, &self.rows, local, path),
            false => reading::write_npy_rows(ranks, &self.rows, local, path),
        }
    }
}

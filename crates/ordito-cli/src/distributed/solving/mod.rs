//! `mpiexec -n N ordito eigen | svd | solve | pagerank …`: the commands of `solvers`, with rows of matrix and vectors on ranks.
//!
//! What differs is how a matrix is read, what is made of it (`symmetric`) and how results are written (`ending`); solving, and what is told of it, is the same.

mod eigen;
mod ending;
mod pagerank;
mod solve;
mod svd;
mod symmetric;

pub(super) use eigen::run as eigen;
pub(super) use pagerank::run as pagerank;
pub(super) use solve::run as solve;
pub(super) use svd::run as svd;

use crate::distributed::inputs::Input;
use crate::distributed::timer::largest;
use crate::host::host;
use crate::solvers::solved::OnRanks;
use ordito::machine::Machine;
use ordito::solve::SolveError;
use ordito::{RunError, Scalar};
use ordito_mpi::ranks::{Collective, Ranks, RanksError};
use ordito_mpi::{LocalRows, Plan};
use std::sync::Arc;

/// What went well on all ranks; else the words of the first that met something. They name rows of the whole matrix, so that it does not matter whose they are.
fn told<T>(ranks: &dyn Ranks, mine: anyhow::Result<T>) -> anyhow::Result<T> {
    let text = mine.as_ref().err().map(|error| format!("{error:#}")).unwrap_or_default();
    let texts = ranks.all_gather(text.as_bytes())?;
    match (texts.iter().find(|text| !text.is_empty()), mine) {
        (Some(text), _) => Err(RanksError::Agreed(String::from_utf8_lossy(text).into_owned()).into()),
        (None, mine) => mine,
    }
}

/// What rank 0 looks at for all: options, and whether files could be written.
fn by_first(ranks: &dyn Ranks, look: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    told(ranks, if ranks.rank() == 0 { look() } else { Ok(()) })
}

/// Why there is no result. What a solver says of matrix or options it says on all ranks.
fn failed(error: SolveError) -> anyhow::Error {
    match error {
        SolveError::Run(RunError::Interrupted(interrupted)) => RanksError::Interrupted(interrupted).into(),
        SolveError::Run(error) => error.into(),
        everywhere => RanksError::Agreed(everywhere.to_string()).into(),
    }
}

/// A matrix made ready, and what is told of it.
struct Ready<S: Scalar> {
    plan: Plan<S>,
    size: [usize; 3],
    ranks: OnRanks,
}

impl<S: Scalar> Ready<S> {
    fn new(ranks: &Arc<dyn Ranks>, input: Input<S>, machine: &Arc<Machine>) -> anyhow::Result<Self> {
        let all: &dyn Ranks = &**ranks;
        let (a, _) = input.into_distributed(ranks)?;
        let (local_nnz, nnz, (rows, cols)) = (a.local_nnz(), a.nnz(), a.shape());
        let plan = Plan::new(a, machine)?;
        let [most] = largest(all, [local_nnz as f64])?;
        let ranks = OnRanks {
            count: all.count(),
            computers: host().hosts,
            by: all.name(),
            imbalance: if nnz == 0 { 1.0 } else { most * all.count() as f64 / nnz as f64 },
            bytes_per_product: plan.volume().total() * size_of::<S>() as u64,
            bytes_read_in_place: plan.volume().near_rows.iter().sum::<u64>() * size_of::<S>() as u64,
        };
        Ok(Ready { plan, size: [rows as usize, cols as usize, nnz as usize], ranks })
    }
}

/// The same rows with other values, which may depend on where they stand in the whole matrix.
fn with_values<S: Scalar>(
    local: &LocalRows<S>,
    first: u64,
    mut value: impl FnMut(S, (u64, u64)) -> anyhow::Result<S>,
) -> anyhow::Result<LocalRows<S>> {
    let mut values = Vec::with_capacity(local.nnz());
    for row in 0..local.rows() {
        for (col, old) in local.row(row) {
            values.push(value(old, (first + row as u64, col))?);
        }
    }
    Ok(LocalRows::new(local.cols(), local.offsets().to_vec(), local.columns().to_vec(), values)?)
}

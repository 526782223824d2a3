//! A matrix whose rows lie on ranks of MPI, made ready for products.

use crate::arrays::{Block, is_writeable, line, unwritten};
use crate::aside::aside;
use crate::communicator::{Communicator, between_ranks, share_of_cores};
use crate::rows::with_index_types;
use numpy::{Element, PyArray1};
use ordito::io::ReadOptions;
use ordito::{BlockViewMut, Machine, Scalar};
use ordito_mpi::ranks::{Collective, Ranks};
use ordito_mpi::{DistributedCsr, Error, LocalRows, Partition, Plan, Teams, Volume, reading};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::Arc;

/// The rows of this rank, copied and cut by whose X they multiply.
#[pyclass(frozen, module = "ordito._ordito")]
pub(crate) struct DistributedMatrix {
    held: Precision,
}

enum Precision {
    F32(Held<f32>),
    F64(Held<f64>),
}

struct Held<S: Scalar> {
    plan: Plan<S>,
    local_nnz: usize,
}

/// How it is made ready, the same on all ranks but for threads.
struct Asked<'a> {
    threads: Option<usize>,
    team: Option<usize>,
    variant: Option<&'a str>,
}

/// Does the same in either precision.
macro_rules! in_either {
    ($matrix:expr, $held:ident => $work:expr) => {
        match &$matrix.held {
            Precision::F32($held) => $work,
            Precision::F64($held) => $work,
        }
    };
}

/// Arrays as SciPy has them. Columns of a row may stand in any order, and more than once: they are then sorted and added.
fn local_rows<S: Scalar, O, C>(
    cols: u64,
    offsets: &[O],
    columns: &[C],
    values: &[S],
) -> Result<LocalRows<S>, Error>
where
    O: Copy + TryInto<usize>,
    C: Copy + TryInto<u64>,
{
    let wrong = |what: &str| Error::Asked(format!("{what} of the rows of this rank: a number below 0"));
    let whole = |offsets: &[O]| offsets.iter().map(|&at| at.try_into().ok()).collect::<Option<Vec<usize>>>();
    let offsets = whole(offsets).ok_or_else(|| wrong("indptr"))?;
    let columns = columns.iter().map(|&column| column.try_into().ok()).collect::<Option<Vec<u64>>>();
    let columns = columns.ok_or_else(|| wrong("indices"))?;
    let fits = offsets.first() == Some(&0)
        && offsets.is_sorted()
        && columns.len() == values.len()
        && offsets.last() == Some(&values.len());
    let is_tidy = |range: &[usize]| columns[range[0]..range[1]].is_sorted_by(|a, b| a < b);
    // What does not fit is told there.
    if !fits || offsets.windows(2).all(is_tidy) {
        return LocalRows::new(cols, offsets, columns, values.to_vec());
    }
    let entries = offsets.windows(2).enumerate().flat_map(|(row, range)| {
        let entries = columns[range[0]..range[1]].iter().zip(&values[range[0]..range[1]]);
        entries.map(move |(&column, &value)| (row as u32, column, value))
    });
    LocalRows::from_entries(offsets.len() - 1, cols, entries.collect())
}

impl<S: Scalar + Element> Held<S> {
    fn new(
        ranks: &Arc<dyn Ranks>,
        (rows, cols): (Partition, Partition),
        local: LocalRows<S>,
        asked: &Asked<'_>,
    ) -> Result<Self, Error> {
        let all: &dyn Ranks = &**ranks;
        let teams = asked.team.map(|size| {
            Teams::of(size, all.count())
                .ok_or(format!("team={size}: {} ranks cannot be cut into such teams", all.count()))
        });
        let teams = all.agree(teams.transpose())?;
        let share = share_of_cores(all)?;
        let machine = all.agree(Machine::with_threads(asked.threads.unwrap_or(share)))?;
        let a = DistributedCsr::with_teams(ranks, rows, cols, local, teams)?;
        let local_nnz = a.local_nnz();
        let plan = match asked.variant {
            Some(name) => Plan::with_variant(name, a, &machine),
            None => Plan::new(a, &machine),
        }?;
        Ok(Held { plan, local_nnz })
    }

    fn of_arrays(
        ranks: &Bound<'_, Communicator>,
        starts: (Vec<u64>, Vec<u64>),
        [indptr, indices, data]: [&Bound<'_, PyAny>; 3],
        asked: &Asked<'_>,
    ) -> PyResult<Self> {
        let cols = starts.1.last().copied().unwrap_or(0);
        // SAFETY: copied before this returns, while the caller holds them.
        let local = unsafe {
            let values: &[S] = line(data)
                .ok_or_else(|| PyTypeError::new_err("data must have one dimension, without gaps"))?;
            with_index_types!(indptr, indices, |offsets, columns| Ok(aside(data.py(), || local_rows(
                cols, offsets, columns, values
            ))))
        }?;
        let ranks: Arc<dyn Ranks> = ranks.get().mpi.clone();
        let made = aside(data.py(), || {
            let local = (*ranks).agree(local)?;
            Held::new(&ranks, (Partition::new(starts.0)?, Partition::new(starts.1)?), local, asked)
        });
        made.map_err(between_ranks)
    }

    fn read(ranks: &Bound<'_, Communicator>, name: &str, asked: &Asked<'_>) -> PyResult<Self> {
        let (py, ranks): (_, Arc<dyn Ranks>) = (ranks.py(), ranks.get().mpi.clone());
        let made = aside(py, || {
            let read = reading::load::<S>(&*ranks, name, &ReadOptions::default())?;
            // X of a square matrix is cut as Y is.
            let cols = match read.cols == read.rows.total() {
                true => read.rows.clone(),
                false => Partition::even(read.cols, ranks.count()),
            };
            Held::new(&ranks, (read.rows, cols), read.local, asked)
        });
        made.map_err(between_ranks)
    }

    /// `None` where an array must be copied or converted first, or cannot be used at all: Python sees to the one, and says the other.
    fn product<'py>(
        &self,
        x_array: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        (alpha, beta): (S, S),
        transposed: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = x_array.py();
        let Some(x) = Block::<S>::of(x_array) else { return Ok(None) };
        let of = if transposed { self.plan.cols() } else { self.plan.rows() };
        let shape = [of.rows_of(self.plan.ranks().rank()), x.place().cols];
        let y_array = match out {
            Some(out) => out.clone(),
            // SAFETY: β is 0, as the caller has seen to; then the product writes every element and reads none. Where it fails, nobody gets the array.
            None => unsafe { unwritten::<S>(py, &shape[..x.dimensions]) }?,
        };
        let Some(y) = Block::<S>::of(&y_array).filter(|y| y.dimensions == x.dimensions) else {
            return Ok(None);
        };
        if out.is_some() && (!is_writeable(&y_array) || x.overlaps(&y)) {
            return Ok(None);
        }
        // SAFETY: both arrays are referenced until the call ends, and do not overlap; that no other thread of Python writes them meanwhile is as with
        // every function of NumPy's that releases the lock.
        let (Some(x), Ok(BlockViewMut::Rows(y))) = (unsafe { x.by_rows() }, unsafe { y.view_mut() }) else {
            return Ok(None);
        };
        let done = aside(py, || match transposed {
            false => self.plan.apply(alpha, x, beta, y),
            true => self.plan.apply_transposed(alpha, x, beta, y),
        });
        done.map_err(between_ranks)?;
        Ok(Some(y_array))
    }
}

/// Rows of X for every rank: from other computers (with parts of sums), read in place; and ranks they come from.
type Moved = (Vec<u64>, Vec<u64>, Vec<u64>);

fn moved(volume: &Volume) -> Moved {
    let travel = volume.halo_rows.iter().zip(&volume.partial_rows).map(|(halo, partial)| halo + partial);
    (travel.collect(), volume.near_rows.clone(), volume.neighbours.clone())
}

#[pymethods]
impl DistributedMatrix {
    /// Rows of this rank in arrays as SciPy has them; `starts`: where rows of A and rows of X begin on every rank, and where the last ones end. Every rank calls it.
    #[new]
    #[pyo3(signature = (ranks, starts, indptr, indices, data, threads=None, team=None, variant=None))]
    #[allow(clippy::too_many_arguments)] // Python's keywords
    fn new(
        ranks: &Bound<'_, Communicator>,
        starts: (Vec<u64>, Vec<u64>),
        indptr: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        threads: Option<usize>,
        team: Option<usize>,
        variant: Option<&str>,
    ) -> PyResult<Self> {
        let (arrays, asked) = ([indptr, indices, data], Asked { threads, team, variant });
        let held = if data.cast::<PyArray1<f32>>().is_ok() {
            Precision::F32(Held::of_arrays(ranks, starts, arrays, &asked)?)
        } else {
            Precision::F64(Held::of_arrays(ranks, starts, arrays, &asked)?)
        };
        Ok(DistributedMatrix { held })
    }

    /// The matrix of a file or a synthetic name, read by all ranks together.
    #[staticmethod]
    #[pyo3(signature = (ranks, name, single, threads=None, team=None, variant=None))]
    fn read(
        ranks: &Bound<'_, Communicator>,
        name: &str,
        single: bool,
        threads: Option<usize>,
        team: Option<usize>,
        variant: Option<&str>,
    ) -> PyResult<Self> {
        let asked = Asked { threads, team, variant };
        let held = if single {
            Precision::F32(Held::read(ranks, name, &asked)?)
        } else {
            Precision::F64(Held::read(ranks, name, &asked)?)
        };
        Ok(DistributedMatrix { held })
    }

    /// A·X or Aᵀ·X on the rows of this rank: alpha times that, plus beta times out. `None` where an array must be converted first, and where out cannot be written.
    #[pyo3(signature = (x, out=None, alpha=1.0, beta=0.0, transposed=false))]
    fn product<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        alpha: f64,
        beta: f64,
        transposed: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let beta = if out.is_some() { beta } else { 0.0 };
        match &self.held {
            Precision::F32(held) => held.product(x, out, (alpha as f32, beta as f32), transposed),
            Precision::F64(held) => held.product(x, out, (alpha, beta), transposed),
        }
    }

    /// Where rows of A and rows of X begin on every rank, and where the last ones end.
    fn starts(&self) -> (Vec<u64>, Vec<u64>) {
        in_either!(self, held => (held.plan.rows().starts().to_vec(), held.plan.cols().starts().to_vec()))
    }

    /// Entries of all ranks, and of this one.
    fn entries(&self) -> (u64, usize) {
        in_either!(self, held => (held.plan.nnz(), held.local_nnz))
    }

    /// Ranks of a team.
    fn team(&self) -> usize {
        in_either!(self, held => held.plan.teams().size())
    }

    /// What a product moves.
    fn moved(&self) -> Moved {
        in_either!(self, held => moved(held.plan.volume()))
    }
}

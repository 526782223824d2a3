//! Communicators of mpi4py: the library opens the very MPI that mpi4py has loaded, and never ends it.

use crate::aside::aside;
use crate::errors::exception;
use ordito::cpu::{CpuInfo, default_threads};
use ordito::io::ReadError;
use ordito::machine::Interrupted;
use ordito_mpi::Error;
use ordito_mpi::ranks::{Collective, Mpi, Patience, Ranks, RanksError};
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// Until the program ends: who lets go of ranks waits for the others, and Python lets go of things whenever it likes.
static KEPT: Mutex<Vec<Arc<Mpi>>> = Mutex::new(Vec::new());

/// The ranks of a communicator, which is copied.
#[pyclass(frozen, module = "ordito._ordito")]
pub(crate) struct Communicator {
    pub(crate) mpi: Arc<Mpi>,
}

#[pymethods]
impl Communicator {
    /// By its number in Fortran, `comm.py2f()`. Every rank calls it.
    #[new]
    fn new(py: Python<'_>, number: i32) -> PyResult<Self> {
        let found = aside(py, || Mpi::from_fortran(number, Patience::from_environment()?));
        let mpi = Arc::new(found.map_err(of_ranks)?);
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(mpi.clone());
        Ok(Communicator { mpi })
    }

    /// Tells the others that this rank does not go on.
    fn fail(&self, py: Python<'_>, why: &str) {
        aside(py, || self.mpi.fail(why));
    }

    /// Has any of them, as far as is known here?
    fn has_failed(&self, py: Python<'_>) -> bool {
        aside(py, || self.mpi.has_failed())
    }
}

/// The program ends, while MPI is still there. `why`: what ended it before its time.
#[pyfunction]
#[pyo3(signature = (why=None))]
fn leave_ranks(py: Python<'_>, why: Option<&str>) {
    aside(py, || {
        let kept = std::mem::take(&mut *KEPT.lock().unwrap_or_else(PoisonError::into_inner));
        Mpi::leave_all(kept.iter().map(|mpi| &**mpi), why);
        // Others may still hold it, and MPI is ended by whoever began it.
        std::mem::forget(kept);
    });
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Communicator>()?;
    module.add_function(wrap_pyfunction!(leave_ranks, module)?)
}

/// Threads of this rank: as many as mpiexec has bound it to, else its share of the cores. Every rank calls it.
pub(crate) fn share_of_cores(ranks: &dyn Ranks) -> Result<usize, Error> {
    let hosts = ranks.all_gather(ranks.host().as_bytes())?;
    let here = hosts.iter().filter(|host| **host == hosts[ranks.rank()]).count();
    let usable = ranks.agree(default_threads())?;
    let cores = CpuInfo::detect().logical_cores;
    Ok(if usable == cores { (cores / here).max(1) } else { usable })
}

/// The exception for an error between ranks; all of them have the same where all have the same error.
pub(crate) fn between_ranks(error: Error) -> PyErr {
    match error {
        Error::Ranks(error) => of_ranks(error),
        Error::Asked(text) | Error::File(text) => PyValueError::new_err(text),
        Error::Format(error) => exception(error),
        Error::Refused(error) => exception(error),
        Error::Run(error) => exception(error),
        Error::Read(error @ ReadError::UnknownName { .. }) => exception(error),
        other => PyValueError::new_err(other.to_string()),
    }
}

fn of_ranks(error: RanksError) -> PyErr {
    let text = error.to_string();
    match error {
        RanksError::Agreed(_) | RanksError::Different(_) => PyValueError::new_err(text),
        RanksError::Memory { .. } => PyMemoryError::new_err(text),
        RanksError::Interrupted(Interrupted) => PyKeyboardInterrupt::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

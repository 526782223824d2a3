//! Threads and GPUs, shared by all matrices that ask for the same.

use crate::aside::aside;
use crate::errors::exception;
use ordito::Machine;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

type Asked = (Option<usize>, Option<usize>);

/// Those that a matrix still uses.
static MADE: LazyLock<Mutex<HashMap<Asked, Weak<Machine>>>> = LazyLock::new(Mutex::default);

/// So many threads, or all cores; the GPU of that number, or none.
///
/// Products on a GPU go into the legacy stream, which is where CuPy and torch compute if nothing else is said; it lives as long as
/// the process.
pub(crate) fn machine(py: Python<'_>, threads: Option<usize>, gpu: Option<usize>) -> PyResult<Arc<Machine>> {
    // Without the interpreter's lock: a GPU takes a while to open, and whoever holds this lock may wait for that one.
    aside(py, || {
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(machine) = made.get(&(threads, gpu)).and_then(Weak::upgrade) {
            return Ok(machine);
        }
        let mut machine = match threads {
            Some(threads) => Machine::with_threads(threads),
            None => Machine::all_cores(),
        }?;
        if let Some(number) = gpu {
            machine = machine.with_accelerator(ordito::Accelerator::Cuda(number));
            // SAFETY: null is the legacy stream of the GPU's primary context, which is never destroyed.
            machine = unsafe { machine.with_raw_stream(std::ptr::null_mut()) }?;
        }
        made.retain(|_, machine| machine.strong_count() > 0);
        made.insert((threads, gpu), Arc::downgrade(&machine));
        Ok::<_, ordito::Refusal>(machine)
    })
    .map_err(exception)
}

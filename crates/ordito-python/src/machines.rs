//! Threads and GPUs, made once and shared by all matrices.

use crate::errors::exception;
use ordito::Machine;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

type Asked = (Option<usize>, Option<usize>);

/// Never given back: a process asks for few.
static MADE: LazyLock<Mutex<HashMap<Asked, Arc<Machine>>>> = LazyLock::new(Mutex::default);

/// So many threads, or all cores; the GPU of that number, or none.
///
/// Products on a GPU go into the legacy stream, which is where CuPy and torch compute if nothing else is said; it lives as long as
/// the process.
pub(crate) fn machine(py: Python<'_>, threads: Option<usize>, gpu: Option<usize>) -> PyResult<Arc<Machine>> {
    // Without the interpreter's lock: a GPU takes a while to open, and whoever holds this lock may wait for that one.
    py.detach(|| {
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(machine) = made.get(&(threads, gpu)) {
            return Ok(machine.clone());
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
        made.insert((threads, gpu), machine.clone());
        Ok::<_, ordito::Refusal>(machine)
    })
    .map_err(exception)
}

//! Ordito for Python: what touches memory of NumPy or of a GPU. What Python says better (types, conversions, errors about
//! arguments) stands in `python/ordito`.
//!
//! `aside` (without the interpreter's lock) · `errors` (one exception for each error) · `machines` (threads and GPUs) · `arrays` (how an
//! array lies) · `rows` (arrays of CSR) · `matrix` (products) with `device` (memory of a GPU) and `foreign` (arrays of CuPy and torch) ·
//! `multipliers` (what solvers multiply with) · `solvers` · `communicator` and `distributed` (ranks of MPI) · `dense` · `files` · `doctor`.

mod arrays;
mod aside;
mod communicator;
mod dense;
mod device;
mod distributed;
mod doctor;
mod errors;
mod files;
mod foreign;
mod held;
mod machines;
mod matrix;
mod multipliers;
mod rows;
mod solvers;
mod vectors;

use pyo3::prelude::*;

// Offsets of the library become those of SciPy where they lie.
const _: () = assert!(size_of::<usize>() == size_of::<i64>(), "64-bit systems only");

#[pymodule(gil_used = false)]
fn _ordito(module: &Bound<'_, PyModule>) -> PyResult<()> {
    aside::watch_forks()?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ALIGNMENT", device::ALIGNMENT)?;
    module.add_class::<matrix::Matrix>()?;
    module.add_function(wrap_pyfunction!(rows::rows_of_columns, module)?)?;
    module.add_function(wrap_pyfunction!(matrix::product_on_device, module)?)?;
    module.add_function(wrap_pyfunction!(foreign::loaded, module)?)?;
    module.add_function(wrap_pyfunction!(foreign::know_torch, module)?)?;
    module.add_function(wrap_pyfunction!(foreign::know_cupy, module)?)?;
    solvers::add_to(module)?;
    communicator::add_to(module)?;
    module.add_class::<distributed::DistributedMatrix>()?;
    module.add_function(wrap_pyfunction!(dense::gemm, module)?)?;
    module.add_function(wrap_pyfunction!(dense::column_stats, module)?)?;
    module.add_function(wrap_pyfunction!(files::read_csr, module)?)?;
    module.add_function(wrap_pyfunction!(files::read_coo, module)?)?;
    module.add_function(wrap_pyfunction!(files::write_coo, module)?)?;
    module.add_function(wrap_pyfunction!(files::read_text, module)?)?;
    module.add_function(wrap_pyfunction!(doctor::doctor, module)?)?;
    Ok(())
}

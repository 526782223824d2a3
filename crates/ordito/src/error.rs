//! One error for those who do not care which room it came from.

use crate::device::DeviceError;
#[cfg(feature = "io")]
use crate::io::{ReadError, WriteError};
use crate::matrix::FormatError;
use crate::op::RunError;
use crate::refusal::Refusal;
#[cfg(feature = "solve")]
use crate::solve::SolveError;
use crate::spmm::UpdateError;

/// Anything that can go wrong in this library: what the functions of the modules return becomes one of these by `?`.
///
/// ```
/// fn rows(name: &str) -> Result<usize, ordito::Error> {
///     let a = ordito::io::read_csr::<f64>(name)?; // an `io::ReadError`
///     let y = ordito::Dense::<f64>::zeros(a.rows(), 8)?; // a `FormatError`
///     Ok(y.rows())
/// }
/// assert_eq!(rows("stencil5:4").unwrap(), 16);
/// assert!(matches!(rows("no-such-file.mtx"), Err(ordito::Error::Read(_))));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Arrays or sizes that are no matrix.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Something that cannot be done here, known before anything ran.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A product or a reduction that could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// New values that do not fit a plan.
    #[error(transparent)]
    Update(#[from] UpdateError),
    /// A solver that could not begin, or had to give up.
    #[cfg(feature = "solve")]
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A device that failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A file or a name that is no matrix.
    #[cfg(feature = "io")]
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file that could not be written.
    #[cfg(feature = "io")]
    #[error(transparent)]
    Write(#[from] WriteError),
}

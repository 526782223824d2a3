//! Why there is no result at all.

use crate::device::DeviceError;
use crate::machine::Interrupted;
use crate::matrix::FormatError;
use crate::op::RunError;
use crate::refusal::Refusal;

/// What a solver could not even begin with, or had to give up. That it did not converge is no error: its result says so.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// What was asked for makes no sense for this matrix.
    #[error("{0}")]
    Asked(String),
    /// A NaN or an infinity: there are no numbers to go on with.
    #[error(
        "{0} is not finite: is there a NaN or an infinity in the matrix, or in what it is multiplied with, or are its numbers so large that their products overflow?"
    )]
    NotFinite(&'static str),
    /// Numbers of about this size, whose squares would be 0 or infinite. Solvers scale such matrices: this is what is left of those that no power of two
    /// brings into scale.
    #[error(
        "numbers of about {0:.0e}: norms of residuals could not be told from 0 or infinity; scale the matrix"
    )]
    OutOfScale(f64),
    /// The method needs a property that the matrix has not.
    #[error("{0}")]
    Unsuited(String),
    /// A product failed, or it was interrupted.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<Refusal> for SolveError {
    fn from(refusal: Refusal) -> Self {
        SolveError::Run(refusal.into())
    }
}
impl From<DeviceError> for SolveError {
    fn from(error: DeviceError) -> Self {
        SolveError::Run(error.into())
    }
}
impl From<FormatError> for SolveError {
    fn from(error: FormatError) -> Self {
        SolveError::Run(RunError::InvalidResult(error))
    }
}
impl From<Interrupted> for SolveError {
    fn from(interrupted: Interrupted) -> Self {
        SolveError::Run(interrupted.into())
    }
}

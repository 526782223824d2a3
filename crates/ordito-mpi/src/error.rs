//! One error for all of it.

use crate::ranks::RanksError;
use ordito::io::{ReadError, WriteError};
use ordito::{FormatError, Refusal, RunError};

/// Why something distributed could not be made, multiplied, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Ranks could not go on together.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// What was given does not fit together.
    #[error("{0}")]
    Asked(String),
    /// A matrix that cannot be.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// It was not even tried.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A product failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// What is wrong with a file, or why it could not be written: the words of the rank that met it, on all ranks.
    #[error("{0}")]
    File(String),
}

/// What solvers know of: what failed between ranks keeps its words.
impl From<Error> for RunError {
    fn from(error: Error) -> Self {
        match error {
            Error::Run(error) => error,
            Error::Refused(refusal) => refusal.into(),
            Error::Format(error) => error.into(),
            Error::Ranks(RanksError::Interrupted(interrupted)) => interrupted.into(),
            other => RunError::BetweenRanks(other.to_string()),
        }
    }
}

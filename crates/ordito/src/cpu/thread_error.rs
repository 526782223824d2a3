//! Why there are no threads.

/// Threads that could not be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadError {
    /// The operating system gave none, or nobody can want so many.
    #[error("{threads} threads could not be started: {why}")]
    Start {
        /// How many were asked for.
        threads: usize,
        /// What the system said.
        why: String,
    },
    /// A variable of the environment asks for a number that nobody can want, or for none: which, and what it may say.
    #[error("{0}")]
    Variable(String),
    /// They cannot be kept on one core each: why.
    #[error("{0}")]
    Pin(String),
}

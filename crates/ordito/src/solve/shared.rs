//! Blocks whose rows lie on several ranks, each of which runs the same solver.
//!
//! A block is then this rank's rows of it; rows are few or many by their number on all ranks. Inner products are summed over ranks, in an order that gives every rank the
//! same bits, and all small problems are solved from them everywhere alike: so all ranks decide alike. What a rank knows alone (that it was given the wrong number of rows, that whoever watches
//! wants to stop) is told before it decides anything.

use crate::op::RunError;
use crate::solve::error::SolveError;
use std::fmt;
use std::sync::Arc;

/// What ranks tell each other while they solve. Every rank makes the same calls in the same order.
pub trait BetweenRanks: Send + Sync {
    /// Numbers added up over all ranks: the same bits on each of them.
    fn sum(&self, numbers: &mut [f64]) -> Result<(), RunError>;
    /// The bytes of every rank, in the order of ranks.
    fn gather(&self, mine: &[u8]) -> Result<Vec<Vec<u8>>, RunError>;
    /// This rank cannot go on, and nobody is to wait for it.
    fn fail(&self, why: &str);
}

/// Where the rows of a block lie in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Rows of all ranks.
    pub total: u64,
    /// The number of this rank's first one.
    pub first: u64,
}

/// How an operator is shared by ranks.
#[derive(Clone)]
pub struct Shared {
    /// Of its rows.
    pub rows: Share,
    /// Of its columns, which are rows of what it is multiplied with.
    pub cols: Share,
    /// What ranks tell each other.
    pub ranks: Arc<dyn BetweenRanks>,
}

/// Rows of a block: those of this rank, and their place in all of them. People are told of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rows {
    /// What memory is for.
    pub(crate) local: usize,
    /// What decides.
    pub(crate) total: usize,
    pub(crate) first: u64,
}

impl Rows {
    pub(crate) fn new(local: usize, share: Option<Share>) -> Self {
        match share {
            Some(Share { total, first }) => Rows { local, total: total as usize, first },
            None => Rows { local, total: local, first: 0 },
        }
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.total.fmt(f)
    }
}

/// Did it work out on all ranks? Where it did not, all know.
pub(crate) fn agreed<R>(
    ranks: Option<&dyn BetweenRanks>,
    mine: Result<R, SolveError>,
) -> Result<R, SolveError> {
    let Some(ranks) = ranks else { return mine };
    let text = mine.as_ref().err().map(SolveError::to_string).unwrap_or_default();
    let told = ranks.gather(text.as_bytes())?;
    let first = told.iter().enumerate().find(|(_, text)| !text.is_empty());
    match (first, mine) {
        (Some((rank, text)), Ok(_)) => {
            let text = String::from_utf8_lossy(text);
            Err(SolveError::Asked(format!("rank {rank}: {text}")))
        }
        (_, mine) => mine,
    }
}

/// The largest of each number over all ranks; one that is none stays none.
pub(crate) fn largest(ranks: &dyn BetweenRanks, numbers: &mut [f64]) -> Result<(), RunError> {
    let mine: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    for theirs in ranks.gather(&mine)? {
        for (number, bytes) in numbers.iter_mut().zip(theirs.chunks_exact(8)) {
            let other = f64::from_le_bytes(bytes.try_into().unwrap_or_default());
            *number = if number.is_nan() || other <= *number { *number } else { other };
        }
    }
    Ok(())
}

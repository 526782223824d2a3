//! What can go wrong between ranks.

use ordito::machine::Interrupted;

/// Why ranks could not go on together.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RanksError {
    /// There is no MPI that could be used: which part is missing, and what to install.
    #[error("{0}")]
    NoMpi(String),
    /// MPI says no.
    #[error("{function} failed: {text}")]
    Mpi {
        /// What was called.
        function: &'static str,
        /// MPI's words.
        text: String,
    },
    /// Another rank has failed, and said why.
    #[error("rank {rank}: {why}")]
    Failed {
        /// Which one.
        rank: usize,
        /// Its words.
        why: String,
    },
    /// Something went wrong on some rank, and all of them know: none waits for another.
    #[error("{0}")]
    Agreed(String),
    /// Another rank did not answer.
    #[error(
        "rank {rank} has waited {seconds:.0} s for {}: is it still running? (ORDITO_MPI_TIMEOUT sets how many seconds to wait)",
        ranks_in_words(waiting_for)
    )]
    TimedOut {
        /// Who waited.
        rank: usize,
        /// For whom.
        waiting_for: Vec<usize>,
        /// How long.
        seconds: f64,
    },
    /// Ranks were given different things.
    #[error("{0}")]
    Different(String),
    /// It was stopped before its end.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// Memory for messages could not be had.
    #[error("no memory for {bytes} bytes of messages")]
    Memory {
        /// How many.
        bytes: usize,
    },
}

/// "rank 3", "ranks 3, 5 and 7", "ranks 0, 1, 2 and 61 more".
pub(crate) fn ranks_in_words(ranks: &[usize]) -> String {
    let shown = |ranks: &[usize]| ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    match ranks {
        [] => "no rank".to_owned(),
        [one] => format!("rank {one}"),
        [some @ .., last] if ranks.len() <= 4 => format!("ranks {} and {last}", shown(some)),
        _ => format!("ranks {} and {} more", shown(&ranks[..3]), ranks.len() - 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_told_briefly() {
        assert_eq!(ranks_in_words(&[3]), "rank 3");
        assert_eq!(ranks_in_words(&[3, 5, 7]), "ranks 3, 5 and 7");
        assert_eq!(ranks_in_words(&[0, 1, 2, 3, 4]), "ranks 0, 1, 2 and 2 more");
    }
}

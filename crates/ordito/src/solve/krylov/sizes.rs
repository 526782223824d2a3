//! Columns of blocks and of the basis: those that were asked for, or that usually do.

use crate::solve::error::SolveError;
use crate::solve::shared::Rows;

/// How large blocks and basis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) count: usize,
    pub(crate) block: usize,
    /// Columns of the basis when it is full.
    pub(crate) basis: usize,
}

impl Sizes {
    /// Of what was asked for: columns of a block and of the basis, and shape of a starting block.
    pub(crate) fn new(
        (n, count): (Rows, usize),
        (block, subspace): (Option<usize>, Option<usize>),
        start: Option<(usize, usize)>,
    ) -> Result<Self, SolveError> {
        let asked = |sentence: String| Err(SolveError::Asked(sentence));
        if count == 0 || count > n.total {
            return asked(format!(
                "{count} eigenpairs of a matrix of {n} rows: between 1 and {n} can be found"
            ));
        }
        if let Some((rows, _)) = start.filter(|(rows, _)| *rows != n.local) {
            return asked(format!("the starting block has {rows} rows, {} expected", n.local));
        }
        let n = n.total;
        let usual = if count >= 6 { 4 } else { 2 };
        // As a basis that was asked for has room.
        let room = subspace.map_or(usual, |basis| basis.saturating_sub(count).clamp(1, usual));
        let block = block.unwrap_or(start.map_or(room, |(_, cols)| cols.max(room)));
        if block == 0 {
            return asked("a block of 0 columns".into());
        }
        let block = block.min(n);
        let usual = (3 * count + 4 * block).max(24);
        let basis = subspace.unwrap_or(usual);
        if basis < (count + block).min(n) {
            let least = (count + block).min(n);
            return asked(format!(
                "a basis of {basis} columns is too small for {count} eigenpairs and blocks of {block}: {least} at least"
            ));
        }
        Ok(Sizes { count, block, basis: basis.min(n).next_multiple_of(block).min(n) })
    }
}

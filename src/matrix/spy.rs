//! Where the entries of a matrix are, at a glance.

use serde::{Deserialize, Serialize};

/// Where the entries of a matrix are: how many in each cell of a grid laid over it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Spy {
    /// Rows of cells.
    pub rows: usize,
    /// Columns of cells.
    pub cols: usize,
    /// Entries in each, row after row.
    pub counts: Vec<u64>,
}

//! What is read.

use std::path::PathBuf;

/// The files of both conditions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inputs {
    /// Target epochs.
    pub target: PathBuf,
    /// Nontarget epochs: several files are one condition, in this order.
    pub nontarget: Vec<PathBuf>,
}

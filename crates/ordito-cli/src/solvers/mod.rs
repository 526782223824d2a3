//! Commands that solve, a file for each, and what they share.
//!
//! `options` is what all of them can be told; `symmetric`, `laplacian` and `diagonal` make of a matrix what a method needs; `watch` shows progress and
//! looks for Ctrl-C. A command makes a `Problem` of its matrix and a `Solved` of what it found: `table` prints it, `page` draws it, `ending` writes what was asked for.

pub(crate) mod diagonal;
pub(crate) mod eigen;
pub(crate) mod ending;
pub(crate) mod laplacian;
pub(crate) mod options;
mod page;
pub(crate) mod pagerank;
pub(crate) mod problem;
pub(crate) mod solve;
pub(crate) mod solved;
pub(crate) mod svd;
pub(crate) mod symmetric;
mod table;
mod watch;

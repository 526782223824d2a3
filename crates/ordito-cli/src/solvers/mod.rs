//! Commands that solve, a file for each, and what they share.
//!
//! `options` is what all of them can be told; `symmetric`, `laplacian` and `diagonal` make of a matrix what a method needs; `watch` shows progress and
//! looks for Ctrl-C. A command makes a `Solved` of what it found: `table` prints it, `page` draws it, `ending` writes what was asked for.

mod diagonal;
pub(crate) mod eigen;
mod ending;
mod laplacian;
mod options;
mod page;
pub(crate) mod pagerank;
pub(crate) mod solve;
mod solved;
pub(crate) mod svd;
mod symmetric;
mod table;
mod watch;

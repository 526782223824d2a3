//! What the block product is for: eigenvectors, singular vectors, many right-hand sides.
//!
//! | function | finds |
//! |---|---|
//! | [`lobpcg`](lobpcg()) | a few eigenpairs of one end of a symmetric matrix, with B, preconditioner and constraints |
//! | [`chebyshev`](chebyshev()) | many eigenpairs of one end of a symmetric matrix |
//! | [`cg`](cg()) | solutions for many right-hand sides of a symmetric positive definite matrix |
//! | [`pagerank`](pagerank()) | ranks of the nodes of a graph, for many seeds |
//!
//! All of them take an [`Operator`]: a [`Plan`](crate::spmm::Plan), a closure. They run where it runs: on the CPU, or wholly on a GPU, where
//! only small matrices of inner products travel. Each loop is written once, over `Blocks`. A result tells how it was found
//! ([`History`]), and its residuals are those of fresh products. That a limit was reached is no error, but is said ([`Stopped`]).

mod blocks;
pub mod cg;
pub mod chebyshev;
mod control;
mod eigenpairs;
mod error;
mod history;
mod host_blocks;
pub mod lobpcg;
mod operator;
mod orthonormal;
pub mod pagerank;
mod small;
#[cfg(test)]
mod tests;
mod workspace;

pub use cg::{Cg, Solution, cg};
pub use chebyshev::{Chebyshev, chebyshev};
pub use control::{Control, Tolerance};
pub use eigenpairs::{Eigenpairs, Which};
pub use error::SolveError;
pub use history::{History, Step, Stopped, Times};
pub use lobpcg::{Lobpcg, lobpcg};
pub use operator::{FromFn, Operator, Preconditioner};
pub use orthonormal::Orthonormal;
pub use pagerank::{PageRank, Ranks, pagerank};

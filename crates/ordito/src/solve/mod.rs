//! What the block product is for: eigenvectors, singular vectors, many right-hand sides.
//!
//! | function | finds |
//! |---|---|
//! | [`lobpcg`](lobpcg()) | a few eigenpairs of one end of a symmetric matrix, with B, preconditioner and constraints |
//! | [`eigsh`] | the same by block Lanczos with restarts: without a preconditioner, to high accuracy |
//! | [`svds`](svds()) | the largest singular triplets |
//! | [`randomized_svd`](randomized_svd()) | nearly the largest singular triplets, after a fixed number of products |
//! | [`chebyshev`](chebyshev()) | many eigenpairs of one end of a symmetric matrix |
//! | [`cg`](cg()) | solutions for many right-hand sides of a symmetric positive definite matrix |
//! | [`pagerank`](pagerank()) | ranks of the nodes of a graph, for many seeds |
//!
//! All of them take an [`Operator`]: a [`Plan`](crate::spmm::Plan), a closure. They run where it runs: on the CPU, or wholly on a GPU, where
//! only small matrices of inner products travel; or on many ranks, each with its rows of every block ([`Operator::shared`]). Each loop is written once, over `Blocks`. A result tells how it was found
//! ([`History`]), and its residuals are those of fresh products. That a limit was reached is no error, but is said ([`Stopped`]).

mod blocks;
mod bounds;
mod cg;
mod chebyshev;
mod control;
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod device_blocks;
mod directions;
mod eigenpairs;
mod error;
mod history;
mod host_blocks;
mod krylov;
mod lanczos;
mod lobpcg;
mod operator;
mod orthonormal;
mod pagerank;
mod preconditioned;
mod randomized_svd;
mod scaled;
mod shared;
mod singular;
mod small;
mod svds;
mod together;
mod transposed;
mod vectors;
mod workspace;

pub use cg::{Cg, Solution, cg};
pub use chebyshev::{Chebyshev, chebyshev};
pub use control::{Control, Progress, Tolerance};
pub use eigenpairs::{Eigenpairs, Which};
pub use error::SolveError;
pub use history::{History, Step, Stopped, Times};
pub use lanczos::{Lanczos, eigsh};
pub use lobpcg::{Lobpcg, lobpcg};
pub use operator::{FromFn, Operator, Preconditioner};
pub use orthonormal::Orthonormal;
pub use pagerank::{PageRank, Ranks, pagerank};
pub use randomized_svd::{RandomizedSvd, randomized_svd};
pub use shared::{BetweenRanks, Share, Shared};
pub use singular::SingularTriplets;
pub use svds::{Svds, svds};
pub use vectors::Source;

#[cfg(test)]
mod tests;

//! Sparse matrix × block of vectors on many machines: `Y = αAX + βY`, rows of A, X and Y on ranks.
//!
//! | module | for |
//! |---|---|
//! | [`ranks`] | processes that send messages: one, threads, MPI opened at run time |
//! | [`reading`] | matrices and vectors, read and written by all ranks together |

mod dense;
mod error;
#[cfg(feature = "metis")]
mod graph;
mod halo;
mod local_rows;
mod matrix;
mod near;
mod partition;
mod plan;
pub mod predict;
pub mod ranks;
mod renumbering;
mod shared_dense;
mod shared_memory;
mod split;
mod team_rows;
mod teams;
mod volume;
pub mod reading;
mod solving;
mod sums;

pub use dense::DistributedDense;
pub use error::Error;
#[cfg(feature = "metis")]
pub use graph::metis_owners;
pub use halo::Halo;
pub use local_rows::LocalRows;
pub use matrix::DistributedCsr;
pub use partition::Partition;
pub use plan::{Plan, Times};
pub use renumbering::Renumbering;
pub use shared_dense::SharedDense;
pub use teams::Teams;
pub use volume::Volume;

//! Sparse matrix × block of vectors on many machines: `Y = αAX + βY`, rows of A, X and Y on ranks.
//!
//! | module | for |
//! |---|---|
//! | [`ranks`] | processes that send messages: one, threads, MPI opened at run time |
//! | [`reading`] | matrices and vectors, read and written by all ranks together |

mod error;
mod local_rows;
mod partition;
pub mod ranks;
pub mod reading;

pub use error::Error;
pub use local_rows::LocalRows;
pub use partition::Partition;

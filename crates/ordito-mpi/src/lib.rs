//! Sparse matrix × block of vectors on many machines: `Y = αAX + βY`, rows of A, X and Y on ranks.
//!
//! | module | for |
//! |---|---|
//! | [`ranks`] | processes that send messages: one, threads, MPI opened at run time |

mod error;
mod local_rows;
mod partition;
pub mod ranks;

pub use error::Error;
pub use local_rows::LocalRows;
pub use partition::Partition;

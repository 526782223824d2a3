//! Sparse matrix × block of vectors on many machines: `Y = αAX + βY`, rows of A, X and Y on ranks.
//!
//! | module | for |
//! |---|---|
//! | [`ranks`] | processes that send messages: one, threads, MPI opened at run time |

pub mod ranks;

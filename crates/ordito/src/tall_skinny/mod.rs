//! Blocks of many rows and few columns: what solvers do between two products.
//!
//! * [`gram`](gram()): G = XᵀY, a small matrix of inner products;
//! * [`combine`](combine()): Y = XC, and [`update`]: X ← XC + WD in place.
//!
//! Both read every row once, however many blocks take part: [X P W]ᵀ[W AW] is one pass. Inner products are added up over rows in an order
//! that depends on the shape only: the same bits on any number of threads.

pub mod combine;
pub mod gram;
mod part;

pub use combine::{combine, update};
pub use gram::{Sums, gram};
pub(crate) use part::{Part, columns_of};

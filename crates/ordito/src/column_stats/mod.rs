//! Count, mean, variance, least and greatest element of every column of a row-major matrix with a leading dimension, in f64
//! whatever the precision of the data.
//!
//! All variants add up differences from the column's first element, in f64: an offset that is large beside the spread of a
//! column then costs no digits of its variance. A NaN in a column makes its mean, variance, least and greatest element NaN.
//! The mean of no rows and the variance of one are NaN.

mod cpu;
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod cuda;
mod operands;
mod plan;
mod reduction;
mod reference;
mod registry;
mod select;
mod statistics;
mod student;

pub use plan::{Plan, column_stats};
pub use reduction::Shape;
#[doc(hidden)] // for the crates of this workspace
pub use reduction::{Columns, Reduction};
pub use statistics::Statistics;
#[doc(hidden)] // for the crates of this workspace
pub use student::student_t;

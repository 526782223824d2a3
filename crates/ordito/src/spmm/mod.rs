//! Y = αAX + βY: A sparse M×N, X dense N×K and Y dense M×K, both row-major with leading dimensions.

mod analysis;
mod cpu;
mod cuda;
mod multiply;
mod operands;
mod plan;
mod product;
mod reference;
mod registry;
mod select;

pub use analysis::statistics;
pub use multiply::multiply;
pub use plan::{BreakEven, Plan, Replay, Step, UpdateError};
pub use product::{Inputs, Product, Spmm, Subject};

//! C = αAB + βC: dense matrices, all row-major with leading dimensions.

mod cpu;
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod cuda;
mod operands;
mod plan;
mod product;
mod reference;
mod registry;
mod select;
#[cfg(test)]
mod testing;

pub use plan::{Plan, gemm};
pub use product::Shape;
#[doc(hidden)] // for the crates of this workspace
pub use product::{Gemm, Inputs, Product};

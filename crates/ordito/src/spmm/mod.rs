//! Y = αAX + βY: A sparse M×N, X dense N×K and Y dense M×K with leading dimensions: row-major for kernels, in either order for plans.
//!
//! | room | holds |
//! |---|---|
//! | `product` | the contract: operands, and what a prepared product can do |
//! | `reference` | the oracle: a serial loop over triplets in f64 |
//! | `analysis` | what is known of the rows of a matrix |
//! | `select` | which variant `auto` takes |
//! | `cpu`, `cuda` | the variants: `ladder` to be studied, the others to be used |
//! | `registry` | the one list of them |
//! | `plan`, `multiply` | the library's calls |

mod analysis;
mod cpu;
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod cuda;
mod multiply;
mod operands;
mod plan;
mod product;
mod reference;
mod registry;
mod select;

#[doc(hidden)] // for the crates of this workspace
pub use analysis::statistics;
pub use multiply::multiply;
pub use plan::{BreakEven, Plan, Preparation, Replay, Step, UpdateError, ViewPlan};
#[doc(hidden)] // for the crates of this workspace
pub use product::{Inputs, Product, Spmm, Subject};
#[cfg(any(feature = "cuda", feature = "emulator"))]
#[doc(hidden)] // for the crates of this workspace
pub use select::on_device::{AskedByCandidate, KnownOnDevice};

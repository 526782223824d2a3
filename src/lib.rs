//! Ordito multiplies a sparse matrix by a block of vectors, multiplies dense matrices, and takes statistics of columns,
//! on every core of a CPU and on NVIDIA GPUs, always checked against a serial oracle and measured honestly. As a library:
//!
//! ```
//! use ordito::machine::Machine;
//! use ordito::matrix::{Csr, Dense, Duplicates};
//! use ordito::spmm::Plan;
//!
//! let a = ordito::io::load::<f64>("stencil27:10", &Default::default())?.coo; // or a path: "bcsstk17.mtx.gz"
//! let a = Csr::from_coo(&a, Duplicates::Sum);
//! let x = Dense::filled(a.cols(), 8, 1.0)?;
//!
//! let y = &a * &x; // one product, nothing is converted
//!
//! let mut plan = Plan::new(a, 8, &Machine::whole()?)?; // many products with the same matrix
//! let mut z = Dense::filled(y.rows(), 8, 0.0)?;
//! plan.apply(2.0, x.view(), 0.0, z.view_mut())?; // Z = 2·A·X + 0·Z
//! // The same but for rounding: a plan may add up in another order.
//! assert!(y.data().iter().zip(z.data()).all(|(y, z)| (2.0 * y - z).abs() < 1e-12));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! On a GPU a plan works the same, on a machine [`with_accelerator`](machine::Machine::with_accelerator): from memory of
//! the host, or on operands that stay there ([`ops::DeviceDense`], [`machine::DeviceView`]), recorded
//! ([`record`](spmm::Plan::record)), with streams of their own ([`with_new_stream`](machine::Machine::with_new_stream)).
//!
//! The rooms of the house, in the order in which data flow through them; a room uses only rooms above it:
//!
//! ```text
//!  scalar     f32, f64;  units: numbers as people read them
//!    ↓
//!  matrix     COO, CSR, ELLPACK, dense: storage and its invariants
//!    ↓
//!  io         names and files become matrices, results become files
//!    ↓
//!  machine    threads, vector instructions, memory, limits; GPUs, and an emulator of them
//!    ↓
//!  ops        what is computed (Op), the ways to compute it (Variant), ready to run (Prepared)
//!    ↓
//!  check      is a result right? bounds, verdicts, failing cases on disk
//!  sample     how long does it take? clocks, stop rules, statistics, ceilings
//!    ↓
//!  report     one flat record; CSV, JSON, table, HTML
//!    ↓
//!  erp        the EEG job: epochs in, event-related potentials out
//!    ↓
//!  workbench  verify, then measure: cases in, records out
//!    ↓
//!  cli        arguments, one file per command
//! ```

pub mod scalar;
pub mod units;
pub mod matrix;
pub mod io;
pub mod machine;
pub mod ops;
pub mod check;
pub mod sample;
pub mod report;
pub mod erp;
pub mod workbench;
pub mod cli;

pub use ops::{columns, gemm, spmm};
pub use scalar::Scalar;

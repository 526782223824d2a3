//! Sparse matrix × block of vectors, dense products and statistics of columns, on every core of a CPU and on NVIDIA GPUs.
//!
//! ```
//! use ordito::spmm::Plan;
//! use ordito::{Csr, Dense, Machine};
//!
//! let a: Csr<f64> = ordito::io::read_csr("stencil27:10")?; // or a file: "my.mtx.gz"
//! let x = Dense::filled(a.cols(), 8, 1.0)?;
//! let y = &a * &x; // one product: nothing is converted
//!
//! let mut z = Dense::zeros(a.rows(), 8)?;
//! let plan = Plan::new(a, &Machine::all_cores()?)?; // many products: chooses a kernel, and converts once
//! plan.apply(2.0, x.view(), 0.0, z.view_mut())?; // Z = 2·A·X + 0·Z
//! // The same but for rounding: a plan may add in another order.
//! assert!(y.data().iter().zip(z.data()).all(|(y, z)| (2.0 * y - z).abs() < 1e-12));
//! # Ok::<(), ordito::Error>(())
//! ```
//!
//! On a GPU a plan works the same, on `Machine::gpu(0)?`: from memory of the host, or on operands that stay there
//! ([`device::DeviceDense`], [`spmm::Plan::apply_on_device`]), also recorded ([`spmm::Plan::record`]).
//!
//! # What there is
//!
//! | module | for |
//! |---|---|
//! | [`spmm`] | Y = αAX + βY, A sparse: `Plan`, `multiply`, `&a * &x` |
//! | [`gemm`] | C = αAB + βC, all dense: `Plan`, `gemm` |
//! | [`column_stats`] | count, mean, variance, least and greatest element of every column: `Plan`, `column_stats` |
//! | [`tall_skinny`] | G = XᵀY and Y = XC of blocks with few columns: `gram`, `combine`, `update` |
//! | `solve` | eigenvectors, singular vectors, many right-hand sides, ranks: `lobpcg`, `eigsh`, `svds`, `cg`, … |
//! | [`io`] | Matrix Market, `.npy`, text, and synthetic matrices by name |
//! | [`device`] | matrices in the memory of a GPU, pinned memory, streams |
//!
//! | feature | default | brings |
//! |---|---|---|
//! | `io` | yes | reading and writing |
//! | `solve` | yes | solvers |
//! | `cuda` | yes | NVIDIA GPUs; driver and libraries are opened at run time, nothing of CUDA is needed to build |
//! | `emulator` | | the CUDA kernels on the CPU, every access checked |
//! | `serde` | | `Serialize` and `Deserialize` for what is plain data |
//! | `sprs`, `nalgebra-sparse`, `faer`, `ndarray` | | checked conversions from and to the types of these crates |
//!
//! # How it hangs together
//!
//! A module uses only modules above it:
//!
//! ```text
//!  text, units            text of others made harmless, numbers for people
//!  scalar, simd           f32 and f64, registers of several of them
//!  cpu                    facts of the processor, threads
//!  files                  files that appear whole or not at all, the cache folder
//!  format_error, refusal  why a matrix could not be built, why something is not even tried
//!  matrix                 COO, CSR, ELLPACK, dense: storage and its invariants
//!  io                     names and files become matrices, results become files
//!  device                 GPUs, and an emulator of them: buffers, kernels, launches
//!  machine                threads, vector level, limits and device of one computation
//!  op                     what is computed (Op), the ways to compute it (Variant), ready to run (Prepared)
//!  spmm, gemm,            contract, reference, registry of variants, kernels for CPU and CUDA, and the plan
//!  column_stats,
//!  tall_skinny
//!  solve                  loops over them, each written once for the CPU and for devices
//!  interop                matrices of other crates
//! ```
//!
//! Results have the same bits on any number of threads, and in every run on a GPU. Errors and refusals are values: a sentence
//! each, that says where and what to do. Kernels are verified and timed by the crate `ordito-bench`, with the command `ordito`.

// What a program needs is re-exported below and in the documented modules. The hidden ones are for the crates of this
// workspace: no promise is made of them.
#[doc(hidden)]
pub mod text;
#[doc(hidden)]
pub mod units;
#[doc(hidden)]
pub mod scalar;
#[doc(hidden)] // for the crates beside this one
pub mod precision;
#[doc(hidden)]
pub mod simd;
#[doc(hidden)]
pub mod cpu;
#[cfg(feature = "files")]
#[doc(hidden)]
pub mod files;
mod format_error;
#[doc(hidden)]
pub mod refusal;
#[doc(hidden)]
pub mod matrix;
#[cfg(feature = "io")]
pub mod io;
pub mod device;
#[doc(hidden)]
pub mod machine;
#[doc(hidden)]
pub mod op;
pub mod spmm;
pub mod gemm;
pub mod column_stats;
pub mod tall_skinny;
#[cfg(feature = "solve")]
pub mod solve;
pub mod interop;
mod error;

pub use error::Error;
pub use machine::{Accelerator, Machine};
pub use matrix::{
    BlockView, BlockViewMut, ColumnsView, ColumnsViewMut, Coo, Csr, CsrView, Dense, DenseView, DenseViewMut,
    Duplicates, FormatError, Index,
};
pub use op::{Choice, Phases, RunError};
pub use refusal::Refusal;
pub use scalar::Scalar;

/// The Rust of the documents is compiled, and run where it needs no GPU. Packages do not hold them, and are not tested so.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/library.md")]
    struct Library;
    #[doc = include_str!("../../../docs/gpu.md")]
    struct Gpu;
    #[cfg(feature = "solve")]
    #[doc = include_str!("../../../docs/solvers.md")]
    struct Solvers;
}

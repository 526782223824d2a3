//! TOP
pub mod scalar;
pub mod units;
pub mod refusal;
pub mod simd;
#[cfg(feature = "files")]
pub mod files;
pub mod matrix;
pub mod cpu;
#[cfg(feature = "io")]
pub mod io;
pub mod device;
pub mod machine;
pub mod op;
pub mod spmm;
pub mod gemm;
pub mod column_stats;

pub use scalar::Scalar;

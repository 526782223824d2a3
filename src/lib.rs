//! Ordito.
pub mod io;
pub mod matrix;
pub mod scalar;
pub use scalar::Scalar;

//! Ordito.
pub mod matrix;
pub mod scalar;
pub use scalar::Scalar;

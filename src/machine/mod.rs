//! What this computer offers.
pub mod cache_dir;
pub mod cpu;
pub use cache_dir::cache_dir;
pub use cpu::{CpuInfo, SimdLevel};

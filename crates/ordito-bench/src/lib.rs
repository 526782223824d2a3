//! BENCH
pub mod catalogue;
pub mod check;
pub mod convert;
pub mod report;
pub mod sample;
pub mod transfer;
pub mod workbench;

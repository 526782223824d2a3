//! The EEG job: epochs in, event-related potentials, their statistics and pictures out. The command is `ordito erp`.
//!
//! ```text
//!  epochs ──► preprocess ──► reduce ──► condition ──► difference ──► peaks ──► write, summary
//!  (text,     (reference,    (mean,     (SEM, band,   (Welch's t,
//!   .npy)      baseline,      variance)  field power)  permutations)
//!              reject)
//! ```
//!
//! [`analyse`] does all of it and knows nothing of terminals; [`Analysis`] is what it finds.
//!
//! A file per step:
//!
//! * `epochs` (text or `.npy`, whole or in blocks), `arrangement` (which column is which sensor and sample), `preprocess`;
//! * `block`, `reduce` and `job`: blocks of epochs become statistics by `column_stats::Plan`, those of a text each on the thread
//!   that read it, put together in the order of the file; `variant` says by which kernel, where one was asked for;
//! * `condition`, `difference`, `peaks`, `groups`, and `cycle` and `windows` (when the epochs of each group were recorded);
//! * `permutations`, `spare_gpu` and `significance`: labels × epochs, by `gemm::Plan`;
//! * `layout_check` and `unit_check`: does what was said fit the numbers?
//! * `write`, `summary` and `json` tell what came out; `montage` (where sensors sit, from the 10-10 rule), `spline` and `head`
//!   (what lies between them), [`figures`] and [`page`] show it;
//! * [`demo`] makes recordings to try it on.

mod analyse;
mod analysis;
mod arrangement;
mod block;
mod condition;
mod cycle;
pub mod demo;
mod difference;
mod epochs;
mod error;
mod field_power;
pub mod figures;
mod groups;
mod head;
mod inputs;
mod job;
mod json;
mod layout_check;
mod montage;
pub mod page;
mod peaks;
mod permutations;
mod preprocess;
mod protocol;
mod recording;
mod reduce;
mod reject;
pub mod sensors;
mod settings;
mod significance;
mod spare_gpu;
mod spline;
mod summary;
#[cfg(test)]
mod testing;
mod unit_check;
mod variant;
mod windows;
mod write;

pub use crate::analyse::{ComputeOn, analyse};
pub use crate::analysis::{Analysis, Chosen, Stages};
pub use crate::condition::Condition;
pub use crate::difference::Difference;
pub use crate::error::ErpError;
pub use crate::groups::{GroupOrder, Groups};
pub use crate::inputs::Inputs;
pub use crate::json::json;
pub use crate::montage::{Position, position};
pub use crate::peaks::{Peak, Wave};
pub use crate::recording::Recording;
pub use crate::reject::Rejected;
pub use crate::settings::{Baseline, Layout, STANDARD_RATE_HZ, Sensors, Settings};
pub use crate::significance::{ALPHA, Interval, PermutationTest};
pub use crate::summary::summary;
pub use crate::variant::statistics_variant;
pub use crate::windows::Windows;
pub use crate::write::write_files;

use crate::field_power::field_power;

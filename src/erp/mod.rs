//! The EEG job: epochs in, event-related potentials, their statistics and pictures out.
//!
//! ```text
//!  epochs ──► preprocess ──► reduce ──► condition ──► difference ──► peaks ──► write, summary
//!  (text,     (reference,    (mean,     (SEM, band,   (Welch's t,
//!   .npy)      baseline,      variance)  field power)  permutations)
//!              reject)
//! ```
//!
//! [`analyse`] does all of it and knows nothing of terminals; [`Analysis`] is what it finds.

mod analyse;
mod analysis;
mod arrangement;
mod block;
mod condition;
pub mod demo;
mod difference;
mod epochs;
mod error;
mod field_power;
pub mod figures;
mod groups;
mod head;
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
mod write;

pub use analyse::{Inputs, Place, analyse};
pub use analysis::{Analysis, Chosen, Stages};
pub use condition::Condition;
pub use difference::Difference;
pub use error::ErpError;
pub use groups::{GroupOrder, Groups};
pub use json::json;
pub use montage::{Position, position};
pub use peaks::{Peak, Wave};
pub use recording::Recording;
pub use reject::Rejected;
pub use settings::{Baseline, Layout, STANDARD_RATE_HZ, Sensors, Settings};
pub use significance::{ALPHA, Interval, PermutationTest};
pub use summary::summary;
pub use write::write_files;

use field_power::field_power;

//! The EEG job: epochs in, event-related potentials, their statistics and pictures out.

mod analysis;
mod condition;
mod difference;
mod field_power;
mod peaks;
mod permutations;
mod recording;
mod reject;

pub use analysis::{Analysis, Chosen, Stages};
pub use condition::Condition;
pub use difference::Difference;
pub use peaks::{Peak, Wave};
pub use permutations::{Interval, PermutationTest};
pub use recording::Recording;
pub use reject::Rejected;

use field_power::field_power;

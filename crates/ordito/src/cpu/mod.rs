//! The processor of this computer: its facts, and threads on it. The ground floor: asked here and nowhere else.

mod info;
pub(crate) mod parallel;
mod pin;
mod pool;
mod team;

pub use info::{CpuInfo, SimdLevel};
pub use pool::Pool;
pub use team::Team;

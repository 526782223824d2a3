//! The processor of this computer: its facts, and threads on it. The ground floor: asked here and nowhere else.

mod hand_over;
mod info;
pub(crate) mod parallel;
mod pin;
mod pool;
mod team;
mod thread_error;

pub use crate::simd::SimdLevel;
pub use info::CpuInfo;
pub(crate) use info::total_memory_bytes;
pub use pool::Pool;
pub use team::Team;
pub use thread_error::ThreadError;

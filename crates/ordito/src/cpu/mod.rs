//! The processor of this computer: its facts, and threads on it. The ground floor: asked here and nowhere else.

mod aside;
mod fork;
mod hand_over;
mod info;
pub(crate) mod parallel;
mod per_process;
mod pin;
mod pool;
mod taken;
mod team;
mod thread_error;
mod threads;

pub use crate::simd::SimdLevel;
pub use info::CpuInfo;
#[cfg(feature = "emulator")]
pub(crate) use info::available_memory_bytes;
pub(crate) use info::total_memory_bytes;
pub(crate) use per_process::PerProcess;
pub use pool::Pool;
pub use team::Team;
pub use thread_error::ThreadError;
pub use threads::default_threads;

//! A launch as it was made, before anything was counted.

use crate::device::launch::LaunchPlan;

/// What is known of a kernel from elsewhere: registers and local memory of a thread.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Taken {
    pub(crate) registers: Option<u32>,
    pub(crate) local_bytes: Option<u32>,
}

/// How the launch was made.
pub(crate) struct Described<'a> {
    pub(crate) plan: &'a LaunchPlan,
    pub(crate) shared_bytes: u64,
    pub(crate) resident: u32,
    pub(crate) taken: Taken,
    pub(crate) blocks_counted: u64,
}

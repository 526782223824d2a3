//! What each lane of a warp did since the warp was last looked at: its basic blocks and what it touched in them, in order.

/// Where memory lies, or what else a thread did; numbers as in `cuda_emulator.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Where {
    /// A basic block of the kernel begins.
    Block,
    Global,
    Shared,
    /// Arrays of a thread, which a GPU keeps in registers where it can.
    Local,
    /// Tables of the kernel.
    Constant,
    /// A shuffle, vote or barrier of the warp.
    Collective,
    /// A barrier of the block.
    Barrier,
    /// A product by tensor cores: its flops lie in `address`.
    Tensor,
}

/// What is done to memory; numbers as in `cuda_emulator.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(crate) enum Doing {
    Load,
    /// A load that passes by the first level of cache.
    FreshLoad,
    Store,
    Atomic,
    /// Half of an asynchronous copy: its read of global memory or its write to shared memory.
    Copy,
}

/// One thing that one thread did; as in `cuda_emulator.h`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Event {
    pub(crate) address: u64,
    /// Where in the library the call stands that told of it.
    pub(crate) site: u32,
    pub(crate) bytes: u16,
    pub(crate) place: Where,
    pub(crate) doing: Doing,
}

impl Event {
    /// The beginning of a basic block, or something else without an address.
    #[inline]
    pub(crate) fn of(place: Where, site: u32) -> Self {
        Event { address: 0, site, bytes: 0, place, doing: Doing::Load }
    }
}

pub(crate) const LANES: usize = 32;

/// What the lanes of one warp did. All warps of a core have the same room for it, one after the other: what was just written is near.
#[derive(Debug)]
pub(crate) struct WarpTrace {
    pub(crate) lanes: [Vec<Event>; LANES],
}

/// In no basic block.
pub(crate) const NOWHERE: u32 = u32::MAX;

impl WarpTrace {
    pub(crate) fn new() -> Self {
        WarpTrace { lanes: std::array::from_fn(|_| Vec::new()) }
    }
}

/// The lanes of a mask, lowest first.
pub(crate) fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            lane
        })
    })
}

//! How numbers of one column of X come into a register: lanes hold the same, whichever way, so that sums have the same bits.

use crate::Scalar;
use crate::machine::Machine;
use crate::simd::{Gather, gather_apart};

/// Columns up to here can be gathered: the instruction reads indices as signed.
pub(crate) const NARROW_COLUMNS: usize = i32::MAX as usize;

/// Are numbers of a column without gaps gathered by the instruction? Otherwise they are loaded one by one.
pub(crate) fn gathers(machine: &Machine, cols: usize) -> bool {
    cols <= NARROW_COLUMNS && !machine.cpu().gathers_are_slow
}

/// One of the ways.
///
/// # Safety
/// As for [`Lanes`](crate::simd::Lanes) and [`Gather`]; columns are rows of X, which are `distance` apart.
pub(crate) trait Fetch<S: Scalar> {
    /// For every lane.
    unsafe fn all<L: Gather<S>>(x: *const S, columns: *const u32, distance: usize) -> L;
    /// For the first `n` lanes; 0 in the others.
    unsafe fn first<L: Gather<S>>(x: *const S, columns: *const u32, distance: usize, n: usize) -> L;
}

/// Numbers that follow each other, by the instruction.
pub(crate) struct Gathered;
/// The same, one by one.
pub(crate) struct OneByOne;
/// Numbers with gaps between them, one by one.
pub(crate) struct WithGaps;

#[allow(clippy::undocumented_unsafe_blocks)] // each is the promise that `Fetch` asks its callers for
impl<S: Scalar> Fetch<S> for Gathered {
    #[inline(always)]
    unsafe fn all<L: Gather<S>>(x: *const S, columns: *const u32, _: usize) -> L {
        unsafe { L::gather(x, columns) }
    }
    #[inline(always)]
    unsafe fn first<L: Gather<S>>(x: *const S, columns: *const u32, _: usize, n: usize) -> L {
        unsafe { L::gather_first(x, columns, n) }
    }
}

#[allow(clippy::undocumented_unsafe_blocks)] // as above
impl<S: Scalar> Fetch<S> for OneByOne {
    #[inline(always)]
    unsafe fn all<L: Gather<S>>(x: *const S, columns: *const u32, _: usize) -> L {
        unsafe { L::each(x, columns) }
    }
    #[inline(always)]
    unsafe fn first<L: Gather<S>>(x: *const S, columns: *const u32, _: usize, n: usize) -> L {
        unsafe { L::each_first(x, columns, n) }
    }
}

#[allow(clippy::undocumented_unsafe_blocks)] // as above
impl<S: Scalar> Fetch<S> for WithGaps {
    #[inline(always)]
    unsafe fn all<L: Gather<S>>(x: *const S, columns: *const u32, distance: usize) -> L {
        unsafe { gather_apart(x, columns, distance, L::COUNT) }
    }
    #[inline(always)]
    unsafe fn first<L: Gather<S>>(x: *const S, columns: *const u32, distance: usize, n: usize) -> L {
        unsafe { gather_apart(x, columns, distance, n) }
    }
}

//! The columns of two or four rows of X or Y side by side in a register of 64 bytes: its halves or quarters come from
//! different places in memory.

use crate::simd::avx512::{AnyLanes, Vector};
use crate::simd::{Lanes, Number};

type Half<S> = <Vector<S> as AnyLanes<S>>::Half;
type Quarter<S> = <Vector<S> as AnyLanes<S>>::Quarter;

/// `ROWS` rows, two or four, of as many columns as a part has lanes (`FULL`) or fewer.
pub(crate) struct SideBySide<S: Number, const ROWS: usize, const FULL: bool> {
    half: <Half<S> as Lanes<S>>::Mask,
    quarter: <Quarter<S> as Lanes<S>>::Mask,
}

impl<S: Number, const ROWS: usize, const FULL: bool> Clone for SideBySide<S, ROWS, FULL> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Number, const ROWS: usize, const FULL: bool> Copy for SideBySide<S, ROWS, FULL> {}

/// # Safety
/// As for [`Lanes`]; every address is good for the columns, and nothing beyond them is touched.
#[allow(clippy::undocumented_unsafe_blocks)] // each is the promise that is asked of callers
impl<S: Number, const ROWS: usize, const FULL: bool> SideBySide<S, ROWS, FULL> {
    /// `columns` fit a part: all of its lanes where it is `FULL`.
    #[inline(always)]
    pub(crate) unsafe fn new(columns: usize) -> Self {
        const { assert!(ROWS == 2 || ROWS == 4) };
        let (in_half, in_quarter) = (columns.min(Half::<S>::COUNT), columns.min(Quarter::<S>::COUNT));
        unsafe { SideBySide { half: Half::<S>::first(in_half), quarter: Quarter::<S>::first(in_quarter) } }
    }

    /// Lanes beyond the columns are 0.
    #[inline(always)]
    pub(crate) unsafe fn load(self, from: [*const S; ROWS]) -> Vector<S> {
        unsafe {
            if ROWS == 2 {
                Vector::<S>::of_halves(self.load_half(from[0]), self.load_half(from[1]))
            } else {
                Vector::<S>::of_halves(
                    Vector::<S>::of_quarters(self.load_quarter(from[0]), self.load_quarter(from[1])),
                    Vector::<S>::of_quarters(self.load_quarter(from[2]), self.load_quarter(from[3])),
                )
            }
        }
    }

    /// Each part to its place.
    #[inline(always)]
    pub(crate) unsafe fn store(self, to: [*mut S; ROWS], numbers: Vector<S>) {
        unsafe {
            let (low, high) = numbers.halves();
            if ROWS == 2 {
                self.store_half(to[0], low);
                self.store_half(to[1], high);
            } else {
                let (first, second) = Vector::<S>::quarters(low);
                let (third, fourth) = Vector::<S>::quarters(high);
                self.store_quarter(to[0], first);
                self.store_quarter(to[1], second);
                self.store_quarter(to[2], third);
                self.store_quarter(to[3], fourth);
            }
        }
    }

    #[inline(always)]
    unsafe fn load_half(self, from: *const S) -> Half<S> {
        unsafe { if FULL { Half::<S>::load(from) } else { Half::<S>::load_masked(from, self.half) } }
    }
    #[inline(always)]
    unsafe fn load_quarter(self, from: *const S) -> Quarter<S> {
        unsafe { if FULL { Quarter::<S>::load(from) } else { Quarter::<S>::load_masked(from, self.quarter) } }
    }
    #[inline(always)]
    unsafe fn store_half(self, to: *mut S, half: Half<S>) {
        unsafe { if FULL { half.store(to) } else { half.store_masked(to, self.half) } }
    }
    #[inline(always)]
    unsafe fn store_quarter(self, to: *mut S, quarter: Quarter<S>) {
        unsafe { if FULL { quarter.store(to) } else { quarter.store_masked(to, self.quarter) } }
    }
}

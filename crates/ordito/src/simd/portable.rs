//! Registers as arrays: the compiler makes of them what every CPU of the architecture has (SSE2, NEON).

use crate::simd::{Gather, Lanes, Number, OnRegisters, Vectors};

/// No instructions beyond those that every CPU of the architecture has.
#[derive(Debug)]
pub struct Portable;

impl<S: Number> Vectors<S> for Portable {
    // Two widths, not three: masked loads are written out lane by lane, and each width is a copy of every kernel.
    type Wide = Array<S, 8>;
    type Half = Array<S, 8>;
    type Narrow = Array<S, 4>;
    const REGISTERS: usize = 4; // 16 of two f64: four times eight

    #[inline(never)]
    unsafe fn run(work: impl OnRegisters) {
        // SAFETY: the caller's promise; every CPU has the set.
        unsafe { work.run() }
    }
}

/// `N` numbers.
#[derive(Debug, Clone, Copy)]
pub struct Array<S, const N: usize>([S; N]);

impl<S: Number, const N: usize> Array<S, N> {
    #[inline(always)]
    fn of(number: impl FnMut(usize) -> S) -> Self {
        Array(std::array::from_fn(number))
    }
}

// Multiplying and adding apart: without the instruction, one rounding would be a call of a library function per number.
#[allow(clippy::undocumented_unsafe_blocks)] // each is the promise that `Lanes` asks its callers for
impl<S: Number, const N: usize> Lanes<S> for Array<S, N> {
    const COUNT: usize = N;
    type Mask = usize;

    #[inline(always)]
    unsafe fn first(n: usize) -> usize {
        n
    }
    #[inline(always)]
    unsafe fn zero() -> Self {
        Array([S::default(); N])
    }
    #[inline(always)]
    unsafe fn splat(value: S) -> Self {
        Array([value; N])
    }
    #[inline(always)]
    unsafe fn load(from: *const S) -> Self {
        Array(unsafe { from.cast::<[S; N]>().read() })
    }
    #[inline(always)]
    unsafe fn load_masked(from: *const S, n: usize) -> Self {
        Array::of(|lane| if lane < n { unsafe { *from.add(lane) } } else { S::default() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut S) {
        unsafe { to.cast::<[S; N]>().write(self.0) }
    }
    #[inline(always)]
    unsafe fn store_masked(self, to: *mut S, n: usize) {
        for lane in 0..n {
            unsafe { *to.add(lane) = self.0[lane] };
        }
    }
    #[inline(always)]
    unsafe fn stream(self, to: *mut S) {
        unsafe { self.store(to) }
    }
    #[inline(always)]
    unsafe fn mul_add(self, factor: Self, addend: Self) -> Self {
        Array::of(|lane| self.0[lane] * factor.0[lane] + addend.0[lane])
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Array::of(|lane| self.0[lane] + other.0[lane])
    }
    #[inline(always)]
    unsafe fn mul(self, factor: Self) -> Self {
        Array::of(|lane| self.0[lane] * factor.0[lane])
    }
}

#[allow(clippy::undocumented_unsafe_blocks)] // as above
impl<S: Number, const N: usize> Gather<S> for Array<S, N> {
    #[inline(always)]
    unsafe fn gather(from: *const S, indices: *const u32) -> Self {
        Array::of(|lane| unsafe { *from.add(*indices.add(lane) as usize) })
    }
    #[inline(always)]
    unsafe fn gather_first(from: *const S, indices: *const u32, n: usize) -> Self {
        Array::of(
            |lane| if lane < n { unsafe { *from.add(*indices.add(lane) as usize) } } else { S::default() },
        )
    }
    #[inline(always)]
    unsafe fn sum(self) -> S {
        self.0.into_iter().sum()
    }
}

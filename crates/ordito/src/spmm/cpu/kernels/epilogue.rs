//! The end of every kernel: Y = α · sums + β · Y. Written once, so that a number of Y has the same bits whichever kernel, and
//! whichever of its paths, has formed the sum.
//!
//! By the rules of BLAS Y is not read where β = 0: NaN there does not spread. Both products are rounded before they are added.
//! (A fused multiply-add would round once less, but not every instruction set has one.)

use crate::Scalar;

/// Some numbers of Y, and what holds as many sums: one number, a span of columns, parts of several rows.
///
/// # Safety
/// Of all functions: as for `simd::Lanes`; the numbers are there, and no other thread has them.
pub(crate) trait Slot<S>: Copy {
    /// One sum for every number.
    type Numbers: Copy;
    /// Are there non-temporal stores for them?
    const STREAMS: bool = false;

    unsafe fn load(self) -> Self::Numbers;
    unsafe fn store(self, numbers: Self::Numbers);
    /// By non-temporal stores, where the address allows them.
    #[inline(always)]
    unsafe fn stream(self, numbers: Self::Numbers) {
        // SAFETY: the caller's promise.
        unsafe { self.store(numbers) }
    }
    unsafe fn mul(factor: S, numbers: Self::Numbers) -> Self::Numbers;
    unsafe fn add(a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
}

/// α · sums + β · Y, whatever holds them.
///
/// # Safety
/// As for [`Slot`].
#[inline(always)]
unsafe fn combined<S: Scalar, Y: Slot<S>>(y: Y, alpha: S, sums: Y::Numbers, beta: S) -> Y::Numbers {
    // SAFETY: the caller's promise.
    unsafe {
        let scaled = Y::mul(alpha, sums);
        if beta == S::ZERO { scaled } else { Y::add(scaled, Y::mul(beta, y.load())) }
    }
}

/// What happens to sums on their way to Y; decided once, not for every row.
#[derive(Clone, Copy)]
pub(crate) struct Epilogue<S> {
    pub(crate) alpha: S,
    pub(crate) beta: S,
    way: Way,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// α = 1, β = 0. (Multiplying by 1 would give the same bits.)
    Plain,
    /// Likewise α = 1, β = 0, by non-temporal stores.
    Stream,
    /// Whatever they are. (One more way, and every row would end with a jump through a table.)
    Combined,
}

impl<S: Scalar> Epilogue<S> {
    pub(crate) fn new(alpha: S, beta: S) -> Self {
        let way = if alpha == S::ONE && beta == S::ZERO { Way::Plain } else { Way::Combined };
        Epilogue { alpha, beta, way }
    }

    /// Sums as they are.
    pub(crate) fn plain() -> Self {
        Epilogue::new(S::ONE, S::ZERO)
    }

    /// By non-temporal stores, where nothing is to be done to the sums.
    pub(crate) fn streaming(self) -> Self {
        let way = if self.way == Way::Plain { Way::Stream } else { self.way };
        Epilogue { way, ..self }
    }

    /// A fence must follow what was written.
    #[inline(always)]
    pub(crate) fn is_streaming(&self) -> bool {
        self.way == Way::Stream
    }

    /// Sums go to Y as they are.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.way == Way::Plain
    }

    /// # Safety
    /// As for [`Slot`].
    #[inline(always)]
    pub(crate) unsafe fn write<Y: Slot<S>>(&self, y: Y, sums: Y::Numbers) {
        // SAFETY: the caller's promise.
        unsafe {
            if !Y::STREAMS {
                // One store for both ways: a loop that writes several rows is unrolled only as long as it is small, and sums
                // that it picks by their number live in memory otherwise. (Diagonals with two vectors of columns took 1.4 times
                // as long.)
                let is_plain = self.way != Way::Combined;
                let result = if is_plain { sums } else { combined(y, self.alpha, sums, self.beta) };
                return y.store(result);
            }
            match self.way {
                Way::Plain => y.store(sums),
                Way::Stream => y.stream(sums),
                Way::Combined => y.store(combined(y, self.alpha, sums, self.beta)),
            }
        }
    }
}

/// One number.
#[allow(clippy::undocumented_unsafe_blocks)] // each is the promise that `Slot` asks its callers for
impl<S: Scalar> Slot<S> for *mut S {
    type Numbers = S;

    #[inline(always)]
    unsafe fn load(self) -> S {
        unsafe { *self }
    }
    #[inline(always)]
    unsafe fn store(self, number: S) {
        unsafe { *self = number }
    }
    #[inline(always)]
    unsafe fn mul(factor: S, number: S) -> S {
        factor * number
    }
    #[inline(always)]
    unsafe fn add(a: S, b: S) -> S {
        a + b
    }
}

/// `y = α · sum + β · y` for one number.
#[inline(always)]
pub(crate) fn update<S: Scalar>(y: &mut S, alpha: S, sum: S, beta: S) {
    // SAFETY: the number is there, and nobody else has it; it takes no vector instructions.
    *y = unsafe { combined(std::ptr::from_mut(y), alpha, sum, beta) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beta_0_does_not_read_and_nothing_is_fused() {
        let mut y = f64::NAN;
        update(&mut y, 2.0, 3.0, 0.0);
        assert_eq!(y, 6.0);
        // 0.1 · 10 is 1 when rounded, and a little more when not.
        let mut y = 1.0;
        update(&mut y, 0.1, 10.0, -1.0);
        assert_eq!(y, 0.0);
    }

    #[test]
    fn one_times_a_sum_is_the_sum() {
        for sum in [0.0, -0.0, 1.0f64 / 3.0, f64::INFINITY, 5e-324] {
            let (mut plain, mut combined) = (f64::NAN, f64::NAN);
            // SAFETY: numbers of our own.
            unsafe { Epilogue::plain().write(&raw mut plain, sum) };
            update(&mut combined, 1.0, sum, 0.0);
            assert_eq!((plain.to_bits(), combined.to_bits()), (sum.to_bits(), sum.to_bits()));
        }
    }
}

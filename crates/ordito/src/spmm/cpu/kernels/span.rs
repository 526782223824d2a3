//! Neighbouring columns of X and Y whose numbers stay in registers while a row of A is walked.

// Loops over indices: a closure would be a function of its own, which nobody compiles for the instruction set.
#![allow(clippy::needless_range_loop)]

use crate::simd::{Lanes, OnRegisters, Vectors};
use crate::spmm::cpu::kernels::epilogue::Slot;
use std::marker::PhantomData;

/// How many columns, in which registers.
///
/// # Safety
/// As for [`Lanes`]; an address must be good for all columns of the span, and no other is touched.
pub(crate) trait Span<S>: Copy {
    /// One number for every column.
    type Numbers: Copy;
    /// How many registers they take.
    const REGISTERS: usize;

    unsafe fn zero() -> Self::Numbers;
    unsafe fn load(self, from: *const S) -> Self::Numbers;
    unsafe fn store(self, to: *mut S, numbers: Self::Numbers);
    /// By non-temporal stores, where the address allows them.
    unsafe fn stream(self, to: *mut S, numbers: Self::Numbers);
    /// `value · x + sums`.
    unsafe fn mul_add(value: S, x: Self::Numbers, sums: Self::Numbers) -> Self::Numbers;
    unsafe fn add(a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    unsafe fn mul(value: S, numbers: Self::Numbers) -> Self::Numbers;
}

/// The columns of a span in a row of Y.
#[derive(Clone, Copy)]
pub(crate) struct SpanOfY<P, S> {
    pub(crate) span: P,
    pub(crate) y: *mut S,
}

#[allow(clippy::undocumented_unsafe_blocks)] // each is the promise that `Slot` asks its callers for
impl<S: Copy, P: Span<S>> Slot<S> for SpanOfY<P, S> {
    type Numbers = P::Numbers;
    const STREAMS: bool = true;

    #[inline(always)]
    unsafe fn load(self) -> P::Numbers {
        unsafe { self.span.load(self.y) }
    }
    #[inline(always)]
    unsafe fn store(self, numbers: P::Numbers) {
        unsafe { self.span.store(self.y, numbers) }
    }
    #[inline(always)]
    unsafe fn stream(self, numbers: P::Numbers) {
        unsafe { self.span.stream(self.y, numbers) }
    }
    #[inline(always)]
    unsafe fn mul(factor: S, numbers: P::Numbers) -> P::Numbers {
        unsafe { P::mul(factor, numbers) }
    }
    #[inline(always)]
    unsafe fn add(a: P::Numbers, b: P::Numbers) -> P::Numbers {
        unsafe { P::add(a, b) }
    }
}

/// `N` whole registers.
#[derive(Clone, Copy)]
pub(crate) struct Whole<L, const N: usize>(PhantomData<L>);

impl<L, const N: usize> Whole<L, N> {
    pub(crate) const NEW: Self = Whole(PhantomData);
}

#[allow(clippy::undocumented_unsafe_blocks)] // each is the promise that `Span` asks its callers for
impl<S: Copy, L: Lanes<S>, const N: usize> Span<S> for Whole<L, N> {
    type Numbers = [L; N];
    const REGISTERS: usize = N;

    #[inline(always)]
    unsafe fn zero() -> [L; N] {
        unsafe { [L::zero(); N] }
    }
    #[inline(always)]
    unsafe fn load(self, from: *const S) -> [L; N] {
        unsafe {
            let mut numbers = [L::zero(); N];
            for i in 0..N {
                numbers[i] = L::load(from.add(i * L::COUNT));
            }
            numbers
        }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut S, numbers: [L; N]) {
        for i in 0..N {
            unsafe { numbers[i].store(to.add(i * L::COUNT)) };
        }
    }
    #[inline(always)]
    unsafe fn stream(self, to: *mut S, numbers: [L; N]) {
        for i in 0..N {
            unsafe { numbers[i].stream(to.add(i * L::COUNT)) };
        }
    }
    #[inline(always)]
    unsafe fn mul_add(value: S, x: [L; N], mut sums: [L; N]) -> [L; N] {
        for i in 0..N {
            sums[i] = unsafe { L::splat(value).mul_add(x[i], sums[i]) };
        }
        sums
    }
    #[inline(always)]
    unsafe fn add(mut a: [L; N], b: [L; N]) -> [L; N] {
        for i in 0..N {
            a[i] = unsafe { a[i].add(b[i]) };
        }
        a
    }
    #[inline(always)]
    unsafe fn mul(value: S, mut numbers: [L; N]) -> [L; N] {
        for i in 0..N {
            numbers[i] = unsafe { numbers[i].mul(L::splat(value)) };
        }
        numbers
    }
}

/// The first lanes of one register.
#[derive(Clone, Copy)]
pub(crate) struct Part<S, L: Lanes<S>> {
    mask: L::Mask,
}

impl<S, L: Lanes<S>> Part<S, L> {
    /// # Safety
    /// As for [`Lanes`]; `columns` are at most the lanes of the register.
    #[inline(always)]
    pub(crate) unsafe fn of(columns: usize) -> Self {
        // SAFETY: the caller's promise.
        Part { mask: unsafe { L::first(columns) } }
    }
}

#[allow(clippy::undocumented_unsafe_blocks)] // as above
impl<S: Copy, L: Lanes<S>> Span<S> for Part<S, L> {
    type Numbers = L;
    const REGISTERS: usize = 1;

    #[inline(always)]
    unsafe fn zero() -> L {
        unsafe { L::zero() }
    }
    #[inline(always)]
    unsafe fn load(self, from: *const S) -> L {
        unsafe { L::load_masked(from, self.mask) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut S, numbers: L) {
        unsafe { numbers.store_masked(to, self.mask) }
    }
    #[inline(always)]
    unsafe fn stream(self, to: *mut S, numbers: L) {
        unsafe { self.store(to, numbers) }
    }
    #[inline(always)]
    unsafe fn mul_add(value: S, x: L, sums: L) -> L {
        unsafe { L::splat(value).mul_add(x, sums) }
    }
    #[inline(always)]
    unsafe fn add(a: L, b: L) -> L {
        unsafe { a.add(b) }
    }
    #[inline(always)]
    unsafe fn mul(value: S, numbers: L) -> L {
        unsafe { numbers.mul(L::splat(value)) }
    }
}

/// `N` whole registers `L`, then the columns of `B`.
#[derive(Clone, Copy)]
pub(crate) struct Then<L, const N: usize, B>(PhantomData<L>, B);

impl<L, const N: usize, B> Then<L, N, B> {
    #[inline(always)]
    pub(crate) fn new(rest: B) -> Self {
        Then(PhantomData, rest)
    }
}

#[allow(clippy::undocumented_unsafe_blocks)] // as above
impl<S: Copy, L: Lanes<S>, const N: usize, B: Span<S>> Span<S> for Then<L, N, B> {
    type Numbers = ([L; N], B::Numbers);
    const REGISTERS: usize = N + B::REGISTERS;

    #[inline(always)]
    unsafe fn zero() -> Self::Numbers {
        unsafe { (Whole::<L, N>::zero(), B::zero()) }
    }
    #[inline(always)]
    unsafe fn load(self, from: *const S) -> Self::Numbers {
        unsafe { (Whole::<L, N>::NEW.load(from), self.1.load(from.add(N * L::COUNT))) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut S, numbers: Self::Numbers) {
        unsafe {
            Whole::<L, N>::NEW.store(to, numbers.0);
            self.1.store(to.add(N * L::COUNT), numbers.1);
        }
    }
    #[inline(always)]
    unsafe fn stream(self, to: *mut S, numbers: Self::Numbers) {
        unsafe { self.store(to, numbers) }
    }
    #[inline(always)]
    unsafe fn mul_add(value: S, x: Self::Numbers, sums: Self::Numbers) -> Self::Numbers {
        unsafe { (Whole::<L, N>::mul_add(value, x.0, sums.0), B::mul_add(value, x.1, sums.1)) }
    }
    #[inline(always)]
    unsafe fn add(a: Self::Numbers, b: Self::Numbers) -> Self::Numbers {
        unsafe { (Whole::<L, N>::add(a.0, b.0), B::add(a.1, b.1)) }
    }
    #[inline(always)]
    unsafe fn mul(value: S, numbers: Self::Numbers) -> Self::Numbers {
        unsafe { (Whole::<L, N>::mul(value, numbers.0), B::mul(value, numbers.1)) }
    }
}

/// What is done for a span of columns.
pub(crate) trait ForSpan<S> {
    /// `CHAINS` sums run side by side over neighbouring nonzeros, because one alone would wait for the latency of every
    /// addition; fewer where a span has many sums of its own.
    ///
    /// # Safety
    /// As for [`Lanes`]; the columns from `first` on must be there.
    unsafe fn with<P: Span<S>, const CHAINS: usize>(&self, span: P, first: usize);
}

/// Each span in a function of its own.
///
/// # Safety
/// As for [`ForSpan`].
#[inline(always)]
unsafe fn apart<S, V: Vectors<S>, W: ForSpan<S>, P: Span<S>, const CHAINS: usize>(
    work: &W,
    span: P,
    first: usize,
) {
    // SAFETY: the caller's promise.
    unsafe { V::run(OneSpan::<S, W, P, CHAINS> { work, span, first, scalar: PhantomData }) }
}

/// What is done for one span of columns.
struct OneSpan<'a, S, W, P, const CHAINS: usize> {
    work: &'a W,
    span: P,
    first: usize,
    scalar: PhantomData<S>,
}

impl<S, W: ForSpan<S>, P: Span<S>, const CHAINS: usize> OnRegisters for OneSpan<'_, S, W, P, CHAINS> {
    #[inline(always)]
    unsafe fn run(self) {
        // SAFETY: the caller's promise.
        unsafe { self.work.with::<P, CHAINS>(self.span, self.first) }
    }
}

/// Rows, or groups of them, that are walked at a time where columns take several spans: the next span then finds A, and the rows of X
/// that near rows share, in a cache. One thread, `csr-threads-nnz` over MKL with all rows at a time and with 64, f64: `stencil5:60` K = 80
/// 0.71 and 0.90, K = 128 0.64 and 0.86; `stencil27:24` K = 256 0.55 and 0.88; `uniform:5000x12` K = 96 1.30 and 1.14, K = 128 0.85 and 1.17.
const AT_A_TIME: usize = 64;

/// So many rows or groups at a time for `k` columns.
#[inline(always)]
pub(crate) fn at_a_time<S, V: Vectors<S>>(k: usize) -> usize {
    if k <= 4 * V::Wide::COUNT { usize::MAX } else { AT_A_TIME }
}

/// Cuts `k` columns into spans, without touching a column beyond: whole registers where they fit, at most `most` of them; for
/// the rest the narrowest register that holds it. (`most`: a kernel that does several rows at once has fewer to spare, `MOST` is
/// what it never exceeds.) Conditions that are known when compiling stand in `const` blocks: what they rule out is not even
/// made (sums of groups: 84 thousand lines for LLVM instead of 147, by `cargo llvm-lines`).
///
/// # Safety
/// As for [`Lanes`]; the work must be good for `k` columns.
#[inline(always)]
pub(crate) unsafe fn in_spans<S: Copy, V: Vectors<S>, const MOST: usize>(
    k: usize,
    most: usize,
    work: &impl ForSpan<S>,
) {
    let (wide, half, narrow) = (V::Wide::COUNT, V::Half::COUNT, V::Narrow::COUNT);
    let mut first = 0;
    // SAFETY: every arm does as many columns as it says, of those that are left.
    unsafe {
        while first < k {
            let left = k - first;
            if const { MOST >= 8 && V::REGISTERS >= 16 } && most >= 8 && left >= 8 * wide {
                apart::<S, V, _, _, 1>(work, Whole::<V::Wide, 8>::NEW, first);
                first += 8 * wide;
            } else if const { MOST >= 8 && V::REGISTERS >= 32 } && most >= 8 && left == 6 * wide {
                apart::<S, V, _, _, 2>(work, Whole::<V::Wide, 6>::NEW, first);
                first += left;
            } else if const { MOST >= 8 && V::REGISTERS >= 32 } && most >= 8 && left == 5 * wide {
                apart::<S, V, _, _, 2>(work, Whole::<V::Wide, 5>::NEW, first);
                first += left;
            } else if const { MOST >= 4 && V::REGISTERS >= 8 } && most >= 4 && left >= 4 * wide {
                apart::<S, V, _, _, 2>(work, Whole::<V::Wide, 4>::NEW, first);
                first += 4 * wide;
            } else if const { MOST >= 4 && V::REGISTERS >= 8 } && most >= 4 && left == 3 * wide {
                // K = 24 in f64: two and one would walk the rows of A twice. So would two and a part.
                apart::<S, V, _, _, 4>(work, Whole::<V::Wide, 3>::NEW, first);
                first += left;
            } else if const { MOST >= 4 && V::REGISTERS >= 32 } && most >= 4 && left > 3 * wide {
                let part = Part::<S, V::Wide>::of(left - 3 * wide);
                apart::<S, V, _, _, 4>(work, Then::<V::Wide, 3, _>::new(part), first);
                first += left;
            } else if const { MOST >= 4 && V::REGISTERS >= 8 }
                && most >= 4
                && left > 2 * wide
                && left < 3 * wide
            {
                let part = Part::<S, V::Wide>::of(left - 2 * wide);
                apart::<S, V, _, _, 4>(work, Then::<V::Wide, 2, _>::new(part), first);
                first += left;
            } else if const { V::REGISTERS >= 8 } && left >= 2 * wide {
                apart::<S, V, _, _, 4>(work, Whole::<V::Wide, 2>::NEW, first);
                first += 2 * wide;
            } else if const { V::Half::COUNT < V::Wide::COUNT } && left == wide + half {
                // K = 12 in f64: a masked register would reach into one cache line more.
                apart::<S, V, _, _, 4>(work, Then::<V::Wide, 1, _>::new(Whole::<V::Half, 1>::NEW), first);
                first += left;
            } else if const { V::REGISTERS >= 8 } && left > wide {
                apart::<S, V, _, _, 4>(
                    work,
                    Then::<V::Wide, 1, _>::new(Part::<S, V::Wide>::of(left - wide)),
                    first,
                );
                first += left;
            } else if left >= wide {
                apart::<S, V, _, _, 4>(work, Whole::<V::Wide, 1>::NEW, first);
                first += wide;
            } else if const { V::Half::COUNT < V::Wide::COUNT } && left == half + narrow {
                // K = 12 in f32: the same, three of four times.
                apart::<S, V, _, _, 4>(work, Then::<V::Half, 1, _>::new(Whole::<V::Narrow, 1>::NEW), first);
                first += left;
            } else if const { V::Half::COUNT < V::Wide::COUNT } && left > half {
                apart::<S, V, _, _, 4>(work, Part::<S, V::Wide>::of(left), first);
                first += left;
            } else if left == half {
                apart::<S, V, _, _, 4>(work, Whole::<V::Half, 1>::NEW, first);
                first += left;
            } else if left > narrow {
                apart::<S, V, _, _, 4>(work, Part::<S, V::Half>::of(left), first);
                first += left;
            } else if left == narrow {
                apart::<S, V, _, _, 4>(work, Whole::<V::Narrow, 1>::NEW, first);
                first += left;
            } else {
                apart::<S, V, _, _, 4>(work, Part::<S, V::Narrow>::of(left), first);
                first += left;
            }
        }
    }
}

//! Products that read one operand once and have nothing to keep of it: few columns of B, few rows of A. Nothing is packed, and
//! memory is read from end to end.

// Loops over indices: a closure would be a function of its own, which nobody compiles for the instruction set.
#![allow(clippy::needless_range_loop)]

use crate::Scalar;
use crate::gemm::cpu::packed::grid::parts;
use crate::gemm::cpu::packed::{Product, Share};
use crate::simd::{Gather, Lanes, OnRegisters, Portable, SimdLevel, Vectors};
use std::marker::PhantomData;

/// Columns of C, of those that one thread has, that stay in the first-level cache; and those that are worth a thread.
const MOST_COLS: usize = 2048;
const LEAST_COLS: usize = 64;
/// Rows after which an interrupt is looked for.
const MOST_ROWS: usize = 4096;
/// Columns of B up to which elements of C are sums along rows of A, and rows of A up to which rows of C are sums of rows of B.
pub(super) const MOST: usize = 3;
/// Rows of A, or of B, that pass by at once.
const AT_ONCE: usize = 4;

/// C = αAB + βC where B has so few columns that every element of C is a sum along a row of A.
pub(super) fn along_rows<S: Scalar>(
    Product { alpha, a, b, beta, c }: &Product<'_, S>,
    chunks: usize,
    share: Share<'_>,
) {
    let columns: Vec<S> =
        (0..b.cols()).flat_map(|col| (0..b.rows()).map(move |term| b.row(term)[col])).collect();
    let parts: Vec<_> = parts(a.rows(), a.rows().div_ceil(chunks).min(MOST_ROWS)).collect();
    share(parts.len(), &|chunk| {
        let rows = parts[chunk].clone();
        let operands = Dots {
            a: a.data()[rows.start * a.leading_dimension()..].as_ptr(),
            a_step: a.leading_dimension(),
            rows: rows.len(),
            terms: a.cols(),
            b: columns.as_ptr(),
            cols: b.cols(),
            // SAFETY: C has the row.
            c: unsafe { c.row(rows.start) },
            c_step: c.step,
            alpha: *alpha,
            beta: *beta,
        };
        // SAFETY: operands are as their views say; the chunk has its rows of C to itself.
        unsafe { dots(&operands) };
    });
}

/// C = αAB + C where A has so few rows that those of C stay in a cache while rows of B pass by.
pub(super) fn sums_of_rows<S: Scalar>(
    Product { alpha, a, b, c, .. }: &Product<'_, S>,
    chunks: usize,
    share: Share<'_>,
) {
    let parts: Vec<_> = parts(b.cols(), b.cols().div_ceil(chunks).clamp(LEAST_COLS, MOST_COLS)).collect();
    share(parts.len(), &|chunk| {
        let cols = parts[chunk].clone();
        let operands = Sums {
            a: a.data().as_ptr(),
            a_step: a.leading_dimension(),
            rows: a.rows(),
            terms: a.cols(),
            b: b.data()[cols.start..].as_ptr(),
            b_step: b.leading_dimension(),
            cols: cols.len(),
            // SAFETY: C has the columns.
            c: unsafe { c.row(0).add(cols.start) },
            c_step: c.step,
            alpha: *alpha,
        };
        // SAFETY: operands are as their views say; the chunk has its columns of C to itself.
        unsafe { sums(&operands) };
    });
}

/// Rows of A times columns of B that stand as rows: C = αAB + βC.
struct Dots<S> {
    /// The first row, and the elements to the next: `rows` of them, of `terms` each.
    a: *const S,
    a_step: usize,
    rows: usize,
    terms: usize,
    /// `cols` columns, `terms` elements each, one after the other; at most [`MOST`].
    b: *const S,
    cols: usize,
    c: *mut S,
    c_step: usize,
    alpha: S,
    /// 0: C is not read.
    beta: S,
}

/// Rows of B, each by a factor of its own, added to rows of C.
struct Sums<S> {
    /// `rows` rows of factors, at most [`MOST`], and the elements to the next.
    a: *const S,
    a_step: usize,
    rows: usize,
    terms: usize,
    b: *const S,
    b_step: usize,
    cols: usize,
    c: *mut S,
    c_step: usize,
    alpha: S,
}

/// # Safety
/// A, B and C have what is said of them, C for this thread alone.
unsafe fn dots<S: Scalar>(operands: &Dots<S>) {
    // SAFETY: the caller's promise; the level in use is one that the CPU has.
    unsafe {
        match SimdLevel::in_use() {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => dots_on::<S, S::Avx512>(operands),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => dots_on::<S, S::Avx2>(operands),
            #[cfg(target_arch = "aarch64")]
            SimdLevel::Neon => dots_on::<S, S::Neon>(operands),
            _ => dots_on::<S, Portable>(operands),
        }
    }
}

/// # Safety
/// As for [`dots`].
unsafe fn sums<S: Scalar>(operands: &Sums<S>) {
    // SAFETY: as above.
    unsafe {
        match SimdLevel::in_use() {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => {
                S::Avx512::run(OnSums::<S, <S::Avx512 as Vectors<S>>::Wide>(operands, PhantomData))
            }
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => {
                S::Avx2::run(OnSums::<S, <S::Avx2 as Vectors<S>>::Wide>(operands, PhantomData))
            }
            #[cfg(target_arch = "aarch64")]
            SimdLevel::Neon => {
                S::Neon::run(OnSums::<S, <S::Neon as Vectors<S>>::Wide>(operands, PhantomData))
            }
            _ => <Portable as Vectors<S>>::run(OnSums::<S, <Portable as Vectors<S>>::Narrow>(
                operands,
                PhantomData,
            )),
        }
    }
}

/// # Safety
/// As for [`dots`], on a CPU that has the set.
unsafe fn dots_on<S: Scalar, V: Vectors<S>>(operands: &Dots<S>) {
    // SAFETY: the caller's promise.
    unsafe {
        match operands.cols {
            1 => V::run(OnDots::<S, V::Wide, 1>(operands, PhantomData)),
            2 => V::run(OnDots::<S, V::Wide, 2>(operands, PhantomData)),
            _ => V::run(OnDots::<S, V::Wide, MOST>(operands, PhantomData)),
        }
    }
}

struct OnDots<'a, S, L, const COLS: usize>(&'a Dots<S>, PhantomData<L>);

impl<S: Scalar, L: Gather<S>, const COLS: usize> OnRegisters for OnDots<'_, S, L, COLS> {
    #[inline(always)]
    unsafe fn run(self) {
        let OnDots(operands, _) = self;
        let Dots { a, a_step, rows, terms, b, c, c_step, alpha, beta, .. } = *operands;
        let (whole, rest) = (terms / L::COUNT * L::COUNT, terms % L::COUNT);
        // SAFETY: the caller's promise.
        unsafe {
            let mask = L::first(rest);
            let mut first = 0;
            while first < rows {
                // Rows beyond the last are the last once more, and not written.
                let row = |i: usize| (first + i).min(rows - 1);
                let mut at = [a; AT_ONCE];
                for i in 0..AT_ONCE {
                    at[i] = a.add(row(i) * a_step);
                }
                let mut sums = [[L::zero(); COLS]; AT_ONCE];
                let mut term = 0;
                while term < whole {
                    let mut numbers = [L::zero(); COLS];
                    for j in 0..COLS {
                        numbers[j] = L::load(b.add(j * terms + term));
                    }
                    for i in 0..AT_ONCE {
                        let factors = L::load(at[i].add(term));
                        for j in 0..COLS {
                            sums[i][j] = factors.mul_add(numbers[j], sums[i][j]);
                        }
                    }
                    term += L::COUNT;
                }
                if rest != 0 {
                    for i in 0..AT_ONCE {
                        let factors = L::load_masked(at[i].add(whole), mask);
                        for j in 0..COLS {
                            let numbers = L::load_masked(b.add(j * terms + whole), mask);
                            sums[i][j] = factors.mul_add(numbers, sums[i][j]);
                        }
                    }
                }
                for i in 0..AT_ONCE {
                    if first + i < rows {
                        for j in 0..COLS {
                            let to = c.add((first + i) * c_step + j);
                            let product = alpha * sums[i][j].sum();
                            *to = if beta == S::ZERO { product } else { beta * *to + product };
                        }
                    }
                }
                first += AT_ONCE;
            }
        }
    }
}

struct OnSums<'a, S, L>(&'a Sums<S>, PhantomData<L>);

impl<S: Scalar, L: Lanes<S>> OnRegisters for OnSums<'_, S, L> {
    #[inline(always)]
    unsafe fn run(self) {
        let terms = self.0.terms;
        let whole = terms / AT_ONCE * AT_ONCE;
        // SAFETY: the caller's promise.
        unsafe {
            let mut term = 0;
            while term < whole {
                self.add::<AT_ONCE>(term);
                term += AT_ONCE;
            }
            while term < terms {
                self.add::<1>(term);
                term += 1;
            }
        }
    }
}

impl<S: Scalar, L: Lanes<S>> OnSums<'_, S, L> {
    /// Adds `TERMS` rows of B from `term` on.
    ///
    /// # Safety
    /// As for [`sums`], in a function compiled for the set.
    #[inline(always)]
    unsafe fn add<const TERMS: usize>(&self, term: usize) {
        let Sums { a, a_step, rows, b, b_step, cols, c, c_step, alpha, .. } = *self.0;
        // SAFETY: the caller's promise.
        unsafe {
            let b = b.add(term * b_step);
            for row in 0..rows {
                let mut factors = [L::zero(); TERMS];
                for t in 0..TERMS {
                    factors[t] = L::splat(alpha * *a.add(row * a_step + term + t));
                }
                let to = c.add(row * c_step);
                let mut col = 0;
                while col + L::COUNT <= cols {
                    let mut sum = L::load(to.add(col));
                    for t in 0..TERMS {
                        sum = factors[t].mul_add(L::load(b.add(t * b_step + col)), sum);
                    }
                    sum.store(to.add(col));
                    col += L::COUNT;
                }
                if col < cols {
                    let mask = L::first(cols - col);
                    let mut sum = L::load_masked(to.add(col), mask);
                    for t in 0..TERMS {
                        sum = factors[t].mul_add(L::load_masked(b.add(t * b_step + col), mask), sum);
                    }
                    sum.store_masked(to.add(col), mask);
                }
            }
        }
    }
}

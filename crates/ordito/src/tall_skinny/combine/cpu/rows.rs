//! Rows of Y = XC: sums of a few rows stay in registers while their terms go by.

use crate::Scalar;
use crate::machine::Vectorized;
use crate::matrix::DenseView;
use crate::simd::{Lanes, OnRegisters, Vectors};
use crate::tall_skinny::{Part, columns_of};
use std::marker::PhantomData;
use std::ops::Range;

/// Rows that are computed at once: as many sums hide the time that one addition takes.
const AT_ONCE: usize = 8;

/// Writes these rows of the combinations.
pub(super) struct OfRows<'a, S> {
    pub(super) rows: Range<usize>,
    pub(super) from: &'a [Part<S>],
    pub(super) c: DenseView<'a, f64>,
    pub(super) into: &'a [Part<S>],
}

/// A register of columns of Y: where they are written, and where their column of registers begins in the packed C.
struct Across<S> {
    at: *mut S,
    distance: usize,
    count: usize,
    coefficients: usize,
}

impl<S: Scalar> Vectorized<S> for OfRows<'_, S> {
    #[inline(always)]
    unsafe fn run<V: Vectors<S>>(self) {
        let terms = columns_of(self.from);
        let lanes = V::Wide::COUNT;
        // C in registers of its columns, term after term: what a tile reads stands side by side.
        let (mut across, mut packed, mut column) = (Vec::new(), Vec::new(), 0);
        for part in self.into {
            for first in (0..part.cols).step_by(lanes) {
                let count = lanes.min(part.cols - first);
                // SAFETY: inside the first row.
                let at = unsafe { part.at.add(first) };
                across.push(Across { at, distance: part.distance, count, coefficients: packed.len() });
                for term in 0..terms {
                    let from = &self.c.row(term)[column + first..][..count];
                    packed.extend(from.iter().map(|&c| S::from_f64(c)));
                    packed.extend(std::iter::repeat_n(S::ZERO, lanes - count));
                }
            }
            column += part.cols;
        }
        let mut x = vec![S::ZERO; AT_ONCE * terms];
        let most_across = if V::REGISTERS >= 32 { 3 } else { 1 };
        for first in self.rows.clone().step_by(AT_ONCE) {
            let count = AT_ONCE.min(self.rows.end - first);
            // Read as a whole before anything is written: Y may be X. Rows beyond the last stay as they were, and are not stored.
            // SAFETY: the caller's promises.
            unsafe { copy_rows(first..first + count, self.from, terms, &mut x) };
            for across in across.chunks(most_across) {
                macro_rules! tile_of {
                    ($across:literal) => {{
                        let tile = Tile::<S, V, $across> {
                            first,
                            count,
                            terms,
                            x: &x,
                            across,
                            packed: &packed,
                            set: PhantomData,
                        };
                        // SAFETY: the caller's promises.
                        unsafe { V::run(tile) }
                    }};
                }
                match across.len() {
                    1 => tile_of!(1),
                    2 => tile_of!(2),
                    _ => tile_of!(3),
                }
            }
        }
    }
}

/// Rows of all parts, side by side.
///
/// # Safety
/// The rows may be read.
#[inline(always)]
unsafe fn copy_rows<S: Scalar>(rows: Range<usize>, parts: &[Part<S>], terms: usize, into: &mut [S]) {
    for (row, into) in rows.zip(into.chunks_exact_mut(terms.max(1))) {
        let mut to = 0;
        for part in parts {
            // SAFETY: the caller's promise.
            let from = unsafe { std::slice::from_raw_parts(part.at.add(row * part.distance), part.cols) };
            into[to..to + part.cols].copy_from_slice(from);
            to += part.cols;
        }
    }
}

struct Tile<'a, S, V, const ACROSS: usize> {
    first: usize,
    count: usize,
    terms: usize,
    x: &'a [S],
    across: &'a [Across<S>],
    packed: &'a [S],
    set: PhantomData<V>,
}

impl<S: Scalar, V: Vectors<S>, const ACROSS: usize> OnRegisters for Tile<'_, S, V, ACROSS> {
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // a closure would be compiled without the instruction set
    unsafe fn run(self) {
        debug_assert!(self.x.len() >= AT_ONCE * self.terms);
        // SAFETY: `x` holds so many rows of so many terms, the packed C a register for each term of each across; rows are written where they
        // may be, masked where they end.
        unsafe {
            let x = self.x.as_ptr();
            let mut c = [self.packed.as_ptr(); ACROSS];
            for j in 0..ACROSS {
                c[j] = c[j].add(self.across[j].coefficients);
            }
            let mut sums = [[V::Wide::zero(); ACROSS]; AT_ONCE];
            for term in 0..self.terms {
                let mut of_c = [V::Wide::zero(); ACROSS];
                for j in 0..ACROSS {
                    of_c[j] = V::Wide::load(c[j].add(term * V::Wide::COUNT));
                }
                for i in 0..AT_ONCE {
                    let x = V::Wide::splat(*x.add(i * self.terms + term));
                    for j in 0..ACROSS {
                        sums[i][j] = x.mul_add(of_c[j], sums[i][j]);
                    }
                }
            }
            for j in 0..ACROSS {
                let Across { at, distance, count, .. } = self.across[j];
                let mask = V::Wide::first(count);
                // Known to the compiler, or sums would go through memory.
                for i in 0..AT_ONCE {
                    if i < self.count {
                        let to = at.add((self.first + i) * distance);
                        if count == V::Wide::COUNT {
                            sums[i][j].store(to)
                        } else {
                            sums[i][j].store_masked(to, mask)
                        }
                    }
                }
            }
        }
    }
}

//! The inner loop over stretches of rows of one length: eight rows at once, whose entries stand side by side.

// Loops over indices: a closure would be a function of its own, which nobody compiles for the instruction set.
#![allow(clippy::needless_range_loop)]

use crate::Scalar;
use crate::machine::Vectorized;
use crate::simd::{Vectors, fence};
use crate::spmm::cpu::formats::{SIDE_BY_SIDE, Stretch};
use crate::spmm::cpu::kernels::row_kernel::{Operands, SHORT, sum};
use crate::spmm::cpu::kernels::span::{ForSpan, Span, in_spans};
use std::marker::PhantomData;

/// A times X for the stretches `first..end`: a kernel to be run by `Machine::vectorized`.
///
/// Whoever makes it promises that stretches, order, entries and operands are those of one product, as `SortedCsr` keeps them,
/// that columns are rows of X, and that no other thread has these rows of Y.
#[derive(Clone, Copy)]
pub(crate) struct Stretches<S> {
    pub(crate) stretches: *const Stretch,
    pub(crate) first: usize,
    pub(crate) end: usize,
    pub(crate) order: *const u32,
    pub(crate) columns: *const u32,
    pub(crate) values: *const S,
    pub(crate) operands: Operands<S>,
}

/// Stretches on an instruction set: how many rows have room for their sums depends on it.
struct OnSet<S, V>(Stretches<S>, PhantomData<V>);

impl<S: Scalar> Vectorized<S> for Stretches<S> {
    #[inline(always)]
    unsafe fn run<V: Vectors<S>>(self) {
        let Operands { k, epilogue, .. } = self.operands;
        // SAFETY: the promises of whoever made it, and of the caller.
        unsafe { in_spans::<S, V, 8>(k, 8, &OnSet::<S, V>(self, PhantomData)) };
        if epilogue.is_streaming() {
            fence();
        }
    }
}

impl<S: Scalar, V: Vectors<S>> ForSpan<S> for OnSet<S, V> {
    #[inline(always)]
    unsafe fn with<P: Span<S>, const CHAINS: usize>(&self, span: P, first_column: usize) {
        // A copy that nothing else points to: through a reference every store to Y would make the compiler read it again.
        let this = self.0;
        let Stretches { stretches, first, end, order, columns, values, operands } = this;
        // SAFETY: the promises of whoever made it, and of the caller.
        unsafe {
            let (x, distance) = (operands.x.wrapping_add(first_column), operands.x_distance);
            for i in first..end {
                let (stretch, next) = (*stretches.add(i), *stretches.add(i + 1));
                let (mut place, end) = (stretch.place as usize, next.place as usize);
                let (mut entry, n) = (stretch.entry as usize, stretch.length as usize);
                if end - place >= SIDE_BY_SIDE {
                    while place < end {
                        // Half of the registers for sums; the other half for what is on its way to them.
                        if const { V::REGISTERS / (2 * P::REGISTERS) >= 8 } {
                            this.rows::<P, 8>(span, first_column, place, entry, n);
                        } else if const { V::REGISTERS / (2 * P::REGISTERS) >= 4 } {
                            this.rows::<P, 4>(span, first_column, place, entry, n);
                        } else if const { V::REGISTERS / (2 * P::REGISTERS) >= 2 } {
                            this.rows::<P, 2>(span, first_column, place, entry, n);
                        } else {
                            this.rows::<P, 1>(span, first_column, place, entry, n);
                        }
                        (place, entry) = (place + SIDE_BY_SIDE, entry + n * SIDE_BY_SIDE);
                    }
                } else {
                    while place < end {
                        let (columns, values) = (columns.add(entry), values.add(entry));
                        let sums = match n < SHORT {
                            true => sum::<S, P, 1>(span, columns, values, n, x, distance),
                            false => sum::<S, P, CHAINS>(span, columns, values, n, x, distance),
                        };
                        operands.write(span, *order.add(place) as usize, first_column, sums);
                        (place, entry) = (place + 1, entry + n);
                    }
                }
            }
        }
    }
}

impl<S: Scalar> Stretches<S> {
    /// Eight rows of `n` entries each, `ROWS` at a time.
    #[inline(always)]
    unsafe fn rows<P: Span<S>, const ROWS: usize>(
        self,
        span: P,
        first_column: usize,
        place: usize,
        entry: usize,
        n: usize,
    ) {
        let Operands { x, x_distance, .. } = self.operands;
        // SAFETY: the promises of whoever made it, and of the caller: eight times `n` entries from `entry` on.
        unsafe {
            let x = x.wrapping_add(first_column);
            for lane in (0..SIDE_BY_SIDE).step_by(ROWS) {
                let (mut columns, mut values) =
                    (self.columns.add(entry + lane), self.values.add(entry + lane));
                let mut sums = [P::zero(); ROWS];
                for _ in 0..n {
                    for row in 0..ROWS {
                        let x = span.load(x.wrapping_add(*columns.add(row) as usize * x_distance));
                        sums[row] = P::mul_add(*values.add(row), x, sums[row]);
                    }
                    (columns, values) =
                        (columns.wrapping_add(SIDE_BY_SIDE), values.wrapping_add(SIDE_BY_SIDE));
                }
                for row in 0..ROWS {
                    let target = *self.order.add(place + lane + row) as usize;
                    self.operands.write(span, target, first_column, sums[row]);
                }
            }
        }
    }
}

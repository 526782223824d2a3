//! The inner loop over row groups: what is loaded of X serves all rows of a group.

// Loops over indices: a closure would be a function of its own, which nobody compiles for the instruction set.
#![allow(clippy::needless_range_loop)]

use crate::Scalar;
use crate::machine::Vectorized;
use crate::simd::{Gather, Lanes, Vectors, fence};
use crate::spmm::cpu::formats::Group;
use crate::spmm::cpu::kernels::epilogue::{Epilogue, update};
use crate::spmm::cpu::kernels::fetch::{Fetch, Gathered, OneByOne, WithGaps};
use crate::spmm::cpu::kernels::row_kernel::Operands;
use crate::spmm::cpu::kernels::span::{ForSpan, Span, at_a_time, in_spans};

/// A times X for the groups `first..end`: a kernel to be run by `Machine::vectorized`.
///
/// Whoever makes it promises that groups, columns, values and operands are those of one product, the values by column (with
/// K = 1 by row, see `by_row`), and that no other thread has these rows of Y.
#[derive(Clone, Copy)]
pub(crate) struct Groups<S> {
    pub(crate) groups: *const Group,
    pub(crate) first: usize,
    pub(crate) end: usize,
    pub(crate) columns: *const u32,
    pub(crate) values: *const S,
    pub(crate) operands: Operands<S>,
    /// Values stand row by row; there is one column of X.
    pub(crate) by_row: bool,
    /// That is gathered by the instruction: every column fits a signed 32-bit index.
    pub(crate) gathers: bool,
    /// Registers of a span: 4, which four rows have room for, or 8 where groups are smaller; those of four rows are then
    /// done in two halves.
    pub(crate) widest: usize,
}

impl<S: Scalar> Vectorized<S> for Groups<S> {
    #[inline(always)]
    unsafe fn run<V: Vectors<S>>(self) {
        let Operands { k, x_distance, epilogue, .. } = self.operands;
        // SAFETY: the promises of whoever made it, and of the caller.
        unsafe {
            match self.by_row {
                true if x_distance != 1 => self.dot_products::<V, WithGaps>(),
                true if const { V::Wide::BY_INSTRUCTION } && !self.gathers => {
                    self.dot_products::<V, OneByOne>()
                }
                true => self.dot_products::<V, Gathered>(),
                false => {
                    let mut first = self.first;
                    while first < self.end {
                        let end = self.end.min(first.saturating_add(at_a_time::<S, V>(k)));
                        let groups = Groups { first, end, ..self };
                        if const { V::REGISTERS >= 32 } {
                            in_spans::<S, V, 8>(k, self.widest, &groups);
                        } else {
                            in_spans::<S, V, 2>(k, 2, &groups);
                        }
                        first = end;
                    }
                }
            }
        }
        if epilogue.is_streaming() {
            fence();
        }
    }
}

impl<S: Scalar> ForSpan<S> for Groups<S> {
    #[inline(always)]
    unsafe fn with<P: Span<S>, const CHAINS: usize>(&self, span: P, first_column: usize) {
        // A copy that nothing else points to: through a reference every store to Y would make the compiler read it again.
        let this = *self;
        // SAFETY: the promises of whoever made it, and of the caller.
        unsafe {
            for g in this.first..this.end {
                let (group, next) = (*this.groups.add(g), *this.groups.add(g + 1));
                match next.row - group.row {
                    1 => this.rows::<P, 1, 4>(span, first_column, group, next, 0),
                    2 => this.rows::<P, 2, 2>(span, first_column, group, next, 0),
                    3 => this.rows::<P, 3, 1>(span, first_column, group, next, 0),
                    _ if const { P::REGISTERS > 4 } => {
                        this.rows::<P, 2, 2>(span, first_column, group, next, 0);
                        this.rows::<P, 2, 2>(span, first_column, group, next, 2);
                    }
                    _ => this.rows::<P, 4, 1>(span, first_column, group, next, 0),
                }
            }
        }
    }
}

impl<S: Scalar> Groups<S> {
    /// The sums of `ROWS` rows of a group, from its row `offset` on, over a span of columns. `MORE` times as many run side by side where the span is narrow: those
    /// of a few rows alone would wait for the latency of every addition.
    #[inline(always)]
    unsafe fn rows<P: Span<S>, const ROWS: usize, const MORE: usize>(
        self,
        span: P,
        first_column: usize,
        group: Group,
        next: Group,
        offset: usize,
    ) {
        // SAFETY: the promises of whoever made it, and of the caller.
        unsafe {
            let sums = if const { P::REGISTERS == 1 } {
                self.sum::<P, ROWS, MORE>(span, first_column, group, next, offset)
            } else if const { P::REGISTERS == 2 && ROWS <= 2 } {
                self.sum::<P, ROWS, 2>(span, first_column, group, next, offset)
            } else {
                self.sum::<P, ROWS, 1>(span, first_column, group, next, offset)
            };
            for row in 0..ROWS {
                self.operands.write(span, group.row as usize + offset + row, first_column, sums[row]);
            }
        }
    }

    #[inline(always)]
    unsafe fn sum<P: Span<S>, const ROWS: usize, const CHAINS: usize>(
        self,
        span: P,
        first_column: usize,
        group: Group,
        next: Group,
        offset: usize,
    ) -> [P::Numbers; ROWS] {
        let Operands { x, x_distance, .. } = self.operands;
        // SAFETY: the promises of whoever made it, and of the caller; columns below `n`, values below `n` times the rows.
        unsafe {
            let x = x.wrapping_add(first_column);
            let n = (next.column - group.column) as usize;
            let columns = self.columns.add(group.column as usize);
            let values = self.values.add(group.value as usize + offset);
            // Known when compiling, but where a pair may be half of four.
            let rows = if ROWS == 2 { (next.row - group.row) as usize } else { ROWS };
            let mut sums = [[P::zero(); ROWS]; CHAINS];
            macro_rules! add {
                ($entry:expr, $chain:expr) => {
                    let x = span.load(x.wrapping_add(*columns.add($entry) as usize * x_distance));
                    for row in 0..ROWS {
                        let value = *values.add($entry * rows + row);
                        sums[$chain][row] = P::mul_add(value, x, sums[$chain][row]);
                    }
                };
            }
            let mut at = 0;
            while at + CHAINS <= n {
                for chain in 0..CHAINS {
                    add!(at + chain, chain);
                }
                at += CHAINS;
            }
            if CHAINS == 4 && n & 2 != 0 {
                add!(at, 0);
                add!(at + 1, 1);
                at += 2;
            }
            if CHAINS >= 2 && n & 1 != 0 {
                add!(at, CHAINS - 1);
            }
            let mut total = sums[0];
            for row in 0..ROWS {
                total[row] = match CHAINS {
                    1 => sums[0][row],
                    2 => P::add(sums[0][row], sums[1][row]),
                    _ => P::add(P::add(sums[0][row], sums[1][row]), P::add(sums[2][row], sums[3][row])),
                };
            }
            total
        }
    }

    /// K = 1: a register holds neighbouring columns of a group; X is fetched once for its rows.
    #[inline(always)]
    unsafe fn dot_products<V: Vectors<S>, F: Fetch<S>>(self) {
        // SAFETY: the promises of whoever made it, and of the caller.
        unsafe {
            for g in self.first..self.end {
                let (group, next) = (*self.groups.add(g), *self.groups.add(g + 1));
                match next.row - group.row {
                    1 => self.dots::<V, F, 1>(group, next),
                    2 => self.dots::<V, F, 2>(group, next),
                    3 => self.dots::<V, F, 3>(group, next),
                    _ => self.dots::<V, F, 4>(group, next),
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn dots<V: Vectors<S>, F: Fetch<S>, const ROWS: usize>(self, group: Group, next: Group) {
        let Operands { x, x_distance, y, y_distance, epilogue: Epilogue { alpha, beta, .. }, .. } =
            self.operands;
        let count = V::Wide::COUNT;
        // SAFETY: the promises of whoever made it, and of the caller; columns below `n`, values below `n · ROWS`.
        unsafe {
            let n = (next.column - group.column) as usize;
            let columns = self.columns.add(group.column as usize);
            let values = self.values.add(group.value as usize);
            let mut sums = [V::Wide::zero(); ROWS];
            let mut at = 0;
            while at + count <= n {
                let x = F::all(x, columns.add(at), x_distance);
                for row in 0..ROWS {
                    sums[row] = V::Wide::load(values.add(row * n + at)).mul_add(x, sums[row]);
                }
                at += count;
            }
            if at < n {
                let mask = V::Wide::first(n - at);
                let x = F::first(x, columns.add(at), x_distance, n - at);
                for row in 0..ROWS {
                    sums[row] = V::Wide::load_masked(values.add(row * n + at), mask).mul_add(x, sums[row]);
                }
            }
            for row in 0..ROWS {
                let y = y.wrapping_add((group.row as usize + row) * y_distance);
                update(&mut *y, alpha, sums[row].sum(), beta);
            }
        }
    }
}

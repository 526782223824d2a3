//! The inner loops of the formats that go row by row: sums of a span of columns in registers, one row of A after the other.

// Loops over indices: a closure would be a function of its own, which nobody compiles for the instruction set.
#![allow(clippy::needless_range_loop)]

use crate::Scalar;
use crate::machine::Vectorized;
use crate::matrix::{DenseView, DenseViewMut};
use crate::simd::{Gather, Lanes, Vectors, fence, prefetch};
use crate::spmm::cpu::kernels::epilogue::{Epilogue, update};
use crate::spmm::cpu::kernels::fetch::{Fetch, Gathered, OneByOne, WithGaps};
use crate::spmm::cpu::kernels::span::{ForSpan, Span, SpanOfY, at_a_time, in_spans};
use crate::spmm::cpu::partition::PIECE;

/// Rows below this have one sum: the rows that follow are already under way while its additions wait for each other, and
/// several sums would have to be cleared and added. Over MKL at K = 4 in f64: ash958 (2 nonzeros in each row) 0.71 with four,
/// 1.30 with one, west2021 (3.6) 0.70 and 1.10, gemat1 (9.6) 0.58 and 0.80, cage10 (13) 0.79 and 0.94.
pub(crate) const SHORT: usize = 24;

/// Rows below this can be multiplied with a vector one nonzero after the other: where nearly all are so short, filling lanes and
/// adding them up takes longer. Time with lanes over time without, one thread, f64 and f32: `band:200000x2` 1.6 and 2.0,
/// `uniform:200000x3` 1.15 and 1.9, `uniform:20000x5` 1.1 and 1.5, `uniform:20000x7` 1.0 and 1.25, `stencil5:300` 0.9 and 1.4. Where
/// longer rows stand between them, the processor does not foresee which loop comes next: soc-Epinions1 0.7 to 0.75. The number
/// was chosen with real matrices in view.
pub(crate) const FEW: usize = 8;

/// Y beyond this is written by non-temporal stores: it would push out what is still needed, and be fetched before it is overwritten.
/// Measured on stencil5 with K = 64 and 16: 1.3 times as fast. Below, whoever reads Y next finds it in the cache.
const STREAM_ABOVE_BYTES: usize = 16 << 20;

/// X, Y, α and β as kernels see them: addresses and distances of rows. Where only some of the rows are there, the addresses are those at
/// which row 0 would be: rows are reached by `wrapping_add`, since `add` must not begin outside of what was allocated.
#[derive(Clone, Copy)]
pub(crate) struct Operands<S> {
    pub(crate) x: *const S,
    pub(crate) x_distance: usize,
    pub(crate) y: *mut S,
    pub(crate) y_distance: usize,
    pub(crate) k: usize,
    pub(crate) epilogue: Epilogue<S>,
}

// SAFETY: threads read X and write rows of Y that are theirs alone; each kernel says how it shares them out.
unsafe impl<S: Sync> Sync for Operands<S> {}
// SAFETY: as above.
unsafe impl<S: Send> Send for Operands<S> {}

impl<S: Scalar> Operands<S> {
    /// The views must outlive what is done with it.
    pub(crate) fn new(alpha: S, x: DenseView<'_, S>, beta: S, mut y: DenseViewMut<'_, S>) -> Self {
        let (k, x_distance, y_distance) = (x.cols(), x.leading_dimension(), y.leading_dimension());
        let (rows, line) = (y.rows(), 64 / size_of::<S>());
        let y = y.data_mut().as_mut_ptr();
        let in_lines =
            (y as usize).is_multiple_of(64) && y_distance.is_multiple_of(line) && k.is_multiple_of(line);
        let stream = in_lines && rows.saturating_mul(k * size_of::<S>()) > STREAM_ABOVE_BYTES;
        let epilogue = Epilogue::new(alpha, beta);
        let epilogue = if stream { epilogue.streaming() } else { epilogue };
        let x = x.data().as_ptr();
        Operands { x, x_distance, y, y_distance, k, epilogue }
    }

    /// These operands with sums that are kept elsewhere: `y` has `k` numbers for each row.
    pub(crate) fn unscaled_into(&self, y: *mut S) -> Self {
        Operands { y, y_distance: self.k, epilogue: Epilogue::plain(), ..*self }
    }

    /// These operands, with rows of Y counted from this one on.
    pub(crate) fn at_row(&self, row: usize) -> Self {
        Operands { y: self.y.wrapping_add(row * self.y_distance), ..*self }
    }

    /// Writes a row's sums by the rules of BLAS.
    ///
    /// # Safety
    /// As for [`Lanes`]; the row is one of Y, no other thread has it, and the span's columns from `first` on are there.
    #[inline(always)]
    pub(crate) unsafe fn write<P: Span<S>>(&self, span: P, row: usize, first: usize, sums: P::Numbers) {
        // SAFETY: the caller's promise.
        unsafe {
            let y = self.y.wrapping_add(row * self.y_distance + first);
            self.epilogue.write(SpanOfY { span, y }, sums);
        }
    }
}

/// Rows of A, in the order in which they are stored.
pub(crate) trait RowList: Copy {
    /// Where the entries of the `i`-th stored row begin; those of the last end where one more would begin.
    ///
    /// # Safety
    /// `i` is at most the number of rows.
    unsafe fn start(self, i: usize) -> usize;
    /// Which row of Y that is.
    ///
    /// # Safety
    /// `i` is below the number of rows.
    unsafe fn row(self, i: usize) -> usize;
    /// Have nearly all rows fewer than [`FEW`] nonzeros? Asked for one column only.
    fn has_few_in_rows(self) -> bool {
        false
    }
}

/// Stored in order: plain CSR.
#[derive(Clone, Copy)]
pub(crate) struct InOrder {
    pub(crate) starts: *const usize,
    pub(crate) few_in_rows: bool,
}

impl RowList for InOrder {
    #[inline(always)]
    unsafe fn start(self, i: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { *self.starts.add(i) }
    }
    #[inline(always)]
    unsafe fn row(self, i: usize) -> usize {
        i
    }
    #[inline(always)]
    fn has_few_in_rows(self) -> bool {
        self.few_in_rows
    }
}

/// A times X for the stored rows `first..end`: a kernel to be run by `Machine::vectorized`.
///
/// Whoever makes it promises that the list, the entries and the operands are those of one product: starts rise and stay
/// below the number of entries, columns are rows of X, and no other thread has these rows of Y.
#[derive(Clone, Copy)]
pub(crate) struct Rows<S, R> {
    pub(crate) list: R,
    pub(crate) first: usize,
    pub(crate) end: usize,
    pub(crate) columns: *const u32,
    pub(crate) values: *const S,
    pub(crate) operands: Operands<S>,
    /// One column of X is gathered by the instruction: every column fits a signed 32-bit index.
    pub(crate) gathers: bool,
    /// How many entries ahead X is asked for; 0: not at all.
    pub(crate) ahead: usize,
}

impl<S: Scalar, R: RowList> Vectorized<S> for Rows<S, R> {
    #[inline(always)]
    unsafe fn run<V: Vectors<S>>(self) {
        let Operands { k, x_distance, epilogue, .. } = self.operands;
        // SAFETY: the promises of whoever made it, and of the caller.
        unsafe {
            if k != 1 {
                let mut first = self.first;
                while first < self.end {
                    let end = self.end.min(first.saturating_add(at_a_time::<S, V>(k)));
                    in_spans::<S, V, 8>(k, 8, &Rows { first, end, ..self });
                    first = end;
                }
            } else {
                // Asked once, not in every row.
                match self.list.has_few_in_rows() {
                    few if x_distance != 1 => self.dots_of::<V, WithGaps>(few),
                    few if const { V::Wide::BY_INSTRUCTION } && !self.gathers => {
                        self.dots_of::<V, OneByOne>(few)
                    }
                    few => self.dots_of::<V, Gathered>(few),
                }
            }
        }
        if epilogue.is_streaming() {
            fence();
        }
    }
}

impl<S: Scalar, R: RowList> ForSpan<S> for Rows<S, R> {
    #[inline(always)]
    unsafe fn with<P: Span<S>, const CHAINS: usize>(&self, span: P, first_column: usize) {
        // A copy that nothing else points to: through a reference every store to Y would make the compiler read it again.
        let Rows { list, first, end, columns, values, operands, ahead, .. } = *self;
        // SAFETY: the promises of whoever made it, and of the caller.
        unsafe {
            let (x, distance) = (operands.x.wrapping_add(first_column), operands.x_distance);
            let last = list.start(end);
            let (mut row, mut start) = (first, list.start(first));
            macro_rules! ask_ahead {
                ($row_end:expr) => {
                    if ahead > 0 {
                        for entry in start + ahead..($row_end + ahead).min(last) {
                            prefetch(x.wrapping_add(*columns.add(entry) as usize * distance));
                        }
                    }
                };
            }
            loop {
                // Short rows in a loop of their own: it is small enough that all it needs stays in registers.
                while row < end {
                    let row_end = list.start(row + 1);
                    if row_end - start >= SHORT {
                        break;
                    }
                    ask_ahead!(row_end);
                    let mut sums = P::zero();
                    while start < row_end {
                        let x = span.load(x.wrapping_add(*columns.add(start) as usize * distance));
                        sums = P::mul_add(*values.add(start), x, sums);
                        start += 1;
                    }
                    operands.write(span, list.row(row), first_column, sums);
                    row += 1;
                }
                if row == end {
                    break;
                }
                let row_end = list.start(row + 1);
                ask_ahead!(row_end);
                let mut sums = P::zero();
                while start < row_end {
                    let n = (row_end - start).min(PIECE);
                    let (columns, values) = (columns.add(start), values.add(start));
                    // As if it were a row of its own, which it is where threads share the row.
                    let piece = match n < SHORT {
                        true => sum::<S, P, 1>(span, columns, values, n, x, distance),
                        false => sum::<S, P, CHAINS>(span, columns, values, n, x, distance),
                    };
                    sums = P::add(sums, piece);
                    start += n;
                }
                operands.write(span, list.row(row), first_column, sums);
                row += 1;
            }
        }
    }
}

/// Σ value · X[column] over `n` entries.
///
/// # Safety
/// As for [`Lanes`]; so many entries must be there, and their columns be rows of X.
#[inline(always)]
pub(crate) unsafe fn sum<S: Scalar, P: Span<S>, const CHAINS: usize>(
    span: P,
    columns: *const u32,
    values: *const S,
    n: usize,
    x: *const S,
    distance: usize,
) -> P::Numbers {
    // SAFETY: the caller's promise; entries below `n`, chains below `CHAINS`.
    unsafe {
        let mut sums = [P::zero(); CHAINS];
        let mut at = 0;
        macro_rules! add {
            ($entry:expr, $chain:expr) => {
                let x = span.load(x.wrapping_add(*columns.add($entry) as usize * distance));
                sums[$chain] = P::mul_add(*values.add($entry), x, sums[$chain]);
            };
        }
        while at + CHAINS <= n {
            for chain in 0..CHAINS {
                add!(at + chain, chain);
            }
            at += CHAINS;
        }
        // What is left by its binary digits: two branches, each easier to foresee than the end of a loop.
        if CHAINS == 4 && n & 2 != 0 {
            add!(at, 0);
            add!(at + 1, 1);
            at += 2;
        }
        if CHAINS >= 2 && n & 1 != 0 {
            add!(at, CHAINS - 1);
        }
        match CHAINS {
            1 => sums[0],
            2 => P::add(sums[0], sums[1]),
            _ => P::add(P::add(sums[0], sums[1]), P::add(sums[2], sums[3])),
        }
    }
}

impl<S: Scalar, R: RowList> Rows<S, R> {
    #[inline(always)]
    unsafe fn dots_of<V: Vectors<S>, F: Fetch<S>>(self, few_in_rows: bool) {
        // SAFETY: the caller's promise.
        unsafe {
            match few_in_rows {
                true => self.dot_products::<V, F, true>(),
                false => self.dot_products::<V, F, false>(),
            }
        }
    }

    /// K = 1: a register holds neighbouring entries of a row instead of columns of X.
    #[inline(always)]
    unsafe fn dot_products<V: Vectors<S>, F: Fetch<S>, const FEW_IN_ROWS: bool>(self) {
        let Rows { list, first, end, operands, .. } = self;
        let Operands { y, y_distance, epilogue: Epilogue { alpha, beta, .. }, .. } = operands;
        // SAFETY: the promises of whoever made it, and of the caller.
        unsafe {
            let mut start = list.start(first);
            for i in first..end {
                let end = list.start(i + 1);
                let mut sum = self.dot::<V, F, FEW_IN_ROWS>(start, (end - start).min(PIECE));
                while end - start > PIECE {
                    start += PIECE;
                    sum += self.dot::<V, F, FEW_IN_ROWS>(start, (end - start).min(PIECE));
                }
                update(&mut *y.add(list.row(i) * y_distance), alpha, sum, beta);
                start = end;
            }
        }
    }

    /// Of a row, or of a piece of one, whoever has the other pieces.
    #[inline(always)]
    unsafe fn dot<V: Vectors<S>, F: Fetch<S>, const FEW_IN_ROWS: bool>(self, start: usize, n: usize) -> S {
        // SAFETY: the caller's promise.
        unsafe {
            match FEW_IN_ROWS && n < FEW {
                true => self.dot_of_few(start, n),
                false => self.dot_in_lanes::<V, F>(start, n),
            }
        }
    }

    /// One nonzero after the other, with two sums.
    #[inline(always)]
    unsafe fn dot_of_few(self, start: usize, n: usize) -> S {
        let Rows { columns, values, operands: Operands { x, x_distance, .. }, .. } = self;
        let mut sums = [S::ZERO; 2];
        // SAFETY: the promises of whoever made it, and of the caller; entries below `n`.
        unsafe {
            let term = |entry: usize| *values.add(entry) * *x.add(*columns.add(entry) as usize * x_distance);
            let (mut entry, end) = (start, start + n);
            while entry + 2 <= end {
                sums[0] += term(entry);
                sums[1] += term(entry + 1);
                entry += 2;
            }
            if entry < end {
                sums[0] += term(entry);
            }
        }
        sums[0] + sums[1]
    }

    #[inline(always)]
    unsafe fn dot_in_lanes<V: Vectors<S>, F: Fetch<S>>(self, start: usize, n: usize) -> S {
        let Operands { x, x_distance, .. } = self.operands;
        let count = V::Wide::COUNT;
        // SAFETY: the promises of whoever made it, and of the caller; entries below `n`.
        unsafe {
            let (mut columns, mut values, mut left) = (self.columns.add(start), self.values.add(start), n);
            let mut sums = [V::Wide::zero(); 2];
            while left >= 2 * count {
                for chain in 0..2 {
                    let x = F::all::<V::Wide>(x, columns.add(chain * count), x_distance);
                    sums[chain] = V::Wide::load(values.add(chain * count)).mul_add(x, sums[chain]);
                }
                (columns, values, left) = (columns.add(2 * count), values.add(2 * count), left - 2 * count);
            }
            if left >= count {
                sums[0] = V::Wide::load(values).mul_add(F::all(x, columns, x_distance), sums[0]);
                (columns, values, left) = (columns.add(count), values.add(count), left - count);
            }
            if left > 0 {
                let values = V::Wide::load_masked(values, V::Wide::first(left));
                sums[1] = values.mul_add(F::first(x, columns, x_distance, left), sums[1]);
            }
            sums[0].add(sums[1]).sum()
        }
    }
}

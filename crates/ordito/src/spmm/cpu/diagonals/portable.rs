//! The same product by loops that the compiler makes vectors of: for AVX2, and for what every processor has.

use crate::Scalar;
use crate::matrix::DenseView;
use crate::spmm::cpu::diagonals::Part;
use crate::spmm::cpu::formats::Chunk;
use crate::spmm::cpu::kernels::target::Target;

/// Rows of Y, compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt")]
pub(crate) fn multiply_avx2<S: Scalar>(part: Part<'_, S>, x: DenseView<'_, S>, y: Target<'_, S>) {
    multiply::<S, true>(part, x, y);
}

/// Rows of Y, with the fused multiply-add that every AArch64 has.
#[cfg(target_arch = "aarch64")]
pub(crate) fn multiply_neon<S: Scalar>(part: Part<'_, S>, x: DenseView<'_, S>, y: Target<'_, S>) {
    multiply::<S, true>(part, x, y);
}

/// Rows of Y.
pub(crate) fn multiply_portable<S: Scalar>(part: Part<'_, S>, x: DenseView<'_, S>, y: Target<'_, S>) {
    multiply::<S, false>(part, x, y);
}

/// The rows of a chunk of f32; of f64 half as many.
const MOST_LANES: usize = 16;

#[inline(always)]
fn multiply<S: Scalar, const FUSED: bool>(part: Part<'_, S>, x: DenseView<'_, S>, y: Target<'_, S>) {
    let lanes = 64 / size_of::<S>();
    let mut row = part.first_row;
    for chunk in part.chunks {
        let rows = part.end_row.min(row + lanes) - row;
        if let (1, Chunk::Diagonals { .. }) = (x.cols(), chunk)
            && x.leading_dimension() == 1
        {
            let sums = one_column::<S, FUSED>(chunk, x.data());
            for (lane, &sum) in sums[..rows].iter().enumerate() {
                // SAFETY: a row of this part, which no other thread writes.
                unsafe { y.write_element(row + lane, 0, sum) };
            }
        } else {
            (0..rows).for_each(|lane| one_row::<S, FUSED>(chunk, lane, x, y, row + lane));
        }
        row += lanes;
    }
}

#[inline(always)]
fn mul_add<S: Scalar, const FUSED: bool>(sum: &mut S, value: S, x: S) {
    *sum = if FUSED { value.mul_add(x, *sum) } else { *sum + value * x };
}

/// One column of X: the lanes of a diagonal side by side.
#[inline(always)]
fn one_column<S: Scalar, const FUSED: bool>(chunk: Chunk<'_, S>, x: &[S]) -> [S; MOST_LANES] {
    let lanes = 64 / size_of::<S>();
    let mut sums = [S::ZERO; MOST_LANES];
    let Chunk::Diagonals { full, full_values, partial, masks, partial_values: mut values } = chunk else {
        return sums;
    };
    for (&diagonal, values) in full.iter().zip(full_values.chunks_exact(lanes)) {
        let x = &x[diagonal as usize..][..lanes];
        for ((sum, &value), &x) in sums[..lanes].iter_mut().zip(values).zip(x) {
            mul_add::<S, FUSED>(sum, value, x);
        }
    }
    for (&diagonal, &mask) in partial.iter().zip(masks) {
        let mut left = mask;
        let (mine, rest) = values.split_at(mask.count_ones() as usize);
        values = rest;
        for &value in mine {
            let lane = left.trailing_zeros();
            left &= left - 1;
            mul_add::<S, FUSED>(&mut sums[lane as usize], value, x[diagonal.wrapping_add(lane) as usize]);
        }
    }
    sums
}

/// Any number of columns, in blocks whose sums stay in registers.
#[inline(always)]
fn one_row<S: Scalar, const FUSED: bool>(
    chunk: Chunk<'_, S>,
    lane: usize,
    x: DenseView<'_, S>,
    y: Target<'_, S>,
    row: usize,
) {
    let mut first = 0;
    while first < x.cols() {
        match x.cols() - first {
            16.. => block::<S, FUSED, 16>(chunk, lane, x, y, row, &mut first),
            4.. => block::<S, FUSED, 4>(chunk, lane, x, y, row, &mut first),
            _ => block::<S, FUSED, 1>(chunk, lane, x, y, row, &mut first),
        }
    }
}

#[inline(always)]
fn block<S: Scalar, const FUSED: bool, const WIDTH: usize>(
    chunk: Chunk<'_, S>,
    lane: usize,
    x: DenseView<'_, S>,
    y: Target<'_, S>,
    row: usize,
    first: &mut usize,
) {
    let mut sums = [S::ZERO; WIDTH];
    let mut add = |column: u32, value: S| {
        let x = &x.row(column as usize)[*first..][..WIDTH];
        sums.iter_mut().zip(x).for_each(|(sum, &x)| mul_add::<S, FUSED>(sum, value, x));
    };
    match chunk {
        Chunk::Rows { lengths, columns, values } => {
            let start = lengths[..lane].iter().map(|&length| length as usize).sum();
            let entries = start..start + lengths[lane] as usize;
            columns[entries.clone()].iter().zip(&values[entries]).for_each(|(&col, &value)| add(col, value));
        }
        Chunk::Diagonals { full, full_values, partial, masks, partial_values: mut values } => {
            let lanes = 64 / size_of::<S>();
            for (&diagonal, values) in full.iter().zip(full_values.chunks_exact(lanes)) {
                add(diagonal.wrapping_add(lane as u32), values[lane]);
            }
            for (&diagonal, &mask) in partial.iter().zip(masks) {
                if mask >> lane & 1 == 1 {
                    let before = mask & ((1 << lane) - 1);
                    add(diagonal.wrapping_add(lane as u32), values[before.count_ones() as usize]);
                }
                values = &values[mask.count_ones() as usize..];
            }
        }
    }
    for (j, &sum) in sums.iter().enumerate() {
        // SAFETY: a row of this part, which no other thread writes.
        unsafe { y.write_element(row, *first + j, sum) };
    }
    *first += WIDTH;
}

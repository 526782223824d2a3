//! The same product by loops that the compiler makes vectors of: for AVX2, and for what every processor has.

use crate::Scalar;
use crate::matrix::DenseView;
use crate::spmm::cpu::diagonals::Part;
use crate::spmm::cpu::formats::Run;
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
    for run in part.runs {
        let chunks = if let Run::Diagonals { chunks, .. } = run { chunks } else { 1 };
        for chunk in 0..chunks {
            let rows = part.end_row.min(row + lanes) - row;
            if let (1, 1, Run::Diagonals { .. }) = (x.cols(), x.leading_dimension(), run) {
                let sums = one_column::<S, FUSED>(run, chunk, part.cols, x.data());
                for (lane, &sum) in sums[..rows].iter().enumerate() {
                    // SAFETY: a row of this part, which no other thread writes.
                    unsafe { y.write_element(row + lane, 0, sum) };
                }
            } else {
                let of_run = chunk * lanes;
                (0..rows).for_each(|lane| one_row::<S, FUSED>(run, of_run + lane, x, y, row + lane));
            }
            row += lanes;
        }
    }
}

#[inline(always)]
fn mul_add<S: Scalar, const FUSED: bool>(sum: &mut S, value: S, x: S) {
    *sum = if FUSED { value.mul_add(x, *sum) } else { *sum + value * x };
}

/// One column of X, a chunk of the run: the lanes of a diagonal side by side.
#[inline(always)]
fn one_column<S: Scalar, const FUSED: bool>(
    run: Run<'_, S>,
    chunk: usize,
    cols: usize,
    x: &[S],
) -> [S; MOST_LANES] {
    let lanes = 64 / size_of::<S>();
    let mut sums = [S::ZERO; MOST_LANES];
    let Run::Diagonals { diagonals, masks, values, .. } = run else {
        return sums;
    };
    let places = chunk * diagonals.len();
    let values = values[places * lanes..].chunks_exact(lanes);
    let column = |diagonal: u32| diagonal.wrapping_add((chunk * lanes) as u32);
    let is_inside = run.chunks_inside(cols).contains(&chunk);
    if is_inside {
        for (&diagonal, values) in diagonals.iter().zip(values.clone()) {
            let x = &x[column(diagonal) as usize..][..lanes];
            for ((sum, &value), &x) in sums[..lanes].iter_mut().zip(values).zip(x) {
                mul_add::<S, FUSED>(sum, value, x);
            }
        }
    }
    // Zeros that stand for no nonzero make a difference where X is not finite, and then the sum is not a number.
    if masks.is_empty() || is_inside && sums.iter().all(|sum| sum.is_finite()) {
        return sums;
    }
    sums = [S::ZERO; MOST_LANES];
    for ((&diagonal, &mask), values) in diagonals.iter().zip(&masks[places..]).zip(values) {
        for lane in (0..lanes).filter(|lane| mask >> lane & 1 == 1) {
            let x = x[column(diagonal).wrapping_add(lane as u32) as usize];
            mul_add::<S, FUSED>(&mut sums[lane], values[lane], x);
        }
    }
    sums
}

/// Any number of columns, in blocks whose sums stay in registers.
#[inline(always)]
fn one_row<S: Scalar, const FUSED: bool>(
    run: Run<'_, S>,
    of_run: usize,
    x: DenseView<'_, S>,
    y: Target<'_, S>,
    row: usize,
) {
    let mut first = 0;
    while first < x.cols() {
        match x.cols() - first {
            16.. => block::<S, FUSED, 16>(run, of_run, x, y, row, &mut first),
            4.. => block::<S, FUSED, 4>(run, of_run, x, y, row, &mut first),
            _ => block::<S, FUSED, 1>(run, of_run, x, y, row, &mut first),
        }
    }
}

#[inline(always)]
fn block<S: Scalar, const FUSED: bool, const WIDTH: usize>(
    run: Run<'_, S>,
    of_run: usize,
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
    match run {
        Run::Rows { lengths, columns, values } => {
            let start = lengths[..of_run].iter().map(|&length| length as usize).sum();
            let entries = start..start + lengths[of_run] as usize;
            columns[entries.clone()].iter().zip(&values[entries]).for_each(|(&col, &value)| add(col, value));
        }
        Run::Diagonals { diagonals, masks, values, .. } => {
            let lanes = 64 / size_of::<S>();
            let (places, lane) = (of_run / lanes * diagonals.len(), of_run % lanes);
            for (at, &diagonal) in diagonals.iter().enumerate() {
                if masks.get(places + at).is_none_or(|mask| mask >> lane & 1 == 1) {
                    add(diagonal.wrapping_add(of_run as u32), values[(places + at) * lanes + lane]);
                }
            }
        }
    }
    for (j, &sum) in sums.iter().enumerate() {
        // SAFETY: a row of this part, which no other thread writes.
        unsafe { y.write_element(row, *first + j, sum) };
    }
    *first += WIDTH;
}

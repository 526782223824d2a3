//! Threaded CSR, ours: each thread takes consecutive rows with an even share of the *nonzeros*; within a row, the sums
//! for a block of up to 64 columns stay in vector registers, so A is read once per block and X by whole cache lines.
//! Loses where one row holds most of the nonzeros (rows are not cut), and to special formats on structured matrices.

use super::host::{HostKernel, OnHost, update};
use super::{Product, Spmm, Subject};
use crate::Scalar;
use crate::machine::{Machine, Refusal, SimdLevel};
use crate::matrix::{Csr, CsrView, DenseView, DenseViewMut};
use crate::ops::{Place, Variant};
use std::ops::Range;
use std::sync::Arc;

pub(super) struct CsrThreadsNnz;

struct Kernel<S> {
    a: Arc<Csr<S>>,
    machine: Arc<Machine>,
    shares: Vec<Range<usize>>,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn multiply(&mut self, alpha: S, x: DenseView<'_, S>, beta: S, y: DenseViewMut<'_, S>) {
        multiply_shares(&self.machine, self.a.view(), &self.shares, alpha, x, beta, y);
    }
}

/// Below this many multiply-adds waking a second thread costs more than it brings.
/// Measured for rayon's fork and join, 8 to 10 µs, on a 2-core Xeon.
pub(super) const SERIAL_BELOW: usize = 64 * 1024;

/// Cuts the rows into one range per thread, each with about the same number of nonzeros. A row counts as one
/// more than its nonzeros: writing its part of Y is work too, and empty rows must not pile up on one thread.
pub(super) fn even_shares<S: Scalar>(a: CsrView<'_, S>, threads: usize) -> Vec<Range<usize>> {
    let work_before = |row: usize| a.offsets()[row] + row;
    let total = work_before(a.rows());
    let mut start = 0;
    (1..=threads)
        .map(|thread| {
            let target = (total as u128 * thread as u128 / threads as u128) as usize;
            let (mut low, mut high) = (start, a.rows()); // the first row that starts at or after the target
            while low < high {
                let middle = low + (high - low) / 2;
                if work_before(middle) < target { low = middle + 1 } else { high = middle }
            }
            let share = start..low;
            start = low;
            share
        })
        .collect()
}

/// Y = αAX + βY with the rows shared out as given.
pub(super) fn multiply_shares<S: Scalar>(
    machine: &Machine,
    a: CsrView<'_, S>,
    shares: &[Range<usize>],
    alpha: S,
    x: DenseView<'_, S>,
    beta: S,
    y: DenseViewMut<'_, S>,
) {
    let simd = machine.cpu().simd;
    if shares.len() <= 1 || a.nonzeros().saturating_mul(x.cols()) < SERIAL_BELOW {
        return rows(simd, Rows { a, first_row: 0, alpha, x, beta, y });
    }
    let mut work = Vec::with_capacity(shares.len());
    let mut rest = y;
    for share in shares {
        let (mine, below) = rest.split_at_row(share.len());
        rest = below;
        work.push(Rows { a, first_row: share.start, alpha, x, beta, y: mine });
    }
    machine.pool().run_shares(work, |work| rows(simd, work));
}

/// Consecutive rows of the product: those of `y`, the first of which is row `first_row` of A.
struct Rows<'a, S> {
    a: CsrView<'a, S>,
    first_row: usize,
    alpha: S,
    x: DenseView<'a, S>,
    beta: S,
    y: DenseViewMut<'a, S>,
}

/// The same loop compiled for what the processor has.
fn rows<S: Scalar>(simd: SimdLevel, work: Rows<'_, S>) {
    match simd {
        // SAFETY: a machine's level never exceeds `SimdLevel::supported`, which asks the processor for each of
        // these instruction sets.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => unsafe { rows_avx512(work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => unsafe { rows_avx2(work) },
        _ => rows_portable(work),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2")]
fn rows_avx512<S: Scalar>(work: Rows<'_, S>) {
    in_blocks::<S, true, 64>(work);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2")]
fn rows_avx2<S: Scalar>(work: Rows<'_, S>) {
    in_blocks::<S, true, 32>(work);
}

fn rows_portable<S: Scalar>(work: Rows<'_, S>) {
    in_blocks::<S, false, 8>(work); // 16 registers of two f64 each: wider sums would spill
}

/// Walks K in the widest blocks that fit, row by row.
#[inline(always)]
fn in_blocks<S: Scalar, const FUSED: bool, const WIDEST: usize>(mut work: Rows<'_, S>) {
    let cols = work.x.cols();
    let left = |k: usize| cols - k;
    for row in 0..work.y.rows() {
        let mut k = 0;
        while WIDEST >= 64 && left(k) >= 64 {
            block::<S, FUSED, 64, 1>(&mut work, row, &mut k);
        }
        while WIDEST >= 32 && left(k) >= 32 {
            block::<S, FUSED, 32, 1>(&mut work, row, &mut k);
        }
        while WIDEST >= 16 && left(k) >= 16 {
            block::<S, FUSED, 16, 2>(&mut work, row, &mut k);
        }
        while left(k) >= 8 {
            block::<S, FUSED, 8, 2>(&mut work, row, &mut k);
        }
        while left(k) >= 4 {
            block::<S, FUSED, 4, 4>(&mut work, row, &mut k);
        }
        while left(k) >= 2 {
            block::<S, FUSED, 2, 4>(&mut work, row, &mut k);
        }
        while left(k) >= 1 {
            block::<S, FUSED, 1, 4>(&mut work, row, &mut k);
        }
    }
}

/// Columns `k..k + WIDTH` of one row of Y. `CHAINS` sums run side by side over neighbouring nonzeros, because one
/// sum alone would wait for the latency of every addition.
#[inline(always)]
fn block<S: Scalar, const FUSED: bool, const WIDTH: usize, const CHAINS: usize>(
    work: &mut Rows<'_, S>,
    row: usize,
    k: &mut usize,
) {
    let entries = work.a.range(work.first_row + row);
    let (columns, values) = (&work.a.columns()[entries.clone()], &work.a.values()[entries]);
    let (x_data, distance, first) = (work.x.data(), work.x.leading_dimension(), *k);
    let add = |sums: &mut [S; WIDTH], col: u32, value: S| {
        let at = col as usize * distance + first;
        for (sum, &x) in sums.iter_mut().zip(&x_data[at..at + WIDTH]) {
            *sum = if FUSED { value.mul_add(x, *sum) } else { *sum + value * x };
        }
    };

    let mut sums = [[S::ZERO; WIDTH]; CHAINS];
    let (column_groups, column_rest) = columns.as_chunks::<CHAINS>();
    let (value_groups, value_rest) = values.as_chunks::<CHAINS>();
    for (columns, values) in column_groups.iter().zip(value_groups) {
        for chain in 0..CHAINS {
            add(&mut sums[chain], columns[chain], values[chain]);
        }
    }
    for (&col, &value) in column_rest.iter().zip(value_rest) {
        add(&mut sums[0], col, value);
    }
    let mut total = sums[0];
    for chain in &sums[1..] {
        for (total, &sum) in total.iter_mut().zip(chain) {
            *total += sum;
        }
    }
    for (y, sum) in work.y.row_mut(row)[first..first + WIDTH].iter_mut().zip(total) {
        update(y, work.alpha, sum, work.beta);
    }
    *k += WIDTH;
}

impl<S: Scalar> Variant<Spmm<S>> for CsrThreadsNnz {
    fn name(&self) -> &'static str {
        "csr-threads-nnz"
    }
    fn about(&self) -> &'static str {
        "CSR, rows split at equal nonzeros, vector instructions across the columns of X"
    }
    fn place(&self) -> Place {
        Place::Threads
    }
    fn source(&self) -> &'static str {
        include_str!("csr_threads_nnz.rs")
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let a = &subject.a;
        let shares = even_shares(a.view(), machine.threads());
        let kernel = Kernel { a: a.clone(), machine: machine.clone(), shares };
        Ok(OnHost::boxed(kernel, (a.rows(), a.cols()), subject.k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix whose rows have these lengths (all in column 0).
    fn rows_of(lengths: &[usize]) -> Csr<f64> {
        let mut offsets = vec![0];
        lengths.iter().for_each(|length| offsets.push(offsets.last().unwrap() + length));
        let nonzeros = *offsets.last().unwrap();
        Csr::from_parts(lengths.len(), 1, offsets, vec![0; nonzeros], vec![1.0; nonzeros]).unwrap()
    }

    #[test]
    fn shares_cover_every_row_once_in_order() {
        for lengths in
            [vec![], vec![0; 10], vec![1000], vec![1000, 1, 1, 1], vec![1, 1, 1, 1000], vec![3; 100]]
        {
            for threads in [1, 2, 3, 16] {
                let shares = even_shares(rows_of(&lengths).view(), threads);
                assert_eq!(shares.len(), threads);
                assert_eq!(shares[0].start, 0);
                assert_eq!(shares[threads - 1].end, lengths.len());
                assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
            }
        }
    }

    #[test]
    fn shares_are_even_up_to_one_row() {
        let lengths: Vec<usize> = (0..1000).map(|row| row * 7919 % 50).collect();
        let total: usize = lengths.iter().map(|length| length + 1).sum();
        for share in even_shares(rows_of(&lengths).view(), 4) {
            let work: usize = lengths[share].iter().map(|length| length + 1).sum();
            assert!(work.abs_diff(total / 4) <= 50, "{work} of {total}");
        }
    }

    /// Rows with entries in one column only, at every vector level; `tests/conformance.rs` has the rest.
    #[test]
    fn every_vector_level_gives_the_product() {
        let a = rows_of(&[3, 0, 9, 1]);
        for k in [1, 2, 3, 7, 15, 31, 63, 64, 127] {
            let numbers: Vec<f64> = (0..k).map(|i| (i + 1) as f64).collect();
            let detected = crate::machine::CpuInfo::detect().simd;
            for simd in [SimdLevel::Portable, SimdLevel::Avx2, SimdLevel::Avx512] {
                if simd > detected {
                    continue;
                }
                let mut y = vec![f64::NAN; 4 * k];
                let x = DenseView::new(&numbers, 1, k, k).unwrap();
                let y_view = DenseViewMut::new(&mut y, 4, k, k).unwrap();
                rows(simd, Rows { a: a.view(), first_row: 0, alpha: 2.0, x, beta: 0.0, y: y_view });
                for (row, length) in [3.0, 0.0, 9.0, 1.0].into_iter().enumerate() {
                    let expected: Vec<f64> = numbers.iter().map(|x| 2.0 * length * x).collect();
                    assert_eq!(y[row * k..(row + 1) * k], expected, "{simd:?}, k = {k}, row {row}");
                }
            }
        }
    }
}

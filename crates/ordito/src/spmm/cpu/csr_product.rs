//! Y = αAX + βY of plain CSR on the threads of a machine: what `csr-threads-nnz` runs, and the library's call without a plan.
//! Nothing is converted, and nothing allocated but a few sums of rows longer than 16 K nonzeros.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{CsrSlices, DenseView, DenseViewMut};
use crate::spmm::cpu::kernels::epilogue::update;
use crate::spmm::cpu::kernels::fetch::gathers;
use crate::spmm::cpu::kernels::row_kernel::{FEW, InOrder, Operands, Rows};
use crate::spmm::cpu::partition::{Part, RowChunks};
use std::ops::Range;

/// With the rows shared out as given, X asked for `ahead` entries before it is needed; shapes have been checked. The same bits on any number of threads.
#[expect(clippy::too_many_arguments, reason = "the operands of BLAS, and how to go about them")]
pub(crate) fn multiply_chunks<S: Scalar>(
    machine: &Machine,
    a: CsrSlices<'_, S>,
    chunks: &RowChunks,
    ahead: usize,
    alpha: S,
    x: DenseView<'_, S>,
    beta: S,
    mut y: DenseViewMut<'_, S>,
) {
    let k = x.cols();
    let mut sums = vec![S::ZERO; chunks.slots() * k];
    let operands = Operands::new(alpha, x, beta, y.reborrow());
    let pieces = operands.unscaled_into(sums.as_mut_ptr());
    let gathers = gathers(machine, a.cols());
    let few_in_rows = k == 1 && have_few(a.offsets());
    let (columns, values) = (a.columns(), a.values());
    // The view keeps what the kernel relies on: offsets rise to the number of entries, columns are rows of X. A chunk has its
    // rows of Y, or its slots among the sums, to itself.
    let multiply = move |offsets: &[usize], first: usize, end: usize, operands: Operands<S>| {
        let list = InOrder { starts: offsets.as_ptr(), few_in_rows };
        let (columns, values) = (columns.as_ptr(), values.as_ptr());
        machine.vectorized(Rows { list, first, end, columns, values, operands, gathers, ahead });
    };
    machine.run_chunks(chunks.count(), move |chunk| {
        for part in chunks.parts(chunk, a.offsets()) {
            match part {
                Part::Rows(rows) => multiply(a.offsets(), rows.start, rows.end, operands),
                Part::Piece { entries, slot } => {
                    multiply(&[entries.start, entries.end], 0, 1, pieces.at_row(slot));
                }
            }
        }
    });
    for cut in chunks.cut_rows() {
        for (col, y) in y.row_mut(cut.row).iter_mut().enumerate() {
            let sum = cut.slots.clone().map(|slot| sums[slot * k + col]).reduce(|a, b| a + b);
            update(y, alpha, sum.unwrap_or(S::ZERO), beta);
        }
    }
}

/// Some rows, for whoever has operands of his own. The same bits as [`multiply_chunks`] where more than one column is multiplied.
///
/// # Safety
/// The operands have the rows of X that these rows read and the rows of Y that they are, which no other thread has.
pub(crate) unsafe fn multiply_rows<S: Scalar>(
    machine: &Machine,
    a: CsrSlices<'_, S>,
    rows: Range<usize>,
    ahead: usize,
    operands: Operands<S>,
) {
    let few_in_rows = operands.k == 1 && have_few(a.offsets());
    let list = InOrder { starts: a.offsets().as_ptr(), few_in_rows };
    let (columns, values) = (a.columns().as_ptr(), a.values().as_ptr());
    let gathers = gathers(machine, a.cols());
    let (first, end) = (rows.start, rows.end);
    machine.vectorized(Rows { list, first, end, columns, values, operands, gathers, ahead });
}

/// Rows that are looked at, so few that small matrices do not wait for it, and how many of them have to be short.
const LOOKED_AT: usize = 64;
const NEARLY_ALL: f64 = 0.95;

/// Have nearly all rows fewer nonzeros than [`FEW`]? Of a sample.
fn have_few(offsets: &[usize]) -> bool {
    let rows = offsets.len() - 1;
    let looked_at = rows.min(LOOKED_AT);
    let is_short = |sample: &usize| {
        let row = sample * rows / looked_at;
        offsets[row + 1] - offsets[row] < FEW
    };
    (0..looked_at).filter(is_short).count() as f64 >= NEARLY_ALL * looked_at as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{CpuInfo, SimdLevel};
    use crate::machine::Limits;
    use crate::matrix::Csr;
    use crate::op::Op;
    use crate::spmm::product::{Spmm, Subject};
    use std::sync::Arc;

    /// Rows and columns. Times 64 columns of 8 bytes: more than the 16 MiB from which on Y is written by non-temporal stores.
    const N: usize = 33_000;

    /// Three entries in every row, which jump about.
    fn jumping<S: Scalar>() -> Arc<Csr<S>> {
        let columns = (0..3 * N).map(|entry| (entry * 7_919 * 31 % N) as u32).collect();
        let values = (0..3 * N).map(|entry| S::from_f64((entry % 97) as f64 / 7.0 - 6.0)).collect();
        Arc::new(Csr::from_parts(N, N, (0..=N).map(|row| 3 * row).collect(), columns, values).unwrap())
    }

    /// Y = AX in rows of Y that are `distance` apart and begin so many elements behind a cache line. With a second-level cache
    /// as small as this X is asked for ahead, with an unknown one it is not.
    fn product<S: Scalar>(
        level: SimdLevel,
        l2_bytes: Option<u64>,
        a: &Arc<Csr<S>>,
        x: DenseView<'_, S>,
        (distance, behind_line): (usize, usize),
    ) -> Vec<S> {
        let k = x.cols();
        let cpu = CpuInfo { simd: level, l2_bytes, ..CpuInfo::detect() };
        let machine = Machine::new(cpu.clone(), 2, Limits::of(&cpu)).unwrap();
        let ahead = crate::spmm::cpu::prefetch::distance(&machine, a.view(), k);
        assert_eq!(ahead > 0, l2_bytes.is_some(), "K = {k}");
        let line = 64 / size_of::<S>();
        let mut memory = vec![S::POISON; (N - 1) * distance + k + 2 * line];
        let start = memory.as_ptr().align_offset(64) + behind_line;
        let y = &mut memory[start..start + (N - 1) * distance + k];
        let variant = Spmm::<S>::variant(crate::spmm::cpu::csr_threads_nnz::DESCRIPTION.name).unwrap();
        let mut ready = variant.prepare(&machine, &Subject { a: a.clone(), triplets: None, k }).unwrap();
        ready.apply(S::ONE, x, S::ZERO, DenseViewMut::new(y, N, k, distance).unwrap()).unwrap();
        let gap_is_left = |row: &[S]| row[k.min(row.len())..].iter().all(|gap| gap.to_f64().is_nan());
        assert!(y.chunks(distance).all(gap_is_left), "K = {k}, {distance} apart");
        y.chunks(distance).flat_map(|row| &row[..k]).copied().collect()
    }

    fn writing_and_asking_change_no_bit<S: Scalar>(k: usize) {
        let (a, line) = (jumping::<S>(), 64 / size_of::<S>());
        let x: Vec<S> = (0..N * k).map(|i| S::from_f64((i % 1013) as f64 / 3.0 - 100.0)).collect();
        let x = DenseView::new(&x, N, k, k).unwrap();
        for level in SimdLevel::ALL.into_iter().filter(|&level| level <= CpuInfo::detect().simd) {
            // Nothing that can be written in whole lines, and nothing asked for.
            let plain = product(level, None, &a, x, (k + 3, 1));
            for l2_bytes in [None, Some(1024)] {
                // Whole lines if K has them, without and with gaps; and once more none.
                for layout in [(k, 0), (k + line, 0), (k + 1, 1)] {
                    let found = product(level, l2_bytes, &a, x, layout);
                    let same = |(a, b): (&S, &S)| a.to_f64().to_bits() == b.to_f64().to_bits();
                    assert!(found.iter().zip(&plain).all(same), "{level}, K = {k}, {layout:?}, {l2_bytes:?}");
                }
            }
        }
    }

    #[test]
    fn nearly_all_rows_are_short() {
        let offsets = |lengths: &[usize]| {
            let starts = lengths.iter().scan(0, |end, length| {
                *end += length;
                Some(*end)
            });
            [0].into_iter().chain(starts).collect::<Vec<usize>>()
        };
        assert!(have_few(&offsets(&[7; 3000])) && have_few(&[0]));
        assert!(!have_few(&offsets(&[8; 3000])));
        let long_in =
            |of: usize| -> Vec<usize> { (0..64).map(|row| if row % of == 0 { 30 } else { 2 }).collect() };
        assert!(!have_few(&offsets(&long_in(16))), "4 of 64");
        assert!(have_few(&offsets(&long_in(22))), "3 of 64");
    }

    #[test]
    fn short_pieces_of_long_rows_have_the_same_bits_on_any_number_of_threads() {
        use crate::spmm::cpu::partition::PIECE;
        // Short rows, and one that leaves three entries behind its last whole piece.
        let (short, long) = (4000, 3 * PIECE + 3);
        let offsets: Vec<usize> = (0..=short).chain([short + long]).collect();
        let columns = (0..short + long).map(|entry| (entry * 7_919 % 50_000) as u32).collect();
        let values = (0..short + long).map(|entry| (entry % 97) as f64 / 7.0 - 6.0).collect();
        let a = Csr::from_parts(short + 1, 50_000, offsets, columns, values).unwrap();
        let x: Vec<f64> = (0..50_000).map(|i| (i % 1013) as f64 / 3.0 - 100.0).collect();
        assert!(have_few(a.view().offsets()));
        let product = |threads| {
            let machine = Machine::with_threads(threads).unwrap();
            let chunks = RowChunks::new(a.view().offsets(), 1, threads);
            let (x, mut y) = (DenseView::new(&x, 50_000, 1, 1).unwrap(), vec![f64::NAN; short + 1]);
            let of_y = DenseViewMut::new(&mut y, short + 1, 1, 1).unwrap();
            multiply_chunks(&machine, a.view(), &chunks, 0, 1.0, x, 0.0, of_y);
            (chunks.slots() > 0, y)
        };
        let ((is_cut, one), (is_cut_by_four, four)) = (product(1), product(4));
        assert!(!is_cut && is_cut_by_four, "threads share the long row");
        assert_eq!(one, four);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn writing_past_the_caches_and_asking_ahead_change_no_bit() {
        [64, 67].into_iter().for_each(writing_and_asking_change_no_bit::<f64>);
        [128, 131].into_iter().for_each(writing_and_asking_change_no_bit::<f32>);
    }
}

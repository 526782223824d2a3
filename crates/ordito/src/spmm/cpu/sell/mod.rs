//! SELL-C-σ for one column of X: threads take stretches of slices; the rows of a slice, of about the same length, are the lanes
//! of a vector, and every step gathers a number of X for each, by an instruction or one by one: no row is too short to fill a vector, none ends with a misprediction.
//! Loses where diagonals or rows of one pattern need no gathers at all. For more columns of X: CSR, as `csr-threads-nnz`.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use crate::Scalar;
use crate::cpu::SimdLevel;
use crate::machine::Machine;
use crate::matrix::{Csr, DenseView, DenseViewMut, lanes};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::csr_threads_nnz;
use crate::spmm::cpu::formats::{Border, Sell, Window};
use crate::spmm::cpu::host::{HostKernel, OnHost};
use crate::spmm::cpu::kernels::compact_x::{compact, compacted};
use crate::spmm::cpu::kernels::epilogue::update;
use crate::spmm::cpu::kernels::fetch::{NARROW_COLUMNS, gathers};
use crate::spmm::cpu::kernels::target::Target;
use crate::spmm::cpu::panels::InParts;
use crate::spmm::cpu::partition::{chunk_count, even_borders, snap};
use crate::spmm::cpu::prefetch::is_far;
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

pub(crate) struct SellThreadsSlices;

struct Kernel<S> {
    a: Sell<S>,
    machine: Arc<Machine>,
    /// Where what a thread takes at a time begins and ends.
    borders: Vec<Border>,
    /// A does not lie in the caches of the cores.
    far: bool,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn repack(&self, x: DenseView<'_, S>, room: &mut Vec<S>) -> bool {
        in_vectors(self.machine.cpu().simd, &self.a) && compact(&self.machine, x, room)
    }

    fn multiply(&self, alpha: S, x: DenseView<'_, S>, repacked: &[S], beta: S, mut y: DenseViewMut<'_, S>) {
        let (a, simd, pieces) = (&self.a, self.machine.cpu().simd, self.a.pieces().len());
        let in_vectors = in_vectors(simd, a);
        let x = if in_vectors { compacted(x, repacked) } else { x };
        let how = How { simd, in_vectors, gathers: gathers(&self.machine, a.cols()), far: self.far };
        let long_rows = || a.pieces().chunk_by(|one, next| one.row == next.row);
        // What stands in Y where long rows go, and the sum of every piece of one. Nearly always there are none.
        let long_rows_before: Vec<S> = long_rows().map(|row| y.row_mut(row[0].row)[0]).collect();
        let mut piece_sums = vec![S::ZERO; pieces];
        {
            let sums = Target::new(S::ONE, S::ZERO, DenseViewMut::compact(&mut piece_sums, pieces, 1));
            let y = Target::new(alpha, beta, y.reborrow());
            let borders = &self.borders;
            self.machine.run_chunks(pieces + borders.len() - 1, move |task| {
                if task < pieces {
                    // SAFETY: each piece has a place of its own.
                    unsafe { sums.write_element(task, 0, piece_sum(how, a, task, x)) };
                } else {
                    let share = task - pieces;
                    let windows = a.between(borders[share], borders[share + 1]);
                    windows.for_each(|window| multiply_window(how, window, x, y));
                }
            });
        }
        // Long rows have no entries in their windows, which have written them all the same. Pieces are added in their order, by
        // one thread, whoever summed them up.
        for (row, &before) in long_rows().zip(&long_rows_before) {
            let first = row[0].index;
            let sum = piece_sums[first..first + row.len()].iter().fold(S::ZERO, |sum, &piece| sum + piece);
            let y = &mut y.row_mut(row[0].row)[0];
            *y = before;
            update(y, alpha, sum, beta);
        }
    }

    fn set_values(&mut self, a: &Arc<Csr<S>>) -> bool {
        self.machine.pool().install(|| self.a.set_values(a.view()))
    }

    fn bytes(&self) -> u64 {
        self.a.bytes()
    }
}

/// CSR, for any number of columns but one.
struct ManyColumns<S>(csr_threads_nnz::Kernel<S>);

impl<S: Scalar> HostKernel<S> for ManyColumns<S> {
    fn multiply(&self, alpha: S, x: DenseView<'_, S>, repacked: &[S], beta: S, y: DenseViewMut<'_, S>) {
        self.0.multiply(alpha, x, repacked, beta, y);
    }
    fn in_parts(&self) -> Option<&dyn InParts<S>> {
        self.0.in_parts()
    }
}

/// Which kernel.
#[derive(Clone, Copy)]
struct How {
    simd: SimdLevel,
    /// The one with rows in the lanes of vectors.
    in_vectors: bool,
    /// Which gathers X by the instruction, or loads its numbers one by one.
    gathers: bool,
    /// A does not lie in the caches of the cores.
    far: bool,
}

/// The kernel for the processor.
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
fn multiply_window<S: Scalar>(
    How { simd, in_vectors, gathers, far }: How,
    window: Window<'_, S>,
    x: DenseView<'_, S>,
    y: Target<'_, S>,
) {
    match simd {
        // SAFETY: a machine's level never exceeds what the processor has; shapes have been checked: X has a row for every
        // column of the matrix. Slices are disjoint: nobody else writes their rows.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 if in_vectors => unsafe {
            match gathers {
                true => avx512::multiply::<S, true>(window, far, x.data().as_ptr(), y),
                false => avx512::multiply::<S, false>(window, far, x.data().as_ptr(), y),
            }
        },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 | SimdLevel::Avx2 => unsafe { portable::multiply_avx2(window, x, y) },
        #[cfg(target_arch = "aarch64")]
        SimdLevel::Neon => portable::multiply_neon(window, x, y),
        _ => portable::multiply_portable(window, x, y),
    }
}

#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
fn piece_sum<S: Scalar>(
    How { simd, in_vectors, gathers, .. }: How,
    a: &Sell<S>,
    piece: usize,
    x: DenseView<'_, S>,
) -> S {
    let (columns, values) = a.piece(piece);
    match simd {
        // SAFETY: as for windows.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 if in_vectors => unsafe {
            match gathers {
                true => avx512::piece::<S, true>(columns, values, x.data().as_ptr()),
                false => avx512::piece::<S, false>(columns, values, x.data().as_ptr()),
            }
        },
        _ => portable::piece(columns, values, x),
    }
}

/// For which X must have no gaps, and columns fit a signed 32-bit index.
fn in_vectors<S: Scalar>(simd: SimdLevel, a: &Sell<S>) -> bool {
    simd == SimdLevel::Avx512 && a.cols() <= NARROW_COLUMNS
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "sell-threads-slices",
    "SELL-C-σ: rows of about the same length in the lanes of a vector, gathers from X; for K = 1 (else as csr-threads-nnz)",
    Place::Threads,
    source_file!("spmm/cpu/sell/mod.rs"),
).converted();

impl<S: Scalar> Variant<Spmm<S>> for SellThreadsSlices {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        if subject.k != 1 {
            let kernel = ManyColumns(csr_threads_nnz::Kernel::new(machine, subject.a.clone(), subject.k));
            return Ok(OnHost::boxed(machine, kernel, subject.a.shape(), subject.k));
        }
        let (rows, nonzeros) = (subject.a.rows(), subject.a.nnz());
        // Never more than CSR, and while it is prepared twice: parts that threads have made, and what they are joined to.
        let needed = Csr::<S>::bytes_for(rows, nonzeros).and_then(|bytes| bytes.checked_mul(2));
        machine.check_memory("SELL-C-σ", needed)?;
        let a = machine.pool().install(|| Sell::from_csr(&subject.a));
        // A step takes the same time however many lanes have an entry left, and writing a row as long as two of them: counted as nonzeros.
        let mut work = vec![0];
        work.extend(a.steps().scan(0, |before, steps| {
            *before += (steps + 2) * lanes::<S>();
            Some(*before)
        }));
        // A gather fetches for many: half of what a nonzero takes elsewhere. (`uniform:2000x5`, f32, two cores: 2.4
        // µs on one thread, 3.0 on two.)
        let chunks = chunk_count(machine.threads(), work[a.slices()].saturating_mul(3));
        let mut borders = even_borders(a.slices(), chunks, |slice| work[slice]);
        snap(&mut borders, &a.windows().collect::<Vec<_>>(), |slice| work[slice]);
        let borders = borders.into_iter().map(|slice| a.border(slice)).collect();
        let shape = (rows, a.cols());
        let of_csr = Csr::<S>::bytes_for(rows, nonzeros).unwrap_or(u64::MAX);
        let of_values = if a.has_one_value() { (nonzeros * size_of::<S>()) as u64 } else { 0 };
        let far = is_far(machine, of_csr.saturating_sub(of_values));
        let kernel = Kernel { a, machine: machine.clone(), borders, far };
        Ok(OnHost::boxed(machine, kernel, shape, 1))
    }
}

//! Diagonal runs: threads take stretches of rows; in a chunk of rows the lanes of a vector are neighbouring rows, whose
//! entries on one diagonal meet neighbouring rows of X: A and X are read by whole vectors, with one index for a diagonal of
//! a run of chunks. Loses where rows share no diagonals, and gains little where K is large and X, not A, is what takes the time.

#[cfg(target_arch = "x86_64")]
mod avx512_few;
#[cfg(target_arch = "x86_64")]
mod avx512_many;
mod portable;
#[cfg(target_arch = "x86_64")]
mod rows_avx512;
mod tiles;

use crate::Scalar;
use crate::cpu::SimdLevel;
use crate::machine::Machine;
use crate::matrix::{Csr, DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::formats::{DiagonalRuns, Run, Runs};
use crate::spmm::cpu::host::{HostKernel, OnHost, refill};
use crate::spmm::cpu::kernels::compact_x::{compact, compacted};
use crate::spmm::cpu::kernels::fetch::{NARROW_COLUMNS, gathers};
use crate::spmm::cpu::kernels::target::Target;
use crate::spmm::cpu::partition::{chunk_count, even_borders};
use crate::spmm::cpu::prefetch::is_far;
use crate::spmm::product::{Product, Spmm, Subject};
use std::ops::Range;
use std::sync::Arc;
use tiles::Groups;

pub(crate) struct DiagonalsThreadsChunks;

struct Kernel<S> {
    a: Arc<DiagonalRuns<S>>,
    machine: Arc<Machine>,
    /// Stretches in the order in which they are taken.
    pieces: Vec<Range<usize>>,
    /// Pieces at which what a thread takes at a time begins and ends.
    borders: Vec<usize>,
    /// A does not lie in the caches of the cores.
    far: bool,
}

impl<S: Scalar> Kernel<S> {
    fn new(machine: &Arc<Machine>, a: Arc<DiagonalRuns<S>>, k: usize) -> Self {
        // A row counts as two values: writing its part of Y is work too.
        let before = |stretch: usize| a.values_before(stretch) + 2 * a.first_row(stretch);
        // X is read in order: a nonzero costs as much as one column beside its columns, no more. (`band:3000x3`, one column, f32,
        // two cores: 1.3 µs on one thread, 2.2 on two.)
        let chunks = chunk_count(machine.threads(), before(a.stretches()).saturating_mul(k + 1));
        let far = is_far(machine, a.bytes());
        let tiles = machine.cpu().l2_bytes.and_then(|l2_bytes| {
            let rows_of_stretch = a.first_row(1.min(a.stretches()));
            groups(&a)?.in_tiles(a.stretches(), rows_of_stretch, k * size_of::<S>(), l2_bytes)
        });
        let all: Range<usize> = 0..a.stretches();
        let (pieces, borders) = shared_out(&tiles.unwrap_or_else(|| vec![all]), chunks, before);
        Kernel { a, machine: machine.clone(), pieces, borders, far }
    }

    /// With few columns vectors hold several rows of X, which must follow each other without gaps.
    fn wants_compact_x(&self, k: usize) -> bool {
        self.machine.cpu().simd == SimdLevel::Avx512 && self.a.cols() <= NARROW_COLUMNS && is_few::<S>(k)
    }
}

/// Stretches that are looked at for the groups that diagonals stand in.
const LOOKED_AT: usize = 32;

/// Those of the run with the most diagonals among some, if most have groups like them.
fn groups<S: Scalar>(a: &DiagonalRuns<S>) -> Option<Groups> {
    let looked_at = a.stretches().min(LOOKED_AT);
    let found = (0..looked_at).filter_map(|sample| {
        let stretch = sample * a.stretches() / looked_at;
        let Run::Diagonals { diagonals, .. } = a.runs(stretch..stretch + 1).next()? else { return None };
        let first_row = a.first_row(stretch) as i64;
        let from_main: Vec<i64> =
            diagonals.iter().map(|&diagonal| i64::from(diagonal as i32) - first_row).collect();
        Some((diagonals.len(), Groups::of(&from_main)?))
    });
    let found: Vec<(usize, Groups)> = found.collect();
    let &(_, most) = found.iter().max_by_key(|(diagonals, _)| diagonals)?;
    let alike = found.iter().filter(|(_, groups)| groups.is_like(most)).count();
    (2 * alike > looked_at).then_some(most)
}

/// Pieces, which hold every stretch once, cut where shares of about equal work begin; and where among them each share begins and ends.
fn shared_out(
    pieces: &[Range<usize>],
    shares: usize,
    before: impl Fn(usize) -> usize,
) -> (Vec<Range<usize>>, Vec<usize>) {
    let work_of = |stretches: Range<usize>| before(stretches.end) - before(stretches.start);
    // Stretches and work before each piece, and in all.
    let mut starts = vec![(0, 0)];
    for piece in pieces {
        let (stretches, work) = starts[starts.len() - 1];
        starts.push((stretches + piece.len(), work + work_of(piece.clone())));
    }
    let (count, all_work) = starts[pieces.len()];
    // The piece that a place in the order lies in, and how far.
    let find = |place: usize| {
        let piece = starts.partition_point(|&(stretches, _)| stretches <= place) - 1;
        (piece, place - starts[piece].0)
    };
    let work_before = |place: usize| match find(place) {
        (piece, inside) if piece < pieces.len() => {
            let start = pieces[piece].start;
            starts[piece].1 + work_of(start..start + inside)
        }
        _ => all_work,
    };
    let (mut cut, mut borders) = (Vec::new(), vec![0]);
    for share in even_borders(count, shares, work_before).windows(2) {
        let mut place = share[0];
        while place < share[1] {
            let (piece, inside) = find(place);
            let start = pieces[piece].start + inside;
            let end = pieces[piece].end.min(start + share[1] - place);
            place += end - start;
            cut.push(start..end);
        }
        borders.push(cut.len());
    }
    (cut, borders)
}

/// Columns of X for which there is a kernel with whole vectors of them. (Rows of 8 f32 would leave half of a vector empty: 0.5
/// to 0.9 of the speed of MKL.)
fn is_few<S>(k: usize) -> bool {
    matches!((k, size_of::<S>()), (1..=4, _) | (8, 4))
}

/// Some stretches of the matrix.
struct Part<'a, S> {
    runs: Runs<'a, S>,
    first_row: usize,
    /// One more than the last.
    end_row: usize,
    /// Columns of the matrix.
    cols: usize,
    /// One column of X is gathered by the instruction.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    gathers: bool,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn repack(&self, x: DenseView<'_, S>, room: &mut Vec<S>) -> bool {
        self.wants_compact_x(x.cols()) && compact(&self.machine, x, room)
    }

    fn multiply(&self, alpha: S, x: DenseView<'_, S>, repacked: &[S], beta: S, y: DenseViewMut<'_, S>) {
        if x.cols() == 0 {
            return;
        }
        let x = if self.wants_compact_x(x.cols()) { compacted(x, repacked) } else { x };
        let (a, simd) = (&self.a, self.machine.cpu().simd);
        let y = Target::new(alpha, beta, y);
        self.machine.run_chunks(self.borders.len() - 1, move |share| {
            let gathers = gathers(&self.machine, a.cols());
            for stretches in &self.pieces[self.borders[share]..self.borders[share + 1]] {
                let (first_row, end_row) = (a.first_row(stretches.start), a.first_row(stretches.end));
                let part =
                    Part { runs: a.runs(stretches.clone()), first_row, end_row, cols: a.cols(), gathers };
                // Pieces are disjoint ranges of rows: nobody else writes to those of this one.
                multiply_part(simd, part, self.far, x, y);
            }
        });
    }

    fn for_columns(&self, subject: &Subject<S>) -> Option<Box<dyn HostKernel<S>>> {
        Some(Box::new(Kernel::new(&self.machine, self.a.clone(), subject.k)))
    }

    fn set_values(&mut self, a: &Arc<Csr<S>>) -> bool {
        refill(&self.machine, &mut self.a, |own| own.set_values(a.view()))
    }

    fn bytes(&self) -> u64 {
        self.a.bytes()
    }
}

/// The kernel for the processor and the number of columns.
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
fn multiply_part<S: Scalar>(
    simd: SimdLevel,
    part: Part<'_, S>,
    far: bool,
    x: DenseView<'_, S>,
    y: Target<'_, S>,
) {
    let (k, distance, data) = (x.cols(), x.leading_dimension(), x.data().as_ptr());
    match simd {
        // SAFETY: a machine's level never exceeds what the processor has; shapes have been checked: X has a row for every
        // column of the matrix. Columns are below 2³¹, which gathers rely on.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 if part.cols <= NARROW_COLUMNS => unsafe {
            match if is_few::<S>(k) && distance == k { k } else { 0 } {
                1 => avx512_few::multiply::<S, 1>(part, far, data, y),
                2 => avx512_few::multiply::<S, 2>(part, far, data, y),
                3 => avx512_few::multiply::<S, 3>(part, far, data, y),
                4 => avx512_few::multiply::<S, 4>(part, far, data, y),
                8 => avx512_few::multiply::<S, 8>(part, far, data, y),
                _ => avx512_many::multiply(part, data, distance, k, y),
            }
        },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 | SimdLevel::Avx2 => unsafe { portable::multiply_avx2(part, x, y) },
        #[cfg(target_arch = "aarch64")]
        SimdLevel::Neon => portable::multiply_neon(part, x, y),
        _ => portable::multiply_portable(part, x, y),
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "diagonals-threads-chunks",
    "diagonal runs: neighbouring rows in the lanes of a vector, one index per diagonal; for stencils and bands",
    Place::Threads,
    source_file!("spmm/cpu/diagonals/mod.rs"),
).converted();

impl<S: Scalar> Variant<Spmm<S>> for DiagonalsThreadsChunks {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let (rows, nonzeros) = (subject.a.rows(), subject.a.nnz());
        // While it is prepared twice: parts that threads have made, and what they are joined to.
        let needed = DiagonalRuns::<S>::bytes_for(rows, nonzeros).and_then(|bytes| bytes.checked_mul(2));
        machine.check_memory("diagonal runs", needed)?;
        let a = machine.pool().install(|| DiagonalRuns::from_csr(&subject.a))?;
        let shape = (a.rows(), a.cols());
        Ok(OnHost::boxed(machine, Kernel::new(machine, Arc::new(a), subject.k), shape, subject.k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::CpuInfo;
    use crate::machine::Limits;
    use crate::matrix::{Coo, Duplicates};

    /// A grid of so many points in each direction; every point with all of its neighbours.
    fn grid(side: usize) -> Arc<Csr<f64>> {
        let near = |at: usize| at.saturating_sub(1)..(at + 2).min(side);
        let (mut rows, mut cols) = (Vec::new(), Vec::new());
        for row in 0..side * side * side {
            let (z, y, x) = (row / (side * side), row / side % side, row % side);
            for z in near(z) {
                for y in near(y) {
                    for x in near(x) {
                        rows.push(row as u32);
                        cols.push(((z * side + y) * side + x) as u32);
                    }
                }
            }
        }
        let values = (0..rows.len()).map(|i| (i % 1013) as f64 / 64.0 - 7.0).collect();
        let n = side * side * side;
        Arc::new(Csr::from_coo(&Coo::new(n, n, rows, cols, values).unwrap(), Duplicates::Keep))
    }

    #[test]
    fn shares_have_even_work_and_hold_every_stretch_once() {
        let before = |stretch: usize| 10 * stretch;
        let (all, none): (Range<usize>, Range<usize>) = (0..10, 0..0);
        assert_eq!(shared_out(&[all], 3, before), (vec![0..4, 4..7, 7..10], vec![0, 1, 2, 3]));
        let (cut, borders) = shared_out(&[0..3, 6..9, 3..6, 9..12], 5, before);
        assert_eq!(cut, [0..3, 6..8, 8..9, 3..5, 5..6, 9..10, 10..12]);
        assert_eq!(borders, [0, 1, 2, 4, 6, 7]);
        assert_eq!(shared_out(&[none], 2, before), (vec![], vec![0, 0, 0]));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn tiles_change_no_bit() {
        let (a, k) = (grid(40), 32);
        let x: Vec<f64> = (0..a.cols() * k).map(|i| (i % 127) as f64 / 8.0 - 5.0).collect();
        let x = DenseView::new(&x, a.cols(), k, k).unwrap();
        let product = |l2_bytes: Option<u64>| {
            let cpu = CpuInfo { l2_bytes, ..CpuInfo::detect() };
            let machine = Arc::new(Machine::new(cpu.clone(), 2, Limits::of(&cpu)).unwrap());
            let kernel = Kernel::new(&machine, Arc::new(DiagonalRuns::from_csr(&a).unwrap()), k);
            let mut y = vec![f64::NAN; a.rows() * k];
            kernel.multiply(1.5, x, &[], 0.0, DenseViewMut::new(&mut y, a.rows(), k, k).unwrap());
            (kernel.pieces.is_sorted_by_key(|piece| piece.start), y)
        };
        let ((in_order, plain), (in_order_of_tiles, tiled)) = (product(None), product(Some(800 << 10)));
        assert!(in_order && !in_order_of_tiles);
        assert!(plain == tiled);
    }
}

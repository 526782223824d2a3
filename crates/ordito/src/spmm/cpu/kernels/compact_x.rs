//! X without gaps between its rows, for kernels whose vectors reach from one row into the next. Copied where it has gaps: sums
//! are then formed as without them, and have the same bits.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::spmm::cpu::kernels::target::Target;
use crate::spmm::cpu::partition::chunk_count;

/// Copies X if it has gaps; `false`: it has none.
pub(crate) fn compact<S: Scalar>(machine: &Machine, x: DenseView<'_, S>, room: &mut Vec<S>) -> bool {
    let (rows, cols) = (x.rows(), x.cols());
    if x.leading_dimension() == cols {
        return false;
    }
    room.resize(rows * cols, S::ZERO);
    let copy = Target::new(S::ONE, S::ZERO, DenseViewMut::compact(room, rows, cols));
    let chunks = chunk_count(machine.threads(), rows * cols);
    let rows_per_chunk = rows.div_ceil(chunks.max(1));
    machine.team().run(chunks, |chunk| {
        for row in chunk * rows_per_chunk..rows.min((chunk + 1) * rows_per_chunk) {
            for (col, &number) in x.row(row).iter().enumerate() {
                // SAFETY: a row of the copy, which is in no other chunk.
                unsafe { copy.write_element(row, col, number) };
            }
        }
    });
    true
}

/// The copy, if X has gaps; it was made of this X.
pub(crate) fn compacted<'a, S: Scalar>(x: DenseView<'a, S>, copy: &'a [S]) -> DenseView<'a, S> {
    match x.leading_dimension() == x.cols() {
        true => x,
        false => DenseView::compact(copy, x.rows(), x.cols()),
    }
}

//! Y = αAX + βY of plain CSR on the threads of a machine: what `csr-threads-nnz` runs, and the library's call without a plan.
//! Nothing is converted, and nothing allocated but a few sums of rows longer than 16 K nonzeros.

use super::host::update;
use super::row_chunks::{Part, RowChunks};
use super::row_kernel::{InOrder, Operands, Rows};
use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{CsrView, DenseView, DenseViewMut};

/// Columns up to here can be gathered: the instruction reads indices as signed.
pub(super) const NARROW_COLUMNS: usize = i32::MAX as usize;

/// With the rows shared out as given, X asked for `ahead` entries before it is needed; shapes have been checked. The same bits on any number of threads.
#[expect(clippy::too_many_arguments, reason = "the operands of BLAS, and how to go about them")]
pub(super) fn multiply_chunks<S: Scalar>(
    machine: &Machine,
    a: CsrView<'_, S>,
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
    let narrow_columns = a.cols() <= NARROW_COLUMNS;
    let (columns, values) = (a.columns(), a.values());
    // The view keeps what the kernel relies on: offsets rise to the number of entries, columns are rows of X. A chunk has its
    // rows of Y, or its slots among the sums, to itself.
    let multiply = |list: &[usize], first: usize, end: usize, operands: Operands<S>| {
        let (list, columns, values) = (InOrder(list.as_ptr()), columns.as_ptr(), values.as_ptr());
        machine.vectorized(Rows { list, first, end, columns, values, operands, narrow_columns, ahead });
    };
    machine.team().run(chunks.count(), |chunk| {
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

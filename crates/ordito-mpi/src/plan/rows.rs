//! Rows gathered and scattered: packing for messages.

use ordito::{DenseView, DenseViewMut, Scalar};

/// These rows, one behind the other.
pub(super) fn gather<S: Scalar>(x: DenseView<'_, S>, rows: impl Iterator<Item = usize>, into: &mut [S]) {
    let k = x.cols();
    for (row, into) in rows.zip(into.chunks_exact_mut(k.max(1))) {
        into.copy_from_slice(x.row(row));
    }
}

/// Adds them, one behind the other, to these rows.
pub(super) fn scatter_add<S: Scalar>(
    from: &[S],
    rows: impl Iterator<Item = usize>,
    y: &mut DenseViewMut<'_, S>,
) {
    let k = y.cols();
    for (row, from) in rows.zip(from.chunks_exact(k.max(1))) {
        y.row_mut(row).iter_mut().zip(from).for_each(|(y, from)| *y += *from);
    }
}

/// Y = X + βY; where β is 0, nothing of Y is read.
pub(super) fn add_rows<S: Scalar>(x: DenseView<'_, S>, beta: S, y: &mut DenseViewMut<'_, S>) {
    for row in 0..y.rows() {
        let y = y.row_mut(row).iter_mut().zip(x.row(row));
        match beta == S::ZERO {
            true => y.for_each(|(y, x)| *y = *x),
            false => y.for_each(|(y, x)| *y = *x + beta * *y),
        }
    }
}

/// Copies all rows, one behind the other.
pub(super) fn copy<S: Scalar>(x: DenseView<'_, S>, into: &mut [S]) {
    let k = x.cols();
    match x.leading_dimension() == k {
        true => into.copy_from_slice(&x.data()[..x.rows() * k]),
        false => gather(x, 0..x.rows(), into),
    }
}

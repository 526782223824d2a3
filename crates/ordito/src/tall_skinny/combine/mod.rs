//! Y = XC: every column of Y is a combination of the columns of X. X is n×p, C small, p×q.

mod contract;
mod cpu;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) mod cuda;
mod operands;
mod reference;
mod registry;
mod select;

pub use contract::Shape;
#[doc(hidden)] // for the crates of this workspace
pub use contract::{Combination, Combine, Inputs};
pub(crate) use cpu::dense_threads_rows::combine_parts;

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::{RunError, check_shape};
use crate::tall_skinny::Part;

/// [Y₁ Y₂ …] = [X₁ X₂ …]·C on the threads of `machine`: one pass over all blocks, which have the same number of rows. C has a row for
/// every column of the X and a column for every one of the Y.
///
/// ```
/// use ordito::tall_skinny::combine;
/// use ordito::{Dense, Machine};
/// let x = Dense::from_rows(2, 2, vec![1.0, 2.0, 3.0, 4.0])?;
/// let c = Dense::from_rows(2, 1, vec![1.0, -1.0])?;
/// let mut y = Dense::zeros(2, 1)?;
/// let machine = Machine::all_cores()?;
/// combine(&machine, &[x.view()], c.view(), &mut [y.view_mut()])?;
/// assert_eq!(y.data(), &[-1.0, -1.0]);
/// # Ok::<(), ordito::Error>(())
/// ```
pub fn combine<S: Scalar>(
    machine: &Machine,
    x: &[DenseView<'_, S>],
    c: DenseView<'_, f64>,
    y: &mut [DenseViewMut<'_, S>],
) -> Result<(), RunError> {
    of_all(machine, x, c, y, false)
}

/// [X₁ X₂ …] ← [X₁ X₂ … W₁ W₂ …]·C in place: C has a row for every column of the X and of the W, and a column for every one of the X.
///
/// ```
/// use ordito::tall_skinny::update;
/// use ordito::{Dense, Machine};
/// let (mut x, w) = (Dense::from_rows(2, 1, vec![1.0, 2.0])?, Dense::from_rows(2, 1, vec![10.0, 20.0])?);
/// let c = Dense::from_rows(2, 1, vec![3.0, 1.0])?; // X ← 3X + W
/// let machine = Machine::all_cores()?;
/// update(&machine, &mut [x.view_mut()], &[w.view()], c.view())?;
/// assert_eq!(x.data(), &[13.0, 26.0]);
/// # Ok::<(), ordito::Error>(())
/// ```
pub fn update<S: Scalar>(
    machine: &Machine,
    x: &mut [DenseViewMut<'_, S>],
    w: &[DenseView<'_, S>],
    c: DenseView<'_, f64>,
) -> Result<(), RunError> {
    of_all(machine, w, c, x, true)
}

/// `in_place`: what is written is read too, before `read`.
fn of_all<S: Scalar>(
    machine: &Machine,
    read: &[DenseView<'_, S>],
    c: DenseView<'_, f64>,
    written: &mut [DenseViewMut<'_, S>],
    in_place: bool,
) -> Result<(), RunError> {
    let rows = written.first().map_or(0, DenseViewMut::rows);
    for view in read {
        check_shape(if in_place { "W" } else { "X" }, view.shape(), (rows, view.cols()))?;
    }
    for view in written.iter() {
        check_shape(if in_place { "X" } else { "Y" }, view.shape(), (rows, view.cols()))?;
    }
    let into: Vec<Part<S>> = written.iter_mut().map(Part::written).collect();
    let before = if in_place { &into[..] } else { &[] };
    let from: Vec<Part<S>> = before.iter().copied().chain(read.iter().map(Part::read)).collect();
    let cols = |parts: &[Part<S>]| crate::tall_skinny::columns_of(parts);
    check_shape("C", c.shape(), (cols(&from), cols(&into)))?;
    // SAFETY: the views are borrowed, have so many rows, and those that are written are nobody else's.
    unsafe { combine_parts(machine, rows, &from, c, &into) };
    Ok(machine.interrupt().check()?)
}

#[cfg(test)]
mod tests;

//! G = XᵀY: inner products of columns, n×p and n×q, added up over all rows. G is p×q, in f64.

mod contract;
mod cpu;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) mod cuda;
mod operands;
mod reference;
mod registry;
mod select;

pub(crate) use contract::Kind;
#[doc(hidden)] // for the crates of this workspace
pub use contract::{Gram, InnerProducts, Inputs};
pub use contract::{Shape, Sums};
pub(crate) use cpu::dense_threads_panels::gram_of_parts;

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Dense, DenseView};
use crate::op::{RunError, check_shape};
use crate::tall_skinny::{Part, columns_of};

/// G = [X₁ X₂ …]ᵀ[Y₁ Y₂ …] on the threads of `machine`: one pass over all blocks, which have the same number of rows. `Y` may be left
/// out: G = XᵀX, symmetric to the last bit, for little more than half the work.
///
/// ```
/// use ordito::tall_skinny::{Sums, gram};
/// use ordito::{Dense, Machine};
/// let x = Dense::from_rows(3, 2, vec![1.0, 0.0, 2.0, 1.0, 3.0, -1.0])?;
/// let y = Dense::from_rows(3, 1, vec![1.0, 1.0, 1.0])?;
/// let machine = Machine::all_cores()?;
/// assert_eq!(gram(&machine, &[x.view()], Some(&[y.view()]), Sums::AsData)?.data(), &[6.0, 0.0]);
/// assert_eq!(gram(&machine, &[x.view()], None, Sums::AsData)?.data(), &[14.0, -1.0, -1.0, 2.0]);
/// # Ok::<(), ordito::Error>(())
/// ```
pub fn gram<S: Scalar>(
    machine: &Machine,
    x: &[DenseView<'_, S>],
    y: Option<&[DenseView<'_, S>]>,
    sums: Sums,
) -> Result<Dense<f64>, RunError> {
    let rows = x.first().or(y.and_then(<[_]>::first)).map_or(0, DenseView::rows);
    for view in x {
        check_shape("X", view.shape(), (rows, view.cols()))?;
    }
    for view in y.unwrap_or_default() {
        check_shape("Y", view.shape(), (rows, view.cols()))?;
    }
    let left: Vec<Part<S>> = x.iter().map(Part::read).collect();
    let right: Vec<Part<S>> = y.map_or_else(|| left.clone(), |y| y.iter().map(Part::read).collect());
    let kind = if y.is_some() { Kind::General } else { Kind::Symmetric };
    let mut g = Dense::zeros(columns_of(&left), columns_of(&right))?;
    // SAFETY: the views are borrowed, and have so many rows.
    unsafe { gram_of_parts(machine, rows, &left, &right, kind, sums, g.data_mut()) };
    machine.interrupt().check()?;
    Ok(g)
}

#[cfg(test)]
mod tests;

//! Y += α · what multiplies X of others.

use crate::error::Error;
use crate::plan::pieces::{Piece, plan, rows_of};
use crate::plan::rows::{gather, scatter_add};
use crate::split;
use ordito::op::ListedRows;
use ordito::spmm::Plan;
use ordito::{Dense, DenseView, DenseViewMut, Machine, Scalar};
use std::ops::Range;
use std::sync::Arc;

/// Made ready.
pub(super) enum Outer<S: Scalar> {
    /// No entries.
    None,
    /// Ranges of rows that are added to where they lie.
    InPlace(Vec<Piece<S>>),
    /// Rows here and there: computed together, then added.
    Listed { plan: Box<Plan<S>>, rows: Vec<u32>, on_device: Option<Box<ListedRows<S>>> },
}

/// More ranges than this are a list; on a device, which adds listed rows in one launch, any are.
const MOST_RANGES: usize = 8;

impl<S: Scalar> Outer<S> {
    pub(super) fn new(
        part: split::Outer<S>,
        machine: &Arc<Machine>,
        variant: Option<&str>,
    ) -> Result<Self, Error> {
        if part.a.nnz() == 0 {
            return Ok(Outer::None);
        }
        let Some(rows) = part.rows else {
            let rows = 0..part.a.rows();
            return Ok(Outer::InPlace(vec![Piece { rows, plan: plan(part.a, machine, variant)? }]));
        };
        let ranges = ranges(&rows);
        let is_on_device = machine.accelerator() != ordito::Accelerator::None;
        if ranges.len() > MOST_RANGES || is_on_device {
            let plan = Box::new(plan(part.a, machine, variant)?);
            let on_device =
                plan.device().map(|device| ListedRows::new(device, &rows)).transpose()?.map(Box::new);
            return Ok(Outer::Listed { plan, rows, on_device });
        }
        let mut first = 0;
        let piece = |rows: Range<usize>| {
            let a = rows_of(&part.a, first..first + rows.len())?;
            first += rows.len();
            Ok(Piece { rows, plan: plan(a, machine, variant)? })
        };
        Ok(Outer::InPlace(ranges.into_iter().map(piece).collect::<Result<_, Error>>()?))
    }

    /// Rows that need a place of their own on a device.
    pub(super) fn scratch_rows(&self) -> usize {
        if let Outer::Listed { rows, .. } = self { rows.len() } else { 0 }
    }

    pub(super) fn plans(&self) -> Vec<&Plan<S>> {
        match self {
            Outer::None => Vec::new(),
            Outer::InPlace(pieces) => pieces.iter().map(|piece| &piece.plan).collect(),
            Outer::Listed { plan, .. } => vec![plan],
        }
    }

    /// Y += α · this · X.
    pub(super) fn add(
        &self,
        alpha: S,
        x: DenseView<'_, S>,
        scratch: &mut Option<Dense<S>>,
        mut y: DenseViewMut<'_, S>,
    ) -> Result<(), Error> {
        match self {
            Outer::None => {}
            Outer::InPlace(pieces) => {
                for piece in pieces {
                    let (_, below) = y.reborrow().split_at_row(piece.rows.start);
                    let (rows, _) = below.split_at_row(piece.rows.len());
                    piece.plan.apply(alpha, x, S::ONE, rows)?;
                }
            }
            Outer::Listed { plan, rows, .. } => {
                let scratch = kept(scratch, rows.len(), x.cols())?;
                plan.apply(alpha, x, S::ZERO, scratch.view_mut())?;
                scatter_add(scratch.data(), rows.iter().map(|&row| row as usize), &mut y);
            }
        }
        Ok(())
    }

    /// Y = α · thisᵀ · X, where Y has a row for every column.
    pub(super) fn transposed(
        &self,
        alpha: S,
        x: DenseView<'_, S>,
        scratch: &mut Option<Dense<S>>,
        mut y: DenseViewMut<'_, S>,
    ) -> Result<(), Error> {
        match self {
            Outer::None => (0..y.rows()).for_each(|row| y.row_mut(row).fill(S::ZERO)),
            Outer::InPlace(pieces) => {
                let mut beta = S::ZERO;
                for piece in pieces {
                    let rows = some_rows(x, piece.rows.clone())?;
                    piece.plan.transposed()?.apply(alpha, rows, beta, y.reborrow())?;
                    beta = S::ONE;
                }
            }
            Outer::Listed { plan, rows, .. } => {
                let scratch = kept(scratch, rows.len(), x.cols())?;
                gather(x, rows.iter().map(|&row| row as usize), scratch.data_mut());
                plan.transposed()?.apply(alpha, scratch.view(), S::ZERO, y)?;
            }
        }
        Ok(())
    }
}

/// What is kept, or made now.
fn kept<S: Scalar>(scratch: &mut Option<Dense<S>>, rows: usize, k: usize) -> Result<&mut Dense<S>, Error> {
    Ok(match scratch {
        Some(scratch) => scratch,
        none => none.insert(Dense::zeros(rows, k)?),
    })
}

/// A range of rows of X.
pub(super) fn some_rows<S: Scalar>(
    x: DenseView<'_, S>,
    rows: Range<usize>,
) -> Result<DenseView<'_, S>, Error> {
    let start = (rows.start * x.leading_dimension()).min(x.data().len());
    Ok(DenseView::new(&x.data()[start..], rows.len(), x.cols(), x.leading_dimension())?)
}

/// Ascending numbers as ranges.
fn ranges(rows: &[u32]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for &row in rows {
        let row = row as usize;
        match ranges.last_mut() {
            Some(last) if last.end == row => last.end += 1,
            _ => ranges.push(row..row + 1),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 7, 9, 10]), [0..3, 7..8, 9..11]);
        assert_eq!(ranges(&[]), []);
    }
}

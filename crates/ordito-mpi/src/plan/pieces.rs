//! The own part of a matrix in pieces: between them messages are moved on.
//!
//! Few MPIs move messages while nobody calls them, and a thread that would call them all the time takes a core from the product. A piece is a range of rows with a plan of its own:
//! cutting costs nothing, since rows are independent.

use crate::error::Error;
use ordito::spmm::Plan;
use ordito::{Csr, Machine, Scalar};
use std::ops::Range;
use std::sync::Arc;

/// A piece takes longer than a look for messages does, by far.
const LEAST_NONZEROS: usize = 200_000;
/// More would not hide more.
const MOST_PIECES: usize = 8;

pub(super) struct Piece<S: Scalar> {
    pub(super) rows: Range<usize>,
    pub(super) plan: Plan<S>,
}

/// Pieces of equally many nonzeros; one if nothing is exchanged, or if a device computes.
pub(super) fn cut<S: Scalar>(
    a: Csr<S>,
    exchanges: bool,
    machine: &Arc<Machine>,
    variant: Option<&str>,
) -> Result<Vec<Piece<S>>, Error> {
    let on_device = machine.accelerator() != ordito::Accelerator::None;
    let count = (a.nnz() / LEAST_NONZEROS).clamp(1, MOST_PIECES);
    if count == 1 || !exchanges || on_device {
        let rows = 0..a.rows();
        return Ok(vec![Piece { rows, plan: plan(a, machine, variant)? }]);
    }
    let mut pieces = Vec::new();
    let mut first = 0;
    for piece in 1..=count {
        let share = a.nnz() * piece / count;
        let end = if piece == count {
            a.rows()
        } else {
            a.row_offsets().partition_point(|&at| at < share).min(a.rows())
        };
        if end > first {
            pieces.push(Piece { rows: first..end, plan: plan(rows_of(&a, first..end)?, machine, variant)? });
        }
        first = first.max(end);
    }
    Ok(pieces)
}

/// By that variant, or by what `auto` chooses.
pub(super) fn plan<S: Scalar>(
    a: Csr<S>,
    machine: &Arc<Machine>,
    variant: Option<&str>,
) -> Result<Plan<S>, Error> {
    Ok(match variant {
        Some(name) => Plan::with_variant(name, a, machine)?,
        None => Plan::new(a, machine)?,
    })
}

pub(super) fn rows_of<S: Scalar>(a: &Csr<S>, rows: Range<usize>) -> Result<Csr<S>, Error> {
    let offsets = &a.row_offsets()[rows.start..=rows.end];
    let entries = offsets[0]..offsets[rows.len()];
    let offsets = offsets.iter().map(|at| at - entries.start).collect();
    let (columns, values) = (a.col_indices()[entries.clone()].to_vec(), a.values()[entries].to_vec());
    Ok(Csr::from_parts(rows.len(), a.cols(), offsets, columns, values)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_all_rows_once() {
        let machine = Machine::with_threads(1).unwrap();
        let a: Csr<f64> = ordito::io::read_csr("stencil27:30").unwrap();
        let (rows, nnz) = (a.rows(), a.nnz());
        let pieces = cut(a, true, &machine, None).unwrap();
        assert!(pieces.len() > 1, "{nnz}");
        assert_eq!(pieces.iter().map(|piece| piece.plan.matrix().nnz()).sum::<usize>(), nnz);
        let mut next = 0;
        for piece in &pieces {
            assert_eq!((piece.rows.start, piece.rows.len()), (next, piece.plan.matrix().rows()));
            next = piece.rows.end;
        }
        assert_eq!(next, rows);
        // A row that is a share by itself, among empty ones.
        let long = Csr::from_parts(
            4,
            600_000,
            vec![0, 0, 600_000, 600_000, 600_000],
            (0..600_000).collect(),
            vec![1.0; 600_000],
        )
        .unwrap();
        let pieces = cut(long, true, &machine, None).unwrap();
        assert_eq!(pieces.iter().map(|piece| piece.rows.len()).sum::<usize>(), 4);
    }
}

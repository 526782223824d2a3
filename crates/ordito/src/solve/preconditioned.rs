//! A preconditioner that lies where the blocks do.

use crate::Scalar;
use crate::matrix::DenseView;
use crate::solve::blocks::{Block, Columns};
use crate::solve::error::SolveError;
use crate::solve::operator::{Operator, Preconditioner};
use crate::solve::shared::Rows;
use crate::solve::together::check_fits;
use crate::solve::workspace::Workspace;

impl<S: Scalar> Preconditioner<'_, S> {
    /// Does it fit a matrix of n rows?
    pub(crate) fn check(&self, n: Rows) -> Result<(), SolveError> {
        match self {
            Preconditioner::Diagonal(d) if d.len() != n.local => Err(SolveError::Asked(format!(
                "the preconditioner has {} numbers, {} expected",
                d.len(),
                n.local
            ))),
            Preconditioner::Operator(t) => check_fits("the preconditioner", *t, n),
            _ => Ok(()),
        }
    }
}

pub(crate) enum Prepared<'a, S: Scalar> {
    /// One column.
    Diagonal(Block),
    Operator(&'a dyn Operator<S>),
}

impl<S: Scalar> Workspace<S> {
    pub(crate) fn prepared<'a>(
        &mut self,
        given: &Option<Preconditioner<'a, S>>,
        n: Rows,
    ) -> Result<Option<Prepared<'a, S>>, SolveError> {
        Ok(match given {
            Some(Preconditioner::Diagonal(numbers)) => {
                let block = self.add("the preconditioner", n, 1)?;
                self.write(block.all(), DenseView::new(numbers, numbers.len(), 1, 1)?)?;
                Some(Prepared::Diagonal(block))
            }
            Some(Preconditioner::Operator(m)) => Some(Prepared::Operator(*m)),
            None => None,
        })
    }

    /// Z = M·R. Columns of Z behind these may be written too. Of a diagonal Z may be R.
    pub(crate) fn precondition(
        &mut self,
        with: &Prepared<'_, S>,
        r: Columns,
        z: Columns,
    ) -> Result<(), SolveError> {
        match with {
            Prepared::Operator(m) => self.apply_preconditioner(*m, r, z),
            Prepared::Diagonal(factors) => {
                if r != z {
                    self.copy(r, z)?;
                }
                self.scale_rows(factors.all(), z)
            }
        }
    }
}

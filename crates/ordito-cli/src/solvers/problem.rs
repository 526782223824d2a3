//! A matrix that a command solves with, wherever its rows lie.

use crate::solvers::solved::{OnRanks, Question, column_squares};
use ordito::Scalar;
use ordito::machine::{Accelerator, Machine};
use ordito::matrix::Dense;
use ordito::op::RunError;
use ordito::solve::Operator;

/// All that the rest of a command wants to know of it.
pub(crate) struct Problem<'a, S: Scalar> {
    pub(crate) name: String,
    /// What was made of the matrix first: "(A + Aᵀ)/2".
    pub(crate) taken_as: Option<String>,
    /// Rows, columns and nonzeros, of all ranks.
    pub(crate) size: [usize; 3],
    pub(crate) plan: &'a dyn Operator<S>,
    pub(crate) machine: &'a Machine,
    /// Who shares it; none: nobody.
    pub(crate) ranks: Option<OnRanks>,
}

impl<S: Scalar> Problem<'_, S> {
    /// What is asked of it; the rest is to be filled in.
    pub(crate) fn question(&self, op: &'static str) -> Question {
        let [rows, cols, nnz] = self.size;
        Question {
            op,
            method: "",
            asked: String::new(),
            matrix: self.name.clone(),
            taken_as: self.taken_as.clone(),
            rows,
            cols,
            nnz,
            dtype: S::NAME,
            place: match self.machine.accelerator() {
                Accelerator::None => "cpu",
                Accelerator::Emulator => "emulator",
                _ => "cuda",
            },
            threads: self.machine.threads(),
            ranks: self.ranks.clone(),
            seed: 0,
            tolerance: 0.0,
            tolerance_of: "",
        }
    }

    /// The 2-norm of every column of a block whose rows are this process's.
    pub(crate) fn column_norms(&self, of: &Dense<S>) -> Result<Vec<f64>, RunError> {
        let mut squares = column_squares(of);
        if let Some(shared) = self.plan.shared() {
            shared.ranks.sum(&mut squares)?;
        }
        Ok(squares.into_iter().map(f64::sqrt).collect())
    }
}

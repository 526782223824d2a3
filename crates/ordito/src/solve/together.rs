//! What solvers make sure of on all ranks: that what they are given fits, and that nobody waits for a rank that has failed.

use crate::Scalar;
use crate::op::RunError;
use crate::solve::error::SolveError;
use crate::solve::operator::Operator;
use crate::solve::shared::{Rows, agreed};

/// Did it work out on all ranks that share A?
pub(crate) fn agreed_on<S: Scalar, R>(
    a: &dyn Operator<S>,
    mine: Result<R, SolveError>,
) -> Result<R, SolveError> {
    agreed(a.shared().map(|shared| shared.ranks).as_deref(), mine)
}

/// A solver's end. What this rank alone has failed by, the others are told.
pub(crate) fn telling<S: Scalar, R>(
    a: &dyn Operator<S>,
    end: Result<R, SolveError>,
) -> Result<R, SolveError> {
    if let Err(SolveError::Run(error)) = &end
        && !matches!(error, RunError::BetweenRanks(_))
        && let Some(shared) = a.shared()
    {
        shared.ranks.fail(&error.to_string());
    }
    end
}

/// Refuses what is not square, or whose rows and columns are cut differently; `needs` begins the sentence.
pub(crate) fn check_square<S: Scalar>(needs: &str, a: &dyn Operator<S>) -> Result<(), SolveError> {
    let (rows, cols) = (Rows::of(a), Rows::of_cols(a));
    if rows.total != cols.total {
        return Err(SolveError::Asked(format!("{needs}; this one is {rows}×{cols}")));
    }
    if rows != cols {
        return Err(SolveError::Asked(format!("{needs}, and its columns cut as its rows are")));
    }
    Ok(())
}

/// Has an operator that is used beside A as many rows and columns, cut alike?
pub(crate) fn check_fits<S: Scalar>(what: &str, t: &dyn Operator<S>, n: Rows) -> Result<(), SolveError> {
    let (rows, cols) = (Rows::of(t), Rows::of_cols(t));
    if (rows.total, cols.total) != (n.total, n.total) {
        return Err(SolveError::Asked(format!("{what} is {rows}×{cols}, {n}×{n} expected")));
    }
    if (rows, cols) != (n, n) {
        return Err(SolveError::Asked(format!("{what} is not cut as the matrix is")));
    }
    Ok(())
}

//! What the operations on a sparse matrix share: how it is named, read and looked at in a session.

use crate::matrix_input::Matrix;
use crate::session::Session;
use ordito::Scalar;
use ordito::matrix::Csr;
use std::sync::Arc;

/// What to name as an input.
pub(crate) const MATRIX_HINT: &str =
    "a matrix (a path, or a synthetic one such as stencil27:40) or a --suite";

pub(crate) fn load<S: Scalar>(session: &Session<'_>, input: &str) -> anyhow::Result<Matrix<S>> {
    session.say(&format!("reading {input}"));
    let request = session.request();
    Ok(Matrix::load_on(&request.machine, input, &request.read)?)
}

/// Finds out, for the files of `--out`, what can be said of the matrix, unless that is known. `csr` is asked for only
/// then. It is an extra: where there is no room for it, there is none.
pub(crate) fn note_facts<S: Scalar>(
    session: &mut Session<'_>,
    matrix: &Matrix<S>,
    csr: impl FnOnce() -> Option<Arc<Csr<S>>>,
) {
    let Matrix { source, triplets } = matrix;
    let (rows, cols, nonzeros) = (triplets.rows(), triplets.cols(), triplets.nnz());
    if !session.wants_facts(&source.name, rows, cols, nonzeros) {
        return;
    }
    let machine = &session.request().machine;
    // To see whether it is symmetric a matrix is transposed: triplets, the result, and about as much while it is made, beside the triplets and rows that are there.
    let needed = nonzeros.checked_mul(3).and_then(|entries| Csr::<S>::bytes_for(rows.max(cols), entries));
    let held = matrix.bytes().saturating_add(Csr::<S>::bytes_for(rows, nonzeros).unwrap_or(u64::MAX));
    if machine.holding(held).check_memory("looking at the matrix", needed).is_err() {
        return;
    }
    session.say(&format!("looking at {}", source.name));
    let Some(a) = csr() else { return };
    let facts = machine.pool().install(|| source.facts(&a).with_spy(&a));
    session.take_facts(facts);
}

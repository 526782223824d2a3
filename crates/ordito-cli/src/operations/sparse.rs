//! What the operations on a sparse matrix share: reading it, and seeing that it fits.

use crate::session::Session;
use ordito::Scalar;
use ordito::io::{Origin, load};
use ordito::machine::Machine;
use ordito::matrix::{Coo, Csr, Duplicates, Statistics};
use ordito::op::ORACLE_BYTES_PER_ELEMENT;
use ordito::refusal::Refusal;
use ordito_bench::report::{MatrixFacts, Record};
use ordito_bench::workbench::OracleLimits;
use std::sync::Arc;

/// What to name as an input.
pub(crate) const MATRIX_HINT: &str =
    "a matrix (a path, or a synthetic one such as stencil27:40) or a --suite";

/// A matrix with the name that records give it.
pub(crate) struct Matrix<S> {
    pub(crate) name: String,
    pub(crate) triplets: Arc<Coo<S>>,
    origin: Origin,
}

impl<S: Scalar> Matrix<S> {
    pub(crate) fn load(session: &Session<'_>, input: &str) -> anyhow::Result<Self> {
        session.say(&format!("reading {input}"));
        let request = session.request();
        let loaded = request.machine.pool().install(|| load::<S>(input, &request.read))?;
        Ok(Matrix { name: loaded.name, triplets: Arc::new(loaded.coo), origin: loaded.origin })
    }

    /// What a record says of it.
    pub(crate) fn record(&self, seed: u64) -> Record {
        Record {
            matrix: Some(self.name.clone()),
            rows: Some(self.triplets.rows() as u64),
            cols: Some(self.triplets.cols() as u64),
            nnz: Some(self.triplets.nonzeros() as u64),
            dtype: S::NAME.into(),
            seed: Some(seed),
            ..Record::default()
        }
    }

    /// Finds out, for the files of `--out`, what can be said of the matrix, unless that is known. `csr` is asked for only
    /// then. It is an extra: where there is no room for it, there is none.
    pub(crate) fn note_facts(&self, session: &mut Session<'_>, csr: impl FnOnce() -> Option<Arc<Csr<S>>>) {
        let (rows, cols, nonzeros) = (self.triplets.rows(), self.triplets.cols(), self.triplets.nonzeros());
        if !session.wants_facts(&self.name, rows, cols, nonzeros) {
            return;
        }
        let machine = &session.request().machine;
        // To see whether it is symmetric a matrix is transposed: triplets, the result, and about as much while it is made.
        let needed = nonzeros.checked_mul(3).and_then(|entries| Csr::<S>::bytes_for(rows.max(cols), entries));
        if machine.check_memory("looking at the matrix", needed).is_err() {
            return;
        }
        session.say(&format!("looking at {}", self.name));
        let Some(a) = csr() else { return };
        let look = || MatrixFacts::of(&self.name, &self.origin, &a, &Statistics::of(&a)).with_spy(&a);
        let facts = machine.pool().install(look);
        session.take_facts(facts);
    }
}

/// Refuses CSR above the memory budget: a small file may declare billions of empty rows.
pub(crate) fn check_csr<S: Scalar>(machine: &Machine, coo: &Coo<S>) -> Result<(), Refusal> {
    let (rows, nonzeros) = (coo.rows(), coo.nonzeros());
    machine
        .check_memory(format!("CSR ({rows} rows, {nonzeros} nonzeros)"), Csr::<S>::bytes_for(rows, nonzeros))
}

/// CSR, if it fits.
pub(crate) fn to_csr<S: Scalar>(machine: &Machine, coo: &Coo<S>) -> Result<Csr<S>, Refusal> {
    check_csr(machine, coo)?;
    Ok(machine.pool().install(|| Csr::from_coo(coo, Duplicates::Keep)))
}

/// X, as many outputs as are held at a time, and the oracle's answer (if there is one) must fit.
pub(crate) fn check_dense<S: Scalar>(
    machine: &Machine,
    a: &Csr<S>,
    k: usize,
    outputs: usize,
    oracle: Option<OracleLimits>,
) -> Result<(), Refusal> {
    let (rows, cols) = (a.rows(), a.cols());
    let elements =
        |rows: usize, copies: usize| (rows as u64).checked_mul(k as u64)?.checked_mul(copies as u64);
    let needed = || {
        // One more Y than there are variants: a result is copied to be compared.
        let dense = elements(cols, 1)?.checked_add(elements(rows, outputs + 1)?)?;
        let answer = match oracle {
            // Sampled above its limit, and then as large as the limit at most.
            Some(limits) => elements(rows, 1)?.saturating_mul(ORACLE_BYTES_PER_ELEMENT).min(limits.bytes),
            None => 0,
        };
        dense.checked_mul(size_of::<S>() as u64)?.checked_add(answer)
    };
    let what = match outputs {
        1 => format!("X ({cols}×{k}), Y ({rows}×{k}) and their check"),
        _ => format!("X ({cols}×{k}), {outputs} times Y ({rows}×{k}), one for each variant, and their check"),
    };
    machine.check_memory(what, needed())
}

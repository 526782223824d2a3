//! A sparse matrix that a command names: reading it, what a record says of it, and seeing that what is made of it fits.

use ordito::Scalar;
use ordito::io::{Origin, ReadError, ReadOptions, load};
use ordito::machine::Machine;
use ordito::matrix::{Coo, Csr, Duplicates, Statistics};
use ordito::op::ORACLE_BYTES_PER_ELEMENT;
use ordito::refusal::Refusal;
use ordito_bench::report::{MatrixFacts, Record};
use ordito_bench::workbench::OracleLimits;
use std::sync::Arc;

/// A matrix as it was read.
pub(crate) struct Matrix<S> {
    pub(crate) source: Source,
    pub(crate) triplets: Arc<Coo<S>>,
}

/// Where it came from.
pub(crate) struct Source {
    /// As records name it.
    pub(crate) name: String,
    origin: Origin,
}

impl Source {
    /// What there is to say of the matrix.
    pub(crate) fn facts<S: Scalar>(&self, a: &Csr<S>) -> MatrixFacts {
        MatrixFacts::of(&self.name, &self.origin, a, &Statistics::of(a))
    }
}

impl<S: Scalar> Matrix<S> {
    /// A path, a bare name or a synthetic matrix.
    pub(crate) fn load(input: &str, read: &ReadOptions) -> Result<Self, ReadError> {
        let loaded = load::<S>(input, read)?;
        let source = Source { name: loaded.name, origin: loaded.origin };
        Ok(Matrix { source, triplets: Arc::new(loaded.coo) })
    }

    /// The same by the machine's threads.
    pub(crate) fn load_on(machine: &Machine, input: &str, read: &ReadOptions) -> Result<Self, ReadError> {
        machine.pool().install(|| Matrix::load(input, read))
    }

    /// What a record says of it.
    pub(crate) fn record(&self) -> Record {
        Record {
            matrix: Some(self.source.name.clone()),
            rows: Some(self.triplets.rows() as u64),
            cols: Some(self.triplets.cols() as u64),
            nnz: Some(self.triplets.nnz() as u64),
            dtype: S::NAME.into(),
            ..Record::default()
        }
    }

    /// Bytes of the triplets.
    pub(crate) fn bytes(&self) -> u64 {
        self.triplets.nnz() as u64 * (2 * size_of::<u32>() + size_of::<S>()) as u64
    }

    /// Refuses CSR above the memory budget: a small file may declare billions of empty rows. Entries out of order are copied
    /// once more on their way there.
    pub(crate) fn check_csr(&self, machine: &Machine) -> Result<(), Refusal> {
        let (rows, nonzeros) = (self.triplets.rows(), self.triplets.nnz());
        let what = || format!("CSR ({rows} rows, {nonzeros} nonzeros)");
        let bytes = Csr::<S>::bytes_for(rows, nonzeros);
        if !self.triplets.is_by_row() {
            let meanwhile = machine.holding(machine.held_bytes());
            meanwhile.check_memory(what(), bytes.and_then(|bytes| bytes.checked_add(self.bytes())))?;
        }
        machine.check_memory(what(), bytes)
    }

    /// CSR beside the triplets, if it fits.
    pub(crate) fn to_csr(&self, machine: &Machine) -> Result<Csr<S>, Refusal> {
        self.check_csr(machine)?;
        Ok(machine.pool().install(|| Csr::try_from_coo(&self.triplets, Duplicates::Keep))?)
    }

    /// The same in the place of the triplets, which `machine` holds already: those in order keep their memory.
    pub(crate) fn into_csr(self, machine: &Machine) -> Result<(Source, Csr<S>), Refusal> {
        if self.triplets.is_by_row() {
            let rows = self.triplets.rows();
            machine.check_memory(format!("CSR of {rows} rows"), Csr::<S>::bytes_for(rows, 0))?;
        } else {
            self.check_csr(machine)?;
        }
        let triplets = Arc::unwrap_or_clone(self.triplets);
        let a = machine.pool().install(|| Csr::try_from_owned_coo(triplets, Duplicates::Keep))?;
        Ok((self.source, a))
    }
}

/// What the oracle keeps of every row beside its answer.
const ORACLE_BYTES_PER_ROW: u64 = 32;

/// X (unless it is held already), as many outputs as are held at a time, and the oracle's answer (if there is one) must fit.
pub(crate) fn check_dense<S: Scalar>(
    machine: &Machine,
    a: &Csr<S>,
    k: usize,
    x_is_held: bool,
    outputs: usize,
    oracle: Option<OracleLimits>,
) -> Result<(), Refusal> {
    let (rows, cols) = (a.rows(), a.cols());
    let elements =
        |rows: usize, copies: usize| (rows as u64).checked_mul(k as u64)?.checked_mul(copies as u64);
    let needed = || {
        // One more Y than there are variants: a result is copied to be compared.
        let dense = elements(cols, usize::from(!x_is_held))?.checked_add(elements(rows, outputs + 1)?)?;
        let answer = match oracle {
            // Sampled above its limit, and then as large as the limit at most.
            Some(limits) => {
                let answer = elements(rows, 1)?.saturating_mul(ORACLE_BYTES_PER_ELEMENT).min(limits.bytes);
                answer.checked_add((rows as u64).checked_mul(ORACLE_BYTES_PER_ROW)?)?
            }
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

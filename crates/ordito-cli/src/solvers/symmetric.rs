//! Is a matrix symmetric? And if not, the symmetric half of it.

use ordito::Scalar;
use ordito::machine::Machine;
use ordito::matrix::{Csr, Symmetry};
use ordito::refusal::Refusal;
use std::cmp::Ordering;

/// What is computed with where that was asked for.
pub(crate) const HALF_SUM: &str = "(A + Aᵀ)/2";
/// What to do about a matrix that is not symmetric.
pub(crate) const SYMMETRIZE: &str = "; `--symmetrize` computes with (A + Aᵀ)/2";

/// Two entries that should be the same, and are not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Difference {
    row: u64,
    col: u64,
    value: f64,
    mirrored: f64,
}

impl Difference {
    /// The first one of a row of A and of Aᵀ. An entry that is not there is 0.
    pub(crate) fn in_row<S: Scalar>(
        row: u64,
        of_a: impl Iterator<Item = (u64, S)>,
        of_transposed: impl Iterator<Item = (u64, S)>,
    ) -> Option<Self> {
        let (mut one, mut other) = (of_a.peekable(), of_transposed.peekable());
        loop {
            let order = match (one.peek(), other.peek()) {
                (None, None) => return None,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((col, _)), Some((other, _))) => col.cmp(other),
            };
            let value = if order.is_le() { one.next() } else { None };
            let mirrored = if order.is_ge() { other.next() } else { None };
            let col = value.or(mirrored).map_or(row, |(col, _)| col);
            let [value, mirrored] = [value, mirrored].map(|entry| entry.map_or(0.0, |(_, it)| it.to_f64()));
            // What is no number is nobody's mirror image; the solver has a sentence for it.
            if value != mirrored && !(value.is_nan() && mirrored.is_nan()) {
                return Some(Difference { row, col, value, mirrored });
            }
        }
    }

    /// Why such a matrix is refused, and what to do.
    pub(crate) fn sentence(&self, name: &str, advice: &str) -> String {
        let Difference { value, mirrored, .. } = self;
        let (row, col) = (self.row + 1, self.col + 1);
        format!(
            "{name}: not symmetric: entry ({row}, {col}) is {value}, entry ({col}, {row}) is {mirrored}, counted from 1{advice}"
        )
    }
}

pub(crate) fn shape<S: Scalar>(a: &Csr<S>) -> (u64, u64) {
    (a.rows() as u64, a.cols() as u64)
}

/// Refuses a matrix that is not square, saying what takes one.
pub(crate) fn check_square((rows, cols): (u64, u64), name: &str, advice: &str) -> anyhow::Result<()> {
    anyhow::ensure!(rows == cols, "{name}: a square matrix is needed, this one is {rows} × {cols}{advice}");
    Ok(())
}

/// Refuses a square matrix that is not symmetric, saying where. An entry that is not there is 0.
pub(crate) fn check<S: Scalar>(
    a: &Csr<S>,
    name: &str,
    advice: &str,
    machine: &Machine,
) -> anyhow::Result<()> {
    // Nearly always: seen without the transpose, with a place in every row for each thread.
    let places = (a.rows() as u64).checked_mul((size_of::<usize>() * machine.threads()) as u64);
    meanwhile(machine, "places of A, to see whether it is symmetric", places)?;
    if machine.pool().install(|| a.symmetry()) == Symmetry::Symmetric {
        return Ok(());
    }
    match first_difference(a, machine)? {
        Some(difference) => anyhow::bail!(difference.sentence(name, advice)),
        None => Ok(()),
    }
}

/// The first of them, row by row.
fn first_difference<S: Scalar>(a: &Csr<S>, machine: &Machine) -> anyhow::Result<Option<Difference>> {
    let bytes = Csr::<S>::bytes_for(a.rows(), a.nnz());
    meanwhile(machine, "Aᵀ, to see whether A is symmetric", bytes)?;
    let transposed = machine.pool().install(|| a.try_transpose())?;
    let in_row = |row: usize| {
        let [of_a, of_transposed] =
            [a, &transposed].map(|matrix| matrix.row(row).map(|(col, value)| (col as u64, value)));
        Difference::in_row(row as u64, of_a, of_transposed)
    };
    Ok((0..a.rows()).find_map(in_row))
}

/// (A + Aᵀ)/2: exactly symmetric, and A itself where that was.
pub(crate) fn half_sum<S: Scalar>(a: &Csr<S>, machine: &Machine) -> anyhow::Result<Csr<S>> {
    let entries = a.nnz().checked_mul(2);
    // As triplets, once more on their way, and by rows.
    let bytes = entries.and_then(|entries| Csr::<S>::bytes_for(a.rows(), entries)?.checked_mul(3));
    meanwhile(machine, "A + Aᵀ", bytes)?;
    Ok(machine.pool().install(|| a.symmetrized())?)
}

/// Is there room for what is given back at once?
pub(crate) fn meanwhile(machine: &Machine, what: &str, bytes: Option<u64>) -> Result<(), Refusal> {
    machine.holding(machine.held_bytes()).check_memory(what, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ordito::matrix::{Coo, Duplicates};

    fn of(entries: &[(u32, u32, f64)]) -> Csr<f64> {
        let (rows, (cols, values)) = entries.iter().map(|&(row, col, value)| (row, (col, value))).unzip();
        Csr::from_coo(&Coo::new(3, 3, rows, cols, values).unwrap(), Duplicates::Sum)
    }

    #[test]
    fn the_first_difference_is_found() {
        let machine = Machine::with_threads(1).unwrap();
        let first = |entries: &[(u32, u32, f64)]| first_difference(&of(entries), &machine).unwrap();
        assert_eq!(first(&[(0, 1, 2.0), (1, 0, 2.0), (2, 2, 1.0)]), None);
        assert_eq!(first(&[(0, 1, 0.0)]), None, "0 is what is not there");
        assert_eq!(first(&[(1, 1, f64::NAN)]), None);
        let found = first(&[(0, 1, 2.0), (1, 0, 2.0), (2, 1, 3.0), (2, 0, 5.0)]).unwrap();
        assert_eq!(found, Difference { row: 0, col: 2, value: 0.0, mirrored: 5.0 });
        let found = first(&[(1, 2, 1.0), (2, 1, 4.0)]).unwrap();
        assert_eq!((found.row, found.col, found.value, found.mirrored), (1, 2, 1.0, 4.0));
    }

    #[test]
    fn half_of_the_sum_is_symmetric_and_of_a_symmetric_matrix_itself() {
        let machine = Machine::with_threads(1).unwrap();
        let a = of(&[(0, 1, 0.1), (1, 0, 0.7), (2, 0, 0.3), (2, 2, 5.0)]);
        let half = half_sum(&a, &machine).unwrap();
        assert_eq!(first_difference(&half, &machine).unwrap(), None);
        assert_eq!(half.row(2).collect::<Vec<_>>(), [(0, 0.15), (2, 5.0)]);
        assert_eq!(half_sum(&half, &machine).unwrap(), half);
    }
}

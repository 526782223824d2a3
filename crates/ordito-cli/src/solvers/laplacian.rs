//! The Laplacian of a graph that a matrix is the adjacency matrix of: its smallest eigenvectors tell communities.

use crate::solvers::symmetric::{half_sum, meanwhile};
use ordito::Scalar;
use ordito::machine::Machine;
use ordito::matrix::{Coo, Csr, Duplicates};

/// Which Laplacian.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Laplacian {
    /// Every link counts as 1, whatever its number.
    pub(crate) unweighted: bool,
    /// 1 − D^(−1/2)·W·D^(−1/2) in place of D − W.
    pub(crate) normalized: bool,
}

impl Laplacian {
    /// D − W: W is (A + Aᵀ)/2 without its diagonal, D its row sums.
    pub(crate) fn of<S: Scalar>(self, a: &Csr<S>, name: &str, machine: &Machine) -> anyhow::Result<Csr<S>> {
        // Links are counted before both directions are added: weights of either sign could cancel.
        let counted = self.unweighted.then(|| linked(a)).transpose()?;
        let links = half_sum(counted.as_ref().unwrap_or(a), machine)?;
        let mut degrees = vec![0.0; links.rows()];
        for (row, degree) in degrees.iter_mut().enumerate() {
            for (col, value) in links.row(row).filter(|&(col, _)| col != row) {
                *degree += self.weight(value, (row as u64, col as u64), name)?;
            }
        }
        let entries = links.nnz() + links.rows();
        meanwhile(machine, "the Laplacian", Csr::<S>::bytes_for(links.rows(), entries).map(|it| 3 * it))?;
        let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let mut push = |row: usize, col: usize, value: f64| {
            rows.push(row as u32);
            cols.push(col as u32);
            values.push(S::from_f64(value));
        };
        for (row, &degree) in degrees.iter().enumerate() {
            for (col, value) in links.row(row).filter(|&(col, _)| col != row) {
                let weight = self.weight(value, (row as u64, col as u64), name)?;
                push(row, col, self.beside(weight, degree, degrees[col]));
            }
            push(row, row, self.on_diagonal(degree));
        }
        let laplacian = Coo::new(links.rows(), links.cols(), rows, cols, values)?;
        Ok(machine.pool().install(|| Csr::try_from_owned_coo(laplacian, Duplicates::Keep))?)
    }
}

impl Laplacian {
    /// Of a link, both directions added; it must be 0 or more.
    pub(crate) fn weight<S: Scalar>(
        self,
        link: S,
        (row, col): (u64, u64),
        name: &str,
    ) -> anyhow::Result<f64> {
        let weight = if self.unweighted { f64::from(link.to_f64() != 0.0) } else { link.to_f64() };
        let (one, other) = (row + 1, col + 1);
        anyhow::ensure!(
            weight >= 0.0 && weight.is_finite(),
            "{name}: the link between {one} and {other}, counted from 1, weighs {weight}: a Laplacian needs weights of 0 or \
             more; `--unweighted` counts links alone"
        );
        Ok(weight)
    }

    /// What stands for a link between nodes of these degrees.
    pub(crate) fn beside(self, weight: f64, degree: f64, other: f64) -> f64 {
        let scale = if self.normalized { degree.sqrt() * other.sqrt() } else { 1.0 };
        // A link that weighs nothing may be the only one.
        if weight == 0.0 { 0.0 } else { -weight / scale }
    }

    pub(crate) fn on_diagonal(self, degree: f64) -> f64 {
        if self.normalized { f64::from(degree > 0.0) } else { degree }
    }

    /// "Laplacian", "normalized Laplacian".
    pub(crate) fn name(self) -> String {
        if self.normalized { "normalized Laplacian" } else { "Laplacian" }.to_owned()
    }
}

/// 1 for a number other than 0.
pub(crate) fn one_where_linked<S: Scalar>(value: S) -> S {
    if value == S::ZERO { S::ZERO } else { S::ONE }
}

/// 1 where there is a number other than 0.
fn linked<S: Scalar>(a: &Csr<S>) -> anyhow::Result<Csr<S>> {
    let ones = a.values().iter().copied().map(one_where_linked);
    let (offsets, columns) = (a.row_offsets().to_vec(), a.col_indices().to_vec());
    Ok(Csr::from_parts(a.rows(), a.cols(), offsets, columns, ones.collect())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laplacian(of: Laplacian, entries: &[(u32, u32, f64)]) -> anyhow::Result<Vec<Vec<(usize, f64)>>> {
        let (rows, (cols, values)) = entries.iter().map(|&(row, col, value)| (row, (col, value))).unzip();
        let a = Csr::from_coo(&Coo::new(3, 3, rows, cols, values)?, Duplicates::Sum);
        let found = of.of(&a, "graph", &*Machine::with_threads(1)?)?;
        Ok((0..3).map(|row| found.row(row).collect()).collect())
    }

    #[test]
    fn rows_add_up_to_0() {
        let of = Laplacian { unweighted: false, normalized: false };
        let links = [(0, 1, 2.0), (1, 0, 2.0), (2, 1, 6.0), (1, 1, 9.0)];
        let found = laplacian(of, &links).unwrap();
        assert_eq!(found[0], [(0, 2.0), (1, -2.0)]);
        assert_eq!(found[1], [(0, -2.0), (1, 5.0), (2, -3.0)], "one direction is half of both; no loops");
        let counted = laplacian(Laplacian { unweighted: true, ..of }, &links).unwrap();
        assert_eq!(counted[1], [(0, -1.0), (1, 2.0), (2, -1.0)]);
    }

    #[test]
    fn normalized_has_ones_on_the_diagonal_of_all_that_are_linked() {
        let of = Laplacian { unweighted: false, normalized: true };
        let found = laplacian(of, &[(0, 1, 4.0), (1, 0, 4.0)]).unwrap();
        assert_eq!(found, [vec![(0, 1.0), (1, -1.0)], vec![(0, -1.0), (1, 1.0)], vec![(2, 0.0)]]);
    }

    #[test]
    fn weights_below_0_are_refused_with_their_place() {
        let of = Laplacian { unweighted: false, normalized: false };
        let error = laplacian(of, &[(0, 2, -1.0), (2, 0, -1.0)]).unwrap_err().to_string();
        assert!(error.starts_with("graph: the link between 1 and 3, counted from 1, weighs -1:"), "{error}");
        let counted = laplacian(Laplacian { unweighted: true, ..of }, &[(0, 2, -1.0)]).unwrap();
        assert_eq!(counted[0], [(0, 1.0), (2, -1.0)]);
    }
}

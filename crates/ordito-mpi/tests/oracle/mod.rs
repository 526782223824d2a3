//! What distributed products are held against.

use ordito::{Csr, Dense, Scalar};
use ordito_mpi::Partition;

/// Ranks with equally many nonzeros.
pub(crate) fn balanced<S: Scalar>(a: &Csr<S>, ranks: usize) -> Partition {
    Partition::balanced(a.rows() as u64, ranks, |row| a.row_offsets()[row as usize] as u64)
}

/// αAX + βY in f64, and for every element the sum of sizes that bounds its error.
pub(crate) fn oracle<S: Scalar>(
    a: &Csr<S>,
    alpha: f64,
    x: &Dense<S>,
    beta: f64,
    y: &Dense<S>,
) -> (Vec<f64>, Vec<f64>) {
    let k = x.cols();
    let (mut right, mut sizes) = (vec![0.0; a.rows() * k], vec![0.0; a.rows() * k]);
    for row in 0..a.rows() {
        for column in 0..k {
            let at = row * k + column;
            let before = if beta == 0.0 { 0.0 } else { beta * y.view().row(row)[column].to_f64() };
            (right[at], sizes[at]) = (before, before.abs());
            for (index, value) in a.row(row) {
                let product = alpha * value.to_f64() * x.view().row(index)[column].to_f64();
                right[at] += product;
                sizes[at] += product.abs();
            }
        }
    }
    (right, sizes)
}

/// Within the bound of a sum of so many products.
pub(crate) fn assert_near<S: Scalar>(
    found: &[S],
    (right, sizes): &(Vec<f64>, Vec<f64>),
    longest: usize,
    what: &str,
) {
    assert_eq!(found.len(), right.len(), "{what}");
    for (at, (found, (right, size))) in found.iter().zip(right.iter().zip(sizes)).enumerate() {
        let bound = (longest + 8) as f64 * S::EPSILON * size + f64::MIN_POSITIVE;
        assert!(
            (found.to_f64() - right).abs() <= bound,
            "{what}: element {at} is {found:?}, {right} expected"
        );
    }
}

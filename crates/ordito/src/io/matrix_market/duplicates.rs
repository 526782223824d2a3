//! Entries at the same place become one.

use crate::Scalar;
use crate::matrix::{Coo, Csr, Duplicates};

/// Sums duplicates in the order in which they stand and says how many entries that saved. A matrix that had any
/// comes back sorted by row and column, one that had none as it was.
pub(super) fn sum<S: Scalar>(coo: Coo<S>) -> (Coo<S>, usize) {
    // CSR takes memory for every row, even the empty ones: a small file that declares four billion of them would
    // ask for 32 GB.
    let few_rows = coo.rows() <= coo.nnz().saturating_mul(16).saturating_add(1 << 20);
    let listed = coo.nnz();
    if few_rows {
        let summed = Csr::from_coo(&coo, Duplicates::Sum);
        return match listed - summed.nnz() {
            0 => (coo, 0),
            merged => {
                drop(coo);
                (summed.into_coo(), merged)
            }
        };
    }
    let summed = sum_by_place(&coo);
    match listed - summed.nnz() {
        0 => (coo, 0),
        merged => (summed, merged),
    }
}

/// Adds them up without anything that grows with the rows.
fn sum_by_place<S: Scalar>(coo: &Coo<S>) -> Coo<S> {
    let mut entries: Vec<(u32, u32, S)> = coo.entries().collect();
    entries.sort_by_key(|&(row, col, _)| (row, col));
    entries.dedup_by(|later, first| {
        let same = (later.0, later.1) == (first.0, first.1);
        if same {
            first.2 += later.2;
        }
        same
    });
    let rows = entries.iter().map(|entry| entry.0).collect();
    let cols = entries.iter().map(|entry| entry.1).collect();
    let values = entries.iter().map(|entry| entry.2).collect();
    Coo::new(coo.rows(), coo.cols(), rows, cols, values).expect("the places are those of a matrix")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_sum_alike_and_in_order() {
        let rows = vec![3, 0, 3, 1, 3, 0];
        let cols = vec![1, 2, 1, 0, 1, 0];
        let coo = Coo::new(4, 4, rows, cols, vec![1e16, 1.0, 1.0, 2.0, -1e16, 7.0]).unwrap();
        let (summed, merged) = sum(coo.clone());
        assert_eq!(merged, 2);
        assert_eq!(sum_by_place(&coo), summed);
        assert_eq!(summed.values(), [7.0, 1.0, 2.0, (1e16 + 1.0) - 1e16]);
    }

    #[test]
    fn without_duplicates_the_order_stays() {
        let coo = Coo::new(u32::MAX as usize, 2, vec![4_000_000_000, 0], vec![0, 1], vec![1.0, 2.0]).unwrap();
        assert_eq!(sum(coo.clone()), (coo, 0));
    }
}

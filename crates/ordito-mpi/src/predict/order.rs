//! A matrix with its rows, and columns, put in the order of their owners.

use crate::error::Error;
use crate::partition::Partition;
use ordito::precision::compiled_here;
use ordito::{Csr, Scalar};

/// Rows of rank 0 first, in their order, then those of rank 1, …; columns likewise. The matrix is square, and lies here as a whole.
pub fn in_order_of<S: Scalar>(
    a: &Csr<S>,
    owners: &[u32],
    ranks: usize,
) -> Result<(Csr<S>, Partition), Error> {
    type Order<S> = fn(&Csr<S>, &[u32], usize) -> Result<(Csr<S>, Partition), Error>;
    compiled_here!(S, ordered, Order)(a, owners, ranks)
}

fn ordered<S: Scalar>(a: &Csr<S>, owners: &[u32], ranks: usize) -> Result<(Csr<S>, Partition), Error> {
    let asked = |sentence: String| Err(Error::Asked(sentence));
    if a.rows() != a.cols() || owners.len() != a.rows() {
        return asked(format!(
            "{} owners for a matrix of {} rows and {} columns: these must be equal",
            owners.len(),
            a.rows(),
            a.cols()
        ));
    }
    if let Some(owner) = owners.iter().find(|&&owner| owner as usize >= ranks) {
        return asked(format!("a row for rank {owner}, but there are {ranks}"));
    }
    let mut starts = vec![0u64; ranks + 1];
    owners.iter().for_each(|&owner| starts[owner as usize + 1] += 1);
    (0..ranks).for_each(|rank| starts[rank + 1] += starts[rank]);
    let mut next = starts.clone();
    let number = |&owner: &u32| {
        next[owner as usize] += 1;
        (next[owner as usize] - 1) as u32
    };
    let new: Vec<u32> = owners.iter().map(number).collect();
    let mut old = vec![0u32; new.len()];
    new.iter().enumerate().for_each(|(row, &number)| old[number as usize] = row as u32);
    let (mut offsets, mut columns, mut values) =
        (vec![0], Vec::with_capacity(a.nnz()), Vec::with_capacity(a.nnz()));
    let mut entries: Vec<(u32, S)> = Vec::new();
    for &row in &old {
        entries.clear();
        entries.extend(a.row(row as usize).map(|(column, value)| (new[column], value)));
        entries.sort_by_key(|entry| entry.0);
        columns.extend(entries.iter().map(|entry| entry.0));
        values.extend(entries.iter().map(|entry| entry.1));
        offsets.push(values.len());
    }
    Ok((Csr::from_parts(a.rows(), a.cols(), offsets, columns, values)?, Partition::new(starts)?))
}

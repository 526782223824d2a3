//! New directions beside an orthonormal basis, found from inner products alone: one pass to measure, one to combine.

use crate::solve::error::SolveError;
use crate::solve::small::{Small, cholesky, columns, inverse_of_lower, norm, norms, symmetric_eigen};

/// Directions whose squared length, scaled, is less than this much of the longest are left out.
const DROPPED: f64 = 1e-13;

/// How directions W stand beside V, which is orthonormal, in parts of their squared lengths.
pub(crate) struct Beside {
    /// The least pivot of what is left of them without V: what makes them orthonormal scales rounding up by no more than its root.
    pub(crate) pivot: f64,
    /// The largest part that lies in V.
    pub(crate) inside: f64,
}

/// `gram` is [V W]ᵀW, `old` the columns of V. None where directions are dependent.
pub(crate) fn beside(gram: &Small, old: usize) -> Option<Beside> {
    let (overlap, of_w) = (gram.rows_from(0, old), gram.rows_from(old, gram.ncols()));
    let sizes = norms(&of_w);
    if !sizes.iter().all(|size| *size > 0.0) {
        return None;
    }
    let left = &of_w - overlap.transpose() * &overlap;
    let n = sizes.len();
    let scaled = Small::from_fn(n, n, |i, j| 0.5 * (left[(i, j)] + left[(j, i)]) / (sizes[i] * sizes[j]));
    let l = cholesky(&scaled, f64::EPSILON)?;
    let pivot = (0..n).map(|i| l[(i, i)] * l[(i, i)]).fold(1.0, f64::min);
    let parts = overlap.columns().zip(&sizes).map(|(overlap, size)| (norm(overlap) / size).powi(2));
    Some(Beside { pivot, inside: parts.fold(0.0, f64::max) })
}

/// Coefficients of orthonormal directions: [V W]·C spans the active columns of W without what lies in V, which is orthonormal. `gram` is
/// [V W]ᵀW, `old` the columns of V. And: did so much cancel that it should be done once more? None where nothing is left.
#[allow(clippy::type_complexity)]
pub(crate) fn orthonormal_directions(
    gram: &Small,
    old: usize,
    active: &[usize],
) -> Result<Option<(Small, bool)>, SolveError> {
    let overlap = columns(&gram.rows_from(0, old), active);
    let of_w = Small::from_fn(active.len(), active.len(), |i, j| {
        0.5 * (gram[(old + active[i], active[j])] + gram[(old + active[j], active[i])])
    });
    let left = &of_w - overlap.transpose() * &overlap;
    let sizes = norms(&of_w);
    let there: Vec<usize> =
        (0..active.len()).filter(|&i| sizes[i] > 0.0 && left[(i, i)] > DROPPED * of_w[(i, i)]).collect();
    if there.is_empty() {
        return Ok(None);
    }
    let lengths: Vec<f64> = there.iter().map(|&i| left[(i, i)].sqrt()).collect();
    let scaled = Small::from_fn(there.len(), there.len(), |i, j| {
        left[(there[i], there[j])] / (lengths[i] * lengths[j])
    });
    let mut needs_more = there.iter().any(|&i| left[(i, i)] < 1e-4 * of_w[(i, i)]);
    let by_length =
        Small::from_fn(there.len(), there.len(), |i, j| if i == j { 1.0 / lengths[i] } else { 0.0 });
    let inner = match cholesky(&scaled, 1e-6) {
        Some(l) => by_length * inverse_of_lower(&l).transpose(),
        None => {
            needs_more = true;
            let eigen = symmetric_eigen(&scaled, "residuals")?;
            let largest = eigen.values.last().copied().unwrap_or(0.0);
            let kept: Vec<usize> =
                (0..there.len()).rev().filter(|&i| eigen.values[i] > DROPPED * largest).collect();
            let roots: Vec<f64> = kept.iter().map(|&i| 1.0 / eigen.values[i].sqrt()).collect();
            by_length * columns(&eigen.vectors, &kept) * Small::diagonal(&roots)
        }
    };
    // [−overlap; unit] of the columns that are there.
    let mut c = Small::zeros(gram.nrows(), inner.ncols());
    let above = -columns(&overlap, &there) * &inner;
    c.put((0, 0), &above);
    for (row, &i) in there.iter().enumerate() {
        for col in 0..inner.ncols() {
            c[(old + active[i], col)] = inner[(row, col)];
        }
    }
    Ok(Some((c, needs_more)))
}

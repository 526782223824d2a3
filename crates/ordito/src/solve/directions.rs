//! New directions beside an orthonormal basis, found from inner products alone: one pass to measure, one to combine.

use crate::solve::error::SolveError;
use crate::solve::small::{Small, cholesky, columns, inverse_of_lower, norms, symmetric_eigen};

/// Directions whose squared length, scaled, is less than this much of the longest are left out.
const DROPPED: f64 = 1e-13;

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

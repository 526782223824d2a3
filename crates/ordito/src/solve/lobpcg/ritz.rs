//! The best that a basis can do: Ritz values, and the coefficients of their vectors.

use crate::solve::eigenpairs::Which;
use crate::solve::error::SolveError;
use crate::solve::small::{
    Small, cholesky, column_norms, columns, inverse_of_lower, norm, symmetric_eigen, without,
};

/// Least pivot of a Cholesky factor, as a part of its diagonal, that is still trusted.
const LEAST_PIVOT: f64 = 1e-10;

/// Ritz pairs of a basis whose Gram matrix is Q = LLᵀ.
pub(super) struct Ritz {
    /// Best first.
    pub(super) values: Vec<f64>,
    /// Their coefficients in the basis that L⁻¹ makes orthonormal.
    vectors: Small,
    /// L⁻¹.
    inverse: Small,
}

impl Ritz {
    /// Of H in the inner product of Q; none where Q is not positive definite enough.
    pub(super) fn of(h: &Small, q: &Small, which: Which) -> Result<Option<Self>, SolveError> {
        let Some(l) = cholesky(q, LEAST_PIVOT) else { return Ok(None) };
        let inverse = inverse_of_lower(&l);
        let eigen = symmetric_eigen(&(&inverse * h * inverse.transpose()), "A·X")?;
        let order = which.order(&eigen.values);
        let values = order.iter().map(|&i| eigen.values[i]).collect();
        Ok(Some(Ritz { values, vectors: columns(&eigen.vectors, &order), inverse }))
    }

    /// All of them, in the basis as it is.
    pub(super) fn all(&self) -> Small {
        self.inverse.transpose() * &self.vectors
    }

    /// The best k, and beside them what the active ones have of P and W, orthonormal to all of them and to each other: the next P. In the
    /// basis as it is.
    pub(super) fn with_directions(&self, k: usize, active: &[usize]) -> Small {
        let x = self.vectors.first_columns(k);
        // Without what they have of X: the first k coefficients of the basis as it is, and back. Lᵀc with c = L⁻ᵀv cut to its tail needs
        // only v and what was cut off: v − Lᵀ[head of c; 0].
        let c = self.inverse.transpose() * columns(&x, active);
        let head = c.rows_from(0, k);
        let l_of_head = lower_of_head(&self.inverse, k);
        let mut p = columns(&x, active);
        let cut = l_of_head.transpose() * head;
        for col in 0..p.ncols() {
            for row in 0..k {
                p[(row, col)] -= cut[(row, col)];
            }
        }
        let before = column_norms(&p);
        for _ in 0..2 {
            p -= &(&x * (x.transpose() * &p));
        }
        let mut kept = x;
        for (column, before) in p.columns().zip(before) {
            let mut column = column.to_vec();
            without(&kept, &mut column);
            let length = norm(&column);
            if length > 1e-10 * before && length > 0.0 {
                column.iter_mut().for_each(|x| *x /= length);
                kept.push_column(&column);
            }
        }
        self.inverse.transpose() * kept
    }
}

/// The first k rows and columns of L, from L⁻¹: both are triangles, and so are their corners.
fn lower_of_head(inverse: &Small, k: usize) -> Small {
    inverse_of_lower(&inverse.part((0, 0), (k, k)))
}

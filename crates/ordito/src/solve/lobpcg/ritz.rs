//! The best that a basis can do: Ritz values, and the coefficients of their vectors.

use crate::solve::directions::{self, orthonormal_directions};
use crate::solve::eigenpairs::Which;
use crate::solve::error::SolveError;
use crate::solve::small::{Small, beside, cholesky, columns, inverse_of_lower, stacked, symmetric_eigen};

/// Least pivot of a Cholesky factor, as a part of its diagonal, that is still trusted.
const LEAST_PIVOT: f64 = 1e-10;
/// The next directions are done with when their least pivot was so much.
const WELL_APART: f64 = 0.05;
/// How often the next directions are made orthonormal at most: what cancels is scaled up, and its rounding with it.
const MOST_PASSES: usize = 3;

/// Ritz pairs of a basis whose Gram matrix is Q. Its first columns, the old ones, are orthonormal: only the others have to be made so.
pub(super) struct Ritz {
    /// Best first.
    pub(super) values: Vec<f64>,
    /// Their coefficients in the orthonormal basis.
    vectors: Small,
    /// The orthonormal basis: the old columns as they are, and then these combinations of all.
    tail: Small,
    /// H in the orthonormal basis.
    projected: Small,
}

impl Ritz {
    /// Of H in the inner product of Q, whose first `old` rows and columns are those of the unit matrix; none where Q is not positive
    /// definite enough.
    pub(super) fn of(h: &Small, q: &Small, old: usize, which: Which) -> Result<Option<Self>, SolveError> {
        let new = h.nrows() - old;
        let overlap = q.part((0, old), (old, new));
        let of_new = q.part((old, old), (new, new));
        let left = &of_new - overlap.transpose() * &overlap;
        let is_there = |i: usize| left[(i, i)] > LEAST_PIVOT * of_new[(i, i)];
        if !(0..new).all(is_there) {
            return Ok(None);
        }
        let Some(l) = cholesky(&left, LEAST_PIVOT) else { return Ok(None) };
        let upper = inverse_of_lower(&l).transpose();
        let tail = stacked(&[&-(overlap * &upper), &upper]);
        let image = h * &tail;
        let corner = tail.transpose() * &image;
        let mut projected = h.clone();
        for col in 0..new {
            for row in 0..old {
                projected[(row, old + col)] = image[(row, col)];
                projected[(old + col, row)] = image[(row, col)];
            }
        }
        projected.put((old, old), &corner);
        let eigen = symmetric_eigen(&projected, "A·X")?;
        let order = which.order(&eigen.values);
        let values = order.iter().map(|&i| eigen.values[i]).collect();
        Ok(Some(Ritz { values, vectors: columns(&eigen.vectors, &order), tail, projected }))
    }

    /// Combinations of the orthonormal basis as those of the basis as it is.
    fn in_basis(&self, of: &Small) -> Small {
        let old = of.nrows() - self.tail.ncols();
        let mut all = &self.tail * of.rows_from(old, self.tail.ncols());
        for (all, of) in all.columns_mut().zip(of.columns()) {
            all[..old].iter_mut().zip(of).for_each(|(all, of)| *all += of);
        }
        all
    }

    /// All of them, in the basis as it is.
    pub(super) fn all(&self) -> Small {
        self.in_basis(&self.vectors)
    }

    /// The best k, and beside them what the active ones have of P and W, orthonormal to all of them and to each other: the next P. In the
    /// basis as it is, whose first columns are the old X. And H of the next P.
    pub(super) fn with_directions(&self, k: usize, active: &[usize]) -> Result<(Small, Small), SolveError> {
        let x = self.vectors.first_columns(k);
        let mut p = columns(&x, active);
        // Without what they have of the old X: its coefficients in the basis as it is.
        let c = self.in_basis(&p);
        for (p, c) in p.columns_mut().zip(c.columns()) {
            p[..k].iter_mut().zip(c).for_each(|(p, c)| *p -= c);
        }
        for _ in 0..MOST_PASSES {
            let both = beside(&[&x, &p]);
            let all: Vec<usize> = (0..p.ncols()).collect();
            let gram = both.transpose() * &p;
            // Nobody measures P later: rounding must not be scaled up.
            let is_last = directions::beside(&gram, k).is_some_and(|of| of.pivot > WELL_APART);
            let Some((c, _)) = orthonormal_directions(&gram, k, &all)? else {
                p = Small::zeros(p.nrows(), 0);
                break;
            };
            p = both * c;
            if is_last {
                break;
            }
        }
        let of_p = p.transpose() * (&self.projected * &p);
        Ok((self.in_basis(&beside(&[&x, &p])), of_p))
    }
}

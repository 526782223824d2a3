//! The basis of a block Krylov space, and the matrix that is projected on it.
//!
//! Every new block is made orthogonal to the whole basis, twice where much cancels: no ghosts of what has converged appear. The matrix that is
//! projected on the basis is taken from these inner products. A block that turns out dependent is filled up with random columns.

mod looks;
mod sizes;

pub(crate) use sizes::Sizes;

use crate::Scalar;
use crate::solve::blocks::{Block, Columns};
use crate::solve::directions::orthonormal_directions;
use crate::solve::eigenpairs::Which;
use crate::solve::error::SolveError;
use crate::solve::shared::Rows;
use crate::solve::small::{
    Small, check_scale, column_norms, columns, dot, ends_of_eigenvectors, norms, stacked, symmetric_eigen,
};
use crate::solve::vectors::Source;
use crate::solve::workspace::Workspace;
use looks::Looks;

/// A part of a column's squared length: if less is left beside the basis, what is left is made orthogonal once more. (Of Daniel, Gragg, Kaufman and
/// Stewart. With less than that once would do for one block, but each would pass on five times the error of the last.)
const MUCH_CANCELS: f64 = 0.5;

/// Passes after which what still cancels is taken for rounding.
const MOST_PASSES: usize = 4;

/// Y = A·X of a symmetric A.
pub(crate) type Product<'a, S> =
    dyn FnMut(&mut Workspace<S>, Columns, Columns) -> Result<(), SolveError> + 'a;

/// How many times too large the worst of these estimates of these values is, for a matrix of at least this norm; 1 or less is enough.
pub(crate) type Excess<'a> = dyn Fn(&[f64], &[f64], f64) -> f64 + 'a;

/// ‖A·x − λ·x‖ by a fresh product.
pub(crate) fn residuals_of<S: Scalar>(
    work: &mut Workspace<S>,
    product: &mut Product<'_, S>,
    values: &[f64],
    x: Block,
    images: Block,
) -> Result<Vec<f64>, SolveError> {
    product(work, x.all(), images.all())?;
    let c = stacked(&[&-Small::diagonal(values), &Small::identity(values.len(), values.len())]);
    work.combine(&[x.all(), images.all()], &c, &[images.all()])?;
    Ok(norms(&work.gram(&[images.all()], &[images.all()])?))
}

/// Ritz values, best first, and their coefficients.
pub(crate) struct Ritz {
    pub(crate) values: Vec<f64>,
    vectors: Small,
}

pub(crate) struct Krylov<S: Scalar> {
    pub(crate) work: Workspace<S>,
    n: Rows,
    sizes: Sizes,
    which: Which,
    seed: u64,
    /// Memory of the basis: a block for each of its blocks, and one more for the next.
    memory: Vec<Block>,
    /// Columns that make up the basis.
    basis: Vec<Columns>,
    /// The next block, orthonormal to the basis; none where there is nothing left.
    next: Option<Columns>,
    /// Has the next block random columns, because the product left the basis by fewer?
    pub(crate) gave_out: bool,
    /// VᵀAV.
    projected: Small,
    /// How the last product leaves the basis: (next)ᵀ·A·(basis).
    coupling: Small,
    /// Where products are written.
    image: Block,
    looks: Looks,
}

impl<S: Scalar> Krylov<S> {
    pub(crate) fn new(
        mut work: Workspace<S>,
        n: Rows,
        sizes: Sizes,
        which: Which,
        seed: u64,
    ) -> Result<Self, SolveError> {
        let count = sizes.basis.div_ceil(sizes.block) + 1;
        let memory = (0..count).map(|_| work.add("the basis", n, sizes.block)).collect::<Result<_, _>>()?;
        let image = work.add("A·V", n, sizes.block)?;
        let (projected, coupling) = (Small::zeros(0, 0), Small::zeros(0, 0));
        let (basis, next) = (Vec::new(), None);
        let (gave_out, looks) = (false, Looks::default());
        Ok(Krylov {
            work,
            n,
            sizes,
            which,
            seed,
            memory,
            basis,
            next,
            gave_out,
            projected,
            coupling,
            image,
            looks,
        })
    }

    /// What the projected matrix is large by: at least nearly ‖A‖, where the basis has found the largest end.
    pub(crate) fn size(&self) -> f64 {
        self.projected.amax()
    }

    fn dimension(&self) -> usize {
        self.basis.iter().map(|columns| columns.count).sum()
    }

    /// Does the basis span everything there is?
    pub(crate) fn is_complete(&self) -> bool {
        self.next.is_none()
    }

    /// The first block: what was given, filled up with random columns.
    pub(crate) fn start(&mut self, start: Option<Source<'_, S>>) -> Result<(), SolveError> {
        let block = self.memory[0];
        self.work.randomize(block.all(), self.n, self.seed)?;
        if let Some(start) = start {
            let given = self.work.add("starting vectors", self.n, start.cols())?;
            self.work.write_source(given.all(), start)?;
            let count = start.cols().min(block.cols);
            self.work.copy(given.first(count), block.first(count))?;
        }
        let rank = self.work.orthonormalize(block.all(), None)?.rank;
        self.next = self.filled_up(block, rank)?;
        Ok(())
    }

    /// A block of so many good columns, filled up with random ones that are orthonormal to everything; fewer where there is no room for more.
    fn filled_up(&mut self, block: Block, good: usize) -> Result<Option<Columns>, SolveError> {
        let wanted = block.cols.min(self.n.total - self.dimension().min(self.n.total));
        self.seed = self.seed.wrapping_add(16); // not those that were tried before
        let (x, drawn) = (block.first(wanted), (self.n, self.seed));
        let good = self.work.fill_up(x, good.min(wanted), &self.basis, drawn)?;
        Ok(if good == 0 { None } else { Some(block.first(good)) })
    }

    /// Adds blocks until the basis is full, or does.
    pub(crate) fn fill(
        &mut self,
        product: &mut Product<'_, S>,
        excess: &Excess<'_>,
    ) -> Result<Ritz, SolveError> {
        while let Some(next) = self.next {
            if self.dimension() + next.count > self.sizes.basis && !self.basis.is_empty() {
                break;
            }
            self.extend(product, next)?;
            if self.dimension() >= self.sizes.count && self.next.is_some() && self.looks.is_due() {
                let (values, estimates) = self.outlook(next.count)?;
                let excess = excess(&values, &estimates, self.projected.amax());
                if excess <= 1.0 {
                    break;
                }
                self.looks.saw(excess);
            }
        }
        self.ritz()
    }

    /// Ritz values, best first, and their estimates, where nothing but the last block, of so many columns, is coupled to the next one.
    fn outlook(&mut self, last: usize) -> Result<(Vec<f64>, Vec<f64>), SolveError> {
        let (which, projected, coupling) = (self.which, &self.projected, &self.coupling);
        let rounding = S::EPSILON * projected.amax();
        self.work.small(|| {
            let eigen = ends_of_eigenvectors(projected, last, "A·V")?;
            let order = which.order(&eigen.values);
            let of_last = coupling.part((0, coupling.ncols() - last), (coupling.nrows(), last));
            let out = column_norms(&(of_last * columns(&eigen.vectors, &order)));
            let values = order.iter().map(|&i| eigen.values[i]).collect();
            Ok((values, out.into_iter().map(|norm| norm.max(rounding)).collect()))
        })
    }

    fn extend(&mut self, product: &mut Product<'_, S>, next: Columns) -> Result<(), SolveError> {
        self.basis.push(next);
        let image = self.image.first(next.count);
        product(&mut self.work, next, image)?;
        let basis = self.basis.clone();
        let all: Vec<Columns> = basis.iter().copied().chain([image]).collect();
        let dimension = self.dimension();
        let mut gram = self.work.gram(&all, &[image])?;
        if !gram.is_finite() {
            return Err(SolveError::NotFinite("A·V"));
        }
        let mut overlap = gram.rows_from(0, dimension);
        // One pass measures both what lies in the basis and what is left.
        let left = |j: usize| gram[(dimension + j, j)] - dot(overlap.column(j), overlap.column(j));
        if (0..next.count).any(|j| left(j) < MUCH_CANCELS * gram[(dimension + j, j)]) {
            let unit = Small::identity(next.count, next.count);
            self.work.combine(&all, &stacked(&[&-&overlap, &unit]), &[image])?;
            gram = self.work.gram(&all, &[image])?;
            overlap += &gram.rows_from(0, dimension);
        }
        // VᵀAV grows by these columns, and as many rows.
        let (old, new) = (self.projected.nrows(), self.projected.nrows() + next.count);
        let mut projected = Small::zeros(new, new);
        projected.put((0, 0), &self.projected);
        for j in 0..next.count {
            for i in 0..new {
                projected[(i, old + j)] = overlap[(i, j)];
                projected[(old + j, i)] = overlap[(i, j)];
            }
        }
        for j in 0..next.count {
            for i in 0..j {
                let mean = 0.5 * (overlap[(old + i, j)] + overlap[(old + j, i)]);
                projected[(old + i, old + j)] = mean;
                projected[(old + j, old + i)] = mean;
            }
        }
        self.projected = projected;
        // What is left becomes the next block; what is nothing but rounding does not.
        let to = self.free_block()?;
        let least = S::EPSILON * self.projected.amax() * 4.0 * (self.n.total as f64).sqrt().max(8.0);
        let left = norms(&gram.rows_from(dimension, next.count));
        // What a single pass measured still holds its part of the basis: that is far above rounding then.
        let good: Vec<usize> = (0..next.count).filter(|&column| left[column] > least).collect();
        let mut rank = 0;
        // (next)ᵀ·image, from the inner products that the next block is made by: W is what is left of the image.
        let of_w = gram.rows_from(0, dimension);
        let mut coupling = Small::zeros(0, next.count);
        if let Some((c, mut needs_more)) =
            self.work.small(|| orthonormal_directions(&gram, dimension, &good))?
        {
            rank = c.ncols();
            coupling = c.transpose() * &gram;
            self.work.combine(&all, &c, &[to.first(rank)])?;
            // Small columns are scaled up, and their rounding with them: until nothing cancels any more.
            for _ in 0..MOST_PASSES {
                if !needs_more || rank == 0 {
                    break;
                }
                let all: Vec<Columns> = basis.iter().copied().chain([to.first(rank)]).collect();
                let gram = self.work.gram(&all, &[to.first(rank)])?;
                let active: Vec<usize> = (0..rank).collect();
                match self.work.small(|| orthonormal_directions(&gram, dimension, &active))? {
                    Some((c, more)) => {
                        coupling = c.transpose() * stacked(&[&of_w, &coupling]);
                        self.work.combine(&all, &c, &[to.first(c.ncols())])?;
                        (needs_more, rank) = (more, c.ncols());
                    }
                    None => rank = 0,
                }
            }
            if needs_more {
                rank = 0; // rounding, and nothing else
            }
        }
        self.next = self.filled_up(to, rank)?;
        // Random columns are not what the product leaves the basis by.
        let rows = self.next.map_or(0, |next| next.count);
        self.gave_out = rank < rows;
        self.coupling = Small::zeros(rows, new);
        let rank = rank.min(rows);
        self.coupling.put((0, old), &coupling.rows_from(0, rank));
        Ok(())
    }

    /// Memory that no block of the basis lies in.
    fn free_block(&mut self) -> Result<Block, SolveError> {
        let is_free = |block: &&Block| self.basis.iter().all(|columns| columns.id != block.id);
        if let Some(free) = self.memory.iter().find(is_free) {
            return Ok(*free);
        }
        // Blocks that are only partly used take more of them.
        let more = self.work.add("the basis", self.n, self.sizes.block)?;
        self.memory.push(more);
        Ok(more)
    }

    fn ritz(&mut self) -> Result<Ritz, SolveError> {
        let (which, projected) = (self.which, &self.projected);
        self.work.small(|| {
            let eigen = symmetric_eigen(projected, "A·V")?;
            check_scale::<S>(projected.amax())?;
            let order = which.order(&eigen.values);
            let values = order.iter().map(|&i| eigen.values[i]).collect();
            Ok(Ritz { values, vectors: columns(&eigen.vectors, &order) })
        })
    }

    /// ‖A·y − θ·y‖ of every Ritz pair, without looking at a vector.
    pub(crate) fn estimates(&self, ritz: &Ritz) -> Vec<f64> {
        let out = &self.coupling * &ritz.vectors;
        let rounding = S::EPSILON * self.projected.amax();
        column_norms(&out).into_iter().map(|norm| norm.max(rounding)).collect()
    }

    /// The wanted Ritz vectors, and their residuals by fresh products.
    pub(crate) fn residuals(
        &mut self,
        product: &mut Product<'_, S>,
        ritz: &Ritz,
        into: Block,
        images: Block,
    ) -> Result<Vec<f64>, SolveError> {
        let count = self.sizes.count;
        let wanted: Vec<usize> = (0..count).collect();
        self.work.combine(&self.basis.clone(), &columns(&ritz.vectors, &wanted), &[into.all()])?;
        self.straighten(into)?;
        residuals_of(&mut self.work, product, &ritz.values[..count], into, images)
    }

    /// Takes away what rounding left of inner products between Ritz vectors, and turns them no more than that.
    fn straighten(&mut self, x: Block) -> Result<(), SolveError> {
        let gram = self.work.gram(&[x.all()], &[x.all()])?;
        let off = (&gram - Small::identity(x.cols, x.cols)).amax();
        if off <= 4.0 * S::EPSILON || off > 0.1 {
            return Ok(());
        }
        let eigen = self.work.small(|| symmetric_eigen(&gram, "Ritz vectors"))?;
        let roots: Vec<f64> = eigen.values.iter().map(|value| 1.0 / value.sqrt()).collect();
        let c = &eigen.vectors * Small::diagonal(&roots) * eigen.vectors.transpose();
        self.work.combine(&[x.all()], &c, &[x.all()])
    }

    /// Keeps the best Ritz vectors, and goes on from the next block.
    pub(crate) fn restart(&mut self, ritz: &Ritz) -> Result<(), SolveError> {
        let Sizes { count, block, basis } = self.sizes;
        // More than are wanted: what is near to them is kept from coming back.
        let most = basis.saturating_sub(2 * block).max(count);
        let kept = (count + (basis - count) / 3).clamp(count, most).min(self.dimension());
        self.keep(ritz, kept)
    }

    /// Keeps the wanted Ritz vectors, and goes on from random columns beside them.
    pub(crate) fn look_elsewhere(&mut self, ritz: &Ritz) -> Result<(), SolveError> {
        self.keep(ritz, self.sizes.count)?;
        let block = self.free_block()?;
        self.next = self.filled_up(block, 0)?;
        self.coupling = Small::zeros(self.next.map_or(0, |next| next.count), self.dimension());
        Ok(())
    }

    /// The first so many Ritz vectors become the basis.
    fn keep(&mut self, ritz: &Ritz, kept: usize) -> Result<(), SolveError> {
        let y = ritz.vectors.first_columns(kept);
        // Into the first blocks of the memory; the next one lies in none of them.
        let homes: Vec<Block> = self
            .memory
            .iter()
            .copied()
            .filter(|home| self.next.is_none_or(|next| home.id != next.id))
            .collect();
        let (mut into, mut left) = (Vec::new(), kept);
        for home in homes {
            if left == 0 {
                break;
            }
            into.push(home.first(left.min(home.cols)));
            left -= left.min(home.cols);
        }
        self.work.combine(&self.basis.clone(), &y, &into)?;
        self.basis = into;
        self.projected = Small::diagonal(&ritz.values[..kept]);
        self.coupling = &self.coupling * &y;
        Ok(())
    }
}

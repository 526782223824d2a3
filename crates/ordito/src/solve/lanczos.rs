//! Eigenpairs of one end by block Lanczos with thick restarts: a basis of a block Krylov space, from which the best Ritz vectors are kept
//! when it is full (Wu and Simon).
//!
//! Every new block is made orthogonal to the whole basis, twice where much cancels: no ghosts of what has converged appear. The matrix that is projected on
//! the basis is taken from these inner products. A block that turns out dependent is filled up with random columns: eigenvalues that
//! are multiple are found though the Krylov space of one vector has each of them only once.

use crate::Scalar;
use crate::solve::blocks::{Block, Columns};
use crate::solve::control::{Control, Progress};
use crate::solve::directions::orthonormal_directions;
use crate::solve::eigenpairs::{Eigenpairs, Which};
use crate::solve::error::SolveError;
use crate::solve::history::{History, Step, Stopped};
use crate::solve::operator::Operator;
use crate::solve::small::{check_scale, columns, diagonal, norms, stacked, symmetric_eigen};
use crate::solve::vectors::Source;
use crate::solve::workspace::Workspace;
use nalgebra::DMatrix;
use std::ops::ControlFlow;

/// A part of a column's squared length: if less is left beside the basis, what is left is made orthogonal once more. (Of Daniel, Gragg, Kaufman and
/// Stewart. With less than that once would do for one block, but each would pass on five times the error of the last.)
const MUCH_CANCELS: f64 = 0.5;

/// Rows up to which all eigenpairs are found at once: a basis would hold most of them anyway.
pub(crate) const DENSE: usize = 64;
/// Passes after which what still cancels is taken for rounding.
const MOST_PASSES: usize = 4;
/// Restarts without a smaller residual, after which nothing more is expected.
const PATIENCE: usize = 40;

/// What to look for, and how.
pub struct Lanczos<'a, S: Scalar> {
    /// How many eigenpairs.
    pub count: usize,
    /// Of which end.
    pub which: Which,
    /// Starting vectors: as many as the block has columns, or fewer. Random ones if there are none.
    pub start: Option<Source<'a, S>>,
    /// Columns of a block. More make fewer, cheaper products, and find multiple eigenvalues sooner; fewer make a better basis of the same size.
    pub block: Option<usize>,
    /// Columns of the basis: all of it is kept in memory.
    pub subspace: Option<usize>,
    /// When to stop, whom to tell. Iterations are restarts.
    pub control: Control<'a>,
}

impl<S: Scalar> Default for Lanczos<'_, S> {
    fn default() -> Self {
        Lanczos {
            count: 1,
            which: Which::Largest,
            start: None,
            block: None,
            subspace: None,
            control: Control::default(),
        }
    }
}

/// Eigenpairs of a symmetric operator, those of one end of its spectrum, to high accuracy and without a preconditioner.
///
/// ```
/// use ordito::solve::{Lanczos, Which, eigsh};
/// use ordito::spmm::Plan;
/// // diag(1, …, 200)
/// let a = ordito::Coo::new(200, 200, (0..200).collect(), (0..200).collect(), (1..=200).map(f64::from).collect())?;
/// let a = ordito::Csr::from_coo(&a, ordito::Duplicates::Sum);
/// let plan = Plan::new(a, &ordito::Machine::all_cores()?)?;
/// let found = eigsh(&plan, Lanczos { count: 3, which: Which::Largest, ..Default::default() })?;
/// assert!(found.history.converged() && (found.values[2] - 198.0).abs() < 1e-9);
/// # Ok::<(), ordito::Error>(())
/// ```
pub fn eigsh<'a, S: Scalar>(
    a: &'a dyn Operator<S>,
    options: Lanczos<'a, S>,
) -> Result<Eigenpairs<S>, SolveError> {
    let n = a.rows();
    if a.cols() != n {
        let sentence = format!("eigenvectors need a square matrix; this one is {n}×{}", a.cols());
        return Err(SolveError::Asked(sentence));
    }
    let work = Workspace::of(a, options.control.time_parts)?;
    let mut product = |work: &mut Workspace<S>, x, y| work.apply(a, x, y);
    let tolerance = options.control.tolerance_of::<S>();
    let keep_on_device = options.control.keep_on_device;
    let (mut krylov, x) =
        ritz_pairs(work, &mut product, n, options, &|value, largest| tolerance.of::<S>(value, largest))?;
    let count = krylov.values.len();
    let (vectors, vectors_on_device) = krylov.work.give_back(x.first(count), n, keep_on_device)?;
    Ok(Eigenpairs {
        values: krylov.values,
        vectors,
        vectors_on_device,
        residuals: krylov.residuals,
        history: History {
            steps: krylov.steps,
            products: krylov.work.products,
            times: krylov.work.times()?,
            stopped: krylov.stopped,
        },
    })
}

/// Y = A·X of a symmetric A.
pub(crate) type Product<'a, S> =
    dyn FnMut(&mut Workspace<S>, Columns, Columns) -> Result<(), SolveError> + 'a;

/// Are these values with these estimates good enough, for a matrix of at least this norm?
type IsEnough<'a> = dyn Fn(&[f64], &[f64], f64) -> bool + 'a;

/// What was found, with the memory that it lies in.
pub(crate) struct Found<S: Scalar> {
    pub(crate) work: Workspace<S>,
    pub(crate) values: Vec<f64>,
    pub(crate) residuals: Vec<f64>,
    pub(crate) steps: Vec<Step>,
    pub(crate) stopped: Stopped,
}

/// Ritz pairs of a symmetric product of `n` rows, and the block whose first columns they are. `limit`: how large the residual of a
/// value may be, the largest one given too.
pub(crate) fn ritz_pairs<S: Scalar>(
    work: Workspace<S>,
    product: &mut Product<'_, S>,
    n: usize,
    options: Lanczos<'_, S>,
    limit: &dyn Fn(f64, f64) -> f64,
) -> Result<(Found<S>, Block), SolveError> {
    let sizes = Sizes::new(n, &options)?;
    let Lanczos { count, which, start, mut control, .. } = options;
    if !control.tolerance_of::<S>().is_valid() {
        return Err(SolveError::Asked("the tolerance must be a number of 0 or more".into()));
    }
    if n <= DENSE {
        return all_of_a_few_rows(work, product, n, (count, which), limit, control.progress);
    }
    let mut krylov = Krylov::new(work, n, sizes, which, control.seed)?;
    krylov.start(start)?;
    let result = krylov.work.add("Ritz vectors", n, count)?;
    let images = krylov.work.add("their images", n, count)?;
    let best_result = krylov.work.add("the best Ritz vectors", n, count)?;
    let mut kept: Option<(f64, Vec<f64>, Vec<f64>)> = None;
    let mut steps: Vec<Step> = Vec::new();
    let (mut best, mut since_best) = (f64::INFINITY, 0);
    // Estimates are of the projected problem; how much smaller than the truth they turned out to be.
    let mut optimism = 1.0_f64;
    // Values that another block of random columns is to confirm.
    let (mut unconfirmed, mut confirming): (Option<Vec<f64>>, bool) = (None, false);
    let (stopped, values, residuals) = loop {
        // A full basis is not waited for where fewer columns will do.
        let is_enough = |values: &[f64], estimates: &[f64], largest: f64| {
            !confirming && (0..count).all(|i| estimates[i] * optimism <= limit(values[i], largest))
        };
        let ritz = krylov.fill(product, &is_enough)?;
        confirming = false;
        if ritz.values.len() < count {
            return Err(SolveError::Unsuited(format!(
                "no {count} independent vectors of {n} rows were found"
            )));
        }
        let values = ritz.values[..count].to_vec();
        let estimates = krylov.estimates(&ritz);
        let limits: Vec<f64> = values.iter().map(|value| limit(*value, krylov.projected.amax())).collect();
        let within = |residuals: &[f64]| (0..count).filter(|&i| residuals[i] <= limits[i]).count();
        let scaled: Vec<f64> = estimates[..count].iter().map(|estimate| estimate * optimism).collect();
        let step = Step {
            iteration: steps.len(),
            seconds: krylov.work.elapsed().as_secs_f64(),
            values: values.clone(),
            residuals: scaled.clone(),
            converged: within(&scaled),
        };
        let flow = control.progress.as_mut().map(|progress| progress(&step));
        let promising = step.converged == count || krylov.is_complete();
        steps.push(step);
        let worst: f64 = (0..count).filter(|&i| scaled[i] > limits[i]).map(|i| scaled[i]).sum();
        (best, since_best) = if worst < 0.99 * best { (worst, 0) } else { (best, since_best + 1) };
        let at_rounding = worst <= 1e3 * count as f64 * S::EPSILON * krylov.projected.amax();
        let ending = if flow.is_some_and(|flow| flow.is_break()) {
            Some(Stopped::Cancelled)
        } else if steps.len() > control.max_iterations {
            Some(Stopped::Limit)
        } else if since_best >= PATIENCE || (at_rounding && since_best >= 3) || krylov.is_complete() {
            Some(Stopped::Stagnated)
        } else {
            None
        };
        if promising || ending.is_some() {
            // What is claimed is what fresh products show.
            let residuals = krylov.residuals(product, &ritz, result, images)?;
            if within(&residuals) == count {
                // Of a value that is there more often a block finds as many copies as it has columns. Where it found so many, or the
                // product gave out before, there may be more: random columns beside what was found would show them.
                let may_be_more =
                    krylov.gave_out || has_cluster(&values, sizes.block, krylov.projected.amax());
                let is_confirmed = unconfirmed.as_ref().is_some_and(|before| {
                    before
                        .iter()
                        .zip(&values)
                        .zip(&limits)
                        .all(|((x, y), limit)| (x - y).abs() <= 10.0 * limit)
                });
                if !may_be_more || is_confirmed || krylov.is_complete() || ending.is_some() {
                    break (Stopped::Converged, values, residuals);
                }
                (unconfirmed, confirming) = (Some(values), true);
                krylov.look_elsewhere(&ritz)?;
                continue;
            }
            let sum: f64 = residuals.iter().sum();
            if kept.as_ref().is_none_or(|(least, ..)| sum < *least) {
                krylov.work.copy(result.all(), best_result.all())?;
                kept = Some((sum, values.clone(), residuals.clone()));
            }
            if let Some(ending) = ending {
                // The best that was checked, whatever became of it since.
                let (_, values, residuals) = kept.unwrap_or((sum, values, residuals));
                krylov.work.copy(best_result.all(), result.all())?;
                break (ending, values, residuals);
            }
            // Below rounding an estimate says nothing.
            let rounding = 10.0 * S::EPSILON * krylov.projected.amax();
            let ratios = residuals.iter().zip(&estimates).filter(|(_, estimate)| **estimate > rounding);
            optimism =
                ratios.map(|(residual, estimate)| residual / estimate).fold(optimism, f64::max).min(1e3);
        }
        krylov.restart(&ritz)?;
    };
    Ok((Found { work: krylov.work, values, residuals, steps, stopped }, result))
}

/// Every eigenpair of a matrix of few rows, and of them the wanted ones: A itself is a small matrix then.
fn all_of_a_few_rows<S: Scalar>(
    mut work: Workspace<S>,
    product: &mut Product<'_, S>,
    n: usize,
    (count, which): (usize, Which),
    limit: &dyn Fn(f64, f64) -> f64,
    mut progress: Option<Progress<'_>>,
) -> Result<(Found<S>, Block), SolveError> {
    let (unit, image) = (work.unit_block(n)?, work.add("A", n, n)?);
    product(&mut work, unit.all(), image.all())?;
    let a = work.gram(&[unit.all()], &[image.all()])?;
    let eigen = work.small(|| symmetric_eigen(&a, "A·V"))?;
    check_scale(a.amax())?;
    let order = which.order(&eigen.values);
    let values: Vec<f64> = order[..count].iter().map(|&i| eigen.values[i]).collect();
    let result = work.add("eigenvectors", n, count)?;
    work.combine(&[unit.all()], &columns(&eigen.vectors, &order[..count]), &[result.all()])?;
    let images = work.add("their images", n, count)?;
    let residuals = residuals_of(&mut work, product, &values, result, images)?;
    let is_within = |i: &usize| residuals[*i] <= limit(values[*i], a.norm());
    let converged = (0..count).filter(is_within).count();
    let seconds = work.elapsed().as_secs_f64();
    let step =
        Step { iteration: 0, seconds, values: values.clone(), residuals: residuals.clone(), converged };
    let flow = progress.as_mut().map(|progress| progress(&step));
    let stopped = match flow {
        _ if converged == count => Stopped::Converged,
        Some(ControlFlow::Break(())) => Stopped::Cancelled,
        _ => Stopped::Stagnated,
    };
    Ok((Found { work, values, residuals, steps: vec![step], stopped }, result))
}

/// ‖A·x − λ·x‖ by a fresh product.
fn residuals_of<S: Scalar>(
    work: &mut Workspace<S>,
    product: &mut Product<'_, S>,
    values: &[f64],
    x: Block,
    images: Block,
) -> Result<Vec<f64>, SolveError> {
    product(work, x.all(), images.all())?;
    let c = stacked(&[&-diagonal(values), &DMatrix::identity(values.len(), values.len())]);
    work.combine(&[x.all(), images.all()], &c, &[images.all()])?;
    Ok(norms(&work.gram(&[images.all()], &[images.all()])?))
}

/// Are as many of the values the same, but for what rounding and slow convergence leave?
fn has_cluster(values: &[f64], size: usize, largest: f64) -> bool {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.windows(size).any(|run| run[size - 1] - run[0] <= 1e-6 * run[0].abs().max(1e-6 * largest))
}

/// How large blocks and basis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sizes {
    count: usize,
    block: usize,
    /// Columns of the basis when it is full.
    basis: usize,
}

impl Sizes {
    fn new<S: Scalar>(n: usize, options: &Lanczos<'_, S>) -> Result<Self, SolveError> {
        let asked = |sentence: String| Err(SolveError::Asked(sentence));
        let count = options.count;
        if count == 0 || count > n {
            return asked(format!(
                "{count} eigenpairs of a matrix of {n} rows: between 1 and {n} can be found"
            ));
        }
        if let Some(start) = options.start.filter(|start| start.rows() != n) {
            return asked(format!("the starting block has {} rows, {n} expected", start.rows()));
        }
        let of_start = options.start.map(|start| start.cols());
        let block = options.block.or(of_start).unwrap_or(if count >= 6 { 4 } else { 2 });
        if block == 0 {
            return asked("a block of 0 columns".into());
        }
        let block = block.min(n);
        let usual = (3 * count + 4 * block).max(24);
        let basis = options.subspace.unwrap_or(usual);
        if basis < (count + block).min(n) {
            let least = (count + block).min(n);
            return asked(format!(
                "a basis of {basis} columns is too small for {count} eigenpairs and blocks of {block}: {least} at least"
            ));
        }
        Ok(Sizes { count, block, basis: basis.min(n).next_multiple_of(block).min(n) })
    }
}

/// Ritz values, best first, and their coefficients.
struct Ritz {
    values: Vec<f64>,
    vectors: DMatrix<f64>,
}

struct Krylov<S: Scalar> {
    work: Workspace<S>,
    n: usize,
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
    gave_out: bool,
    /// VᵀAV.
    projected: DMatrix<f64>,
    /// How the last product leaves the basis: (next)ᵀ·A·(basis).
    coupling: DMatrix<f64>,
    /// Where products are written.
    image: Block,
}

impl<S: Scalar> Krylov<S> {
    fn new(
        mut work: Workspace<S>,
        n: usize,
        sizes: Sizes,
        which: Which,
        seed: u64,
    ) -> Result<Self, SolveError> {
        let count = sizes.basis.div_ceil(sizes.block) + 1;
        let memory = (0..count).map(|_| work.add("the basis", n, sizes.block)).collect::<Result<_, _>>()?;
        let image = work.add("A·V", n, sizes.block)?;
        let (projected, coupling) = (DMatrix::zeros(0, 0), DMatrix::zeros(0, 0));
        let (basis, next) = (Vec::new(), None);
        let gave_out = false;
        Ok(Krylov { work, n, sizes, which, seed, memory, basis, next, gave_out, projected, coupling, image })
    }

    fn dimension(&self) -> usize {
        self.basis.iter().map(|columns| columns.count).sum()
    }

    /// Does the basis span everything there is?
    fn is_complete(&self) -> bool {
        self.next.is_none()
    }

    /// The first block: what was given, filled up with random columns.
    fn start(&mut self, start: Option<Source<'_, S>>) -> Result<(), SolveError> {
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
    fn filled_up(&mut self, block: Block, mut good: usize) -> Result<Option<Columns>, SolveError> {
        let wanted = block.cols.min(self.n - self.dimension().min(self.n));
        for _ in 0..8 {
            if good >= wanted {
                break;
            }
            self.seed = self.seed.wrapping_add(1);
            let missing = wanted - good;
            let fresh = block.range(good, missing);
            self.work.randomize(fresh, self.n, self.seed)?;
            let before: Vec<Columns> = self.basis.iter().copied().chain([block.first(good)]).collect();
            let mut kept = missing;
            for _ in 0..3 {
                let fresh = block.range(good, kept);
                self.remove(&before, fresh)?;
                kept = self.work.orthonormalize(fresh, None)?.rank;
            }
            good += kept;
        }
        let good = good.min(wanted);
        Ok(if good == 0 { None } else { Some(block.first(good)) })
    }

    /// X − V·VᵀX.
    fn remove(&mut self, v: &[Columns], x: Columns) -> Result<DMatrix<f64>, SolveError> {
        let overlap = self.work.gram(v, &[x])?;
        let c = stacked(&[&-&overlap, &DMatrix::identity(x.count, x.count)]);
        let from: Vec<Columns> = v.iter().copied().chain([x]).collect();
        self.work.combine(&from, &c, &[x])?;
        Ok(overlap)
    }

    /// Adds blocks until the basis is full, or does.
    fn fill(&mut self, product: &mut Product<'_, S>, is_enough: &IsEnough<'_>) -> Result<Ritz, SolveError> {
        while let Some(next) = self.next {
            if self.dimension() + next.count > self.sizes.basis && !self.basis.is_empty() {
                break;
            }
            self.extend(product, next)?;
            if self.dimension() >= self.sizes.count && self.next.is_some() {
                let ritz = self.ritz()?;
                if is_enough(&ritz.values, &self.estimates(&ritz), self.projected.amax()) {
                    return Ok(ritz);
                }
            }
        }
        self.ritz()
    }

    fn extend(&mut self, product: &mut Product<'_, S>, next: Columns) -> Result<(), SolveError> {
        self.basis.push(next);
        let image = self.image.first(next.count);
        product(&mut self.work, next, image)?;
        let basis = self.basis.clone();
        let all: Vec<Columns> = basis.iter().copied().chain([image]).collect();
        let dimension = self.dimension();
        let mut gram = self.work.gram(&all, &[image])?;
        if gram.iter().any(|x| !x.is_finite()) {
            return Err(SolveError::NotFinite("A·V"));
        }
        let mut overlap = gram.rows(0, dimension).into_owned();
        // One pass measures both what lies in the basis and what is left.
        let left = |j: usize| gram[(dimension + j, j)] - overlap.column(j).norm_squared();
        if (0..next.count).any(|j| left(j) < MUCH_CANCELS * gram[(dimension + j, j)]) {
            let unit = DMatrix::identity(next.count, next.count);
            self.work.combine(&all, &stacked(&[&-&overlap, &unit]), &[image])?;
            gram = self.work.gram(&all, &[image])?;
            overlap += gram.rows(0, dimension);
        }
        // VᵀAV grows by these columns, and as many rows.
        let (old, new) = (self.projected.nrows(), self.projected.nrows() + next.count);
        let mut projected = DMatrix::zeros(new, new);
        projected.view_mut((0, 0), (old, old)).copy_from(&self.projected);
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
        let least = S::EPSILON * self.projected.amax() * 4.0 * (self.n as f64).sqrt().max(8.0);
        let left = norms(&gram.rows(dimension, next.count).into_owned());
        // What a single pass measured still holds its part of the basis: that is far above rounding then.
        let good: Vec<usize> = (0..next.count).filter(|&column| left[column] > least).collect();
        let mut rank = 0;
        if let Some((c, mut needs_more)) =
            self.work.small(|| orthonormal_directions(&gram, dimension, &good))?
        {
            rank = c.ncols();
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
        let coupling = if rank > 0 {
            self.work.gram(&[to.first(rank)], &[image])?
        } else {
            DMatrix::zeros(0, next.count)
        };
        self.next = self.filled_up(to, rank)?;
        // Random columns are not what the product leaves the basis by.
        let rows = self.next.map_or(0, |next| next.count);
        self.gave_out = rank < rows;
        self.coupling = DMatrix::zeros(rows, new);
        let rank = rank.min(rows);
        self.coupling.view_mut((0, old), (rank, next.count)).copy_from(&coupling.rows(0, rank));
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
            check_scale(projected.amax())?;
            let order = which.order(&eigen.values);
            let values = order.iter().map(|&i| eigen.values[i]).collect();
            Ok(Ritz { values, vectors: columns(&eigen.vectors, &order) })
        })
    }

    /// ‖A·y − θ·y‖ of every Ritz pair, without looking at a vector.
    fn estimates(&self, ritz: &Ritz) -> Vec<f64> {
        let out = &self.coupling * &ritz.vectors;
        let rounding = S::EPSILON * self.projected.amax();
        (0..out.ncols()).map(|col| out.column(col).norm().max(rounding)).collect()
    }

    /// The wanted Ritz vectors, and their residuals by fresh products.
    fn residuals(
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
        let off = (&gram - DMatrix::<f64>::identity(x.cols, x.cols)).amax();
        if off <= 4.0 * S::EPSILON || off > 0.1 {
            return Ok(());
        }
        let eigen = self.work.small(|| symmetric_eigen(&gram, "Ritz vectors"))?;
        let roots: Vec<f64> = eigen.values.iter().map(|value| 1.0 / value.sqrt()).collect();
        let c = &eigen.vectors * diagonal(&roots) * eigen.vectors.transpose();
        self.work.combine(&[x.all()], &c, &[x.all()])
    }

    /// Keeps the best Ritz vectors, and goes on from the next block.
    fn restart(&mut self, ritz: &Ritz) -> Result<(), SolveError> {
        let Sizes { count, block, basis } = self.sizes;
        // More than are wanted: what is near to them is kept from coming back.
        let most = basis.saturating_sub(2 * block).max(count);
        let kept = (count + (basis - count) / 3).clamp(count, most).min(self.dimension());
        self.keep(ritz, kept)
    }

    /// Keeps the wanted Ritz vectors, and goes on from random columns beside them.
    fn look_elsewhere(&mut self, ritz: &Ritz) -> Result<(), SolveError> {
        self.keep(ritz, self.sizes.count)?;
        let block = self.free_block()?;
        self.next = self.filled_up(block, 0)?;
        self.coupling = DMatrix::zeros(self.next.map_or(0, |next| next.count), self.dimension());
        Ok(())
    }

    /// The first so many Ritz vectors become the basis.
    fn keep(&mut self, ritz: &Ritz, kept: usize) -> Result<(), SolveError> {
        let y = ritz.vectors.columns(0, kept).into_owned();
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
        self.projected = diagonal(&ritz.values[..kept]);
        self.coupling = &self.coupling * &y;
        Ok(())
    }
}

//! Eigenvectors of a symmetric matrix by LOBPCG (Knyazev): the best combination of the approximations X, their residuals W and the last
//! directions P, iteration after iteration.
//!
//! The basis [X P W] is kept orthonormal all but for rounding: W is made so by its Gram matrix; P is chosen orthonormal to X among the
//! coefficients (Hetmaniuk and Lehoucq), which costs nothing. What is left is measured, and taken into account by the small problem.
//! An iteration passes over X, P, W and their images a fixed number of times: residuals; [X P W]ᵀW; W; A·W; [X P W]ᵀ[W AW]; [X P] and
//! its image. Columns that have converged get no W and no P (soft locking), but still take part.

use crate::Scalar;
use crate::matrix::{Dense, DenseView};
use crate::solve::blocks::{Block, Columns};
use crate::solve::control::{Control, Tolerance};
use crate::solve::eigenpairs::{Eigenpairs, Which};
use crate::solve::error::SolveError;
use crate::solve::history::{History, Step, Stopped};
use crate::solve::operator::{Operator, Preconditioner};
use crate::solve::small::{
    beside, cholesky, columns, diagonal, inverse_of_lower, norms, stacked, symmetric_eigen,
};
use crate::solve::workspace::Workspace;
use nalgebra::DMatrix;

/// Least pivot of a Cholesky factor, as a part of its diagonal, that is still trusted.
const LEAST_PIVOT: f64 = 1e-10;
/// Directions of W whose squared length, scaled, is less than this much of the longest are left out.
const DROPPED: f64 = 1e-13;
/// Iterations after which images are computed anew: each one adds a rounding error to A·X.
const REFRESH: usize = 64;
/// Iterations without a residual that is smaller than all before, after which nothing more is expected.
const PATIENCE: usize = 100;

/// What to look for, and how.
pub struct Lobpcg<'a, S: Scalar> {
    /// How many eigenpairs.
    pub count: usize,
    /// Of which end.
    pub which: Which,
    /// Starting vectors, at least `count`: as many columns are iterated with. Random ones if there are none, and some more than `count`,
    /// which makes the last ones converge faster.
    pub start: Option<DenseView<'a, S>>,
    /// B of A·x = λ·B·x, symmetric and positive definite; none: the unit matrix.
    pub b: Option<&'a dyn Operator<S>>,
    /// Something like A⁻¹, symmetric and positive definite.
    pub preconditioner: Option<Preconditioner<'a, S>>,
    /// Vectors that all results are to be orthogonal to (in the inner product of B): known eigenvectors, say.
    pub constraints: Option<DenseView<'a, S>>,
    /// When to stop, whom to tell.
    pub control: Control<'a>,
}

impl<S: Scalar> Default for Lobpcg<'_, S> {
    fn default() -> Self {
        Lobpcg {
            count: 1,
            which: Which::Largest,
            start: None,
            b: None,
            preconditioner: None,
            constraints: None,
            control: Control::default(),
        }
    }
}

/// Eigenpairs of a symmetric operator, those of one end of its spectrum.
///
/// ```
/// use ordito::solve::{Lobpcg, Which, lobpcg};
/// use ordito::{Coo, Csr, Duplicates};
/// // 2 on the diagonal, −1 beside it.
/// let (mut rows, mut cols, mut values) = (vec![], vec![], vec![]);
/// for i in 0..100_u32 {
///     for j in i.saturating_sub(1)..(i + 2).min(100) {
///         rows.push(i);
///         cols.push(j);
///         values.push(if i == j { 2.0 } else { -1.0 });
///     }
/// }
/// let a = Csr::from_coo(&Coo::new(100, 100, rows, cols, values)?, Duplicates::Sum);
/// let plan = ordito::spmm::Plan::new(a, &ordito::Machine::all_cores()?)?;
/// let found = lobpcg(&plan, Lobpcg { count: 3, which: Which::Smallest, ..Default::default() })?;
/// assert!(found.history.converged() && found.residuals.iter().all(|r| *r < 1e-6));
/// # Ok::<(), ordito::Error>(())
/// ```
pub fn lobpcg<'a, S: Scalar>(
    a: &'a dyn Operator<S>,
    options: Lobpcg<'a, S>,
) -> Result<Eigenpairs<S>, SolveError> {
    let n = a.rows();
    let constraints = options.constraints.map_or(0, |y| y.cols());
    check(a, &options, n, constraints)?;
    let mut solver = Solver::new(a, &options, n)?;
    if let Some(y) = options.constraints {
        solver.constrain(y)?;
    }
    solver.start(options.start, options.control.seed)?;
    solver.iterate(options)
}

fn check<S: Scalar>(
    a: &dyn Operator<S>,
    options: &Lobpcg<'_, S>,
    n: usize,
    constraints: usize,
) -> Result<(), SolveError> {
    let asked = |sentence: String| Err(SolveError::Asked(sentence));
    if a.cols() != n {
        return asked(format!("eigenvectors need a square matrix; this one is {n}×{}", a.cols()));
    }
    if let Some(b) = options.b.filter(|b| (b.rows(), b.cols()) != (n, n)) {
        return asked(format!("B is {}×{}, {n}×{n} expected", b.rows(), b.cols()));
    }
    if let Some(preconditioner) = &options.preconditioner {
        preconditioner.check(n)?;
    }
    for (what, view) in [("the starting block", options.start), ("the constraints", options.constraints)] {
        if let Some(view) = view.filter(|view| view.rows() != n) {
            return asked(format!("{what} has {} rows, {n} expected", view.rows()));
        }
    }
    if let Some(start) = options.start.filter(|start| start.cols() < options.count) {
        return asked(format!(
            "{} eigenpairs of a starting block of {} columns",
            options.count,
            start.cols()
        ));
    }
    let block = options.start.map_or(options.count, |start| start.cols());
    if block + constraints > n {
        let beside =
            if constraints > 0 { format!(" orthogonal to {constraints} others") } else { String::new() };
        return asked(format!("{block} eigenpairs{beside} of a matrix of {n} rows: there are only {n}"));
    }
    if !options.control.tolerance_of::<S>().is_valid() {
        return asked("the tolerance must be a number of 0 or more".into());
    }
    Ok(())
}

/// A block with its images under A, and under B where there is one.
#[derive(Clone, Copy)]
struct WithImages {
    own: Block,
    a: Block,
    b: Block,
}

struct Solver<'a, S: Scalar> {
    a: &'a dyn Operator<S>,
    b: Option<&'a dyn Operator<S>>,
    which: Which,
    n: usize,
    /// Columns that are iterated with.
    k: usize,
    work: Workspace<S>,
    x: WithImages,
    p: WithImages,
    w: WithImages,
    /// Residuals, where a preconditioner makes W of them.
    r: Option<Block>,
    factors: Option<Block>,
    /// Y, and B·Y.
    constraints: Option<(Block, Block)>,
    values: Vec<f64>,
    /// [X P]ᵀA[X P] as the last small problem says.
    projected: DMatrix<f64>,
    p_count: usize,
    /// The largest |Ritz value| that was seen: at least nearly ‖A‖, where B is the unit matrix.
    largest: f64,
}

impl<'a, S: Scalar> Solver<'a, S> {
    fn new(a: &'a dyn Operator<S>, options: &Lobpcg<'a, S>, n: usize) -> Result<Self, SolveError> {
        let mut work = Workspace::of(a, options.control.time_parts)?;
        let constraints = options.constraints.map_or(0, |y| y.cols());
        let k = match options.start {
            Some(start) => start.cols(),
            // Some more than are wanted: the last ones converge as fast as the gap to those that are left out is wide.
            None => (options.count + (options.count / 4).clamp(2, 8)).min(n - constraints),
        };
        let mut with_images = |own, of_a, of_b| {
            let block = work.add(own, n, k)?;
            let a = work.add(of_a, n, k)?;
            let b = if options.b.is_some() { work.add(of_b, n, k)? } else { block };
            Ok::<_, SolveError>(WithImages { own: block, a, b })
        };
        let x = with_images("X", "A·X", "B·X")?;
        let p = with_images("P", "A·P", "B·P")?;
        let w = with_images("W", "A·W", "B·W")?;
        let r = match &options.preconditioner {
            Some(Preconditioner::Operator(_)) => Some(work.add("residuals", n, k)?),
            _ => None,
        };
        let factors = match &options.preconditioner {
            Some(Preconditioner::Diagonal(numbers)) => {
                let block = work.add("the preconditioner", n, 1)?;
                work.write(block.all(), DenseView::new(numbers, n, 1, 1)?)?;
                Some(block)
            }
            _ => None,
        };
        Ok(Solver {
            a,
            b: options.b,
            which: options.which,
            n,
            k,
            work,
            x,
            p,
            w,
            r,
            factors,
            constraints: None,
            values: Vec::new(),
            projected: DMatrix::zeros(0, 0),
            p_count: 0,
            largest: 0.0,
        })
    }

    /// B·X of these columns, where there is a B.
    fn image_under_b(&mut self, of: WithImages, count: usize) -> Result<(), SolveError> {
        match self.b {
            Some(b) => self.work.apply(b, of.own.first(count), of.b.first(count)),
            None => Ok(()),
        }
    }

    fn orthonormalize(&mut self, of: WithImages, count: usize) -> Result<usize, SolveError> {
        self.image_under_b(of, count)?;
        let image = self.b.map(|_| of.b.first(count));
        Ok(self.work.orthonormalize(of.own.first(count), image)?.rank)
    }

    fn constrain(&mut self, y: DenseView<'_, S>) -> Result<(), SolveError> {
        let own = self.work.add("constraints", self.n, y.cols())?;
        let image = match self.b {
            Some(_) => self.work.add("B·constraints", self.n, y.cols())?,
            None => own,
        };
        self.work.write(own.all(), y)?;
        let rank = self.orthonormalize(WithImages { own, a: own, b: image }, y.cols())?;
        if rank < y.cols() {
            return Err(SolveError::Asked(format!(
                "the constraints are dependent: rank {rank} of {}",
                y.cols()
            )));
        }
        self.constraints = Some((own, image));
        Ok(())
    }

    /// X − Y·(BY)ᵀX.
    fn project_out_constraints(&mut self, x: Columns) -> Result<(), SolveError> {
        let Some((y, by)) = self.constraints else { return Ok(()) };
        let overlap = self.work.gram(&[by.all()], &[x])?;
        let c = stacked(&[&DMatrix::identity(x.count, x.count), &-overlap]);
        self.work.combine(&[x, y.all()], &c, &[x])
    }

    /// X orthonormal, with images and Ritz values.
    fn start(&mut self, start: Option<DenseView<'_, S>>, seed: u64) -> Result<(), SolveError> {
        let x = self.x.own.all();
        match start {
            Some(start) => self.work.write(x, start)?,
            None => self.work.randomize(x, self.n, seed)?,
        }
        let mut rank = 0;
        for attempt in 0..4 {
            self.project_out_constraints(x)?;
            rank = self.orthonormalize(self.x, self.k)?;
            if rank == self.k {
                // What was dependent on the constraints is rounding now, scaled up.
                self.project_out_constraints(x)?;
                rank = self.orthonormalize(self.x, self.k)?;
            }
            if rank == self.k {
                break;
            }
            // Dependent columns are replaced by random ones.
            let missing = self.k - rank;
            let fresh = self.work.add("fresh columns", self.n, missing)?;
            self.work.randomize(fresh.all(), self.n, seed.wrapping_add(1 + attempt))?;
            self.work.copy(fresh.all(), self.x.own.range(rank, missing))?;
        }
        if rank < self.k {
            return Err(SolveError::Unsuited(
                "no block of independent vectors was found: is B positive definite?".into(),
            ));
        }
        self.refresh()
    }

    /// A·X anew, and the best that X alone can do; P is forgotten.
    fn refresh(&mut self) -> Result<(), SolveError> {
        let k = self.k;
        let WithImages { own, a, b } = self.x;
        self.work.apply(self.a, own.all(), a.all())?;
        self.image_under_b(self.x, k)?;
        let h = self.work.gram(&[own.all()], &[a.all()])?;
        let q = self.work.gram(&[own.all()], &[b.all()])?;
        let (values, c) = self.ritz(&h, &q)?.ok_or_else(not_positive)?;
        let c = columns(&c, &(0..k).collect::<Vec<_>>());
        self.work.combine(&[own.all()], &c, &[own.all()])?;
        self.work.combine(&[a.all()], &c, &[a.all()])?;
        if self.b.is_some() {
            self.work.combine(&[b.all()], &c, &[b.all()])?;
        }
        self.values = values[..k].to_vec();
        self.projected = diagonal(&self.values);
        self.p_count = 0;
        Ok(())
    }

    /// Ritz values, best first, and their coefficients, orthonormal in Q; none where Q is not positive definite enough.
    #[allow(clippy::type_complexity)]
    fn ritz(
        &mut self,
        h: &DMatrix<f64>,
        q: &DMatrix<f64>,
    ) -> Result<Option<(Vec<f64>, DMatrix<f64>)>, SolveError> {
        if h.iter().chain(q.iter()).any(|x| !x.is_finite()) {
            return Err(SolveError::NotFinite("A·X"));
        }
        let which = self.which;
        let found = self.work.small(|| {
            let Some(l) = cholesky(q, LEAST_PIVOT) else { return Ok(None) };
            let inverse = inverse_of_lower(&l);
            let eigen = symmetric_eigen(&(&inverse * h * inverse.transpose()), "A·X")?;
            let mut order: Vec<usize> = (0..eigen.values.len()).collect();
            if which == Which::Largest {
                order.reverse();
            }
            let values: Vec<f64> = order.iter().map(|&i| eigen.values[i]).collect();
            Ok::<_, SolveError>(Some((values, inverse.transpose() * columns(&eigen.vectors, &order))))
        })?;
        if let Some((values, _)) = &found {
            self.largest = values.iter().fold(self.largest, |largest, value| largest.max(value.abs()));
        }
        Ok(found)
    }

    /// R = A·X − B·X·Λ, into the residuals' block; their norms.
    fn residuals(&mut self) -> Result<(Columns, Vec<f64>), SolveError> {
        let k = self.k;
        let into = self.r.unwrap_or(self.w.own).all();
        let lambda = diagonal(&self.values);
        let c = stacked(&[&DMatrix::identity(k, k), &-lambda]);
        self.work.combine(&[self.x.a.all(), self.x.b.all()], &c, &[into])?;
        let gram = self.work.gram(&[into], &[into])?;
        if gram.iter().any(|x| !x.is_finite()) {
            return Err(SolveError::NotFinite("A·X"));
        }
        Ok((into, norms(&gram)))
    }

    fn iterate(mut self, options: Lobpcg<'_, S>) -> Result<Eigenpairs<S>, SolveError> {
        let Lobpcg { count, preconditioner, mut control, .. } = options;
        let tolerance = control.tolerance_of::<S>();
        let mut steps: Vec<Step> = Vec::new();
        let (mut best, mut since_best) = (f64::INFINITY, 0);
        // Are the images fresh, so that residuals are those of X and not of what rounding made of them?
        let mut fresh = true;
        let mut refreshed_at = 0;
        let stopped = loop {
            let iteration = steps.len();
            let (r, residuals) = self.residuals()?;
            let limit = |value: &f64| tolerance.of_eigenvalue::<S>(*value, self.largest);
            let limits: Vec<f64> = self.values.iter().map(limit).collect();
            let is_within = |column: usize| residuals[column] <= limits[column];
            let converged = (0..count).filter(|&column| is_within(column)).count();
            if converged == count && !fresh {
                self.refresh()?;
                (fresh, refreshed_at) = (true, iteration);
                continue;
            }
            let step = Step {
                iteration,
                seconds: self.work.elapsed().as_secs_f64(),
                values: self.values[..count].to_vec(),
                residuals: residuals[..count].to_vec(),
                converged,
            };
            let flow = control.progress.as_mut().map(|progress| progress(&step));
            steps.push(step);
            if converged == count {
                break Stopped::Converged;
            }
            if flow.is_some_and(|flow| flow.is_break()) {
                break Stopped::Cancelled;
            }
            if iteration >= control.max_iterations {
                break Stopped::Limit;
            }
            let worst: f64 =
                (0..count).filter(|&column| !is_within(column)).map(|column| residuals[column]).sum();
            (best, since_best) = if worst < 0.99 * best { (worst, 0) } else { (best, since_best + 1) };
            let at_rounding = worst <= 8.0 * S::EPSILON * self.largest * (self.n as f64).sqrt();
            if since_best >= PATIENCE || (at_rounding && since_best >= 10) {
                break Stopped::Stagnated;
            }
            if iteration - refreshed_at >= REFRESH {
                self.refresh()?;
                refreshed_at = iteration;
                self.residuals()?;
            }
            // What follows changes X, and its images by combination only.
            fresh = false;
            let active: Vec<usize> =
                (0..self.k).filter(|&column| column >= count || !is_within(column)).collect();
            let directions = self.directions(r, &active, &preconditioner)?;
            if directions == 0 || !self.improve(directions, &active)? {
                // Nothing is left to go to, or what is left is rounding.
                if self.p_count == 0 && since_best > 0 {
                    break Stopped::Stagnated;
                }
                self.refresh()?;
                (fresh, refreshed_at) = (true, iteration);
            }
        };
        self.result(count, steps, stopped, tolerance)
    }

    /// W: the active residuals, preconditioned, orthonormal to X, P and each other; how many are left.
    fn directions(
        &mut self,
        r: Columns,
        active: &[usize],
        preconditioner: &Option<Preconditioner<'_, S>>,
    ) -> Result<usize, SolveError> {
        let (x, p, w) = (self.x, self.p, self.w);
        match preconditioner {
            Some(Preconditioner::Operator(t)) => self.work.precondition(*t, r, w.own.all())?,
            Some(Preconditioner::Diagonal(_)) => {
                if let Some(factors) = self.factors {
                    self.work.scale_rows(factors.all(), w.own.all())?;
                }
            }
            None => {}
        }
        self.project_out_constraints(w.own.all())?;
        let (k, p_count) = (self.k, self.p_count);
        let (bx, bp) = (x.b.all(), p.b.first(p_count));
        if self.b.is_some() {
            // In two steps: the inner products of W need B·W.
            let overlap = self.work.gram(&[bx, bp], &[w.own.all()])?;
            let c = stacked(&[&DMatrix::identity(k, k), &-overlap]);
            let c = columns(&c, active);
            self.work.combine(
                &[w.own.all(), x.own.all(), p.own.first(p_count)],
                &c,
                &[w.own.first(active.len())],
            )?;
            return self.orthonormalize(w, active.len());
        }
        let gram = self.work.gram(&[x.own.all(), p.own.first(p_count), w.own.all()], &[w.own.all()])?;
        if gram.iter().any(|x| !x.is_finite()) {
            return Err(SolveError::NotFinite("the preconditioned residual"));
        }
        let chosen = self.work.small(|| orthonormal_directions(&gram, k + p_count, active))?;
        let Some((c, needs_more)) = chosen else { return Ok(0) };
        let count = c.ncols();
        self.work.combine(&[x.own.all(), p.own.first(p_count), w.own.all()], &c, &[w.own.first(count)])?;
        if !needs_more {
            return Ok(count);
        }
        // Most of W lay in X and P, or its columns were nearly dependent: what is left carries their rounding.
        let w_columns = w.own.first(count);
        let gram = self.work.gram(&[x.own.all(), p.own.first(p_count), w_columns], &[w_columns])?;
        let all: Vec<usize> = (0..count).collect();
        let chosen = self.work.small(|| orthonormal_directions(&gram, k + p_count, &all))?;
        let Some((c, _)) = chosen else { return Ok(0) };
        self.work.combine(&[x.own.all(), p.own.first(p_count), w_columns], &c, &[w.own.first(c.ncols())])?;
        Ok(c.ncols())
    }

    /// The best of [X P W], and the next P; `false` where the basis has become too dependent.
    fn improve(&mut self, directions: usize, active: &[usize]) -> Result<bool, SolveError> {
        let (k, p_count, count) = (self.k, self.p_count, directions);
        let (x, p, w) = (self.x, self.p, self.w);
        self.work.apply(self.a, w.own.first(count), w.a.first(count))?;
        let basis = [x.own.all(), p.own.first(p_count), w.own.first(count)];
        let gram = self.work.gram(&basis, &[w.b.first(count), w.a.first(count)])?;
        let m = k + p_count + count;
        let old = k + p_count;
        // Of X and P the inner products are known: they were chosen so.
        let mut q = DMatrix::identity(m, m);
        let mut h = DMatrix::zeros(m, m);
        h.view_mut((0, 0), (old, old)).copy_from(&self.projected);
        for j in 0..count {
            for i in 0..m {
                q[(i, old + j)] = gram[(i, j)];
                q[(old + j, i)] = gram[(i, j)];
                h[(i, old + j)] = gram[(i, count + j)];
                h[(old + j, i)] = gram[(i, count + j)];
            }
        }
        for j in 0..count {
            for i in 0..j {
                let [of_q, of_h] =
                    [&q, &h].map(|all| 0.5 * (gram_at(all, old, i, j) + gram_at(all, old, j, i)));
                for (i, j) in [(old + i, old + j), (old + j, old + i)] {
                    q[(i, j)] = of_q;
                    h[(i, j)] = of_h;
                }
            }
        }
        let Some((values, c)) = self.ritz(&h, &q)? else { return Ok(false) };
        let c_x = columns(&c, &(0..k).collect::<Vec<_>>());
        let c_p = self.work.small(|| next_directions(&c_x, &q, active));
        let both = beside(&[&c_x, &c_p]);
        let next_p = c_p.ncols();
        self.projected = both.transpose() * &h * &both;
        self.projected.view_mut((0, 0), (k, k)).copy_from(&diagonal(&values[..k]));
        self.values = values[..k].to_vec();
        self.work.combine(&basis, &both, &[x.own.all(), p.own.first(next_p)])?;
        let of_a = [x.a.all(), p.a.first(p_count), w.a.first(count)];
        self.work.combine(&of_a, &both, &[x.a.all(), p.a.first(next_p)])?;
        if self.b.is_some() {
            let of_b = [x.b.all(), p.b.first(p_count), w.b.first(count)];
            self.work.combine(&of_b, &both, &[x.b.all(), p.b.first(next_p)])?;
        }
        self.p_count = next_p;
        Ok(true)
    }

    fn result(
        mut self,
        count: usize,
        steps: Vec<Step>,
        stopped: Stopped,
        _tolerance: Tolerance,
    ) -> Result<Eigenpairs<S>, SolveError> {
        if stopped != Stopped::Converged {
            // What is claimed is what fresh products show.
            self.refresh()?;
        }
        let (_, residuals) = self.residuals()?;
        let vectors: Dense<S> = self.work.read(self.x.own.first(count), self.n)?;
        let (products, times) = (self.work.products, self.work.times()?);
        Ok(Eigenpairs {
            values: self.values[..count].to_vec(),
            vectors,
            residuals: residuals[..count].to_vec(),
            history: History { steps, products, times, stopped },
        })
    }
}

fn gram_at(all: &DMatrix<f64>, old: usize, i: usize, j: usize) -> f64 {
    all[(old + i, old + j)]
}

fn not_positive() -> SolveError {
    SolveError::Unsuited("the Gram matrix of the block is not positive definite: is B?".into())
}

/// Coefficients of orthonormal directions: [X P W]·C spans the active columns of W without what lies in X and P. `gram` is [X P W]ᵀW, `old`
/// the columns of X and P. And: did so much cancel that it should be done once more?
#[allow(clippy::type_complexity)]
fn orthonormal_directions(
    gram: &DMatrix<f64>,
    old: usize,
    active: &[usize],
) -> Result<Option<(DMatrix<f64>, bool)>, SolveError> {
    let overlap = columns(&gram.rows(0, old).into_owned(), active);
    let of_w = DMatrix::from_fn(active.len(), active.len(), |i, j| {
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
    let scaled = DMatrix::from_fn(there.len(), there.len(), |i, j| {
        left[(there[i], there[j])] / (lengths[i] * lengths[j])
    });
    let mut needs_more = there.iter().any(|&i| left[(i, i)] < 1e-4 * of_w[(i, i)]);
    let by_length =
        DMatrix::from_fn(there.len(), there.len(), |i, j| if i == j { 1.0 / lengths[i] } else { 0.0 });
    let inner = match cholesky(&scaled, 1e-6) {
        Some(l) => by_length * inverse_of_lower(&l).transpose(),
        None => {
            needs_more = true;
            let eigen = symmetric_eigen(&scaled, "residuals")?;
            let largest = eigen.values.last().copied().unwrap_or(0.0);
            let kept: Vec<usize> =
                (0..there.len()).rev().filter(|&i| eigen.values[i] > DROPPED * largest).collect();
            let roots: Vec<f64> = kept.iter().map(|&i| 1.0 / eigen.values[i].sqrt()).collect();
            by_length * columns(&eigen.vectors, &kept) * diagonal(&roots)
        }
    };
    // [−overlap; unit] of the columns that are there.
    let mut c = DMatrix::zeros(gram.nrows(), inner.ncols());
    let above = -columns(&overlap, &there) * &inner;
    c.view_mut((0, 0), (old, inner.ncols())).copy_from(&above);
    for (row, &i) in there.iter().enumerate() {
        for col in 0..inner.ncols() {
            c[(old + active[i], col)] = inner[(row, col)];
        }
    }
    Ok(Some((c, needs_more)))
}

/// Coefficients of P: what the active ones of the new X have of P and W, orthonormal in Q to the new X and to each other.
fn next_directions(c_x: &DMatrix<f64>, q: &DMatrix<f64>, active: &[usize]) -> DMatrix<f64> {
    let (m, k) = c_x.shape();
    let mut kept: Vec<nalgebra::DVector<f64>> = Vec::new();
    for &col in active {
        let mut c = c_x.column(col).into_owned();
        c.rows_mut(0, k).fill(0.0);
        let before = (q * &c).dot(&c).max(0.0).sqrt();
        for _ in 0..2 {
            let image = q * &c;
            c -= c_x * (c_x.transpose() * &image);
            for other in &kept {
                let overlap = (q * &c).dot(other);
                c -= other * overlap;
            }
        }
        let length = (q * &c).dot(&c).max(0.0).sqrt();
        if length > 1e-10 * before && length > 0.0 {
            kept.push(c / length);
        }
    }
    DMatrix::from_fn(m, kept.len(), |row, col| kept[col][row])
}

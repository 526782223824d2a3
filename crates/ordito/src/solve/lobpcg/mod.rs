//! Eigenvectors of a symmetric matrix by LOBPCG (Knyazev): the best combination of the approximations X, their residuals W and the last
//! directions P, iteration after iteration.
//!
//! The basis [X P W] is kept orthonormal all but for rounding: W is made so by its Gram matrix; P is chosen orthonormal to X among the
//! coefficients (Hetmaniuk and Lehoucq), which costs nothing. What is left is measured, and taken into account by the small problem.
//! An iteration passes over X, P, W and their images a fixed number of times: residuals; [X P W]ᵀW; W; A·W; [X P W]ᵀ[W AW]; [X P] and
//! its image. Columns that have converged get no W and no P (soft locking), but still take part.

use crate::Scalar;
use crate::matrix::DenseView;
use crate::solve::blocks::{Block, Columns};
use crate::solve::control::Control;
use crate::solve::directions::orthonormal_directions;
use crate::solve::eigenpairs::{Eigenpairs, Which};
use crate::solve::error::SolveError;
use crate::solve::history::{History, Step, Stopped};
use crate::solve::operator::{Operator, Preconditioner};
use crate::solve::small::{
    check_scale, cholesky, columns, diagonal, inverse_of_lower, norms, stacked, symmetric_eigen,
};
use crate::solve::vectors::Source;
use crate::solve::workspace::Workspace;
use nalgebra::DMatrix;

/// Least pivot of a Cholesky factor, as a part of its diagonal, that is still trusted.
const LEAST_PIVOT: f64 = 1e-10;
/// Iterations after which images are computed anew: each one adds a rounding error to A·X.
const REFRESH: usize = 64;
/// Iterations without a smaller residual or a better value, after which nothing more is expected.
const PATIENCE: usize = 100;

/// What to look for, and how.
pub struct Lobpcg<'a, S: Scalar> {
    /// How many eigenpairs.
    pub count: usize,
    /// Of which end.
    pub which: Which,
    /// Starting vectors, at least `count`: as many columns are iterated with. Random ones if there are none, and some more than `count`,
    /// which makes the last ones converge faster.
    pub start: Option<Source<'a, S>>,
    /// B of A·x = λ·B·x, symmetric and positive definite; none: the unit matrix.
    pub b: Option<&'a dyn Operator<S>>,
    /// Something like A⁻¹, symmetric and positive definite.
    pub preconditioner: Option<Preconditioner<'a, S>>,
    /// Vectors that all results are to be orthogonal to (in the inner product of B): known eigenvectors, say.
    pub constraints: Option<Source<'a, S>>,
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
    if options.which == Which::LargestMagnitude {
        return asked("LOBPCG finds one end of the spectrum; both ends are found by Lanczos".into());
    }
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
    if block.saturating_add(constraints) > n {
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
    /// [X P W]ᵀW, where the residuals themselves are W: their norms came from it.
    measured: Option<DMatrix<f64>>,
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
            measured: None,
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

    /// ‖Bx‖, by which a relative tolerance goes: x is of length 1 in the inner product of B, and not in itself.
    fn sizes_under_b(&mut self) -> Result<Vec<f64>, SolveError> {
        match self.b {
            Some(_) => Ok(norms(&self.work.gram(&[self.x.b.all()], &[self.x.b.all()])?)),
            None => Ok(vec![1.0; self.k]),
        }
    }

    fn orthonormalize(&mut self, of: WithImages, count: usize) -> Result<usize, SolveError> {
        self.image_under_b(of, count)?;
        let image = self.b.map(|_| of.b.first(count));
        Ok(self.work.orthonormalize(of.own.first(count), image)?.rank)
    }

    fn constrain(&mut self, y: Source<'_, S>) -> Result<(), SolveError> {
        let own = self.work.add("constraints", self.n, y.cols())?;
        let image = match self.b {
            Some(_) => self.work.add("B·constraints", self.n, y.cols())?,
            None => own,
        };
        self.work.write_source(own.all(), y)?;
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
    fn start(&mut self, start: Option<Source<'_, S>>, seed: u64) -> Result<(), SolveError> {
        let x = self.x.own.all();
        match start {
            Some(start) => self.work.write_source(x, start)?,
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

    /// Images of X and P anew, and the best that both can do. What they span, and with it all that was learned of directions, stays.
    fn refresh(&mut self) -> Result<(), SolveError> {
        let (k, p_count) = (self.k, self.p_count);
        for (of, count) in [(self.x, k), (self.p, p_count)] {
            if count > 0 {
                self.work.apply(self.a, of.own.first(count), of.a.first(count))?;
                self.image_under_b(of, count)?;
            }
        }
        let both = |of: fn(&WithImages) -> Block| [of(&self.x).all(), of(&self.p).first(p_count)];
        let (own, of_a, of_b) = (both(|w| w.own), both(|w| w.a), both(|w| w.b));
        let h = self.work.gram(&own, &of_a)?;
        let q = self.work.gram(&own, &of_b)?;
        let Some(ritz) = self.ritz(&h, &q)? else {
            if p_count == 0 {
                return Err(SolveError::Unsuited(
                    "the Gram matrix of the block is not positive definite: is B?".into(),
                ));
            }
            self.p_count = 0;
            return self.refresh();
        };
        let c = ritz.inverse.transpose() * &ritz.vectors;
        self.work.combine(&own, &c, &own)?;
        self.work.combine(&of_a, &c, &of_a)?;
        if self.b.is_some() {
            self.work.combine(&of_b, &c, &of_b)?;
        }
        self.values = ritz.values[..k].to_vec();
        self.projected = diagonal(&ritz.values);
        Ok(())
    }

    /// Ritz pairs of H in the inner product of Q; none where Q is not positive definite enough.
    fn ritz(&mut self, h: &DMatrix<f64>, q: &DMatrix<f64>) -> Result<Option<Ritz>, SolveError> {
        if h.iter().chain(q.iter()).any(|x| !x.is_finite()) {
            return Err(SolveError::NotFinite("A·X"));
        }
        let which = self.which;
        let found = self.work.small(|| {
            let Some(l) = cholesky(q, LEAST_PIVOT) else { return Ok(None) };
            let inverse = inverse_of_lower(&l);
            let eigen = symmetric_eigen(&(&inverse * h * inverse.transpose()), "A·X")?;
            let order = which.order(&eigen.values);
            let values: Vec<f64> = order.iter().map(|&i| eigen.values[i]).collect();
            Ok::<_, SolveError>(Some(Ritz { values, vectors: columns(&eigen.vectors, &order), inverse }))
        })?;
        if let Some(ritz) = &found {
            check_scale(h.amax())?;
            self.largest = ritz.values.iter().fold(self.largest, |largest, value| largest.max(value.abs()));
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
        // W is what residuals become; where nothing becomes of them first, one pass measures both.
        let is_w =
            self.r.is_none() && self.factors.is_none() && self.b.is_none() && self.constraints.is_none();
        let (gram, before) = if is_w {
            let (x, p) = (self.x.own.all(), self.p.own.first(self.p_count));
            (self.work.gram(&[x, p, into], &[into])?, k + self.p_count)
        } else {
            (self.work.gram(&[into], &[into])?, 0)
        };
        if gram.iter().any(|x| !x.is_finite()) {
            return Err(SolveError::NotFinite("A·X"));
        }
        let norms = norms(&gram.rows(before, k).into_owned());
        self.measured = is_w.then_some(gram);
        Ok((into, norms))
    }

    fn iterate(mut self, options: Lobpcg<'_, S>) -> Result<Eigenpairs<S>, SolveError> {
        let Lobpcg { count, preconditioner, mut control, .. } = options;
        let keep_on_device = control.keep_on_device;
        let tolerance = control.tolerance_of::<S>();
        let mut steps: Vec<Step> = Vec::new();
        let (mut best, mut best_sum, mut since_best) = (f64::INFINITY, f64::INFINITY, 0);
        // Are the images fresh, so that residuals are those of X and not of what rounding made of them?
        let mut fresh = true;
        let mut refreshed_at = 0;
        let stopped = loop {
            let iteration = steps.len();
            let (r, residuals) = self.residuals()?;
            let sizes = self.sizes_under_b()?;
            let limit = |(value, size): (&f64, &f64)| tolerance.of::<S>(value * size, self.largest * size);
            let limits: Vec<f64> = self.values.iter().zip(&sizes).map(limit).collect();
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
            // Values go on to better ones while residuals of what is not found yet stand still.
            let sum: f64 = self.values[..count].iter().sum();
            let better = (sum - best_sum).abs() > 1e-9 * sum.abs().max(S::EPSILON * self.largest);
            best_sum = if better { sum } else { best_sum };
            let worst: f64 =
                (0..count).filter(|&column| !is_within(column)).map(|column| residuals[column]).sum();
            since_best = if worst < 0.99 * best || better { 0 } else { since_best + 1 };
            best = best.min(worst);
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
                self.p_count = 0;
                self.refresh()?;
                (fresh, refreshed_at) = (true, iteration);
            }
        };
        self.result(count, steps, stopped, keep_on_device)
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
        let gram = match self.measured.take() {
            Some(gram) => gram,
            None => self.work.gram(&[x.own.all(), p.own.first(p_count), w.own.all()], &[w.own.all()])?,
        };
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
                    [&q, &h].map(|all| 0.5 * (all[(old + i, old + j)] + all[(old + j, old + i)]));
                for (i, j) in [(old + i, old + j), (old + j, old + i)] {
                    q[(i, j)] = of_q;
                    h[(i, j)] = of_h;
                }
            }
        }
        let Some(ritz) = self.ritz(&h, &q)? else { return Ok(false) };
        let (both, projected) = self.work.small(|| {
            let both = ritz.inverse.transpose() * ritz.with_directions(k, active);
            let projected = both.transpose() * (&h * &both);
            (both, projected)
        });
        let next_p = both.ncols() - k;
        self.projected = projected;
        self.projected.view_mut((0, 0), (k, k)).copy_from(&diagonal(&ritz.values[..k]));
        self.values = ritz.values[..k].to_vec();
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
        keep_on_device: bool,
    ) -> Result<Eigenpairs<S>, SolveError> {
        if stopped != Stopped::Converged {
            // What is claimed is what fresh products show.
            self.refresh()?;
        }
        let (_, residuals) = self.residuals()?;
        let (vectors, vectors_on_device) =
            self.work.give_back(self.x.own.first(count), self.n, keep_on_device)?;
        let (products, times) = (self.work.products, self.work.times()?);
        Ok(Eigenpairs {
            values: self.values[..count].to_vec(),
            vectors,
            vectors_on_device,
            residuals: residuals[..count].to_vec(),
            history: History { steps, products, times, stopped },
        })
    }
}

/// Ritz pairs of a basis whose Gram matrix is Q = LLᵀ.
struct Ritz {
    /// Best first.
    values: Vec<f64>,
    /// Their coefficients in the basis that L⁻¹ makes orthonormal.
    vectors: DMatrix<f64>,
    /// L⁻¹.
    inverse: DMatrix<f64>,
}

impl Ritz {
    /// The best k, and beside them what the active ones have of P and W, orthonormal to all of them and to each other: the next P. In the
    /// orthonormal basis.
    fn with_directions(&self, k: usize, active: &[usize]) -> DMatrix<f64> {
        let x = self.vectors.columns(0, k).into_owned();
        // Without what they have of X: the first k coefficients of the basis as it is, and back. Lᵀc with c = L⁻ᵀv cut to its tail needs
        // only v and what was cut off: v − Lᵀ[head of c; 0].
        let c = self.inverse.transpose() * columns(&x, active);
        let head = c.rows(0, k);
        let l_of_head = lower_of_head(&self.inverse, k);
        let mut p = columns(&x, active);
        let cut = l_of_head.transpose() * head;
        for col in 0..p.ncols() {
            for row in 0..k {
                p[(row, col)] -= cut[(row, col)];
            }
        }
        let before: Vec<f64> = p.column_iter().map(|column| column.norm()).collect();
        for _ in 0..2 {
            p -= &x * (x.transpose() * &p);
        }
        let mut kept = x;
        for (column, before) in p.column_iter().zip(before) {
            let mut column = column.into_owned();
            for _ in 0..2 {
                let overlap = kept.transpose() * &column;
                column -= &kept * overlap;
            }
            let length = column.norm();
            if length > 1e-10 * before && length > 0.0 {
                let end = kept.ncols();
                kept = kept.insert_column(end, 0.0);
                kept.set_column(end, &(column / length));
            }
        }
        kept
    }
}

/// The first k rows and columns of L, from L⁻¹: both are triangles, and so are their corners.
fn lower_of_head(inverse: &DMatrix<f64>, k: usize) -> DMatrix<f64> {
    inverse_of_lower(&inverse.view((0, 0), (k, k)).into_owned())
}

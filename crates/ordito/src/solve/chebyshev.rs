//! Many eigenpairs of one end of a symmetric matrix by subspace iteration with a filter (Zhou and Saad): a Chebyshev polynomial of A
//! that is small on the unwanted part of the spectrum, and grows fast beyond it.
//!
//! The far end of the spectrum comes from a few steps of Lanczos' method, the near end of what is unwanted from the worst vector of the
//! block. A filter of degree m is m products and as many combinations, with no inner product between them: what is left to do for the
//! block (orthonormal columns, Ritz values) is done once for all of them. Converged vectors are locked at the front: they are
//! filtered no more, others are kept orthogonal to them, and at last all are compared once more with fresh products.

use crate::Scalar;
use crate::solve::blocks::{Block, Columns};
use crate::solve::control::Control;
use crate::solve::eigenpairs::{Eigenpairs, Which};
use crate::solve::error::SolveError;
use crate::solve::history::{History, Step, Stopped};
use crate::solve::operator::Operator;
use crate::solve::scaled::at_any_scale;
use crate::solve::shared::Rows;
use crate::solve::small::{Small, check_scale, columns, norms, stacked, symmetric_eigen};
use crate::solve::together::{agreed_on, check_square, telling};
use crate::solve::vectors::Source;
use crate::solve::workspace::Workspace;

/// Degrees that are taken without being asked for. Below, the rest of an iteration costs more than the filter; above, what is known of
/// the spectrum is too old.
const DEGREES: (f64, f64) = (6.0, 80.0);
/// What is unwanted is to become smaller by this much in an iteration, beside the slowest that is wanted; else it begins farther off.
const LEAST_GAIN: f64 = 10.0;
/// Columns that are combined at a time: a filter combines each column with its own kind only, and all at once would multiply with zeros.
const COMBINED: usize = 16;
/// A column is locked where its residual is less than this part of what is allowed: others cannot become better than what it is off.
const LOCKED: f64 = 0.3;
/// Iterations without smaller residuals after which nothing more is expected.
const PATIENCE: usize = 12;

/// What to look for, and how.
pub struct Chebyshev<'a, S: Scalar> {
    /// How many eigenpairs.
    pub count: usize,
    /// Of which end.
    pub which: Which,
    /// Of the polynomial; none: what the residuals ask for, iteration after iteration.
    pub degree: Option<usize>,
    /// Starting vectors, at least `count`: as many columns are iterated with. Random ones if there are none, and some more than `count`.
    pub start: Option<Source<'a, S>>,
    /// When to stop, whom to tell.
    pub control: Control<'a>,
}

impl<S: Scalar> Default for Chebyshev<'_, S> {
    fn default() -> Self {
        let control = Control::default();
        Chebyshev { count: 1, which: Which::Largest, degree: None, start: None, control }
    }
}

/// Eigenpairs of a symmetric operator, those of one end of its spectrum: for many of them, or where inner products are dear.
///
/// ```
/// use ordito::solve::{Chebyshev, Which, chebyshev};
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
/// let found = chebyshev(&plan, Chebyshev { count: 20, which: Which::Smallest, ..Default::default() })?;
/// assert!(found.history.converged() && found.residuals.iter().all(|r| *r < 1e-6));
/// # Ok::<(), ordito::Error>(())
/// ```
pub fn chebyshev<'a, S: Scalar>(
    a: &'a dyn Operator<S>,
    options: Chebyshev<'a, S>,
) -> Result<Eigenpairs<S>, SolveError> {
    let Chebyshev { count, which, start, degree, control } = options;
    let solve = |a: &dyn Operator<S>, control: Control<'_>| {
        solve(a, Chebyshev { count, which, start, degree, control })
    };
    telling(a, at_any_scale(a, control, solve))
}

fn solve<S: Scalar>(a: &dyn Operator<S>, options: Chebyshev<'_, S>) -> Result<Eigenpairs<S>, SolveError> {
    agreed_on(a, check(a, &options))?;
    let mut solver = Solver::new(a, &options)?;
    if solver.k > 0 {
        (solver.lower, solver.upper) = solver.work.bounds_of_spectrum(a, options.control.seed)?;
    }
    match options.start {
        Some(start) => solver.work.write_source(solver.x.all(), start)?,
        None => solver.work.randomize(solver.x.all(), solver.n, options.control.seed)?,
    }
    solver.iterate(options)
}

fn check<S: Scalar>(a: &dyn Operator<S>, options: &Chebyshev<'_, S>) -> Result<(), SolveError> {
    let asked = |sentence: String| Err(SolveError::Asked(sentence));
    let (n, count) = (Rows::of(a), options.count);
    check_square("eigenvectors need a square matrix", a)?;
    if let Some(start) = options.start {
        if start.rows() != n.local {
            return asked(format!("the starting block has {} rows, {} expected", start.rows(), n.local));
        }
        if start.cols() < count {
            return asked(format!("{count} eigenpairs of a starting block of {} columns", start.cols()));
        }
    }
    let block = options.start.map_or(count, |start| start.cols());
    if block > n.total {
        return asked(format!("{block} eigenpairs of a matrix of {n} rows: there are only {n}"));
    }
    if options.which == Which::LargestMagnitude {
        return asked(
            "a Chebyshev filter finds one end of the spectrum; both ends are found by Lanczos".into(),
        );
    }
    if options.degree == Some(0) {
        return asked("the degree of the filter must be at least 1".into());
    }
    if !options.control.tolerance_of::<S>().is_valid() {
        return asked("the tolerance must be a number of 0 or more".into());
    }
    Ok(())
}

struct Solver<'a, S: Scalar> {
    a: &'a dyn Operator<S>,
    which: Which,
    n: Rows,
    k: usize,
    work: Workspace<S>,
    /// Those that are still iterated with, at the front of their block; A times them; and room.
    x: Block,
    ax: Block,
    y: Block,
    active: usize,
    values: Vec<f64>,
    locked: Block,
    locked_values: Vec<f64>,
    locked_residuals: Vec<f64>,
    /// All eigenvalues lie between these.
    lower: f64,
    upper: f64,
    seed: u64,
}

impl<'a, S: Scalar> Solver<'a, S> {
    fn new(a: &'a dyn Operator<S>, options: &Chebyshev<'_, S>) -> Result<Self, SolveError> {
        let n = Rows::of(a);
        let mut work = Workspace::of(a, options.control.time_parts)?;
        let k = match options.start {
            Some(start) => start.cols(),
            // Some more than are wanted: the last ones converge as fast as the gap to those that are left out is wide.
            None => (options.count + (options.count / 4).clamp(4, 32)).min(n.total),
        };
        let x = work.add("X", n, k)?;
        let ax = work.add("A·X", n, k)?;
        let y = work.add("the filtered block", n, k)?;
        let locked = work.add("converged vectors", n, k)?;
        Ok(Solver {
            a,
            which: options.which,
            n,
            k,
            work,
            x,
            ax,
            y,
            active: k,
            values: Vec::new(),
            locked,
            locked_values: Vec::new(),
            locked_residuals: Vec::new(),
            lower: 0.0,
            upper: 0.0,
            seed: options.control.seed,
        })
    }

    fn size(&self) -> f64 {
        self.lower.abs().max(self.upper.abs())
    }

    /// X orthonormal and orthogonal to what is locked; A·X; Ritz values, best first; norms of residuals.
    fn rayleigh_ritz(&mut self) -> Result<Vec<f64>, SolveError> {
        let (all, locked) = (self.x.first(self.active), self.locked.first(self.locked_values.len()));
        let mut rank = self.active;
        // Twice: where most of a column lay in what is locked, rounding of that is left.
        for _ in 0..2 {
            self.work.remove(&[locked], &[locked], Columns { count: rank, ..all })?;
            rank = self.work.orthonormalize(Columns { count: rank, ..all }, None)?.rank;
        }
        // Dependent columns are replaced by random ones.
        self.seed = self.seed.wrapping_add(16);
        if self.work.fill_up(all, rank, &[locked], (self.n, self.seed))? < self.active {
            return Err(SolveError::Unsuited("no block of independent vectors was found".into()));
        }
        let [x, ax, y] = [self.x, self.ax, self.y].map(|block| block.first(self.active));
        self.work.apply(self.a, x, ax)?;
        let h = self.work.gram(&[x], &[ax])?;
        let eigen = self.work.small(|| symmetric_eigen(&h, "A·X"))?;
        check_scale::<S>(h.amax())?;
        let order = self.which.order(&eigen.values);
        self.values = order.iter().map(|&i| eigen.values[i]).collect();
        for value in &self.values {
            (self.lower, self.upper) = (self.lower.min(*value), self.upper.max(*value));
        }
        let turn = columns(&eigen.vectors, &order);
        self.work.combine(&[x], &turn, &[x])?;
        self.work.combine(&[ax], &turn, &[ax])?;
        let c = stacked(&[&Small::identity(self.active, self.active), &-Small::diagonal(&self.values)]);
        self.work.combine(&[ax, x], &c, &[y])?;
        let gram = self.work.gram(&[y], &[y])?;
        if !gram.is_finite() {
            return Err(SolveError::NotFinite("A·X"));
        }
        Ok(norms(&gram))
    }

    /// p(A)·X, of this degree: small between the worst Ritz value and the far end, and 1 at the best one.
    fn filter(&mut self, degree: usize, center: f64, half: f64) -> Result<(), SolveError> {
        let first = half / (self.values[0] - center);
        let mut sigma = first;
        // The image of X is known.
        let begin = [first / half, -center * first / half];
        self.combine_alike(&[self.ax, self.x], &begin, self.y)?;
        for _ in 1..degree {
            let next = 1.0 / (2.0 / first - sigma);
            self.work.apply(self.a, self.y.first(self.active), self.ax.first(self.active))?;
            let factors = [2.0 * next / half, -2.0 * center * next / half, -sigma * next];
            self.combine_alike(&[self.ax, self.y, self.x], &factors, self.x)?;
            (self.x, self.y) = (self.y, self.x);
            sigma = next;
        }
        (self.x, self.y) = (self.y, self.x);
        Ok(())
    }

    /// A sum of blocks, each times its number.
    fn combine_alike(&mut self, from: &[Block], factors: &[f64], into: Block) -> Result<(), SolveError> {
        for first in (0..self.active).step_by(COMBINED) {
            let count = COMBINED.min(self.active - first);
            let unit = Small::identity(count, count);
            let parts: Vec<Small> = factors.iter().map(|factor| &unit * *factor).collect();
            let from: Vec<Columns> = from.iter().map(|block| block.range(first, count)).collect();
            let c = stacked(&parts.iter().collect::<Vec<_>>());
            self.work.combine(&from, &c, &[into.range(first, count)])?;
        }
        Ok(())
    }

    /// The first columns are converged: they no longer take part.
    fn lock(&mut self, count: usize, residuals: &[f64]) -> Result<(), SolveError> {
        if count == 0 {
            return Ok(());
        }
        let before = self.locked_values.len();
        self.work.copy(self.x.first(count), self.locked.range(before, count))?;
        let rest = self.active - count;
        for block in [self.x, self.ax] {
            self.work.copy(block.range(count, rest), block.first(rest))?;
        }
        self.locked_values.extend(self.values.drain(..count));
        self.locked_residuals.extend(&residuals[..count]);
        self.active = rest;
        Ok(())
    }

    /// All columns take part again.
    fn unlock(&mut self) -> Result<(), SolveError> {
        let (x, locked) = (self.x.first(self.active), self.locked.first(self.locked_values.len()));
        let all = self.x.all();
        self.work.combine(&[locked, x], &Small::identity(self.k, self.k), &[all])?;
        self.active = self.k;
        self.locked_values.clear();
        self.locked_residuals.clear();
        Ok(())
    }

    fn limit(&self, control: &Control<'_>, value: f64) -> f64 {
        control.tolerance_of::<S>().of::<S>(value, self.size())
    }

    fn iterate(mut self, options: Chebyshev<'_, S>) -> Result<Eigenpairs<S>, SolveError> {
        let Chebyshev { count, degree, mut control, .. } = options;
        let mut steps: Vec<Step> = Vec::new();
        let (mut least, mut since_least) = (f64::INFINITY, 0);
        let mut residuals = self.rayleigh_ritz()?;
        let stopped = loop {
            let iteration = steps.len();
            let locked = self.locked_values.len();
            let limits: Vec<f64> = self.values.iter().map(|value| self.limit(&control, *value)).collect();
            let is_within = |column: usize| residuals[column] <= limits[column];
            let wanted = count - locked;
            let converged = locked + (0..wanted).filter(|&column| is_within(column)).count();
            if converged == count && locked > 0 {
                // Together once more, with fresh products.
                self.unlock()?;
                residuals = self.rayleigh_ritz()?;
                continue;
            }
            let of_all = |locked: &[f64], active: &[f64]| [locked, &active[..wanted]].concat();
            let step = Step {
                iteration,
                seconds: self.work.elapsed().as_secs_f64(),
                values: of_all(&self.locked_values, &self.values),
                residuals: of_all(&self.locked_residuals, &residuals),
                converged,
            };
            let cancelled = self.work.tell(&mut control, &step);
            steps.push(step);
            if converged == count {
                break Stopped::Converged;
            }
            if cancelled {
                break Stopped::Cancelled;
            }
            if iteration >= control.max_iterations {
                break Stopped::Limit;
            }
            let left: f64 = (0..wanted).filter(|&column| !is_within(column)).map(|j| residuals[j]).sum();
            (least, since_least) = if left < 0.9 * least { (left, 0) } else { (least, since_least + 1) };
            if since_least >= PATIENCE {
                break Stopped::Stagnated;
            }
            let done = (0..wanted).take_while(|&column| residuals[column] <= LOCKED * limits[column]).count();
            if done > 0 {
                // Fewer are left to compare with.
                least = f64::INFINITY;
            }
            let worst_left: f64 = (0..wanted)
                .filter(|&column| !is_within(column))
                .map(|column| residuals[column] / limits[column])
                .fold(1.0, f64::max);
            self.lock(done, &residuals)?;
            let Some((center, half)) = self.unwanted(wanted - done, since_least) else {
                break Stopped::Stagnated;
            };
            let degree = degree.unwrap_or_else(|| self.degree_for(worst_left, wanted - done, center, half));
            self.filter(degree, center, half)?;
            residuals = self.rayleigh_ritz()?;
        };
        if !self.locked_values.is_empty() {
            self.unlock()?;
            residuals = self.rayleigh_ritz()?;
        }
        let (vectors, vectors_on_device) =
            self.work.give_back(self.x.first(count), self.n, control.keep_on_device)?;
        let (products, times) = (self.work.products, self.work.times()?);
        Ok(Eigenpairs {
            values: self.values[..count].to_vec(),
            vectors,
            vectors_on_device,
            residuals: residuals[..count].to_vec(),
            history: History { steps, products, times, stopped },
        })
    }

    /// Center and half the width of the unwanted part, from the worst Ritz value to the far end; none where the block has nothing else.
    /// The more iterations were without gain, the closer it begins to what is wanted.
    fn unwanted(&self, wanted: usize, without_gain: usize) -> Option<(f64, f64)> {
        let (best, worst) = (*self.values.first()?, *self.values.last()?);
        let slowest = self.values[wanted.clamp(1, self.values.len()) - 1];
        let far = if self.which == Which::Largest { self.lower } else { self.upper };
        let between = |near: f64| {
            let (center, half) = (0.5 * (near + far), 0.5 * (far - near));
            // Of no width, where all that is unwanted is one eigenvalue.
            let least = 1e-6 * (best - center).abs();
            let away_from_best = if best > center { -1.0 } else { 1.0 };
            (center, if half.abs() >= least { half } else { least * away_from_best })
        };
        let (center, half) = between(worst);
        if (best - center).abs() <= 4.0 * S::EPSILON * self.size() {
            return None;
        }
        // Where the block ends in a cluster, or just beside what is wanted, a filter from there on would make nothing smaller.
        let growth = LEAST_GAIN.ln() / DEGREES.1.min(self.most_degree(center, half));
        let away = (far - slowest) * (0.5 * growth).tanh().powi(2) * 0.1_f64.powi(without_gain as i32);
        Some(if (worst - slowest).abs() < away.abs() { between(slowest + away) } else { (center, half) })
    }

    /// Beyond it rounding would be all that is left of a column beside what grows most: the best there is, locked or not.
    fn most_degree(&self, center: f64, half: f64) -> f64 {
        let all = self.locked_values.iter().chain(self.values.first());
        let fastest = all.map(|value| growth(*value, center, half)).fold(0.0, f64::max);
        (-2.0 / 3.0 * S::EPSILON.ln() / fastest.max(1e-9)).max(1.0)
    }

    /// What the slowest of those that are wanted needs, as far as the best one does not outgrow the block.
    fn degree_for(&self, reduction: f64, wanted: usize, center: f64, half: f64) -> usize {
        let slowest = growth(self.values[wanted.clamp(1, self.values.len()) - 1], center, half);
        // Twice as much: a residual also holds what is small on both ends of the gap.
        let needed = (2.0 * reduction).ln() / slowest.max(1e-9);
        needed.clamp(DEGREES.0, DEGREES.1).min(self.most_degree(center, half)).ceil() as usize
    }
}

/// By how much the logarithm of the filter grows with each degree, at this eigenvalue.
fn growth(value: f64, center: f64, half: f64) -> f64 {
    let x = ((value - center) / half).abs().max(1.0);
    (x + (x * x - 1.0).sqrt()).ln()
}

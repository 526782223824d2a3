//! Ranks of the nodes of a graph by where its links lead to (PageRank), for one weighting of the nodes or many at once.
//!
//! x ← d·(Aᵀ(x/s) + what is lost) + (1 − d)·v, where s are the sums of the rows of A and v is the seed. What is lost lies on nodes
//! without links: it goes to the seed. That x sums to 1 tells how much it is, and so rounding does not add up.

use crate::Scalar;
use crate::matrix::{Dense, DenseView};
use crate::precision::compiled_here;
use crate::solve::blocks::{Block, Columns};
use crate::solve::control::Control;
use crate::solve::error::SolveError;
use crate::solve::history::{History, Step, Stopped};
use crate::solve::operator::Operator;
use crate::solve::shared::{BetweenRanks, Rows, agreed};
use crate::solve::small::{Small, beside, norms, stacked};
use crate::solve::together::{agreed_on, check_square, telling};
use crate::solve::workspace::Workspace;

/// Iterations without a smaller change after which only rounding is left.
const PATIENCE: usize = 20;

/// How to rank.
pub struct PageRank<'a> {
    /// d: how often a link is followed, else a node of the seed is gone to.
    pub damping: f64,
    /// When to stop, whom to tell. A relative tolerance is one of ‖x‖.
    pub control: Control<'a>,
}

impl Default for PageRank<'_> {
    fn default() -> Self {
        PageRank { damping: 0.85, control: Control::default() }
    }
}

/// Ranks, and how well they fit.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Ranks<S> {
    /// A column for each seed; each sums to 1.
    pub ranks: Dense<S>,
    /// How much another iteration would change each column: the 2-norm, computed with fresh products.
    pub residuals: Vec<f64>,
    /// How they were found.
    pub history: History,
}

/// Ranks of nodes. Row i of `links` holds the weights of the links from i to others; none may be negative.
///
/// `seeds`: a column for each ranking, weights of nodes that are not negative; they are made to sum to 1. None: all nodes alike.
///
/// That weights are not negative is seen by the sums of rows and by the ranks: a map can be multiplied with, but not looked into.
///
/// ```
/// use ordito::solve::{PageRank, pagerank};
/// // 0 → 1, 1 → 2, 2 → 0 and 2 → 1
/// let links = ordito::Csr::from_parts(3, 3, vec![0, 1, 2, 4], vec![1, 2, 0, 1], vec![1.0; 4])?;
/// let plan = ordito::spmm::Plan::new(links, &ordito::Machine::all_cores()?)?;
/// let ranks = pagerank(&plan, None, PageRank::default())?.ranks;
/// assert!((ranks.data().iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// assert!(ranks.data()[1] > ranks.data()[0]);
/// # Ok::<(), ordito::Error>(())
/// ```
pub fn pagerank<S: Scalar>(
    links: &dyn Operator<S>,
    seeds: Option<DenseView<'_, S>>,
    options: PageRank<'_>,
) -> Result<Ranks<S>, SolveError> {
    telling(links, solve(links, seeds, options))
}

fn solve<S: Scalar>(
    links: &dyn Operator<S>,
    seeds: Option<DenseView<'_, S>>,
    options: PageRank<'_>,
) -> Result<Ranks<S>, SolveError> {
    let asked = |sentence: String| Err(SolveError::Asked(sentence));
    let n = Rows::of(links);
    let ranks = links.shared().map(|shared| shared.ranks);
    agreed_on(links, check_square("ranks need a square matrix of links", links))?;
    if n.total == 0 {
        return asked("there are no nodes to be ranked".into());
    }
    if !(0.0..1.0).contains(&options.damping) {
        return asked(format!("the damping must be at least 0 and less than 1; it is {}", options.damping));
    }
    if !options.control.tolerance_of::<S>().is_valid() {
        return asked("the tolerance must be a number of 0 or more".into());
    }
    type Normalize<S> = fn(DenseView<'_, S>, Rows, Option<&dyn BetweenRanks>) -> Result<Dense<S>, SolveError>;
    let seeds = match seeds {
        Some(seeds) => compiled_here!(S, normalized, Normalize)(seeds, n, ranks.as_deref())?,
        None => Dense::filled(n.local, 1, S::from_f64(1.0 / n.total as f64))?,
    };
    Solver::new(links, &seeds, &options)?.iterate(options)
}

/// Columns that sum to 1.
fn normalized<S: Scalar>(
    seeds: DenseView<'_, S>,
    n: Rows,
    ranks: Option<&dyn BetweenRanks>,
) -> Result<Dense<S>, SolveError> {
    let mut sums = agreed(ranks, sums_of(seeds, n))?;
    if let Some(ranks) = ranks {
        ranks.sum(&mut sums)?;
    }
    if let Some(column) = sums.iter().position(|sum| !(*sum > 0.0 && sum.is_finite())) {
        return Err(SolveError::Asked(format!("the weights of seed {column} sum to {}", sums[column])));
    }
    let numbers = (0..n.local).flat_map(|row| {
        seeds.row(row).iter().zip(&sums).map(|(weight, sum)| S::from_f64(weight.to_f64() / sum))
    });
    Ok(Dense::from_rows(n.local, seeds.cols(), numbers.collect())?)
}

/// Of the weights of every column, none of which may be negative.
fn sums_of<S: Scalar>(seeds: DenseView<'_, S>, n: Rows) -> Result<Vec<f64>, SolveError> {
    if seeds.rows() != n.local {
        return Err(SolveError::Asked(format!("the seeds have {} rows, {} expected", seeds.rows(), n.local)));
    }
    let mut sums = vec![0.0; seeds.cols()];
    for row in 0..n.local {
        for (column, weight) in seeds.row(row).iter().enumerate() {
            let weight = weight.to_f64();
            if !(weight >= 0.0 && weight.is_finite()) {
                let node = n.first + row as u64;
                return Err(SolveError::Asked(format!(
                    "weight {weight} of node {node} in seed {column}: weights must be finite and not negative"
                )));
            }
            sums[column] += weight;
        }
    }
    Ok(sums)
}

/// 1/s of sums of rows; 0 where there are no links.
fn inverted<S: Scalar>(mut sums: Dense<S>, n: Rows) -> Result<Dense<S>, SolveError> {
    for (row, sum) in sums.data_mut().iter_mut().enumerate() {
        let number = sum.to_f64();
        if !number.is_finite() {
            return Err(SolveError::NotFinite("a sum of links"));
        }
        if number < 0.0 {
            return Err(SolveError::Unsuited(format!(
                "the links of node {} sum to {number}: weights must not be negative",
                n.first + row as u64
            )));
        }
        *sum = S::from_f64(if number > 0.0 { 1.0 / number } else { 0.0 });
    }
    Ok(sums)
}

struct Solver<'a, S: Scalar> {
    links: &'a dyn Operator<S>,
    n: Rows,
    k: usize,
    work: Workspace<S>,
    seeds: Block,
    x: Block,
    /// x/s, and Aᵀ of it.
    shares: Block,
    arrived: Block,
    change: Block,
    /// 1/s; 0 where there are no links.
    factors: Block,
    ones: Block,
}

impl<'a, S: Scalar> Solver<'a, S> {
    fn new(links: &'a dyn Operator<S>, seeds: &Dense<S>, options: &PageRank<'_>) -> Result<Self, SolveError> {
        let (n, k) = (Rows::of(links), seeds.cols());
        let mut work = Workspace::of(links, options.control.time_parts)?;
        let ones = work.add("ones", n, 1)?;
        let factors = work.add("sums of rows", n, 1)?;
        work.write(ones.all(), Dense::filled(n.local, 1, S::ONE)?.view())?;
        work.apply(links, ones.all(), factors.all())?;
        type Invert<S> = fn(Dense<S>, Rows) -> Result<Dense<S>, SolveError>;
        let inverted = compiled_here!(S, inverted, Invert)(work.read(factors.all(), n)?, n);
        let inverted = work.agreed(inverted)?;
        work.write(factors.all(), inverted.view())?;
        let block = work.add("seeds", n, k)?;
        let x = work.add("ranks", n, k)?;
        work.write(block.all(), seeds.view())?;
        work.write(x.all(), seeds.view())?;
        let [shares, arrived] = [work.add("shares", n, k)?, work.add("what arrived", n, k)?];
        let change = work.add("changes", n, k)?;
        Ok(Solver { links, n, k, work, seeds: block, x, shares, arrived, change, factors, ones })
    }

    /// The next x, written there, and the change to it; norms of both.
    fn step(&mut self, damping: f64, into: Columns) -> Result<(Vec<f64>, Vec<f64>), SolveError> {
        let k = self.k;
        let [x, shares, arrived] = [self.x, self.shares, self.arrived].map(Block::all);
        let change = self.change.all();
        self.work.copy(x, shares)?;
        self.work.scale_rows(self.factors.all(), shares)?;
        self.work.apply_transposed(self.links, shares, arrived)?;
        let sums = self.work.gram(&[self.ones.all()], &[arrived])?;
        if !sums.is_finite() {
            return Err(SolveError::NotFinite("the transposed links times ranks"));
        }
        // What did not arrive goes to the seed, by damping or for want of links.
        let to_seed: Vec<f64> = sums.iter().map(|sum| 1.0 - damping * sum).collect();
        let unit = Small::identity(k, k);
        let next = stacked(&[&(&unit * damping), &Small::diagonal(&to_seed), &Small::zeros(k, k)]);
        let difference = stacked(&[&(&unit * damping), &Small::diagonal(&to_seed), &-&unit]);
        let from = [arrived, self.seeds.all(), x];
        self.work.combine(&from, &beside(&[&next, &difference]), &[into, change])?;
        let gram = self.work.gram(&[into, change], &[into, change])?;
        let mut sizes = norms(&gram);
        let changes = sizes.split_off(k);
        if changes.iter().any(|change| !change.is_finite()) {
            return Err(SolveError::NotFinite("a rank"));
        }
        Ok((sizes, changes))
    }

    fn iterate(mut self, options: PageRank<'_>) -> Result<Ranks<S>, SolveError> {
        let PageRank { damping, mut control } = options;
        let tolerance = control.tolerance_of::<S>();
        let mut steps: Vec<Step> = Vec::new();
        let (mut least, mut since_least) = (f64::INFINITY, 0);
        let x = self.x.all();
        let stopped = loop {
            let iteration = steps.len();
            let (sizes, changes) = self.step(damping, x)?;
            let is_within = |column: usize| changes[column] <= tolerance.of::<S>(sizes[column], 0.0);
            let converged = (0..self.k).filter(|&column| is_within(column)).count();
            let left: f64 = (0..self.k).filter(|&column| !is_within(column)).map(|j| changes[j]).sum();
            let seconds = self.work.elapsed().as_secs_f64();
            let step = Step { iteration, seconds, values: Vec::new(), residuals: changes, converged };
            let cancelled = self.work.tell(&mut control, &step);
            steps.push(step);
            if converged == self.k {
                break Stopped::Converged;
            }
            if cancelled {
                break Stopped::Cancelled;
            }
            if iteration >= control.max_iterations {
                break Stopped::Limit;
            }
            (least, since_least) = if left < least { (left, 0) } else { (least, since_least + 1) };
            if since_least >= PATIENCE {
                break Stopped::Stagnated;
            }
        };
        // The change that was seen is that of the x before: once more, for the x that is the result.
        let (sizes, residuals) = self.step(damping, self.shares.all())?;
        let fits = (0..self.k).all(|column| residuals[column] <= tolerance.of::<S>(sizes[column], 0.0));
        let stopped = match stopped {
            Stopped::Converged if !fits => Stopped::Stagnated,
            stopped => stopped,
        };
        let ranks = self.work.read(x, self.n)?;
        let negative = ranks.data().iter().position(|rank| rank.to_f64() < 0.0);
        self.work.agreed(negative.map_or(Ok(()), |at| {
            let node = self.n.first + (at / self.k) as u64;
            Err(SolveError::Unsuited(format!(
                "the rank of node {node} is negative: weights of links must not be"
            )))
        }))?;
        let (products, times) = (self.work.products, self.work.times()?);
        Ok(Ranks { ranks, residuals, history: History { steps, products, times, stopped } })
    }
}

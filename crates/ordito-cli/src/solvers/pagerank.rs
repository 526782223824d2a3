//! `ordito pagerank MATRIX`

use crate::args::{Dtype, with_scalar};
use crate::console::Console;
use crate::solvers::ending::{check_files, conclude, failed};
use crate::solvers::options::SolverArgs;
use crate::solvers::problem::Problem;
use crate::solvers::solved::{Question, Sizes, Solved, TopNode};
use crate::solvers::symmetric::{check_square, shape};
use crate::solvers::watch::Watch;
use clap::Args;
use ordito::Scalar;
use ordito::io::npy::{Conversion, bytes_to_read_npy, write_npy_vector};
use ordito::io::{read_npy, write_npy};
use ordito::machine::Machine;
use ordito::matrix::{Csr, Dense};
use ordito::solve::{PageRank, Ranks, SolveError, Tolerance, pagerank};
use ordito::spmm::Plan;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Ranks of the nodes of a graph by where its links lead to, for one seed or many at once.
#[derive(Debug, Args)]
#[command(
    after_help = "Row i of the matrix holds the weights of the links from node i, 0 or more. Nodes are counted from 1.
Exit codes: 0 converged; 1 not, what there is is shown and written all the same; 2 bad usage or input.

Examples:
  ordito pagerank web.mtx --top 20 -o ranks.npy
  ordito pagerank web.mtx --seed-nodes 1,5,9        a ranking as each of these nodes sees it
  ordito pagerank web.mtx --seeds S.npy --damping 0.9"
)]
pub(crate) struct PagerankArgs {
    /// A path, a bare name or a synthetic matrix
    pub(crate) matrix: String,
    /// A column of weights of the nodes for each ranking
    #[arg(long, value_name = "S.npy", conflicts_with = "seed_nodes")]
    pub(crate) seeds: Option<PathBuf>,
    /// A ranking for each of these nodes, counted from 1
    #[arg(long, value_name = "NODES", value_delimiter = ',')]
    pub(crate) seed_nodes: Vec<NonZeroUsize>,
    /// How often a link is followed, else a node of the seed is gone to
    #[arg(long, value_name = "D", default_value_t = 0.85, allow_negative_numbers = true, value_parser = parse_damping)]
    pub(crate) damping: f64,
    /// How many nodes of each ranking are shown
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Every link weighs 1
    #[arg(long)]
    pub(crate) unweighted: bool,
    /// Where to write the ranks: a column for each seed, one dimension where there is no seed
    #[arg(short, long, value_name = "R.npy")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
}

fn parse_damping(text: &str) -> Result<f64, String> {
    let damping = text.parse::<f64>().ok().filter(|damping| (0.0..1.0).contains(damping));
    damping.ok_or_else(|| "a number of 0 or more, and less than 1".into())
}

pub(crate) fn run(args: &PagerankArgs, console: &Console) -> anyhow::Result<u8> {
    with_scalar!(args.solver.dtype.unwrap_or(Dtype::F64), S => rank::<S>(args, console))
}

fn rank<S: Scalar>(args: &PagerankArgs, console: &Console) -> anyhow::Result<u8> {
    args.check()?;
    let machine = match args.solver.machine(console)? {
        Ok(machine) => machine,
        Err(code) => return Ok(code),
    };
    let busy = console.busy(format!("reading {}", args.matrix));
    let (name, links, machine) = args.solver.read::<S>(&args.matrix, &machine)?;
    check_square(shape(&links), &name, "")?;
    let links = weighed(links, args, &name)?;
    let seeds = seeds_of::<S>(args, links.rows(), &machine)?;
    busy.say("preparing products");
    let size = [links.rows(), links.cols(), links.nnz()];
    let plan = Plan::new(links, &machine)?;
    drop(busy);
    let taken_as = args.taken_as();
    let problem = Problem { name, taken_as, size, plan: &plan, machine: &machine, ranks: None };
    let (solved, ranks) = match answer(args, &problem, seeds.as_ref(), console) {
        Ok(found) => found,
        Err(error) => return failed(error, console),
    };
    let columns = (0..ranks.cols()).map(|column| top(&ranks, column, args.top, 0)).collect();
    let solved = Solved { top: args.named(columns), ..solved };
    let write = || match &args.output {
        Some(output) if seeds.is_none() => Ok(write_npy_vector(ranks.view(), output)?),
        Some(output) => Ok(write_npy(ranks.view(), output)?),
        None => Ok(()),
    };
    conclude(&args.solver, &solved, write, console)
}

/// Ranks, with all that is told of them but the first nodes.
pub(crate) fn answer<S: Scalar>(
    args: &PagerankArgs,
    problem: &Problem<'_, S>,
    seeds: Option<&Dense<S>>,
    console: &Console,
) -> Result<(Solved, Dense<S>), SolveError> {
    let (count, tolerance) = (seeds.map_or(1, Dense::cols), args.solver.tolerance::<S>());
    let question = Question {
        method: "power iteration",
        asked: match (seeds, count) {
            (None, _) => format!("damping {}", args.damping),
            (Some(_), 1) => format!("one seed, damping {}", args.damping),
            (Some(_), count) => format!("{count} seeds, damping {}", args.damping),
        },
        seed: args.solver.seed,
        tolerance,
        tolerance_of: "‖x‖",
        ..problem.question("pagerank")
    };
    let watch = Watch::begin(console, count);
    let control = args.solver.control(Tolerance::Relative(tolerance), &watch);
    let options = PageRank { damping: args.damping, control };
    let found = pagerank(problem.plan, seeds.map(|seeds| seeds.view()), options);
    drop(watch);
    let Ranks { ranks, residuals, history, .. } = found?;
    let sizes = Sizes::Given(problem.column_norms(&ranks)?);
    let solved = Solved {
        parts_are_known: args.solver.knows_parts(problem.machine),
        ..Solved::new(question, None, &residuals, sizes, history, problem.machine)
    };
    Ok((solved, ranks))
}

impl PagerankArgs {
    /// Can files be written?
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let seeds = self.seeds.as_ref().map(|seeds| seeds.to_string_lossy().into_owned());
        let inputs: Vec<&str> = [&self.matrix].into_iter().chain(&seeds).map(String::as_str).collect();
        check_files(&self.solver, &inputs, self.output.as_slice())
    }

    pub(crate) fn taken_as(&self) -> Option<String> {
        self.unweighted.then(|| "links alone".into())
    }

    /// What a link weighs, which must make sense.
    pub(crate) fn weight<S: Scalar>(
        &self,
        value: S,
        (row, col): (u64, u64),
        name: &str,
    ) -> anyhow::Result<S> {
        if self.unweighted {
            return Ok(if value.to_f64() == 0.0 { S::ZERO } else { S::ONE });
        }
        let (weight, from, to) = (value.to_f64(), row + 1, col + 1);
        anyhow::ensure!(
            weight >= 0.0 && weight.is_finite(),
            "{name}: the link from {from} to {to}, counted from 1, weighs {weight}: weights of 0 or more are needed; \
             `--unweighted` counts links alone"
        );
        Ok(value)
    }

    /// Is every seed one of so many nodes?
    pub(crate) fn check_seed_nodes(&self, nodes: u64) -> anyhow::Result<()> {
        match self.seed_nodes.iter().find(|node| node.get() as u64 > nodes) {
            Some(node) => anyhow::bail!("--seed-nodes: there is no node {node}, they end with {nodes}"),
            None => Ok(()),
        }
    }

    /// The first nodes of every ranking, each after what it is seen from.
    pub(crate) fn named(&self, rankings: Vec<Vec<(u64, f64)>>) -> Vec<TopNode> {
        let mut found = Vec::new();
        for (column, ranking) in rankings.into_iter().enumerate() {
            let seed = self.seed_nodes.get(column).map_or(column + 1, |node| node.get());
            found.extend(ranking.into_iter().enumerate().map(|(place, (node, rank))| TopNode {
                seed,
                place: place + 1,
                node: node as usize + 1,
                rank,
            }));
        }
        found
    }
}

/// Links with weights that make sense.
fn weighed<S: Scalar>(links: Csr<S>, args: &PagerankArgs, name: &str) -> anyhow::Result<Csr<S>> {
    let mut values = Vec::with_capacity(links.nnz());
    for row in 0..links.rows() {
        for (col, value) in links.row(row) {
            values.push(args.weight(value, (row as u64, col as u64), name)?);
        }
    }
    Ok(links.with_values(values)?)
}

fn seeds_of<S: Scalar>(
    args: &PagerankArgs,
    nodes: usize,
    machine: &Machine,
) -> anyhow::Result<Option<Dense<S>>> {
    if let Some(path) = &args.seeds {
        machine.check_memory(format!("reading {}", path.display()), bytes_to_read_npy::<S>(path)?)?;
        let seeds = read_npy::<S>(path, Conversion::Allow)?;
        let rows = seeds.rows();
        anyhow::ensure!(rows == nodes, "{}: weights of {rows} nodes, and there are {nodes}", path.display());
        return Ok(Some(seeds));
    }
    let count = args.seed_nodes.len();
    if count == 0 {
        return Ok(None);
    }
    machine.check_memory("seeds", (nodes as u64).checked_mul((count * size_of::<S>()) as u64))?;
    args.check_seed_nodes(nodes as u64)?;
    let mut seeds = Dense::zeros(nodes, count)?;
    for (column, node) in args.seed_nodes.iter().enumerate() {
        seeds.view_mut().row_mut(node.get() - 1)[column] = S::ONE;
    }
    Ok(Some(seeds))
}

/// The first nodes of a ranking, of rows whose first is this node.
pub(crate) fn top<S: Scalar>(ranks: &Dense<S>, column: usize, count: usize, first: u64) -> Vec<(u64, f64)> {
    let of = |node: usize| (first + node as u64, ranks.view().row(node)[column].to_f64());
    let mut nodes: Vec<(u64, f64)> = (0..ranks.rows()).map(of).collect();
    let better = |one: &(u64, f64), other: &(u64, f64)| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0));
    if count < nodes.len() {
        nodes.select_nth_unstable_by(count, better);
        nodes.truncate(count);
    }
    nodes.sort_unstable_by(better);
    nodes
}

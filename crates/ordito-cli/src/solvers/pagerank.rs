//! `ordito pagerank MATRIX`

use crate::args::{Dtype, with_scalar};
use crate::console::Console;
use crate::solvers::ending::{check_files, conclude, failed};
use crate::solvers::options::SolverArgs;
use crate::solvers::solved::{Question, Sizes, Solved, TopNode, column_norms};
use crate::solvers::symmetric::check_square;
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
    matrix: String,
    /// A column of weights of the nodes for each ranking
    #[arg(long, value_name = "S.npy", conflicts_with = "seed_nodes")]
    seeds: Option<PathBuf>,
    /// A ranking for each of these nodes, counted from 1
    #[arg(long, value_name = "NODES", value_delimiter = ',')]
    seed_nodes: Vec<NonZeroUsize>,
    /// How often a link is followed, else a node of the seed is gone to
    #[arg(long, value_name = "D", default_value_t = 0.85, allow_negative_numbers = true, value_parser = parse_damping)]
    damping: f64,
    /// How many nodes of each ranking are shown
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Every link weighs 1
    #[arg(long)]
    unweighted: bool,
    /// Where to write the ranks: a column for each seed, one dimension where there is no seed
    #[arg(short, long, value_name = "R.npy")]
    output: Option<PathBuf>,
    #[command(flatten)]
    solver: SolverArgs,
}

fn parse_damping(text: &str) -> Result<f64, String> {
    let damping = text.parse::<f64>().ok().filter(|damping| (0.0..1.0).contains(damping));
    damping.ok_or_else(|| "a number of 0 or more, and less than 1".into())
}

pub(crate) fn run(args: &PagerankArgs, console: &Console) -> anyhow::Result<u8> {
    with_scalar!(args.solver.dtype.unwrap_or(Dtype::F64), S => rank::<S>(args, console))
}

fn rank<S: Scalar>(args: &PagerankArgs, console: &Console) -> anyhow::Result<u8> {
    let seeds = args.seeds.as_ref().map(|seeds| seeds.to_string_lossy().into_owned());
    let inputs: Vec<&str> = [&args.matrix].into_iter().chain(&seeds).map(String::as_str).collect();
    check_files(&args.solver, &inputs, args.output.as_slice())?;
    let machine = match args.solver.machine(console)? {
        Ok(machine) => machine,
        Err(code) => return Ok(code),
    };
    let busy = console.busy(format!("reading {}", args.matrix));
    let (name, links, machine) = args.solver.read::<S>(&args.matrix, &machine)?;
    check_square(&links, &name, "")?;
    let links = weighed(links, args.unweighted, &name)?;
    let seeds = seeds_of::<S>(args, links.rows(), &machine)?;
    let count = seeds.as_ref().map_or(1, Dense::cols);
    let tolerance = args.solver.tolerance::<S>();
    let question = Question {
        op: "pagerank",
        method: "power iteration",
        asked: match (&seeds, count) {
            (None, _) => format!("damping {}", args.damping),
            (Some(_), 1) => format!("one seed, damping {}", args.damping),
            (Some(_), count) => format!("{count} seeds, damping {}", args.damping),
        },
        matrix: name,
        taken_as: args.unweighted.then(|| "links alone".into()),
        seed: args.solver.seed,
        tolerance,
        tolerance_of: "‖x‖",
        ..Question::of(&links, &machine)
    };
    busy.say("preparing products");
    let plan = Plan::new(links, &machine)?;
    drop(busy);
    let watch = Watch::begin(console, count);
    let found = solve(args, &plan, seeds.as_ref(), Tolerance::Relative(tolerance), &watch);
    drop(watch);
    let Ranks { ranks, residuals, history, .. } = match found {
        Ok(found) => found,
        Err(error) => return failed(error, console),
    };
    let solved = Solved {
        parts_are_known: args.solver.knows_parts(&machine),
        top: top(&ranks, &args.seed_nodes, args.top),
        ..Solved::new(question, None, &residuals, Sizes::Given(column_norms(&ranks)), history, &machine)
    };
    let write = || match &args.output {
        Some(output) if seeds.is_none() => Ok(write_npy_vector(ranks.view(), output)?),
        Some(output) => Ok(write_npy(ranks.view(), output)?),
        None => Ok(()),
    };
    conclude(&args.solver, &solved, write, console)
}

/// Links with weights that make sense.
fn weighed<S: Scalar>(links: Csr<S>, unweighted: bool, name: &str) -> anyhow::Result<Csr<S>> {
    if unweighted {
        let one = |value: &S| if value.to_f64() == 0.0 { S::ZERO } else { S::ONE };
        return Ok(links.with_values(links.values().iter().map(one).collect())?);
    }
    for row in 0..links.rows() {
        for (col, value) in links.row(row) {
            let (weight, from, to) = (value.to_f64(), row + 1, col + 1);
            anyhow::ensure!(
                weight >= 0.0 && weight.is_finite(),
                "{name}: the link from {from} to {to}, counted from 1, weighs {weight}: weights of 0 or more are needed; \
                 `--unweighted` counts links alone"
            );
        }
    }
    Ok(links)
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
    let mut seeds = Dense::zeros(nodes, count)?;
    for (column, node) in args.seed_nodes.iter().enumerate() {
        anyhow::ensure!(node.get() <= nodes, "--seed-nodes: there is no node {node}, they end with {nodes}");
        seeds.view_mut().row_mut(node.get() - 1)[column] = S::ONE;
    }
    Ok(Some(seeds))
}

/// The first nodes of every ranking.
fn top<S: Scalar>(ranks: &Dense<S>, seed_nodes: &[NonZeroUsize], count: usize) -> Vec<TopNode> {
    let mut found = Vec::new();
    for column in 0..ranks.cols() {
        let rank = |node: usize| ranks.view().row(node)[column].to_f64();
        let mut order: Vec<usize> = (0..ranks.rows()).collect();
        order.sort_by(|&one, &other| rank(other).total_cmp(&rank(one)));
        let seed = seed_nodes.get(column).map_or(column + 1, |node| node.get());
        let node = |(place, &node): (usize, &usize)| TopNode {
            seed,
            place: place + 1,
            node: node + 1,
            rank: rank(node),
        };
        found.extend(order.iter().take(count).enumerate().map(node));
    }
    found
}

fn solve<S: Scalar>(
    args: &PagerankArgs,
    plan: &Plan<S>,
    seeds: Option<&Dense<S>>,
    tolerance: Tolerance,
    watch: &Watch,
) -> Result<Ranks<S>, SolveError> {
    let control = args.solver.control(tolerance, watch);
    pagerank(plan, seeds.map(|seeds| seeds.view()), PageRank { damping: args.damping, control })
}

//! `mpiexec -n N ordito pagerank MATRIX`

use crate::args::{Dtype, with_scalar};
use crate::console::Console;
use crate::distributed::agreed;
use crate::distributed::inputs::Input;
use crate::distributed::solving::ending::conclude;
use crate::distributed::solving::{Ready, by_first, failed, told, with_values};
use crate::interrupt;
use crate::solvers::pagerank::{PagerankArgs, answer, top};
use crate::solvers::problem::Problem;
use crate::solvers::solved::Solved;
use crate::solvers::symmetric::check_square;
use ordito::io::npy::Conversion;
use ordito::{Dense, Scalar};
use ordito_mpi::ranks::{Collective, Ranks};
use ordito_mpi::{Partition, reading};
use std::sync::Arc;

pub(crate) fn run(args: &PagerankArgs, ranks: &Arc<dyn Ranks>, console: &Console) -> anyhow::Result<u8> {
    with_scalar!(args.solver.dtype.unwrap_or(Dtype::F64), S => rank::<S>(args, ranks, console))
}

fn rank<S: Scalar>(args: &PagerankArgs, ranks: &Arc<dyn Ranks>, console: &Console) -> anyhow::Result<u8> {
    let all: &dyn Ranks = &**ranks;
    by_first(all, || args.check())?;
    let machine = match agreed(all, args.solver.machine(console))? {
        Ok(machine) => machine,
        Err(code) => return Ok(code),
    };
    let busy = console.busy(format!("reading {}", args.matrix));
    let mut input = Input::<S>::as_read(reading::load(all, &args.matrix, &args.solver.read_options())?);
    let (name, rows) = (input.name.clone(), input.rows.clone());
    told(all, check_square((rows.total(), input.cols.total()), &name, ""))?;
    let first = rows.range(all.rank()).start;
    let links = with_values(&input.local, first, |value, at| args.weight(value, at, &name));
    input.local = told(all, links)?;
    let seeds = seeds_of::<S>(args, all, &rows)?;
    busy.say("preparing products");
    let Ready { plan, size, ranks: on_ranks } = Ready::new(ranks, input, &machine)?;
    drop(busy);
    interrupt::remember_only();
    let taken_as = args.taken_as();
    let problem = Problem { name, taken_as, size, plan: &plan, machine: &machine, ranks: Some(on_ranks) };
    let (solved, found) = answer(args, &problem, seeds.as_ref(), console).map_err(failed)?;
    let rankings =
        (0..found.cols()).map(|column| first_nodes(all, top(&found, column, args.top, first), args.top));
    let solved = Solved { top: args.named(rankings.collect::<anyhow::Result<_>>()?), ..solved };
    let write = || match &args.output {
        Some(output) if seeds.is_none() => {
            Ok(reading::write_npy_vector_rows(all, &rows, found.view(), output)?)
        }
        Some(output) => Ok(reading::write_npy_rows(all, &rows, found.view(), output)?),
        None => Ok(()),
    };
    conclude(all, &args.solver, &solved, write, console)
}

/// This rank's rows of the seeds.
fn seeds_of<S: Scalar>(
    args: &PagerankArgs,
    ranks: &dyn Ranks,
    rows: &Partition,
) -> anyhow::Result<Option<Dense<S>>> {
    if let Some(path) = &args.seeds {
        return Ok(Some(reading::read_npy_rows(ranks, path, rows, Conversion::Allow)?));
    }
    if args.seed_nodes.is_empty() {
        return Ok(None);
    }
    told(ranks, args.check_seed_nodes(rows.total()))?;
    let range = rows.range(ranks.rank());
    let seeds = Dense::zeros(rows.rows_of(ranks.rank()), args.seed_nodes.len());
    let mut seeds = told(ranks, seeds.map_err(Into::into))?;
    for (column, node) in args.seed_nodes.iter().enumerate() {
        let node = node.get() as u64 - 1;
        if range.contains(&node) {
            seeds.view_mut().row_mut((node - range.start) as usize)[column] = S::ONE;
        }
    }
    Ok(Some(seeds))
}

/// Of all ranks: each has told the first of its own.
fn first_nodes(ranks: &dyn Ranks, mine: Vec<(u64, f64)>, count: usize) -> anyhow::Result<Vec<(u64, f64)>> {
    let bytes: Vec<u8> =
        mine.iter().flat_map(|(node, rank)| [node.to_le_bytes(), rank.to_le_bytes()].concat()).collect();
    let parts = ranks.all_gather(&bytes)?;
    let entry = |bytes: &[u8]| {
        let [node, rank] = bytemuck::pod_read_unaligned::<[u64; 2]>(bytes);
        (node, f64::from_bits(rank))
    };
    let mut all: Vec<(u64, f64)> = parts.iter().flat_map(|part| part.chunks_exact(16)).map(entry).collect();
    // Those of the same rank stay in the order of nodes.
    all.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    all.truncate(count);
    Ok(all)
}

//! `ordito solve MATRIX (--rhs B.npy | --random-rhs K)`

use crate::args::{Dtype, with_scalar};
use crate::console::Console;
use crate::solvers::diagonal::inverse_diagonal;
use crate::solvers::ending::{check_files, conclude, failed};
use crate::solvers::options::SolverArgs;
use crate::solvers::solved::{Question, Sizes, Solved, column_norms};
use crate::solvers::symmetric::{check, check_square, half_sum};
use crate::solvers::watch::Watch;
use clap::Args;
use ordito::Scalar;
use ordito::io::npy::{Conversion, NpyDtype, bytes_to_read_npy, is_npy_vector, write_npy_vector};
use ordito::io::{read_npy, read_npy_dtype, write_npy};
use ordito::machine::Machine;
use ordito::matrix::{Dense, random_dense};
use ordito::solve::{Cg, Preconditioner, Solution, SolveError, Tolerance, cg};
use ordito::spmm::Plan;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// X of A·X = B, for a symmetric and positive definite A, by conjugate gradients for all columns at once.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("B").required(true).args(["rhs", "random_rhs"])))]
#[command(
    after_help = "B is a .npy file of one column or many (one dimension gives an X of one dimension), or K random columns.
Without --dtype the precision is that of B, else f64. That A is positive definite is not looked at first, but seen on the way.
Exit codes: 0 converged; 1 not, what there is is shown and written all the same; 2 bad usage or input.

Examples:
  ordito solve bcsstk17.mtx.gz --rhs B.npy --jacobi -o X.npy
  ordito solve my.mtx --random-rhs 8 --tol 1e-10 --page solve.html"
)]
pub(crate) struct SolveArgs {
    /// A path, a bare name or a synthetic matrix
    matrix: String,
    /// B
    #[arg(long, value_name = "B.npy")]
    rhs: Option<PathBuf>,
    /// Columns of a random B
    #[arg(long, value_name = "K")]
    random_rhs: Option<NonZeroUsize>,
    /// Divide residuals by the diagonal, which must be positive: fewer iterations
    #[arg(long)]
    jacobi: bool,
    /// Compute with (A + Aᵀ)/2
    #[arg(long)]
    symmetrize: bool,
    /// Where to write X
    #[arg(short, long, value_name = "X.npy")]
    output: Option<PathBuf>,
    #[command(flatten)]
    solver: SolverArgs,
}

pub(crate) fn run(args: &SolveArgs, console: &Console) -> anyhow::Result<u8> {
    let dtype = match (args.solver.dtype, &args.rhs) {
        (Some(dtype), _) => dtype,
        (None, Some(rhs)) if read_npy_dtype(rhs)? == NpyDtype::F32 => Dtype::F32,
        _ => Dtype::F64,
    };
    with_scalar!(dtype, S => find::<S>(args, console))
}

fn find<S: Scalar>(args: &SolveArgs, console: &Console) -> anyhow::Result<u8> {
    let rhs = args.rhs.as_ref().map(|rhs| rhs.to_string_lossy().into_owned());
    let inputs: Vec<&str> = [&args.matrix].into_iter().chain(&rhs).map(String::as_str).collect();
    check_files(&args.solver, &inputs, args.output.as_slice())?;
    let machine = match args.solver.machine(console)? {
        Ok(machine) => machine,
        Err(code) => return Ok(code),
    };
    let busy = console.busy(format!("reading {}", args.matrix));
    let (name, a, machine) = args.solver.read::<S>(&args.matrix, &machine)?;
    check_square(&a, &name, "")?;
    let b = match (&args.rhs, args.random_rhs) {
        (Some(path), _) => read_rhs::<S>(path, a.rows(), &machine)?,
        (None, columns) => {
            let columns = columns.map_or(1, NonZeroUsize::get);
            let elements = (a.rows() as u64).checked_mul(columns as u64);
            let bytes = elements.and_then(|elements| elements.checked_mul(size_of::<S>() as u64));
            machine.check_memory("B", bytes)?;
            random_dense(a.rows(), columns, args.solver.seed)?
        }
    };
    let is_vector = args.rhs.as_ref().map_or(Ok(false), |path| is_npy_vector(path))?;
    busy.say("looking whether it is symmetric");
    let (a, taken_as) = if args.symmetrize {
        (half_sum(&a, &machine)?, Some("(A + Aᵀ)/2".into()))
    } else {
        check(&a, &name, "; `--symmetrize` computes with (A + Aᵀ)/2", &machine)?;
        (a, None)
    };
    let jacobi = args.jacobi.then(|| inverse_diagonal(&a, &name)).transpose()?;
    let (count, tolerance) = (b.cols(), args.solver.tolerance::<S>());
    let question = Question {
        op: "solve",
        method: if args.jacobi { "cg with jacobi" } else { "cg" },
        asked: match count {
            1 => "one right-hand side".into(),
            count => format!("{count} right-hand sides"),
        },
        matrix: name,
        taken_as,
        seed: args.solver.seed,
        tolerance,
        tolerance_of: "‖b‖",
        ..Question::of(&a, &machine)
    };
    busy.say("preparing products");
    let plan = Plan::new(a, &machine)?;
    drop(busy);
    let watch = Watch::begin(console, count);
    let found = solve(args, &plan, &b, jacobi.as_deref(), Tolerance::Relative(tolerance), &watch);
    drop(watch);
    let Solution { x, residuals, history, .. } = match found {
        Ok(found) => found,
        Err(error) => return failed(error, console),
    };
    let solved = Solved {
        parts_are_known: args.solver.knows_parts(&machine),
        ..Solved::new(question, None, &residuals, Sizes::Given(column_norms(&b)), history, &machine)
    };
    let write = || match &args.output {
        Some(output) if is_vector => Ok(write_npy_vector(x.view(), output)?),
        Some(output) => Ok(write_npy(x.view(), output)?),
        None => Ok(()),
    };
    conclude(&args.solver, &solved, write, console)
}

fn read_rhs<S: Scalar>(path: &Path, rows: usize, machine: &Machine) -> anyhow::Result<Dense<S>> {
    machine.check_memory(format!("reading {}", path.display()), bytes_to_read_npy::<S>(path)?)?;
    let b = read_npy::<S>(path, Conversion::Allow)?;
    anyhow::ensure!(
        b.rows() == rows,
        "{}: B has {} rows, A has {rows}: these must be equal",
        path.display(),
        b.rows()
    );
    Ok(b)
}

fn solve<S: Scalar>(
    args: &SolveArgs,
    plan: &Plan<S>,
    b: &Dense<S>,
    jacobi: Option<&[S]>,
    tolerance: Tolerance,
    watch: &Watch,
) -> Result<Solution<S>, SolveError> {
    let control = args.solver.control(tolerance, watch);
    let preconditioner = jacobi.map(Preconditioner::Diagonal);
    cg(plan, b.view(), Cg { preconditioner, control, ..Cg::default() })
}

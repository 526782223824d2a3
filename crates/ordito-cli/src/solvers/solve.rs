//! `ordito solve MATRIX (--rhs B.npy | --random-rhs K)`

use crate::args::{Dtype, with_scalar};
use crate::console::Console;
use crate::solvers::diagonal::inverse_diagonal;
use crate::solvers::ending::{check_files, conclude, failed};
use crate::solvers::options::SolverArgs;
use crate::solvers::problem::Problem;
use crate::solvers::solved::{Question, Sizes, Solved};
use crate::solvers::symmetric::{HALF_SUM, SYMMETRIZE, check, check_square, half_sum, shape};
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
    pub(crate) matrix: String,
    /// B
    #[arg(long, value_name = "B.npy")]
    pub(crate) rhs: Option<PathBuf>,
    /// Columns of a random B
    #[arg(long, value_name = "K")]
    pub(crate) random_rhs: Option<NonZeroUsize>,
    /// Divide residuals by the diagonal, which must be positive: fewer iterations
    #[arg(long)]
    pub(crate) jacobi: bool,
    /// Compute with (A + Aᵀ)/2
    #[arg(long)]
    pub(crate) symmetrize: bool,
    /// Where to write X
    #[arg(short, long, value_name = "X.npy")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
}

pub(crate) fn run(args: &SolveArgs, console: &Console) -> anyhow::Result<u8> {
    with_scalar!(args.dtype()?, S => find::<S>(args, console))
}

impl SolveArgs {
    /// What was asked for, or what B has.
    pub(crate) fn dtype(&self) -> anyhow::Result<Dtype> {
        Ok(match (self.solver.dtype, &self.rhs) {
            (Some(dtype), _) => dtype,
            (None, Some(rhs)) if read_npy_dtype(rhs)? == NpyDtype::F32 => Dtype::F32,
            _ => Dtype::F64,
        })
    }

    /// Can files be written?
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let rhs = self.rhs.as_ref().map(|rhs| rhs.to_string_lossy().into_owned());
        let inputs: Vec<&str> = [&self.matrix].into_iter().chain(&rhs).map(String::as_str).collect();
        check_files(&self.solver, &inputs, self.output.as_slice())
    }

    /// Has B one dimension? X has as many.
    pub(crate) fn is_vector(&self) -> anyhow::Result<bool> {
        Ok(self.rhs.as_ref().map_or(Ok(false), |path| is_npy_vector(path))?)
    }

    /// Of a random B.
    pub(crate) fn columns(&self) -> usize {
        self.random_rhs.map_or(1, NonZeroUsize::get)
    }
}

fn find<S: Scalar>(args: &SolveArgs, console: &Console) -> anyhow::Result<u8> {
    args.check()?;
    let machine = match args.solver.machine(console)? {
        Ok(machine) => machine,
        Err(code) => return Ok(code),
    };
    let busy = console.busy(format!("reading {}", args.matrix));
    let (name, a, machine) = args.solver.read::<S>(&args.matrix, &machine)?;
    check_square(shape(&a), &name, "")?;
    let b = match &args.rhs {
        Some(path) => read_rhs::<S>(path, a.rows(), &machine)?,
        None => {
            let columns = args.columns();
            let elements = (a.rows() as u64).checked_mul(columns as u64);
            let bytes = elements.and_then(|elements| elements.checked_mul(size_of::<S>() as u64));
            machine.check_memory("B", bytes)?;
            random_dense(a.rows(), columns, args.solver.seed)?
        }
    };
    let is_vector = args.is_vector()?;
    busy.say("looking whether it is symmetric");
    let (a, taken_as) = if args.symmetrize {
        (half_sum(&a, &machine)?, Some(HALF_SUM.into()))
    } else {
        check(&a, &name, SYMMETRIZE, &machine)?;
        (a, None)
    };
    let jacobi = args.jacobi.then(|| inverse_diagonal(&a, &name)).transpose()?;
    busy.say("preparing products");
    let size = [a.rows(), a.cols(), a.nnz()];
    let plan = Plan::new(a, &machine)?;
    drop(busy);
    let problem = Problem { name, taken_as, size, plan: &plan, machine: &machine, ranks: None };
    let (solved, x) = match answer(args, &problem, &b, jacobi.as_deref(), console) {
        Ok(found) => found,
        Err(error) => return failed(error, console),
    };
    let write = || match &args.output {
        Some(output) if is_vector => Ok(write_npy_vector(x.view(), output)?),
        Some(output) => Ok(write_npy(x.view(), output)?),
        None => Ok(()),
    };
    conclude(&args.solver, &solved, write, console)
}

/// X, with all that is told of it.
pub(crate) fn answer<S: Scalar>(
    args: &SolveArgs,
    problem: &Problem<'_, S>,
    b: &Dense<S>,
    jacobi: Option<&[S]>,
    console: &Console,
) -> Result<(Solved, Dense<S>), SolveError> {
    let (count, tolerance) = (b.cols(), args.solver.tolerance::<S>());
    let question = Question {
        method: if args.jacobi { "cg with jacobi" } else { "cg" },
        asked: match count {
            1 => "one right-hand side".into(),
            count => format!("{count} right-hand sides"),
        },
        seed: args.solver.seed,
        tolerance,
        tolerance_of: "‖b‖",
        ..problem.question("solve")
    };
    let watch = Watch::begin(console, count);
    let control = args.solver.control(Tolerance::Relative(tolerance), &watch);
    let preconditioner = jacobi.map(Preconditioner::Diagonal);
    let found = cg(problem.plan, b.view(), Cg { preconditioner, control, ..Cg::default() });
    drop(watch);
    let Solution { x, residuals, history, .. } = found?;
    let sizes = Sizes::Given(problem.column_norms(b)?);
    let solved = Solved {
        parts_are_known: args.solver.knows_parts(problem.machine),
        ..Solved::new(question, None, &residuals, sizes, history, problem.machine)
    };
    Ok((solved, x))
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

//! `ordito eigen MATRIX`

use crate::args::{Dtype, with_scalar};
use crate::console::Console;
use crate::solvers::diagonal::inverse_diagonal;
use crate::solvers::ending::{check_files, conclude, failed};
use crate::solvers::laplacian::Laplacian;
use crate::solvers::options::SolverArgs;
use crate::solvers::problem::Problem;
use crate::solvers::solved::{Question, Sizes, Solved, rounding};
use crate::solvers::symmetric::{HALF_SUM, SYMMETRIZE, check, check_square, half_sum, shape};
use crate::solvers::watch::Watch;
use clap::{Args, ValueEnum};
use ordito::Scalar;
use ordito::io::write_npy;
use ordito::machine::Machine;
use ordito::matrix::{Csr, Dense};
use ordito::solve::{
    Chebyshev, Eigenpairs, Lanczos, Lobpcg, Operator, Preconditioner, SolveError, Tolerance, Which,
    chebyshev, eigsh, lobpcg,
};
use ordito::spmm::Plan;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

/// Eigenvalues and eigenvectors of a symmetric matrix, those of one end of its spectrum.
#[derive(Debug, Args)]
#[command(
    after_help = "The matrix must be symmetric. Synthetic ones are not: `--symmetrize` computes with (A + Aᵀ)/2.
Exit codes: 0 converged; 1 not, what there is is shown and written all the same; 2 bad usage or input.

Examples:
  ordito eigen bcsstk17.mtx.gz --count 10 -o X.npy
  ordito eigen stiffness.mtx --mass mass.mtx --smallest --jacobi
  ordito eigen graph.mtx --laplacian --normalized --count 8 --page communities.html
  ordito eigen stencil27:40 --symmetrize --json history.json"
)]
pub(crate) struct EigenArgs {
    /// A path, a bare name or a synthetic matrix
    pub(crate) matrix: String,
    /// How many [default: 10, or as many as there are rows]
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<NonZeroUsize>,
    /// The largest eigenvalues [default, but for --laplacian]
    #[arg(long, conflicts_with = "smallest")]
    pub(crate) largest: bool,
    /// The smallest eigenvalues
    #[arg(long)]
    pub(crate) smallest: bool,
    /// The largest by size, whatever their sign; only with lanczos
    #[arg(long, conflicts_with_all = ["largest", "smallest"])]
    pub(crate) largest_magnitude: bool,
    /// How they are found
    #[arg(long, value_enum, default_value = "lobpcg")]
    pub(crate) method: Method,
    /// Divide residuals by the diagonal, which must be positive: fewer iterations for the smallest eigenvalues
    #[arg(long)]
    pub(crate) jacobi: bool,
    /// B of A·x = λ·B·x, symmetric and positive definite
    #[arg(long, value_name = "B.mtx")]
    pub(crate) mass: Option<String>,
    /// Compute with (A + Aᵀ)/2
    #[arg(long)]
    pub(crate) symmetrize: bool,
    /// Compute with the Laplacian D − W of the graph whose links W are (A + Aᵀ)/2 without the diagonal
    #[arg(long, conflicts_with = "symmetrize")]
    pub(crate) laplacian: bool,
    /// The Laplacian 1 − D^(−1/2)·W·D^(−1/2)
    #[arg(long, requires = "laplacian")]
    pub(crate) normalized: bool,
    /// Every link of the graph weighs 1
    #[arg(long, requires = "laplacian")]
    pub(crate) unweighted: bool,
    /// What residuals are held against: an eigenvalue of 0 is never found relative to itself [default: value; of a Laplacian matrix]
    #[arg(long, value_enum)]
    pub(crate) relative_to: Option<RelativeTo>,
    /// Where to write the eigenvectors, a column for each
    #[arg(short, long, value_name = "X.npy")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// The best of approximations, residuals and last directions; takes --jacobi and --mass
    Lobpcg,
    /// A block Krylov space with restarts, which are its iterations: to high accuracy
    Lanczos,
    /// A polynomial of the matrix that leaves of a block little but what is wanted: for many eigenvalues
    Chebyshev,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Method::Lobpcg => "lobpcg",
            Method::Lanczos => "lanczos",
            Method::Chebyshev => "chebyshev",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RelativeTo {
    /// Each to its eigenvalue
    Value,
    /// All to the norm of the matrix, its largest row sum
    Matrix,
}

/// Where nothing else was asked for.
const COUNT: usize = 10;

pub(crate) fn run(args: &EigenArgs, console: &Console) -> anyhow::Result<u8> {
    with_scalar!(args.solver.dtype.unwrap_or(Dtype::F64), S => find::<S>(args, console))
}

fn find<S: Scalar>(args: &EigenArgs, console: &Console) -> anyhow::Result<u8> {
    args.check()?;
    let machine = match args.solver.machine(console)? {
        Ok(machine) => machine,
        Err(code) => return Ok(code),
    };
    let busy = console.busy(format!("reading {}", args.matrix));
    let (name, a, machine) = args.solver.read::<S>(&args.matrix, &machine)?;
    busy.say("looking whether it is symmetric");
    let (a, taken_as) = symmetric(args, a, &name, &machine)?;
    let (mass, machine) = match &args.mass {
        Some(mass) => {
            let (name, b, machine) = args.solver.read::<S>(mass, &machine)?;
            check_square(shape(&b), &name, "")?;
            check(&b, &name, "; B must be", &machine)?;
            (Some(b), machine)
        }
        None => (None, machine),
    };
    let count = args.count_of(a.rows(), &name)?;
    let jacobi = args.jacobi.then(|| inverse_diagonal(&a, &name)).transpose()?;
    let norm = largest_row_sum(&a);
    busy.say("preparing products");
    let size = [a.rows(), a.cols(), a.nnz()];
    let plan = Plan::new(a, &machine)?;
    let mass = mass.map(|b| Plan::new(b, &machine)).transpose()?;
    drop(busy);
    let problem = Problem { name, taken_as, size, plan: &plan, machine: &machine, ranks: None };
    let beside = Beside { mass: mass.as_ref().map(|b| b as _), jacobi: jacobi.as_deref(), norm };
    let (solved, vectors) = match answer(args, &problem, count, beside, console) {
        Ok(found) => found,
        Err(error) => return failed(error, console),
    };
    let write = || Ok(args.output.as_ref().map_or(Ok(()), |output| write_npy(vectors.view(), output))?);
    conclude(&args.solver, &solved, write, console)
}

/// What is known beside the matrix.
pub(crate) struct Beside<'a, S: Scalar> {
    pub(crate) mass: Option<&'a dyn Operator<S>>,
    pub(crate) jacobi: Option<&'a [S]>,
    /// ‖A‖∞, which no eigenvalue of a symmetric matrix exceeds.
    pub(crate) norm: f64,
}

/// Eigenvalues with all that is told of them, and their vectors.
pub(crate) fn answer<S: Scalar>(
    args: &EigenArgs,
    problem: &Problem<'_, S>,
    count: usize,
    beside: Beside<'_, S>,
    console: &Console,
) -> Result<(Solved, Dense<S>), SolveError> {
    let which = args.which();
    let relative_to =
        args.relative_to.unwrap_or(if args.laplacian { RelativeTo::Matrix } else { RelativeTo::Value });
    let (tolerance, norm) = (args.solver.tolerance::<S>(), beside.norm);
    let (sizes, tolerance_of, asked_tolerance) = match relative_to {
        RelativeTo::Value => {
            (Sizes::Values { rounding: rounding::<S>(norm) }, "|λ|", Tolerance::Relative(tolerance))
        }
        RelativeTo::Matrix => (Sizes::Given(vec![norm; count]), "‖A‖", Tolerance::Absolute(tolerance * norm)),
    };
    let question = Question {
        method: args.method.name(),
        asked: asked(count, which),
        seed: args.solver.seed,
        tolerance,
        tolerance_of,
        ..problem.question("eigen")
    };
    let watch = Watch::begin(console, count);
    let found = solve(args, problem.plan, &beside, (count, which), asked_tolerance, &watch);
    drop(watch);
    let Eigenpairs { values, vectors, residuals, history, .. } = found?;
    let bound = "an eigenvalue lies within ± its residual of each value";
    let solved = Solved {
        parts_are_known: args.solver.knows_parts(problem.machine),
        value_name: Some("eigenvalue"),
        bound: beside.mass.is_none().then_some(bound),
        ..Solved::new(question, Some(values), &residuals, sizes, history, problem.machine)
    };
    Ok((solved, vectors))
}

impl EigenArgs {
    /// Do options fit each other, and can files be written?
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let method = self.method.name();
        anyhow::ensure!(
            !self.largest_magnitude || self.method == Method::Lanczos,
            "--largest-magnitude: `--method {method}` finds one end of the spectrum; `--method lanczos` finds both"
        );
        for (given, option) in [(self.jacobi, "--jacobi"), (self.mass.is_some(), "--mass")] {
            anyhow::ensure!(
                !given || self.method == Method::Lobpcg,
                "{option}: `--method {method}` takes none; `--method lobpcg` does"
            );
        }
        let inputs: Vec<&str> = [&self.matrix].into_iter().chain(&self.mass).map(String::as_str).collect();
        check_files(&self.solver, &inputs, self.output.as_slice())
    }

    /// How many eigenvalues are wanted of so many.
    pub(crate) fn count_of(&self, rows: usize, name: &str) -> anyhow::Result<usize> {
        let count = self.count.map_or(COUNT.min(rows), NonZeroUsize::get);
        anyhow::ensure!(count <= rows, "--count {count}: {name} has {rows} rows, and no more eigenvalues");
        Ok(count)
    }

    fn which(&self) -> Which {
        match (self.smallest, self.largest_magnitude, self.largest) {
            (_, true, _) => Which::LargestMagnitude,
            (true, _, _) => Which::Smallest,
            (_, _, false) if self.laplacian => Which::Smallest,
            _ => Which::Largest,
        }
    }

    /// What is made of a graph, where that was asked for.
    pub(crate) fn of_graph(&self) -> Option<Laplacian> {
        self.laplacian.then_some(Laplacian { unweighted: self.unweighted, normalized: self.normalized })
    }
}

/// Refuses what has no eigenvalues.
pub(crate) fn check_shape(shape: (u64, u64), name: &str) -> anyhow::Result<()> {
    check_square(shape, name, "; `ordito svd` takes any")?;
    anyhow::ensure!(shape.0 > 0, "{name}: a 0 × 0 matrix has no eigenvalues");
    Ok(())
}

fn asked(count: usize, which: Which) -> String {
    let end = if which == Which::Smallest { "smallest" } else { "largest" };
    match (count, which) {
        (1, Which::LargestMagnitude) => "the eigenvalue of the largest size".into(),
        (count, Which::LargestMagnitude) => format!("the {count} eigenvalues of the largest size"),
        (1, _) => format!("the {end} eigenvalue"),
        _ => format!("the {count} {end} eigenvalues"),
    }
}

/// The matrix that eigenvalues are of, and what was made of the one that was read.
fn symmetric<S: Scalar>(
    args: &EigenArgs,
    a: Csr<S>,
    name: &str,
    machine: &Arc<Machine>,
) -> anyhow::Result<(Csr<S>, Option<String>)> {
    check_shape(shape(&a), name)?;
    if let Some(laplacian) = args.of_graph() {
        return Ok((laplacian.of(&a, name, machine)?, Some(laplacian.name())));
    }
    if args.symmetrize {
        return Ok((half_sum(&a, machine)?, Some(HALF_SUM.into())));
    }
    check(&a, name, SYMMETRIZE, machine)?;
    Ok((a, None))
}

fn solve<S: Scalar>(
    args: &EigenArgs,
    plan: &dyn Operator<S>,
    beside: &Beside<'_, S>,
    (count, which): (usize, Which),
    tolerance: Tolerance,
    watch: &Watch,
) -> Result<Eigenpairs<S>, SolveError> {
    let control = args.solver.control(tolerance, watch);
    match args.method {
        Method::Lobpcg => lobpcg(
            plan,
            Lobpcg {
                count,
                which,
                b: beside.mass,
                preconditioner: beside.jacobi.map(Preconditioner::Diagonal),
                control,
                ..Lobpcg::default()
            },
        ),
        Method::Chebyshev => chebyshev(plan, Chebyshev { count, which, control, ..Chebyshev::default() }),
        Method::Lanczos => eigsh(plan, Lanczos { count, which, control, ..Lanczos::default() }),
    }
}

/// ‖A‖∞, which no eigenvalue of a symmetric matrix exceeds.
fn largest_row_sum<S: Scalar>(a: &Csr<S>) -> f64 {
    let sum = |row: usize| a.row(row).map(|(_, value)| value.to_f64().abs()).sum::<f64>();
    (0..a.rows()).map(sum).fold(0.0, f64::max)
}

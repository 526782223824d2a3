//! `ordito eigen MATRIX`

use crate::args::{Dtype, with_scalar};
use crate::console::Console;
use crate::solvers::diagonal::inverse_diagonal;
use crate::solvers::ending::{check_files, conclude, failed};
use crate::solvers::laplacian::Laplacian;
use crate::solvers::options::SolverArgs;
use crate::solvers::solved::{Question, Sizes, Solved, rounding};
use crate::solvers::symmetric::{check, check_square, half_sum};
use crate::solvers::watch::Watch;
use clap::{Args, ValueEnum};
use ordito::Scalar;
use ordito::io::write_npy;
use ordito::machine::Machine;
use ordito::matrix::Csr;
use ordito::solve::{
    Chebyshev, Eigenpairs, Lanczos, Lobpcg, Preconditioner, SolveError, Tolerance, Which, chebyshev, eigsh,
    lobpcg,
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
    matrix: String,
    /// How many [default: 10, or as many as there are rows]
    #[arg(long, value_name = "N")]
    count: Option<NonZeroUsize>,
    /// The largest eigenvalues [default, but for --laplacian]
    #[arg(long, conflicts_with = "smallest")]
    largest: bool,
    /// The smallest eigenvalues
    #[arg(long)]
    smallest: bool,
    /// The largest by size, whatever their sign; only with lanczos
    #[arg(long, conflicts_with_all = ["largest", "smallest"])]
    largest_magnitude: bool,
    /// How they are found
    #[arg(long, value_enum, default_value = "lobpcg")]
    method: Method,
    /// Divide residuals by the diagonal, which must be positive: fewer iterations for the smallest eigenvalues
    #[arg(long)]
    jacobi: bool,
    /// B of A·x = λ·B·x, symmetric and positive definite
    #[arg(long, value_name = "B.mtx")]
    mass: Option<String>,
    /// Compute with (A + Aᵀ)/2
    #[arg(long)]
    symmetrize: bool,
    /// Compute with the Laplacian D − W of the graph whose links W are (A + Aᵀ)/2 without the diagonal
    #[arg(long, conflicts_with = "symmetrize")]
    laplacian: bool,
    /// The Laplacian 1 − D^(−1/2)·W·D^(−1/2)
    #[arg(long, requires = "laplacian")]
    normalized: bool,
    /// Every link of the graph weighs 1
    #[arg(long, requires = "laplacian")]
    unweighted: bool,
    /// What residuals are held against: an eigenvalue of 0 is never found relative to itself [default: value; of a Laplacian matrix]
    #[arg(long, value_enum)]
    relative_to: Option<RelativeTo>,
    /// Where to write the eigenvectors, a column for each
    #[arg(short, long, value_name = "X.npy")]
    output: Option<PathBuf>,
    #[command(flatten)]
    solver: SolverArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
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
enum RelativeTo {
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
    let method = args.method.name();
    anyhow::ensure!(
        !args.largest_magnitude || args.method == Method::Lanczos,
        "--largest-magnitude: `--method {method}` finds one end of the spectrum; `--method lanczos` finds both"
    );
    for (given, option) in [(args.jacobi, "--jacobi"), (args.mass.is_some(), "--mass")] {
        anyhow::ensure!(
            !given || args.method == Method::Lobpcg,
            "{option}: `--method {method}` takes none; `--method lobpcg` does"
        );
    }
    let inputs: Vec<&str> = [&args.matrix].into_iter().chain(&args.mass).map(String::as_str).collect();
    check_files(&args.solver, &inputs, args.output.as_slice())?;
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
            check_square(&b, &name, "")?;
            check(&b, &name, "; B must be", &machine)?;
            (Some(b), machine)
        }
        None => (None, machine),
    };
    let count = args.count.map_or(COUNT.min(a.rows()), NonZeroUsize::get);
    anyhow::ensure!(
        count <= a.rows(),
        "--count {count}: {name} has {} rows, and no more eigenvalues",
        a.rows()
    );
    let which = match (args.smallest, args.largest_magnitude, args.largest) {
        (_, true, _) => Which::LargestMagnitude,
        (true, _, _) => Which::Smallest,
        (_, _, false) if args.laplacian => Which::Smallest,
        _ => Which::Largest,
    };
    let jacobi = args.jacobi.then(|| inverse_diagonal(&a, &name)).transpose()?;
    let relative_to =
        args.relative_to.unwrap_or(if args.laplacian { RelativeTo::Matrix } else { RelativeTo::Value });
    let tolerance = args.solver.tolerance::<S>();
    let norm = largest_row_sum(&a);
    let (sizes, tolerance_of, asked_tolerance) = match relative_to {
        RelativeTo::Value => {
            (Sizes::Values { rounding: rounding::<S>(norm) }, "|λ|", Tolerance::Relative(tolerance))
        }
        RelativeTo::Matrix => (Sizes::Given(vec![norm; count]), "‖A‖", Tolerance::Absolute(tolerance * norm)),
    };
    let question = Question {
        op: "eigen",
        method,
        asked: asked(count, which),
        matrix: name,
        taken_as,
        seed: args.solver.seed,
        tolerance,
        tolerance_of,
        ..Question::of(&a, &machine)
    };
    busy.say("preparing products");
    let plan = Plan::new(a, &machine)?;
    let mass = mass.map(|b| Plan::new(b, &machine)).transpose()?;
    drop(busy);
    let watch = Watch::begin(console, count);
    let found = solve(args, &plan, mass.as_ref(), jacobi.as_deref(), (count, which), asked_tolerance, &watch);
    drop(watch);
    let Eigenpairs { values, vectors, residuals, history, .. } = match found {
        Ok(found) => found,
        Err(error) => return failed(error, console),
    };
    let bound = "an eigenvalue lies within ± its residual of each value";
    let solved = Solved {
        parts_are_known: args.solver.knows_parts(&machine),
        value_name: Some("eigenvalue"),
        bound: mass.is_none().then_some(bound),
        ..Solved::new(question, Some(values), &residuals, sizes, history, &machine)
    };
    let write = || Ok(args.output.as_ref().map_or(Ok(()), |output| write_npy(vectors.view(), output))?);
    conclude(&args.solver, &solved, write, console)
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
    check_square(&a, name, "; `ordito svd` takes any")?;
    anyhow::ensure!(a.rows() > 0, "{name}: a 0 × 0 matrix has no eigenvalues");
    if args.laplacian {
        let laplacian = Laplacian { unweighted: args.unweighted, normalized: args.normalized };
        let form = if args.normalized { "normalized Laplacian" } else { "Laplacian" };
        return Ok((laplacian.of(&a, name, machine)?, Some(form.into())));
    }
    if args.symmetrize {
        return Ok((half_sum(&a, machine)?, Some("(A + Aᵀ)/2".into())));
    }
    check(&a, name, "; `--symmetrize` computes with (A + Aᵀ)/2", machine)?;
    Ok((a, None))
}

fn solve<S: Scalar>(
    args: &EigenArgs,
    plan: &Plan<S>,
    mass: Option<&Plan<S>>,
    jacobi: Option<&[S]>,
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
                b: mass.map(|b| b as _),
                preconditioner: jacobi.map(Preconditioner::Diagonal),
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

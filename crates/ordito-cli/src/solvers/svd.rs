//! `ordito svd MATRIX`

use crate::args::{Dtype, with_scalar};
use crate::console::Console;
use crate::solvers::ending::{check_files, conclude, failed};
use crate::solvers::options::SolverArgs;
use crate::solvers::problem::Problem;
use crate::solvers::solved::{Question, Sizes, Solved, rounding};
use crate::solvers::watch::Watch;
use clap::{Args, ValueEnum};
use ordito::Scalar;
use ordito::io::npy::write_npy_vector;
use ordito::io::write_npy;
use ordito::matrix::{Dense, DenseView};
use ordito::solve::{
    Operator, RandomizedSvd, SingularTriplets, SolveError, Svds, Tolerance, randomized_svd, svds,
};
use ordito::spmm::Plan;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The largest singular values and their vectors.
#[derive(Debug, Args)]
#[command(
    after_help = "A is nearly U·diag(σ)·Vᵀ. `-o NAME` writes three files: NAME-u.npy, NAME-s.npy and NAME-vt.npy.
Exit codes: 0 converged, or a fixed number of products was asked for; 1 not, what there is is shown and written all the same; 2 bad usage
or input.

Examples:
  ordito svd ratings.mtx --count 50 -o ratings
  ordito svd powerlaw:100000x16 --method randomized --power-iterations 4 --count 20"
)]
pub(crate) struct SvdArgs {
    /// A path, a bare name or a synthetic matrix, of any shape
    pub(crate) matrix: String,
    /// How many [default: 10, or as many as there are rows or columns]
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<NonZeroUsize>,
    /// How they are found
    #[arg(long, value_enum, default_value = "lanczos")]
    pub(crate) method: Method,
    /// Randomized: how often AᵀA is applied [default: 7, or 4 for more than a tenth of all]
    #[arg(long, value_name = "N")]
    pub(crate) power_iterations: Option<usize>,
    /// Randomized: random vectors beyond --count [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) oversampling: Option<usize>,
    /// Where to write U, σ and Vᵀ
    #[arg(short, long, value_name = "NAME")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// A block Krylov space with restarts, which are its iterations: to high accuracy
    Lanczos,
    /// A fixed number of products with random vectors: nearly the largest; --tol, if given, only judges
    Randomized,
}

/// Where nothing else was asked for.
const COUNT: usize = 10;

pub(crate) fn run(args: &SvdArgs, console: &Console) -> anyhow::Result<u8> {
    with_scalar!(args.solver.dtype.unwrap_or(Dtype::F64), S => find::<S>(args, console))
}

fn find<S: Scalar>(args: &SvdArgs, console: &Console) -> anyhow::Result<u8> {
    args.check()?;
    let machine = match args.solver.machine(console)? {
        Ok(machine) => machine,
        Err(code) => return Ok(code),
    };
    let busy = console.busy(format!("reading {}", args.matrix));
    let (name, a, machine) = args.solver.read::<S>(&args.matrix, &machine)?;
    let size = [a.rows(), a.cols(), a.nnz()];
    let count = args.count_of(size, &name)?;
    busy.say("preparing products");
    let plan = Plan::new(a, &machine)?;
    drop(busy);
    let problem = Problem { name, taken_as: None, size, plan: &plan, machine: &machine, ranks: None };
    let (solved, [left, right]) = match answer(args, &problem, count, console) {
        Ok(found) => found,
        Err(error) => return failed(error, console),
    };
    let write = || {
        let Some([u, s, vt]) = args.files() else { return Ok(()) };
        write_npy(left.view(), &u)?;
        write_values(&solved, &s)?;
        let transposed = Dense::from_rows(right.cols(), right.rows(), right.view().to_columns())?;
        Ok(write_npy(transposed.view(), &vt)?)
    };
    conclude(&args.solver, &solved, write, console)
}

/// Singular values with all that is told of them, and vectors of both sides.
pub(crate) fn answer<S: Scalar>(
    args: &SvdArgs,
    problem: &Problem<'_, S>,
    count: usize,
    console: &Console,
) -> Result<(Solved, [Dense<S>; 2]), SolveError> {
    let tolerance = args.solver.tolerance::<S>();
    let question = Question {
        method: match args.method {
            Method::Lanczos => "lanczos",
            Method::Randomized => "randomized",
        },
        asked: match count {
            1 => "the largest singular value".into(),
            count => format!("the {count} largest singular values"),
        },
        seed: args.solver.seed,
        tolerance,
        tolerance_of: "σ",
        ..problem.question("svd")
    };
    let watch = Watch::begin(console, count);
    let found = solve(args, problem.plan, count, Tolerance::Relative(tolerance), &watch);
    drop(watch);
    let SingularTriplets { left, values, right, residuals, history, .. } = found?;
    let sizes = Sizes::Values { rounding: rounding::<S>(values.first().copied().unwrap_or(0.0)) };
    let solved = Solved {
        parts_are_known: args.solver.knows_parts(problem.machine),
        value_name: Some("singular value"),
        bound: Some("a singular value lies within ± its residual of each value"),
        has_goal: args.method == Method::Lanczos || args.solver.has_tolerance(),
        ..Solved::new(question, Some(values), &residuals, sizes, history, problem.machine)
    };
    Ok((solved, [left, right]))
}

/// σ, in one dimension.
pub(crate) fn write_values(solved: &Solved, path: &Path) -> anyhow::Result<()> {
    let values: Vec<f64> = solved.results.iter().filter_map(|row| row.value).collect();
    Ok(write_npy_vector(DenseView::new(&values, values.len(), 1, 1)?, path)?)
}

impl SvdArgs {
    /// Do options fit each other, and can files be written?
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        for (given, option) in [
            (self.power_iterations.is_some(), "--power-iterations"),
            (self.oversampling.is_some(), "--oversampling"),
        ] {
            anyhow::ensure!(
                !given || self.method == Method::Randomized,
                "{option}: only `--method randomized` takes it"
            );
        }
        let files = self.files();
        check_files(&self.solver, &[&self.matrix], files.as_ref().map_or(&[], |files| &files[..]))
    }

    /// How many singular values are wanted of a matrix of so many rows and columns.
    pub(crate) fn count_of(&self, [rows, cols, _]: [usize; 3], name: &str) -> anyhow::Result<usize> {
        let least = rows.min(cols);
        anyhow::ensure!(least > 0, "{name}: a {rows} × {cols} matrix has no singular values");
        Ok(self.count.map_or(COUNT.min(least), NonZeroUsize::get))
    }

    /// Where U, σ and Vᵀ are written.
    pub(crate) fn files(&self) -> Option<[PathBuf; 3]> {
        self.output.as_deref().map(files)
    }
}

/// `NAME-u.npy`, `NAME-s.npy`, `NAME-vt.npy`.
fn files(name: &Path) -> [PathBuf; 3] {
    let name =
        if name.extension().is_some_and(|it| it == "npy") { name.with_extension("") } else { name.into() };
    ["u", "s", "vt"].map(|part| {
        let mut file = name.clone().into_os_string();
        file.push(format!("-{part}.npy"));
        file.into()
    })
}

fn solve<S: Scalar>(
    args: &SvdArgs,
    plan: &dyn Operator<S>,
    count: usize,
    tolerance: Tolerance,
    watch: &Watch,
) -> Result<SingularTriplets<S>, SolveError> {
    let control = args.solver.control(tolerance, watch);
    match args.method {
        Method::Lanczos => svds(plan, Svds { count, control, ..Svds::default() }),
        Method::Randomized => {
            let default = RandomizedSvd::default();
            let oversampling = args.oversampling.unwrap_or(default.oversampling);
            let power_iterations = args.power_iterations;
            randomized_svd(plan, RandomizedSvd { count, oversampling, power_iterations, control })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_files_are_named_after_one() {
        let names = |name: &str| files(name.as_ref()).map(|file| file.to_string_lossy().into_owned());
        assert_eq!(names("a/x"), ["a/x-u.npy", "a/x-s.npy", "a/x-vt.npy"]);
        assert_eq!(names("x.npy"), names("x"));
        assert_eq!(names("x.1")[0], "x.1-u.npy");
    }
}

//! Solvers: the matrix is ours, vectors are NumPy's or of a GPU. What SciPy calls things is said by `ordito.linalg`.

use crate::aside::{aside, back};
use crate::device::{self, Told};
use crate::errors::exception;
use crate::held::Precision;
use crate::matrix::Matrix;
use crate::multipliers::{Function, InPrecision, Multiplier, Raised};
use crate::vectors::{Given, Vectors, brought, put_out};
use numpy::{Element, PyArray1};
use ordito::solve::{
    Cg, Control, History, Lanczos, Lobpcg, Operator, PageRank, Preconditioner, RandomizedSvd,
    SingularTriplets, Source, Step, Svds, Tolerance, Which, cg, eigsh, lobpcg, pagerank, randomized_svd,
    svds,
};
use ordito::spmm::Plan;
use ordito::{Error, Scalar};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(solve_lobpcg, module)?)?;
    module.add_function(wrap_pyfunction!(solve_eigsh, module)?)?;
    module.add_function(wrap_pyfunction!(solve_svds, module)?)?;
    module.add_function(wrap_pyfunction!(solve_randomized_svd, module)?)?;
    module.add_function(wrap_pyfunction!(solve_cg, module)?)?;
    module.add_function(wrap_pyfunction!(solve_pagerank, module)?)?;
    Ok(())
}

/// What all solvers are told.
#[derive(FromPyObject)]
struct Asked {
    /// An absolute tolerance, or
    absolute: Option<f64>,
    /// a relative one.
    relative: Option<f64>,
    max_iterations: usize,
    seed: u64,
    /// Called with every iteration; a result that is true ends it.
    callback: Option<Py<PyAny>>,
    /// The stream of the caller's arrays.
    stream: usize,
}

impl Asked {
    fn tolerance(&self) -> Option<Tolerance> {
        self.absolute.map(Tolerance::Absolute).or(self.relative.map(Tolerance::Relative))
    }

    /// Looks for Ctrl-C, and tells the caller. What that raises ends the solver.
    fn told(&self, step: &Step, raised: &Raised) -> ControlFlow<()> {
        let flow = back(|py| -> PyResult<bool> {
            py.check_signals()?;
            let Some(callback) = &self.callback else { return Ok(false) };
            callback.call1(py, (step.iteration, step.values.clone(), step.residuals.clone()))?.is_truthy(py)
        });
        match flow {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => ControlFlow::Break(()),
            Err(error) => {
                raised.put(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Runs a solver on a plan of the matrix, aside of the interpreter and in the order of the caller's stream.
    fn run<S: InPrecision, R: Send>(
        &self,
        (matrix, transposed): (&Bound<'_, Matrix>, bool),
        solve: impl Send + FnOnce(&Plan<S>, Control<'_>, &Raised) -> Result<R, Error>,
    ) -> PyResult<R> {
        let py = matrix.py();
        let held = S::held(matrix.get()).ok_or_else(|| PyTypeError::new_err("another precision"))?;
        let raised = Raised::default();
        let solved = aside(py, || {
            let plan = held.shared_plan();
            let plan: &Plan<S> = if transposed { plan.transposed()? } else { &plan };
            let control = Control {
                tolerance: self.tolerance(),
                max_iterations: self.max_iterations,
                seed: self.seed,
                progress: Some(Box::new(|step: &Step| self.told(step, &raised))),
                keep_on_device: true,
                ..Control::default()
            };
            device::in_order_of(self.stream, plan, |plan| solve(plan, control, &raised))
        });
        match raised.take() {
            Some(error) => Err(error),
            None => solved.map_err(exception),
        }
    }
}

fn told_history<'py>(
    py: Python<'py>,
    values: Vec<f64>,
    residuals: Vec<f64>,
    history: History,
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("values", PyArray1::from_vec(py, values))?;
    found.set_item("residuals", PyArray1::from_vec(py, residuals))?;
    found.set_item("stopped", history.stopped.to_string())?;
    found.set_item("converged", history.converged())?;
    found.set_item("iterations", history.iterations())?;
    found.set_item("products", history.products)?;
    let steps: Vec<(f64, Vec<f64>, Vec<f64>)> =
        history.steps.into_iter().map(|step| (step.seconds, step.values, step.residuals)).collect();
    found.set_item("steps", steps)?;
    let times = PyDict::new(py);
    let parts = history.times;
    for (name, part) in [
        ("product", parts.product),
        ("precondition", parts.precondition),
        ("gram", parts.gram),
        ("combine", parts.combine),
        ("small", parts.small),
        ("total", parts.total),
    ] {
        times.set_item(name, part.as_secs_f64())?;
    }
    found.set_item("times", times)?;
    Ok(found)
}

/// In the precision of the matrix.
macro_rules! in_precision {
    ($matrix:expr, $scalar:ident => $work:expr) => {
        match &$matrix.get().held {
            Precision::F32(_) => {
                type $scalar = f32;
                $work
            }
            Precision::F64(_) => {
                type $scalar = f64;
                $work
            }
        }
    };
}

/// Solutions for the columns of `b`.
#[pyfunction]
#[pyo3(signature = (matrix, asked, b, start=None, m=None, out=None))]
fn solve_cg<'py>(
    matrix: &Bound<'py, Matrix>,
    asked: Asked,
    b: Given<'py>,
    start: Option<Given<'py>>,
    m: Option<Bound<'py, PyAny>>,
    out: Option<Told>,
) -> PyResult<Bound<'py, PyDict>> {
    let b = Some(b);
    in_precision!(matrix, S => {
        let [b, start] = [Vectors::<S>::of(&b)?, Vectors::<S>::of(&start)?];
        let m = m.as_ref().map(Multiplier::<S>::of).transpose()?;
        let found = asked.run((matrix, false), |plan: &Plan<S>, control, raised| {
            let function = match &m {
                Some(Multiplier::Function(call)) => Some(Function { rows: plan.matrix().rows(), call, raised }),
                _ => None,
            };
            let of_m = match &m {
                Some(Multiplier::Matrix(matrix)) => S::held(matrix.get()).map(|held| held.shared_plan()),
                _ => None,
            };
            let preconditioner = match (&m, &of_m, &function) {
                (Some(Multiplier::Diagonal(numbers)), ..) => Some(Preconditioner::Diagonal(numbers)),
                (_, Some(plan), _) => Some(Preconditioner::Operator(&***plan)),
                (.., Some(function)) => Some(Preconditioner::Operator(function)),
                _ => None,
            };
            // SAFETY: as in `solve_lobpcg`.
            let [b, start] = [b, start].map(|given| given.map(|given| unsafe { given.source() }).transpose());
            let Some(b) = b? else { return Err(ordito::RunError::NotLoaded.into()) };
            let found = cg(plan, b, Cg { start: start?, preconditioner, control })?;
            put_out(found.x_on_device.as_ref(), out)?;
            Ok(found)
        })?;
        let py = matrix.py();
        let vectors = brought(py, found.x, found.x_on_device, out)?;
        let told = told_history(py, Vec::new(), found.residuals, found.history)?;
        told.set_item("vectors", vectors)?;
        Ok(told)
    })
}

/// Ranks of nodes, a column for each seed.
#[pyfunction]
#[pyo3(signature = (matrix, transposed, asked, damping, seeds=None))]
fn solve_pagerank<'py>(
    matrix: &Bound<'py, Matrix>,
    transposed: bool,
    asked: Asked,
    damping: f64,
    seeds: Option<Given<'py>>,
) -> PyResult<Bound<'py, PyDict>> {
    in_precision!(matrix, S => {
        let seeds = Vectors::<S>::of(&seeds)?;
        let found = asked.run((matrix, transposed), |plan: &Plan<S>, control, _| {
            // SAFETY: as in `solve_lobpcg`.
            let seeds = match seeds.map(|given| unsafe { given.source() }).transpose()? {
                Some(Source::Host(seeds)) => Some(seeds),
                _ => None,
            };
            Ok(pagerank(plan, seeds, PageRank { damping, control })?)
        })?;
        let py = matrix.py();
        let vectors = brought(py, found.ranks, None, None)?;
        let told = told_history(py, Vec::new(), found.residuals, found.history)?;
        told.set_item("vectors", vectors)?;
        Ok(told)
    })
}

fn which(largest: bool) -> Which {
    if largest { Which::Largest } else { Which::Smallest }
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // of one call; Python names them
#[pyo3(signature = (matrix, asked, count, largest, start=None, b=None, m=None, y=None, out=None))]
fn solve_lobpcg<'py>(
    matrix: &Bound<'py, Matrix>,
    asked: Asked,
    count: usize,
    largest: bool,
    start: Option<Given<'py>>,
    b: Option<Bound<'py, PyAny>>,
    m: Option<Bound<'py, PyAny>>,
    y: Option<Given<'py>>,
    out: Option<Told>,
) -> PyResult<Bound<'py, PyDict>> {
    fn of<'py, S: InPrecision>(
        matrix: &Bound<'py, Matrix>,
        asked: &Asked,
        (count, largest): (usize, bool),
        [start, y]: [Option<Given<'py>>; 2],
        [b, m]: [Option<Bound<'py, PyAny>>; 2],
        out: Option<Told>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let [start, y] = [Vectors::<S>::of(&start)?, Vectors::<S>::of(&y)?];
        let [b, m] = [&b, &m].map(|given| given.as_ref().map(Multiplier::<S>::of).transpose());
        let (b, m) = (b?, m?);
        let found = asked.run((matrix, false), |plan: &Plan<S>, control, raised| {
            let rows = plan.matrix().rows();
            let functions = [&b, &m].map(|multiplier| match multiplier {
                Some(Multiplier::Function(call)) => Some(Function { rows, call, raised }),
                _ => None,
            });
            let plans = [&b, &m].map(|multiplier| match multiplier {
                Some(Multiplier::Matrix(matrix)) => S::held(matrix.get()).map(|held| held.shared_plan()),
                _ => None,
            });
            let operators: [Option<&dyn Operator<S>>; 2] = std::array::from_fn(|i| {
                let plan = plans[i].as_deref().map(|plan| plan as &dyn Operator<S>);
                plan.or(functions[i].as_ref().map(|function| function as &dyn Operator<S>))
            });
            let preconditioner = match (&m, operators[1]) {
                (Some(Multiplier::Diagonal(numbers)), _) => Some(Preconditioner::Diagonal(numbers)),
                (_, Some(operator)) => Some(Preconditioner::Operator(operator)),
                _ => None,
            };
            // SAFETY: arrays that the caller of this function holds; that nobody writes them meanwhile is what Python documents.
            let [start, constraints] =
                [start, y].map(|given| given.map(|given| unsafe { given.source() }).transpose());
            let options = Lobpcg {
                count,
                which: which(largest),
                start: start?,
                b: operators[0],
                preconditioner,
                constraints: constraints?,
                control,
            };
            let found = lobpcg(plan, options)?;
            put_out(found.vectors_on_device.as_ref(), out)?;
            Ok(found)
        })?;
        let py = matrix.py();
        let vectors = brought(py, found.vectors, found.vectors_on_device, out)?;
        let told = told_history(py, found.values, found.residuals, found.history)?;
        told.set_item("vectors", vectors)?;
        Ok(told)
    }
    in_precision!(matrix, S => of::<S>(matrix, &asked, (count, largest), [start, y], [b, m], out))
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // of one call; Python names them
#[pyo3(signature = (matrix, asked, count, which_end, start=None, block=None, subspace=None, out=None))]
fn solve_eigsh<'py>(
    matrix: &Bound<'py, Matrix>,
    asked: Asked,
    count: usize,
    which_end: &str,
    start: Option<Given<'py>>,
    block: Option<usize>,
    subspace: Option<usize>,
    out: Option<Told>,
) -> PyResult<Bound<'py, PyDict>> {
    let which = match which_end {
        "LA" => Which::Largest,
        "SA" => Which::Smallest,
        "LM" => Which::LargestMagnitude,
        other => return Err(PyValueError::new_err(format!("which={other:?}: 'LM', 'LA' or 'SA' expected"))),
    };
    fn of<'py, S: InPrecision>(
        matrix: &Bound<'py, Matrix>,
        asked: &Asked,
        (count, which): (usize, Which),
        start: Option<Given<'py>>,
        (block, subspace): (Option<usize>, Option<usize>),
        out: Option<Told>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let start = Vectors::<S>::of(&start)?;
        let found = asked.run((matrix, false), |plan: &Plan<S>, control, _| {
            // SAFETY: as in `solve_lobpcg`.
            let start = start.map(|given| unsafe { given.source() }).transpose()?;
            let found = eigsh(plan, Lanczos { count, which, start, block, subspace, control })?;
            put_out(found.vectors_on_device.as_ref(), out)?;
            Ok(found)
        })?;
        let py = matrix.py();
        let vectors = brought(py, found.vectors, found.vectors_on_device, out)?;
        let told = told_history(py, found.values, found.residuals, found.history)?;
        told.set_item("vectors", vectors)?;
        Ok(told)
    }
    in_precision!(matrix, S => of::<S>(matrix, &asked, (count, which), start, (block, subspace), out))
}

fn put_both_out<S: Scalar>(
    found: SingularTriplets<S>,
    out: Option<(Told, Told)>,
) -> Result<SingularTriplets<S>, Error> {
    let (left, right) = found.on_device.as_ref().map(|(left, right)| (left, right)).unzip();
    let (left_out, right_out) = out.unzip();
    put_out(left, left_out)?;
    put_out(right, right_out)?;
    Ok(found)
}

fn told_triplets<'py, S: Scalar + Element>(
    py: Python<'py>,
    found: SingularTriplets<S>,
    out: Option<(Told, Told)>,
) -> PyResult<Bound<'py, PyDict>> {
    let (left_kept, right_kept) = found.on_device.unzip();
    let (left_out, right_out) = out.unzip();
    let left = brought(py, found.left, left_kept, left_out)?;
    let right = brought(py, found.right, right_kept, right_out)?;
    let told = told_history(py, found.values, found.residuals, found.history)?;
    told.set_item("left", left)?;
    told.set_item("right", right)?;
    Ok(told)
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // of one call; Python names them
#[pyo3(signature = (matrix, transposed, asked, count, start=None, block=None, subspace=None, out=None))]
fn solve_svds<'py>(
    matrix: &Bound<'py, Matrix>,
    transposed: bool,
    asked: Asked,
    count: usize,
    start: Option<Given<'py>>,
    block: Option<usize>,
    subspace: Option<usize>,
    out: Option<(Told, Told)>,
) -> PyResult<Bound<'py, PyDict>> {
    in_precision!(matrix, S => {
        let start = Vectors::<S>::of(&start)?;
        let found = asked.run((matrix, transposed), |plan: &Plan<S>, control, _| {
            // SAFETY: as in `solve_lobpcg`.
            let start = start.map(|given| unsafe { given.source() }).transpose()?;
            put_both_out(svds(plan, Svds { count, start, block, subspace, control })?, out)
        })?;
        told_triplets(matrix.py(), found, out)
    })
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // of one call; Python names them
#[pyo3(signature = (matrix, transposed, asked, count, oversampling, power_iterations=None, out=None))]
fn solve_randomized_svd<'py>(
    matrix: &Bound<'py, Matrix>,
    transposed: bool,
    asked: Asked,
    count: usize,
    oversampling: usize,
    power_iterations: Option<usize>,
    out: Option<(Told, Told)>,
) -> PyResult<Bound<'py, PyDict>> {
    in_precision!(matrix, S => {
        let found = asked.run((matrix, transposed), |plan: &Plan<S>, control, _| {
            put_both_out(randomized_svd(plan, RandomizedSvd { count, oversampling, power_iterations, control })?, out)
        })?;
        told_triplets(matrix.py(), found, out)
    })
}

//! What a solver found, and what is known of how: one object for table, page and JSON.

use crate::interrupt;
use ordito::machine::Machine;
use ordito::matrix::Dense;
use ordito::solve::{History, Step, Stopped, Times};
use ordito::{Scalar, units};
use ordito_bench::report::{Fingerprint, SCHEMA};
use serde::Serialize;

/// What was asked of a solver.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Question {
    pub(crate) op: &'static str,
    pub(crate) method: &'static str,
    /// In words: "10 largest eigenvalues".
    pub(crate) asked: String,
    pub(crate) matrix: String,
    /// What was made of the matrix first: "(A + Aᵀ)/2".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) taken_as: Option<String>,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) nnz: usize,
    pub(crate) dtype: &'static str,
    #[serde(rename = "where")]
    pub(crate) place: &'static str,
    pub(crate) threads: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ranks: Option<OnRanks>,
    pub(crate) seed: u64,
    /// Relative to `tolerance_of`.
    pub(crate) tolerance: f64,
    /// What residuals are held against, as people write it.
    pub(crate) tolerance_of: &'static str,
}

/// Processes that a matrix is shared by.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct OnRanks {
    pub(crate) count: usize,
    /// That they run on.
    pub(crate) computers: usize,
    /// The group as people call it: "4 ranks of MPICH 4.3".
    pub(crate) by: String,
    /// Nonzeros of the rank that has most, over what it would have if all had as many.
    pub(crate) imbalance: f64,
    /// Of every vector that is multiplied, what travels between them.
    pub(crate) bytes_per_product: u64,
    /// And what they read where others of the same computer show it.
    pub(crate) bytes_read_in_place: u64,
}

/// What residuals are held against.
#[derive(Debug, Clone)]
pub(crate) enum Sizes {
    /// The values that were found. Of values near 0 what rounding leaves of a product is enough, as solvers have it.
    Values {
        /// That much.
        rounding: f64,
    },
    /// One for each column.
    Given(Vec<f64>),
}

/// One of what was asked for.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    /// An eigenvalue, a singular value; a right-hand side has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<f64>,
    pub(crate) residual: f64,
    pub(crate) relative_residual: f64,
    pub(crate) converged: bool,
}

/// Where the time went.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TimesNs {
    pub(crate) product: f64,
    pub(crate) precondition: f64,
    pub(crate) inner_products: f64,
    pub(crate) combinations: f64,
    pub(crate) small_problems: f64,
    pub(crate) total: f64,
}

/// What rounding leaves of a product with a matrix of that norm: the library asks for no more.
pub(crate) fn rounding<S: Scalar>(norm: f64) -> f64 {
    64.0 * S::EPSILON * norm
}

impl TimesNs {
    fn of(times: &Times) -> Self {
        let ns = |time: std::time::Duration| time.as_nanos() as f64;
        TimesNs {
            product: ns(times.product),
            precondition: ns(times.precondition),
            inner_products: ns(times.gram),
            combinations: ns(times.combine),
            small_problems: ns(times.small),
            total: ns(times.total),
        }
    }

    /// Name and time of every part that took any, and of what is left.
    pub(crate) fn parts(&self) -> Vec<(&'static str, f64)> {
        let known = [
            ("products", self.product),
            ("preconditioner", self.precondition),
            ("inner products", self.inner_products),
            ("combinations", self.combinations),
            ("small problems", self.small_problems),
        ];
        let rest = self.total - known.iter().map(|(_, ns)| ns).sum::<f64>();
        known.into_iter().chain([("the rest", rest.max(0.0))]).filter(|(_, ns)| *ns > 0.0).collect()
    }
}

/// A node of a ranking; seed, place and node are counted from 1.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TopNode {
    /// The node that the ranking is seen from, else the number of the ranking.
    pub(crate) seed: usize,
    pub(crate) place: usize,
    pub(crate) node: usize,
    pub(crate) rank: f64,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Solved {
    pub(crate) schema: u32,
    #[serde(flatten)]
    pub(crate) question: Question,
    pub(crate) stopped: Stopped,
    pub(crate) interrupted: bool,
    pub(crate) results: Vec<Row>,
    /// Of rankings, the first nodes of each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) top: Vec<TopNode>,
    pub(crate) iterations: usize,
    /// Vectors that the matrix was applied to.
    pub(crate) products: usize,
    pub(crate) times_ns: TimesNs,
    /// Are the parts of the time those of the work? On a device they are only where they were waited for.
    pub(crate) parts_are_known: bool,
    pub(crate) history: Vec<Step>,
    pub(crate) fingerprint: Fingerprint,
    /// What a value is called, where there are values.
    #[serde(skip)]
    pub(crate) value_name: Option<&'static str>,
    /// What else is to be said of the table: a bound.
    #[serde(skip)]
    pub(crate) bound: Option<&'static str>,
    /// Does the tolerance decide anything? Not where a fixed number of products was asked for.
    #[serde(skip)]
    pub(crate) has_goal: bool,
    #[serde(skip)]
    pub(crate) sizes: Sizes,
}

impl Solved {
    /// What residuals say is found here, from them alone.
    pub(crate) fn new(
        question: Question,
        values: Option<Vec<f64>>,
        residuals: &[f64],
        sizes: Sizes,
        history: History,
        machine: &Machine,
    ) -> Self {
        let row = |(column, &residual): (usize, &f64)| {
            let value = values.as_ref().map(|values| values[column]);
            let size = size_of_column(&sizes, values.as_deref(), column);
            let rounding = if let Sizes::Values { rounding } = sizes { rounding } else { 0.0 };
            let converged = residual <= (question.tolerance * size).max(rounding);
            Row { value, residual, relative_residual: ratio(residual, size), converged }
        };
        let results = residuals.iter().enumerate().map(row).collect();
        let command: Vec<String> =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        Solved {
            schema: SCHEMA,
            stopped: history.stopped,
            interrupted: interrupt::interrupted(),
            results,
            top: Vec::new(),
            iterations: history.iterations(),
            products: history.products,
            times_ns: TimesNs::of(&history.times),
            parts_are_known: true,
            history: history.steps,
            fingerprint: Fingerprint::new(machine.cpu(), command),
            value_name: None,
            bound: None,
            has_goal: true,
            question,
            sizes,
        }
    }

    /// Is this what was asked for?
    pub(crate) fn is_good(&self) -> bool {
        self.stopped == Stopped::Converged || !self.has_goal && self.stopped != Stopped::Cancelled
    }

    /// How it ended, in a sentence.
    pub(crate) fn outcome(&self) -> String {
        let Question { tolerance, tolerance_of, .. } = self.question;
        let mut limit = format!("{}·{tolerance_of}", units::error(tolerance));
        if self.results.iter().any(|row| row.converged && row.relative_residual > tolerance) {
            limit += ", or what rounding leaves";
        }
        let count = self.results.len();
        let within = self.results.iter().filter(|row| row.converged).count();
        let all = match (within, count) {
            (1, 1) => format!("the residual is within {limit}"),
            (2, 2) => format!("both residuals are within {limit}"),
            (within, count) if within == count => format!("all {count} residuals are within {limit}"),
            (0, _) => format!("no residual is within {limit}"),
            (within, count) => format!("{within} of {count} residuals are within {limit}"),
        };
        match self.stopped {
            Stopped::Converged => format!("converged: {all}"),
            Stopped::Limit if !self.has_goal => format!("done, after a fixed number of products: {all}"),
            Stopped::Cancelled => format!("interrupted, not converged: {all}"),
            Stopped::Limit => {
                format!("not converged within the limit of iterations: {all} (--max-iterations)")
            }
            Stopped::Stagnated => format!("stagnated, residuals no longer became smaller: {all} (--tol)"),
            other => format!("{other}: {all}"),
        }
    }

    /// Residuals over what they are held against, iteration by iteration: a curve for each of the columns.
    pub(crate) fn curves(&self) -> Vec<Vec<(f64, f64)>> {
        let curve = |column: usize| {
            let point = |step: &Step| {
                let residual = *step.residuals.get(column)?;
                let size = size_of_column(&self.sizes, Some(&step.values), column);
                Some((step.iteration as f64, ratio(residual, size)))
            };
            self.history.iter().filter_map(point).collect()
        };
        (0..self.results.len()).map(curve).collect()
    }
}

fn size_of_column(sizes: &Sizes, values: Option<&[f64]>, column: usize) -> f64 {
    match sizes {
        Sizes::Values { .. } => values.and_then(|values| values.get(column)).map_or(1.0, |value| value.abs()),
        Sizes::Given(sizes) => sizes.get(column).copied().unwrap_or(1.0),
    }
}

/// The sum of squares of every column.
pub(crate) fn column_squares<S: Scalar>(of: &Dense<S>) -> Vec<f64> {
    let mut squares = vec![0.0; of.cols()];
    for row in 0..of.rows() {
        for (square, value) in squares.iter_mut().zip(of.view().row(row)) {
            *square += value.to_f64().powi(2);
        }
    }
    squares
}

/// 0 of nothing is 0.
fn ratio(residual: f64, size: f64) -> f64 {
    if residual == 0.0 { 0.0 } else { residual / size }
}

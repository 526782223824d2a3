//! A low-rank approximation from random vectors and a few products (Halko, Martinsson and Tropp).

use crate::Scalar;
use crate::solve::blocks::Columns;
use crate::solve::control::Control;
use crate::solve::error::SolveError;
use crate::solve::history::{History, Step, Stopped};
use crate::solve::operator::Operator;
use crate::solve::scaled::at_any_scale;
use crate::solve::shared::Rows;
use crate::solve::singular::{Pairs, SingularTriplets};
use crate::solve::small::{Small, columns, norms, symmetric_eigen};
use crate::solve::together::telling;
use crate::solve::transposed::Transposed;
use crate::solve::workspace::Workspace;

/// What to look for, and how.
pub struct RandomizedSvd<'a> {
    /// How many singular triplets, the largest ones.
    pub count: usize,
    /// Random vectors beyond that.
    pub oversampling: usize,
    /// How often the block is multiplied with AᵀA: more where singular values fall slowly. If nothing is said 7, or 4 for more than a tenth of
    /// all.
    pub power_iterations: Option<usize>,
    /// Its tolerance only decides what is called converged: the number of products is fixed.
    pub control: Control<'a>,
}

impl Default for RandomizedSvd<'_> {
    fn default() -> Self {
        RandomizedSvd { count: 6, oversampling: 10, power_iterations: None, control: Control::default() }
    }
}

/// Nearly the largest singular triplets, after a fixed number of products: enough to reduce dimensions; residuals say how near they are.
///
/// ```
/// use ordito::solve::{RandomizedSvd, randomized_svd};
/// use ordito::spmm::Plan;
/// let plan = Plan::new(ordito::io::read_csr::<f64>("uniform:300x5")?, &ordito::Machine::all_cores()?)?;
/// let found = randomized_svd(&plan, RandomizedSvd { count: 5, ..Default::default() })?;
/// assert_eq!((found.left.shape(), found.values.len(), found.right.shape()), ((300, 5), 5, (300, 5)));
/// # Ok::<(), ordito::Error>(())
/// ```
pub fn randomized_svd<'a, S: Scalar>(
    a: &'a dyn Operator<S>,
    options: RandomizedSvd<'a>,
) -> Result<SingularTriplets<S>, SolveError> {
    let RandomizedSvd { count, oversampling, power_iterations, control } = options;
    let solve = |a: &dyn Operator<S>, control: Control<'_>| {
        solve(a, RandomizedSvd { count, oversampling, power_iterations, control })
    };
    telling(a, at_any_scale(a, control, solve))
}

fn solve<S: Scalar>(
    a: &dyn Operator<S>,
    options: RandomizedSvd<'_>,
) -> Result<SingularTriplets<S>, SolveError> {
    let (rows, cols) = (Rows::of(a), Rows::of_cols(a));
    let least = rows.total.min(cols.total);
    let RandomizedSvd { count, oversampling, power_iterations, mut control } = options;
    if count == 0 || count > least {
        let sentence =
            format!("{count} singular values of a {rows}×{cols} matrix: between 1 and {least} can be found");
        return Err(SolveError::Asked(sentence));
    }
    if !control.tolerance_of::<S>().is_valid() {
        return Err(SolveError::Asked("the tolerance must be a number of 0 or more".into()));
    }
    let width = count.saturating_add(oversampling).min(least);
    let iterations = power_iterations.unwrap_or(if count < least / 10 { 7 } else { 4 });
    let tolerance = control.tolerance_of::<S>();
    let mut work = Workspace::of(a, control.time_parts)?;
    let (right, left) = (work.add("V", cols, width)?, work.add("U", rows, width)?);
    work.randomize(right.all(), cols, control.seed)?;
    let mut steps = Vec::new();
    let mut stopped = None;
    for iteration in 0..iterations {
        work.apply(a, right.all(), left.all())?;
        work.flatten(left.all())?;
        work.apply_transposed(a, left.all(), right.all())?;
        // The columns of U were orthonormal, or nearly: these are about σ².
        let mut values = work.flatten(right.all())?;
        values.truncate(count);
        let seconds = work.elapsed().as_secs_f64();
        let step = Step { iteration, seconds, values, residuals: Vec::new(), converged: 0 };
        let cancelled = work.tell(&mut control, &step);
        steps.push(step);
        if cancelled {
            stopped = Some(Stopped::Cancelled);
            break;
        }
    }
    work.apply(a, right.all(), left.all())?;
    work.orthonormal_basis(left.all(), rows, control.seed.wrapping_add(1))?;
    let turned = Transposed(a);
    let of_turned = work.triplets_of(&turned, left, control.seed.wrapping_add(2))?;
    let residuals = work.residuals_of(&turned, &of_turned, count)?;
    let pairs = Pairs { left: of_turned.right, right: of_turned.left, values: of_turned.values };
    let values = pairs.values[..count].to_vec();
    let converged = residuals
        .iter()
        .zip(&values)
        .filter(|(residual, value)| **residual <= tolerance.of::<S>(**value, values[0]))
        .count();
    let stopped = stopped.unwrap_or(if converged == count { Stopped::Converged } else { Stopped::Limit });
    let seconds = work.elapsed().as_secs_f64();
    steps.push(Step {
        iteration: steps.len(),
        seconds,
        values: values.clone(),
        residuals: residuals.clone(),
        converged,
    });
    let history = History { steps, products: work.products, times: work.times()?, stopped };
    work.triplets((rows, cols), &pairs, count, control.keep_on_device, (residuals, history))
}

impl<S: Scalar> Workspace<S> {
    /// Makes columns nearly orthonormal in one pass, so that powers do not fall together into one direction; the square roots of the Gram
    /// matrix' eigenvalues, falling.
    fn flatten(&mut self, x: Columns) -> Result<Vec<f64>, SolveError> {
        let gram = self.gram(&[x], &[x])?;
        if !gram.is_finite() {
            return Err(SolveError::NotFinite("A·V"));
        }
        let sizes = norms(&gram);
        let (c, values) = self.small(|| {
            let inverse: Vec<f64> =
                sizes.iter().map(|size| if *size > 0.0 { 1.0 / size } else { 0.0 }).collect();
            let scaled = Small::from_fn(x.count, x.count, |i, j| gram[(i, j)] * inverse[i] * inverse[j]);
            let eigen = symmetric_eigen(&scaled, "A·V")?;
            let order: Vec<usize> = (0..x.count).rev().collect();
            let vectors = columns(&eigen.vectors, &order);
            let largest = eigen.values.last().copied().unwrap_or(0.0);
            let c = Small::from_fn(x.count, x.count, |row, col| {
                let value = eigen.values[order[col]].max(1e-14 * largest);
                if value > 0.0 { inverse[row] * vectors[(row, col)] / value.sqrt() } else { 0.0 }
            });
            let of_gram = symmetric_eigen(&gram, "A·V")?;
            let values: Vec<f64> = of_gram.values.iter().rev().map(|value| value.max(0.0).sqrt()).collect();
            Ok::<_, SolveError>((c, values))
        })?;
        self.combine(&[x], &c, &[x])?;
        Ok(values)
    }
}

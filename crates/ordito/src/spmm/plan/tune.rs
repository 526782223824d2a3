//! The fastest variant for one matrix on one machine, found by trying all that could be chosen.

use crate::Scalar;
use crate::machine::{Accelerator, Machine};
use crate::matrix::Csr;
use crate::matrix::random_dense;
use crate::op::{Description, Op, Place, RunError, Variant};
use crate::precision::compiled_here;
use crate::refusal::Refusal;
use crate::spmm::plan::Plan;
use crate::spmm::plan::making::build;
use crate::spmm::plan::remembered::{Winner, remember};
use crate::spmm::plan::stopwatch::{BATCH, batch, runs_of_batch};
use crate::spmm::product::{Inputs, Product, Spmm, Subject};
use crate::spmm::select::choose;
use std::sync::Arc;

/// Batches of which the median is taken.
const BATCHES: usize = 5;
/// Who takes so many times as long as the best so far in the first run, after one to warm up, is not measured further.
const HOPELESS: f64 = 3.0;
/// The seed of the X that is multiplied: which numbers they are makes no difference.
const SEED: u64 = 1;

fn measured<S: Scalar>(a: Arc<Csr<S>>, k: usize, machine: &Arc<Machine>) -> Result<Plan<S>, Refusal> {
    Plan::measured(a, k, machine)
}

impl<S: Scalar> Plan<S> {
    /// Measures every variant that could be chosen for this matrix with `k` columns on this machine (no rung of the CPU's ladder), takes
    /// the fastest, and remembers it in the cache folder (`$ORDITO_CACHE_DIR`): [`Plan::new`] then takes it for matrices of the same
    /// pattern, the same K and precision on the same device. Takes as long as preparing all of them, and some milliseconds each. Other
    /// numbers of columns are served as [`Plan::new`] would.
    ///
    /// ```
    /// use ordito::spmm::Plan;
    /// use ordito::{Csr, Duplicates, Machine};
    /// let a = ordito::io::load::<f64>("stencil5:21", &Default::default())?.coo;
    /// let plan = Plan::tuned(Csr::from_coo(&a, Duplicates::Sum), 8, &Machine::all_cores()?)?;
    /// assert!(plan.prepare(8)?.choice.reason.starts_with("tuned: the fastest of "));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tuned(a: impl Into<Arc<Csr<S>>>, k: usize, machine: &Arc<Machine>) -> Result<Self, Refusal> {
        type Make<S> = fn(Arc<Csr<S>>, usize, &Arc<Machine>) -> Result<Plan<S>, Refusal>;
        compiled_here!(S, measured, Make)(a.into(), k, machine)
    }

    fn measured(a: Arc<Csr<S>>, k: usize, machine: &Arc<Machine>) -> Result<Self, Refusal> {
        let subject = Subject { a, triplets: None, k };
        let unmeasured = choose(machine, &subject);
        let would_be = Spmm::<S>::variant(unmeasured.variant).map(|variant| variant.describe());
        let x = random_dense(subject.a.cols(), k, SEED)
            .map_err(|error| Refusal::Unsupported(error.to_string()))?;
        let inputs = Inputs::product(Arc::new(x));
        let mut best: Option<(&str, f64)> = None;
        let (mut measured, mut instead_of_ns) = (0, None);
        for variant in candidates::<S>(machine) {
            let limit = best.map(|(_, ns)| ns);
            let one_at_a_time = machine.holding(machine.held_bytes());
            let ns = match variant
                .prepare(&one_at_a_time, &subject)
                .map_err(RunError::from)
                .and_then(|mut ready| time(&mut *ready, &inputs, limit))
            {
                Ok(ns) => ns,
                Err(RunError::Refused(_)) => continue, // too large, or not for such operands: no candidate
                Err(error) => return Err(Refusal::Device(error.to_string())),
            };
            measured += 1;
            if Some(variant.describe()) == would_be {
                instead_of_ns = Some(ns);
            }
            if best.is_none_or(|(_, least)| ns < least) {
                best = Some((variant.name(), ns));
            }
        }
        let choice = best.and_then(|best| {
            let winner = Winner::new(best, measured, (unmeasured.variant, instead_of_ns));
            remember(machine, &subject, &winner);
            winner.choice::<S>()
        });
        let ready = build(machine, &subject, choice.unwrap_or(unmeasured), &[])?;
        let plan = Plan::new(subject.a, machine)?;
        plan.kept.replace(ready);
        Ok(plan)
    }
}

/// Everything that runs where `auto` would.
fn candidates<S: Scalar>(machine: &Machine) -> impl Iterator<Item = &'static dyn Variant<Spmm<S>>> {
    let on_device = machine.accelerator() != Accelerator::None;
    let variants = Spmm::<S>::variants().iter().copied();
    variants.filter(move |variant| {
        let Description { place, can_be_chosen, .. } = *variant.describe();
        (place == Place::Cuda) == on_device && can_be_chosen && variant.available(machine).is_ok()
    })
}

/// Nanoseconds of a product; of a single one where that is hopeless against `best`.
fn time<S: Scalar>(
    ready: &mut dyn Product<S>,
    inputs: &Inputs<S>,
    best: Option<f64>,
) -> Result<f64, RunError> {
    ready.load(inputs)?;
    batch(ready, 1)?; // brings operands into the caches, and code onto the device
    let once = batch(ready, 1)?;
    if best.is_some_and(|best| once > HOPELESS * best && once > BATCH.as_nanos() as f64 / 10.0) {
        return Ok(once);
    }
    let runs = runs_of_batch(once);
    let mut times = (0..BATCHES).map(|_| batch(ready, runs)).collect::<Result<Vec<f64>, _>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[BATCHES / 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Dense, Duplicates};

    #[test]
    fn the_winner_multiplies() {
        let diagonal: Vec<u32> = (0..50).collect();
        let coo = Coo::new(50, 50, diagonal.clone(), diagonal, vec![2.0; 50]).unwrap();
        let machine = Machine::with_threads(1).unwrap();
        let plan = Plan::tuned(Csr::from_coo(&coo, Duplicates::Keep), 3, &machine).unwrap();
        let reason = plan.prepare(3).unwrap().choice.reason;
        assert!(reason.starts_with("tuned: the fastest of "), "{reason}");
        let (x, mut y) = (random_dense(50, 3, 1).unwrap(), Dense::filled(50, 3, 0.0).unwrap());
        plan.apply(0.5, x.view(), 0.0, y.view_mut()).unwrap();
        assert_eq!(y, x);
    }

    #[test]
    fn candidates_run_where_auto_would() {
        let machine = Machine::with_threads(1).unwrap();
        assert!(candidates::<f64>(&machine).all(|variant| variant.describe().place != Place::Cuda));
        assert!(candidates::<f64>(&machine).any(|variant| variant.name() == "csr-threads-nnz"));
    }
}

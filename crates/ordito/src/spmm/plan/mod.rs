//! The library call for many products with one matrix.
//!
//! What a plan adds to the kernels, a file each: `making` (a kernel for a number of columns), `kept` (products for all of them, A in few
//! forms), `apply` (either order, transposed, from the left), `update` (new numbers), `break_even` (timed beside plain CSR), `overlapped` (blocks of rows, copies and kernels at the same time), `replay` (recorded as a graph), `tune` and
//! `remembered` (the measured winner in the cache folder, which `auto` asks first).

mod apply;
pub(crate) mod break_even;
mod kept;
mod making;
pub(crate) mod overlapped;
#[cfg(feature = "files")]
pub(crate) mod remembered;
pub(crate) mod replay;
pub(crate) mod stopwatch;
#[cfg(feature = "files")]
pub(crate) mod tune;
mod update;
mod view_plan;

pub use break_even::BreakEven;
pub use replay::{Replay, Step};
pub use update::UpdateError;
pub use view_plan::ViewPlan;

use crate::Scalar;
use crate::device::{Device, DeviceView, DeviceViewMut, LaunchReport};
use crate::machine::Machine;
use crate::matrix::Csr;
use crate::op::{Choice, Description, Op, Phases, Place, RunError, check_shape};
use crate::precision::compiled_here;
use crate::refusal::Refusal;
use crate::spmm::plan::kept::{Kept, Ready, unpoisoned};
pub(crate) use crate::spmm::plan::making::or_remembered;
use crate::spmm::plan::making::{There, build, chosen, plain_variant};
use crate::spmm::plan::overlapped::Overlapped;
use crate::spmm::product::{Spmm, Subject};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// A matrix made ready for products with blocks of vectors, of any number of columns. Owns what it needs, can live in a struct of
/// yours, and be used by many threads at once.
///
/// The first product with K columns chooses a kernel for K and prepares what it needs; [`prepare`](Self::prepare) does that early
/// and tells what it took. Numbers of columns share what is prepared where their kernels read A alike; on a device every number of
/// columns has an A of its own, up to eight. On the CPU at most two other forms of A are kept beside it
/// ([`bytes`](Self::bytes)). One more takes the place of the one that was not used for longest.
///
/// A product has the same bits on any number of threads, and whatever else the plan was used for.
///
/// ```
/// use ordito::spmm::Plan;
/// use ordito::{Coo, Csr, Dense, Duplicates, Machine};
///
/// let a = Coo::new(2, 2, vec![0, 1], vec![1, 0], vec![2.0, 3.0])?;
/// let a = Csr::from_coo(&a, Duplicates::Sum);
/// let mut plan = Plan::new(a, &Machine::all_cores()?)?;
///
/// let x = Dense::from_rows(2, 2, vec![1.0, 10.0, 2.0, 20.0])?;
/// let mut y = Dense::filled(2, 2, 0.0)?;
/// plan.apply(1.0, x.view(), 0.0, y.view_mut())?; // Y = 1·A·X + 0·Y
/// assert_eq!(y.data(), &[4.0, 40.0, 3.0, 30.0]);
///
/// plan.update_values(vec![1.0, 1.0])?; // same pattern, new numbers
/// plan.apply(1.0, x.view(), 1.0, y.view_mut())?; // added to what is there
/// assert_eq!(y.data(), &[6.0, 60.0, 4.0, 40.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Plan<S: Scalar> {
    machine: Arc<Machine>,
    a: Arc<Csr<S>>,
    /// The variant that was asked for by name.
    asked_for: Option<&'static Description>,
    device: Option<Device>,
    kept: Kept<S>,
    /// Of the last product on a device.
    phases: Mutex<Phases>,
    /// Made when it is first asked for.
    transposed: OnceLock<Box<Plan<S>>>,
}

/// What a plan has made ready for a number of columns.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Preparation {
    /// Columns of X and Y.
    pub columns: usize,
    /// Which variant was taken, and why.
    pub choice: Choice,
    /// How long preparing took, without the compilation of kernels and without choosing; next to nothing where A was there in
    /// the form that is wanted. See [`Plan::measure_break_even`] for whether it has paid.
    pub time: Duration,
    /// Bytes on the host that hold A in that form at most, beside A itself; 0 where A is used as it is.
    pub bytes: u64,
}

impl<S: Scalar> Plan<S> {
    /// Kernels that `auto` chooses for this matrix and machine, or that were [tuned](Plan::tuned) for them: on the CPU,
    /// or, where the machine has an accelerator ([`Machine::with_accelerator`]), on that. Should one refuse (too large, say), the
    /// one that converts nothing, or on a device stores the least, is taken; should it find, being prepared, that it does not pay,
    /// the next best.
    ///
    /// Nothing is prepared yet: that takes a number of columns.
    pub fn new(a: impl Into<Arc<Csr<S>>>, machine: &Arc<Machine>) -> Result<Self, Refusal> {
        machine.check_accelerator()?;
        Plan::of(a.into(), None, machine)
    }

    /// The variant of that name, for every number of columns.
    pub fn with_variant(
        name: &str,
        a: impl Into<Arc<Csr<S>>>,
        machine: &Arc<Machine>,
    ) -> Result<Self, Refusal> {
        let variant =
            Spmm::<S>::variant(name).ok_or_else(|| Refusal::UnknownVariant { name: name.to_string() })?;
        Plan::of(a.into(), Some(variant.describe()), machine)
    }

    fn of(
        a: Arc<Csr<S>>,
        asked_for: Option<&'static Description>,
        machine: &Arc<Machine>,
    ) -> Result<Self, Refusal> {
        let on_device = match asked_for {
            Some(description) => description.place == Place::Cuda,
            None => plain_variant(machine).place == Place::Cuda,
        };
        let device = if on_device { Some(machine.device()?) } else { None };
        let (kept, phases, transposed) = (Kept::default(), Mutex::default(), OnceLock::new());
        Ok(Plan { machine: machine.clone(), a, asked_for, device, kept, phases, transposed })
    }

    fn subject(&self, k: usize) -> Subject<S> {
        Subject { a: self.a.clone(), triplets: None, k }
    }

    /// The product for so many columns: what is there, or what is made now.
    fn ready(&self, k: usize) -> Result<Arc<Ready<S>>, Refusal> {
        type Make<S> = fn(&Plan<S>, usize, There<'_, S>) -> Result<Ready<S>, Refusal>;
        self.kept.get_or_make(k, |there| compiled_here!(S, make, Make)(self, k, there))
    }

    /// Makes ready for products with `k` columns, and tells what that took: the first product then does not wait for it. An
    /// error where what was asked for by name refuses.
    ///
    /// ```
    /// use ordito::spmm::Plan;
    /// use ordito::{Csr, Duplicates, Machine};
    /// let a = ordito::io::load::<f64>("stencil5:60", &Default::default())?.coo;
    /// let plan = Plan::new(Csr::from_coo(&a, Duplicates::Sum), &Machine::all_cores()?)?;
    /// let preparation = plan.prepare(4)?;
    /// println!("{}: {}", preparation.choice.variant, preparation.choice.reason);
    /// assert_eq!(plan.bytes(), preparation.bytes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn prepare(&self, k: usize) -> Result<Preparation, Refusal> {
        let ready = self.ready(k)?;
        Ok(Preparation {
            columns: k,
            choice: ready.choice.clone(),
            time: Duration::from_nanos(ready.prepare_ns as u64),
            bytes: ready.form.bytes,
        })
    }

    /// The matrix.
    pub fn matrix(&self) -> &Csr<S> {
        &self.a
    }

    /// The matrix, given back.
    pub fn into_matrix(self) -> Arc<Csr<S>> {
        self.a
    }

    /// Bytes on the host that hold A in other forms at most, beside A itself; the transposed matrix and its forms among them.
    pub fn bytes(&self) -> u64 {
        let of_transposed = |plan: &Plan<S>| {
            let a = Csr::<S>::bytes_for(plan.a.rows(), plan.a.nnz()).unwrap_or(u64::MAX);
            a.saturating_add(plan.bytes())
        };
        self.kept.bytes() + self.transposed.get().map_or(0, |plan| of_transposed(plan))
    }

    /// Gets ready to overlap copies and kernels of [`apply`](Self::apply) with `k` columns where X and Y lie in pinned memory
    /// ([`Machine::pinned_dense`]) without gaps, and β is 0. Takes as long as preparing, and A's memory on the device
    /// once more. `false` where it would not pay: on the CPU, and where Y has less than 2 MiB.
    ///
    /// Such products are computed in blocks of rows: their last bits may differ from those of other calls, and are the same
    /// in all that overlap.
    ///
    /// ```
    /// use ordito::spmm::Plan;
    /// use ordito::{Csr, Duplicates, Machine};
    ///
    /// let machine = Machine::all_cores()?; // with_accelerator(Accelerator::Cuda(0)), for it to make a difference
    /// let a = Csr::from_coo(&ordito::io::load::<f64>("stencil5:20", &Default::default())?.coo, Duplicates::Sum);
    /// let mut x = machine.pinned_dense(a.cols(), 8)?;
    /// let mut y = machine.pinned_dense(a.rows(), 8)?;
    /// x.data_mut().fill(1.0);
    /// let plan = Plan::new(a, &machine)?;
    /// plan.overlap_copies(8)?;
    /// plan.apply(1.0, x.view(), 0.0, y.view_mut())?;
    /// # assert!(y.data().iter().all(|y: &f64| y.is_finite()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn overlap_copies(&self, k: usize) -> Result<bool, Refusal> {
        let ready = self.ready(k)?;
        if self.device.is_none() || unpoisoned(&ready.overlapped).is_some() {
            return Ok(self.device.is_some());
        }
        let name = ready.choice.variant.to_string();
        let variant = Spmm::<S>::variant(ready.choice.variant).ok_or(Refusal::UnknownVariant { name })?;
        // Made before the lock is taken: making it waits for threads, which may wait for the lock.
        let made = Overlapped::new(&self.machine, variant, &self.subject(k))?;
        let mut overlapped = unpoisoned(&ready.overlapped);
        if overlapped.is_none() {
            *overlapped = made;
        }
        Ok(overlapped.is_some())
    }

    /// Y = αAX + βY on operands that lie on the plan's device: only enqueues, copies nothing, waits for nothing.
    ///
    /// It happens after all that was done before to the buffers of X and Y, and before all that is done to them later, in
    /// whichever streams ([`Device::with_new_stream`]); with buffers of the plan's own stream that costs nothing. Memory of
    /// others ([`DeviceView::from_raw`]) is ordered by the plan's stream alone, and must begin at a multiple of 16 bytes.
    /// See [`DeviceDense`](crate::device::DeviceDense) for an example. An error where the plan runs on the CPU.
    pub fn apply_on_device(
        &self,
        alpha: S,
        x: DeviceView<'_, S>,
        beta: S,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        if self.device.is_none() {
            return Err(Refusal::NoDevice.into());
        }
        self.check_shapes((x.rows(), x.cols()), (y.rows(), y.cols()))?;
        let ready = self.ready(x.cols())?;
        let mut product = ready.on_device().ok_or(Refusal::NoDevice)?;
        product.apply_on_device(alpha, x, beta, y)
    }

    /// Do X and Y fit A, and each other?
    fn check_shapes(&self, x: (usize, usize), y: (usize, usize)) -> Result<(), RunError> {
        check_shape("X", x, (self.a.cols(), x.1))?;
        check_shape("Y", y, (self.a.rows(), x.1))
    }

    /// Which variant serves each number of columns that there was a product with, and why; fewest columns first.
    pub fn choices(&self) -> Vec<(usize, Choice)> {
        self.kept.choices()
    }

    /// The machine that it was made for.
    pub fn machine(&self) -> &Arc<Machine> {
        &self.machine
    }

    /// The device it runs on, with its stream; `None` on the CPU.
    pub fn device(&self) -> Option<&Device> {
        self.device.as_ref()
    }

    /// How long the parts of the last [`apply`](Self::apply) took on a device; nothing on the CPU.
    pub fn phases(&self) -> Phases {
        *unpoisoned(&self.phases)
    }

    /// What a product with `k` columns launches on a device; nothing on the CPU.
    #[doc(hidden)]
    pub fn launches(&self, k: usize) -> Result<Vec<LaunchReport>, Refusal> {
        Ok(self.ready(k)?.on_device().map_or_else(Vec::new, |product| product.launches()))
    }
}

fn make<S: Scalar>(plan: &Plan<S>, k: usize, there: There<'_, S>) -> Result<Ready<S>, Refusal> {
    let (machine, subject) = (&plan.machine, plan.subject(k));
    if let Some(before) = plan.kept.choice(k) {
        return build(machine, &subject, before, there);
    }
    match plan.asked_for {
        Some(asked_for) => build(machine, &subject, Choice::new(asked_for, "asked for by name"), there),
        None => chosen(machine, &subject, there),
    }
}

#[cfg(test)]
mod tests;

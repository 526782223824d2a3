//! The library call for many products with one matrix.
//!
//! What a plan adds to the kernels, a file each: `break_even` (timed beside plain CSR), `overlapped` (blocks of rows, copies and kernels at
//! the same time), `replay` (recorded as a graph), `tune` and `remembered` (the measured winner in the cache folder, which `auto`
//! asks first).

pub(crate) mod break_even;
pub(crate) mod overlapped;
#[cfg(feature = "files")]
pub(crate) mod remembered;
pub(crate) mod replay;
pub(crate) mod stopwatch;
#[cfg(feature = "files")]
pub(crate) mod tune;

pub use break_even::BreakEven;
pub use replay::{Replay, Step};

use crate::Scalar;
use crate::device::{Device, DeviceView, DeviceViewMut, LaunchReport};
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::machine::Accelerator;
use crate::machine::Machine;
use crate::matrix::{Csr, DenseView, DenseViewMut, FormatError};
use crate::op::{Choice, Description, Op, Phases, RunError};
use crate::precision::compiled_here;
use crate::refusal::Refusal;
use crate::spmm::cpu::csr_threads_nnz;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::spmm::cuda::fast::csr_cuda_rows;
use crate::spmm::plan::break_even::timed;
use crate::spmm::plan::overlapped::Overlapped;
#[cfg(feature = "files")]
pub(crate) use crate::spmm::plan::remembered::or_remembered;
use crate::spmm::product::{Product, Spmm, Subject, check_shapes};
use crate::spmm::select::choose;
use crate::spmm::select::on_cpu::with_rows_as_they_stand;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A matrix made ready for products with blocks of `k` vectors. Owns what it needs and can live in a struct of
/// yours.
///
/// ```
/// use ordito::spmm::Plan;
/// use ordito::{Coo, Csr, Dense, Duplicates, Machine};
///
/// let a = Coo::new(2, 2, vec![0, 1], vec![1, 0], vec![2.0, 3.0])?;
/// let a = Csr::from_coo(&a, Duplicates::Sum);
/// let mut plan = Plan::new(a, 2, &Machine::all_cores()?)?;
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
    pub(crate) machine: Arc<Machine>,
    pub(crate) subject: Subject<S>,
    choice: Choice,
    /// How long preparing took, without the compilation of kernels.
    pub(crate) prepare_ns: f64,
    pub(crate) product: Box<dyn Product<S>>,
    /// The product in blocks of rows, where that was asked for and pays.
    overlapped: Option<Overlapped<S>>,
    /// How long the last overlapped product took; `None` where the last one was none.
    overlapped_ns: Option<f64>,
}

/// Without files nothing is remembered.
#[cfg(not(feature = "files"))]
pub(crate) fn or_remembered<S: Scalar>(
    _: &Machine,
    _: &Subject<S>,
    choose: impl FnOnce() -> Choice,
) -> Choice {
    choose()
}

/// What multiplies CSR as it comes: on a device with a list of its rows.
pub(crate) fn plain_variant(machine: &Machine) -> &'static Description {
    match machine.accelerator() {
        #[cfg(any(feature = "cuda", feature = "emulator"))]
        Accelerator::Cuda(_) | Accelerator::Emulator => &csr_cuda_rows::ROWS_8.description,
        _ => &csr_threads_nnz::DESCRIPTION,
    }
}

/// Is the variant of that name what multiplies CSR as it comes, where this machine computes?
pub(crate) fn is_plain<S: Scalar>(machine: &Machine, name: &str) -> bool {
    let place = plain_variant(machine).place;
    let described = Spmm::<S>::variant(name).map(|variant| variant.describe());
    described.is_some_and(|description| description.is_plain && description.place == place)
}

fn chosen<S: Scalar>(a: Arc<Csr<S>>, k: usize, machine: &Arc<Machine>) -> Result<Plan<S>, Refusal> {
    Plan::chosen(a, k, machine)
}

fn build<S: Scalar>(subject: Subject<S>, choice: Choice, machine: &Arc<Machine>) -> Result<Plan<S>, Refusal> {
    let name = choice.variant.to_string();
    let variant = Spmm::<S>::variant(choice.variant).ok_or(Refusal::UnknownVariant { name })?;
    let (product, prepare_ns) = timed(|| variant.prepare(machine, &subject));
    let (product, machine) = (product?, machine.clone());
    Ok(Plan { machine, subject, choice, prepare_ns, product, overlapped: None, overlapped_ns: None })
}

/// Why the values of a plan could not be replaced. The plan is as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// Not as many values as the pattern has entries.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The variant refuses the new numbers.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl<S: Scalar> Plan<S> {
    /// The variant that `auto` chooses for this matrix and machine, or that was [tuned](Plan::tuned) for them: on the CPU,
    /// or, where the machine has an accelerator ([`Machine::with_accelerator`]), on that. Should it refuse (too large, say), the
    /// one that converts nothing, or on a device stores the least, is taken; should it find, being prepared, that it does not pay,
    /// the next best.
    pub fn new(a: impl Into<Arc<Csr<S>>>, k: usize, machine: &Arc<Machine>) -> Result<Self, Refusal> {
        type Make<S> = fn(Arc<Csr<S>>, usize, &Arc<Machine>) -> Result<Plan<S>, Refusal>;
        compiled_here!(S, chosen, Make)(a.into(), k, machine)
    }

    fn chosen(a: Arc<Csr<S>>, k: usize, machine: &Arc<Machine>) -> Result<Self, Refusal> {
        machine.check_accelerator()?;
        let subject = Subject { a, triplets: None, k };
        let mut measured = true;
        let choice = or_remembered(machine, &subject, || {
            measured = false;
            choose(machine, &subject)
        });
        let name = choice.variant;
        match Plan::build(subject.clone(), choice, machine) {
            Ok(plan) if !measured => plan.unless_it_does_not_pay(),
            Err(refusal) if !is_plain::<S>(machine, name) => {
                let reason = format!("{name} refuses: {refusal}");
                let plain = Choice::new(plain_variant(machine), reason);
                // If this refuses too, the first refusal says more.
                Plan::build(subject, plain, machine).map_err(|_| refusal)
            }
            plan => plan,
        }
    }

    /// The next best plan, where preparing this one has shown that it would be as good.
    fn unless_it_does_not_pay(self) -> Result<Self, Refusal> {
        let Some(why) = self.product.does_not_pay() else { return Ok(self) };
        let Choice { variant, reason } = with_rows_as_they_stand(&self.machine, &self.subject);
        let reason = format!("{reason} ({} would not pay: {why})", self.choice.variant);
        let Plan { machine, subject, product, prepare_ns, .. } = self;
        drop(product); // before another copy of A is made
        let plain = Choice::new(plain_variant(&machine), reason.as_str());
        let next = Plan::build(subject.clone(), Choice { variant, reason }, &machine)
            .or_else(|_| Plan::build(subject, plain, &machine))?;
        // What was prepared in vain was spent, too.
        Ok(Plan { prepare_ns: next.prepare_ns + prepare_ns, ..next })
    }

    /// The variant of that name.
    pub fn with_variant(
        name: &str,
        a: impl Into<Arc<Csr<S>>>,
        k: usize,
        machine: &Arc<Machine>,
    ) -> Result<Self, Refusal> {
        let variant =
            Spmm::<S>::variant(name).ok_or_else(|| Refusal::UnknownVariant { name: name.to_string() })?;
        let choice = Choice::new(variant.describe(), "asked for by name");
        Plan::build(Subject { a: a.into(), triplets: None, k }, choice, machine)
    }

    pub(crate) fn build(
        subject: Subject<S>,
        choice: Choice,
        machine: &Arc<Machine>,
    ) -> Result<Self, Refusal> {
        type Build<S> = fn(Subject<S>, Choice, &Arc<Machine>) -> Result<Plan<S>, Refusal>;
        compiled_here!(S, build, Build)(subject, choice, machine)
    }

    /// Which variant was taken, and why.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// How long preparing took, without the compilation of kernels and without choosing. See
    /// [`measure_break_even`](Self::measure_break_even) for whether it has paid.
    pub fn prepare_time(&self) -> Duration {
        Duration::from_nanos(self.prepare_ns as u64)
    }

    /// Gets ready to overlap copies and kernels of [`apply`](Self::apply) where X and Y lie in pinned memory
    /// ([`Machine::pinned_dense`]) without gaps, and β is 0. Takes as long as making the plan, and A's memory on the device
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
    /// let mut plan = Plan::new(a, 8, &machine)?;
    /// plan.overlap_copies()?;
    /// plan.apply(1.0, x.view(), 0.0, y.view_mut())?;
    /// # assert!(y.data().iter().all(|y: &f64| y.is_finite()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn overlap_copies(&mut self) -> Result<bool, Refusal> {
        if self.overlapped.is_none() && self.device().is_some() {
            let name = self.choice.variant.to_string();
            let variant = Spmm::<S>::variant(self.choice.variant).ok_or(Refusal::UnknownVariant { name })?;
            self.overlapped = Overlapped::new(&self.machine, variant, &self.subject)?;
        }
        Ok(self.overlapped.is_some())
    }

    /// Y = αAX + βY. With α = 0 neither A nor X is read, with β = 0 not Y; gaps between rows are never touched.
    pub fn apply(
        &mut self,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.overlapped_ns = None;
        let overlapped = self.overlapped.as_mut().filter(|ready| ready.takes(&x, beta, &y.as_view()));
        let Some(overlapped) = overlapped else { return self.product.apply(alpha, x, beta, y) };
        check_shapes(
            (self.subject.a.rows(), self.subject.a.cols()),
            self.subject.k,
            &x,
            (y.rows(), y.cols()),
        )?;
        let start = Instant::now();
        overlapped.apply(alpha, x, y)?;
        self.overlapped_ns = Some(start.elapsed().as_nanos() as f64);
        Ok(())
    }

    /// Y = αAX + βY on operands that lie on the plan's device: only enqueues, copies nothing, waits for nothing.
    ///
    /// It happens after all that was done before to the buffers of X and Y, and before all that is done to them later, in
    /// whichever streams ([`Device::with_new_stream`]); with buffers of the plan's own stream that costs nothing. Memory of
    /// others ([`DeviceView::from_raw`]) is ordered by the plan's stream alone, and must begin at a multiple of 16 bytes.
    /// See [`DeviceDense`](crate::device::DeviceDense) for an example. An error where the plan runs on the CPU.
    pub fn apply_on_device(
        &mut self,
        alpha: S,
        x: DeviceView<'_, S>,
        beta: S,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.product.apply_on_device(alpha, x, beta, y)
    }

    /// The device it runs on, with its stream; `None` on the CPU.
    pub fn device(&self) -> Option<&Device> {
        self.product.device()
    }

    /// How long the parts of the last [`apply`](Self::apply) took on a device; nothing on the CPU.
    pub fn phases(&self) -> Phases {
        match self.overlapped_ns {
            Some(_) => Phases { overlapped_ns: self.overlapped_ns, ..Phases::default() },
            None => self.product.phases(),
        }
    }

    /// What a product launches on a device; nothing on the CPU.
    #[doc(hidden)]
    pub fn launches(&self) -> Vec<LaunchReport> {
        self.product.launches()
    }

    /// New numbers for the pattern that it has, in the order of the CSR arrays.
    pub fn update_values(&mut self, values: Vec<S>) -> Result<(), UpdateError> {
        let a = Arc::new(self.subject.a.with_values(values)?);
        let subject = Subject { a, ..self.subject.clone() };
        let mut updated = Plan::build(subject, self.choice.clone(), &self.machine)?;
        if self.overlapped.is_some() {
            updated.overlap_copies()?;
        }
        *self = updated;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Dense, Duplicates};
    use crate::op::{Place, Storage};

    fn identity(n: usize) -> Csr<f64> {
        let diagonal: Vec<u32> = (0..n as u32).collect();
        let coo = Coo::new(n, n, diagonal.clone(), diagonal, vec![1.0; n]).unwrap();
        Csr::from_coo(&coo, Duplicates::Keep)
    }

    #[test]
    fn one_variant_of_each_side_is_plain() {
        let plain = Spmm::<f64>::variants().iter().map(|variant| variant.describe()).filter(|d| d.is_plain);
        let on_cpu = Machine::with_threads(1).unwrap();
        let on_device = on_cpu.with_accelerator(Accelerator::Emulator);
        let here = [plain_variant(&on_cpu), plain_variant(&on_device)];
        assert_eq!(plain.collect::<Vec<_>>(), here);
        assert!(here.iter().all(|plain| plain.storage == Storage::AsGiven && plain.can_be_chosen));
        assert!(is_plain::<f64>(&on_cpu, here[0].name) && !is_plain::<f64>(&on_device, here[0].name));
    }

    #[test]
    fn wrong_shapes_are_errors_that_name_them() {
        let mut plan = Plan::new(identity(3), 2, &Machine::all_cores().unwrap()).unwrap();
        let x = Dense::filled(2, 2, 1.0).unwrap();
        let mut y = Dense::filled(3, 2, 0.0).unwrap();
        let error = plan.apply(1.0, x.view(), 0.0, y.view_mut()).unwrap_err();
        assert_eq!(error.to_string(), "X is 2×2, 3×2 expected");
        assert!(plan.update_values(vec![1.0]).is_err());
        let unknown = Plan::with_variant("csr-magic", identity(3), 2, &Machine::all_cores().unwrap());
        assert!(unknown.err().unwrap().to_string().contains("no variant `csr-magic`"));
    }

    #[test]
    fn plans_can_move_between_threads_and_live_on() {
        fn movable<T: Send + 'static>() {}
        movable::<Plan<f32>>();
    }

    #[test]
    fn the_choice_is_data_with_a_reason() {
        let machine = Machine::with_threads(2).unwrap();
        let subject = Subject { a: Arc::new(identity(5)), triplets: None, k: 1 };
        let choice = choose(&machine, &subject);
        assert!(Spmm::<f64>::variant(choice.variant).is_some());
        assert!(choice.reason.contains("too few"));
        let choice = choose(&machine.with_accelerator(Accelerator::Emulator), &subject);
        let variant = Spmm::<f64>::variant(choice.variant).unwrap().describe();
        assert!(variant.place == Place::Cuda && variant.can_be_chosen, "{choice:?}");
        assert!(choice.reason.contains("1 columns: about "), "{}", choice.reason);
    }
}

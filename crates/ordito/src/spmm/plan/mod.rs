//! The library call for many products with one matrix.
//!
//! What a plan adds to the kernels, a file each: `kept` (products for every number of columns, A in few forms), `break_even` (timed
//! beside plain CSR), `overlapped` (blocks of rows, copies and kernels at the same time), `replay` (recorded as a graph), `tune` and
//! `remembered` (the measured winner in the cache folder, which `auto` asks first).

pub(crate) mod break_even;
mod kept;
pub(crate) mod overlapped;
#[cfg(feature = "files")]
pub(crate) mod remembered;
pub(crate) mod replay;
pub(crate) mod stopwatch;
#[cfg(feature = "files")]
pub(crate) mod tune;
mod view_plan;

pub use break_even::BreakEven;
pub use replay::{Replay, Step};
pub use view_plan::ViewPlan;

use crate::Scalar;
use crate::device::{Device, DeviceView, DeviceViewMut, LaunchReport};
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::machine::Accelerator;
use crate::machine::Machine;
use crate::matrix::{BlockView, BlockViewMut, Csr, DenseView, DenseViewMut, FormatError};
use crate::op::{Choice, Description, Op, Phases, Place, RunError, check_shape};
use crate::precision::compiled_here;
use crate::refusal::Refusal;
use crate::spmm::cpu::csr_threads_nnz;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::spmm::cuda::fast::csr_cuda_rows;
use crate::spmm::plan::break_even::timed;
use crate::spmm::plan::kept::{Kept, Ready, unpoisoned};
use crate::spmm::plan::overlapped::Overlapped;
#[cfg(feature = "files")]
pub(crate) use crate::spmm::plan::remembered::or_remembered;
use crate::spmm::product::{Shared, Spmm, Subject};
use crate::spmm::select::choose;
use crate::spmm::select::on_cpu::with_rows_as_they_stand;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// A matrix made ready for products with blocks of vectors, of any number of columns. Owns what it needs, can live in a struct of
/// yours, and be used by many threads at once.
///
/// The first product with K columns chooses a kernel for K and prepares what it needs; [`prepare`](Self::prepare) does that early
/// and tells what it took. Numbers of columns share what is prepared where their kernels read A alike; on a device every number of
/// columns has an A of its own. Beside A at most two other forms of it are kept ([`bytes`](Self::bytes)): a third takes the place of the
/// one that was not used for longest.
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

/// Products that are there already, whose forms of A others may read.
type There<'a, S> = &'a [Arc<Ready<S>>];

/// The variant that `auto` chooses, or that was tuned. Should it refuse, the plain one is taken; should it find, being prepared,
/// that it does not pay, the next best.
fn chosen<S: Scalar>(
    machine: &Arc<Machine>,
    subject: &Subject<S>,
    there: There<'_, S>,
) -> Result<Ready<S>, Refusal> {
    let mut measured = true;
    let choice = or_remembered(machine, subject, || {
        measured = false;
        choose(machine, subject)
    });
    let name = choice.variant;
    match build(machine, subject, choice, there) {
        Ok(ready) if !measured => unless_it_does_not_pay(machine, subject, ready, there),
        Err(refusal) if !is_plain::<S>(machine, name) => {
            let reason = format!("{name} refuses: {refusal}");
            let plain = Choice::new(plain_variant(machine), reason);
            // If this refuses too, the first refusal says more.
            build(machine, subject, plain, there).map_err(|_| refusal)
        }
        ready => ready,
    }
}

/// The next best product, where preparing this one has shown that it would be as good.
fn unless_it_does_not_pay<S: Scalar>(
    machine: &Arc<Machine>,
    subject: &Subject<S>,
    ready: Ready<S>,
    there: There<'_, S>,
) -> Result<Ready<S>, Refusal> {
    let Some(why) = ready.does_not_pay() else { return Ok(ready) };
    let Choice { variant, reason } = with_rows_as_they_stand(machine, subject);
    let reason = format!("{reason} ({} would not pay: {why})", ready.choice.variant);
    let prepare_ns = ready.prepare_ns;
    drop(ready); // before another copy of A is made
    let plain = Choice::new(plain_variant(machine), reason.as_str());
    let mut next = build(machine, subject, Choice { variant, reason }, there)
        .or_else(|_| build(machine, subject, plain, there))?;
    next.prepare_ns += prepare_ns; // what was prepared in vain was spent, too
    Ok(next)
}

/// This variant, with A in a form that is there if it is one that it reads.
fn build<S: Scalar>(
    machine: &Arc<Machine>,
    subject: &Subject<S>,
    choice: Choice,
    there: There<'_, S>,
) -> Result<Ready<S>, Refusal> {
    let alike = there.iter().filter(|ready| ready.choice.variant == choice.variant);
    let (shared, ns) = timed(|| alike.filter_map(|ready| with_form_of(ready, subject)).next());
    if let Some((product, form)) = shared {
        return Ok(Ready::of(subject.k, choice, ns, product, form));
    }
    let name = choice.variant.to_string();
    let variant = Spmm::<S>::variant(choice.variant).ok_or(Refusal::UnknownVariant { name })?;
    let (product, prepare_ns) = timed(|| variant.prepare(machine, subject));
    Ok(Ready::new(subject.k, choice, prepare_ns, product?))
}

/// Another number of columns of the same A in the same form.
fn with_form_of<S: Scalar>(ready: &Ready<S>, subject: &Subject<S>) -> Option<(Shared<S>, Arc<kept::Form>)> {
    match &ready.product {
        Shared::OnHost(product) => Some((Shared::OnHost(product.for_columns(subject)?), ready.form.clone())),
        Shared::OnDevice(_) => None,
    }
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

    /// Y = αAX + βY, with as many columns as X has. With α = 0 neither A nor X is read, with β = 0 not Y; gaps between rows are
    /// never touched.
    ///
    /// X and Y may lie row after row ([`DenseView`]) or column after column ([`ColumnsView`](crate::ColumnsView)), each as it likes:
    /// the result has the same bits. Columns are packed around the kernel in small panels. X is copied as a whole where rows of A read
    /// from all over it, and X and Y both on a device and where the kernel takes rows in another order. That memory is kept for the
    /// next product.
    ///
    /// Many threads may call it at once: one of them has the threads of the machine, each of the others computes alone. On a
    /// device they wait for each other.
    pub fn apply<'x, 'y>(
        &self,
        alpha: S,
        x: impl Into<BlockView<'x, S>>,
        beta: S,
        y: impl Into<BlockViewMut<'y, S>>,
    ) -> Result<(), RunError> {
        self.multiply(alpha, x.into(), beta, y.into())
    }

    fn multiply(
        &self,
        alpha: S,
        x: BlockView<'_, S>,
        beta: S,
        y: BlockViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.check_shapes(x.shape(), y.shape())?;
        let ready = self.ready(x.shape().1)?;
        match &ready.product {
            Shared::OnHost(product) => {
                product.multiply_blocks(&self.machine, self.a.view(), (alpha, beta), x, y)
            }
            Shared::OnDevice(_) => by_rows(x, y, |x, y| self.multiply_on_device(&ready, alpha, x, beta, y)),
        }
    }

    /// From memory of the host and back.
    fn multiply_on_device(
        &self,
        ready: &Ready<S>,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        let mut overlapped = unpoisoned(&ready.overlapped);
        let phases = match overlapped.as_mut().filter(|ready| ready.takes(&x, beta, &y.as_view())) {
            Some(overlapped) => {
                let start = Instant::now();
                overlapped.apply(alpha, x, y)?;
                Phases { overlapped_ns: Some(start.elapsed().as_nanos() as f64), ..Phases::default() }
            }
            None => {
                drop(overlapped);
                let mut product = ready.on_device().ok_or(Refusal::NoDevice)?;
                product.apply(alpha, x, beta, y)?;
                product.phases()
            }
        };
        *unpoisoned(&self.phases) = phases;
        Ok(())
    }

    /// The plan of Aᵀ, for Aᵀ·X: made when it is first asked for, with a transposed copy of A, and kept. It has the same bits on any
    /// number of threads, as every product; [`bytes`](Self::bytes) counts it, and [`update_values`](Self::update_values) forgets it.
    ///
    /// ```
    /// use ordito::spmm::Plan;
    /// use ordito::{Coo, Csr, Dense, Duplicates, Machine};
    /// let a = Coo::new(2, 3, vec![0, 1], vec![2, 0], vec![2.0, 3.0])?;
    /// let plan = Plan::new(Csr::from_coo(&a, Duplicates::Sum), &Machine::all_cores()?)?;
    /// let (x, mut y) = (Dense::from_rows(2, 1, vec![1.0, 10.0])?, Dense::zeros(3, 1)?);
    /// plan.transposed()?.apply(1.0, x.view(), 0.0, y.view_mut())?;
    /// assert_eq!(y.data(), &[30.0, 0.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn transposed(&self) -> Result<&Plan<S>, Refusal> {
        if let Some(plan) = self.transposed.get() {
            return Ok(plan);
        }
        let a = self.machine.pool().install(|| self.a.try_transpose())?;
        let plan = Plan::of(Arc::new(a), self.asked_for, &self.machine)?;
        // Where several threads ask at once, the first one's is kept.
        Ok(self.transposed.get_or_init(|| Box::new(plan)))
    }

    /// Y = αXA + βY: a block of row vectors, in either order, from the left. The [transposed](Self::transposed) plan computes
    /// Yᵀ = αAᵀXᵀ + βYᵀ, where rows of X and Y are columns, packed as [`apply`](Self::apply) says.
    ///
    /// ```
    /// use ordito::spmm::Plan;
    /// use ordito::{Coo, Csr, Dense, Duplicates, Machine};
    /// let a = Coo::new(2, 3, vec![0, 1], vec![2, 0], vec![2.0, 3.0])?;
    /// let plan = Plan::new(Csr::from_coo(&a, Duplicates::Sum), &Machine::all_cores()?)?;
    /// let (x, mut y) = (Dense::from_rows(1, 2, vec![1.0, 10.0])?, Dense::zeros(1, 3)?);
    /// plan.apply_from_left(1.0, x.view(), 0.0, y.view_mut())?;
    /// assert_eq!(y.data(), &[30.0, 0.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn apply_from_left<'x, 'y>(
        &self,
        alpha: S,
        x: impl Into<BlockView<'x, S>>,
        beta: S,
        y: impl Into<BlockViewMut<'y, S>>,
    ) -> Result<(), RunError> {
        let (x, y) = (x.into(), y.into());
        check_shape("X", x.shape(), (x.shape().0, self.a.rows()))?;
        check_shape("Y", y.shape(), (x.shape().0, self.a.cols()))?;
        self.transposed()?.multiply(alpha, x.transposed(), beta, y.transposed())
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

    /// New numbers for the pattern that it has, in the order of the CSR arrays. On the CPU that is one pass over them: what was
    /// chosen and how A lies stays. On a device what was prepared is prepared again. A matrix that the caller keeps another
    /// [`Arc`] of stays as it is there, and its pattern is copied.
    pub fn update_values(&mut self, values: Vec<S>) -> Result<(), UpdateError> {
        self.a.check_values(&values)?;
        if self.device.is_some() {
            return self.prepare_again(values);
        }
        self.transposed.take();
        // Of every form of A one product, which nobody else shares it with; those that read A as it is are made again in no time.
        let mut forms: Vec<Ready<S>> = Vec::new();
        for ready in self.kept.take().into_iter().rev().filter_map(Arc::into_inner) {
            if ready.form.bytes > 0 && !forms.iter().any(|other| Arc::ptr_eq(&other.form, &ready.form)) {
                forms.push(ready);
            }
        }
        match Arc::get_mut(&mut self.a) {
            Some(a) => a.set_values(values)?,
            None => self.a = Arc::new(self.a.with_values(values)?),
        }
        for mut ready in forms.into_iter().rev() {
            let is_up_to_date = match &mut ready.product {
                Shared::OnHost(product) => product.set_values(&self.a),
                Shared::OnDevice(_) => false,
            };
            if is_up_to_date {
                self.kept.replace(ready);
            }
        }
        Ok(())
    }

    /// On a device: everything as it was, with other numbers.
    fn prepare_again(&mut self, values: Vec<S>) -> Result<(), UpdateError> {
        let updated = Plan {
            machine: self.machine.clone(),
            a: Arc::new(self.a.with_values(values)?),
            asked_for: self.asked_for,
            device: self.device.clone(),
            kept: Kept::default(),
            phases: Mutex::default(),
            transposed: OnceLock::new(),
        };
        let before = self.kept.take();
        let again = before.iter().try_for_each(|ready| {
            let subject = updated.subject(ready.k);
            let made = build(&updated.machine, &subject, ready.choice.clone(), &[])?;
            updated.kept.replace(made);
            let overlaps = unpoisoned(&ready.overlapped).is_some();
            if overlaps { updated.overlap_copies(ready.k).map(drop) } else { Ok(()) }
        });
        match again {
            Ok(()) => *self = updated,
            Err(refusal) => {
                self.kept.restore(before);
                return Err(refusal.into());
            }
        }
        Ok(())
    }
}

/// Both row by row, in copies where they are not.
fn by_rows<S: Scalar>(
    x: BlockView<'_, S>,
    y: BlockViewMut<'_, S>,
    multiply: impl FnOnce(DenseView<'_, S>, DenseViewMut<'_, S>) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let x_copy;
    let x = match x.by_rows_if_one_column() {
        BlockView::Rows(x) => x,
        BlockView::Columns(x) => {
            x_copy = x.to_rows()?;
            x_copy.view()
        }
    };
    match y.by_rows_if_one_column() {
        BlockViewMut::Rows(y) => multiply(x, y),
        BlockViewMut::Columns(mut y) => {
            let mut copy = y.as_view().to_rows()?;
            multiply(x, copy.view_mut())?;
            y.set_rows(copy.view());
            Ok(())
        }
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

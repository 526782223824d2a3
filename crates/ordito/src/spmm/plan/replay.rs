//! Products that are recorded once and started as one, for those that take the GPU less time than starting them.

use crate::Scalar;
#[cfg(feature = "cuda")]
use crate::device::gpu::Graph;
use crate::device::{DeviceView, DeviceViewMut, KeptMatrix};
use crate::op::RunError;
use crate::refusal::Refusal;
use crate::spmm::plan::Plan;
use crate::spmm::plan::kept::Ready;
use crate::spmm::product::Product;
use std::sync::{Arc, MutexGuard};

/// One product Y = αAX + βY on a device, to be recorded. Keeps the memory of the buffers; the numbers in there may be
/// read and written between launches.
#[derive(Debug)]
pub struct Step<S> {
    alpha: S,
    x: KeptMatrix<S>,
    beta: S,
    y: KeptMatrix<S>,
}

impl<S: Scalar> Step<S> {
    /// Y = αAX + βY.
    pub fn new(alpha: S, x: DeviceView<'_, S>, beta: S, y: DeviceViewMut<'_, S>) -> Self {
        Step { alpha, x: KeptMatrix::new(x), beta, y: KeptMatrix::new(y.as_view()) }
    }
}

/// Recorded products. Borrows the plan, and holds what it has prepared for them, whatever it prepares later.
pub struct Replay<'plan, S: Scalar> {
    _plan: &'plan Plan<S>,
    steps: Vec<Step<S>>,
    /// Of every step.
    ready: Vec<Arc<Ready<S>>>,
    /// `None` in the emulator, which takes the steps one by one.
    #[cfg(feature = "cuda")]
    graph: Option<Graph>,
}

impl<S: Scalar> Plan<S> {
    /// Records products, one after the other, to be [launched](Replay::launch) as one as often as one likes. Their buffers
    /// must belong to the plan's stream: made by its [device](Plan::device).
    ///
    /// ```
    /// use ordito::device::DeviceDense;
    /// use ordito::spmm::{Plan, Step};
    /// use ordito::{Accelerator, Coo, Csr, Dense, Duplicates, Machine};
    ///
    /// let machine = Machine::all_cores()?.with_accelerator(Accelerator::Emulator); // or Accelerator::Cuda(0)
    /// # if machine.device().is_err() { return Ok(()); }
    /// let a = Coo::new(2, 2, vec![0, 1], vec![1, 0], vec![2.0, 3.0])?;
    /// let plan = Plan::new(Csr::from_coo(&a, Duplicates::Sum), &machine)?;
    /// let mut x = DeviceDense::new(&machine.device()?, "X", 2, 1)?;
    /// let mut y = DeviceDense::new(&machine.device()?, "Y", 2, 1)?;
    /// let there = Step::new(1.0, x.view(), 0.0, y.view_mut());
    /// let back = Step::new(1.0, y.view(), 0.0, x.view_mut());
    ///
    /// let mut twice = plan.record(vec![there, back])?; // X = A·(A·X)
    /// x.write(Dense::from_rows(2, 1, vec![1.0, 10.0])?.view())?;
    /// twice.launch()?;
    /// twice.launch()?;
    /// let mut found = Dense::filled(2, 1, 0.0)?;
    /// x.read(found.view_mut())?; // waits
    /// assert_eq!(found.data(), &[36.0, 360.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn record(&self, mut steps: Vec<Step<S>>) -> Result<Replay<'_, S>, RunError> {
        let device = self.device().cloned().ok_or(Refusal::NoDevice)?;
        let ready = |step: &mut Step<S>| self.ready(step.x.view().cols());
        let ready: Vec<Arc<Ready<S>>> = steps.iter_mut().map(ready).collect::<Result<_, Refusal>>()?;
        #[cfg(feature = "cuda")]
        if let Some(gpu) = device.gpu() {
            let graph = {
                // Before recording begins, which has the device to itself: whoever has a product may be waiting for the device.
                let mut products = Products::lock(&ready)?;
                // What is compiled for these operands is compiled now: a recording cannot load code.
                for (Step { alpha, x, y, .. }, ready) in steps.iter_mut().zip(&ready) {
                    products.of(ready)?.get_ready(*alpha, x.view(), y.view_mut().as_view())?;
                }
                gpu.capture(&mut || run_steps(&mut steps, &ready, &mut products))?
            };
            return Ok(Replay { _plan: self, steps, ready, graph: Some(graph) });
        }
        let _ = device; // the emulator records nothing
        Ok(Replay {
            _plan: self,
            steps,
            ready,
            #[cfg(feature = "cuda")]
            graph: None,
        })
    }
}

/// The products of some steps, each locked once.
struct Products<'a, S: Scalar>(Vec<Locked<'a, S>>);

type Locked<'a, S> = (&'a Arc<Ready<S>>, MutexGuard<'a, Box<dyn Product<S>>>);

impl<'a, S: Scalar> Products<'a, S> {
    fn lock(ready: &'a [Arc<Ready<S>>]) -> Result<Self, Refusal> {
        // In one order, whoever locks several.
        let mut distinct: Vec<&Arc<Ready<S>>> = ready.iter().collect();
        distinct.sort_by_key(|ready| Arc::as_ptr(ready));
        distinct.dedup_by_key(|ready| Arc::as_ptr(ready));
        let lock = |ready: &'a Arc<Ready<S>>| Ok((ready, ready.on_device().ok_or(Refusal::NoDevice)?));
        Ok(Products(distinct.into_iter().map(lock).collect::<Result<_, Refusal>>()?))
    }

    fn of(&mut self, ready: &Arc<Ready<S>>) -> Result<&mut Box<dyn Product<S>>, Refusal> {
        let found = self.0.iter_mut().find(|(other, _)| Arc::ptr_eq(other, ready));
        found.map(|(_, product)| &mut **product).ok_or(Refusal::NoDevice)
    }
}

fn run_steps<S: Scalar>(
    steps: &mut [Step<S>],
    ready: &[Arc<Ready<S>>],
    products: &mut Products<'_, S>,
) -> Result<(), RunError> {
    steps.iter_mut().zip(ready).try_for_each(|(Step { alpha, x, beta, y }, ready)| {
        products.of(ready)?.apply_on_device(*alpha, x.view(), *beta, y.view_mut())
    })
}

impl<S: Scalar> Replay<'_, S> {
    /// Puts all products into the plan's stream at once. Nothing is waited for.
    pub fn launch(&mut self) -> Result<(), RunError> {
        #[cfg(feature = "cuda")]
        if let Some(graph) = &mut self.graph {
            // SAFETY: the steps keep the memory of X and Y, the products that of A, and both live as long as this. Waiting for another
            // stream cannot be recorded, so that all of it belongs to this one.
            return Ok(unsafe { graph.launch() }?);
        }
        let Replay { steps, ready, .. } = self;
        run_steps(steps, ready, &mut Products::lock(ready)?)
    }
}

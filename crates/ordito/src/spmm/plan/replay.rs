//! Products that are recorded once and started as one, for those that take the GPU less time than starting them.

use crate::Scalar;
#[cfg(feature = "cuda")]
use crate::device::gpu::Graph;
use crate::device::{DeviceView, DeviceViewMut, KeptMatrix};
use crate::op::RunError;
use crate::refusal::Refusal;
use crate::spmm::plan::Plan;
use crate::spmm::plan::kept::Ready;
use std::sync::Arc;

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

/// Recorded products. Borrows the plan, whose matrix they read.
pub struct Replay<'plan, S: Scalar> {
    plan: &'plan Plan<S>,
    steps: Vec<Step<S>>,
    /// Of every step: a recording reads A where it lay when it was made, whatever the plan prepares later.
    _ready: Vec<Arc<Ready<S>>>,
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
        let ready = steps.iter_mut().map(ready).collect::<Result<_, Refusal>>()?;
        let replay = Replay {
            plan: self,
            steps,
            _ready: ready,
            #[cfg(feature = "cuda")]
            graph: None,
        };
        #[cfg(feature = "cuda")]
        if let Some(gpu) = device.gpu() {
            let mut replay = replay;
            // What is compiled for these operands is compiled now: a recording cannot load code.
            for Step { alpha, x, y, .. } in &mut replay.steps {
                let ready = self.ready(x.view().cols())?;
                let mut product = ready.on_device().ok_or(Refusal::NoDevice)?;
                product.get_ready(*alpha, x.view(), y.view_mut().as_view())?;
            }
            replay.graph = Some(gpu.capture(&mut || replay.run_steps())?);
            return Ok(replay);
        }
        let _ = device; // the emulator records nothing
        Ok(replay)
    }
}

impl<S: Scalar> Replay<'_, S> {
    /// Puts all products into the plan's stream at once. Nothing is waited for.
    pub fn launch(&mut self) -> Result<(), RunError> {
        #[cfg(feature = "cuda")]
        if let Some(graph) = &mut self.graph {
            // SAFETY: the steps keep the memory of X and Y, the plan that of A, and both live as long as this. Waiting for another
            // stream cannot be recorded, so that all of it belongs to this one.
            return Ok(unsafe { graph.launch() }?);
        }
        self.run_steps()
    }

    fn run_steps(&mut self) -> Result<(), RunError> {
        let plan = self.plan;
        self.steps.iter_mut().try_for_each(|Step { alpha, x, beta, y }| {
            plan.apply_on_device(*alpha, x.view(), *beta, y.view_mut())
        })
    }
}

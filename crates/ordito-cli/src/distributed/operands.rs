//! X and Y of a rank, where its plan multiplies them: in memory of the host, or on its device.

use ordito::device::DeviceDense;
use ordito::{Dense, RunError, Scalar};
use ordito_mpi::ranks::Ranks;
use ordito_mpi::{DistributedDense, Error, Plan, SharedDense};
use std::time::Duration;

pub(super) enum Operands<S: Scalar> {
    Host { x: SharedDense<S>, y: DistributedDense<S> },
    Device { x: DeviceDense<S>, y: DeviceDense<S> },
}

impl<S: Scalar> Operands<S> {
    /// A copy of X; Y is poisoned.
    pub(super) fn new(ranks: &dyn Ranks, plan: &Plan<S>, x: &DistributedDense<S>) -> Result<Self, Error> {
        let k = x.local().cols();
        let Some(device) = plan.device() else {
            let mut y = DistributedDense::zeros(ranks, plan.rows(), k)?;
            y.local_mut().data_mut().fill(S::POISON);
            return Ok(Operands::Host { x: SharedDense::copy_of(ranks, x)?, y });
        };
        let mut there = DeviceDense::new(device, "X", x.local().rows(), k)?;
        there.write(x.view()).map_err(RunError::from)?;
        let y = DeviceDense::new(device, "Y", plan.rows().rows_of(ranks.rank()), k)?;
        Ok(Operands::Device { x: there, y })
    }

    /// Y = A·X; it is there afterwards.
    pub(super) fn multiply(&mut self, plan: &Plan<S>) -> Result<(), Error> {
        match self {
            Operands::Host { x, y } => plan.apply_shared(S::ONE, x, S::ZERO, y.view_mut()),
            Operands::Device { x, y } => {
                plan.apply_on_device(S::ONE, x.view(), S::ZERO, y.view_mut())?;
                match plan.device() {
                    Some(device) => Ok(device.synchronize().map_err(RunError::from)?),
                    None => Ok(()),
                }
            }
        }
    }

    /// Does no row of X travel or lie twice on a computer?
    pub(super) fn are_read_in_place(&self, plan: &Plan<S>) -> bool {
        matches!(self, Operands::Host { x, .. } if plan.reads_in_place(x))
    }

    /// What an exchange takes alone.
    pub(super) fn time_exchange(&self, plan: &Plan<S>) -> Result<Duration, Error> {
        match self {
            Operands::Host { x, .. } => plan.time_shared_exchange(x),
            Operands::Device { x, .. } => plan.time_exchange_on_device(x.view()),
        }
    }

    /// Rows of Y that this rank has.
    pub(super) fn result(&self) -> Result<Dense<S>, Error> {
        match self {
            Operands::Host { y, .. } => Ok(y.local().clone()),
            Operands::Device { y, .. } => {
                let mut host = Dense::zeros(y.rows(), y.cols())?;
                y.read(host.view_mut()).map_err(RunError::from)?;
                Ok(host)
            }
        }
    }
}

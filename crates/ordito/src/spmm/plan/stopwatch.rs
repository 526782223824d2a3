//! How long a product takes, for plans that measure themselves. The workbench has better ways, and more time.

use crate::Scalar;
use crate::device::Spent;
use crate::op::RunError;
use crate::spmm::product::Product;
use std::time::{Duration, Instant};

/// A batch of runs takes at least this long, so that neither the clock nor starting them on a device counts.
pub(crate) const BATCH: Duration = Duration::from_millis(1);
/// Runs of one batch, at most.
const MOST_RUNS: u32 = 1000;

/// How many runs make a batch, where one takes so long.
pub(crate) fn runs_of_batch(once_ns: f64) -> u32 {
    (BATCH.as_nanos() as f64 / once_ns.max(1.0)).ceil().min(f64::from(MOST_RUNS)) as u32
}

/// Nanoseconds per run of so many that are waited for together.
pub(crate) fn batch<S: Scalar>(ready: &mut dyn Product<S>, runs: u32) -> Result<f64, RunError> {
    let device = ready.device().cloned();
    let wait = || device.as_ref().map_or(Ok(()), |device| device.synchronize());
    wait()?;
    let start = Instant::now();
    for _ in 0..runs {
        ready.run()?;
    }
    wait()?;
    Ok(start.elapsed().as_nanos() as f64 / f64::from(runs))
}

/// What preparing takes, without the compilation of kernels: that is kept on disk and done once for all matrices.
pub(crate) fn timed<T>(prepare: impl FnOnce() -> T) -> (T, f64) {
    let (start, before) = (Instant::now(), Spent::now());
    let prepared = prepare();
    let elapsed = start.elapsed().saturating_sub(Spent::since(before).compiling);
    (prepared, elapsed.as_nanos() as f64)
}

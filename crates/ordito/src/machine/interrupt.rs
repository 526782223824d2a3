//! A wish to stop, told from outside to whatever computes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by whoever no longer wants a result, from any thread. Kernels of the CPU and oracles look at it between rows, blocks or
/// chunks and stop early. What they were called through then returns an error: what was written until then is no result.
///
/// It is never taken back, so whoever looks after the work sees what the work saw. Clones are the same wish.
///
/// ```
/// use ordito::machine::Interrupt;
/// use ordito::{Csr, Dense, Machine};
/// let interrupt = Interrupt::default();
/// let machine = Machine::with_threads(1)?.interrupted_by(&interrupt);
/// let a: Csr<f64> = Csr::from_parts(1, 1, vec![0, 1], vec![0], vec![2.0])?;
/// let plan = ordito::spmm::Plan::new(a, &machine)?;
/// let (x, mut y) = (Dense::filled(1, 1, 3.0)?, Dense::zeros(1, 1)?);
/// plan.apply(1.0, x.view(), 0.0, y.view_mut())?;
/// assert_eq!(y.data(), [6.0]);
/// interrupt.set(); // for example by a handler of Ctrl-C
/// assert!(plan.apply(1.0, x.view(), 0.0, y.view_mut()).is_err());
/// # Ok::<(), ordito::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on nothing is wanted.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Was it set?
    #[inline]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error once it was set: asked after work that may have stopped early.
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.is_set() { Err(Interrupted) } else { Ok(()) }
    }

    /// What `steps` gives, until it is set. Looking takes less than a nanosecond: a row is worth a look, an entry is not.
    #[inline]
    pub fn until_set<I: IntoIterator>(&self, steps: I) -> impl Iterator<Item = I::Item> {
        steps.into_iter().take_while(|_| !self.is_set())
    }
}

/// The work was stopped before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("interrupted: there is no result")]
pub struct Interrupted;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end_where_it_is_set() {
        let interrupt = Interrupt::default();
        let mut done = Vec::new();
        for step in interrupt.until_set(0..10) {
            done.push(step);
            if step == 3 {
                interrupt.clone().set();
            }
        }
        assert_eq!(done, [0, 1, 2, 3]);
        assert_eq!(interrupt.check(), Err(Interrupted));
        assert_eq!(Interrupt::default().check(), Ok(()));
    }
}

//! Clocks: the time that passes, and how long one run took.
//!
//! Two questions, two traits. [`Clock`] tells the host's time, which caps a whole series. [`Timer`] says how
//! long one run took and *runs it itself*: a CUDA timer records an event, lets the run enqueue its kernels,
//! records another and waits, which a clock that is only read before and after could not do.

use std::time::Instant;

/// The host's time.
pub trait Clock {
    /// Nanoseconds since some fixed moment; never falls.
    fn now_ns(&mut self) -> u64;
}

/// Measures one run at a time. `E` is the error of the run; a timer that can itself fail (CUDA events)
/// implements the trait only for the error type in which it can say so.
pub trait Timer<E>: Clock {
    /// Runs once, waits until the work is done, and says how many nanoseconds it took.
    fn time(&mut self, run: &mut dyn FnMut() -> Result<(), E>) -> Result<f64, E>;

    /// What this timer reports for a run that does nothing: the median of 101 tries. It is recorded beside
    /// the samples and never subtracted; a run that takes less than a hundred times this is not known to
    /// better than a percent.
    fn overhead_ns(&mut self) -> Result<f64, E> {
        let mut empty = || Ok(());
        let mut times = (0..101).map(|_| self.time(&mut empty)).collect::<Result<Vec<f64>, E>>()?;
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }
}

/// The system's monotonic clock: for runs that return when the work is done.
#[derive(Debug, Clone)]
pub struct WallClock {
    start: Instant,
}

impl WallClock {
    /// Starts at 0.
    pub fn new() -> Self {
        WallClock { start: Instant::now() }
    }
}

impl Default for WallClock {
    fn default() -> Self {
        WallClock::new()
    }
}

impl Clock for WallClock {
    fn now_ns(&mut self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl<E> Timer<E> for WallClock {
    fn time(&mut self, run: &mut dyn FnMut() -> Result<(), E>) -> Result<f64, E> {
        let start = Instant::now();
        run()?;
        Ok(start.elapsed().as_nanos() as f64)
    }
}

/// A clock for tests: every run takes as long as a script says, and no time passes otherwise.
///
/// ```
/// use ordito_bench::sample::{Clock, FakeClock, Timer};
/// let mut clock = FakeClock::new([100, 250]).with_pause_ns(5); // 5 ns between runs
/// let mut run = || Ok::<(), ()>(());
/// assert_eq!(clock.time(&mut run), Ok(100.0));
/// assert_eq!(clock.time(&mut run), Ok(250.0));
/// assert_eq!(clock.time(&mut run), Ok(250.0)); // the last one repeats
/// assert_eq!(clock.now_ns(), 615);
/// ```
#[derive(Debug, Clone)]
pub struct FakeClock {
    now_ns: u64,
    pause_ns: u64,
    script: Vec<u64>,
    next: usize,
}

impl FakeClock {
    /// Runs take these nanoseconds, in this order; the last one repeats, an empty script means 0.
    pub fn new(script: impl IntoIterator<Item = u64>) -> Self {
        FakeClock { now_ns: 0, pause_ns: 0, script: script.into_iter().collect(), next: 0 }
    }

    /// Time that passes before each run without being part of it, as a reset would take.
    pub fn with_pause_ns(mut self, pause_ns: u64) -> Self {
        self.pause_ns = pause_ns;
        self
    }

    /// How many runs were timed.
    pub fn runs(&self) -> usize {
        self.next
    }
}

impl Clock for FakeClock {
    fn now_ns(&mut self) -> u64 {
        self.now_ns
    }
}

impl<E> Timer<E> for FakeClock {
    fn time(&mut self, run: &mut dyn FnMut() -> Result<(), E>) -> Result<f64, E> {
        run()?;
        let took = self.script.get(self.next).or(self.script.last()).copied().unwrap_or(0);
        self.next += 1;
        self.now_ns = self.now_ns.saturating_add(self.pause_ns).saturating_add(took);
        Ok(took as f64)
    }

    /// Nothing: asking must not use up the script.
    fn overhead_ns(&mut self) -> Result<f64, E> {
        Ok(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_pass_through() {
        let mut run = || Err("broken");
        assert_eq!(WallClock::new().time(&mut run), Err("broken"));
        let mut clock = FakeClock::new([1]);
        assert_eq!(clock.time(&mut run), Err("broken"));
        assert_eq!((clock.runs(), clock.now_ns()), (0, 0));
    }

    #[test]
    fn the_wall_clock_never_falls() {
        let mut clock = WallClock::new();
        let first = clock.now_ns();
        assert!(clock.now_ns() >= first);
    }
}

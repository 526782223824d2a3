//! Runs something again and again and keeps the times: clocks, stop rules, statistics, and what the machine
//! could do at best. Knows nothing of what it times.
//!
//! A [`Sampler`] holds how to sample. [`Sampler::sample`] takes a whole series; to compare several subjects
//! fairly on a machine whose speed drifts, start a [`Series`] for each and step through them in turn.

pub mod ceilings;
pub mod clock;
pub mod cold;
pub mod device;
pub mod device_ceilings;
pub mod device_flush;
pub mod device_latencies;
pub mod quantile;
pub mod samples;
pub mod stop;
pub mod welford;

pub use crate::sample::ceilings::Ceilings;
pub use crate::sample::clock::{Clock, FakeClock, Timer, WallClock};
pub use crate::sample::cold::CacheFlush;
pub use crate::sample::device::EventTimer;
pub use crate::sample::device_ceilings::DeviceCeilings;
pub use crate::sample::device_flush::DeviceFlush;
pub use crate::sample::device_latencies::{DeviceLatencies, Latency};
pub use crate::sample::quantile::Quantiles;
pub use crate::sample::samples::{Samples, Summary};
pub use crate::sample::stop::{StopReason, StopRule};
pub use crate::sample::welford::Welford;
pub use ordito::column_stats::student_t;

use std::time::{SystemTime, UNIX_EPOCH};

/// Why sampling could not be set up. (What the sampled runs return passes through as it is.)
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SampleError {
    /// No memory for the buffer that empties the caches.
    #[error("{bytes} bytes for the buffer that empties the caches cannot be allocated")]
    FlushBuffer {
        /// Its size.
        bytes: u64,
    },
    /// No memory, or no pool, to measure the ceilings with.
    #[error("the machine's ceilings cannot be measured: {0}")]
    Ceilings(String),
}

/// How to sample: the rule, and what is done between the runs.
#[derive(Clone, Copy)]
pub struct Sampler<'a> {
    rule: &'a StopRule,
    flush: Option<&'a dyn Fn()>,
    interrupted: &'a dyn Fn() -> bool,
    progress: &'a dyn Fn(Progress),
}

/// How far a series is, told after every sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Samples taken.
    pub samples: usize,
    /// The most that will be taken.
    pub most_samples: usize,
    /// The last time.
    pub last_ns: f64,
    /// Standard error of the mean over the mean, once there are two samples.
    pub relative_error: Option<f64>,
}

impl<'a> Sampler<'a> {
    /// Samples by this rule, with warm caches, without interruption.
    pub fn new(rule: &'a StopRule) -> Self {
        Sampler { rule, flush: None, interrupted: &|| false, progress: &|_| {} }
    }

    /// Empties the caches before every run, untimed, by calling `flush`.
    pub fn cold(mut self, flush: Option<&'a dyn Fn()>) -> Self {
        self.flush = flush;
        self
    }

    /// Asked between the runs; `true` ends the series and keeps what was taken.
    pub fn interrupted_by(mut self, interrupted: &'a dyn Fn() -> bool) -> Self {
        self.interrupted = interrupted;
        self
    }

    /// Called after every sample.
    pub fn on_progress(mut self, progress: &'a dyn Fn(Progress)) -> Self {
        self.progress = progress;
        self
    }

    /// Warms up and takes samples until the rule is content. Before each run comes an untimed `reset`. An
    /// error of either ends the series and is returned.
    ///
    /// ```
    /// use ordito_bench::sample::{FakeClock, Sampler, StopReason, StopRule};
    /// let mut output = vec![0.0; 4];
    /// let samples = Sampler::new(&StopRule::fixed(5)).sample(
    ///     &mut FakeClock::new([300]),
    ///     &mut output,
    ///     |output| Ok(output.fill(f64::NAN)),
    ///     |output| Ok::<(), std::convert::Infallible>(output.fill(1.0)),
    /// )?;
    /// assert_eq!((samples.times_ns, samples.stop_reason), (vec![300.0; 5], StopReason::Samples));
    /// # Ok::<(), std::convert::Infallible>(())
    /// ```
    pub fn sample<T: ?Sized, E>(
        &self,
        timer: &mut dyn Timer<E>,
        subject: &mut T,
        mut reset: impl FnMut(&mut T) -> Result<(), E>,
        mut run: impl FnMut(&mut T) -> Result<(), E>,
    ) -> Result<Samples, E> {
        let mut series = Series::start(*self, timer)?;
        while !series.step(timer, subject, &mut reset, &mut run)? {}
        Ok(series.finish())
    }
}

/// A series under way: one [`step`](Series::step) is one sample. Time is counted only inside the steps, so
/// series that take turns do not use up each other's time.
pub struct Series<'a> {
    sampler: Sampler<'a>,
    times_ns: Vec<f64>,
    starts_ns: Vec<u64>,
    seen: Welford,
    warm_up_runs: usize,
    timer_overhead_ns: f64,
    elapsed_ns: u64,
    stop_reason: Option<StopReason>,
}

impl<'a> Series<'a> {
    /// Measures the timer's own overhead; takes no sample yet.
    pub fn start<E>(sampler: Sampler<'a>, timer: &mut dyn Timer<E>) -> Result<Self, E> {
        Ok(Series {
            sampler,
            times_ns: Vec::new(),
            starts_ns: Vec::new(),
            seen: Welford::new(),
            warm_up_runs: 0,
            timer_overhead_ns: timer.overhead_ns()?,
            elapsed_ns: 0,
            stop_reason: None,
        })
    }

    /// It has run before, so often and so long, and need not warm up as if it had not. Where that has used up the time, those runs are
    /// the samples.
    #[must_use]
    pub fn after(mut self, runs_ns: &[f64]) -> Self {
        self.warm_up_runs = runs_ns.len();
        self.elapsed_ns = runs_ns.iter().sum::<f64>() as u64;
        if self.sampler.rule.is_time_up(self.elapsed_ns) && !runs_ns.is_empty() {
            self.times_ns.extend(runs_ns);
            self.seen = runs_ns.iter().copied().collect();
            self.stop_reason = Some(StopReason::Checked);
        }
        self
    }

    /// Is it over, so that no step would take another sample?
    pub fn is_over(&self) -> bool {
        self.stop_reason.is_some()
    }

    /// One run that is no sample: it brings the operands back into caches that other series have used meanwhile. Its time counts like
    /// that of all that a series does.
    pub fn run_untimed<T: ?Sized, E>(
        &mut self,
        timer: &mut dyn Timer<E>,
        subject: &mut T,
        reset: &mut impl FnMut(&mut T) -> Result<(), E>,
        run: &mut impl FnMut(&mut T) -> Result<(), E>,
    ) -> Result<(), E> {
        let start_ns = timer.now_ns();
        reset(subject)?;
        run(subject)?;
        self.elapsed_ns += timer.now_ns().saturating_sub(start_ns);
        Ok(())
    }

    /// Takes one sample, the first one after the warm-up; `true` when the series is over. A series that is
    /// over takes no more.
    pub fn step<T: ?Sized, E>(
        &mut self,
        timer: &mut dyn Timer<E>,
        subject: &mut T,
        reset: &mut impl FnMut(&mut T) -> Result<(), E>,
        run: &mut impl FnMut(&mut T) -> Result<(), E>,
    ) -> Result<bool, E> {
        let before_ns = self.elapsed_ns;
        let start_ns = timer.now_ns();
        while self.stop_reason.is_none() {
            if (self.sampler.interrupted)() {
                self.stop_reason = Some(StopReason::Interrupted);
                break;
            }
            let warm = self.sampler.rule.is_warm(self.warm_up_runs, self.elapsed_ns);
            reset(subject)?;
            if let Some(flush) = self.sampler.flush.filter(|_| warm) {
                flush();
            }
            let begun = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let took_ns = timer.time(&mut || run(subject))?;
            self.elapsed_ns = before_ns + timer.now_ns().saturating_sub(start_ns);
            if warm {
                self.starts_ns.push(begun.as_nanos() as u64);
                self.record(took_ns);
                break;
            }
            self.warm_up_runs += 1;
        }
        Ok(self.stop_reason.is_some())
    }

    fn record(&mut self, took_ns: f64) {
        self.times_ns.push(took_ns);
        self.seen.push(took_ns);
        self.stop_reason = self.sampler.rule.check(&self.seen, self.elapsed_ns);
        (self.sampler.progress)(self.progress());
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        Progress {
            samples: self.times_ns.len(),
            most_samples: self.sampler.rule.most_samples(),
            last_ns: self.times_ns.last().copied().unwrap_or(0.0),
            relative_error: self.seen.relative_error(),
        }
    }

    /// What was taken; an unfinished series counts as interrupted.
    pub fn finish(self) -> Samples {
        Samples {
            times_ns: self.times_ns,
            starts_ns: self.starts_ns,
            stop_reason: self.stop_reason.unwrap_or(StopReason::Interrupted),
            warm_up_runs: self.warm_up_runs,
            timer_overhead_ns: self.timer_overhead_ns,
            cold: self.sampler.flush.is_some(),
            elapsed_ns: self.elapsed_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    /// What was done to it, in order.
    #[derive(Default)]
    struct Subject(String);

    impl Subject {
        fn reset(&mut self) -> Result<(), &'static str> {
            self.0.push('r');
            Ok(())
        }
        fn run(&mut self) -> Result<(), &'static str> {
            self.0.push('x');
            if self.0.len() > 1000 { Err("worn out") } else { Ok(()) }
        }
    }

    #[test]
    fn what_was_checked_is_not_run_again_when_the_time_is_up() {
        let rule = StopRule { time_cap_ns: Some(1000), ..StopRule::default() };
        let start = |runs_ns: &[f64]| {
            Series::start::<&str>(Sampler::new(&rule), &mut FakeClock::new([10])).unwrap().after(runs_ns)
        };
        let slow = start(&[700.0, 600.0]);
        assert!(slow.is_over());
        let slow = slow.finish();
        assert_eq!((slow.times_ns, slow.stop_reason), (vec![700.0, 600.0], StopReason::Checked));
        let mut quick = start(&[10.0, 10.0]);
        assert!(!quick.is_over() && !start(&[]).is_over());
        let mut subject = Subject::default();
        let mut clock = FakeClock::new([10]);
        quick.step(&mut clock, &mut subject, &mut Subject::reset, &mut Subject::run).unwrap();
        assert_eq!(subject.0.matches('x').count(), 2, "one run is left of the warm-up");
    }

    fn sample(sampler: Sampler<'_>, clock: &mut FakeClock) -> (Result<Samples, &'static str>, String) {
        let mut subject = Subject::default();
        let samples = sampler.sample(clock, &mut subject, Subject::reset, Subject::run);
        (samples, subject.0)
    }

    #[test]
    fn every_run_has_its_reset_and_warm_up_is_not_counted() {
        let rule = StopRule { warm_up: 2, ..StopRule::fixed(3) };
        let mut clock = FakeClock::new([900, 800, 10, 20, 30]).with_pause_ns(7);
        let (samples, log) = sample(Sampler::new(&rule), &mut clock);
        let samples = samples.unwrap();
        assert_eq!(log, "rxrxrxrxrx");
        assert_eq!(samples.times_ns, [10.0, 20.0, 30.0]);
        assert_eq!((samples.warm_up_runs, samples.elapsed_ns), (2, 1760 + 35));
        assert_eq!((samples.stop_reason, samples.cold), (StopReason::Samples, false));
    }

    #[test]
    fn steady_runs_stop_early_and_long_ones_at_the_cap() {
        let rule = StopRule::default();
        let (samples, _) = sample(Sampler::new(&rule), &mut FakeClock::new([1000]));
        assert_eq!(samples.as_ref().unwrap().stop_reason, StopReason::Precise);
        assert_eq!(samples.unwrap().times_ns.len(), 10);
        let mut clock = FakeClock::new([200_000_000]);
        let (samples, _) = sample(Sampler::new(&rule), &mut clock);
        let samples = samples.unwrap();
        assert_eq!((samples.warm_up_runs, samples.times_ns.len()), (1, 2));
        assert_eq!(samples.stop_reason, StopReason::Time);
    }

    #[test]
    fn an_interrupt_keeps_what_was_taken() {
        let (rule, asked) = (StopRule { warm_up: 0, ..StopRule::fixed(100) }, Cell::new(0));
        let interrupted = || asked.replace(asked.get() + 1) == 4;
        let sampler = Sampler::new(&rule).interrupted_by(&interrupted);
        let (samples, _) = sample(sampler, &mut FakeClock::new([1]));
        let samples = samples.unwrap();
        assert_eq!((samples.times_ns.len(), samples.stop_reason), (4, StopReason::Interrupted));
        let (samples, log) = sample(Sampler::new(&rule).interrupted_by(&|| true), &mut FakeClock::new([1]));
        assert_eq!((samples.unwrap().summary(1, 1), log.as_str()), (None, ""));
    }

    #[test]
    fn an_error_ends_the_series() {
        let (samples, log) = sample(Sampler::new(&StopRule::fixed(10_000)), &mut FakeClock::new([1]));
        assert_eq!(samples, Err("worn out"));
        assert!(log.ends_with("rx"));
    }

    #[test]
    fn progress_is_told_after_every_sample() {
        let (rule, told) = (StopRule::fixed(3), RefCell::new(Vec::new()));
        let progress = |p: Progress| told.borrow_mut().push((p.samples, p.most_samples, p.last_ns));
        let mut clock = FakeClock::new([9, 9, 9, 1, 2, 3]);
        sample(Sampler::new(&rule).on_progress(&progress), &mut clock).0.unwrap();
        assert_eq!(*told.borrow(), [(1, 3, 1.0), (2, 3, 2.0), (3, 3, 3.0)]);
    }

    #[test]
    fn series_that_take_turns_count_only_their_own_time() {
        let rule = StopRule { warm_up: 0, time_cap_ns: Some(1_000), ..StopRule::fixed(1000) };
        let mut clock = FakeClock::new([100]);
        let timer: &mut dyn Timer<&'static str> = &mut clock;
        let mut all: Vec<_> = (0..3)
            .map(|_| (Subject::default(), Series::start(Sampler::new(&rule), timer).unwrap()))
            .collect();
        let mut running = true;
        while running {
            running = false;
            for (subject, series) in &mut all {
                running |= !series.step(timer, subject, &mut Subject::reset, &mut Subject::run).unwrap();
            }
        }
        for (_, series) in all {
            let samples = series.finish();
            assert_eq!((samples.times_ns.len(), samples.stop_reason), (10, StopReason::Time));
        }
    }

    /// A clock that the runs themselves move on.
    struct Moved<'a>(&'a Cell<u64>);

    impl Clock for Moved<'_> {
        fn now_ns(&mut self) -> u64 {
            self.0.get()
        }
    }

    impl Timer<&'static str> for Moved<'_> {
        fn time(&mut self, run: &mut dyn FnMut() -> Result<(), &'static str>) -> Result<f64, &'static str> {
            let start = self.0.get();
            run()?;
            Ok((self.0.get() - start) as f64)
        }
    }

    #[test]
    fn what_brings_operands_back_counts_as_time_and_is_no_sample() {
        let rule = StopRule { warm_up: 0, time_cap_ns: Some(1_000), ..StopRule::fixed(1000) };
        let now = Cell::new(0);
        let mut timer = Moved(&now);
        let mut series = Series::start(Sampler::new(&rule), &mut timer).unwrap();
        let mut reset = |_: &mut ()| Ok(());
        let mut run = |_: &mut ()| {
            now.set(now.get() + 100);
            Ok(())
        };
        while !series.is_over() {
            series.run_untimed(&mut timer, &mut (), &mut reset, &mut run).unwrap();
            series.step(&mut timer, &mut (), &mut reset, &mut run).unwrap();
        }
        let samples = series.finish();
        assert_eq!((samples.times_ns, samples.elapsed_ns), (vec![100.0; 5], 1_000));
        assert_eq!((samples.warm_up_runs, samples.stop_reason), (0, StopReason::Time));
    }

    #[test]
    fn the_wall_clock_samples_too() {
        let (rule, flush) =
            (StopRule::fixed(2), CacheFlush::new(ordito::machine::Machine::all_cores().unwrap()).unwrap());
        let mut subject = Subject::default();
        let flush = || flush.flush();
        let sampler = Sampler::new(&rule).cold(Some(&flush));
        let samples =
            sampler.sample(&mut WallClock::new(), &mut subject, Subject::reset, Subject::run).unwrap();
        assert!(samples.cold && samples.times_ns.len() == 2 && samples.timer_overhead_ns >= 0.0);
    }
}

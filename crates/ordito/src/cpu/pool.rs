//! The threads of the CPU variants: an explicit rayon pool, and a [`Team`] for kernels that cannot wait for it.

use crate::cpu::fork;
use crate::cpu::hand_over::HandOver;
use crate::cpu::per_process::PerProcess;
use crate::cpu::pin::Cores;
use crate::cpu::team::Team;
use crate::cpu::thread_error::ThreadError;
use crate::cpu::threads::{default_threads, most_threads};
use std::sync::Arc;

/// A fixed number of threads. A child that `fork` made gets as many of its own, on first use.
#[derive(Debug)]
pub struct Pool {
    threads: usize,
    /// `None` in a child that the system gave no threads: whoever calls does all.
    workers: PerProcess<Option<rayon::ThreadPool>>,
    team: PerProcess<Team>,
    /// Where threads stay; `None`: where the system puts them.
    cores: Option<Cores>,
}

impl Pool {
    /// Starts `threads` threads.
    pub fn new(threads: usize) -> Result<Self, ThreadError> {
        Pool::on(threads, None)
    }

    /// Threads that stay on one core each.
    pub fn pinned(threads: usize) -> Result<Self, ThreadError> {
        Pool::on(threads, Some(Cores::allowed()?))
    }

    /// As many threads as are used where nobody says; started on first use, and shared.
    pub(crate) fn shared() -> Result<&'static Arc<Self>, ThreadError> {
        static SHARED: PerProcess<Result<Arc<Pool>, ThreadError>> = PerProcess::new();
        let start = || Ok(Arc::new(Pool::new(default_threads()?)?));
        SHARED
            .get_or_make(|inherited| inherited.cloned().unwrap_or_else(start))
            .as_ref()
            .map_err(Clone::clone)
    }

    fn on(threads: usize, cores: Option<Cores>) -> Result<Self, ThreadError> {
        let refuse = |why: String| ThreadError::Start { threads, why };
        let most = most_threads();
        if !(1..=most).contains(&threads) {
            return Err(refuse(format!("between 1 and {most} can be asked for on this computer")));
        }
        let workers = start_workers(threads, &cores).map_err(|error| refuse(error.to_string()))?;
        Ok(Pool { threads, workers: PerProcess::holding(Some(workers)), team: PerProcess::new(), cores })
    }

    /// How many threads work.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// As many threads for hot kernels; started on first use, ended with the pool.
    pub fn team(&self) -> &Team {
        self.team.get_or_make(|_| {
            let cores = self.cores.clone();
            Team::new(self.threads, move |thread| cores.iter().for_each(|cores| cores.pin(thread)))
        })
    }

    /// Rayon's threads of this process; `None`: the caller has to do without.
    pub(super) fn workers(&self) -> Option<&rayon::ThreadPool> {
        if fork::is_orphan() {
            return None;
        }
        self.workers.get_or_make(|_| start_workers(self.threads, &self.cores).ok()).as_ref()
    }

    /// Runs `work` on a thread of the pool, where rayon's parallel iterators use all of it.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let (mut work, mut result) = (Some(work), None);
        self.enter(&mut || result = work.take().map(|work| work()));
        result.expect("the pool has run it, or passed its panic on")
    }

    /// What rayon does is compiled once, for one kind of closure.
    fn enter(&self, work: &mut (dyn FnMut() + Send)) {
        match self.workers() {
            Some(workers) => workers.install(work),
            None => work(),
        }
    }

    /// Runs `work` once on every thread, with the thread's number; what each returned, in that order.
    pub fn broadcast<R: Send>(&self, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
        let results: Vec<HandOver<R>> = (0..self.threads).map(|_| HandOver::empty()).collect();
        self.on_every_thread(&|thread| results[thread].put(work(thread)));
        results
            .iter()
            .map(|slot| slot.take().expect("every thread has worked, or its panic was passed on"))
            .collect()
    }

    fn on_every_thread(&self, work: &(dyn Fn(usize) + Sync)) {
        match self.workers() {
            Some(workers) => drop(workers.broadcast(|context| work(context.index()))),
            None => (0..self.threads).for_each(work),
        }
    }

    /// Does each share of the work once and returns when all are done. The shares are fixed; which thread takes which
    /// is left to the pool.
    pub fn run_shares<T: Send>(&self, shares: Vec<T>, work: impl Fn(T) + Sync) {
        if shares.len() <= 1 || self.threads == 1 {
            return shares.into_iter().for_each(work); // no reason to wake anybody
        }
        let shares = HandOver::of_each(shares);
        self.spawn(shares.len(), &|index| shares[index].take().into_iter().for_each(&work));
    }

    fn spawn(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        match self.workers() {
            Some(workers) => {
                workers.scope(|scope| (0..count).for_each(|index| scope.spawn(move |_| work(index))));
            }
            None => (0..count).for_each(work),
        }
    }
}

fn start_workers(
    threads: usize,
    cores: &Option<Cores>,
) -> Result<rayon::ThreadPool, rayon::ThreadPoolBuildError> {
    let cores = cores.clone();
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("ordito-{index}"))
        .start_handler(move |index| cores.iter().for_each(|cores| cores.pin(index)))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_share_is_done_once() {
        for threads in [1, 2, 5] {
            let pool = Pool::new(threads).unwrap();
            let seen: Vec<AtomicUsize> = (0..7).map(|_| AtomicUsize::new(0)).collect();
            pool.run_shares((0..7).collect(), |share: usize| {
                seen[share].fetch_add(1, Ordering::Relaxed);
            });
            assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
            assert_eq!(pool.install(rayon::current_num_threads), threads);
        }
    }

    #[test]
    fn every_thread_is_asked_once() {
        for threads in [1, 3] {
            let pool = Pool::new(threads).unwrap();
            assert_eq!(pool.broadcast(|thread| thread), (0..threads).collect::<Vec<_>>());
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn a_panic_comes_back_and_leaves_the_pool_usable() {
        let pool = Pool::new(2).unwrap();
        let fails = || panic!("on purpose");
        let ways: [&dyn Fn(); 3] = [&|| pool.install(fails), &|| drop(pool.broadcast(|_| fails())), &|| {
            pool.run_shares(vec![1, 2, 3], |share| {
                if share == 2 {
                    fails()
                }
            })
        }];
        for way in ways {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(way));
            assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"on purpose"));
            assert_eq!(pool.install(|| 7), 7);
        }
    }

    #[test]
    fn absurd_numbers_of_threads_are_refused() {
        assert!(Pool::new(0).is_err());
        let refusal = Pool::new(1_000_000).unwrap_err().to_string();
        let most = most_threads();
        let why = format!("between 1 and {most} can be asked for on this computer");
        assert_eq!(refusal, format!("1000000 threads could not be started: {why}"));
        assert!(Pool::new(most + 1).is_err());
    }
}

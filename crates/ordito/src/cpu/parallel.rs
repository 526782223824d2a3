//! Tasks on the threads of the current rayon pool; outside of any, on those that `Machine::all_cores` has. Never on rayon's own
//! global pool: a child that `fork` made inherits it without its threads, and cannot start it anew.
//!
//! What rayon does is compiled once, for one kind of closure: a parallel iterator at every call would be compiled with all its
//! plumbing for each of them: an eighth of all code that the compiler was given (`cargo llvm-lines`).

use crate::cpu::fork;
use crate::cpu::hand_over::HandOver;
use crate::cpu::pool::Pool;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tasks that a thread may have to itself at the least, where there are many: whoever is done first takes the next.
const TASKS_PER_THREAD: usize = 64;

/// Whose threads do the tasks.
enum Place {
    /// Those of the pool that the caller is in.
    Current,
    /// Those of this one.
    Shared(&'static rayon::ThreadPool),
    /// There are none: the system gives none, or `ORDITO_THREADS` asks for what cannot be. Who can return an error does.
    Caller,
}

fn place() -> Place {
    if rayon::current_thread_index().is_some() && !fork::is_orphan() {
        return Place::Current;
    }
    Pool::shared().ok().and_then(|pool| pool.workers()).map_or(Place::Caller, Place::Shared)
}

/// How many threads do the tasks.
pub(crate) fn threads() -> usize {
    match place() {
        Place::Current => rayon::current_num_threads(),
        Place::Shared(workers) => workers.current_num_threads(),
        Place::Caller => 1,
    }
}

/// Calls `work` once with every number below `count`.
pub(crate) fn for_each_index(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let in_pool = || {
        let at_once = (count / (TASKS_PER_THREAD * rayon::current_num_threads())).max(1);
        (0..count).into_par_iter().with_max_len(at_once).for_each(work);
    };
    if count <= 1 {
        return (0..count).for_each(work); // no reason to wake anybody
    }
    match place() {
        Place::Current => in_pool(),
        Place::Shared(workers) => workers.install(in_pool),
        Place::Caller => (0..count).for_each(work),
    }
}

/// Does `there` on one of the threads while the caller does `here`.
pub(crate) fn beside<R>(there: impl FnOnce() + Send, here: impl FnOnce() -> R) -> R {
    match place() {
        Place::Current => rayon::in_place_scope(|scope| {
            scope.spawn(|_| there());
            here()
        }),
        Place::Shared(workers) => workers.in_place_scope(|scope| {
            scope.spawn(|_| there());
            here()
        }),
        Place::Caller => {
            there();
            here()
        }
    }
}

/// What `work` makes of every number below `count`, in their order; those that it makes nothing of are left out.
fn filter_map_index<R: Send>(count: usize, work: &(dyn Fn(usize) -> Option<R> + Sync)) -> Vec<R> {
    let results: Vec<HandOver<R>> = (0..count).map(|_| HandOver::empty()).collect();
    for_each_index(count, &|index| {
        if let Some(result) = work(index) {
            results[index].put(result);
        }
    });
    results.iter().filter_map(HandOver::take).collect()
}

/// What `work` makes of every number below `count`, in their order.
pub(crate) fn map_index<R: Send>(count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    filter_map_index(count, &|index| Some(work(index)))
}

/// Does every task.
pub(crate) fn for_each<T: Send>(tasks: Vec<T>, work: impl Fn(T) + Sync) {
    let slots = HandOver::of_each(tasks);
    for_each_index(slots.len(), &|index| slots[index].take().into_iter().for_each(&work));
}

/// What `work` makes of every task, in their order.
pub(crate) fn map<T: Send, R: Send>(tasks: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let slots = HandOver::of_each(tasks);
    filter_map_index(slots.len(), &|index| slots[index].take().map(&work))
}

/// Does `holds` say yes to every task? After the first no, those that have not begun are not asked.
pub(crate) fn all<T: Send>(tasks: Vec<T>, holds: impl Fn(T) -> bool + Sync) -> bool {
    let holding = AtomicBool::new(true);
    for_each(tasks, |task| {
        if holding.load(Ordering::Relaxed) && !holds(task) {
            holding.store(false, Ordering::Relaxed);
        }
    });
    holding.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn every_task_is_done_once_and_results_keep_their_order() {
        for count in [0, 1, 2, 7, 1000] {
            let seen: Vec<Mutex<usize>> = (0..count).map(|_| Mutex::new(0)).collect();
            for_each((0..count).collect(), |task: usize| *seen[task].lock().unwrap() += 1);
            assert!(seen.iter().all(|times| *times.lock().unwrap() == 1));
            assert_eq!(
                map((0..count).collect(), |task| 3 * task),
                (0..count).map(|n| 3 * n).collect::<Vec<_>>()
            );
            assert_eq!(map_index(count, |n| n + 1), (1..=count).collect::<Vec<_>>());
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "rayon breaks the rules that Miri knows")]
    fn both_are_done_inside_of_a_pool_and_outside() {
        let both = || {
            let mut there = 0;
            let here = beside(|| there = 2, || 1);
            (here, there, threads())
        };
        assert_eq!(both(), (1, 2, Pool::shared().unwrap().threads()));
        assert_eq!(Pool::new(3).unwrap().install(both), (1, 2, 3));
    }

    #[test]
    fn all_is_all() {
        let numbers = || (0..500).collect::<Vec<usize>>();
        assert!(all(Vec::<usize>::new(), |_| false));
        assert!(all(numbers(), |n| n < 500));
        assert!(!all(numbers(), |n| n != 499));
    }
}

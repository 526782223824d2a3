//! Tasks on the threads of the current rayon pool. What rayon does is compiled once, for one kind of closure: a parallel
//! iterator at every call would be compiled with all its plumbing for each of them: an eighth of all
//! code that the compiler was given (`cargo llvm-lines`).

use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Tasks that a thread may have to itself at the least, where there are many: whoever is done first takes the next.
const TASKS_PER_THREAD: usize = 64;

/// Calls `work` once with every number below `count`.
pub(crate) fn for_each_index(count: usize, work: &(dyn Fn(usize) + Sync)) {
    match count {
        0 => {}
        1 => work(0), // no reason to wake anybody
        _ => {
            let at_once = (count / (TASKS_PER_THREAD * rayon::current_num_threads())).max(1);
            (0..count).into_par_iter().with_max_len(at_once).for_each(work);
        }
    }
}

/// What `work` makes of every number below `count`, in their order.
pub(crate) fn map_index<R: Send>(count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let results: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
    for_each_index(count, &|index| {
        *results[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(work(index));
    });
    results.into_iter().filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// Does every task.
pub(crate) fn for_each<T: Send>(tasks: Vec<T>, work: impl Fn(T) + Sync) {
    let slots: Vec<Mutex<Option<T>>> = tasks.into_iter().map(|task| Mutex::new(Some(task))).collect();
    for_each_index(slots.len(), &|index| {
        let task = slots[index].lock().unwrap_or_else(PoisonError::into_inner).take();
        task.into_iter().for_each(&work);
    });
}

/// What `work` makes of every task, in their order.
pub(crate) fn map<T: Send, R: Send>(tasks: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let slots: Vec<Mutex<Option<T>>> = tasks.into_iter().map(|task| Mutex::new(Some(task))).collect();
    let results = map_index(slots.len(), |index| {
        slots[index].lock().unwrap_or_else(PoisonError::into_inner).take().map(&work)
    });
    results.into_iter().flatten().collect()
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

    #[test]
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
    fn all_is_all() {
        let numbers = || (0..500).collect::<Vec<usize>>();
        assert!(all(Vec::<usize>::new(), |_| false));
        assert!(all(numbers(), |n| n < 500));
        assert!(!all(numbers(), |n| n != 499));
    }
}

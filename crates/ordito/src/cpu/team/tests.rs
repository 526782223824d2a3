//! Chunks are done once, whoever sleeps, panics or calls at the same time.

use super::*;

/// How often each of `chunks` chunks was done in one call.
fn counts(team: &Team, chunks: usize) -> Vec<usize> {
    let counts: Vec<AtomicUsize> = (0..chunks).map(|_| AtomicUsize::new(0)).collect();
    team.run(chunks, |chunk| {
        counts[chunk].fetch_add(1, Relaxed);
    });
    counts.into_iter().map(AtomicUsize::into_inner).collect()
}

#[test]
fn every_chunk_is_done_once() {
    // Miri takes a second for what takes a microsecond.
    let (most_threads, most_chunks) = if cfg!(miri) { (3, 20) } else { (8, 1000) };
    for threads in 1..=most_threads {
        let team = Team::new(threads, |_| ());
        assert_eq!(team.threads(), threads);
        for chunks in [0, 1, 2, 3, 7, 8, 9, 64, 1000].into_iter().filter(|&chunks| chunks <= most_chunks) {
            assert!(counts(&team, chunks).iter().all(|&count| count == 1), "{threads} threads, {chunks}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn more_chunks_than_are_counted_are_done_too() {
    let team = Team::new(2, |_| ());
    let (chunks, sum) = (3 * Taken::MOST + 5, AtomicUsize::new(0));
    team.run(chunks, |chunk| {
        sum.fetch_add(chunk % 7 + 1, Relaxed);
    });
    assert_eq!(sum.into_inner(), (0..chunks).map(|chunk| chunk % 7 + 1).sum::<usize>());
}

#[test]
fn many_small_regions_lose_nothing() {
    let regions = if cfg!(miri) { 30 } else { 2000 };
    for threads in [2, 3, 5] {
        let team = Team::new(threads, |_| ());
        let done = AtomicUsize::new(0);
        for _ in 0..regions {
            team.run(4, |_| {
                done.fetch_add(1, Relaxed);
            });
        }
        assert_eq!(done.into_inner(), 4 * regions);
    }
}

#[test]
fn who_comes_too_late_does_not_enter_and_changes_nothing() {
    let seat = Seat::default();
    let region = |number| Region { number, active: 2 };
    let presence = || seat.presence.load(SeqCst);
    let inside = seat.enter(region(5)).unwrap();
    assert_eq!(presence(), region(5).inside());
    assert!(!seat.bar(region(5)), "who is inside is waited for");
    drop(inside);
    assert_eq!(presence(), region(5).over());
    assert!(seat.bar(region(9)));
    for late in [1, 5, 8, 9] {
        assert!(seat.enter(region(late)).is_none() && !seat.bar(region(late)), "{late}");
        assert_eq!(presence(), region(9).over(), "{late}");
    }
    assert!(seat.enter(region(10)).is_some());
}

#[test]
fn what_is_announced_can_be_read() {
    for region in [Region { number: 1, active: 1 }, Region { number: (1 << 48) - 2, active: Region::MOST }] {
        assert_eq!(Region::of(region.announced()), region);
        assert!(region.announced() < ENDED && region.inside() < region.over());
    }
}

#[test]
fn a_sleeping_team_wakes() {
    let team = Team::new(2, |_| ());
    for _ in 0..3 {
        thread::sleep(4 * SPIN);
        assert_eq!(counts(&team, 50), [1; 50]);
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn the_second_thread_comes_to_work_soon_after_it_slept() {
    let team = Team::new(2, |_| ());
    for _ in 0..3 {
        thread::sleep(4 * SPIN);
        let met = (0..1000).any(|_| {
            let (begun, met) = (AtomicUsize::new(0), AtomicUsize::new(0));
            team.run(2, |_| {
                begun.fetch_add(1, SeqCst);
                let start = Instant::now();
                while begun.load(SeqCst) < 2 && start.elapsed() < Duration::from_millis(1) {
                    std::hint::spin_loop();
                }
                met.fetch_add(usize::from(start.elapsed() < Duration::from_millis(1)), SeqCst);
            });
            met.into_inner() == 2
        });
        assert!(met, "one thread has done all the work of 1000 calls");
    }
}

#[test]
fn panics_reach_the_caller_and_the_team_goes_on() {
    let team = Team::new(3, |_| ());
    // One chunk for each thread, and many.
    for (chunks, culprit) in [(3, 0), (3, 1), (3, 2), (12, 0), (12, 5), (12, 11)] {
        let call = || team.run(chunks, |chunk| assert_ne!(chunk, culprit, "this one fails"));
        let payload = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        assert!(payload.downcast_ref::<String>().unwrap().contains("this one fails"));
        assert_eq!(counts(&team, 12), [1; 12]);
    }
}

/// What a panic says, and panics itself when nobody listens.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[test]
fn a_panic_that_panics_when_it_is_dropped_lets_nobody_in_the_region_behind() {
    let team = Team::new(2, |_| ());
    for second in [0, 1] {
        let met = (0..100).any(|_| {
            let begun = AtomicUsize::new(0);
            let both_work = || begun.load(SeqCst) == 2;
            let work = |chunk: usize| {
                begun.fetch_add(1, SeqCst);
                let start = Instant::now();
                while !both_work() && start.elapsed() < 100 * SPIN {
                    thread::yield_now();
                }
                while chunk == second && both_work() && team.shared.callers.0.panic.lock().unwrap().is_none()
                {
                    thread::yield_now();
                }
                std::panic::panic_any(Bomb);
            };
            let first = catch_unwind(AssertUnwindSafe(|| team.run(2, work))).unwrap_err();
            assert!(first.is::<Bomb>());
            std::mem::forget(first);
            assert!(!team.shared.callers.0.busy.load(SeqCst), "the team is nobody's");
            let region = Region::of(team.shared.call.0.region.load(SeqCst));
            let is_over = |Apart(seat): &Apart<Seat>| seat.presence.load(SeqCst) == region.over();
            assert!(team.shared.seats[1..].iter().all(is_over), "nobody is inside or can enter");
            assert_eq!(counts(&team, 12), [1; 12]);
            both_work()
        });
        assert!(met, "the threads never worked at the same time");
    }
}

#[test]
fn callers_from_many_threads_and_from_inside_all_get_their_chunks_done() {
    let team = Team::new(2, |_| ());
    let calls = if cfg!(miri) { 10 } else { 200 };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..calls).for_each(|_| assert_eq!(counts(&team, 9), [1; 9])));
            scope.spawn(|| (0..calls).for_each(|_| assert_eq!(counts(&team, 2), [1; 2])));
        }
    });
    let nested = AtomicUsize::new(0);
    team.run(6, |_| {
        nested.fetch_add(counts(&team, 5).len(), Relaxed);
    });
    assert_eq!(nested.into_inner(), 30);
}

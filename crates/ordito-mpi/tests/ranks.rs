//! Ranks as threads, and what becomes of those who wait for one that is lost. `examples/ranks_selftest.rs` does the same on MPI.

#![allow(clippy::unwrap_used, clippy::panic)]

mod checks;

use ordito_mpi::ranks::{
    Collective, Exchange, Message, One, Patience, Ranks, RanksError, Tag, on_threads, refuse_unlike,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

fn patience(limit: Duration) -> Patience {
    Patience { limit, ..Patience::default() }
}

#[test]
fn all_checks_hold_on_threads() {
    for count in [1, 2, 3, 4, 5, 8] {
        for (name, check) in checks::ALL {
            let results = on_threads(count, patience(Duration::from_secs(60)), |ranks| check(&ranks));
            assert_eq!(results, vec![Ok(()); count], "{name} on {count} ranks");
        }
    }
}

#[test]
fn all_checks_hold_for_one_process() {
    for (name, check) in checks::ALL {
        assert_eq!(check(&One::default()), Ok(()), "{name}");
    }
    assert_eq!(refuse_unlike(&One::default()), Ok(()));
}

/// The last of four is lost as `lost` says, while the others wait at a barrier; what they are told.
fn while_others_wait(limit: Duration, lost: impl Fn(&dyn Ranks) + Sync) -> Vec<Result<(), RanksError>> {
    on_threads(4, patience(limit), |ranks| {
        if ranks.rank() == 3 {
            lost(&ranks);
            return Ok(());
        }
        (&ranks as &dyn Ranks).barrier()
    })
}

#[test]
fn a_failure_is_heard_by_those_who_wait() {
    let results = while_others_wait(Duration::from_secs(60), |ranks| ranks.fail("the disk is full"));
    let heard = RanksError::Failed { rank: 3, why: "the disk is full".to_owned() };
    assert_eq!(results, [Err(heard.clone()), Err(heard.clone()), Err(heard), Ok(())]);
}

#[test]
fn a_panic_is_a_failure() {
    let heard = std::sync::Mutex::new(Vec::new());
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        on_threads(3, patience(Duration::from_secs(60)), |ranks| {
            if ranks.rank() == 1 {
                std::panic::resume_unwind(Box::new("on purpose"));
            }
            let result = (&ranks as &dyn Ranks).barrier();
            heard.lock().unwrap().push(result);
        })
    }));
    assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"on purpose"));
    let expected = Err(RanksError::Failed { rank: 1, why: "panicked".to_owned() });
    assert_eq!(*heard.lock().unwrap(), [expected.clone(), expected]);
}

#[test]
fn who_does_not_come_is_named() {
    let results = while_others_wait(Duration::from_millis(200), |_| {});
    // Rank 2 waits for 3 in the first round, rank 1 in the second; rank 0 for 2, who has given up.
    for (rank, waiting_for) in [(2, 3), (1, 3), (0, 2)] {
        let Err(error @ RanksError::TimedOut { rank: told, seconds, .. }) = &results[rank] else {
            panic!("{results:?}");
        };
        assert!(*told == rank && *seconds >= 0.2, "{error}");
        assert!(error.to_string().contains(&format!("rank {rank} has waited")), "{error}");
        assert!(error.to_string().contains(&format!("for rank {waiting_for}:")), "{error}");
    }
}

#[test]
fn a_wish_to_stop_ends_the_waiting() {
    let stopped = patience(Duration::from_secs(60));
    stopped.interrupt.set();
    let results = on_threads(2, stopped, |ranks| match ranks.rank() {
        0 => (&ranks as &dyn Ranks).barrier(),
        _ => Ok(()),
    });
    assert!(matches!(results[0], Err(RanksError::Interrupted(_))), "{results:?}");
}

#[test]
fn buffers_are_closed_during_a_round() {
    let touched = |touch: fn(&mut dyn Exchange)| {
        on_threads(2, Patience::default(), |ranks| {
            if ranks.rank() == 1 {
                return true;
            }
            let at = [Message { rank: 1, bytes: 0..8 }];
            let mut exchange = ranks.exchange(Tag::HALO, &at, &at).unwrap();
            exchange.start().unwrap();
            catch_unwind(AssertUnwindSafe(|| touch(&mut *exchange))).is_err()
        })
    };
    assert_eq!(touched(|exchange| exchange.outgoing()[0] = 1), [true, true]);
    assert_eq!(touched(|exchange| assert_eq!(exchange.incoming().len(), 8)), [true, true]);
    assert_eq!(touched(|exchange| exchange.start().unwrap()), [true, true]);
}

//! Waiting for others, but not for ever.

use crate::ranks::{Exchange, Ranks, RanksError};
use ordito::machine::Interrupt;
use std::time::{Duration, Instant};

/// How long to wait for other ranks, and what ends the waiting before.
#[derive(Debug, Clone)]
pub struct Patience {
    /// Ranks that do not answer for so long are given up.
    pub limit: Duration,
    /// A wish to stop.
    pub interrupt: Interrupt,
}

/// Long: others may read a file or prepare kernels meanwhile.
const USUAL_LIMIT: Duration = Duration::from_secs(600);

impl Patience {
    /// Ten minutes, or as many seconds as `ORDITO_MPI_TIMEOUT` says.
    pub fn from_environment() -> Result<Self, RanksError> {
        let limit = match std::env::var("ORDITO_MPI_TIMEOUT") {
            Err(_) => USUAL_LIMIT,
            Ok(text) => {
                text.trim().parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok()).ok_or_else(
                    || {
                        RanksError::NoMpi(format!(
                            "ORDITO_MPI_TIMEOUT is {text:?}: a number of seconds is expected"
                        ))
                    },
                )?
            }
        };
        Ok(Patience { limit, ..Patience::default() })
    }
}

impl Default for Patience {
    fn default() -> Self {
        Patience { limit: USUAL_LIMIT, interrupt: Interrupt::default() }
    }
}

/// Looking for failures and at the clock costs more than looking for messages: what comes at once need not pay for it.
const POLLS_AT_ONCE: u64 = 256;
/// After that. An MPI may give the core away with every poll, and come back milliseconds later.
const POLLS_BETWEEN_LOOKS: u64 = 16;

pub(super) fn wait(ranks: &(impl Ranks + ?Sized), exchange: &mut dyn Exchange) -> Result<(), RanksError> {
    let begin = Instant::now();
    let patience = ranks.patience();
    for polls in 1u64.. {
        if exchange.poll()? {
            return Ok(());
        }
        if polls < POLLS_AT_ONCE || !polls.is_multiple_of(POLLS_BETWEEN_LOOKS) {
            std::hint::spin_loop();
            continue;
        }
        patience.interrupt.check()?;
        if let Some(failure) = ranks.failure() {
            return Err(failure);
        }
        let waited = begin.elapsed();
        if waited > patience.limit {
            let waiting_for = exchange.pending();
            return Err(RanksError::TimedOut {
                rank: ranks.rank(),
                waiting_for,
                seconds: waited.as_secs_f64(),
            });
        }
        // Ranks may share a core: whoever is waited for gets it.
        std::thread::yield_now();
    }
    unreachable!("the clock ends the loop before")
}

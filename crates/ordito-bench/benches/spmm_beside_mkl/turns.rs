//! Several ways to do the same, timed in turn: a machine whose speed drifts treats them alike.

use std::time::{Duration, Instant};

/// A batch of calls lasts at least so long, so that the clock does not count.
const BATCH: Duration = Duration::from_micros(20);
/// Batches of a block, at least: of slow calls just these.
const LEAST_BATCHES: usize = 2;
const MOST_BATCHES: usize = 50;
/// Untimed calls before, after a pause: cores that have rested are slow for about half a millisecond.
const WARM: Duration = Duration::from_micros(1500);
/// Of slow calls, too.
const LEAST_ROUNDS: usize = 3;

/// How the time is dealt out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Every way has so many blocks, unless calls are slow.
    pub(crate) rounds: usize,
    /// About so long for all blocks together.
    pub(crate) together: Duration,
    /// Between blocks: with several threads nobody's may still be waiting for work on a core that the next one needs.
    pub(crate) pause: Duration,
}

/// Nanoseconds of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timed {
    /// The median of the rounds' medians.
    pub(crate) median_ns: f64,
    /// The least and the largest of them.
    pub(crate) from_ns: f64,
    pub(crate) to_ns: f64,
}

/// Times `ways` ways, each of which `call` can do by its number. A round has a block of each, beginning with another one
/// every time; a block has untimed calls and then batches.
pub(crate) fn take_turns(
    ways: usize,
    pace: Pace,
    mut call: impl FnMut(usize) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<Timed>> {
    let mut once_ns = Vec::with_capacity(ways);
    for way in 0..ways {
        std::thread::sleep(pace.pause);
        call(way)?;
        once_ns.push(batch(1, || call(way))?);
    }
    let least_round_ns = once_ns.iter().sum::<f64>() * (1 + LEAST_BATCHES) as f64;
    let affordable = pace.together.as_nanos() as f64 / least_round_ns;
    let rounds = pace.rounds.min(affordable as usize).max(LEAST_ROUNDS.min(pace.rounds));
    let block_ns = pace.together.as_nanos() as f64 / (ways * rounds) as f64;
    let mut medians = vec![Vec::with_capacity(rounds); ways];
    for round in 0..rounds {
        for turn in 0..ways {
            let way = (turn + round) % ways;
            std::thread::sleep(pace.pause);
            let start = Instant::now();
            call(way)?;
            while !pace.pause.is_zero() && start.elapsed() < WARM {
                call(way)?;
            }
            let calls = (BATCH.as_nanos() as f64 / once_ns[way]).ceil().max(1.0);
            let batches = (block_ns / (calls * once_ns[way])) as usize;
            let mut times = Vec::new();
            for _ in 0..batches.clamp(LEAST_BATCHES, MOST_BATCHES) {
                times.push(batch(calls as u32, || call(way))?);
            }
            medians[way].push(median(times));
        }
    }
    let timed = |rounds: Vec<f64>| Timed {
        from_ns: rounds.iter().copied().fold(f64::INFINITY, f64::min),
        to_ns: rounds.iter().copied().fold(0.0, f64::max),
        median_ns: median(rounds),
    };
    Ok(medians.into_iter().map(timed).collect())
}

/// Nanoseconds per call of so many in a row.
fn batch(calls: u32, mut call: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let start = Instant::now();
    for _ in 0..calls {
        call()?;
    }
    Ok((start.elapsed().as_nanos() as f64 / f64::from(calls)).max(1.0))
}

/// The middle one, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    (low + high) / 2.0
}

//! A product takes as long as its slowest rank.

use ordito_bench::sample::{Clock, Timer};
use ordito_mpi::Error;
use ordito_mpi::ranks::{Collective, Ranks, Sum};
use std::time::Instant;

/// Starts all ranks together, and takes the longest time. The clock is that of rank 0, so that all stop sampling at the same time.
pub(super) struct SlowestRank<'a> {
    ranks: &'a dyn Ranks,
    start: Instant,
    ready: Sum,
    times: Sum,
    /// How long the fastest took, every time.
    pub(super) fastest_ns: Vec<f64>,
}

impl<'a> SlowestRank<'a> {
    pub(super) fn new(ranks: &'a dyn Ranks) -> Result<Self, Error> {
        let (ready, times) = (Sum::new(ranks, 1)?, Sum::new(ranks, ranks.count())?);
        Ok(SlowestRank { ranks, start: Instant::now(), ready, times, fastest_ns: Vec::new() })
    }
}

impl Clock for SlowestRank<'_> {
    fn now_ns(&mut self) -> u64 {
        let now = self.start.elapsed().as_nanos() as f64;
        let mut told = [if self.ranks.rank() == 0 { now } else { 0.0 }];
        // Whoever cannot hear of it fails in the next run, which can say so.
        let _ = self.ready.add(self.ranks, &mut told);
        told[0] as u64
    }
}

impl Timer<Error> for SlowestRank<'_> {
    fn time(&mut self, run: &mut dyn FnMut() -> Result<(), Error>) -> Result<f64, Error> {
        self.ready.add(self.ranks, &mut [0.0])?; // everyone is here
        let start = Instant::now();
        run()?;
        let mut times = vec![0.0; self.ranks.count()];
        times[self.ranks.rank()] = start.elapsed().as_nanos() as f64;
        self.times.add(self.ranks, &mut times)?;
        self.fastest_ns.push(times.iter().copied().fold(f64::INFINITY, f64::min));
        Ok(times.into_iter().fold(0.0, f64::max))
    }
}

/// Everyone's largest.
pub(super) fn largest<const N: usize>(ranks: &dyn Ranks, mine: [f64; N]) -> Result<[f64; N], Error> {
    let mut all = vec![0.0; N * ranks.count()];
    all[ranks.rank() * N..][..N].copy_from_slice(&mine);
    ranks.sum(&mut all)?;
    Ok(std::array::from_fn(|at| all.iter().skip(at).step_by(N).copied().fold(0.0, f64::max)))
}

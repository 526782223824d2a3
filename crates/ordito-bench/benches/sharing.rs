//! What it costs to share work between threads: how much longer a call of the team takes than its longest chunk.
//!
//! ```text
//! cargo bench --bench sharing -- [--threads 2,4,8,16] [--chunk 0,0.5,2,10]
//! ```
//!
//! Every thread has one chunk, which keeps it busy for so many microseconds without touching memory. Calls follow each other at once, so
//! that all threads are awake. Of 41 batches of 50 calls each the median is shown, and the tenth of them from below and above. What
//! `partition` assumes of it stands there.

#![allow(clippy::print_stdout)]

use clap::Parser;
use ordito::machine::Machine;
use std::time::{Duration, Instant};

const BATCHES: usize = 41;
const CALLS: u32 = 50;

/// What it costs to share work between threads.
#[derive(Debug, Parser)]
#[command(name = "sharing")]
struct Options {
    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_value = "2,4,8,16")]
    threads: Vec<usize>,
    /// How long a chunk takes, in microseconds
    #[arg(long, value_delimiter = ',', default_value = "0,0.5,2,10")]
    chunk: Vec<f64>,
    /// What `cargo bench` says to every program
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    println!("threads  chunk µs  longer by µs (tenth from below, above)");
    for &threads in &options.threads {
        let machine = Machine::with_threads(threads)?;
        for &micros in &options.chunk {
            anyhow::ensure!((0.0..=1e6).contains(&micros), "--chunk {micros}: 0 to 1000000 are needed");
            let chunk = Duration::from_secs_f64(micros / 1e6);
            let call = || machine.team().run(threads, move |_| busy_for(chunk));
            let warm = Instant::now();
            while warm.elapsed() < Duration::from_millis(20) {
                call();
            }
            let mut longer: Vec<f64> = (0..BATCHES).map(|_| batch(call) - micros).collect();
            longer.sort_by(f64::total_cmp);
            let at = |tenths: usize| longer[(BATCHES - 1) * tenths / 10];
            println!("{threads:>7}  {micros:>8}  {:.2} ({:.2}, {:.2})", at(5), at(1), at(9));
        }
    }
    Ok(())
}

/// Microseconds of a call.
fn batch(call: impl Fn()) -> f64 {
    let start = Instant::now();
    (0..CALLS).for_each(|_| call());
    start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS)
}

fn busy_for(time: Duration) {
    let start = Instant::now();
    while !time.is_zero() && start.elapsed() < time {
        std::hint::spin_loop();
    }
}

//! Ranks of a real MPI, checked: `mpiexec -n 4 ranks_selftest checks`. `.ci/mpi` runs all of it on several MPIs.
//!
//! Exit codes: 0 all is well, 1 a check failed, 2 ranks could not go on together, and said why.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::panic)]

#[path = "../tests/checks/mod.rs"]
mod checks;

use ordito_mpi::ranks::mpi::Flavour;
use ordito_mpi::ranks::{Collective, Message, Mpi, Patience, Ranks, RanksError, Sum, Tag};
use std::io::Write;
use std::process::{Command, ExitCode, exit};
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let what = std::env::args().nth(1).unwrap_or_default();
    let opened = Patience::from_environment().and_then(Mpi::open);
    // What is to be said is said before MPI is ended: a launcher may end a rank as soon as another has gone.
    let outcome = match &opened {
        Ok(mpi) => run(&what, mpi),
        Err(error) => Err(error.clone()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            say(&error.to_string());
            ExitCode::from(2)
        }
    }
}

/// In one piece: several ranks may say the same at once, and lines that are written word by word would mix.
fn say(what: &str) {
    let line = format!("ranks_selftest: {what}\n");
    let _ = std::io::stderr().write_all(line.as_bytes()); // nobody else could be told
}

fn run(what: &str, mpi: &Mpi) -> Result<bool, RanksError> {
    match what {
        "version" => {
            let (name, level, aware) = (mpi.name(), mpi.thread_level(), mpi.is_cuda_aware());
            println!(
                "rank {} of {name} on {}, threads {level}, CUDA-aware {aware}, {}",
                mpi.rank(),
                mpi.host(),
                mpi.path()
            );
            Ok(true)
        }
        "checks" => Ok(check(mpi) & check(&mpi.in_pieces_of(997))),
        "times" => times(mpi).map(|()| true),
        "long" => long(mpi),
        "twice" => {
            // A second one beside the first: MPI is ended with the last.
            let second = Mpi::open(Patience::default())?;
            let is_well = check(&second);
            drop(second);
            Ok(is_well & check(mpi))
        }
        "communicator" => {
            // As a program that has initialised MPI itself passes it on.
            let number = match Mpi::find()?.flavour {
                Flavour::OpenMpi => 0,
                Flavour::Mpich => 0x4400_0000,
                Flavour::Standard => 0x101,
            };
            let again = Mpi::from_fortran(number, Patience::default())?;
            let is_same = (again.rank(), again.count()) == (mpi.rank(), mpi.count());
            Ok(is_same & check(&again))
        }
        "at-the-end" => {
            // Ranks come to the end one after the other.
            std::thread::sleep(Duration::from_millis(200 * mpi.rank() as u64));
            Ok(true)
        }
        fault => trouble(fault, mpi).map(|()| true),
    }
}

fn check(ranks: &dyn Ranks) -> bool {
    let mut is_well = true;
    for (name, check) in checks::ALL {
        if let Err(why) = check(ranks) {
            say(&format!("rank {} of {}: {name}: {why}", ranks.rank(), ranks.count()));
            is_well = false;
        }
    }
    is_well
}

/// A message longer than MPI can count, from the first rank to the last; both need 2.5 GiB for it. Does it arrive as it was sent?
fn long(mpi: &Mpi) -> Result<bool, RanksError> {
    const BYTES: usize = (5 << 29) + 24; // two pieces and a half, and a little: none ends where a page does
    let last = mpi.count() - 1;
    let to = |rank: usize| vec![Message { rank, bytes: 0..BYTES }];
    let outgoing = if mpi.rank() == 0 && last > 0 { to(last) } else { vec![] };
    let incoming = if mpi.rank() == last && last > 0 { to(0) } else { vec![] };
    let mut exchange = mpi.exchange(Tag::HALO, &outgoing, &incoming)?;
    let word = |place: usize| (place as u64 ^ 0x5851_f42d).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    for (place, bytes) in exchange.outgoing().chunks_exact_mut(8).enumerate() {
        bytes.copy_from_slice(&word(place));
    }
    exchange.start()?;
    (mpi as &dyn Ranks).wait(&mut *exchange)?;
    let arrived = exchange.incoming();
    let wrong = arrived.chunks_exact(8).enumerate().filter(|&(place, bytes)| bytes != word(place)).count();
    let expected: usize = incoming.iter().map(|message| message.bytes.len()).sum();
    if mpi.rank() == last {
        println!(
            "rank {last} of {}: {} bytes in one message, {wrong} words of them wrong",
            mpi.name(),
            arrived.len()
        );
    }
    Ok(wrong == 0 && arrived.len() == expected)
}

/// The last rank is lost in one way or another, while all others wait for it.
fn trouble(fault: &str, mpi: &Mpi) -> Result<(), RanksError> {
    let ranks: &dyn Ranks = mpi;
    ranks.barrier()?;
    if mpi.rank() + 1 == mpi.count() {
        match fault {
            "exits" => exit(0),
            "exits-with-3" => exit(3),
            "killed" => {
                let _ = Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
            }
            "fails" => {
                mpi.fail("the matrix is too large");
                return Err(RanksError::Different("the matrix is too large".to_owned()));
            }
            "panics" => panic!("on purpose"),
            "sleeps" => std::thread::sleep(Duration::from_secs(60)),
            "aborts" => mpi.abort(7),
            other => {
                say(&format!("what is {other:?}?"));
                exit(64);
            }
        }
    }
    // Long messages too: they are on their way when the rank is lost.
    let all = |size: usize| -> Vec<Message> {
        (0..mpi.count()).map(|rank| Message { rank, bytes: rank * size..(rank + 1) * size }).collect()
    };
    let mut long = mpi.exchange(Tag::HALO, &all(1 << 20), &all(1 << 20))?;
    long.start()?;
    let waited = ranks.wait(&mut *long);
    if let Err(error @ (RanksError::TimedOut { .. } | RanksError::Mpi { .. })) = &waited {
        mpi.fail(&error.to_string());
    }
    waited
}

/// Microseconds of one round between two ranks, and of a sum.
fn times(mpi: &Mpi) -> Result<(), RanksError> {
    let ranks: &dyn Ranks = mpi;
    let other = mpi.rank() ^ 1;
    for bytes in [8, 65_536, 1 << 20] {
        let at = [Message { rank: other, bytes: 0..bytes }];
        let list = if other < mpi.count() { &at[..] } else { &[] };
        let mut exchange = mpi.exchange(Tag::HALO, list, list)?;
        let each = median_us(ranks, || {
            exchange.start()?;
            ranks.wait(&mut *exchange)
        })?;
        tell(mpi, &format!("exchange of {bytes} bytes"), each);
    }
    for length in [1, 64] {
        let (mut sum, mut numbers) = (Sum::new(ranks, length)?, vec![0.0; length]);
        let each = median_us(ranks, || sum.add(ranks, &mut numbers))?;
        tell(mpi, &format!("sum of {length} numbers"), each);
    }
    Ok(())
}

fn median_us(
    ranks: &dyn Ranks,
    mut round: impl FnMut() -> Result<(), RanksError>,
) -> Result<f64, RanksError> {
    const ROUNDS: u32 = 200;
    ranks.barrier()?;
    let mut samples = Vec::new();
    for _ in 0..21 {
        let begin = Instant::now();
        (0..ROUNDS).try_for_each(|_| round())?;
        samples.push(begin.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS));
    }
    samples.sort_by(f64::total_cmp);
    Ok(samples[samples.len() / 2])
}

fn tell(mpi: &Mpi, what: &str, each_us: f64) {
    if mpi.rank() == 0 {
        println!("{}: {what}: {each_us:.2} us", mpi.name());
    }
}

//! Measures the ceilings on every thread of a pool at once.

use crate::sample::SampleError;
use crate::sample::ceilings::kernels;
use crate::sample::ceilings::kernels::{BLOCK_LINES, Line};
use crate::sample::ceilings::{Bandwidth, Ceilings};
use ordito::cpu::{CpuInfo, Pool, SimdLevel};
use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// Working sets whose bandwidth is measured: inside L2, inside L3, in memory, on most machines.
pub(crate) const WORKING_SETS: [u64; 7] =
    [256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, 1024 * MIB];
/// Every pass reads at least so much per thread: half a millisecond at 140 GB/s, well above the cost of starting
/// the threads together.
const LEAST_BYTES_PER_PASS: u64 = 64 * MIB;
/// The best of so many passes counts: a ceiling is what the machine can do when nobody disturbs it.
const PASSES: usize = 4;
/// Steps of the multiply-add loop in a pass: about half a millisecond. Ten times as many passes as for
/// reading: they cost little, and what disturbs one seldom disturbs all.
const FMA_STEPS: u64 = 100_000;
const FMA_PASSES: usize = 10 * PASSES;

/// What is available divided by this may be taken.
pub(super) const SHARE: u64 = 4;

/// The sizes that fit: none over a quarter of the available memory, the smallest always.
pub(crate) fn working_sets(available_memory_bytes: Option<u64>) -> impl Iterator<Item = u64> {
    let limit = available_memory_bytes.map_or(64 * MIB, |bytes| bytes / SHARE);
    WORKING_SETS.into_iter().filter(move |&bytes| bytes <= limit.max(WORKING_SETS[0]))
}

pub(crate) fn measure(cpu: &CpuInfo, pool: &Pool) -> Result<Ceilings, SampleError> {
    let threads = pool.threads();
    let sizes: Vec<u64> = working_sets(cpu.available_memory_bytes).collect();
    let peaks = || {
        let f32 = peak_gflops(pool, |steps| kernels::multiply_add_f32(cpu.simd, steps));
        let f64 = peak_gflops(pool, |steps| kernels::multiply_add_f64(cpu.simd, steps));
        (f32, f64)
    };
    // The peaks take a few milliseconds, which another program's time slice can cover: measured at both
    // ends, a second apart, the better counts.
    let before = peaks();
    let read = read_bandwidths(cpu.simd, pool, &sizes)?;
    let after = peaks();
    let ceilings = Ceilings {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        cpu_model: cpu.model.clone(),
        threads,
        simd: cpu.simd,
        read,
        peak_gflops_f32: before.0.max(after.0),
        peak_gflops_f64: before.1.max(after.1),
    };
    match ceilings.is_sound() {
        true => Ok(ceilings),
        false => Err(SampleError::Ceilings("the clock is too coarse".to_owned())),
    }
}

/// Every thread fills a buffer of its own (so that its pages lie near it) and reads growing parts of it,
/// all threads at once.
fn read_bandwidths(level: SimdLevel, pool: &Pool, sizes: &[u64]) -> Result<Vec<Bandwidth>, SampleError> {
    let threads = pool.threads();
    let most_lines = sizes.iter().map(|&bytes| lines_for(bytes, threads)).max().unwrap_or(0);
    // Counted before the threads meet at the barrier: one that gave up alone would keep the others waiting.
    let buffers: Option<Vec<Vec<Line>>> = pool.broadcast(|_| filled(most_lines)).into_iter().collect();
    let Some(buffers) = buffers else {
        let bytes = most_lines * threads * size_of::<Line>();
        return Err(SampleError::Ceilings(format!("{bytes} bytes cannot be allocated")));
    };
    let best = |lines: usize, streams: usize| {
        let bytes_per_thread = (lines * size_of::<Line>()) as u64;
        let repetitions = LEAST_BYTES_PER_PASS.div_ceil(bytes_per_thread);
        let seconds = best_of_passes(PASSES, pool, |thread| {
            for _ in 0..repetitions {
                black_box(kernels::read(level, streams, black_box(&buffers[thread][..lines])));
            }
        });
        (repetitions * bytes_per_thread * threads as u64) as f64 / seconds / 1e9
    };
    let measured = |&working_set_bytes: &u64| {
        let lines = lines_for(working_set_bytes, threads);
        let gbytes_per_s = best(lines, 1).max(best(lines, 4));
        Bandwidth { working_set_bytes, gbytes_per_s }
    };
    let mut read: Vec<Bandwidth> = sizes.iter().map(measured).collect();
    never_rising(&mut read);
    Ok(read)
}

/// What is read that fast from a larger working set is read at least that fast from a smaller one: where the
/// numbers say otherwise, the smaller one was disturbed.
fn never_rising(read: &mut [Bandwidth]) {
    let mut fastest: f64 = 0.0;
    for read in read.iter_mut().rev() {
        fastest = fastest.max(read.gbytes_per_s);
        read.gbytes_per_s = fastest;
    }
}

/// A thread's share of the working set, in whole blocks.
fn lines_for(bytes: u64, threads: usize) -> usize {
    let lines = usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<Line>() / threads.max(1);
    lines.max(1).next_multiple_of(BLOCK_LINES)
}

fn filled(lines: usize) -> Option<Vec<Line>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(lines).ok()?;
    buffer.resize(lines, Line([1; 8]));
    Some(buffer)
}

fn peak_gflops(pool: &Pool, multiply_add: impl Fn(u64) -> u64 + Sync) -> f64 {
    let seconds = best_of_passes(FMA_PASSES, pool, |_| {
        black_box(multiply_add(black_box(FMA_STEPS)));
    });
    let flops_per_thread = multiply_add(1) * FMA_STEPS;
    (flops_per_thread * pool.threads() as u64) as f64 / seconds / 1e9
}

/// Seconds that the slowest thread took in the best pass. The threads start together, and each reads the
/// clock itself: waking them is no part of the time.
fn best_of_passes(passes: usize, pool: &Pool, work: impl Fn(usize) + Sync) -> f64 {
    let together = Barrier::new(pool.threads());
    let timed = |thread: usize| {
        together.wait();
        let start = Instant::now();
        work(thread);
        start.elapsed().as_secs_f64()
    };
    // One broadcast for all passes, and one pass more than counts: the first warms up.
    let by_thread = pool.broadcast(|thread| {
        let seconds = (0..=passes).map(|_| timed(thread));
        seconds.collect::<Vec<f64>>()
    });
    let slowest = |pass: usize| by_thread.iter().map(|seconds| seconds[pass]).fold(0.0, f64::max);
    (1..=passes).map(slowest).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_machines_measure_small_sets() {
        assert_eq!(working_sets(Some(u64::MAX)).count(), WORKING_SETS.len());
        assert_eq!(working_sets(Some(64 * MIB)).collect::<Vec<_>>(), WORKING_SETS[..4]);
        assert_eq!(working_sets(Some(0)).collect::<Vec<_>>(), WORKING_SETS[..1]);
        assert_eq!(working_sets(None).last(), Some(64 * MIB));
    }

    #[test]
    fn a_disturbed_size_takes_the_larger_ones_bandwidth() {
        let mut read: Vec<Bandwidth> = [(1, 90.0), (2, 10.0), (3, 20.0), (4, 5.0)]
            .map(|(working_set_bytes, gbytes_per_s)| Bandwidth { working_set_bytes, gbytes_per_s })
            .to_vec();
        never_rising(&mut read);
        assert_eq!(read.iter().map(|r| r.gbytes_per_s).collect::<Vec<_>>(), [90.0, 20.0, 20.0, 5.0]);
    }

    #[test]
    fn shares_are_whole_blocks() {
        assert_eq!(lines_for(256 * KIB, 1), 4096);
        assert_eq!(lines_for(256 * KIB, 3) % BLOCK_LINES, 0);
        assert_eq!(lines_for(256 * KIB, 100_000), BLOCK_LINES);
    }

    #[test]
    fn two_threads_give_finite_numbers() {
        let pool = Pool::new(2).unwrap();
        let read = read_bandwidths(SimdLevel::Portable, &pool, &[64 * KIB]).unwrap();
        assert!(read[0].gbytes_per_s.is_finite() && read[0].gbytes_per_s > 0.0);
    }
}

//! Empties the caches between samples: a matrix that fits them looks faster than it is in a program that
//! does other things in between.

use crate::sample::SampleError;
use ordito::machine::Machine;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The least and the most that is worth walking through: unknown caches are rarely larger than 32 MiB, and
/// more than 1 GiB would take longer than what is measured.
const LEAST_BYTES: u64 = 64 << 20;
const MOST_BYTES: u64 = 1 << 30;
const LINE_BYTES: usize = 64;
const WORDS_PER_LINE: usize = LINE_BYTES / size_of::<u64>();

/// A buffer larger than the caches; walking through it pushes everything else out.
#[derive(Debug)]
pub struct CacheFlush {
    /// Atomics, because every thread needs its share at the same moment: relaxed loads and stores are plain
    /// ones, and the walk needs no `unsafe`.
    words: Vec<AtomicU64>,
    /// All cores: private caches are only emptied by their own.
    machine: Arc<Machine>,
}

impl CacheFlush {
    /// Twice the last-level cache, but at least 64 MiB and at most 1 GiB; every thread of the machine walks a part
    /// of it.
    pub fn new(machine: Arc<Machine>) -> Result<Self, SampleError> {
        let bytes = buffer_bytes(machine.cpu().last_level_cache_bytes());
        let words = usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<u64>();
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(words).map_err(|_| SampleError::FlushBuffer { bytes })?;
        buffer.resize_with(words, AtomicU64::default);
        Ok(CacheFlush { words: buffer, machine })
    }

    /// Reads and writes one word of every cache line.
    pub fn flush(&self) {
        let parts = self.machine.threads();
        self.machine.pool().broadcast(|part| {
            let lines = self.words.len() / WORDS_PER_LINE;
            let share = lines * part / parts * WORDS_PER_LINE..lines * (part + 1) / parts * WORDS_PER_LINE;
            for word in self.words[share].iter().step_by(WORDS_PER_LINE) {
                word.store(word.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
            }
        });
    }
}

fn buffer_bytes(last_level_cache_bytes: Option<u64>) -> u64 {
    last_level_cache_bytes.unwrap_or(0).saturating_mul(2).clamp(LEAST_BYTES, MOST_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_follows_the_cache_within_limits() {
        assert_eq!(buffer_bytes(None), 64 << 20);
        assert_eq!(buffer_bytes(Some(1 << 20)), 64 << 20);
        assert_eq!(buffer_bytes(Some(100 << 20)), 200 << 20);
        assert_eq!(buffer_bytes(Some(u64::MAX)), 1 << 30);
    }

    #[test]
    fn every_line_is_written_once_by_any_number_of_threads() {
        for threads in [1, 3] {
            let flush = CacheFlush::new(Machine::with_threads(threads).unwrap()).unwrap();
            flush.flush();
            let lines = flush.words.iter().step_by(WORDS_PER_LINE);
            assert!(lines.map(|word| word.load(Ordering::Relaxed)).all(|count| count == 1));
        }
    }
}

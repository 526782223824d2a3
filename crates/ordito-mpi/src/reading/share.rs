//! What a rank holds of a file before entries go to the rows' owners: entries that follow each other, of all ranks about as many.

use ordito::Scalar;
use ordito::io::matrix_market::parts::Batch;
use ordito::io::{ReadError, bytes_per_entry};
use std::collections::VecDeque;

/// How much is worked on at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pieces {
    /// Text that is read at a time. Its entries are copied out of the cache.
    pub(super) segment_bytes: usize,
    /// Entries that are on their way at a time, those of all ranks together: they may all be for the same one.
    pub(super) entries_per_round: usize,
}

/// The fewest entries that a rank sends at a time: messages that are shorter cost as much.
const FEWEST_PER_ROUND: usize = 1 << 12;
/// The most: more gain nothing.
const MOST_PER_ROUND: usize = 1 << 20;

impl Default for Pieces {
    fn default() -> Self {
        Pieces { segment_bytes: 16 << 20, entries_per_round: 1 << 24 }
    }
}

impl Pieces {
    /// Entries that one of so many ranks sends at a time.
    fn per_rank(&self, ranks: usize) -> usize {
        let fewest = FEWEST_PER_ROUND.min(self.entries_per_round);
        (self.entries_per_round / ranks).clamp(fewest, MOST_PER_ROUND)
    }
}

/// Some entries.
pub(super) struct Triplets<S> {
    pub(super) rows: Vec<u32>,
    pub(super) cols: Vec<u32>,
    pub(super) values: Vec<S>,
}

/// The entries that a rank holds, in pieces that are sent one after the other.
pub(super) struct Share<S> {
    pub(super) pieces: VecDeque<Triplets<S>>,
    entries_per_piece: usize,
    entries: u64,
    limit: Limit,
}

impl<S: Scalar> Share<S> {
    pub(super) fn new(pieces: Pieces, ranks: usize, limit: Limit) -> Self {
        let entries_per_piece = pieces.per_rank(ranks);
        Share { pieces: VecDeque::new(), entries_per_piece, entries: 0, limit }
    }

    /// How many entries it holds.
    pub(super) fn entries(&self) -> u64 {
        self.entries
    }

    pub(super) fn push(&mut self, batch: Batch<'_, S>) -> Result<(), ReadError> {
        self.entries += batch.rows.len() as u64;
        self.limit.check::<S>(self.entries)?;
        let places = batch.rows.chunks(self.entries_per_piece).zip(batch.cols.chunks(self.entries_per_piece));
        for ((rows, cols), values) in places.zip(batch.values.chunks(self.entries_per_piece)) {
            let (rows, cols, values) = (rows.to_vec(), cols.to_vec(), values.to_vec());
            self.pieces.push_back(Triplets { rows, cols, values });
        }
        Ok(())
    }
}

/// What a rank may hold.
#[derive(Debug, Clone)]
pub(super) struct Limit {
    name: String,
    max_bytes: u64,
}

impl Limit {
    /// `max_bytes` for each of so many ranks; `name` is what is read.
    pub(super) fn new(name: &str, max_bytes: u64, ranks: usize) -> Self {
        let name = if ranks == 1 { name.to_owned() } else { format!("{name} on one of {ranks} ranks") };
        Limit { name, max_bytes }
    }

    /// Refuses more triplets on a rank than are allowed.
    pub(super) fn check<S>(&self, entries: u64) -> Result<(), ReadError> {
        let bytes = entries.saturating_mul(bytes_per_entry::<S>());
        if bytes <= self.max_bytes {
            return Ok(());
        }
        Err(ReadError::TooLarge { name: self.name.clone(), entries, bytes, limit: Some(self.max_bytes) })
    }
}

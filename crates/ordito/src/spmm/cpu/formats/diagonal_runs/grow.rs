//! How many chunks stand on the same diagonals?

use crate::matrix::lanes;
use crate::spmm::cpu::formats::diagonal_runs::find::{ChunkDiagonals, every_lane};
use crate::spmm::cpu::formats::diagonal_runs::run::Header;

/// A new run costs a kernel about as much as so many diagonals of a chunk: where a loop ends is not foreseen.
const NEW_RUN: usize = 8;

/// A run to which chunks are added; the memory is used again for the next.
#[derive(Default)]
pub(crate) struct Growing {
    pub(crate) room: Room,
    pub(crate) chunks: usize,
    nonzeros: usize,
    /// Columns in the run's first row, rising.
    diagonals: Vec<i32>,
    /// Those with the next chunk.
    with_next: Vec<i32>,
    /// Of every chunk its diagonals, counted from the run's first row, and their masks; and where those of a chunk end.
    parts: Vec<(i32, u16)>,
    ends: Vec<usize>,
}

/// How much memory chunks may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Room {
    /// No more than CSR.
    #[default]
    AsCsr,
    /// Half as much again: zeros of a matrix in the caches take less time than gathers.
    HalfAsMuchAgain,
}

impl Room {
    /// Diagonals that a chunk with so many nonzeros may have: values, masks and the diagonals take memory.
    pub(crate) fn most_diagonals<S>(self, nonzeros: usize) -> usize {
        let of_a_diagonal = lanes::<S>() * size_of::<S>() + size_of::<u16>() + size_of::<u32>();
        let of_csr = nonzeros * (size_of::<S>() + size_of::<u32>());
        (self.of(of_csr) / of_a_diagonal).min(Header::MOST_DIAGONALS)
    }

    /// Of what CSR takes.
    pub(crate) fn of(self, bytes: usize) -> usize {
        match self {
            Room::AsCsr => bytes,
            Room::HalfAsMuchAgain => bytes.saturating_add(bytes / 2),
        }
    }
}

impl Growing {
    /// Adds a chunk, if that pays. A run without chunks takes any for which there is room.
    pub(crate) fn take<S>(&mut self, chunk: &ChunkDiagonals, nonzeros: usize) -> bool {
        let shift = (self.chunks * lanes::<S>()) as i32;
        self.merge(chunk, shift);
        let (apart, together) = (
            self.chunks * self.diagonals.len() + chunk.found.len(),
            (self.chunks + 1) * self.with_next.len(),
        );
        let pays = self.chunks == 0 || together <= apart + NEW_RUN;
        if !pays || together > self.room.most_diagonals::<S>(self.nonzeros + nonzeros) {
            return false;
        }
        std::mem::swap(&mut self.diagonals, &mut self.with_next);
        self.parts.extend(chunk.found.iter().map(|&(diagonal, mask)| (diagonal - shift, mask)));
        self.ends.push(self.parts.len());
        (self.chunks, self.nonzeros) = (self.chunks + 1, self.nonzeros + nonzeros);
        true
    }

    /// Both rise.
    fn merge(&mut self, chunk: &ChunkDiagonals, shift: i32) {
        self.with_next.clear();
        let mut mine = self.diagonals.iter().copied().peekable();
        for &(diagonal, _) in &chunk.found {
            let diagonal = diagonal - shift;
            while let Some(before) = mine.next_if(|&mine| mine < diagonal) {
                self.with_next.push(before);
            }
            mine.next_if_eq(&diagonal);
            self.with_next.push(diagonal);
        }
        self.with_next.extend(mine);
    }

    /// Appends what describes the run, and begins the next. Tells how many values it has.
    pub(crate) fn end<S>(&mut self, words: &mut Vec<u32>) -> usize {
        if self.chunks == 0 {
            return 0;
        }
        let places = self.chunks * self.diagonals.len();
        let full =
            self.parts.len() == places && self.parts.iter().all(|&(_, mask)| mask == every_lane::<S>());
        words.push(Header::of_diagonals(self.chunks, self.diagonals.len(), !full).0);
        words.extend(self.diagonals.iter().map(|&diagonal| diagonal as u32));
        if !full {
            self.push_masks(words);
        }
        (self.chunks, self.nonzeros) = (0, 0);
        self.diagonals.clear();
        self.parts.clear();
        self.ends.clear();
        places * lanes::<S>()
    }

    /// A mask for every chunk and diagonal, two to a word, the first in the lower half.
    fn push_masks(&self, words: &mut Vec<u32>) {
        let (mut start, mut half) = (0, None);
        for &end in &self.ends {
            let mut part = self.parts[start..end].iter().peekable();
            for &diagonal in &self.diagonals {
                let mask =
                    part.next_if(|&&(here, _)| here == diagonal).map_or(0, |&(_, mask)| u32::from(mask));
                half = match half {
                    None => Some(mask),
                    Some(first) => {
                        words.push(first | mask << 16);
                        None
                    }
                };
            }
            start = end;
        }
        words.extend(half);
    }
}

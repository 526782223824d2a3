//! Which diagonals do the nonzeros of a few consecutive rows stand on?

use crate::Scalar;
use crate::matrix::{CsrSlices, lanes};
use std::ops::Range;

/// Lanes of f32, the most there are.
pub(crate) const MOST_LANES: usize = 16;

/// Above any diagonal: a row that has no entries left.
const NONE_LEFT: i32 = i32::MAX;

/// The diagonals of one chunk; the memory is used again for the next.
#[derive(Default)]
pub(crate) struct ChunkDiagonals {
    /// Column of lane 0, which may be negative, and the lanes that hold a nonzero. Rising.
    pub(crate) found: Vec<(i32, u16)>,
}

impl ChunkDiagonals {
    /// Merges the rows by `column − lane`. `false` where there are more diagonals than `most`, where a row's columns do not rise, or
    /// where 31 bits do not hold them: what was found is then of no use.
    pub(crate) fn find<S: Scalar>(&mut self, a: CsrSlices<'_, S>, rows: Range<usize>, most: usize) -> bool {
        self.found.clear();
        if a.cols() > i32::MAX as usize {
            return false;
        }
        let mut heads = Heads::new(a, rows);
        while let Some((diagonal, mask)) = heads.least::<S>() {
            if self.found.len() == most {
                return false;
            }
            self.found.push((diagonal, mask));
            let rising = if mask == every_lane::<S>() {
                (0..lanes::<S>()).fold(true, |rising, lane| rising & heads.take(lane))
            } else {
                let with_it = (0..lanes::<S>()).filter(|lane| mask >> lane & 1 == 1);
                with_it.fold(true, |rising, lane| rising & heads.take(lane))
            };
            if !rising {
                return false;
            }
        }
        true
    }
}

/// The mask of a full diagonal.
pub(crate) const fn every_lane<S>() -> u16 {
    ((1u32 << lanes::<S>()) - 1) as u16
}

/// The next entry of every row of a chunk, and the diagonal it stands on.
struct Heads<'a> {
    columns: &'a [u32],
    next: [usize; MOST_LANES],
    end: [usize; MOST_LANES],
    diagonals: [i32; MOST_LANES],
}

impl<'a> Heads<'a> {
    fn new<S: Scalar>(a: CsrSlices<'a, S>, rows: Range<usize>) -> Self {
        let (next, end) = ([0; MOST_LANES], [0; MOST_LANES]);
        let mut heads = Heads { columns: a.columns(), next, end, diagonals: [NONE_LEFT; MOST_LANES] };
        for (lane, row) in rows.enumerate() {
            (heads.next[lane], heads.end[lane]) = (a.offsets()[row], a.offsets()[row + 1]);
            heads.diagonals[lane] = heads.diagonal(lane);
        }
        heads
    }

    /// Where the next entry of a lane stands.
    #[inline(always)]
    fn diagonal(&self, lane: usize) -> i32 {
        let next = self.next[lane];
        if next < self.end[lane] { self.columns[next] as i32 - lane as i32 } else { NONE_LEFT }
    }

    /// The least diagonal that has entries left, and which lanes have one there.
    #[inline(always)]
    fn least<S: Scalar>(&self) -> Option<(i32, u16)> {
        let first = self.diagonals[0];
        let differ =
            self.diagonals[..lanes::<S>()].iter().fold(0, |differ, diagonal| differ | (diagonal ^ first));
        if differ == 0 {
            return (first != NONE_LEFT).then_some((first, every_lane::<S>())); // the most frequent case, so first
        }
        let least = self.diagonals.iter().fold(NONE_LEFT, |least, &diagonal| least.min(diagonal));
        let lanes = self.diagonals.iter().enumerate();
        let mask = lanes.fold(0, |mask, (lane, &diagonal)| mask | u16::from(diagonal == least) << lane);
        Some((least, mask))
    }

    /// Goes on to the next entry of a lane. Does it stand in a higher column, if there is one?
    #[inline(always)]
    fn take(&mut self, lane: usize) -> bool {
        let diagonal = self.diagonals[lane];
        self.next[lane] += 1;
        self.diagonals[lane] = self.diagonal(lane);
        self.diagonals[lane] > diagonal
    }
}

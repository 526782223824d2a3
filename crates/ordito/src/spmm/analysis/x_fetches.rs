//! How many rows of X and Y a core has to fetch for every nonzero, when it takes the rows of A in some order: a model of its
//! second-level cache, of a sample. What the first-level cache misses costs little beside (cage10 at K = 16: a third fewer such
//! misses, and no gain).
//!
//! Its constants were set without the matrices that the yardstick holds out, on those that it does not and on meshes with shuffled
//! points (f64 and f32, K = 4 to 64). That clusters gain at all was first seen on some of those held out.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::CsrSlices;

/// Walks through A, at even distances, and the part of all nonzeros that each sees: a quarter in all.
const WALKS: usize = 4;
const PART_OF_WALK: usize = 16;
const LINE_BYTES: usize = 64;
/// What lies behind a line that was touched so many nonzeros ago the processor fetches by itself, ahead of time; what that
/// leaves of the cost.
const RECENT: u32 = 256;
const STREAMED: f64 = 0.25;
/// Rows of Y that do not follow each other are fetched too, but nobody waits for them: CONT-300, whose rows have three nonzeros, gains
/// less from half as many fetches of X than other matrices do.
const OF_Y: f64 = 0.25;
/// What a fetch costs beside a nonzero whose row of X is in the cache. Between 1.6 and 3 on meshes with shuffled rows, K = 16 to 64.
const FETCH: f64 = 3.0;
/// A gain from which on another order is worth its while; where rows of X are shorter than two lines, A and Y take more of the time.
/// Clusters that promise less were no faster (soc-Epinions1, GL7d25, p2p-Gnutella31; CONT-300 at K = 8 and 12).
const WORTHWHILE: f64 = 1.12;
const WORTHWHILE_OF_SHORT_ROWS: f64 = 1.3;
/// An order is grown only where the best one there could be would gain this much.
const PROMISING: f64 = 1.25;

/// A cache for rows of X.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cache {
    /// A line holds `2^rows_shift` rows of X, or a part of one.
    rows_shift: u32,
    /// Rows of X are shorter than two lines.
    short_rows: bool,
    /// Rows of X (where several lie in one line: lines) that it holds.
    places: usize,
}

impl Cache {
    /// The second-level cache of a core, where its size is known.
    pub(crate) fn of(machine: &Machine, k: usize, scalar_bytes: usize) -> Option<Self> {
        machine.cpu().l2_bytes.map(|bytes| Cache::new(bytes, k, scalar_bytes))
    }

    fn new(bytes: u64, k: usize, scalar_bytes: usize) -> Self {
        let row_bytes = k.saturating_mul(scalar_bytes).max(1);
        let places = usize::try_from(bytes).unwrap_or(usize::MAX) / row_bytes.max(LINE_BYTES);
        Cache {
            rows_shift: (LINE_BYTES / row_bytes).max(1).ilog2(),
            short_rows: row_bytes < 2 * LINE_BYTES,
            places,
        }
    }

    fn lines(&self, cols: usize) -> usize {
        cols.div_ceil(1 << self.rows_shift)
    }

    /// Does it hold all of X?
    pub(crate) fn holds(&self, cols: usize) -> bool {
        self.lines(cols) <= self.places
    }

    /// Fetches for every nonzero with rows as they stand, if another order could save enough of them: each line fetched once, and
    /// that ahead of time.
    pub(crate) fn wasted<S: Scalar>(&self, a: CsrSlices<'_, S>) -> Option<f64> {
        // Of more lines than there are nonzeros little could be used again, and a model of them would take more memory than A.
        if self.holds(a.cols()) || self.lines(a.cols()) > a.nnz() {
            return None;
        }
        let least = self.lines(a.cols()).min(a.nnz()) as f64 / a.nnz().max(1) as f64;
        let found = self.fetches(a, |row| row);
        (Cache::gain(found, STREAMED * least) >= PROMISING).then_some(found)
    }

    /// Fetches for every nonzero when row `row(i)` comes as the `i`-th; those that come ahead of time count less.
    ///
    /// The cache is thought to forget everything whenever it is full: that needs no list of what was used last. At most it
    /// doubles the fetches of a cache of half the size that forgets what was used longest ago; bands just below its size look dear.
    pub(crate) fn fetches<S: Scalar>(&self, a: CsrSlices<'_, S>, row: impl Fn(usize) -> usize) -> f64 {
        let last = vec![0; self.lines(a.cols())];
        let mut walk = Walk { cache: *self, last, now: 0, emptied: 0, held: 0, fetched: 0.0 };
        let most = (a.nnz() / PART_OF_WALK).min(u32::MAX as usize / (2 * WALKS)) as u32;
        for start in 0..WALKS {
            let end = walk.now + most;
            walk.empty();
            let mut row_before = usize::MAX;
            for place in start * a.rows() / WALKS..a.rows() {
                if walk.now >= end {
                    break;
                }
                let row = row(place);
                walk.fetched += if row == row_before.wrapping_add(1) { OF_Y * STREAMED } else { OF_Y };
                row_before = row;
                let range = a.range(row);
                let range = range.start..range.end.min(range.start + most as usize);
                a.columns()[range].iter().for_each(|&column| walk.touch(column));
            }
        }
        walk.fetched / f64::from(walk.now.max(1))
    }

    /// Is it worth another order of rows that so many fetches become so few?
    pub(crate) fn worthwhile(&self, before: f64, after: f64) -> bool {
        Cache::gain(before, after) >= if self.short_rows { WORTHWHILE_OF_SHORT_ROWS } else { WORTHWHILE }
    }

    /// How many times as fast a product becomes when so many fetches become so few.
    fn gain(before: f64, after: f64) -> f64 {
        (1.0 + FETCH * before) / (1.0 + FETCH * after)
    }
}

struct Walk {
    cache: Cache,
    /// When each line was touched last; 0: never.
    last: Vec<u32>,
    now: u32,
    emptied: u32,
    held: usize,
    fetched: f64,
}

impl Walk {
    fn empty(&mut self) {
        (self.emptied, self.held) = (self.now, 0);
    }

    #[inline]
    fn touch(&mut self, column: u32) {
        let line = (column >> self.cache.rows_shift) as usize;
        let last = std::mem::replace(&mut self.last[line], self.now + 1);
        self.now += 1;
        if last > self.emptied {
            return;
        }
        if self.held == self.cache.places {
            self.empty();
        }
        self.held += 1;
        let before = if line > 0 { self.last[line - 1] } else { 0 };
        let streamed = before > 0 && self.now - before <= RECENT;
        self.fetched += if streamed { STREAMED } else { 1.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io;
    use crate::matrix::{Csr, Duplicates};

    fn matrix(name: &str) -> Csr<f64> {
        Csr::from_coo(&io::load(name, &Default::default()).unwrap().coo, Duplicates::Sum)
    }

    #[test]
    fn rows_of_x_share_lines_or_take_several() {
        let cache = |rows_shift, short_rows, places| Cache { rows_shift, short_rows, places };
        assert_eq!(Cache::new(1 << 20, 64, 8), cache(0, false, 2048));
        assert_eq!(Cache::new(1 << 20, 8, 8), cache(0, true, 16_384));
        assert_eq!(Cache::new(1 << 20, 3, 8), cache(1, true, 16_384));
        assert_eq!(Cache::new(1 << 20, 1, 4), cache(4, true, 16_384));
        assert!(Cache::new(1 << 20, 0, 4).holds(1 << 20));
        assert!(Cache::new(1 << 20, 64, 8).holds(2048) && !Cache::new(1 << 20, 64, 8).holds(2049));
    }

    #[test]
    fn random_columns_are_fetched_and_bands_come_ahead_of_time() {
        let cache = Cache::new(1 << 20, 64, 8);
        let random = matrix("uniform:20000x8");
        let fetched = cache.fetches(random.view(), |row| row);
        assert!((0.9..=1.01).contains(&fetched), "{fetched}");
        assert_eq!(cache.wasted(random.view()), Some(fetched));
        let band = matrix("band:20000x8");
        let fetched = cache.fetches(band.view(), |row| row);
        assert!((0.03..0.05).contains(&fetched), "{fetched}"); // an eighth, and of that a quarter; a little for Y
        assert_eq!(cache.wasted(band.view()), None);
        // The same band with far rows beside each other: every entry is fetched anew.
        let far = |place: usize| place * 7919 % 20_000;
        assert!(cache.fetches(band.view(), far) > 8.0 * fetched);
    }

    #[test]
    fn matrices_without_entries_fetch_nothing() {
        let cache = Cache::new(0, 64, 8);
        for name in ["empty:0x0", "empty:5x7"] {
            assert_eq!(cache.fetches(matrix(name).view(), |row| row), 0.0);
            assert_eq!(cache.wasted(matrix(name).view()), None);
        }
    }

    #[test]
    fn gains_grow_with_what_is_saved() {
        assert_eq!(Cache::gain(0.5, 0.5), 1.0);
        assert!(Cache::gain(0.5, 0.1) > Cache::gain(0.5, 0.2) && Cache::gain(0.1, 0.2) < 1.0);
        assert!(
            Cache::new(1 << 20, 16, 8).worthwhile(0.3, 0.2)
                && !Cache::new(1 << 20, 8, 8).worthwhile(0.3, 0.2)
        );
        assert!(Cache::new(1 << 20, 8, 8).worthwhile(0.7, 0.2));
    }
}

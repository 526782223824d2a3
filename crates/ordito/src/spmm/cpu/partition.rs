//! How the rows of a matrix are shared out: chunks of about equal work, for the threads to take.

use std::ops::Range;

/// Nonzeros that are summed up in one go; of a longer row the sums of such pieces are added in order. Threads that share a row
/// take whole pieces, so that a result has the same bits however many they are.
pub(crate) const PIECE: usize = 16 * 1024;
/// Chunks for every thread: enough that one which was held up can be helped, few enough that taking them costs nothing.
const CHUNKS_PER_THREAD: usize = 8;
/// Steps of a chunk where every thread has more than one: rows of Y that another thread takes over have to come from its cache.
/// CSR sorted by length on two threads, K = 8 to 32, over MKL with a sixteenth of it and with half: ash958 0.99–1.47 and 1.11–1.54,
/// west2021 0.89–1.55 and 1.01–1.53, lp_e226 1.01–1.28 and 1.01–1.32.
const LEAST_WORK: usize = 128 * 1024;
/// What a nonzero costs beside its columns, as so many of them: one column takes 0.35 to 0.7 ns for a nonzero, 16 take 0.8 to 1.3
/// (generated matrices of 4000 to 80 000 nonzeros that fit the caches, on a Xeon with AVX-512).
const OF_A_NONZERO: usize = 6;
/// What it costs that another thread takes part at all, in steps: eleven generated matrices break even on two cores at 30 to 45
/// thousand steps, which take 2 to 2.6 µs on one thread (`measurements/2026-11-18-xeon-2-cores/sharing.csv.gz`).
const SHARING: usize = 18_000;
/// And every one of them: an empty call takes 0.6 to 1 µs on 2 threads and most often 1.4 to 1.7 on 16 (`cargo bench --bench sharing`,
/// sixteen cores), so about 0.05 µs for each.
const OF_A_THREAD: usize = 900;

/// How much work a product is, in steps: columns of a nonzero, and what it takes beside them. A row counts as one more nonzero: writing
/// its part of Y is work too.
pub(crate) fn work(nonzeros: usize, rows: usize, k: usize) -> usize {
    nonzeros.saturating_add(rows).saturating_mul(k.saturating_add(OF_A_NONZERO))
}

/// How many threads are worth their cost, where there are enough: a power of two, so that borders of chunks for fewer threads are
/// borders for more, too, and formats can keep apart what different threads write.
pub(crate) fn threads_worth(work: usize) -> usize {
    let best = work.div_ceil(OF_A_THREAD).isqrt().max(1);
    let power = 1 << best.ilog2();
    if best as u128 * best as u128 > 2 * (power as u128 * power as u128) { 2 * power } else { power }
}

/// With how many threads so many steps are done soonest.
pub(crate) fn threads_for(threads: usize, work: usize) -> usize {
    let most = threads.min(threads_worth(work)).max(1);
    let shared = (work / most).saturating_add(SHARING + most * OF_A_THREAD);
    if shared < work { most } else { 1 }
}

/// How many chunks so many steps are worth.
pub(crate) fn chunk_count(threads: usize, work: usize) -> usize {
    let threads = threads_for(threads, work);
    if threads == 1 {
        return 1;
    }
    // As many for each, or one thread would have to take from another even if nobody is held up.
    threads.saturating_mul((work / LEAST_WORK / threads).clamp(1, CHUNKS_PER_THREAD))
}

/// Cuts `count` things into `chunks` ranges of about equal work; `work_before(i)` is that of the first `i`.
pub(crate) fn even_borders(count: usize, chunks: usize, work_before: impl Fn(usize) -> usize) -> Vec<usize> {
    let total = work_before(count) as u128;
    let mut borders = vec![0; chunks + 1];
    for chunk in 1..=chunks {
        let target = (total * chunk as u128 / chunks as u128) as usize;
        let (mut low, mut high) = (borders[chunk - 1], count); // the first that begins at or after the target
        while low < high {
            let middle = low + (high - low) / 2;
            if work_before(middle) < target { low = middle + 1 } else { high = middle }
        }
        borders[chunk] = low;
    }
    borders[chunks] = count;
    borders
}

/// An eighth of a chunk: so much more or less work one may have so that it begins with a window. (Not measured apart.)
const UNEVEN: usize = 8;

/// Moves borders to the nearest of `places`, which ascend, where a chunk has not much more work or less for it.
pub(crate) fn snap(borders: &mut [usize], places: &[usize], work_before: impl Fn(usize) -> usize) {
    let [_, inner @ .., end] = borders else { return };
    let most = work_before(*end) / (inner.len() + 1) / UNEVEN;
    for border in inner {
        let at = places.partition_point(|&place| place < *border);
        let around = &places[at.saturating_sub(1)..places.len().min(at + 1)];
        let moved = |place: usize| work_before(place).abs_diff(work_before(*border));
        if let Some(&nearest) =
            around.iter().min_by_key(|&&place| moved(place)).filter(|&&place| moved(place) <= most)
        {
            *border = nearest;
        }
    }
}

/// Where a chunk begins: before a row, or before a piece of a long one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Border {
    row: usize,
    piece: usize,
}

/// A row that more than one chunk works on. The sums of its pieces are kept, and added in order when all are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CutRow {
    pub(crate) row: usize,
    /// Where the sums of its pieces stand among those of all cut rows.
    pub(crate) slots: Range<usize>,
}

/// What a chunk consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Rows from beginning to end.
    Rows(Range<usize>),
    /// One piece of a row: its entries, and where its sum goes.
    Piece { entries: Range<usize>, slot: usize },
}

/// The rows of a CSR matrix in chunks.
#[derive(Debug, Clone)]
pub(crate) struct RowChunks {
    borders: Vec<Border>,
    cut_rows: Vec<CutRow>,
}

fn pieces(length: usize) -> usize {
    length.div_ceil(PIECE)
}

impl RowChunks {
    /// Of `k` columns on so many threads. A row counts as one more than its nonzeros: writing its part of Y is work too.
    pub(crate) fn new(offsets: &[usize], k: usize, threads: usize) -> Self {
        let rows = offsets.len() - 1;
        let work_before = |row: usize| offsets[row] + row;
        let total = work_before(rows);
        let chunks = chunk_count(threads, work(offsets[rows], rows, k));
        let mut borders = vec![Border { row: 0, piece: 0 }];
        for chunk in 1..chunks {
            let target = (total as u128 * chunk as u128 / chunks as u128) as usize;
            let (mut low, mut high) = (0, rows); // the last row that begins at or before the target
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if work_before(middle) <= target { low = middle } else { high = middle }
            }
            let (length, inside) = (offsets[low + 1] - offsets[low], target - work_before(low));
            let piece = (inside + PIECE / 2) / PIECE;
            let next = if length > PIECE { piece >= pieces(length) } else { 2 * inside > length };
            borders.push(match next {
                true => Border { row: low + 1, piece: 0 },
                false => Border { row: low, piece: if length > PIECE { piece } else { 0 } },
            });
        }
        borders.push(Border { row: rows, piece: 0 });
        let mut cut_rows: Vec<CutRow> = Vec::new();
        for border in borders.iter().filter(|border| border.piece > 0) {
            let (row, slot) = (border.row, cut_rows.last().map_or(0, |cut| cut.slots.end));
            if cut_rows.last().is_none_or(|cut| cut.row != row) {
                let pieces = pieces(offsets[row + 1] - offsets[row]);
                cut_rows.push(CutRow { row, slots: slot..slot + pieces });
            }
        }
        RowChunks { borders, cut_rows }
    }

    /// How many.
    pub(crate) fn count(&self) -> usize {
        self.borders.len() - 1
    }

    /// Rows at which chunks begin and end; empty where a row is shared between chunks.
    pub(crate) fn of_whole_rows(&self) -> Vec<usize> {
        let is_shared = !self.cut_rows.is_empty();
        self.borders.iter().filter(|_| !is_shared).map(|border| border.row).collect()
    }

    /// Rows that are put together from their pieces when all chunks are done. Nearly always there are none.
    pub(crate) fn cut_rows(&self) -> &[CutRow] {
        &self.cut_rows
    }

    /// Sums of pieces that have to be kept, of each column.
    pub(crate) fn slots(&self) -> usize {
        self.cut_rows.last().map_or(0, |cut| cut.slots.end)
    }

    /// What one of them consists of.
    pub(crate) fn parts(&self, chunk: usize, offsets: &[usize]) -> impl Iterator<Item = Part> {
        let (start, end) = (self.borders[chunk], self.borders[chunk + 1]);
        let of_row = |row: usize, first: usize, last: Option<usize>| {
            let (entries, slots) = (offsets[row]..offsets[row + 1], self.slots_of(row));
            (first..last.unwrap_or(slots.len())).map(move |piece| {
                let first_entry = entries.start + piece * PIECE;
                let entries = first_entry..entries.end.min(first_entry + PIECE);
                Part::Piece { entries, slot: slots.start + piece }
            })
        };
        let same_row = start.row == end.row;
        let head = (start.piece > 0).then(|| of_row(start.row, start.piece, same_row.then_some(end.piece)));
        let rows = start.row + usize::from(start.piece > 0)..end.row;
        let tail =
            (end.piece > 0 && !(same_row && start.piece > 0)).then(|| of_row(end.row, 0, Some(end.piece)));
        let rows = (rows.start < rows.end).then_some(Part::Rows(rows));
        head.into_iter().flatten().chain(rows).chain(tail.into_iter().flatten())
    }

    fn slots_of(&self, row: usize) -> Range<usize> {
        let at = self.cut_rows.partition_point(|cut| cut.row < row);
        self.cut_rows.get(at).map_or(0..0, |cut| cut.slots.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets_of(lengths: &[usize]) -> Vec<usize> {
        let mut offsets = vec![0];
        lengths.iter().for_each(|length| offsets.push(offsets.last().unwrap() + length));
        offsets
    }

    /// Every row in one chunk, or every piece of it once; slots in order.
    fn covers(lengths: &[usize], k: usize, threads: usize) -> RowChunks {
        let offsets = offsets_of(lengths);
        let chunks = RowChunks::new(&offsets, k, threads);
        let (mut next, mut slots) = (0, 0);
        for part in (0..chunks.count()).flat_map(|chunk| chunks.parts(chunk, &offsets)) {
            match part {
                Part::Rows(rows) => {
                    assert_eq!(offsets[rows.start], next);
                    next = offsets[rows.end];
                }
                Part::Piece { entries, slot } => {
                    assert_eq!((entries.start, slot), (next, slots));
                    assert!((1..=PIECE).contains(&entries.len()));
                    let inside = chunks.cut_rows().iter().find(|cut| cut.slots.contains(&slot)).unwrap();
                    assert_eq!((entries.start - offsets[inside.row]) % PIECE, 0);
                    (next, slots) = (entries.end, slots + 1);
                }
            }
        }
        assert_eq!((next, slots), (*offsets.last().unwrap(), chunks.slots()), "{threads} threads");
        chunks
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn every_entry_is_in_one_chunk() {
        let long = 10 * PIECE + 7;
        for lengths in [
            vec![],
            vec![0; 10],
            vec![1000; 1000],
            vec![long],
            vec![long, 1, 1, 1],
            vec![1, 1, 0, long],
            vec![3, long, long, 0, PIECE, PIECE + 1, 5],
            (0..5000).map(|row| row * 7919 % 50).collect(),
        ] {
            for (threads, k) in [(1, 1), (2, 1), (2, 100), (3, 8), (16, 3)] {
                covers(&lengths, k, threads);
            }
        }
    }

    #[test]
    fn a_long_row_is_shared_and_a_small_matrix_is_not() {
        let chunks = covers(&[1, 100 * PIECE, 1], 1, 2);
        assert_eq!((chunks.count(), chunks.cut_rows().len(), chunks.slots()), (16, 1, 100));
        assert_eq!(covers(&[10; 100], 8, 2).count(), 1);
    }

    #[test]
    fn small_products_take_few_threads() {
        // 1000 rows of 3 nonzeros: 28 to 88 thousand steps.
        let threads = |k: usize| threads_for(16, work(3000, 1000, k));
        assert_eq!([1, 4, 16].map(threads), [1, 8, 8]);
        assert_eq!([3000, 6000, 9000].map(|nonzeros| threads_for(2, work(nonzeros, 1000, 1))), [1, 2, 2]);
        assert_eq!(threads_for(16, work(100_000, 20_000, 8)), 16);
        assert_eq!((threads_for(1, usize::MAX), threads_for(usize::MAX, 0)), (1, 1));
        // Never more than there are, and more where there is more to do.
        let all: Vec<usize> = (0..40).map(|power| threads_for(64, 1 << power)).collect();
        assert!(all.is_sorted() && all.last() == Some(&64), "{all:?}");
    }

    #[test]
    fn borders_move_to_a_place_that_is_near() {
        let mut borders = vec![0, 99, 205, 350, 400];
        snap(&mut borders, &[0, 100, 200, 300, 400], |row| row);
        assert_eq!(borders, [0, 100, 200, 350, 400]);
        // By work, not by number: all of it is before 100.
        let mut borders = vec![0, 150, 400];
        snap(&mut borders, &[0, 100, 400], |row| row.min(100));
        assert_eq!(borders, [0, 100, 400]);
        snap(&mut [], &[1], |row| row);
    }

    #[test]
    fn borders_are_even_up_to_one_row() {
        let lengths: Vec<usize> = (0..1000).map(|row| row * 7919 % 50).collect();
        let offsets = offsets_of(&lengths);
        let borders = even_borders(1000, 4, |row| offsets[row] + row);
        let total = offsets[1000] + 1000;
        for pair in borders.windows(2) {
            let work = offsets[pair[1]] + pair[1] - offsets[pair[0]] - pair[0];
            assert!(work.abs_diff(total / 4) <= 50, "{work} of {total}");
        }
        assert_eq!(even_borders(0, 3, |_| 0), [0; 4]);
    }
}

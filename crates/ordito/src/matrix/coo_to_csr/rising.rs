//! Do places rise, and where do their rows end? One look at each of them answers both.

#[cfg(target_arch = "x86_64")]
use crate::simd::SimdLevel;

/// If every place comes after the one before it: for every row from `first_row` on, where its entries end in the whole
/// matrix, of which these are the entries from `start` on. Otherwise `false`, and anything in `ends`, which are zeros before.
pub(crate) fn ends_if_rising(
    (rows, columns): (&[u32], &[u32]),
    start: usize,
    first_row: usize,
    ends: &mut [usize],
) -> bool {
    let mut ends = Ends { start, first_row, ends };
    let rises = match best() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the CPU has the instructions.
        Best::Avx2 => unsafe { avx2::rises(rows, columns, &mut ends) },
        Best::Plain => rises(rows, columns, 0, &mut ends),
    };
    if rises {
        ends.fill_empty_rows();
    }
    rises
}

enum Best {
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Plain,
}

fn best() -> Best {
    #[cfg(target_arch = "x86_64")]
    if SimdLevel::in_use() >= SimdLevel::Avx2 {
        return Best::Avx2;
    }
    Best::Plain
}

/// Where rows end, as far as it is known.
struct Ends<'a> {
    start: usize,
    first_row: usize,
    ends: &'a mut [usize],
}

impl Ends<'_> {
    /// `false`: there is no such row.
    #[inline(always)]
    fn put(&mut self, row: u32, end: usize) -> bool {
        let place = self.ends.get_mut((row as usize).wrapping_sub(self.first_row));
        place.map(|place| *place = self.start + end).is_some()
    }

    /// They end where the row before them does.
    fn fill_empty_rows(&mut self) {
        let mut before = self.start;
        for end in &mut *self.ends {
            before = before.max(*end);
            *end = before;
        }
    }
}

/// From the entry `from` on.
fn rises(rows: &[u32], columns: &[u32], from: usize, ends: &mut Ends<'_>) -> bool {
    let Some(&last) = rows.last() else { return true };
    for entry in from..rows.len() - 1 {
        let (row, row_after) = (rows[entry], rows[entry + 1]);
        let in_order = match row == row_after {
            true => columns[entry] < columns[entry + 1],
            false => row < row_after && ends.put(row, entry + 1),
        };
        if !in_order {
            return false;
        }
    }
    ends.put(last, rows.len())
}

/// Eight at a time: a mask says which of them are the last of their row, and only those are looked at one by one. Of 3.2
/// million entries that takes 3 ms of one core; comparing four at a time, and one store for every entry, took 5.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::Ends;
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32,
        _mm256_loadu_si256, _mm256_movemask_ps, _mm256_or_si256, _mm256_set1_epi32, _mm256_xor_si256,
    };

    const LANES: usize = 8;

    #[target_feature(enable = "avx2")]
    pub(crate) fn rises(rows: &[u32], columns: &[u32], ends: &mut Ends<'_>) -> bool {
        let mut entry = 0;
        while entry + LANES < rows.len() {
            let (row, row_after) = (load(rows, entry), load(rows, entry + 1));
            let (column, column_after) = (load(columns, entry), load(columns, entry + 1));
            let new_row = below(row, row_after);
            let same_row = _mm256_cmpeq_epi32(row, row_after);
            let in_order = _mm256_or_si256(new_row, _mm256_and_si256(same_row, below(column, column_after)));
            if mask(in_order) != 0xFF {
                return false;
            }
            let mut last_of_rows = mask(new_row);
            while last_of_rows != 0 {
                let last = entry + last_of_rows.trailing_zeros() as usize;
                if !ends.put(rows[last], last + 1) {
                    return false;
                }
                last_of_rows &= last_of_rows - 1;
            }
            entry += LANES;
        }
        super::rises(rows, columns, entry, ends)
    }

    #[target_feature(enable = "avx2")]
    fn load(numbers: &[u32], at: usize) -> __m256i {
        let numbers = &numbers[at..at + LANES];
        // SAFETY: as many as a register holds.
        unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
    }

    /// These instructions compare signed numbers: with the first bit turned around that is the same.
    #[target_feature(enable = "avx2")]
    fn below(a: __m256i, b: __m256i) -> __m256i {
        let sign = _mm256_set1_epi32(i32::MIN);
        _mm256_cmpgt_epi32(_mm256_xor_si256(b, sign), _mm256_xor_si256(a, sign))
    }

    /// A bit for every lane.
    #[target_feature(enable = "avx2")]
    fn mask(lanes: __m256i) -> u32 {
        _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the fastest way and by the plain one, which agree.
    fn ends(rows: &[u32], columns: &[u32], first_row: usize, row_count: usize) -> Option<Vec<usize>> {
        let mut found = vec![0; row_count];
        let fast = ends_if_rising((rows, columns), 100, first_row, &mut found);
        let mut plain = Ends { start: 100, first_row, ends: &mut vec![0; row_count] };
        assert_eq!(fast, rises(rows, columns, 0, &mut plain));
        fast.then(|| {
            plain.fill_empty_rows();
            assert_eq!(found, plain.ends);
            found
        })
    }

    #[test]
    fn rows_end_behind_their_last_entry() {
        assert_eq!(ends(&[11, 11, 13], &[4, 5, 0], 10, 5).unwrap(), [100, 102, 102, 103, 103]);
        assert_eq!(ends(&[], &[], 10, 2).unwrap(), [100, 100]);
        let rows: Vec<u32> = (0..3000).map(|entry| entry / 7).collect();
        let columns: Vec<u32> = (0..3000).map(|entry| entry % 7 + u32::MAX / 2 - 3).collect();
        let found = ends(&rows, &columns, 0, 430).unwrap();
        assert!(found[..428].iter().enumerate().all(|(row, &end)| end == 100 + 7 * (row + 1)));
        assert_eq!(found[428..], [3100, 3100]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn only_rising_places_are_in_order() {
        let rises = |rows: &[u32], columns: &[u32]| ends(rows, columns, 0, 3000).is_some();
        assert!(rises(&[0, 0, 1], &[1, 2, 0]) && rises(&[3], &[3]));
        assert!(!rises(&[0, 0, 1], &[2, 2, 0]) && !rises(&[0, 0, 1], &[2, 1, 0]) && !rises(&[1, 0], &[0, 1]));
        let rows: Vec<u32> = (0..3000).collect();
        for fault in [1, 7, 8, 9, 1023, 2048, 2991, 2992, 2999] {
            let mut wrong = rows.clone();
            wrong[fault] = wrong[fault - 1];
            assert!(rises(&rows, &rows) && !rises(&wrong, &vec![0; 3000]), "{fault}");
            wrong[fault - 1] = 5000;
            assert!(!rises(&wrong, &rows), "{fault}");
        }
        // Rows that are not there.
        assert!(ends(&rows, &rows, 0, 2999).is_none() && ends(&rows, &rows, 1, 3000).is_none());
    }
}

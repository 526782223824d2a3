//! Windows of rows that formats sort inside. Threads that share a window would write rows of Y in turns, to cache lines that they take from
//! each other; so there are windows for as many threads as share a small product, each of about the same work, and every window
//! begins on cache lines of its own, as far as Y does. They depend on the pattern alone: bits do not depend on the number of threads.

use crate::cpu::parallel;
use crate::spmm::cpu::partition::{even_borders, threads_for, work};

/// Rows of a window at most; 128 and 2048 do as well (`measurements/2026-11-19-xeon-2-cores`). Wide enough that neighbours in the order have the same length, narrow enough that Y is still written nearly
/// in order.
pub(crate) const MOST_ROWS: usize = 512;
/// A window begins at a multiple of so many rows: one cache line of Y in f32 with one column, two in f64, and whole vectors.
const STEP: usize = 16;
/// Windows are cut for products with so many columns. More columns take more threads, but then fewer rows of Y share a cache line.
const COLUMNS: usize = 2;

/// The rows at which windows begin, and the number of rows at last.
pub(crate) fn row_windows(offsets: &[usize]) -> Vec<usize> {
    let rows = offsets.len() - 1;
    let shares = threads_for(rows.div_ceil(STEP), work(offsets[rows], rows, COLUMNS));
    let shares = even_borders(rows, shares, |row| offsets[row] + row);
    let mut borders = vec![0];
    for end in shares {
        let end = if end == rows { rows } else { end.next_multiple_of(STEP).min(rows) };
        let start = borders[borders.len() - 1];
        if start < end {
            let windows = (end - start).div_ceil(MOST_ROWS);
            let of_window = (end - start).div_ceil(windows).next_multiple_of(STEP);
            borders.extend((start..end).step_by(of_window).skip(1));
            borders.push(end);
        }
    }
    borders
}

/// Every row once, in order of length inside its window, equally long ones as they stand. On the threads of the current rayon pool.
pub(crate) fn by_length(offsets: &[usize], windows: &[usize]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..(offsets.len() - 1) as u32).collect(); // rows fit 32 bits, as `check_dimensions` sees to
    let mut rest = &mut order[..];
    let to_sort = windows
        .windows(2)
        .map(|pair| rest.split_off_mut(..pair[1] - pair[0]).expect("windows cover the rows"))
        .collect();
    let length = |&row: &u32| offsets[row as usize + 1] - offsets[row as usize];
    parallel::for_each(to_sort, |rows: &mut [u32]| rows.sort_by_key(length));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets_of(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
        std::iter::once(0)
            .chain(lengths.scan(0, |sum, length| {
                *sum += length;
                Some(*sum)
            }))
            .collect()
    }

    #[test]
    fn windows_cover_the_rows_and_begin_on_lines_of_their_own() {
        for rows in [0, 1, 15, 16, 17, 500, 1000, 3000, 100_001] {
            for length in [0, 1, 5, 300] {
                let offsets = offsets_of((0..rows).map(|row| length * (1 + row % 3)));
                let windows = row_windows(&offsets);
                assert_eq!((windows[0], windows[windows.len() - 1]), (0, rows));
                for pair in windows.windows(2) {
                    assert!(pair[0] < pair[1] && pair[1] - pair[0] <= MOST_ROWS && pair[0] % STEP == 0);
                }
            }
        }
    }

    #[test]
    fn threads_of_a_small_product_have_windows_of_equal_work() {
        // The last quarter of the rows has half of the nonzeros.
        let lengths = (0..4000).map(|row| if row < 3000 { 5 } else { 15 });
        let offsets = offsets_of(lengths);
        let windows = row_windows(&offsets);
        let work = |row: usize| offsets[row] + row;
        for threads in [2, 4, 8] {
            for border in even_borders(4000, threads, work) {
                let nearest = windows.iter().map(|&row| work(row).abs_diff(work(border))).min().unwrap();
                assert!(nearest * threads * 16 <= work(4000), "{threads}: {border} in {windows:?}");
            }
        }
    }

    #[test]
    fn rows_stay_in_their_windows() {
        let offsets = offsets_of([3, 1, 2, 1, 0, 5, 4, 4].into_iter());
        assert_eq!(by_length(&offsets, &[0, 4, 8]), [1, 3, 2, 0, 4, 6, 7, 5]);
        assert!(by_length(&[0], &[0]).is_empty());
    }

    #[test]
    fn a_tiny_matrix_is_one_window_and_a_heavy_row_ends_one() {
        assert_eq!(row_windows(&offsets_of([2; 300].into_iter())), [0, 300]);
        let heavy = offsets_of((0..2000).map(|row| if row == 700 { 100_000 } else { 3 }));
        let windows = row_windows(&heavy);
        assert!(windows.windows(2).any(|pair| pair[1] == 704), "{windows:?}");
    }
}

//! Rows × columns of Y as one iteration space, shared out to threads.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::DenseViewMut;
use crate::spmm::cpu::ladder::csr_threads_rows::rows_per_chunk;
use std::ops::Range;

/// Who takes which elements of Y.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schedule {
    /// One even stretch for every thread.
    Even,
    /// Chunks as long as a thread's share of the *rows*, dealt in turn: OpenMP's `schedule(static, chunk) collapse(2)`, whose chunk
    /// was made for the loop over rows and is counted in elements.
    Dealt,
}

impl Schedule {
    fn elements_per_chunk(self, (rows, cols): (usize, usize), threads: usize) -> usize {
        match self {
            Schedule::Even => (rows * cols).div_ceil(threads),
            Schedule::Dealt => rows_per_chunk(rows, threads),
        }
    }
}

/// Calls `element` with row, column and place of every element of Y, once, unless it is interrupted.
pub(crate) fn collapsed<S: Scalar>(
    machine: &Machine,
    schedule: Schedule,
    y: DenseViewMut<'_, S>,
    element: impl Fn(usize, usize, &mut S) + Sync,
) {
    let (rows, cols, distance, threads) = (y.rows(), y.cols(), y.leading_dimension(), machine.threads());
    if rows == 0 || cols == 0 {
        return;
    }
    // Where iteration i stands in memory.
    let position = |iteration: usize| iteration / cols * distance + iteration % cols;
    let (iterations, chunk) = (rows * cols, schedule.elements_per_chunk((rows, cols), threads));
    let mut shares: Vec<Vec<(Range<usize>, &mut [S])>> = (0..threads).map(|_| Vec::new()).collect();
    let (mut rest, mut done) = (y.into_data(), 0);
    for (turn, first) in (0..iterations).step_by(chunk).enumerate() {
        let iterations = first..(first + chunk).min(iterations);
        let end = position(iterations.end - 1) + 1;
        let (_gap, from_first) = rest.split_at_mut(position(first) - done);
        let (mine, others) = from_first.split_at_mut(end - position(first));
        (rest, done) = (others, end);
        shares[turn % threads].push((iterations, mine));
    }
    machine.pool().run_shares(shares, |share| {
        for (iterations, y) in share {
            let start = position(iterations.start);
            let (mut row, mut col) = (iterations.start / cols, iterations.start % cols);
            for _ in iterations {
                element(row, col, &mut y[row * distance + col - start]);
                col += 1;
                if col == cols {
                    (row, col) = (row + 1, 0);
                    if machine.interrupt().is_set() {
                        return;
                    }
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Dense;

    #[test]
    fn every_element_is_visited_once_and_no_gap_is_touched() {
        for (threads, schedule) in [1, 2, 3, 7]
            .map(|threads| (threads, Schedule::Even))
            .into_iter()
            .chain([1, 2, 3, 7].map(|threads| (threads, Schedule::Dealt)))
        {
            let machine = Machine::with_threads(threads).unwrap();
            for (rows, cols, distance) in
                [(5, 3, 3), (5, 3, 4), (1, 1, 9), (2, 16, 17), (0, 3, 3), (3, 0, 2), (70, 5, 6)]
            {
                let mut y =
                    Dense::with_leading_dimension(rows, cols, distance, vec![-1.0; rows * distance]).unwrap();
                collapsed(&machine, schedule, y.view_mut(), |row, col, y| {
                    *y += 1.0 + (row * 100 + col) as f64;
                });
                for (at, &found) in y.data().iter().enumerate() {
                    let (row, col) = (at / distance, at % distance);
                    assert_eq!(found, if col < cols { (row * 100 + col) as f64 } else { -1.0 });
                }
            }
        }
    }

    #[test]
    fn chunks_are_of_rows_where_they_are_dealt() {
        assert_eq!(Schedule::Even.elements_per_chunk((100, 8), 3), 267);
        assert_eq!(
            Schedule::Dealt.elements_per_chunk((100, 8), 3),
            32,
            "a third of 100 rows, a multiple of 16"
        );
        assert_eq!(Schedule::Dealt.elements_per_chunk((3, 8), 2), 16);
    }
}

//! Threaded padded ELLPACK: rows × columns of Y collapsed into one iteration space, cut into one even stretch per
//! thread; X is transposed first, so that a sum walks one column of X. Touches the padding, and X twice more.
//! Loses on skewed matrices (padding), and where transposing X costs as much as the product.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut, EllPadded};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::host::{HostKernel, OnHost, transpose};
use crate::spmm::cpu::kernels::epilogue::update;
use crate::spmm::cpu::ladder::ell_padded_serial::pad;
use crate::spmm::product::{Product, Spmm, Subject};
use std::ops::Range;
use std::sync::Arc;

pub(crate) struct EllPaddedThreads;

struct Kernel<S> {
    a: EllPadded<S>,
    machine: Arc<Machine>,
    x_columns: Vec<S>,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn repack(&mut self, x: DenseView<'_, S>) -> bool {
        transpose(x, &mut self.x_columns)
    }

    fn multiply(&mut self, alpha: S, x: DenseView<'_, S>, beta: S, y: DenseViewMut<'_, S>) {
        let (a, x_rows, x_columns) = (&self.a, x.rows(), &self.x_columns);
        collapsed(&self.machine, y, |row, k, y| {
            let places = row * a.width()..(row + 1) * a.width();
            let x_column = &x_columns[k * x_rows..(k + 1) * x_rows];
            let mut sum = S::ZERO;
            for (&col, &value) in a.columns()[places.clone()].iter().zip(&a.values()[places]) {
                sum += value * x_column[col as usize];
            }
            update(y, alpha, sum, beta);
        });
    }
}

/// Every element (row, column) of Y once, unless it is interrupted: the whole of rows × columns as one iteration space, of which each
/// thread takes one contiguous stretch.
pub(crate) fn collapsed<S: Scalar>(
    machine: &Machine,
    y: DenseViewMut<'_, S>,
    element: impl Fn(usize, usize, &mut S) + Sync,
) {
    let (rows, cols, distance, threads) = (y.rows(), y.cols(), y.leading_dimension(), machine.threads());
    if rows == 0 || cols == 0 {
        return;
    }
    // Where iteration i stands in memory.
    let position = |iteration: usize| iteration / cols * distance + iteration % cols;
    let iterations = rows * cols;
    let mut shares: Vec<(Range<usize>, &mut [S])> = Vec::with_capacity(threads);
    let (mut rest, mut done) = (y.into_data(), 0);
    for thread in 0..threads {
        let stretch = iterations * thread / threads..iterations * (thread + 1) / threads;
        let end =
            if stretch.end == iterations { position(iterations - 1) + 1 } else { position(stretch.end) };
        let (mine, others) = rest.split_at_mut(end - done);
        rest = others;
        done = end;
        shares.push((stretch, mine));
    }
    machine.pool().run_shares(shares, |(stretch, y)| {
        let Some(first) = stretch.clone().next() else { return };
        let start = position(first);
        let (mut row, mut col) = (first / cols, first % cols);
        for _ in stretch {
            element(row, col, &mut y[row * distance + col - start]);
            col += 1;
            if col == cols {
                (row, col) = (row + 1, 0);
                if machine.interrupt().is_set() {
                    break;
                }
            }
        }
    });
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "ell-padded-threads-elements",
    "padded ELLPACK, X transposed, rows × columns collapsed and split evenly; padding spreads NaN of X's first row",
    Place::Threads,
    source_file!("spmm/cpu/ladder/ell_padded_threads.rs"),
)
.ladder()
.converted()
.never_chosen();

impl<S: Scalar> Variant<Spmm<S>> for EllPaddedThreads {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let shape = (subject.a.rows(), subject.a.cols());
        let kernel = Kernel { a: pad(machine, &subject.a)?, machine: machine.clone(), x_columns: Vec::new() };
        Ok(OnHost::boxed(machine, kernel, shape, subject.k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Dense;

    #[test]
    fn every_element_is_visited_once_and_no_gap_is_touched() {
        for threads in [1, 2, 3, 7] {
            let machine = Machine::with_threads(threads).unwrap();
            for (rows, cols, distance) in [(5, 3, 3), (5, 3, 4), (1, 1, 9), (2, 16, 17), (0, 3, 3), (3, 0, 2)]
            {
                let mut y =
                    Dense::with_leading_dimension(rows, cols, distance, vec![-1.0; rows * distance]).unwrap();
                collapsed(&machine, y.view_mut(), |row, col, y| *y += 1.0 + (row * 100 + col) as f64);
                for (at, &found) in y.data().iter().enumerate() {
                    let (row, col) = (at / distance, at % distance);
                    assert_eq!(found, if col < cols { (row * 100 + col) as f64 } else { -1.0 });
                }
            }
        }
    }
}

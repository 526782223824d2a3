//! Where the values of runs stand.

use crate::Scalar;
use crate::matrix::{CsrSlices, lanes};
use crate::spmm::cpu::formats::diagonal_runs::run::{Pattern, Patterns};
use std::ops::Range;

/// Writes the values of the runs of these rows: those on diagonals, between which nothing is touched, and those of rows.
pub(crate) fn place<S: Scalar>(
    a: CsrSlices<'_, S>,
    rows: Range<usize>,
    mut patterns: Patterns<'_>,
    mut on_diagonals: &mut [S],
    mut in_rows: &mut [S],
) {
    let lanes = lanes::<S>();
    let mut first = rows.start;
    while let Some(pattern) = patterns.next::<S>() {
        match pattern {
            Pattern::Rows { lengths, columns } => {
                let entries = a.offsets()[first]..a.offsets()[first + lengths.len()];
                next(&mut in_rows, columns.len()).copy_from_slice(&a.values()[entries]);
                first += lengths.len();
            }
            Pattern::Diagonals { chunks, diagonals, .. } => {
                let values = next(&mut on_diagonals, chunks * diagonals.len() * lanes);
                let of_run = first..(first + chunks * lanes).min(rows.end);
                for (row, at) in of_run.clone().enumerate() {
                    let (place, entries) = (row / lanes * diagonals.len() * lanes + row % lanes, a.range(at));
                    if !entries.is_empty() {
                        let (columns, from) = (&a.columns()[entries.clone()], &a.values()[entries]);
                        put(columns, from, row, diagonals, &mut values[place..]);
                    }
                }
                first = of_run.end;
            }
        }
    }
}

/// The entries of a row, which rise as the diagonals do: each to the next diagonal that goes through its column.
#[inline(always)]
fn put<S: Scalar>(columns: &[u32], values: &[S], row: usize, diagonals: &[u32], to: &mut [S]) {
    let mut diagonal = 0;
    for (&column, &value) in columns.iter().zip(values) {
        while diagonals[diagonal].wrapping_add(row as u32) != column {
            diagonal += 1;
        }
        to[diagonal * lanes::<S>()] = value;
        diagonal += 1;
    }
}

/// Takes the next elements.
#[inline(always)]
fn next<'a, T>(left: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (taken, rest) = std::mem::take(left).split_at_mut(count);
    *left = rest;
    taken
}

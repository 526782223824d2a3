//! Where the values of chunks stand.

use crate::Scalar;
use crate::matrix::{CsrSlices, lanes};
use crate::spmm::cpu::formats::diagonal_chunks::chunk::{Pattern, Patterns};
use crate::spmm::cpu::formats::diagonal_chunks::find::MOST_LANES;
use crate::spmm::cpu::formats::side_by_side::alternate;
use std::ops::Range;

/// Writes the values of the chunks of these rows: those on full diagonals, and all others.
pub(crate) fn place<S: Scalar>(
    a: CsrSlices<'_, S>,
    rows: Range<usize>,
    mut patterns: Patterns<'_>,
    full_values: &mut [S],
    other_values: &mut [S],
) {
    let mut to = Places { full: full_values, other: other_values };
    let mut first = rows.start;
    while let Some(pattern) = patterns.next::<S>() {
        let rows = first..(first + lanes::<S>()).min(rows.end);
        first = rows.end;
        match pattern {
            Pattern::Rows { .. } => to.put_rows(&a.values()[a.offsets()[rows.start]..a.offsets()[rows.end]]),
            Pattern::Diagonals { full, partial, masks } => {
                let mut left = [&[][..]; MOST_LANES];
                left.iter_mut().zip(rows).for_each(|(left, row)| *left = &a.values()[a.range(row)]);
                let left = &mut left[..lanes::<S>()];
                // Entries of a row stand in the order of their diagonals, which are in two lists.
                let mut placed = 0;
                for (&diagonal, &mask) in partial.iter().zip(masks) {
                    let before =
                        full[placed..].iter().take_while(|&&full| (full as i32) < diagonal as i32).count();
                    to.put_full(left, before);
                    to.put_partial(left, mask);
                    placed += before;
                }
                to.put_full(left, full.len() - placed);
            }
        }
    }
}

/// What has not been written yet.
struct Places<'a, S> {
    full: &'a mut [S],
    other: &'a mut [S],
}

impl<S: Scalar> Places<'_, S> {
    fn put_rows(&mut self, values: &[S]) {
        next(&mut self.other, values.len()).copy_from_slice(values);
    }

    /// So many diagonals that every lane has.
    #[inline(always)]
    fn put_full(&mut self, left: &mut [&[S]], diagonals: usize) {
        alternate(left, next(&mut self.full, diagonals * left.len()));
        left.iter_mut().for_each(|left| *left = &left[diagonals..]);
    }

    /// One diagonal that has the lanes of the mask.
    #[inline(always)]
    fn put_partial(&mut self, left: &mut [&[S]], mask: u16) {
        let with_it = left.iter_mut().enumerate().filter(|(lane, _)| mask >> lane & 1 == 1);
        let places = next(&mut self.other, mask.count_ones() as usize);
        for (to, (_, left)) in places.iter_mut().zip(with_it) {
            (*to, *left) = (left[0], &left[1..]);
        }
    }
}

/// Takes the next elements.
#[inline(always)]
fn next<'a, T>(left: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (taken, rest) = std::mem::take(left).split_at_mut(count);
    *left = rest;
    taken
}

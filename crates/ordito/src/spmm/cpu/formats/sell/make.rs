//! How the rows of a window are ordered and laid side by side: their columns, and then their values.

use crate::Scalar;
use crate::matrix::CsrSlices;
use crate::matrix::lanes;
use crate::spmm::cpu::formats::sell::Slice;
use crate::spmm::cpu::formats::side_by_side::alternate;
use std::cmp::Reverse;
use std::ops::Range;

/// Consecutive rows are written as one vector, which saves about half a step of a slice; but where their lengths differ, its end is not
/// foreseen. So many slices for a step more than sorting leaves: over MKL in f64 1.26 with 4, 1.23 where an eighth more steps were left
/// (the geometric mean over 16 generated matrices).
const SLICES_FOR_A_STEP: usize = 4;

/// Lanes of f32, the most there are.
const MOST_LANES: usize = 16;

/// A window while it is made.
pub(crate) struct Made {
    pub(crate) base: u32,
    pub(crate) wide: bool,
    pub(crate) slices: Vec<Slice>,
    pub(crate) places: Vec<u16>,
    pub(crate) lengths: Vec<u16>,
    pub(crate) columns: Vec<u16>,
    /// Entries in slices.
    pub(crate) entries: usize,
}

impl Made {
    pub(crate) fn new<S: Scalar>(a: CsrSlices<'_, S>, rows: Range<usize>, longest: usize) -> Self {
        // Long rows stand elsewhere: here they have no entries. They are not left out, so that slices stay consecutive.
        let short = |row: usize| a.range(row).len() <= longest;
        let length = |row: usize| if short(row) { a.range(row).len() as u16 } else { 0 };
        let lengths: Vec<u16> = rows.clone().map(length).collect();
        let natural: Vec<u16> = (0..rows.len() as u16).collect();
        let mut sorted = natural.clone();
        sorted.sort_by_key(|&row| Reverse(lengths[row as usize]));
        let steps = |order: &[u16]| -> usize {
            let longest = |slice: &[u16]| slice.iter().map(|&row| lengths[row as usize] as usize).max();
            order.chunks(lanes::<S>()).filter_map(longest).sum()
        };
        let slices = rows.len().div_ceil(lanes::<S>());
        let consecutive = steps(&natural) <= steps(&sorted) + slices / SLICES_FOR_A_STEP;
        let order = if consecutive { natural } else { sorted };

        let used = || rows.clone().filter(|&row| short(row)).flat_map(|row| &a.columns()[a.range(row)]);
        let (least, most) = used().fold((u32::MAX, 0), |(least, most), &col| (least.min(col), most.max(col)));
        let wide = least <= most && most - least > u32::from(u16::MAX);
        let base = if wide || least > most { 0 } else { least };

        let entries = lengths.iter().map(|&length| length as usize).sum();
        let mut made = Made {
            base,
            wide,
            slices: Vec::new(),
            places: Vec::new(),
            lengths: Vec::new(),
            columns: Vec::with_capacity(if wide { 2 * entries } else { entries }),
            entries,
        };
        for slice in order.chunks(lanes::<S>()) {
            let mut by_length = slice.to_vec();
            by_length.sort_by_key(|&row| Reverse(lengths[row as usize]));
            made.describe::<S>(slice, &by_length, &lengths, consecutive && slice.len() == lanes::<S>());
            made.fill(a, rows.start, &by_length, &lengths);
        }
        made
    }

    /// Appends the facts of a slice; rows are counted from the window's first.
    fn describe<S: Scalar>(&mut self, slice: &[u16], by_length: &[u16], lengths: &[u16], consecutive: bool) {
        let in_lane = |lane: usize| by_length.get(lane).map_or(0, |&row| lengths[row as usize]);
        let (longest, shortest) = (in_lane(0), in_lane(lanes::<S>() - 1));
        let in_order = consecutive && slice == by_length;
        self.slices.push(Slice { shortest, longest, first_row: slice[0], consecutive, in_order });
        self.lengths.extend((0..lanes::<S>()).map(in_lane));
        let places = self.places.len();
        self.places.resize(places + lanes::<S>(), 0);
        for (lane, &row) in by_length.iter().enumerate() {
            if consecutive {
                self.places[places + (row - slice[0]) as usize] = lane as u16;
            } else {
                self.places[places + lane] = row;
            }
        }
    }

    /// Appends the columns of its entries, step by step.
    fn fill<S: Scalar>(&mut self, a: CsrSlices<'_, S>, first_row: usize, by_length: &[u16], lengths: &[u16]) {
        let mut active: Vec<(usize, u16)> = Vec::with_capacity(lanes::<S>());
        for &row in by_length {
            active.push((a.offsets()[first_row + row as usize], lengths[row as usize]));
        }
        for step in 0.. {
            while active.last().is_some_and(|&(_, length)| length <= step) {
                active.pop();
            }
            if active.is_empty() {
                break;
            }
            for &(start, _) in &active {
                let entry = start + step as usize;
                let column = a.columns()[entry] - self.base;
                self.columns.push(column as u16);
                if self.wide {
                    self.columns.push((column >> 16) as u16);
                }
            }
        }
    }
}

/// Writes the values of a window's entries. `lengths` and `places` have one element for every lane of every slice.
pub(crate) fn place<S: Scalar>(
    a: CsrSlices<'_, S>,
    first_row: usize,
    slices: &[Slice],
    (places, lengths): (&[u16], &[u16]),
    mut to: &mut [S],
) {
    let lanes = places.chunks_exact(lanes::<S>()).zip(lengths.chunks_exact(lanes::<S>()));
    for (slice, (places, lengths)) in slices.iter().zip(lanes) {
        let mut rows = [&[][..]; MOST_LANES];
        for (index, &place) in places.iter().enumerate() {
            let (row, lane) = match slice.consecutive {
                true => (slice.first_row as usize + index, place as usize),
                false => (place as usize, index),
            };
            // Lanes without a row, and long rows, which stand elsewhere, have length 0.
            rows[lane] = &a.values()[a.offsets()[first_row + row]..][..lengths[lane] as usize];
        }
        let rows = &rows[..places.len()];
        let every_lane = slice.shortest as usize;
        let (side_by_side, mut rest) = to.split_at_mut(every_lane * rows.len());
        alternate(rows, side_by_side);
        let mut active = rows.len();
        for step in every_lane..slice.longest as usize {
            while active > 0 && rows[active - 1].len() <= step {
                active -= 1;
            }
            let (these, after) = rest.split_at_mut(active);
            these.iter_mut().zip(rows).for_each(|(to, row)| *to = row[step]);
            rest = after;
        }
        to = rest;
    }
}

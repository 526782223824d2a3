//! How the rows of a window are ordered and laid side by side.

use crate::Scalar;
use crate::matrix::CsrSlices;
use crate::matrix::lanes;
use crate::spmm::cpu::formats::sell::Slice;
use std::cmp::Reverse;
use std::ops::Range;

/// Consecutive rows are written as one vector; that is worth so many more steps in 16 than sorting leaves.
const STEPS_FOR_ORDER: usize = 18;

/// A window while it is made.
pub(crate) struct Made<S> {
    pub(crate) base: u32,
    pub(crate) wide: bool,
    pub(crate) slices: Vec<Slice>,
    pub(crate) places: Vec<u16>,
    pub(crate) lengths: Vec<u16>,
    pub(crate) columns: Vec<u16>,
    pub(crate) values: Vec<S>,
}

impl<S: Scalar> Made<S> {
    pub(crate) fn new(a: CsrSlices<'_, S>, rows: Range<usize>, longest: usize) -> Self {
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
        let consecutive = steps(&natural) * 16 <= steps(&sorted) * STEPS_FOR_ORDER;
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
            values: Vec::with_capacity(entries),
        };
        for slice in order.chunks(lanes::<S>()) {
            let mut by_length = slice.to_vec();
            by_length.sort_by_key(|&row| Reverse(lengths[row as usize]));
            made.describe(slice, &by_length, &lengths, consecutive && slice.len() == lanes::<S>());
            made.fill(a, rows.start, &by_length, &lengths);
        }
        made
    }

    /// Appends the facts of a slice; rows are counted from the window's first.
    fn describe(&mut self, slice: &[u16], by_length: &[u16], lengths: &[u16], consecutive: bool) {
        let in_lane = |lane: usize| by_length.get(lane).map_or(0, |&row| lengths[row as usize]);
        let (longest, shortest) = (in_lane(0), in_lane(lanes::<S>() - 1));
        self.slices.push(Slice { shortest, longest, first_row: slice[0], consecutive });
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

    /// Appends its entries, step by step.
    fn fill(&mut self, a: CsrSlices<'_, S>, first_row: usize, by_length: &[u16], lengths: &[u16]) {
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
                self.values.push(a.values()[entry]);
            }
        }
    }
}

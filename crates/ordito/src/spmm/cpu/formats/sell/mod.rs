//! SELL-C-σ: slices of rows of about the same length, side by side, for products with one column of X.

mod make;
mod steps;

pub(crate) use steps::Steps;

use crate::Scalar;
use crate::cpu::parallel;
#[cfg(test)]
use crate::matrix::FormatError;
use crate::matrix::concat::concat_into;
use crate::matrix::{Csr, CsrSlices, huge_pages, lanes};
use crate::spmm::cpu::formats::row_windows::row_windows;
use crate::spmm::cpu::formats::sell::make::{Made, place};
use crate::spmm::cpu::formats::side_by_side::fill_parts;
use crate::spmm::cpu::formats::values::{Part, Values, same_value};
use std::ops::Range;

/// A sparse matrix in windows of rows and, inside them, slices of as many rows as a vector of 64 bytes has lanes
/// (8 of f64, 16 of f32): the first entries of a slice's rows stand side by side, then the second ones, and so on. The longest
/// row of a slice is in its first lane, so that the rows which have an entry left are always its first lanes: nothing is
/// padded. Rows are sorted by length inside a window where that saves steps; where not, a slice holds consecutive rows.
/// Rows much longer than the others are kept apart, in pieces of 16 K entries.
///
/// Where all entries have the same value, it is stored once.
/// Columns take 16 bits where those of a window are near each other, counted from its base.
///
/// Invariant: every entry stands in one slice or one piece; columns are below `cols`. `places` and `lengths` have one element
/// for every lane of every slice; lanes without a row have length 0. Only [`from_csr`](Self::from_csr) makes one.
#[derive(Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct Sell<S> {
    rows: usize,
    cols: usize,
    windows: Vec<WindowStart>,
    slices: Vec<Slice>,
    /// See [`Slice::consecutive`].
    places: Vec<u16>,
    lengths: Vec<u16>,
    columns: Vec<u16>,
    values: Values<S>,
    pieces: Vec<Piece>,
    piece_columns: Vec<u32>,
    piece_values: Values<S>,
}

/// Entries of a piece of a long row. A fixed number, so that sums do not depend on the number of threads.
const PIECE: usize = 16 * 1024;
/// A row is long with more entries than this, and than [`LONGER_THAN_MEAN`] times the mean: its slice would be one lane.
const LONG_ROW: usize = 256;
const LONGER_THAN_MEAN: usize = 16;

/// What comes before a window.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct WindowStart {
    slice: usize,
    /// In halves: 32-bit columns are two elements, the lower half first.
    column: usize,
    value: usize,
    base: u32,
    wide: bool,
}

impl WindowStart {
    /// Windows begin with a slice, and every slice before it has a row in each lane.
    fn first_row<S>(self) -> usize {
        self.slice * lanes::<S>()
    }
}

/// Rows side by side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slice {
    /// Entries that every lane has.
    pub shortest: u16,
    /// Entries of the first lane.
    pub longest: u16,
    /// Rows, counted from the window's first: where `consecutive`, of the slice's first row; place `i` is then the lane of
    /// the row `i` further on. Otherwise place `l` is the row of lane `l`, and this is not used.
    pub first_row: u16,
    /// Are they consecutive rows, as many as there are lanes?
    pub consecutive: bool,
    /// Is lane `i` the `i`-th of consecutive rows? Then nobody has to look at the places.
    pub in_order: bool,
}

/// Some entries of a long row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Piece {
    /// Its place in the list.
    pub index: usize,
    /// The row.
    pub row: usize,
    /// Its entries in the pieces' columns and values.
    pub entries: Range<usize>,
}

/// A place between two slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Border {
    /// Slices before it.
    slice: usize,
    /// Entries of those slices.
    entry: usize,
}

/// One window, or some of its slices, to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window<'a, S> {
    /// The window's first row.
    pub first_row: usize,
    /// Rows of the slices; the last one may have more lanes.
    pub rows: usize,
    /// To be added to 16-bit columns; 0 with 32 bits.
    pub base: usize,
    /// Its slices.
    pub slices: &'a [Slice],
    /// One for every lane of every slice, see [`Slice`].
    pub places: &'a [u16],
    /// Entries of every lane.
    pub lengths: &'a [u16],
    /// Columns of 16 bits, or in pairs of 32, as [`wide`](Self::wide) says.
    pub columns: &'a [u16],
    /// Are columns 32 bits wide?
    pub wide: bool,
    /// Values, and perhaps more behind them.
    pub values: Part<'a, S>,
}

impl<S: Scalar> Sell<S> {
    /// Rearranges a CSR matrix, on the threads of the current rayon pool; the result does not depend on their number.
    pub(crate) fn from_csr(a: &Csr<S>) -> Self {
        let a = a.view();
        let longest = longest_in_slices(a);
        let rows = row_windows(a.offsets());
        let made: Vec<Made> = parallel::map_index(rows.len() - 1, |window| {
            Made::new(a, rows[window]..rows[window + 1], longest)
        });

        let mut windows = Vec::with_capacity(rows.len());
        let mut end = WindowStart::default();
        for window in &made {
            windows.push(WindowStart { base: window.base, wide: window.wide, ..end });
            end.slice += window.slices.len();
            end.column += window.columns.len();
            end.value += window.entries;
        }
        windows.push(end);

        let mut pieces = Vec::new();
        let mut piece_columns = Vec::new();
        for row in (0..a.rows()).filter(|&row| a.range(row).len() > longest) {
            let entries = a.range(row);
            for start in entries.clone().step_by(PIECE) {
                let first = piece_columns.len();
                piece_columns.extend_from_slice(&a.columns()[start..(start + PIECE).min(entries.end)]);
                pieces.push(Piece { index: pieces.len(), row, entries: first..piece_columns.len() });
            }
        }
        let same = same_value(a.values());
        let mut columns = huge_pages::zeros(end.column);
        concat_into(made.iter().map(|window| &window.columns[..]), &mut columns);
        let mut sell = Sell {
            rows: a.rows(),
            cols: a.cols(),
            windows,
            slices: made.iter().flat_map(|window| window.slices.iter().copied()).collect(),
            places: made.iter().flat_map(|window| window.places.iter().copied()).collect(),
            lengths: made.iter().flat_map(|window| window.lengths.iter().copied()).collect(),
            columns,
            values: Values::new(end.value, same),
            piece_values: Values::new(piece_columns.len(), same),
            pieces,
            piece_columns,
        };
        drop(made);
        sell.place(a, same);
        sell
    }

    /// New numbers in the pattern that it was made of, in one pass over them. `a` has the pattern that it was made of. `false`: all have the same
    /// now, or no longer, and it has to be made anew.
    pub(crate) fn set_values(&mut self, a: CsrSlices<'_, S>) -> bool {
        let same = same_value(a.values());
        let lies_as_before = same.is_some() == self.values.are_same();
        if lies_as_before {
            self.place(a, same);
        }
        lies_as_before
    }

    fn place(&mut self, a: CsrSlices<'_, S>, same: Option<S>) {
        let (windows, slices, places, lengths) = (&self.windows, &self.slices, &self.places, &self.lengths);
        self.values.set(same, |values| {
            let ends = windows[1..].iter().map(|next| next.value);
            fill_parts(values, ends, |window, to| {
                let of_window = windows[window].slice..windows[window + 1].slice;
                let of_lanes = of_window.start * lanes::<S>()..of_window.end * lanes::<S>();
                let lanes = (&places[of_lanes.clone()], &lengths[of_lanes]);
                place(a, windows[window].first_row::<S>(), &slices[of_window], lanes, to);
            });
        });
        // The pieces of a row follow each other.
        let long_rows: Vec<&[Piece]> = self.pieces.chunk_by(|piece, next| piece.row == next.row).collect();
        self.piece_values.set(same, |values| {
            let ends = long_rows.iter().filter_map(|pieces| Some(pieces.last()?.entries.end));
            fill_parts(values, ends, |index, to| {
                to.copy_from_slice(&a.values()[a.range(long_rows[index][0].row)]);
            });
        });
    }

    /// Number of columns.
    pub(crate) fn cols(&self) -> usize {
        self.cols
    }
    /// Number of stored entries.
    #[cfg(test)]
    pub(crate) fn nnz(&self) -> usize {
        self.lengths.iter().map(|&length| length as usize).sum::<usize>() + self.piece_columns.len()
    }
    /// Number of slices.
    pub(crate) fn slices(&self) -> usize {
        self.slices.len()
    }
    /// Of each slice: entries of its longest row.
    pub(crate) fn steps(&self) -> impl Iterator<Item = usize> {
        self.slices.iter().map(|slice| slice.longest.into())
    }
    /// The place before a slice.
    pub(crate) fn border(&self, slice: usize) -> Border {
        let window = &self.windows[self.window_of(slice)];
        let lanes = window.slice * lanes::<S>()..slice * lanes::<S>();
        let inside: usize = self.lengths[lanes].iter().map(|&length| length as usize).sum();
        Border { slice, entry: window.value + inside }
    }
    /// The slices from one border to another, window by window.
    pub(crate) fn between(&self, from: Border, to: Border) -> impl Iterator<Item = Window<'_, S>> {
        let end = self.windows.partition_point(|window| window.slice < to.slice);
        (self.window_of(from.slice)..end).map(move |window| {
            let (start, next) = (self.start(window), self.start(window + 1));
            let first = if start.slice < from.slice { from } else { start };
            let last = if next.slice > to.slice { to } else { next };
            self.part(window, first, last)
        })
    }
    /// The window that a slice is of; behind the last slice the end.
    fn window_of(&self, slice: usize) -> usize {
        self.windows.partition_point(|window| window.slice <= slice) - 1
    }
    /// Slices with which windows begin, and how many there are.
    pub(crate) fn windows(&self) -> impl Iterator<Item = usize> {
        self.windows.iter().map(|window| window.slice)
    }
    fn start(&self, window: usize) -> Border {
        let WindowStart { slice, value, .. } = self.windows[window];
        Border { slice, entry: value }
    }
    fn part(&self, window: usize, first: Border, last: Border) -> Window<'_, S> {
        let from = &self.windows[window];
        let lanes = first.slice * lanes::<S>()..last.slice * lanes::<S>();
        let halves = if from.wide { 2 } else { 1 };
        let column = |border: Border| from.column + halves * (border.entry - from.value);
        Window {
            first_row: from.first_row::<S>(),
            rows: lanes.end.min(self.rows) - lanes.start.min(self.rows),
            base: from.base as usize,
            slices: &self.slices[first.slice..last.slice],
            places: &self.places[lanes.clone()],
            lengths: &self.lengths[lanes],
            columns: &self.columns[column(first)..column(last)],
            wide: from.wide,
            values: self.values.from(first.entry),
        }
    }
    /// The pieces of long rows, those of a row one after the other.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }
    /// Columns and values of a piece.
    pub(crate) fn piece(&self, piece: usize) -> (&[u32], Part<'_, S>) {
        let entries = self.pieces[piece].entries.clone();
        (&self.piece_columns[entries.clone()], self.piece_values.from(entries.start))
    }
    /// Do all entries have the same value?
    pub(crate) fn has_one_value(&self) -> bool {
        self.values.are_same()
    }
    /// Bytes that it takes, but for a few.
    pub(crate) fn bytes(&self) -> u64 {
        let of_lanes = size_of_val(&*self.places) + size_of_val(&*self.lengths);
        let of_columns = size_of_val(&*self.columns) + size_of_val(&*self.piece_columns);
        let of_slices = size_of_val(&*self.slices);
        (of_lanes + of_columns + of_slices) as u64 + self.values.bytes() + self.piece_values.bytes()
    }

    /// The matrix by rows.
    #[cfg(test)]
    pub(crate) fn to_csr(&self) -> Result<Csr<S>, FormatError> {
        let mut rows = vec![Vec::new(); self.rows];
        for window in self.between(self.border(0), self.border(self.slices())) {
            window.entries(|row, col, value| rows[row].push((col, value)));
        }
        for (index, piece) in self.pieces.iter().enumerate() {
            let (columns, values) = self.piece(index);
            rows[piece.row].extend((0..columns.len()).map(|entry| (columns[entry], values.get(entry))));
        }
        let mut offsets = vec![0];
        for row in &rows {
            offsets.push(offsets[offsets.len() - 1] + row.len());
        }
        let (columns, values) = rows.into_iter().flatten().unzip();
        Csr::from_parts(self.rows, self.cols, offsets, columns, values)
    }
}

/// Rows with more entries stand in pieces.
fn longest_in_slices<S: Scalar>(a: CsrSlices<'_, S>) -> usize {
    let mean = a.nnz() / a.rows().max(1);
    // Lengths in slices take 16 bits, and steps one more.
    (mean.saturating_mul(LONGER_THAN_MEAN)).clamp(LONG_ROW, u16::MAX as usize - 1)
}

impl<S: Scalar> Window<'_, S> {
    /// Row of a lane of a slice, if the lane has entries.
    #[cfg(test)]
    pub(crate) fn row(&self, slice: usize, lane: usize) -> usize {
        let (places, of) = (&self.places[slice * lanes::<S>()..][..lanes::<S>()], self.slices[slice]);
        let inside = if of.consecutive {
            let place = places.iter().position(|&place| place as usize == lane).unwrap_or(0);
            of.first_row as usize + place
        } else {
            places[lane] as usize
        };
        self.first_row + inside
    }

    /// The column at a position of `values`.
    #[inline(always)]
    pub(crate) fn column(&self, entry: usize) -> u32 {
        if self.wide {
            u32::from(self.columns[2 * entry]) | u32::from(self.columns[2 * entry + 1]) << 16
        } else {
            self.base as u32 + u32::from(self.columns[entry])
        }
    }

    /// Every entry: row, column, value; those of a row in their order.
    #[cfg(test)]
    pub(crate) fn entries(&self, mut visit: impl FnMut(usize, u32, S)) {
        let mut entry = 0;
        for (index, slice) in self.slices.iter().enumerate() {
            let lengths = &self.lengths[index * lanes::<S>()..][..lanes::<S>()];
            for step in 0..slice.longest {
                for lane in (0..lanes::<S>()).take_while(|&lane| lengths[lane] > step) {
                    visit(self.row(index, lane), self.column(entry), self.values.get(entry));
                    entry += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix whose rows have these lengths, their columns far apart or near.
    fn rows_of(lengths: &[usize], distance: usize) -> Csr<f32> {
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for (row, &length) in lengths.iter().enumerate() {
            columns.extend((0..length).map(|i| ((i * distance + row) % 100_000) as u32));
            offsets.push(columns.len());
        }
        let values = (0..columns.len()).map(|i| i as f32).collect();
        Csr::from_parts(lengths.len(), 100_000, offsets, columns, values).unwrap()
    }

    fn first_window(sell: &Sell<f32>) -> Window<'_, f32> {
        sell.between(sell.border(0), sell.border(sell.slices())).next().unwrap()
    }

    /// Wherever it is cut, in the middle of a window or at its end: every entry once, in the same order.
    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn slices_may_be_cut_anywhere() {
        for distance in [3, 2003] {
            let a = rows_of(&(0..1100).map(|row| row * 7919 % 50).collect::<Vec<_>>(), distance);
            let sell = Sell::from_csr(&a);
            let entries = |borders: &[usize]| {
                let (mut found, mut rows) = (Vec::new(), 0);
                for pair in borders.windows(2) {
                    for window in sell.between(sell.border(pair[0]), sell.border(pair[1])) {
                        window.entries(|row, column, value| found.push((row, column, value)));
                        rows += window.rows;
                    }
                }
                assert_eq!(rows, 1100);
                found
            };
            let whole = entries(&[0, 69]);
            assert_eq!((sell.slices(), whole.len()), (69, a.nnz()));
            for borders in
                [&[0, 1, 2, 69][..], &[0, 32, 64, 69], &[0, 31, 33, 68, 69], &[0, 0, 40, 40, 69, 69]]
            {
                assert!(entries(borders) == whole, "{borders:?}");
            }
        }
        let empty = Sell::from_csr(&rows_of(&[], 1));
        assert_eq!(empty.between(empty.border(0), empty.border(0)).count(), 0);
    }

    #[test]
    fn equal_rows_stay_in_order_with_short_columns() {
        let a = rows_of(&[4; 1000], 3);
        let sell = Sell::from_csr(&a);
        let window = first_window(&sell);
        assert!(window.slices.iter().all(|s| s.consecutive && (s.shortest, s.longest) == (4, 4)));
        assert!(!window.wide && sell.pieces().is_empty() && sell.windows.len() > 2);
        assert_eq!(sell.to_csr().unwrap(), a);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn uneven_rows_are_sorted_and_long_ones_cut() {
        let mut lengths: Vec<usize> = (0..700).map(|row| row * 7919 % 50).collect();
        lengths[300] = 2 * PIECE + 5;
        let a = rows_of(&lengths, 2003);
        let sell = Sell::from_csr(&a);
        let window = first_window(&sell);
        assert!(window.wide && window.slices.iter().all(|slice| !slice.consecutive));
        assert!(window.slices.windows(2).all(|pair| pair[0].shortest >= pair[1].longest));
        let pieces: Vec<_> = sell.pieces().iter().map(|piece| (piece.row, piece.entries.len())).collect();
        assert_eq!(pieces, [(300, PIECE), (300, PIECE), (300, 5)]);
        assert_eq!(sell.nnz(), a.nnz());
        assert_eq!(sell.to_csr().unwrap(), a);
    }
}

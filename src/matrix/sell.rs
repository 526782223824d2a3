//! SELL-C-σ: slices of rows of about the same length, side by side, for products with one column of X.

use super::{Csr, CsrView, FormatError};
use crate::Scalar;
use rayon::prelude::*;
use std::ops::Range;

/// A sparse matrix in windows of [`SELL_WINDOW`] rows and, inside them, slices of as many rows as a vector of 64 bytes has lanes
/// (8 of f64, 16 of f32): the first entries of a slice's rows stand side by side, then the second ones, and so on. The longest
/// row of a slice is in its first lane, so that the rows which have an entry left are always its first lanes: nothing is
/// padded. Rows are sorted by length inside a window where that saves steps; where not, a slice holds consecutive rows.
/// Rows much longer than the others are kept apart, in pieces of 16 K entries.
///
/// Columns take 16 bits where those of a window are near each other, counted from its base.
///
/// Invariant: every entry stands in one slice or one piece; columns are below `cols`. `places` and `lengths` have one element
/// for every lane of every slice; lanes without a row have length 0. Only [`from_csr`](Self::from_csr) makes one.
#[derive(Debug)]
pub struct Sell<S> {
    rows: usize,
    cols: usize,
    windows: Vec<WindowStart>,
    slices: Vec<Slice>,
    /// See [`Slice::consecutive`].
    places: Vec<u16>,
    lengths: Vec<u16>,
    columns: Vec<u16>,
    values: Vec<S>,
    pieces: Vec<Piece>,
    piece_columns: Vec<u32>,
    piece_values: Vec<S>,
}

/// Rows among which those of a slice are chosen. A multiple of every number of lanes.
pub const SELL_WINDOW: usize = 512;
const WINDOW: usize = SELL_WINDOW;
/// Entries of a piece of a long row. A fixed number, so that sums do not depend on the number of threads.
const PIECE: usize = 16 * 1024;
/// A row is long with more entries than this, and than [`LONGER_THAN_MEAN`] times the mean: its slice would be one lane.
const LONG_ROW: usize = 256;
const LONGER_THAN_MEAN: usize = 16;
/// Consecutive rows are written as one vector; that is worth so many more steps in 16 than sorting leaves.
const STEPS_FOR_ORDER: usize = 18;

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

/// Rows side by side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slice {
    /// Entries that every lane has.
    pub shortest: u16,
    /// Entries of the first lane.
    pub longest: u16,
    /// Rows, counted from the window's first: where `consecutive`, of the slice's first row; place `i` is then the lane of
    /// the row `i` further on. Otherwise place `l` is the row of lane `l`, and this is not used.
    pub first_row: u16,
    /// Are they consecutive rows, as many as there are lanes?
    pub consecutive: bool,
}

/// Some entries of a long row.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Its place in the list.
    pub index: usize,
    /// The row.
    pub row: usize,
    /// Its entries in the pieces' columns and values.
    pub entries: Range<usize>,
}

/// One window, to read.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a, S> {
    /// Its first row.
    pub first_row: usize,
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
    /// Values.
    pub values: &'a [S],
}

/// A window while it is made.
#[derive(Default)]
struct Made<S> {
    base: u32,
    wide: bool,
    slices: Vec<Slice>,
    places: Vec<u16>,
    lengths: Vec<u16>,
    columns: Vec<u16>,
    values: Vec<S>,
}

const fn lanes<S>() -> usize {
    64 / size_of::<S>()
}

impl<S: Scalar> Sell<S> {
    /// Rearranges a CSR matrix, on the threads of the current rayon pool; the result does not depend on their number.
    pub fn from_csr(a: &Csr<S>) -> Self {
        let a = a.view();
        let mean = a.nonzeros() / a.rows().max(1);
        // Lengths in slices take 16 bits.
        let longest = (mean.saturating_mul(LONGER_THAN_MEAN)).clamp(LONG_ROW, u16::MAX as usize);
        let count = a.rows().div_ceil(WINDOW);
        let made: Vec<Made<S>> = (0..count)
            .into_par_iter()
            .map(|window| Made::new(a, window * WINDOW..((window + 1) * WINDOW).min(a.rows()), longest))
            .collect();

        let mut windows = Vec::with_capacity(count + 1);
        let mut end = WindowStart::default();
        for window in &made {
            windows.push(WindowStart { base: window.base, wide: window.wide, ..end });
            end.slice += window.slices.len();
            end.column += window.columns.len();
            end.value += window.values.len();
        }
        windows.push(end);

        let mut pieces = Vec::new();
        let (mut piece_columns, mut piece_values) = (Vec::new(), Vec::new());
        for row in (0..a.rows()).filter(|&row| a.range(row).len() > longest) {
            let entries = a.range(row);
            for start in entries.clone().step_by(PIECE) {
                let from = start..(start + PIECE).min(entries.end);
                let first = piece_columns.len();
                piece_columns.extend_from_slice(&a.columns()[from.clone()]);
                piece_values.extend_from_slice(&a.values()[from]);
                pieces.push(Piece { index: pieces.len(), row, entries: first..piece_columns.len() });
            }
        }
        Sell {
            rows: a.rows(),
            cols: a.cols(),
            windows,
            slices: made.iter().flat_map(|window| window.slices.iter().copied()).collect(),
            places: concat(&made, |window| &window.places),
            lengths: concat(&made, |window| &window.lengths),
            columns: concat(&made, |window| &window.columns),
            values: concat(&made, |window| &window.values),
            pieces,
            piece_columns,
            piece_values,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }
    /// Number of stored entries.
    pub fn nonzeros(&self) -> usize {
        self.values.len() + self.piece_values.len()
    }
    /// Number of windows.
    pub fn windows(&self) -> usize {
        self.windows.len() - 1
    }
    /// Entries in the windows before this one.
    pub fn nonzeros_before(&self, window: usize) -> usize {
        self.windows[window].value
    }
    /// One window.
    pub fn window(&self, window: usize) -> Window<'_, S> {
        let (from, to) = (self.windows[window], self.windows[window + 1]);
        let lanes = from.slice * lanes::<S>()..to.slice * lanes::<S>();
        Window {
            first_row: window * WINDOW,
            base: from.base as usize,
            slices: &self.slices[from.slice..to.slice],
            places: &self.places[lanes.clone()],
            lengths: &self.lengths[lanes],
            columns: &self.columns[from.column..to.column],
            wide: from.wide,
            values: &self.values[from.value..to.value],
        }
    }
    /// The pieces of long rows, those of a row one after the other.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }
    /// Columns and values of a piece.
    pub fn piece(&self, piece: usize) -> (&[u32], &[S]) {
        let entries = self.pieces[piece].entries.clone();
        (&self.piece_columns[entries.clone()], &self.piece_values[entries])
    }

    /// The same matrix by rows.
    pub fn to_csr(&self) -> Result<Csr<S>, FormatError> {
        let mut rows = vec![Vec::new(); self.rows];
        for window in 0..self.windows() {
            self.window(window).entries(|row, col, value| rows[row].push((col, value)));
        }
        for (index, piece) in self.pieces.iter().enumerate() {
            let (columns, values) = self.piece(index);
            rows[piece.row].extend(columns.iter().zip(values).map(|(&col, &value)| (col, value)));
        }
        let mut offsets = vec![0];
        for row in &rows {
            offsets.push(offsets[offsets.len() - 1] + row.len());
        }
        let (columns, values) = rows.into_iter().flatten().unzip();
        Csr::from_parts(self.rows, self.cols, offsets, columns, values)
    }
}

fn concat<S, T: Copy>(made: &[Made<S>], part: impl Fn(&Made<S>) -> &Vec<T>) -> Vec<T> {
    let mut all = Vec::with_capacity(made.iter().map(|window| part(window).len()).sum());
    made.iter().for_each(|window| all.extend_from_slice(part(window)));
    all
}

impl<S: Scalar> Window<'_, S> {
    /// Row of a lane of a slice, if the lane has entries.
    pub fn row(&self, slice: usize, lane: usize) -> usize {
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
    pub fn column(&self, entry: usize) -> u32 {
        if self.wide {
            u32::from(self.columns[2 * entry]) | u32::from(self.columns[2 * entry + 1]) << 16
        } else {
            self.base as u32 + u32::from(self.columns[entry])
        }
    }

    /// Every entry: row, column, value; those of a row in their order.
    pub fn entries(&self, mut visit: impl FnMut(usize, u32, S)) {
        let mut entry = 0;
        for (index, slice) in self.slices.iter().enumerate() {
            let lengths = &self.lengths[index * lanes::<S>()..][..lanes::<S>()];
            for step in 0..slice.longest {
                for lane in (0..lanes::<S>()).take_while(|&lane| lengths[lane] > step) {
                    visit(self.row(index, lane), self.column(entry), self.values[entry]);
                    entry += 1;
                }
            }
        }
    }
}

impl<S: Scalar> Made<S> {
    fn new(a: CsrView<'_, S>, rows: Range<usize>, longest: usize) -> Self {
        let first_row = rows.start;
        // Long rows stand elsewhere: here they have no entries. They are not left out, so that slices stay consecutive.
        let length = |row: usize| if a.range(row).len() > longest { 0 } else { a.range(row).len() };
        let mut order: Vec<usize> = rows.clone().collect();
        order.sort_by_key(|&row| std::cmp::Reverse(length(row)));
        let steps = |order: &[usize]| -> usize {
            let longest = |slice: &[usize]| slice.iter().map(|&row| length(row)).max().unwrap_or(0);
            order.chunks(lanes::<S>()).map(longest).sum()
        };
        let natural: Vec<usize> = rows.clone().collect();
        let consecutive = steps(&natural) * 16 <= steps(&order) * STEPS_FOR_ORDER;
        let order = if consecutive { natural } else { order };

        let used = || rows.clone().filter(|&row| length(row) > 0).flat_map(|row| &a.columns()[a.range(row)]);
        let (least, most) = used().fold((u32::MAX, 0), |(least, most), &col| (least.min(col), most.max(col)));
        let wide = least <= most && most - least > u32::from(u16::MAX);
        let base = if wide || least > most { 0 } else { least };
        let (slices, places, lengths) = (Vec::new(), Vec::new(), Vec::new());
        let mut made = Made { base, wide, slices, places, lengths, columns: Vec::new(), values: Vec::new() };
        for rows in order.chunks(lanes::<S>()) {
            made.push(a, first_row, rows, consecutive && rows.len() == lanes::<S>(), length);
        }
        made
    }

    /// Appends one slice.
    fn push(
        &mut self,
        a: CsrView<'_, S>,
        first_row: usize,
        rows: &[usize],
        consecutive: bool,
        length: impl Fn(usize) -> usize,
    ) {
        let mut by_length = rows.to_vec();
        by_length.sort_by_key(|&row| std::cmp::Reverse(length(row)));
        let lane_length = |lane: usize| by_length.get(lane).map_or(0, |&row| length(row));
        let (longest, shortest) = (lane_length(0), lane_length(lanes::<S>() - 1));
        let slice_first = rows[0] - first_row;
        self.slices.push(Slice {
            shortest: shortest as u16,
            longest: longest as u16,
            first_row: slice_first as u16,
            consecutive,
        });
        let places = self.places.len();
        self.places.resize(places + lanes::<S>(), 0);
        for (lane, &row) in by_length.iter().enumerate() {
            if consecutive {
                self.places[places + row - rows[0]] = lane as u16;
            } else {
                self.places[places + lane] = (row - first_row) as u16;
            }
        }
        self.lengths.extend((0..lanes::<S>()).map(|lane| lane_length(lane) as u16));
        for step in 0..longest {
            for &row in by_length.iter().take_while(|&&row| length(row) > step) {
                let entry = a.offsets()[row] + step;
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

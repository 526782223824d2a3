//! XᵀY of some rows: sums of a tile of G stay in registers while its panel of rows goes by.

use crate::Scalar;
use crate::machine::Vectorized;
use crate::simd::{Lanes, OnRegisters, Vectors};
use crate::tall_skinny::Part;
use crate::tall_skinny::gram::contract::Kind;
use std::marker::PhantomData;
use std::ops::Range;

/// Rows whose sums are added in registers. Few enough that all blocks of a panel stay in a cache while tile after tile reads them, and
/// that rounding in f32 does not grow; so many that adding tiles to the totals does not count.
const PANEL: usize = 128;
/// The most columns of X that a tile has.
const TALLEST: usize = 8;
/// The longest register of any set, in numbers.
const LONGEST: usize = 16;

/// Adds XᵀY of `rows` to `totals`, row after row of G; of a symmetric G only the upper triangle is right afterwards.
pub(super) struct OfRows<'a, S> {
    pub(super) rows: Range<usize>,
    pub(super) left: &'a [Part<S>],
    pub(super) right: &'a [Part<S>],
    pub(super) kind: Kind,
    pub(super) totals: &'a mut [f64],
}

/// A register of columns of Y, and where they stand in G.
struct Across<S> {
    at: *const S,
    distance: usize,
    count: usize,
    first: usize,
}

/// A few columns of X, and where they stand in G.
#[derive(Clone, Copy)]
struct Down<S> {
    at: *const S,
    distance: usize,
    first: usize,
}

impl<S: Scalar> Vectorized<S> for OfRows<'_, S> {
    #[inline(always)]
    unsafe fn run<V: Vectors<S>>(self) {
        let mut across = Vec::new();
        let mut width = 0;
        for part in self.right {
            for first in (0..part.cols).step_by(V::Wide::COUNT) {
                // SAFETY: inside the first row.
                let at = unsafe { part.at.add(first) }.cast_const();
                let count = V::Wide::COUNT.min(part.cols - first);
                across.push(Across { at, distance: part.distance, count, first: width + first });
            }
            width += part.cols;
        }
        for start in self.rows.clone().step_by(PANEL) {
            let panel = start..self.rows.end.min(start + PANEL);
            let mut row_of_g = 0;
            for part in self.left {
                let mut col = 0;
                while col < part.cols {
                    let tall = match part.cols - col {
                        TALLEST.. => TALLEST,
                        4.. => 4,
                        2.. => 2,
                        _ => 1,
                    };
                    // SAFETY: inside the first row.
                    let at = unsafe { part.at.add(col) }.cast_const();
                    let down = Down { at, distance: part.distance, first: row_of_g + col };
                    for across in across.chunks(most_across::<S, V>()) {
                        let last = &across[across.len() - 1];
                        let below_diagonal =
                            self.kind == Kind::Symmetric && last.first + last.count <= down.first;
                        if !below_diagonal {
                            // SAFETY: the caller's promises.
                            unsafe { tile::<S, V>(tall, panel.clone(), down, across, width, self.totals) };
                        }
                    }
                    col += tall;
                }
                row_of_g += part.cols;
            }
        }
    }
}

/// The tile of so many rows of G and so many registers across.
///
/// # Safety
/// Runs on a CPU that has the set; all elements of the parts' rows may be read.
#[inline(always)]
unsafe fn tile<S: Scalar, V: Vectors<S>>(
    tall: usize,
    rows: Range<usize>,
    down: Down<S>,
    across: &[Across<S>],
    width: usize,
    totals: &mut [f64],
) {
    macro_rules! tile_of {
        ($tall:literal, $across:literal) => {{
            // SAFETY: the caller's promises.
            unsafe {
                V::run(Tile::<S, V, $tall, $across> { rows, down, across, width, totals, set: PhantomData })
            }
        }};
    }
    macro_rules! across {
        ($tall:literal) => {
            // Known when compiling: where registers are few, wider tiles are not even made.
            if const { most_across::<S, V>() >= 3 } && across.len() == 3 {
                tile_of!($tall, 3)
            } else if const { most_across::<S, V>() >= 2 } && across.len() == 2 {
                tile_of!($tall, 2)
            } else {
                tile_of!($tall, 1)
            }
        };
    }
    match tall {
        8 => across!(8),
        4 => across!(4),
        2 => across!(2),
        _ => across!(1),
    }
}

/// As many registers across as leave room for what is loaded.
const fn most_across<S: Scalar, V: Vectors<S>>() -> usize {
    if V::REGISTERS >= 32 { 3 } else { 1 }
}

struct Tile<'a, S, V, const TALL: usize, const ACROSS: usize> {
    rows: Range<usize>,
    down: Down<S>,
    across: &'a [Across<S>],
    width: usize,
    totals: &'a mut [f64],
    set: PhantomData<V>,
}

impl<S: Scalar, V: Vectors<S>, const TALL: usize, const ACROSS: usize> OnRegisters
    for Tile<'_, S, V, TALL, ACROSS>
{
    #[inline(always)]
    unsafe fn run(self) {
        // SAFETY: the caller's promises.
        unsafe {
            if self.across.iter().all(|across| across.count == V::Wide::COUNT) {
                self.add::<true>();
            } else {
                self.add::<false>();
            }
        }
    }
}

impl<S: Scalar, V: Vectors<S>, const TALL: usize, const ACROSS: usize> Tile<'_, S, V, TALL, ACROSS> {
    /// `FULL`: no register across is cut off by the end of a row.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // a closure would be compiled without the instruction set
    unsafe fn add<const FULL: bool>(self) {
        const { assert!(V::Wide::COUNT <= LONGEST) };
        let down = self.down;
        // SAFETY: addresses inside rows that may be read, masked where rows end; totals are a matrix of `width` columns that holds the tile.
        unsafe {
            let mut masks = [V::Wide::first(0); ACROSS];
            for j in 0..ACROSS {
                masks[j] = V::Wide::first(self.across[j].count);
            }
            let mut sums = [[V::Wide::zero(); ACROSS]; TALL];
            for row in self.rows.clone() {
                let mut y = [V::Wide::zero(); ACROSS];
                for j in 0..ACROSS {
                    let at = self.across[j].at.add(row * self.across[j].distance);
                    y[j] = if FULL { V::Wide::load(at) } else { V::Wide::load_masked(at, masks[j]) };
                }
                let x = down.at.add(row * down.distance);
                for i in 0..TALL {
                    let x = V::Wide::splat(*x.add(i));
                    for j in 0..ACROSS {
                        sums[i][j] = x.mul_add(y[j], sums[i][j]);
                    }
                }
            }
            let mut numbers = [S::ZERO; LONGEST];
            for i in 0..TALL {
                for j in 0..ACROSS {
                    sums[i][j].store(numbers.as_mut_ptr());
                    let Across { first, count, .. } = self.across[j];
                    let totals = &mut self.totals[(down.first + i) * self.width + first..][..count];
                    for lane in 0..count {
                        totals[lane] += numbers[lane].to_f64();
                    }
                }
            }
        }
    }
}

//! How a product is cut: blocks of terms and columns, panels of columns, chunks for threads.

use crate::Scalar;
use crate::gemm::cpu::packed::tile::Tiles;
use std::ops::Range;

/// Chunks for every thread, if there is enough to do: whoever is done first takes the next.
pub(super) const CHUNKS_PER_THREAD: usize = 4;
/// Tiles of rows, and panels, that a chunk has at least, so that copying A is worth it.
const LEAST_TILES: usize = 3;
const LEAST_PANELS: usize = 4;

/// `0..count` in parts of nearly the same size, none larger than `most`.
pub(super) fn parts(count: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let size = count.div_ceil(count.div_ceil(most).max(1)).max(1);
    (0..count).step_by(size).map(move |first| first..count.min(first + size))
}

/// The columns of a block of B, as many at a time as a tile has.
pub(super) struct Panels {
    cols: Range<usize>,
    pub(super) width: usize,
}

impl Panels {
    /// Of the same width, but for the last: a narrow one would waste registers.
    pub(super) fn new<S>(cols: Range<usize>, tiles: &Tiles<S>) -> Self {
        let registers = cols.len().div_ceil(tiles.lanes);
        let width = tiles.lanes * registers.div_ceil(registers.div_ceil(tiles.width));
        Panels { cols, width }
    }
    pub(super) fn count(&self) -> usize {
        self.cols.len().div_ceil(self.width)
    }
    pub(super) fn cols(&self, panel: usize) -> Range<usize> {
        let first = self.cols.start + panel * self.width;
        first..self.cols.end.min(first + self.width)
    }
}

/// How a block is shared out: rows of C, and where these are too few, panels too.
pub(super) struct Grid {
    rows: usize,
    rows_each: usize,
    panels: usize,
    panels_each: usize,
}

impl Grid {
    /// At least `wanted` chunks, if the product is large enough. The terms of a chunk's rows take no more than `bytes`.
    pub(super) fn new<S: Scalar>(
        tiles: &Tiles<S>,
        [rows, terms, panels]: [usize; 3],
        wanted: usize,
        bytes: usize,
    ) -> Self {
        let most = (bytes / (terms * size_of::<S>() * tiles.rows)).max(LEAST_TILES);
        let row_tiles = rows.div_ceil(tiles.rows);
        let each = row_tiles.div_ceil(wanted).clamp(LEAST_TILES, most);
        let blocks = row_tiles.div_ceil(each);
        let panels_each = panels.div_ceil(wanted.div_ceil(blocks)).max(LEAST_PANELS);
        // Blocks of the same size.
        let rows_each = row_tiles.div_ceil(blocks) * tiles.rows;
        Grid { rows, rows_each, panels, panels_each }
    }
    fn row_blocks(&self) -> usize {
        self.rows.div_ceil(self.rows_each)
    }
    pub(super) fn chunks(&self) -> usize {
        self.row_blocks() * self.panels.div_ceil(self.panels_each)
    }
    pub(super) fn rows(&self, chunk: usize) -> Range<usize> {
        let first = chunk % self.row_blocks() * self.rows_each;
        first..self.rows.min(first + self.rows_each)
    }
    pub(super) fn panels(&self, chunk: usize) -> Range<usize> {
        let first = chunk / self.row_blocks() * self.panels_each;
        first..self.panels.min(first + self.panels_each)
    }
}

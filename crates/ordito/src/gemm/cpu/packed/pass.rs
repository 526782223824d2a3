//! One block of terms, on the columns of one block of B.

use crate::Scalar;
use crate::gemm::cpu::packed::Product;
use crate::gemm::cpu::packed::grid::Panels;
use crate::gemm::cpu::packed::output::Output;
use crate::gemm::cpu::packed::pack::{pack_a, with_scratch_of_a};
use crate::gemm::cpu::packed::tile::{Operands, Tiles};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Panels of B from which on A is copied.
const PANELS_TO_PACK: usize = 3;

pub(super) struct Pass<'a, S> {
    pub(super) product: &'a Product<'a, S>,
    pub(super) tiles: &'a Tiles<S>,
    pub(super) terms: Range<usize>,
    pub(super) panels: &'a Panels,
    /// Panels whose copies are in `memory`, the last among them.
    pub(super) copied: &'a Range<usize>,
    pub(super) memory: Output<MaybeUninit<S>>,
    /// Panels that stay in a cache while rows of A pass by.
    pub(super) at_once: usize,
    pub(super) packs_a: bool,
}

impl<S: Scalar> Pass<'_, S> {
    /// Some rows of C, on some panels. Nobody else has them at the same time.
    pub(super) fn chunk(&self, rows: Range<usize>, panels: Range<usize>) {
        let (a, height) = (self.product.a, self.tiles.rows);
        if !self.packs_a || panels.len() < PANELS_TO_PACK {
            return self.tiles(rows.clone(), panels, 1, |tile, row| {
                a.row(rows.start + tile * height + row)[self.terms.clone()].as_ptr()
            });
        }
        with_scratch_of_a(|scratch| {
            let size = height * self.terms.len();
            let copies = scratch.numbers::<S>(size * rows.len().div_ceil(height));
            pack_a(a, rows.clone(), self.terms.clone(), height, copies);
            self.tiles(rows, panels, height, |tile, row| copies[tile * size + row..].as_ptr().cast());
        });
    }

    /// The tiles of a chunk. `row_of_a`: where the first term of a row of a tile of rows lies; the next is `a_step` further.
    fn tiles(
        &self,
        rows: Range<usize>,
        panels: Range<usize>,
        a_step: usize,
        row_of_a: impl Fn(usize, usize) -> *const S,
    ) {
        let Product { alpha, beta, c, .. } = *self.product;
        let height = self.tiles.rows;
        for first_panel in panels.clone().step_by(self.at_once) {
            for (tile, first) in rows.clone().step_by(height).enumerate() {
                let rows = height.min(rows.end - first);
                let a = std::array::from_fn(|row| row_of_a(tile, row.min(rows - 1)));
                for panel in first_panel..panels.end.min(first_panel + self.at_once) {
                    let cols = self.panels.cols(panel);
                    let registers = cols.len().div_ceil(self.tiles.lanes);
                    let (b, b_step) = self.panel_of_b(panel, registers);
                    let operands = Operands {
                        a,
                        a_step,
                        b,
                        b_step,
                        terms: self.terms.len(),
                        // SAFETY: C has these rows and columns.
                        c: unsafe { c.row(first).add(cols.start) },
                        c_step: c.step,
                        rows,
                        cols: cols.len(),
                        alpha,
                        beta: if self.terms.start == 0 { beta } else { S::ONE },
                    };
                    // SAFETY: tiles are of a level that the CPU has. Rows of A have all terms, as they are or as copied; B as
                    // `panel_of_b` says; the chunk has these rows and columns of C to itself.
                    unsafe { (self.tiles.run)(registers, &operands) };
                }
            }
        }
    }

    /// Where the first term of a panel lies, and the elements to the next. Whole registers can be read: of those that are not
    /// copied B has all columns, since the last one is.
    fn panel_of_b(&self, panel: usize, registers: usize) -> (*const S, usize) {
        if self.copied.contains(&panel) {
            // SAFETY: it is one of those that there is memory for.
            let copy = unsafe { self.memory.row(panel - self.copied.start) };
            (copy.cast_const().cast(), registers * self.tiles.lanes)
        } else {
            let b = self.product.b;
            let first = self.terms.start * b.leading_dimension() + self.panels.cols(panel).start;
            (b.data()[first..].as_ptr(), b.leading_dimension())
        }
    }
}

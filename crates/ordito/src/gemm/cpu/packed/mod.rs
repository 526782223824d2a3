//! Packed panels: blocks of A and B are copied so that tiles of C, whose sums stay in registers, read them from end to end.
//!
//! Terms are taken a block at a time. All threads copy the block of B, panel by panel; then each takes rows of C, copies what
//! belongs to them of A, and goes over the panels, as many at a time as its second-level cache holds. What is small, or used
//! once or twice, is read where it lies. Bits depend neither on threads nor on leading dimensions: a sum is always taken in
//! the same blocks of terms.
//!
//! Written by hand, since the crate `gemm` took as long to compile as a third of the library. Beside it and MKL:
//! `measurements/2026-11-17-h200/gemm-cpu`.

mod grid;
mod output;
mod pack;
mod pass;
mod thin;
mod tile;

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use grid::{CHUNKS_PER_THREAD, Grid, Panels, parts};
use output::Output;
use pack::with_scratch_of_b;
use pass::Pass;
use tile::{Panel, Tiles};

/// Bytes of a row of A in a block of terms: so many that C, which is read and written for each block, does not count, and so few
/// that a tile's rows stay in the first-level cache. More where B is one panel: then nothing has to stay.
const TERMS_BYTES: usize = 2 << 10;
const LONG_TERMS_BYTES: usize = 16 << 10;
/// Columns of a block of B: 8 MiB in f64.
const COLS: usize = 4096;
/// Tiles of rows from which on B is copied.
const TILES_TO_PACK: usize = 3;
/// The second-level cache, where it is not known.
const CACHE_BYTES: u64 = 512 << 10;

/// C = αAB + βC.
struct Product<'a, S> {
    alpha: S,
    a: DenseView<'a, S>,
    b: DenseView<'a, S>,
    beta: S,
    c: Output<S>,
}

/// Does numbered chunks of work, on one thread or on several.
type Share<'a> = &'a dyn Fn(usize, &(dyn Fn(usize) + Sync));

/// C = αAB + βC on up to `threads` threads of `machine`. Shapes have been checked, and no side is 0.
pub(super) fn multiply<S: Scalar>(
    machine: &Machine,
    threads: usize,
    alpha: S,
    a: DenseView<'_, S>,
    b: DenseView<'_, S>,
    beta: S,
    mut c: DenseViewMut<'_, S>,
) {
    // Once it is interrupted nothing more is begun: what was not copied is not read.
    let share = |chunks: usize, work: &(dyn Fn(usize) + Sync)| match threads {
        1 => machine.interrupt().until_set(0..chunks).for_each(work),
        _ => machine.run_chunks(chunks, work),
    };
    let chunks = if threads == 1 { 1 } else { CHUNKS_PER_THREAD * threads };
    let sums_of_rows = b.cols() > thin::MOST && a.rows() <= thin::MOST;
    if sums_of_rows {
        c.scale(beta);
    }
    let c = Output { step: c.leading_dimension(), first: c.data_mut().as_mut_ptr() };
    let product = Product { alpha, a, b, beta, c };
    if sums_of_rows {
        thin::sums_of_rows(&product, chunks, &share);
    } else if b.cols() <= thin::MOST {
        thin::along_rows(&product, chunks, &share);
    } else {
        let cache_bytes = machine.cpu().l2_bytes.unwrap_or(CACHE_BYTES) as usize;
        in_tiles(&product, &Tiles::in_use(), cache_bytes, chunks, &share);
    }
}

/// `cache_bytes`: what a thread has to itself.
fn in_tiles<S: Scalar>(
    product: &Product<'_, S>,
    tiles: &Tiles<S>,
    cache_bytes: usize,
    chunks: usize,
    share: Share<'_>,
) {
    let Product { a, b, .. } = *product;
    let small =
        |operand: DenseView<'_, S>| operand.rows() * operand.cols() * size_of::<S>() <= cache_bytes / 4;
    let packs_b = !small(b) && a.rows() > TILES_TO_PACK * tiles.rows;
    for cols in parts(b.cols(), COLS) {
        let panels = &Panels::new(cols, tiles);
        let copied = if packs_b { 0..panels.count() } else { panels.count() - 1..panels.count() };
        let bytes = if panels.count() == 1 { LONG_TERMS_BYTES } else { TERMS_BYTES };
        for terms in parts(a.cols(), bytes / size_of::<S>()) {
            with_scratch_of_b(|scratch| {
                let size = panels.width * terms.len();
                let numbers = scratch.numbers::<S>(size * copied.len());
                let memory = Output { step: size, first: numbers.as_mut_ptr() };
                share(copied.len(), &|index| {
                    let cols = panels.cols(copied.start + index);
                    let panel = Panel {
                        b: b.data()[terms.start * b.leading_dimension() + cols.start..].as_ptr(),
                        b_step: b.leading_dimension(),
                        terms: terms.len(),
                        cols: cols.len(),
                        // SAFETY: there is memory for all that are copied, and each has its own.
                        to: unsafe { memory.row(index).cast() },
                    };
                    // SAFETY: tiles are of a level that the CPU has; B has these terms and columns.
                    unsafe { (tiles.pack)(&panel) };
                });
                let grid = Grid::new(tiles, [a.rows(), terms.len(), panels.count()], chunks, cache_bytes / 8);
                let at_once = (cache_bytes / 4 / (size * size_of::<S>())).max(1);
                let packs_a = !small(a);
                let pass = Pass { product, tiles, terms, panels, copied: &copied, memory, at_once, packs_a };
                share(grid.chunks(), &|chunk| pass.chunk(grid.rows(chunk), grid.panels(chunk)));
            });
        }
    }
}

#[cfg(test)]
mod tests;

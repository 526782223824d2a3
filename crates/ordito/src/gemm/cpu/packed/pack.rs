//! Copies of blocks in the order in which tiles read them, and the memory for them.

use crate::Scalar;
use crate::matrix::DenseView;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ops::Range;

/// A cache line, and the widest register.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line(#[allow(dead_code)] [MaybeUninit<u8>; 64]); // for its size and place only

/// Memory for copies, kept from call to call: a fresh one would be handed out by the system page by page.
#[derive(Default)]
pub(super) struct Scratch(Vec<Line>);

impl Scratch {
    /// At least `count` numbers, with anything in them.
    pub(super) fn numbers<S: Scalar>(&mut self, count: usize) -> &mut [MaybeUninit<S>] {
        let lines = (count * size_of::<S>()).div_ceil(size_of::<Line>());
        if self.0.len() < lines {
            self.0.clear(); // nothing is moved
            self.0.resize(lines, Line([MaybeUninit::uninit(); 64]));
        }
        // SAFETY: so many lines are there, aligned for any number, and nothing is said of what is in them.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), count) }
    }
}

thread_local! {
    static OF_A: Cell<Scratch> = Cell::default();
    static OF_B: Cell<Scratch> = Cell::default();
}

/// This thread's memory for blocks of A.
pub(super) fn with_scratch_of_a<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    with_scratch(&OF_A, work)
}

/// This thread's memory for blocks of B, which all threads of a product read.
pub(super) fn with_scratch_of_b<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    with_scratch(&OF_B, work)
}

/// Taken meanwhile: whoever asks for it once more gets another.
fn with_scratch<R>(
    scratch: &'static std::thread::LocalKey<Cell<Scratch>>,
    work: impl FnOnce(&mut Scratch) -> R,
) -> R {
    let mut taken = scratch.take();
    let result = work(&mut taken);
    scratch.set(taken);
    result
}

/// `rows` of A, `height` at a time, the terms of one such panel one after the other. Rows that a last panel lacks repeat its last one.
pub(super) fn pack_a<S: Scalar>(
    a: DenseView<'_, S>,
    rows: Range<usize>,
    terms: Range<usize>,
    height: usize,
    to: &mut [MaybeUninit<S>],
) {
    match height {
        8 => pack_panels::<S, 8>(a, rows, terms, to),
        _ => pack_panels::<S, 4>(a, rows, terms, to),
    }
}

fn pack_panels<S: Scalar, const HEIGHT: usize>(
    a: DenseView<'_, S>,
    rows: Range<usize>,
    terms: Range<usize>,
    to: &mut [MaybeUninit<S>],
) {
    let last = rows.end - 1;
    for (first, panel) in rows.step_by(HEIGHT).zip(to.chunks_exact_mut(HEIGHT * terms.len())) {
        let rows: [&[S]; HEIGHT] = std::array::from_fn(|i| &a.row(last.min(first + i))[terms.clone()]);
        let (panel, _) = panel.as_chunks_mut::<HEIGHT>();
        for term in 0..terms.len() {
            for i in 0..HEIGHT {
                panel[term][i].write(rows[i][term]);
            }
        }
    }
}

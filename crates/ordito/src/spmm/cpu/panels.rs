//! Products with X or Y column after column. Kernels want rows: those of X that a stretch of A reads are packed beside each other just
//! before it is multiplied, and what becomes of it is transposed from a small buffer into Y. Neither matrix is copied as a whole,
//! but X where rows of A read from all over it. Sums are formed as they always are: the same bits.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{
    BlockView, BlockViewMut, ColumnsView, CsrSlices, DenseView, DenseViewMut, PACKED_TOGETHER as TOGETHER,
};
use crate::spmm::cpu::kernels::epilogue::{Epilogue, update};
use crate::spmm::cpu::kernels::row_kernel::Operands;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A kernel that multiplies any part of its rows: they stand in units, each of which has rows beside each other.
pub(crate) trait InParts<S: Scalar>: Sync {
    /// Units at which chunks for the threads begin and end.
    fn chunks(&self) -> &[usize];
    /// The row at which a unit begins; at the number of units that of rows.
    fn first_row(&self, unit: usize) -> usize;
    /// Y = αAX + βY for the rows of these units.
    ///
    /// # Safety
    /// The operands have the rows of X that they read and the rows of Y that they are, which no other thread has.
    unsafe fn multiply_units(&self, units: Range<usize>, operands: Operands<S>);
}

/// Bytes of a panel of Y: so few that it is still in the first-level or second-level cache when it is transposed.
const PANEL_BYTES: usize = 32 << 10;
/// Rows of a panel, at least.
const LEAST_ROWS: usize = 32;
/// X is packed for every chunk by itself where that makes at most so many times as many rows as it has.
const MOST_PACKED: f64 = 2.0;

/// Some units that are multiplied at once.
#[derive(Debug, Clone, PartialEq)]
struct Panel {
    units: Range<usize>,
    rows: Range<usize>,
    /// Rows of X up to here must have been packed.
    x_end: usize,
}

/// What a thread takes at a time.
#[derive(Debug, Clone, PartialEq)]
struct Chunk {
    panels: Vec<Panel>,
    /// Rows of X that it reads.
    x: Range<usize>,
}

/// The rows of a matrix in panels. Found out when X or Y first come in columns: one look at every column index.
#[derive(Debug)]
pub(crate) struct Panels {
    chunks: Vec<Chunk>,
    /// Rows of Y of the largest panel.
    most_rows: usize,
    /// Rows of X of the largest chunk, where every chunk packs its own; `None` where all of X is packed before.
    window: Option<usize>,
}

impl Panels {
    pub(crate) fn new<S: Scalar>(
        machine: &Machine,
        kernel: &dyn InParts<S>,
        a: CsrSlices<'_, S>,
        k: usize,
    ) -> Self {
        let rows_of_panel = (PANEL_BYTES / (k * size_of::<S>()).max(1)).max(LEAST_ROWS);
        let borders = kernel.chunks();
        let chunks: Vec<Mutex<Chunk>> =
            (1..borders.len()).map(|_| Mutex::new(Chunk { panels: Vec::new(), x: 0..0 })).collect();
        machine.team().run(chunks.len(), |index| {
            let chunk = chunk_of(kernel, a, borders[index]..borders[index + 1], rows_of_panel);
            *chunks[index].lock().unwrap_or_else(PoisonError::into_inner) = chunk;
        });
        let chunks: Vec<Chunk> = chunks
            .into_iter()
            .map(|chunk| chunk.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect();
        let packed: usize = chunks.iter().map(|chunk| chunk.x.len()).sum();
        let widest = chunks.iter().map(|chunk| chunk.x.len()).max().unwrap_or(0);
        // And every thread has room for the widest of them.
        let most = MOST_PACKED * a.cols() as f64;
        let own = packed as f64 <= most && (machine.threads() * widest) as f64 <= most;
        let window = own.then_some(widest);
        let rows = chunks.iter().flat_map(|chunk| &chunk.panels).map(|panel| panel.rows.len());
        let most_rows = rows.max().unwrap_or(0);
        Panels { chunks, most_rows, window }
    }
}

fn chunk_of<S: Scalar>(
    kernel: &dyn InParts<S>,
    a: CsrSlices<'_, S>,
    units: Range<usize>,
    rows_of_panel: usize,
) -> Chunk {
    let (mut panels, mut x_start, mut x_end) = (Vec::new(), a.cols(), 0);
    let mut unit = units.start;
    while unit < units.end {
        let (first, first_row) = (unit, kernel.first_row(unit));
        while unit < units.end && kernel.first_row(unit) - first_row < rows_of_panel {
            unit += 1;
        }
        let rows = first_row..kernel.first_row(unit);
        for &column in &a.columns()[a.offsets()[rows.start]..a.offsets()[rows.end]] {
            x_start = x_start.min(column as usize);
            x_end = x_end.max(column as usize + 1);
        }
        panels.push(Panel { units: first..unit, rows, x_end });
    }
    Chunk { panels, x: x_start.min(x_end)..x_end }
}

/// Memory of a product, cut into equal parts that threads take and give back.
struct Parts<S> {
    start: *mut S,
    length: usize,
    free: Mutex<Vec<usize>>,
}

// SAFETY: every part is somebody's alone while he has it.
unsafe impl<S: Send> Sync for Parts<S> {}

impl<S: Scalar> Parts<S> {
    fn new(memory: &mut [S], count: usize) -> Self {
        let length = memory.len() / count.max(1);
        Parts { start: memory.as_mut_ptr(), length, free: Mutex::new((0..count).collect()) }
    }

    /// Lends a part; there are as many as threads.
    fn with<R>(&self, work: impl FnOnce(&mut [S]) -> R) -> R {
        let taken = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(part) = taken else { return work(&mut vec![S::ZERO; self.length]) };
        // SAFETY: inside the memory, and nobody else has this part until it is given back.
        let memory =
            unsafe { std::slice::from_raw_parts_mut(self.start.add(part * self.length), self.length) };
        let result = work(memory);
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(part);
        result
    }
}

/// Columns of Y, for several threads that write different rows.
struct Columns<S> {
    start: *mut S,
    distance: usize,
    alpha: S,
    beta: S,
}

// SAFETY: threads write rows that are theirs alone.
unsafe impl<S: Send> Sync for Columns<S> {}

impl<S: Scalar> Columns<S> {
    /// Rows `first..` from sums that stand row after row.
    ///
    /// # Safety
    /// Y has these rows and as many columns as `sums` has in a row, and no other thread has the rows.
    unsafe fn write(&self, first: usize, sums: &[S], cols: usize) {
        let is_plain = self.alpha == S::ONE && self.beta == S::ZERO;
        // Some rows at a time, so that the sums are fetched once.
        for (block, sums) in sums.chunks(TOGETHER * cols).enumerate() {
            for column in 0..cols {
                // SAFETY: the caller's promise.
                let to = unsafe { self.start.add(column * self.distance + first + block * TOGETHER) };
                for (row, sums) in sums.chunks_exact(cols).enumerate() {
                    // SAFETY: as above.
                    let y = unsafe { &mut *to.add(row) };
                    match is_plain {
                        true => *y = sums[column],
                        false => update(y, self.alpha, sums[column], self.beta),
                    }
                }
            }
        }
    }
}

/// Y = αAX + βY, X or Y or both column after column. Shapes have been checked, α is not 0, and there is more than one column.
#[expect(clippy::too_many_arguments, reason = "the operands of BLAS, and how to go about them")]
pub(crate) fn multiply<S: Scalar>(
    machine: &Machine,
    kernel: &dyn InParts<S>,
    panels: &Panels,
    room: &mut Vec<S>,
    alpha: S,
    x: BlockView<'_, S>,
    beta: S,
    mut y: BlockViewMut<'_, S>,
) {
    let ((x_rows, k), threads) = (x.shape(), machine.threads());
    let (x_columns, y_is_columns) = (columns_of(x), matches!(y, BlockViewMut::Columns(_)));
    let own_window = panels.window.filter(|_| x_columns.is_some());
    let all_of_x = if x_columns.is_some() && own_window.is_none() { x_rows } else { 0 };
    let panel_rows = if y_is_columns { panels.most_rows } else { 0 };
    let part = (own_window.unwrap_or(0) + panel_rows) * k;
    room.resize(all_of_x * k + threads * part, S::ZERO);
    let (whole_x, parts) = room.split_at_mut(all_of_x * k);
    if let (Some(x), None) = (x_columns, own_window) {
        pack_all(machine, x, whole_x);
    }
    let parts = Parts::new(parts, threads);
    let operands = operands(alpha, x, whole_x, beta, &mut y);
    let columns = match y {
        BlockViewMut::Rows(_) => None,
        BlockViewMut::Columns(mut y) => {
            let distance = y.leading_dimension();
            Some(Columns { start: y.data_mut().as_mut_ptr(), distance, alpha, beta })
        }
    };
    machine.run_chunks(panels.chunks.len(), |index| {
        parts.with(|memory| {
            let (window, panel) = memory.split_at_mut(own_window.unwrap_or(0) * k);
            let chunk = &panels.chunks[index];
            let mut operands = operands;
            let mut packed = chunk.x.start;
            for Panel { units, rows, x_end } in &chunk.panels {
                if let (Some(x), Some(_)) = (x_columns, own_window) {
                    let end = packed.max(*x_end);
                    x.pack_rows(packed, &mut window[(packed - chunk.x.start) * k..(end - chunk.x.start) * k]);
                    packed = end;
                    // Where row 0 of X would be; only rows of the window are read. Asked for again after every writing.
                    operands.x = window.as_ptr().wrapping_sub(chunk.x.start * k);
                }
                let Some(columns) = &columns else {
                    // SAFETY: rows of X are there or have been packed; chunks have rows of Y of their own.
                    unsafe { kernel.multiply_units(units.clone(), operands) };
                    continue;
                };
                let sums = &mut panel[..rows.len() * k];
                let into = operands.unscaled_into(sums.as_mut_ptr().wrapping_sub(rows.start * k));
                // SAFETY: as above; sums have room for the rows of the panel.
                unsafe { kernel.multiply_units(units.clone(), into) };
                // SAFETY: rows of this chunk.
                unsafe { columns.write(rows.start, sums, k) };
            }
        });
    });
}

fn columns_of<S: Scalar>(x: BlockView<'_, S>) -> Option<ColumnsView<'_, S>> {
    match x {
        BlockView::Rows(_) => None,
        BlockView::Columns(x) => Some(x),
    }
}

/// X as it lies or as it was packed; Y where it is written row by row.
fn operands<S: Scalar>(
    alpha: S,
    x: BlockView<'_, S>,
    whole_x: &[S],
    beta: S,
    y: &mut BlockViewMut<'_, S>,
) -> Operands<S> {
    let k = x.shape().1;
    let (x, x_distance) = match x {
        BlockView::Rows(x) => (x.data().as_ptr(), x.leading_dimension()),
        BlockView::Columns(_) => (whole_x.as_ptr(), k),
    };
    let (y, y_distance) = match y {
        BlockViewMut::Rows(y) => (y.data_mut().as_mut_ptr(), y.leading_dimension()),
        BlockViewMut::Columns(_) => (std::ptr::null_mut(), k), // panels take its place
    };
    Operands { x, x_distance, y, y_distance, k, epilogue: Epilogue::new(alpha, beta) }
}

/// All rows of X beside each other.
fn pack_all<S: Scalar>(machine: &Machine, x: ColumnsView<'_, S>, rows: &mut [S]) {
    let rows_of_task = rows.len().div_ceil(8 * machine.threads().max(1)).div_ceil(x.cols().max(1)).max(1);
    let tasks: Vec<Mutex<&mut [S]>> =
        rows.chunks_mut(rows_of_task * x.cols().max(1)).map(Mutex::new).collect();
    machine.team().run(tasks.len(), |task| {
        let mut rows = tasks[task].lock().unwrap_or_else(PoisonError::into_inner);
        x.pack_rows(task * rows_of_task, &mut rows);
    });
}

/// Without panels: X packed as a whole, Y computed as a whole and then transposed. For kernels whose rows do not stand together.
pub(crate) fn by_rows<S: Scalar>(
    machine: &Machine,
    (x, x_room): (BlockView<'_, S>, &mut Vec<S>),
    (alpha, beta): (S, S),
    y: BlockViewMut<'_, S>,
    multiply: impl FnOnce(S, DenseView<'_, S>, S, DenseViewMut<'_, S>),
) {
    let (x_rows, k) = x.shape();
    let x = match x {
        BlockView::Rows(x) => x,
        BlockView::Columns(x) => {
            x_room.resize(x_rows * k, S::ZERO);
            pack_all(machine, x, x_room);
            DenseView::compact(x_room, x_rows, k)
        }
    };
    match y {
        BlockViewMut::Rows(y) => multiply(alpha, x, beta, y),
        BlockViewMut::Columns(mut y) => {
            let rows = y.rows();
            let mut sums = vec![S::ZERO; rows * k];
            multiply(S::ONE, x, S::ZERO, DenseViewMut::compact(&mut sums, rows, k));
            let columns =
                Columns { start: y.data_mut().as_mut_ptr(), distance: y.leading_dimension(), alpha, beta };
            let rows_of_task = rows.div_ceil(8 * machine.threads()).max(1);
            machine.team().run(rows.div_ceil(rows_of_task), |task| {
                let rows = task * rows_of_task..rows.min((task + 1) * rows_of_task);
                // SAFETY: rows of Y, in no other task.
                unsafe { columns.write(rows.start, &sums[rows.start * k..rows.end * k], k) };
            });
        }
    }
}

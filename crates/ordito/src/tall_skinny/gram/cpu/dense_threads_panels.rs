//! Threads share chunks of rows; in each, tiles of G stay in registers while a panel of rows goes by, and their sums are added in f64.
//! Touches X and Y once, from end to end; chunks depend on the shape only, and are added up in order: the same bits on any number of
//! threads. Loses where columns are many: each tile reads its panel again, and a dense product that packs would not.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::DenseView;
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::tall_skinny::gram::contract::{Gram, InnerProducts, Kind, Shape, Sums};
use crate::tall_skinny::gram::cpu::host::{HostKernel, OnHost};
use crate::tall_skinny::gram::cpu::tile::OfRows;
use crate::tall_skinny::{Part, columns_of};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Rows of a chunk at least, and how many chunks there are at most: enough for many threads, and few enough that adding them up does not
/// count.
const LEAST_ROWS: usize = 1024;
const MOST_CHUNKS: usize = 64;
/// Rows that are converted to f64 at a time: they stay in the first cache.
const CONVERTED_ROWS: usize = 128;
/// Multiply-adds below which a second thread is not worth waking: some 2 µs.
const SERIAL_BELOW: u64 = 40_000;

pub(crate) struct DenseThreadsPanels;

struct Kernel {
    machine: Arc<Machine>,
    shape: Shape,
}

impl<S: Scalar> HostKernel<S> for Kernel {
    fn reduce(&mut self, x: DenseView<'_, S>, y: DenseView<'_, S>, g: &mut [f64]) {
        let Shape { rows, sums, .. } = self.shape;
        let (x, y) = ([Part::read(&x)], [Part::read(&y)]);
        // SAFETY: the views are borrowed, and their shapes were checked.
        unsafe { gram_of_parts(&self.machine, rows, &x, &y, self.shape.kind(), sums, g) }
    }
}

/// G = XᵀY on the threads of `machine`, row after row without gaps. `Symmetric`: `left` and `right` are the same.
///
/// # Safety
/// All parts have so many rows, which may be read, and nobody writes them meanwhile.
pub(crate) unsafe fn gram_of_parts<S: Scalar>(
    machine: &Machine,
    rows: usize,
    left: &[Part<S>],
    right: &[Part<S>],
    kind: Kind,
    sums: Sums,
    g: &mut [f64],
) {
    let (tall, wide) = (columns_of(left), columns_of(right));
    g.fill(0.0);
    if tall == 0 || wide == 0 || rows == 0 {
        return;
    }
    let rows_per_chunk = rows.div_ceil(MOST_CHUNKS).max(LEAST_ROWS);
    let chunks = rows.div_ceil(rows_per_chunk);
    let of_chunk = |chunk: usize| chunk * rows_per_chunk..rows.min((chunk + 1) * rows_per_chunk);
    let add = |rows: Range<usize>, totals: &mut [f64]| {
        // SAFETY: the caller's promise.
        unsafe { add_rows(machine, rows, left, right, kind, sums, totals) };
    };
    if chunks == 1 {
        add(of_chunk(0), g);
    } else {
        let totals: Vec<Mutex<Vec<f64>>> = (0..chunks).map(|_| Mutex::default()).collect();
        let work = |chunk: usize| {
            let mut of_chunk_totals = vec![0.0; tall * wide];
            add(of_chunk(chunk), &mut of_chunk_totals);
            *totals[chunk].lock().unwrap_or_else(PoisonError::into_inner) = of_chunk_totals;
        };
        let multiply_adds = (rows as u64).saturating_mul((tall * wide) as u64);
        if multiply_adds < SERIAL_BELOW {
            (0..chunks).for_each(work)
        } else {
            machine.run_chunks(chunks, work)
        }
        for totals in totals {
            let totals = totals.into_inner().unwrap_or_else(PoisonError::into_inner);
            g.iter_mut().zip(&totals).for_each(|(sum, more)| *sum += more);
        }
    }
    if kind == Kind::Symmetric {
        for i in 0..tall {
            for j in 0..i {
                g[i * wide + j] = g[j * wide + i];
            }
        }
    }
}

/// Adds XᵀY of these rows to the totals.
///
/// # Safety
/// As for [`gram_of_parts`].
unsafe fn add_rows<S: Scalar>(
    machine: &Machine,
    rows: Range<usize>,
    left: &[Part<S>],
    right: &[Part<S>],
    kind: Kind,
    sums: Sums,
    totals: &mut [f64],
) {
    if sums == Sums::AsData || S::NAME == f64::NAME {
        return machine.vectorized::<S>(OfRows { rows, left, right, kind, totals });
    }
    let mut memory: [Vec<f64>; 2] = Default::default();
    for start in rows.clone().step_by(CONVERTED_ROWS) {
        let rows = start..rows.end.min(start + CONVERTED_ROWS);
        let count = rows.len();
        // SAFETY: the caller's promise.
        let left = [unsafe { converted(rows.clone(), left, &mut memory[0]) }];
        let right = match kind {
            Kind::Symmetric => left,
            // SAFETY: the same.
            Kind::General => [unsafe { converted(rows, right, &mut memory[1]) }],
        };
        machine.vectorized::<f64>(OfRows { rows: 0..count, left: &left, right: &right, kind, totals });
    }
}

/// These rows of all parts in f64, side by side.
///
/// # Safety
/// As for [`gram_of_parts`].
unsafe fn converted<S: Scalar>(rows: Range<usize>, parts: &[Part<S>], into: &mut Vec<f64>) -> Part<f64> {
    into.clear();
    for row in rows {
        for part in parts {
            // SAFETY: the caller's promise.
            let from = unsafe { std::slice::from_raw_parts(part.at.add(row * part.distance), part.cols) };
            into.extend(from.iter().map(|x| x.to_f64()));
        }
    }
    let cols = columns_of(parts);
    Part { at: into.as_mut_ptr(), cols, distance: cols }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-threads-panels",
    "tiles of G in registers while a panel of rows goes by; the same bits for any number of threads",
    Place::Threads,
    source_file!("tall_skinny/gram/cpu/dense_threads_panels.rs"),
)
.adds_as_data();

impl<S: Scalar> Variant<Gram<S>> for DenseThreadsPanels {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn InnerProducts<S>>, Refusal> {
        Ok(OnHost::boxed(machine, Kernel { machine: machine.clone(), shape: *shape }, *shape))
    }
}

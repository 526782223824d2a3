//! Second rung: one pass over the nonzeros, each placed where its row's cursor stands, which then moves on by one; into CSR,
//! or into ragged ELLPACK, whose rows are allocated at their true length before.
//! Touches every triplet once, its place once and a cursor. Threaded, a cursor moves on atomically, or inside one critical section
//! for all rows, as in coo_to_CSR_parallel_optimization (for ELLPACK known as no zero padding, optimized: curr_idx_per_row).
//! Loses to counting by buckets where rows are many: every place is a cache miss; and, for ELLPACK, where rows are short:
//! the allocations cost more than the entries. The critical section loses always: threads wait for each other at every entry.

use crate::convert::parts::{Format, Parts, check_memory, offsets};
use crate::convert::{Convert, OnHost, shares};
use ordito::Scalar;
use ordito::machine::Machine;
use ordito::matrix::{Coo, RaggedRow};
use ordito::op::{Description, Place, Prepared, Variant};
use ordito::refusal::Refusal;
use ordito::scalar::ScalarCell;
use ordito::source_file;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Of a format that a cursor per row can fill: CSR or ragged ELLPACK.
pub(crate) struct Cursor {
    format: Format,
    /// Of several threads: does a cursor move on in a critical section?
    is_critical: bool,
    description: Description,
}

pub(crate) const CSR_SERIAL: Cursor = Cursor {
    format: Format::Csr,
    is_critical: false,
    description: Description::new(
        "csr-serial-cursor",
        "CSR: one pass over the nonzeros, a cursor per row",
        Place::Serial,
        source_file!("convert/cursor.rs"),
    )
    .ladder(),
};
pub(crate) const CSR_THREADS: Cursor = Cursor {
    format: Format::Csr,
    is_critical: false,
    description: Description::new(
        "csr-threads-cursor",
        "CSR: one pass over the nonzeros, an atomic cursor per row; order within rows varies",
        Place::Threads,
        source_file!("convert/cursor.rs"),
    )
    .ladder(),
};
pub(crate) const RAGGED_SERIAL: Cursor = Cursor {
    format: Format::Ragged,
    is_critical: false,
    description: Description::new(
        "ell-ragged-serial-cursor",
        "ragged ELLPACK: one pass over the nonzeros, a cursor per row",
        Place::Serial,
        source_file!("convert/cursor.rs"),
    )
    .ladder(),
};
pub(crate) const RAGGED_THREADS: Cursor = Cursor {
    format: Format::Ragged,
    is_critical: false,
    description: Description::new(
        "ell-ragged-threads-cursor",
        "ragged ELLPACK: one pass, an atomic cursor per row; order within rows varies",
        Place::Threads,
        source_file!("convert/cursor.rs"),
    )
    .ladder(),
};

pub(crate) const CSR_CRITICAL: Cursor = Cursor {
    format: Format::Csr,
    is_critical: true,
    description: Description::new(
        "csr-threads-critical",
        "CSR: one pass, a cursor per row moved on in one critical section; order within rows varies",
        Place::Threads,
        source_file!("convert/cursor.rs"),
    )
    .ladder()
    .known_as(&["coo_to_CSR_parallel_optimization"]),
};
pub(crate) const RAGGED_CRITICAL: Cursor = Cursor {
    format: Format::Ragged,
    is_critical: true,
    description: Description::new(
        "ell-ragged-threads-critical",
        "ragged ELLPACK: one pass, a cursor per row moved on in one critical section; order within rows varies",
        Place::Threads,
        source_file!("convert/cursor.rs"),
    )
    .ladder(),
};

/// A format that is filled entry by entry.
trait Filled<S: Scalar>: Sized {
    /// Zeros, and where the cursor of every row begins.
    fn zeros(coo: &Coo<S>) -> (Self, Vec<usize>);
    /// Puts an entry of `row` where its cursor stands.
    fn put(&mut self, row: usize, at: usize, col: u32, value: S);
    fn into_parts(self) -> Parts<S>;
}

/// The same, filled by several threads at a time.
trait FilledByThreads<S: Scalar>: Sized + Sync {
    fn zeros(coo: &Coo<S>, machine: &Machine) -> (Self, Vec<AtomicUsize>);
    fn put(&self, row: usize, at: usize, col: u32, value: S);
    fn into_parts(self) -> Parts<S>;
}

fn convert_serial<S: Scalar, F: Filled<S>>(coo: &Coo<S>, _: &Machine) -> Parts<S> {
    let (mut filled, mut cursors) = F::zeros(coo);
    for (row, col, value) in coo.entries() {
        let cursor = &mut cursors[row as usize];
        filled.put(row as usize, *cursor, col, value);
        *cursor += 1;
    }
    filled.into_parts()
}

fn convert_threads<S: Scalar, F: FilledByThreads<S>>(
    coo: &Coo<S>,
    machine: &Machine,
    is_critical: bool,
) -> Parts<S> {
    let (filled, cursors) = F::zeros(coo, machine);
    let section = Mutex::new(());
    let move_on = |cursor: &AtomicUsize| {
        if is_critical {
            let _alone = section.lock().unwrap_or_else(PoisonError::into_inner);
            let at = cursor.load(Relaxed);
            cursor.store(at + 1, Relaxed);
            at
        } else {
            cursor.fetch_add(1, Relaxed)
        }
    };
    machine.pool().run_shares(shares(coo.nnz(), machine.threads()).collect(), |part| {
        for entry in part {
            let row = coo.row_indices()[entry] as usize;
            let at = move_on(&cursors[row]);
            filled.put(row, at, coo.col_indices()[entry], coo.values()[entry]);
        }
    });
    filled.into_parts()
}

/// CSR: a cursor counts places of the whole matrix.
struct CsrArrays<S> {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<S>,
}

impl<S: Scalar> Filled<S> for CsrArrays<S> {
    fn zeros(coo: &Coo<S>) -> (Self, Vec<usize>) {
        let offsets = offsets(&coo.row_lengths());
        let cursors = offsets.clone();
        let (columns, values) = (vec![0; coo.nnz()], vec![S::ZERO; coo.nnz()]);
        (CsrArrays { offsets, columns, values }, cursors)
    }
    fn put(&mut self, _: usize, at: usize, col: u32, value: S) {
        self.columns[at] = col;
        self.values[at] = value;
    }
    fn into_parts(self) -> Parts<S> {
        let CsrArrays { offsets, columns, values } = self;
        Parts::Csr { offsets, columns, values }
    }
}

/// Columns and values that several threads fill.
struct Cells<S: Scalar> {
    columns: Vec<AtomicU32>,
    values: Vec<S::Cell>,
}

impl<S: Scalar> Cells<S> {
    fn zeros(length: usize) -> Self {
        let columns = (0..length).map(|_| AtomicU32::new(0)).collect();
        Cells { columns, values: (0..length).map(|_| S::Cell::default()).collect() }
    }
    fn put(&self, at: usize, col: u32, value: S) {
        self.columns[at].store(col, Relaxed);
        self.values[at].store(value);
    }
    fn columns_and_values<C: FromIterator<u32>, V: FromIterator<S>>(self) -> (C, V) {
        let columns = self.columns.into_iter().map(AtomicU32::into_inner).collect();
        (columns, self.values.into_iter().map(S::Cell::into_scalar).collect())
    }
}

struct CsrCells<S: Scalar> {
    offsets: Vec<usize>,
    cells: Cells<S>,
}

impl<S: Scalar> FilledByThreads<S> for CsrCells<S> {
    fn zeros(coo: &Coo<S>, machine: &Machine) -> (Self, Vec<AtomicUsize>) {
        let lengths: Vec<AtomicUsize> = (0..coo.rows()).map(|_| AtomicUsize::new(0)).collect();
        machine.pool().run_shares(shares(coo.nnz(), machine.threads()).collect(), |part| {
            for &row in &coo.row_indices()[part] {
                lengths[row as usize].fetch_add(1, Relaxed);
            }
        });
        let mut offsets = Vec::with_capacity(coo.rows() + 1);
        let mut end = 0;
        offsets.push(0);
        // The counters become the cursors: each now holds the start of its row.
        let cursors = lengths;
        for cursor in &cursors {
            end += cursor.swap(end, Relaxed);
            offsets.push(end);
        }
        (CsrCells { offsets, cells: Cells::zeros(coo.nnz()) }, cursors)
    }
    fn put(&self, _: usize, at: usize, col: u32, value: S) {
        self.cells.put(at, col, value);
    }
    fn into_parts(self) -> Parts<S> {
        let (columns, values) = self.cells.columns_and_values();
        Parts::Csr { offsets: self.offsets, columns, values }
    }
}

/// Ragged ELLPACK: a cursor counts places of its row.
impl<S: Scalar> Filled<S> for Vec<RaggedRow<S>> {
    fn zeros(coo: &Coo<S>) -> (Self, Vec<usize>) {
        let zeros =
            |length| RaggedRow { columns: vec![0; length].into(), values: vec![S::ZERO; length].into() };
        (coo.row_lengths().into_iter().map(zeros).collect(), vec![0; coo.rows()])
    }
    fn put(&mut self, row: usize, at: usize, col: u32, value: S) {
        let row = &mut self[row];
        row.columns[at] = col;
        row.values[at] = value;
    }
    fn into_parts(self) -> Parts<S> {
        Parts::Ragged { rows: self }
    }
}

impl<S: Scalar> FilledByThreads<S> for Vec<Cells<S>> {
    fn zeros(coo: &Coo<S>, _: &Machine) -> (Self, Vec<AtomicUsize>) {
        let rows = coo.row_lengths().into_iter().map(Cells::zeros).collect();
        (rows, (0..coo.rows()).map(|_| AtomicUsize::new(0)).collect())
    }
    fn put(&self, row: usize, at: usize, col: u32, value: S) {
        self[row].put(at, col, value);
    }
    fn into_parts(self) -> Parts<S> {
        let ragged = |cells: Cells<S>| {
            let (columns, values) = cells.columns_and_values();
            RaggedRow { columns, values }
        };
        Parts::Ragged { rows: self.into_iter().map(ragged).collect() }
    }
}

impl<S: Scalar> Variant<Convert<S>> for Cursor {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn prepare(
        &self,
        machine: &Arc<Machine>,
        coo: &Arc<Coo<S>>,
    ) -> Result<Box<dyn Prepared<Convert<S>>>, Refusal> {
        check_memory(machine, self.format, coo)?;
        let is_critical = self.is_critical;
        Ok(match (self.format, self.description.place) {
            (Format::Csr, Place::Serial) => OnHost::boxed(machine, coo, convert_serial::<S, CsrArrays<S>>),
            (Format::Csr, _) => OnHost::boxed(machine, coo, move |coo: &Coo<S>, machine: &Machine| {
                convert_threads::<S, CsrCells<S>>(coo, machine, is_critical)
            }),
            (_, Place::Serial) => OnHost::boxed(machine, coo, convert_serial::<S, Vec<RaggedRow<S>>>),
            (..) => OnHost::boxed(machine, coo, move |coo: &Coo<S>, machine: &Machine| {
                convert_threads::<S, Vec<Cells<S>>>(coo, machine, is_critical)
            }),
        })
    }
}

//! Second rung: one pass over the nonzeros, each placed where its row's cursor stands, which then moves on by one.
//! Touches every triplet once, its place once and a cursor; threaded, the cursor is an atomic counter (the tiny critical
//! section of coo_to_CSR_parallel_optimization). Loses to counting by buckets where rows are many: every place is a cache miss.

use crate::convert::row_scan::{offsets, shares};
use crate::convert::{Convert, OnHost, Parts};
use ordito::Scalar;
use ordito::machine::Machine;
use ordito::matrix::Coo;
use ordito::op::{Description, Place, Prepared, Variant};
use ordito::refusal::Refusal;
use ordito::scalar::ScalarCell;
use ordito::source_file;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

pub(crate) struct CursorCsr {
    description: Description,
}

pub(crate) const SERIAL: CursorCsr = CursorCsr {
    description: Description::new(
        "csr-serial-cursor",
        "CSR: one pass over the nonzeros, a cursor per row",
        Place::Serial,
        source_file!("convert/cursor_csr.rs"),
    )
    .ladder(),
};
pub(crate) const THREADS: CursorCsr = CursorCsr {
    description: Description::new(
        "csr-threads-cursor",
        "CSR: one pass over the nonzeros, an atomic cursor per row; order within rows varies",
        Place::Threads,
        source_file!("convert/cursor_csr.rs"),
    )
    .ladder(),
};

fn convert_serial<S: Scalar>(coo: &Coo<S>) -> Parts<S> {
    let offsets = offsets(coo);
    let mut cursors = offsets.clone();
    let mut columns = vec![0; coo.nonzeros()];
    let mut values = vec![S::ZERO; coo.nonzeros()];
    for (row, col, value) in coo.entries() {
        let cursor = &mut cursors[row as usize];
        columns[*cursor] = col;
        values[*cursor] = value;
        *cursor += 1;
    }
    Parts::Csr { offsets, columns, values }
}

fn convert_threads<S: Scalar>(coo: &Coo<S>, machine: &Machine) -> Parts<S> {
    let lengths: Vec<AtomicUsize> = (0..coo.rows()).map(|_| AtomicUsize::new(0)).collect();
    let parts = || shares(coo.nonzeros(), machine.threads()).collect();
    machine.pool().run_shares(parts(), |part| {
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
    let columns: Vec<AtomicU32> = (0..coo.nonzeros()).map(|_| AtomicU32::new(0)).collect();
    let values: Vec<S::Cell> = (0..coo.nonzeros()).map(|_| S::Cell::default()).collect();
    machine.pool().run_shares(parts(), |part| {
        for entry in part {
            let at = cursors[coo.row_indices()[entry] as usize].fetch_add(1, Relaxed);
            columns[at].store(coo.column_indices()[entry], Relaxed);
            values[at].store(coo.values()[entry]);
        }
    });
    let columns = columns.into_iter().map(AtomicU32::into_inner).collect();
    let values = values.into_iter().map(S::Cell::into_scalar).collect();
    Parts::Csr { offsets, columns, values }
}

impl<S: Scalar> Variant<Convert<S>> for CursorCsr {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn prepare(
        &self,
        machine: &Arc<Machine>,
        coo: &Arc<Coo<S>>,
    ) -> Result<Box<dyn Prepared<Convert<S>>>, Refusal> {
        let machine = machine.clone();
        Ok(match self.description.place {
            Place::Serial => OnHost::boxed(coo, convert_serial),
            _ => OnHost::boxed(coo, move |coo| convert_threads(coo, &machine)),
        })
    }
}

//! Ragged ELLPACK in one pass: rows are allocated at their true length, then each nonzero goes where its row's cursor
//! stands. Touches every triplet once, a cursor and a row's pointers. Known as no zero padding, optimized (curr_idx_per_row).
//! Loses where rows are short: the allocations cost more than the entries.

use crate::convert::row_scan::shares;
use crate::convert::{Convert, OnHost, Parts};
use ordito::Scalar;
use ordito::machine::Machine;
use ordito::matrix::{Coo, RaggedRow};
use ordito::op::{Description, Place, Prepared, Variant};
use ordito::refusal::Refusal;
use ordito::scalar::ScalarCell;
use ordito::source_file;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

pub(crate) struct CursorRagged {
    description: Description,
}

pub(crate) const SERIAL: CursorRagged = CursorRagged {
    description: Description::new(
        "ell-ragged-serial-cursor",
        "ragged ELLPACK: one pass over the nonzeros, a cursor per row",
        Place::Serial,
        source_file!("convert/cursor_ragged.rs"),
    )
    .ladder(),
};
pub(crate) const THREADS: CursorRagged = CursorRagged {
    description: Description::new(
        "ell-ragged-threads-cursor",
        "ragged ELLPACK: one pass, an atomic cursor per row; order within rows varies",
        Place::Threads,
        source_file!("convert/cursor_ragged.rs"),
    )
    .ladder(),
};

fn convert_serial<S: Scalar>(coo: &Coo<S>) -> Parts<S> {
    let zeros = |length| RaggedRow { columns: vec![0; length].into(), values: vec![S::ZERO; length].into() };
    let mut rows: Vec<RaggedRow<S>> = coo.row_lengths().into_iter().map(zeros).collect();
    let mut cursors = vec![0usize; coo.rows()];
    for (row, col, value) in coo.entries() {
        let (cursor, row) = (&mut cursors[row as usize], &mut rows[row as usize]);
        row.columns[*cursor] = col;
        row.values[*cursor] = value;
        *cursor += 1;
    }
    Parts::Ragged { rows }
}

fn convert_threads<S: Scalar>(coo: &Coo<S>, machine: &Machine) -> Parts<S> {
    let cells = |length| {
        let columns: Vec<AtomicU32> = (0..length).map(|_| AtomicU32::new(0)).collect();
        let values: Vec<S::Cell> = (0..length).map(|_| S::Cell::default()).collect();
        (columns, values)
    };
    let rows: Vec<(Vec<AtomicU32>, Vec<S::Cell>)> = coo.row_lengths().into_iter().map(cells).collect();
    let cursors: Vec<AtomicUsize> = (0..coo.rows()).map(|_| AtomicUsize::new(0)).collect();
    machine.pool().run_shares(shares(coo.nonzeros(), machine.threads()).collect(), |part| {
        for entry in part {
            let row = coo.row_indices()[entry] as usize;
            let at = cursors[row].fetch_add(1, Relaxed);
            rows[row].0[at].store(coo.column_indices()[entry], Relaxed);
            rows[row].1[at].store(coo.values()[entry]);
        }
    });
    let rows = rows.into_iter().map(|(columns, values)| RaggedRow {
        columns: columns.into_iter().map(AtomicU32::into_inner).collect(),
        values: values.into_iter().map(S::Cell::into_scalar).collect(),
    });
    Parts::Ragged { rows: rows.collect() }
}

impl<S: Scalar> Variant<Convert<S>> for CursorRagged {
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

//! First rung: counts nonzeros per row; then every row looks at *all* nonzeros and takes its own, into CSR, into padded
//! ELLPACK (width = longest row, padding is value 0 at column 0) or into ragged ELLPACK (every row of its true length).
//! Touches rows × nonzeros row indices; threaded, each thread has an even share of the rows. Known as coo_to_CSR_parallel,
//! coo_to_ellpack_parallel, and ELLPACK, no zero padding.
//! Loses always: correct, and hopeless on anything large, hence refused above the work limit. Padding runs out of memory on
//! skewed matrices, too: refused with the size it would need.

use crate::convert::parts::{Format, Parts, check_memory};
use crate::convert::{Convert, OnHost, shares};
use ordito::Scalar;
use ordito::machine::Machine;
use ordito::matrix::Coo;
use ordito::op::{Description, Place, Prepared, Variant};
use ordito::refusal::Refusal;
use ordito::source_file;
use std::sync::Arc;

pub(crate) struct RowScan {
    format: Format,
    description: Description,
}

pub(crate) const CSR_SERIAL: RowScan = RowScan {
    format: Format::Csr,
    description: Description::new(
        "csr-serial-row-scan",
        "CSR: every row scans all nonzeros (rows × nonzeros steps)",
        Place::Serial,
        source_file!("convert/row_scan.rs"),
    )
    .ladder(),
};
pub(crate) const CSR_THREADS: RowScan = RowScan {
    format: Format::Csr,
    description: Description::new(
        "csr-threads-row-scan",
        "CSR: every row scans all nonzeros (rows × nonzeros steps)",
        Place::Threads,
        source_file!("convert/row_scan.rs"),
    )
    .ladder()
    .known_as(&["coo_to_CSR_parallel"]),
};
pub(crate) const PADDED_SERIAL: RowScan = RowScan {
    format: Format::Padded,
    description: Description::new(
        "ell-padded-serial-row-scan",
        "padded ELLPACK: every row scans all nonzeros, rows filled up with zeros",
        Place::Serial,
        source_file!("convert/row_scan.rs"),
    )
    .ladder(),
};
pub(crate) const PADDED_THREADS: RowScan = RowScan {
    format: Format::Padded,
    description: Description::new(
        "ell-padded-threads-row-scan",
        "padded ELLPACK: every row scans all nonzeros, rows filled up with zeros",
        Place::Threads,
        source_file!("convert/row_scan.rs"),
    )
    .ladder()
    .known_as(&["coo_to_ellpack_parallel"]),
};
pub(crate) const RAGGED_SERIAL: RowScan = RowScan {
    format: Format::Ragged,
    description: Description::new(
        "ell-ragged-serial-row-scan",
        "ragged ELLPACK: every row scans all nonzeros, rows of their true length",
        Place::Serial,
        source_file!("convert/row_scan.rs"),
    )
    .ladder(),
};
pub(crate) const RAGGED_THREADS: RowScan = RowScan {
    format: Format::Ragged,
    description: Description::new(
        "ell-ragged-threads-row-scan",
        "ragged ELLPACK: every row scans all nonzeros, rows of their true length",
        Place::Threads,
        source_file!("convert/row_scan.rs"),
    )
    .ladder(),
};

/// About a second of scanning on one core.
const BEARABLE_STEPS: u64 = 2_000_000_000;

/// Refuses M·nz steps above the work limit.
fn check_work<S: Scalar>(machine: &Machine, coo: &Coo<S>) -> Result<(), Refusal> {
    let (rows, nonzeros) = (coo.rows(), coo.nnz());
    let what = format!("scanning all {nonzeros} nonzeros for each of {rows} rows");
    machine.check_work(what, rows as u128 * nonzeros as u128, BEARABLE_STEPS)
}

/// Every entry of `row`, found by looking at all of them.
fn scan<S: Scalar>(coo: &Coo<S>, row: usize) -> impl Iterator<Item = (u32, S)> + '_ {
    let rows = coo.row_indices().iter().enumerate();
    rows.filter(move |&(_, &at)| at as usize == row)
        .map(|(entry, _)| (coo.col_indices()[entry], coo.values()[entry]))
}

fn convert<S: Scalar>(format: Format, coo: &Coo<S>, machine: &Machine, threads: usize) -> Parts<S> {
    let mut parts = Parts::zeros(format, &coo.row_lengths());
    let mut rows_left = parts.rows_mut();
    let mut work = Vec::with_capacity(threads);
    for share in shares(coo.rows(), threads) {
        let later = rows_left.split_off(share.len());
        work.push((share, std::mem::replace(&mut rows_left, later)));
    }
    machine.pool().run_shares(work, |(share, rows)| {
        for (row, (columns, values)) in machine.interrupt().until_set(share.zip(rows)) {
            for ((to_column, to_value), (col, value)) in columns.iter_mut().zip(values).zip(scan(coo, row)) {
                *to_column = col;
                *to_value = value;
            }
        }
    });
    parts
}

impl<S: Scalar> Variant<Convert<S>> for RowScan {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn prepare(
        &self,
        machine: &Arc<Machine>,
        coo: &Arc<Coo<S>>,
    ) -> Result<Box<dyn Prepared<Convert<S>>>, Refusal> {
        check_memory(machine, self.format, coo)?;
        check_work(machine, coo)?;
        let (format, threads) = (self.format, self.description.place.threads(machine).unwrap_or(1));
        Ok(OnHost::boxed(machine, coo, move |coo, machine| convert(format, coo, machine, threads)))
    }
}

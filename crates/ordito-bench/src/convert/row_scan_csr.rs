//! First rung: counts nonzeros per row and sums them up; then every row looks at *all* nonzeros and takes its own.
//! Touches rows × nonzeros row indices; threaded, each thread has an even share of the rows. Known as coo_to_CSR_parallel.
//! Loses always: correct, and hopeless on anything large, hence refused above the work limit.

use crate::convert::row_scan::{check_work, offsets, scan, shares};
use crate::convert::{Convert, OnHost, Parts};
use ordito::Scalar;
use ordito::machine::Machine;
use ordito::matrix::Coo;
use ordito::op::{Description, Place, Prepared, Variant};
use ordito::refusal::Refusal;
use ordito::source_file;
use std::sync::Arc;

pub(crate) struct RowScanCsr {
    description: Description,
}

pub(crate) const SERIAL: RowScanCsr = RowScanCsr {
    description: Description::new(
        "csr-serial-row-scan",
        "CSR: every row scans all nonzeros (rows × nonzeros steps)",
        Place::Serial,
        source_file!("convert/row_scan_csr.rs"),
    )
    .ladder(),
};
pub(crate) const THREADS: RowScanCsr = RowScanCsr {
    description: Description::new(
        "csr-threads-row-scan",
        "CSR: every row scans all nonzeros (rows × nonzeros steps)",
        Place::Threads,
        source_file!("convert/row_scan_csr.rs"),
    )
    .ladder(),
};

fn convert<S: Scalar>(coo: &Coo<S>, machine: &Machine, threads: usize) -> Parts<S> {
    let offsets = offsets(coo);
    let mut columns = vec![0; coo.nonzeros()];
    let mut values = vec![S::ZERO; coo.nonzeros()];
    let mut work = Vec::with_capacity(threads);
    let (mut columns_left, mut values_left) = (&mut columns[..], &mut values[..]);
    for rows in shares(coo.rows(), threads) {
        let length = offsets[rows.end] - offsets[rows.start];
        let (my_columns, rest) = columns_left.split_at_mut(length);
        columns_left = rest;
        let (my_values, rest) = values_left.split_at_mut(length);
        values_left = rest;
        work.push((rows, my_columns, my_values));
    }
    machine.pool().run_shares(work, |(rows, columns, values)| {
        let mut at = 0;
        for row in rows {
            for (col, value) in scan(coo, row) {
                columns[at] = col;
                values[at] = value;
                at += 1;
            }
        }
    });
    Parts::Csr { offsets, columns, values }
}

impl<S: Scalar> Variant<Convert<S>> for RowScanCsr {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn prepare(
        &self,
        machine: &Arc<Machine>,
        coo: &Arc<Coo<S>>,
    ) -> Result<Box<dyn Prepared<Convert<S>>>, Refusal> {
        check_work(machine, coo)?;
        let (machine, threads) = (machine.clone(), self.description.place.threads(machine).unwrap_or(1));
        Ok(OnHost::boxed(coo, move |coo| convert(coo, &machine, threads)))
    }
}

//! Ragged ELLPACK by row scan: every row an allocation of its true length; every row looks at all nonzeros.
//! Touches rows × nonzeros row indices, but no padding. Known as ELLPACK, no zero padding.
//! Loses always on time; saves the memory that padding takes.

use crate::convert::row_scan::{check_work, scan, shares};
use crate::convert::{Convert, OnHost, Parts};
use ordito::Scalar;
use ordito::machine::Machine;
use ordito::matrix::{Coo, RaggedRow};
use ordito::op::{Description, Place, Prepared, Variant};
use ordito::refusal::Refusal;
use ordito::source_file;
use std::sync::Arc;

pub(crate) struct RowScanRagged {
    description: Description,
}

pub(crate) const SERIAL: RowScanRagged = RowScanRagged {
    description: Description::new(
        "ell-ragged-serial-row-scan",
        "ragged ELLPACK: every row scans all nonzeros, rows of their true length",
        Place::Serial,
        source_file!("convert/row_scan_ragged.rs"),
    )
    .ladder(),
};
pub(crate) const THREADS: RowScanRagged = RowScanRagged {
    description: Description::new(
        "ell-ragged-threads-row-scan",
        "ragged ELLPACK: every row scans all nonzeros, rows of their true length",
        Place::Threads,
        source_file!("convert/row_scan_ragged.rs"),
    )
    .ladder(),
};

fn convert<S: Scalar>(coo: &Coo<S>, machine: &Machine, threads: usize) -> Parts<S> {
    let lengths = coo.row_lengths();
    let mut rows: Vec<RaggedRow<S>> = vec![RaggedRow::default(); coo.rows()];
    let mut work = Vec::with_capacity(threads);
    let mut rows_left = &mut rows[..];
    for share in shares(coo.rows(), threads) {
        let (mine, rest) = rows_left.split_at_mut(share.len());
        rows_left = rest;
        work.push((share, mine));
    }
    machine.pool().run_shares(work, |(share, rows)| {
        for (row, ragged) in share.zip(rows) {
            let (mut columns, mut values) =
                (Vec::with_capacity(lengths[row]), Vec::with_capacity(lengths[row]));
            for (col, value) in scan(coo, row) {
                columns.push(col);
                values.push(value);
            }
            *ragged = RaggedRow { columns: columns.into(), values: values.into() };
        }
    });
    Parts::Ragged { rows }
}

impl<S: Scalar> Variant<Convert<S>> for RowScanRagged {
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

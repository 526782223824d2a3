//! Padded ELLPACK by row scan: width = longest row, padding is value 0 at column 0; every row looks at all nonzeros.
//! Touches rows × nonzeros row indices and rows × width places. Known as coo_to_ellpack_parallel.
//! Loses always on time, and runs out of memory on skewed matrices: refused with the size it would need.

use crate::convert::row_scan::{check_work, scan, shares};
use crate::convert::{Convert, OnHost, Parts};
use ordito::Scalar;
use ordito::machine::Machine;
use ordito::matrix::Coo;
use ordito::op::{Description, Place, Prepared, Variant, check_padded};
use ordito::refusal::Refusal;
use ordito::source_file;
use std::sync::Arc;

pub(crate) struct RowScanPadded {
    description: Description,
}

pub(crate) const SERIAL: RowScanPadded = RowScanPadded {
    description: Description::new(
        "ell-padded-serial-row-scan",
        "padded ELLPACK: every row scans all nonzeros, rows filled up with zeros",
        Place::Serial,
        source_file!("convert/row_scan_padded.rs"),
    )
    .ladder(),
};
pub(crate) const THREADS: RowScanPadded = RowScanPadded {
    description: Description::new(
        "ell-padded-threads-row-scan",
        "padded ELLPACK: every row scans all nonzeros, rows filled up with zeros",
        Place::Threads,
        source_file!("convert/row_scan_padded.rs"),
    )
    .ladder(),
};

fn convert<S: Scalar>(coo: &Coo<S>, machine: &Machine, threads: usize) -> Parts<S> {
    let row_lengths = coo.row_lengths();
    let width = row_lengths.iter().copied().max().unwrap_or(0);
    let mut columns = vec![0; coo.rows() * width];
    let mut values = vec![S::ZERO; coo.rows() * width];
    let mut work = Vec::with_capacity(threads);
    let (mut columns_left, mut values_left) = (&mut columns[..], &mut values[..]);
    for rows in shares(coo.rows(), threads) {
        let (my_columns, rest) = columns_left.split_at_mut(rows.len() * width);
        columns_left = rest;
        let (my_values, rest) = values_left.split_at_mut(rows.len() * width);
        values_left = rest;
        work.push((rows, my_columns, my_values));
    }
    machine.pool().run_shares(work, |(rows, columns, values)| {
        for (local, row) in rows.enumerate() {
            for (at, (col, value)) in scan(coo, row).enumerate() {
                columns[local * width + at] = col;
                values[local * width + at] = value;
            }
        }
    });
    Parts::Padded { width, row_lengths, columns, values }
}

impl<S: Scalar> Variant<Convert<S>> for RowScanPadded {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn prepare(
        &self,
        machine: &Arc<Machine>,
        coo: &Arc<Coo<S>>,
    ) -> Result<Box<dyn Prepared<Convert<S>>>, Refusal> {
        let (rows, width) = (coo.rows(), coo.row_lengths().into_iter().max().unwrap_or(0));
        check_padded::<S>(machine, rows, width)?;
        check_work(machine, coo)?;
        let (machine, threads) = (machine.clone(), self.description.place.threads(machine).unwrap_or(1));
        Ok(OnHost::boxed(coo, move |coo| convert(coo, &machine, threads)))
    }
}

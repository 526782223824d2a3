//! ELLPACK on a device, padded and ragged.

use crate::Scalar;
use crate::device::{Argument, Buffer, Device};
use crate::machine::Machine;
use crate::matrix::Csr;
use crate::refusal::Refusal;
use crate::spmm::cpu::ladder::ell_padded_serial::pad;

/// Padded ELLPACK on a device, row after row as on the host.
pub(crate) struct DeviceEllPadded<S> {
    width: u64,
    columns: Buffer<u32>,
    values: Buffer<S>,
}

impl<S: Scalar> DeviceEllPadded<S> {
    /// Refuses what the host's memory budget does not hold: there it is built.
    pub(crate) fn upload(machine: &Machine, device: &Device, a: &Csr<S>) -> Result<Self, Refusal> {
        let padded = pad(machine, a)?;
        let (rows, width) = (a.rows(), padded.width());
        let what = |part: &str| format!("{part} of padded ELLPACK ({rows} rows, longest row {width})");
        Ok(DeviceEllPadded {
            width: width as u64,
            columns: device.upload(what("columns"), padded.columns())?,
            values: device.upload(what("values"), padded.values())?,
        })
    }

    /// `u64 width, const u32* columns, const SCALAR* values`
    pub(crate) fn arguments(&self) -> Vec<Argument> {
        vec![Argument::of(self.width), (&self.columns).into(), (&self.values).into()]
    }
}

/// Ragged ELLPACK on a device. Rows of their own become one array, and a row's pointer its start in there: a device gives
/// out memory in pieces far larger than most rows, and a kernel that is told start and length of its row does the same
/// work as one that is told a pointer. Unlike in CSR, a row's end does not depend on the next row's start.
pub(crate) struct DeviceEllRagged<S> {
    row_starts: Buffer<u64>,
    row_lengths: Buffer<u64>,
    columns: Buffer<u32>,
    values: Buffer<S>,
}

impl<S: Scalar> DeviceEllRagged<S> {
    pub(crate) fn upload(device: &Device, a: &Csr<S>) -> Result<Self, Refusal> {
        let row_starts: Vec<u64> = (0..a.rows()).map(|row| a.view().range(row).start as u64).collect();
        let row_lengths: Vec<u64> = a.row_lengths().map(|length| length as u64).collect();
        Ok(DeviceEllRagged {
            row_starts: device.upload("row starts of ragged ELLPACK", &row_starts)?,
            row_lengths: device.upload("row lengths of ragged ELLPACK", &row_lengths)?,
            columns: device.upload("columns of ragged ELLPACK", a.view().columns())?,
            values: device.upload("values of ragged ELLPACK", a.view().values())?,
        })
    }

    /// `const u64* row_starts, const u64* row_lengths, const u32* columns, const SCALAR* values`
    pub(crate) fn arguments(&self) -> Vec<Argument> {
        let lengths = [(&self.row_starts).into(), (&self.row_lengths).into()];
        lengths.into_iter().chain([(&self.columns).into(), (&self.values).into()]).collect()
    }
}

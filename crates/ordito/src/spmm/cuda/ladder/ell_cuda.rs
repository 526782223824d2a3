//! ELLPACK_kernel and ELLPACK_Sub_warp: one thread, or two lanes that add up in shared memory, per element of Y, on padded
//! and on ragged storage. Touch one element of X per place; the padded ones multiply the padding too, as on the CPU.
//! Lose on skewed matrices: padded ones by the padding, ragged ones by the warps that wait for their longest row.

use crate::Scalar;
use crate::device::{Argument, Buffer, Device};
use crate::machine::Machine;
use crate::matrix::Csr;
use crate::op::{Description, Place};
use crate::refusal::Refusal;
use crate::spmm::cpu::ladder::ell_padded_serial::pad;
use crate::spmm::cuda::ladder::rung::{KernelFile, Rung, Storage, Stored, Work, kernel_file};

/// Lanes of an element where there are several.
const LANES: u32 = 2;

/// ELLPACK_kernel, padded.
pub(crate) const PADDED_THREAD: Rung = rung(
    "ell-padded-cuda-thread-per-element",
    "padded ELLPACK, one thread per element of Y (ELLPACK_kernel)",
    kernel_file!("ell_padded_thread", "ell_padded_cuda_thread.cu"),
    Storage::EllPadded,
    None,
);

/// ELLPACK_kernel, ragged.
pub(crate) const RAGGED_THREAD: Rung = rung(
    "ell-ragged-cuda-thread-per-element",
    "ragged ELLPACK, one thread per element of Y (ELLPACK_kernel)",
    kernel_file!("ell_ragged_thread", "ell_ragged_cuda_thread.cu"),
    Storage::EllRagged,
    None,
);

/// ELLPACK_Sub_warp, padded.
pub(crate) const PADDED_LANES: Rung = rung(
    "ell-padded-cuda-lanes2-per-element",
    "padded ELLPACK, 2 lanes per element of Y, reduction in shared memory (ELLPACK_Sub_warp)",
    kernel_file!("ell_padded_lanes", "ell_padded_cuda_lanes.cu"),
    Storage::EllPadded,
    Some(LANES),
);

/// ELLPACK_Sub_warp, ragged.
pub(crate) const RAGGED_LANES: Rung = rung(
    "ell-ragged-cuda-lanes2-per-element",
    "ragged ELLPACK, 2 lanes per element of Y, reduction in shared memory (ELLPACK_Sub_warp)",
    kernel_file!("ell_ragged_lanes", "ell_ragged_cuda_lanes.cu"),
    Storage::EllRagged,
    Some(LANES),
);

const fn rung(
    name: &'static str,
    about: &'static str,
    kernel: KernelFile,
    storage: Storage,
    lanes: Option<u32>,
) -> Rung {
    let description = Description::new(name, about, Place::Cuda, kernel.source).ladder().converted();
    let (description, threads) = match lanes {
        Some(lanes) => {
            (description.params(&[("lanes", LANES)]).known_as(&["ellpack_sw", "ellpack_sub_warp"]), lanes)
        }
        None => (description.known_as(&["ellpack", "ellpack_kernel"]), 1),
    };
    Rung { description, kernel, storage, work: Work::Element { threads }, lanes }
}

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
}

impl<S: Scalar> Stored for DeviceEllPadded<S> {
    /// `u64 width, const u32* columns, const SCALAR* values`
    fn arguments(&self) -> Vec<Argument> {
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
}

impl<S: Scalar> Stored for DeviceEllRagged<S> {
    /// `const u64* row_starts, const u64* row_lengths, const u32* columns, const SCALAR* values`
    fn arguments(&self) -> Vec<Argument> {
        let lengths = [(&self.row_starts).into(), (&self.row_lengths).into()];
        lengths.into_iter().chain([(&self.columns).into(), (&self.values).into()]).collect()
    }
}

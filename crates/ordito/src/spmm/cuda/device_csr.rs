//! CSR on a device, and the definitions that kernels over it are compiled with.

use crate::Scalar;
use crate::device::{Argument, Buffer, Device, KernelSource, columns_and_values};
use crate::machine::Machine;
use crate::matrix::Csr;
use crate::refusal::Refusal;

/// CSR on a device: row starts in 32 bits where they fit, 32-bit columns.
#[derive(Debug)]
pub(crate) struct DeviceCsr<S> {
    row_starts: RowStarts,
    columns: Buffer<u32>,
    values: Buffer<S>,
}

#[derive(Debug)]
enum RowStarts {
    Narrow(Buffer<u32>),
    Wide(Buffer<u64>),
}

/// Types of row starts that kernels are compiled for.
pub(crate) const OFFSETS: [&str; 2] = ["u32", "u64"];

/// The type of row starts on a device, as kernels are told by the definition `OFFSET`.
pub(crate) fn offset_type(machine: &Machine, nonzeros: usize) -> &'static str {
    if nonzeros as u64 <= machine.limits().narrow_offsets { OFFSETS[0] } else { OFFSETS[1] }
}

impl<S: Scalar> DeviceCsr<S> {
    pub(crate) fn upload(machine: &Machine, device: &Device, a: &Csr<S>) -> Result<Self, Refusal> {
        let starts = a.pattern().offsets();
        let row_starts = if offset_type(machine, a.nnz()) == OFFSETS[0] {
            let narrow: Vec<u32> = starts.iter().map(|&start| start as u32).collect();
            RowStarts::Narrow(device.upload("row starts of A", &narrow)?)
        } else {
            let wide: Vec<u64> = starts.iter().map(|&start| start as u64).collect();
            RowStarts::Wide(device.upload("row starts of A", &wide)?)
        };
        let (columns, values) = columns_and_values(device, a)?;
        Ok(DeviceCsr { row_starts, columns, values })
    }

    /// The arrays, where row starts take 32 bits.
    #[cfg(feature = "cuda")]
    pub(crate) fn narrow_parts(&self) -> Option<(&Buffer<u32>, &Buffer<u32>, &Buffer<S>)> {
        match &self.row_starts {
            RowStarts::Narrow(starts) => Some((starts, &self.columns, &self.values)),
            RowStarts::Wide(_) => None,
        }
    }

    /// `const OFFSET* row_starts, const u32* columns, const SCALAR* values`
    pub(crate) fn arguments(&self) -> [Argument; 3] {
        let row_starts = match &self.row_starts {
            RowStarts::Narrow(starts) => Argument::from(starts),
            RowStarts::Wide(starts) => Argument::from(starts),
        };
        [row_starts, Argument::from(&self.columns), Argument::from(&self.values)]
    }
}

/// `kernel` for scalars S and each type of row starts: every set of definitions that a CSR kernel is asked for.
pub(crate) fn for_all_offsets<S: Scalar>(kernel: &KernelSource) -> Vec<KernelSource> {
    OFFSETS.iter().map(|offset| with_types::<S>(kernel, offset)).collect()
}

/// `kernel` for scalars S and this type of row starts.
pub(crate) fn with_types<S: Scalar>(kernel: &KernelSource, offset: &str) -> KernelSource {
    kernel.clone().define("SCALAR", S::CUDA_NAME).define("OFFSET", offset)
}

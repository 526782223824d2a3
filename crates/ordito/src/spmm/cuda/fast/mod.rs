//! What the variants over tiles of columns share beside their kernels: how they are listed and prepared.

pub(crate) mod csr_cuda_rows;
pub(crate) mod csr_cuda_shares;
pub(crate) mod csr_cuda_windows;
pub(crate) mod layout;
pub(crate) mod sell_cuda_slices;
pub(crate) mod tiled;
pub(crate) mod tiling;
use crate::Scalar;
use crate::device::{Device, KernelSource, PTX, Spent};
use crate::machine::Machine;
use crate::op::{Description, Variant};
use crate::refusal::Refusal;
use crate::spmm::cuda::device::OnDevice;
use crate::spmm::cuda::fast::tiled::{Layout, Tiled};
use crate::spmm::cuda::fast::tiling::{Loads, Tiling};
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

/// A variant with its kernel, its layout of A, and how it deals out columns.
pub(crate) trait Fast<S: Scalar>: Sync {
    /// The kernel for a tile and how it is read.
    fn source(&self, tiling: Tiling, loads: Loads) -> KernelSource;
    /// Every tile there can be.
    fn tilings(&self) -> Vec<Tiling>;
    /// A on the device. Runs in the machine's pool.
    fn layout(&self, machine: &Machine, device: &Device, subject: &Subject<S>) -> Result<Layout<S>, Refusal>;
    /// Kernels beside its own.
    fn more_kernels(&self) -> Vec<KernelSource> {
        Vec::new()
    }
}

/// A kernel that includes `few.cuh`.
pub(crate) fn kernel(
    entry: &'static str,
    file: &'static str,
    text: &'static str,
    headers: &[(&'static str, &'static str)],
) -> KernelSource {
    let few = KernelSource::new(entry, file, text)
        .include(PTX.0, PTX.1)
        .include("few.cuh", include_str!("few.cuh"));
    headers.iter().fold(few, |source, (name, text)| source.include(name, text))
}

pub(crate) const PIECES: (&str, &str) = ("pieces.cuh", include_str!("pieces.cuh"));
pub(crate) const FLAGS: (&str, &str) = ("flags.cuh", include_str!("flags.cuh"));

/// As the list takes it: how it works, and what it is.
pub(crate) struct Listed<F> {
    pub(crate) fast: F,
    pub(crate) description: Description,
}

impl<S: Scalar, F: Fast<S>> Variant<Spmm<S>> for Listed<F> {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn kernels(&self) -> Vec<KernelSource> {
        let own = self.fast.tilings().into_iter().flat_map(|tiling| {
            tiling.all_loads::<S>().into_iter().map(move |loads| self.fast.source(tiling, loads))
        });
        own.chain(self.fast.more_kernels()).collect()
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let device = machine.device()?;
        // The host holds A in the kernel's layout until the device does.
        let entries = (subject.a.nonzeros() as u64).checked_add(subject.a.rows() as u64);
        let bytes = entries.and_then(|entries| entries.checked_mul(8 + size_of::<S>() as u64));
        machine.check_memory("A in the layout of the kernel", bytes)?;
        let layout = Spent::in_pool(machine.pool(), || self.fast.layout(machine, &device, subject))?;
        let shape = (subject.a.rows(), subject.a.cols());
        Ok(OnDevice::boxed(Tiled::new(&device, layout)?, device, shape, subject.k))
    }
}

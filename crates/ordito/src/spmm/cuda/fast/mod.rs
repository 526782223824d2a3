//! Our own sparse products on CUDA: slices, rows, shares, windows and diagonals. They differ in how they deal out A, and share the rest; this
//! file has how they are listed and prepared.
//!
//! **Columns.** `tiling` says as data, from K and the precision, how many lanes have how many columns, and from the distances of rows
//! how wide they load. `few.cuh` is the same thing in a kernel: a lane's part of a row of X, its sums, their way to Y. Any K is done
//! in tiles, the tiles of the same rows one after the other (slices: the rows of the same tile).
//!
//! **A variant is a `Fast`**: its kernel for a tile, and a `Layout`, A rearranged on the device and the arguments that point to it. `tiled`
//! makes it a `DeviceKernel`; it compiles for the loads of the operands that it was prepared for, and again when others come.
//!
//! **Load balancing.** `layout/pieces` with `pieces.cuh` deals out work in rows, or parts of rows too long for one group of lanes.
//! `layout/parts` with `add_parts.cu` adds the parts up, in an order that never changes; where a part has a warp or a block
//! (`parts_in_place`), the last of a row does it without a second launch. `row_teams` decides which rows have a group of lanes, a warp, a
//! block or several. `sliced` is A in slices, `teams` sorts rows for them, `gathered` puts rows of a mesh into
//! windows. `flagged` with `flags.cuh` is CSR whose columns say where rows end; shares (an nnz split) joins them by a segmented scan, and
//! the block that comes last adds up what was cut, in such an order too.
//!
//! **Choosing.** A kernel says in `Fast::work` how it would deal out a matrix; `select` puts prices on that, and takes the cheapest of
//! [`candidates`].
//!
//! **Bits.** No sum is added to atomically: every run gives the same bits. What a row does not have is skipped, never multiplied by
//! zero, so that NaN and infinities of X stay where they belong. Only windows and diagonals multiply by zeros; the one looks first whether
//! X is finite there, the other afterwards whether a sum is a number, and both go one by one where it is not.

pub(crate) mod csr_cuda_rows;
pub(crate) mod csr_cuda_shares;
pub(crate) mod csr_cuda_windows;
pub(crate) mod diagonals_cuda_slices;
pub(crate) mod layout;
pub(crate) mod sell_cuda_slices;
pub(crate) mod tiled;
pub(crate) mod tiling;
pub(crate) mod work;
use crate::Scalar;
use crate::device::{Device, DeviceLimits, KernelSource, PTX, Spent};
use crate::machine::Machine;
use crate::op::{Description, Variant};
use crate::refusal::Refusal;
use crate::spmm::analysis::shape::Shape;
use crate::spmm::cuda::device::OnDevice;
use crate::spmm::cuda::fast::tiled::{Layout, Tiled};
use crate::spmm::cuda::fast::tiling::{Loads, Tiling};
use crate::spmm::cuda::fast::work::{Terms, Work};
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
    /// Can it be the fastest for such a matrix?
    fn serves(&self, _: &Shape) -> bool {
        true
    }
    /// What a product of such a matrix asks of a device.
    fn work(&self, limits: &DeviceLimits, shape: &Shape, k: usize) -> Work;
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

pub(crate) static PIECES: (&str, &str) = ("pieces.cuh", include_str!("pieces.cuh"));
pub(crate) static FLAGS: (&str, &str) = ("flags.cuh", include_str!("flags.cuh"));

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
        // The host holds what it knows of rows; where the device is emulated, A in the kernel's layout too.
        let nonzeros = if device.is_emulated() { subject.a.nnz() as u64 } else { 0 };
        let entries = nonzeros.checked_add(subject.a.rows() as u64);
        let bytes = entries.and_then(|entries| entries.checked_mul(8 + size_of::<S>() as u64));
        machine.check_memory("A in the layout of the kernel", bytes)?;
        let layout = Spent::in_pool(machine.pool(), || self.fast.layout(machine, &device, subject))?;
        let shape = (subject.a.rows(), subject.a.cols());
        Ok(OnDevice::boxed(Tiled::new(&device, layout)?, device, shape, subject.k))
    }
}

/// What `auto` can take on a device.
pub(crate) trait Candidate<S: Scalar>: Sync {
    /// What it is.
    fn description(&self) -> &Description;
    /// Is it thought of for such a matrix?
    fn serves(&self, shape: &Shape) -> bool;
    /// What the price of a product depends on.
    fn terms(&self, limits: &DeviceLimits, shape: &Shape, k: usize) -> Terms;
}

impl<S: Scalar, F: Fast<S>> Candidate<S> for Listed<F> {
    fn description(&self) -> &Description {
        &self.description
    }
    fn serves(&self, shape: &Shape) -> bool {
        self.fast.serves(shape)
    }
    fn terms(&self, limits: &DeviceLimits, shape: &Shape, k: usize) -> Terms {
        self.fast.work(limits, shape, k).terms::<S>(limits, shape, k)
    }
}

/// All of them.
pub(crate) fn candidates<S: Scalar>() -> [&'static dyn Candidate<S>; 9] {
    [
        &csr_cuda_rows::ROWS_8,
        &csr_cuda_rows::ROWS_8_SHUFFLED,
        &csr_cuda_rows::ROWS_32,
        &csr_cuda_rows::ROWS_32_SHUFFLED,
        &sell_cuda_slices::SLICES,
        &sell_cuda_slices::SORTED,
        &csr_cuda_shares::SHARES,
        &csr_cuda_windows::WINDOWS,
        &diagonals_cuda_slices::SLICES,
    ]
}

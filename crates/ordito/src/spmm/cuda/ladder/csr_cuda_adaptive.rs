//! CSR_Adaptive and CSR_Adaptive_sub_blocks: rows are grouped on the host into row blocks. Several short rows of a block
//! are done as CSR-Stream (products to shared memory, then one thread per row adds), one long row as CSR-Vector.
//! Touch A's rows coalesced, once per column, and columns of the transposed X.
//! Lose where rows are all alike and short: the grouping buys nothing, and X is moved twice more.
//!
//! CSR_Adaptive: one block of `local_size` threads per row block and column. CSR_Adaptive_sub_blocks: one block per row
//! block, cut into sub-blocks that take one column at a time; see [`sub_block_plan`] for how many there are.

use crate::Scalar;
use crate::device::{Adjustable, Argument, Buffer, DeviceLimits, KernelSource, LaunchPlan};
use crate::machine::Machine;
use crate::op::transposed::Transposed;
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::spmm::cuda::device::OnDevice;
use crate::spmm::cuda::device_csr::{DeviceCsr, for_all_offsets, offset_type, with_types};
use crate::spmm::cuda::ladder::row_blocks::{count_ways, local_size, row_blocks};
use crate::spmm::cuda::ladder::rung::{KernelFile, Launch, Stored, kernel_file, threads_per_block};
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

/// CSR_Adaptive, or CSR_Adaptive_sub_blocks with sub-blocks of this size.
pub(crate) struct CsrCudaAdaptive {
    description: Description,
    kernel: KernelFile,
    sub_block_size: Option<u32>,
}

const PER_COLUMN: KernelFile = kernel_file!("csr_adaptive", "csr_cuda_adaptive.cu");
const IN_SUB_BLOCKS: KernelFile = kernel_file!("csr_sub_blocks", "csr_cuda_sub_blocks.cu");

/// CSR_Adaptive.
pub(crate) const COLUMN: CsrCudaAdaptive = CsrCudaAdaptive {
    description: Description::new(
        "csr-cuda-adaptive-column",
        "CSR, X transposed, one block per row block and column of Y (CSR_Adaptive)",
        Place::Cuda,
        PER_COLUMN.source,
    )
    .ladder()
    .adjustable(&[Adjustable::LocalSize])
    .known_as(&["CSR_Adaptive"]),
    kernel: PER_COLUMN,
    sub_block_size: None,
};

macro_rules! sub_blocks {
    ($size:literal $(, $known_as:literal)*) => {
        CsrCudaAdaptive {
            description: Description::new(
                concat!("csr-cuda-adaptive-sub-blocks", $size),
                concat!(
                    "CSR, X transposed, one block per row block, sub-blocks of ",
                    $size,
                    " threads take a column each (CSR_Adaptive_sub_blocks)"
                ),
                Place::Cuda,
                IN_SUB_BLOCKS.source,
            )
            .ladder()
            .adjustable(&[Adjustable::ThreadsPerBlock, Adjustable::LocalSize])
            .params(&[("sub_block_size", $size)])
            .known_as(&[$($known_as),*]),
            kernel: IN_SUB_BLOCKS,
            sub_block_size: Some($size),
        }
    };
}

/// CSR_Adaptive_sub_blocks: four sub-blocks in a warp.
pub(crate) const SUB_BLOCKS_8: CsrCudaAdaptive = sub_blocks!(8);
/// A warp each. The study leaves their size open; this one has the name.
pub(crate) const SUB_BLOCKS_32: CsrCudaAdaptive =
    sub_blocks!(32, "CSR_Adaptive_sub_block", "CSR_Adaptive_sub_blocks");
/// Four warps each.
pub(crate) const SUB_BLOCKS_128: CsrCudaAdaptive = sub_blocks!(128);

/// CSR with its row blocks.
struct RowBlocked<S> {
    csr: DeviceCsr<S>,
    row_blocks: Buffer<u32>,
    products_per_sub_block: Option<u32>,
}

impl<S: Scalar> Stored for RowBlocked<S> {
    /// `const OFFSET* row_starts, const u32* columns, const SCALAR* values, const u32* row_blocks`, and for sub-blocks
    /// `u32 products_per_sub_block`.
    fn arguments(&self) -> Vec<Argument> {
        let csr = self.csr.arguments().into_iter().chain([Argument::from(&self.row_blocks)]);
        csr.chain(self.products_per_sub_block.map(Argument::of)).collect()
    }
}

/// One block of `local_size` threads per row block and column, in one row so that any K fits; an element of shared memory
/// per thread.
fn column_plan(
    limits: &DeviceLimits,
    row_blocks: usize,
    k: usize,
    local_size: u32,
    scalar_bytes: usize,
) -> Result<LaunchPlan, Refusal> {
    let blocks = (row_blocks as u64).saturating_mul(k as u64);
    let shared_bytes = u64::from(local_size) * scalar_bytes as u64;
    LaunchPlan::new(limits, [blocks, 1, 1], [local_size, 1, 1], shared_bytes)
}

/// Shared memory that every GPU gives a block without being asked for more; several such blocks fit a multiprocessor.
const SHARED_BYTES: u64 = 48 << 10;
const WARP: u32 = 32;

/// One block per row block. It has as many sub-blocks as fill `threads` threads (512, where nobody chose); but no more than
/// there are columns, and only half as many, and half again, as long as their products need more than [`SHARED_BYTES`]. Warps
/// are whole.
/// A sub-block has room for `local_size` products, and for one sum per thread where those are more.
/// Returns the plan and the elements of shared memory per sub-block.
fn sub_block_plan(
    limits: &DeviceLimits,
    row_blocks: usize,
    k: usize,
    local_size: u32,
    (threads, sub_block_size): (u32, u32),
    scalar_bytes: usize,
) -> Result<(LaunchPlan, u32), Refusal> {
    if threads < sub_block_size {
        let why = format!("blocks of {threads} threads hold no sub-block of {sub_block_size}");
        return Err(Refusal::Unsupported(why));
    }
    let products = local_size.max(sub_block_size);
    let per_warp = (WARP / sub_block_size).max(1);
    let shared_bytes = |sub_blocks: u32| u64::from(sub_blocks) * u64::from(products) * scalar_bytes as u64;
    let mut sub_blocks = threads / sub_block_size;
    while sub_blocks > per_warp && shared_bytes(sub_blocks) > SHARED_BYTES {
        sub_blocks /= 2;
    }
    let mut sub_blocks = (sub_blocks / per_warp * per_warp).max(per_warp);
    let columns = u32::try_from(k).unwrap_or(u32::MAX).max(1);
    if columns < sub_blocks {
        sub_blocks = columns.next_multiple_of(per_warp);
    }
    let blocks = if k == 0 { 0 } else { row_blocks as u64 };
    let block = [sub_blocks * sub_block_size, 1, 1];
    let plan = LaunchPlan::new(limits, [blocks, 1, 1], block, shared_bytes(sub_blocks))?;
    Ok((plan, products))
}

impl CsrCudaAdaptive {
    /// The kernel with its definitions, but for the types.
    fn source(&self) -> KernelSource {
        let source = self.kernel.source();
        match self.sub_block_size {
            Some(size) => source.define("SUB_BLOCK", size),
            None => source,
        }
    }
}

impl<S: Scalar> Variant<Spmm<S>> for CsrCudaAdaptive {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn kernels(&self) -> Vec<KernelSource> {
        let mut kernels = for_all_offsets::<S>(&self.source());
        kernels.push(Transposed::<S>::source());
        kernels
    }

    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let device = machine.device()?;
        let (a, k) = (&subject.a, subject.k);
        let geometry = machine.geometry().of(self.description.adjustable);
        let local_size = geometry.local_size.unwrap_or_else(|| local_size(a.nnz(), a.rows()));
        let starts = row_blocks(a.row_lengths(), local_size);
        let (limits, blocks) = (device.limits(), starts.len() - 1);
        let (plan, products_per_sub_block) = match self.sub_block_size {
            None => (column_plan(limits, blocks, k, local_size, size_of::<S>())?, None),
            Some(size) => {
                let sizes = (threads_per_block(machine, &self.description), size);
                let (plan, products) = sub_block_plan(limits, blocks, k, local_size, sizes, size_of::<S>())?;
                (plan, Some(products))
            }
        };
        let stored = RowBlocked {
            csr: DeviceCsr::upload(machine, &device, a)?,
            row_blocks: device.upload("row blocks of A", &starts)?,
            products_per_sub_block,
        };
        let kernel = device.kernel(&with_types::<S>(&self.source(), offset_type(machine, a.nnz())))?;
        let x_columns = Transposed::new(&device, "X transposed", a.cols(), k)?;
        let mut counted = count_ways(&starts, a.row_offsets());
        counted.insert("local_size".into(), local_size.into());
        let launch = Launch::new((a.rows(), k), Box::new(stored), kernel, plan, Some(x_columns));
        let launch = launch.counting(counted);
        Ok(OnDevice::boxed(launch, device, (a.rows(), a.cols()), k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_block_per_row_block_and_column() {
        let h200 = DeviceLimits::h200();
        for local_size in [1, 27, 1024] {
            for (row_blocks, k) in [(0, 3), (5, 1), (10_000_000, 64), (1, 70_000)] {
                let plan = column_plan(&h200, row_blocks, k, local_size, 8).unwrap();
                assert_eq!(plan.blocks(), row_blocks as u64 * k as u64);
                assert_eq!(plan.threads_per_block(), local_size);
                assert_eq!(plan.shared_bytes(), 8 * local_size);
            }
        }
        let refusal = column_plan(&h200, 70_000_000, 64, 27, 8).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "4480000000 blocks in one direction of the grid, the limit is 2147483647"
        );
        assert!(column_plan(&h200, usize::MAX, 2, 27, 8).is_err(), "beyond 64 bits");
    }

    #[test]
    fn sub_blocks_fill_the_block_within_shared_memory() {
        let h200 = DeviceLimits::h200();
        for size in [8, 32, 128] {
            for local_size in [1, 2, 27, 100, 1024] {
                for (scalar_bytes, k) in [(4, 1), (4, 33), (8, 1), (8, 3), (8, 64), (8, 5_000_000_000)] {
                    let (plan, products) =
                        sub_block_plan(&h200, 70_000_000, k, local_size, (512, size), scalar_bytes).unwrap();
                    let (threads, sub_blocks) = (plan.threads_per_block(), plan.threads_per_block() / size);
                    assert_eq!(plan.blocks(), 70_000_000);
                    assert!(threads % size == 0 && threads % 32 == 0 && (32..=512).contains(&threads));
                    assert!(products >= local_size && products >= size);
                    assert_eq!(plan.shared_bytes(), sub_blocks * products * scalar_bytes as u32);
                    assert!(u64::from(plan.shared_bytes()) <= SHARED_BYTES);
                    assert!(
                        (sub_blocks as usize) < k + 4,
                        "sub-blocks without a column: {sub_blocks}, K {k}"
                    );
                }
            }
        }
        let threads = |k, local_size| {
            sub_block_plan(&h200, 1, k, local_size, (512, 8), 8).unwrap().0.threads_per_block()
        };
        assert_eq!((threads(64, 27), threads(1000, 27), threads(3, 27)), (512, 512, 32));
        assert_eq!(threads(64, 1024), 32, "4 sub-blocks of 8 KiB");
        assert!(sub_block_plan(&h200, 5, 0, 27, (512, 8), 8).unwrap().0.is_empty());
        assert!(sub_block_plan(&h200, 1 << 31, 1, 27, (512, 8), 8).is_err());
        for (threads, size) in [(64, 8), (96, 8), (160, 8), (96, 32), (160, 32), (1024, 128), (160, 128)] {
            for (local_size, k) in [(27, 5), (27, 200), (1024, 5), (1024, 64)] {
                let (plan, _) = sub_block_plan(&h200, 9, k, local_size, (threads, size), 8).unwrap();
                let launched = plan.threads_per_block();
                assert!(launched.is_multiple_of(32) && launched <= threads, "{launched} of {threads}");
                assert!(u64::from(plan.shared_bytes()) <= SHARED_BYTES, "{threads} {size} {local_size} {k}");
            }
        }
        let chosen = |threads, size| sub_block_plan(&h200, 9, 64, 27, (threads, size), 8);
        assert_eq!(chosen(64, 8).unwrap().0.threads_per_block(), 64);
        assert_eq!(chosen(1024, 128).unwrap().0.threads_per_block(), 1024);
        assert_eq!(chosen(64, 128).unwrap_err().to_string(), "blocks of 64 threads hold no sub-block of 128");
    }
}

//! f32 by three products in TF32, by warp groups (H100, H200): A and B are packed into whole tiles, then 128 × 128 tiles of
//! C are multiplied while one thread per block streams those of B into shared memory. Touches A and B once more than
//! others, to write them packed (B as two halves). Loses on products that are too small or too flat to pay for that.

use crate::Scalar;
use crate::device::{
    Argument, Buffer, Device, DeviceLimits, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan,
    LaunchReport, PTX, SM_90A, WGMMA,
};
use crate::gemm::cuda::device::{DeviceKernel, OnDevice};
use crate::gemm::cuda::fast::add_slices::AddSlices;
use crate::gemm::cuda::fast::dense_cuda_tensor_tf32x3::ERROR_FACTOR;
use crate::gemm::cuda::fast::tiled::{TILE_ORDER, check_sides, padded_c};
use crate::gemm::cuda::fast::tiling::{Slices, Tiling};
use crate::gemm::product::{Gemm, Product, Shape};
use crate::machine::Machine;
use crate::op::padded_rows::PaddedRows;
use crate::op::{Description, Place, RunError, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

/// Rows and columns of a tile of C, terms of a stage: as in the kernels.
const SIDE: usize = 128;
const DEPTH: usize = 32;
pub(crate) const TILING: Tiling = Tiling {
    rows: SIDE as u32,
    cols: SIDE as u32,
    depth: DEPTH as u32,
    warp_rows: 16,
    warp_cols: SIDE as u32,
    teams: 1,
    stages: 6,
    blocks_per_multiprocessor: 1,
    padding_bytes: 0,
    more: &[],
};
/// What rounding up to a multiple of 1024 may skip of shared memory.
const ALIGNMENT_BYTES: u64 = 1024;
/// Beside the warps that multiply, a group of four, one thread of which streams.
const STREAMING_THREADS: u32 = 128;
const PACKING_THREADS: u32 = 256;

pub(crate) struct DenseCudaWgmmaTf32x3;

fn product_source() -> KernelSource {
    KernelSource::new("wgmma_tf32x3", "dense_cuda_wgmma_tf32x3.cu", DESCRIPTION.source)
        .define("SIDE", SIDE as u32)
        .define("DEPTH", DEPTH as u32)
        .define("STAGES", TILING.stages)
        .include(PTX.0, PTX.1)
        .include(TILE_ORDER.0, TILE_ORDER.1)
        .include(WGMMA.0, WGMMA.1)
        .only_for(&[SM_90A])
}

fn packing_source(entry: &'static str) -> KernelSource {
    KernelSource::new(entry, "dense_cuda_wgmma_pack.cu", include_str!("dense_cuda_wgmma_pack.cu"))
        .define("SIDE", SIDE as u32)
        .define("DEPTH", DEPTH as u32)
        .include(PTX.0, PTX.1)
}

/// A or B in whole tiles, made anew for every product.
struct Packed<S> {
    kernel: Kernel,
    plan: LaunchPlan,
    buffer: Buffer<S>,
}

impl<S: Scalar> Packed<S> {
    /// `side` rows of A or columns of B, each element stored `copies` times.
    fn new(
        device: &Device,
        what: &str,
        entry: &'static str,
        side: usize,
        terms: usize,
        copies: usize,
    ) -> Result<Self, Refusal> {
        let tiles = side.div_ceil(SIDE).saturating_mul(terms.div_ceil(DEPTH));
        let buffer = device.allocate(what, tiles.saturating_mul(SIDE * DEPTH * copies))?;
        let plan = LaunchPlan::new(device.limits(), [tiles as u64, 1, 1], [PACKING_THREADS, 1, 1], 0)?;
        Ok(Packed { kernel: device.kernel(&packing_source(entry))?, plan, buffer })
    }

    fn pack(&mut self, matrix: DeviceView<'_, S>) -> Result<(), RunError> {
        let mut arguments = vec![Argument::of(matrix.rows() as u64), Argument::of(matrix.cols() as u64)];
        arguments.extend(matrix.arguments());
        arguments.push(Argument::from(&self.buffer));
        // SAFETY: as the kernel declares them; the buffer has room for all tiles of a matrix of this shape.
        Ok(unsafe { self.kernel.launch(&self.plan, &arguments) }?)
    }
}

struct Launch<S> {
    a: Packed<S>,
    b: Packed<S>,
    kernel: Kernel,
    plan: LaunchPlan,
    slices: Slices,
    /// Where there are several slices.
    adding: Option<AddSlices<S>>,
    /// A copy of C where its rows lie otherwise than the kernel writes them.
    c: PaddedRows<S>,
}

impl<S: Scalar> DeviceKernel<S> for Launch<S> {
    fn bind(
        &mut self,
        _: DeviceView<'_, S>,
        _: DeviceView<'_, S>,
        c: DeviceView<'_, S>,
    ) -> Result<(), RunError> {
        Ok(self.c.bind(c)?)
    }

    fn repack(&mut self, a: DeviceView<'_, S>, b: DeviceView<'_, S>) -> Result<bool, RunError> {
        self.a.pack(a)?;
        self.b.pack(b)?;
        Ok(true)
    }

    fn multiply(
        &mut self,
        terms: usize,
        alpha: S,
        _: DeviceView<'_, S>,
        _: DeviceView<'_, S>,
        beta: S,
        c: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        let Launch { kernel, plan, slices, adding, .. } = self;
        let packed = [Argument::from(&self.a.buffer), Argument::from(&self.b.buffer)];
        self.c.write(c, beta != S::ZERO, |c| {
            let mut arguments =
                [c.rows(), c.cols(), terms.div_ceil(DEPTH)].map(|count| Argument::of(count as u64)).to_vec();
            arguments.extend(packed);
            arguments.extend(c.arguments());
            let partial = adding.as_ref().map_or(Argument::of(0_u64), AddSlices::partial);
            let slice_steps = u64::from(slices.terms) / DEPTH as u64;
            arguments.extend([Argument::of(alpha), Argument::of(beta), partial, Argument::of(slice_steps)]);
            // SAFETY: as the kernel declares them; packed operands and slices are buffers of this struct, made for this shape,
            // and C has it.
            unsafe { kernel.launch(plan, &arguments) }?;
            match adding {
                Some(adding) => adding.add(alpha, beta, &c),
                None => Ok(()),
            }
        })
    }

    fn launches(&self) -> Vec<LaunchReport> {
        let packing = [&self.a, &self.b].map(|packed| packed.kernel.report(&packed.plan));
        let adding = self.adding.iter().map(AddSlices::report);
        let product = packing.into_iter().chain([self.kernel.report(&self.plan)]).chain(adding);
        product.chain(self.c.launches()).collect()
    }
}

/// A block for every tile of C and slice.
fn plan(limits: &DeviceLimits, shape: Shape, slices: Slices) -> Result<LaunchPlan, Refusal> {
    let grid = [TILING.tiles(shape), 1, u64::from(slices.count)];
    // In the place of A's part of a stage is the second half of B's: A is not staged.
    let shared_bytes = TILING.shared_bytes(size_of::<f32>()) + ALIGNMENT_BYTES;
    LaunchPlan::new(limits, grid, [TILING.threads() + STREAMING_THREADS, 1, 1], shared_bytes)
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-cuda-wgmma-tf32x3-128x128",
    "f32 by three TF32 products, warp groups on packed tiles of 128×128 (H100, H200)",
    Place::Cuda,
    source_file!("gemm/cuda/fast/dense_cuda_wgmma_tf32x3.cu"),
)
.converted()
.params(&[("rows", SIDE as u32), ("cols", SIDE as u32)])
.error_factor(ERROR_FACTOR);

impl<S: Scalar> Variant<Gemm<S>> for DenseCudaWgmmaTf32x3 {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn kernels(&self) -> Vec<KernelSource> {
        if S::NAME != f32::NAME {
            return Vec::new();
        }
        let packing = ["pack_rows", "pack_columns"].map(packing_source);
        let more = AddSlices::<S>::sources().into_iter().chain([PaddedRows::<S>::source()]);
        packing.into_iter().chain([product_source()]).chain(more).collect()
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Product<S>>, Refusal> {
        if S::NAME != f32::NAME {
            return Err(Refusal::Unsupported("multiplies f32 only".into()));
        }
        let device = machine.device()?;
        check_sides(*shape)?;
        let Shape { m, k, n } = *shape;
        let slices = TILING.slices_for_all(device.limits(), *shape);
        let launch = Launch {
            plan: plan(device.limits(), *shape, slices)?,
            adding: AddSlices::for_slices(&device, *shape, slices)?,
            c: padded_c(&device, slices),
            slices,
            kernel: device.kernel(&product_source())?, // refused here where the device is another one
            a: Packed::new(&device, "A in packed tiles", "pack_rows", m, k, 1)?,
            b: Packed::new(&device, "B in packed tiles", "pack_columns", n, k, 2)?,
        };
        Ok(OnDevice::boxed(launch, device, *shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::DeviceDense;
    use crate::gemm::testing::emulator;
    use crate::matrix::Dense;
    use crate::matrix::random_dense;

    /// Element (`row`, `col`) of a tile of C as the warp groups multiply it: eight terms at a time, the fragments of A
    /// loaded as in `load_a` of the kernel, the columns of B as wgmma.cuh describes them.
    fn multiply_packed(a: &[f32], b: &[f32], row: usize, col: usize) -> f64 {
        let (upper, lower) = b.split_at(SIDE * DEPTH);
        let mut sum = 0.0;
        for k8 in 0..DEPTH / 8 {
            for column_of_fragment in 0..8 {
                let (place, half) = (column_of_fragment % 4, column_of_fragment / 4);
                let (warp, half_of_rows, lane) = (row / 16, row / 8 % 2, row % 8 * 4 + place);
                let load = warp * 4 + k8 / 2 * 2 + half_of_rows;
                let a = a[(load * 32 + lane) * 4 + 2 * (k8 % 2) + half];
                let position = 8 * k8 + column_of_fragment;
                let b = col * DEPTH + 4 * ((position / 4) ^ (col % 8)) + position % 4;
                sum += f64::from(a) * (f64::from(upper[b]) + f64::from(lower[b]));
            }
        }
        sum
    }

    #[test]
    fn packed_tiles_hold_what_the_products_read() {
        let Some(device) = emulator() else { return };
        let (m, k, n) = (130, 70, 129);
        let load = |rows, cols, seed| {
            let host: Dense<f32> = random_dense(rows, cols, seed).unwrap();
            let mut on_device = DeviceDense::new(&device, "operand", rows, cols).unwrap();
            on_device.write(host.view()).unwrap();
            (host, on_device)
        };
        let ((a, on_a), (b, on_b)) = (load(m, k, 1), load(k, n, 2));
        let pack = |matrix: &DeviceDense<f32>, entry, side, copies| {
            let mut packed = Packed::<f32>::new(&device, "packed", entry, side, k, copies).unwrap();
            packed.pack(matrix.view()).unwrap();
            let mut tiles = vec![0.0; packed.buffer.len()];
            packed.buffer.read(&mut tiles).unwrap();
            tiles
        };
        let (packed_a, packed_b) = (pack(&on_a, "pack_rows", m, 1), pack(&on_b, "pack_columns", n, 2));
        let steps = k.div_ceil(DEPTH);
        for (row, col) in [(0, 0), (1, 1), (7, 127), (8, 64), (127, 3), (128, 128), (129, 100), (64, 7)] {
            let tile_of_a = |step| &packed_a[((row / SIDE) * steps + step) * SIDE * DEPTH..][..SIDE * DEPTH];
            let tile_of_b =
                |step| &packed_b[((col / SIDE) * steps + step) * 2 * SIDE * DEPTH..][..2 * SIDE * DEPTH];
            let tile = |step| multiply_packed(tile_of_a(step), tile_of_b(step), row % SIDE, col % SIDE);
            let found: f64 = (0..steps).map(tile).sum();
            let products = (0..k).map(|k| f64::from(a.view().row(row)[k]) * f64::from(b.view().row(k)[col]));
            let expected: f64 = products.sum();
            // B is two numbers of TF32: 22 bits of it are kept.
            assert!((found - expected).abs() < k as f64 * 2f64.powi(-22), "row {row}, column {col}");
        }
    }

    #[test]
    fn the_plan_has_a_block_for_every_tile() {
        let h200 = DeviceLimits::h200();
        let plan = |shape| plan(&h200, shape, TILING.slices_for_all(&h200, shape));
        let blocks = |m, n| plan(Shape { m, k: 1, n }).map(|plan| plan.blocks());
        assert_eq!(blocks(1, 1), Ok(1));
        assert_eq!(blocks(129, 256), Ok(4));
        assert_eq!(blocks(0, 256), Ok(0));
        assert!(blocks(1 << 40, 1 << 40).is_err());
        // Half of the multiprocessors would have no tile: two slices.
        let sliced = plan(Shape::square(1024)).unwrap();
        assert_eq!((sliced.blocks(), sliced.threads_per_block()), (128, 384));
        assert_eq!(plan(Shape::square(4096)).unwrap().blocks(), 1024);
    }
}

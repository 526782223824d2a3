//! The first rungs of the CUDA ladder as data: one thread per element of C, in square blocks of threads. Two families
//! differ in what `threadIdx.x` is, the row of C (kernel1, kernel2) or its column (MatrixMulKernel, MatrixMulNewKernel);
//! in each, one kernel reads A and B from global memory and one through tiles in shared memory.

use crate::Scalar;
use crate::device::{
    Argument, DeviceLimits, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan, LaunchReport,
};
use crate::gemm::cuda::device::{DeviceKernel, OnDevice};
use crate::gemm::product::{Gemm, Product, Shape};
use crate::machine::Machine;
use crate::op::{Description, Place, RunError, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

/// A kernel of the ladder with blocks of `tile` × `tile` threads.
pub(crate) struct Rung {
    pub(crate) description: Description,
    entry: &'static str,
    file: &'static str,
    tile: u32,
}

/// One family, for every width of a tile. The name of old belongs to the width that it had.
macro_rules! family {
    (
        $(#[$about_it:meta])* $family:ident, $entry:literal, $file:literal, $name:literal, $short:literal,
        $known_as:literal = $historic:literal, $about:literal
    ) => {
        $(#[$about_it])*
        pub(crate) const $family: [Rung; 4] = [
            family!(@ $entry, $file, $name, $short, $known_as, $historic, $about, 8),
            family!(@ $entry, $file, $name, $short, $known_as, $historic, $about, 10),
            family!(@ $entry, $file, $name, $short, $known_as, $historic, $about, 16),
            family!(@ $entry, $file, $name, $short, $known_as, $historic, $about, 32),
        ];
    };
    (
        @ $entry:literal, $file:literal, $name:literal, $short:literal, $known_as:literal, $historic:literal,
        $about:literal, $tile:literal
    ) => {
        Rung {
            description: Description::new(
                concat!($name, "-", $tile),
                concat!($about, ", blocks of ", $tile, "×", $tile, " threads"),
                Place::Cuda,
                source_file!(concat!("gemm/cuda/ladder/", $file)),
            )
            .ladder()
            .short($short)
            .params(&[("tile", $tile)])
            .known_as(if $tile == $historic { &[$known_as] } else { &[] }),
            entry: $entry,
            file: $file,
            tile: $tile,
        }
    };
}

family!(
    /// kernel1, with 32×32 threads as in the lecture.
    ELEMENT_BY_ROW,
    "element_by_row",
    "dense_cuda_element_by_row.cu",
    "dense-cuda-element-by-row",
    "element by row",
    "kernel1" = 32,
    "a thread per element, x is the row of C, all from global memory (kernel1)"
);
family!(
    /// kernel2, the same.
    TILE_BY_ROW,
    "tile_by_row",
    "dense_cuda_tile_by_row.cu",
    "dense-cuda-tile-by-row",
    "tile by row",
    "kernel2" = 32,
    "a thread per element, x is the row of C, tiles in shared memory (kernel2)"
);
family!(
    /// MatrixMulKernel, with 10×10 threads: of the paper's widths (10, 100, 500) the one that a block can have.
    ELEMENT_BY_COLUMN,
    "element_by_column",
    "dense_cuda_element_by_column.cu",
    "dense-cuda-element-by-column",
    "element by column",
    "MatrixMulKernel" = 10,
    "a thread per element, x is the column of C, all from global memory (MatrixMulKernel)"
);
family!(
    /// MatrixMulNewKernel, the same.
    TILE_BY_COLUMN,
    "tile_by_column",
    "dense_cuda_tile_by_column.cu",
    "dense-cuda-tile-by-column",
    "tile by column",
    "MatrixMulNewKernel" = 10,
    "a thread per element, x is the column of C, tiles in shared memory (MatrixMulNewKernel)"
);

impl Rung {
    fn kernel<S: Scalar>(&self) -> KernelSource {
        KernelSource::new(self.entry, self.file, self.description.source)
            .include("starts_from_c.cuh", include_str!("starts_from_c.cuh"))
            .define("SCALAR", S::CUDA_NAME)
            .define("TILE", self.tile)
    }
}

/// Enough square blocks for all of C. They stand in one row: a grid may have 2³¹ of them that way and 65 535 the other.
fn plan(limits: &DeviceLimits, shape: Shape, tile: u32) -> Result<LaunchPlan, Refusal> {
    let tiles = |side: usize| side.div_ceil(tile as usize) as u64;
    let blocks = tiles(shape.m).saturating_mul(tiles(shape.n));
    LaunchPlan::new(limits, [blocks, 1, 1], [tile, tile, 1], 0)
}

struct Launch {
    kernel: Kernel,
    plan: LaunchPlan,
}

impl<S: Scalar> DeviceKernel<S> for Launch {
    fn multiply(
        &mut self,
        terms: usize,
        alpha: S,
        a: DeviceView<'_, S>,
        b: DeviceView<'_, S>,
        beta: S,
        c: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        let mut arguments = [c.rows(), terms, c.cols()].map(|side| Argument::of(side as u64)).to_vec();
        arguments.extend(a.arguments().into_iter().chain(b.arguments()).chain(c.arguments()));
        arguments.extend([Argument::of(alpha), Argument::of(beta)]);
        // SAFETY: as the kernel declares them; the operands have the shape that the launch was planned for.
        Ok(unsafe { self.kernel.launch(&self.plan, &arguments) }?)
    }

    fn launches(&self) -> Vec<LaunchReport> {
        vec![self.kernel.report(&self.plan)]
    }
}

impl<S: Scalar> Variant<Gemm<S>> for Rung {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn kernels(&self) -> Vec<KernelSource> {
        vec![self.kernel::<S>()]
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Product<S>>, Refusal> {
        let device = machine.device()?;
        let plan = plan(device.limits(), *shape, self.tile)?;
        let kernel = device.kernel(&self.kernel::<S>())?;
        Ok(OnDevice::boxed(Launch { kernel, plan }, device, *shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_cover_every_element() {
        let h200 = DeviceLimits::h200();
        for tile in [8, 10, 16, 32] {
            for (m, n) in [(0, 5), (1, 1), (33, 7), (1000, 1234), (1_000_000, 64), (64, 1_000_000)] {
                let plan = plan(&h200, Shape { m, k: 3, n }, tile).unwrap();
                let side = |length: usize| length.div_ceil(tile as usize) as u64;
                assert_eq!((plan.blocks(), plan.threads_per_block()), (side(m) * side(n), tile * tile));
            }
        }
    }

    #[test]
    fn tiles_beyond_a_block_are_refused() {
        let refusal = plan(&DeviceLimits::h200(), Shape::square(1000), 100).unwrap_err();
        assert_eq!(refusal.to_string(), "10000 threads per block, the limit is 1024");
    }
}

//! The first rungs of the CUDA ladder as data: one thread per element of C, in blocks of threads. Two families
//! differ in what `threadIdx.x` is, the row of C (kernel1, kernel2) or its column (MatrixMulKernel, MatrixMulNewKernel);
//! in each, one kernel reads A and B from global memory and one through tiles in shared memory. Blocks are square; those of
//! kernel1 and kernel2 can have any shape, and stand in a grid of two dimensions, as in the lecture they come from.

use crate::Scalar;
use crate::device::{Adjustable, DeviceLimits, KernelSource, LaunchPlan};
use crate::gemm::cuda::device::OnDevice;
use crate::gemm::cuda::plain_launch::PlainLaunch;
use crate::gemm::product::{Gemm, Product, Shape};
use crate::machine::Machine;
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

/// A kernel of the ladder with blocks of `tile` × `tile` threads, where nobody chose another shape.
pub(crate) struct Rung {
    pub(crate) description: Description,
    entry: &'static str,
    file: &'static str,
    tile: u32,
    by: By,
}

/// What `threadIdx.x` is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// The row of C.
    Row,
    /// Its column.
    Column,
}

/// One family, for every width of a tile. The name of old belongs to the width that it had.
macro_rules! family {
    (
        $(#[$about_it:meta])* $family:ident, $entry:literal, $file:literal, $name:literal, $short:literal,
        $by:expr, $known_as:literal = $historic:literal, $about:literal
    ) => {
        $(#[$about_it])*
        pub(crate) const $family: [Rung; 4] = [
            family!(@ $entry, $file, $name, $short, $by, $known_as, $historic, $about, 8),
            family!(@ $entry, $file, $name, $short, $by, $known_as, $historic, $about, 10),
            family!(@ $entry, $file, $name, $short, $by, $known_as, $historic, $about, 16),
            family!(@ $entry, $file, $name, $short, $by, $known_as, $historic, $about, 32),
        ];
    };
    (
        @ $entry:literal, $file:literal, $name:literal, $short:literal, $by:expr, $known_as:literal,
        $historic:literal, $about:literal, $tile:literal
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
            .adjustable(open($by, $tile == $historic))
            .known_as(if $tile == $historic { &[$known_as] } else { &[] }),
            entry: $entry,
            file: $file,
            tile: $tile,
            by: $by,
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
    By::Row,
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
    By::Row,
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
    By::Column,
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
    By::Column,
    "MatrixMulNewKernel" = 10,
    "a thread per element, x is the column of C, tiles in shared memory (MatrixMulNewKernel)"
);

/// Of the rungs by row the one with the name of old takes any shape of a block: with the others' it is one of them.
const fn open(by: By, is_historic: bool) -> &'static [Adjustable] {
    if matches!(by, By::Row) && is_historic { &[Adjustable::BlockShape] } else { &[] }
}

impl Rung {
    /// The kernel for blocks that compute so many rows and columns of C.
    fn kernel<S: Scalar>(&self, [rows, cols]: [u32; 2]) -> KernelSource {
        let source = KernelSource::new(self.entry, self.file, self.description.source)
            .include("starts_from_c.cuh", include_str!("starts_from_c.cuh"))
            .define("SCALAR", S::CUDA_NAME);
        match self.by {
            By::Row => source.define("BLOCK_ROWS", rows).define("BLOCK_COLS", cols),
            By::Column => source.define("TILE", rows),
        }
    }

    /// Rows and columns of C that a block computes on this machine.
    fn block(&self, machine: &Machine) -> [u32; 2] {
        let chosen = machine.geometry().of(self.description.adjustable).block_shape;
        chosen.unwrap_or([self.tile, self.tile])
    }
}

/// Enough blocks for all of C. By row they stand in a grid of two dimensions, by column in one row: a grid may have 2³¹ of them
/// that way and 65 535 the other, and `auto` takes one of these for a C that is long.
fn plan(limits: &DeviceLimits, shape: Shape, by: By, [rows, cols]: [u32; 2]) -> Result<LaunchPlan, Refusal> {
    let blocks = |side: usize, of_block: u32| side.div_ceil(of_block as usize) as u64;
    let (down, across) = (blocks(shape.m, rows), blocks(shape.n, cols));
    match by {
        By::Row => LaunchPlan::new(limits, [down, across, 1], [rows, cols, 1], 0),
        By::Column => LaunchPlan::new(limits, [down.saturating_mul(across), 1, 1], [cols, rows, 1], 0),
    }
}

impl<S: Scalar> Variant<Gemm<S>> for Rung {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn kernels(&self) -> Vec<KernelSource> {
        vec![self.kernel::<S>([self.tile; 2])]
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Product<S>>, Refusal> {
        let device = machine.device()?;
        let block = self.block(machine);
        let plan = plan(device.limits(), *shape, self.by, block)?;
        let kernel = device.kernel(&self.kernel::<S>(block))?;
        Ok(OnDevice::boxed(PlainLaunch { kernel, plan }, device, *shape))
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
                let plan = plan(&h200, Shape { m, k: 3, n }, By::Column, [tile; 2]).unwrap();
                let side = |length: usize| length.div_ceil(tile as usize) as u64;
                assert_eq!((plan.blocks(), plan.threads_per_block()), (side(m) * side(n), tile * tile));
            }
        }
    }

    #[test]
    fn blocks_of_any_shape_stand_in_two_dimensions() {
        let plan = |m, n, block| plan(&DeviceLimits::h200(), Shape { m, k: 3, n }, By::Row, block);
        let found = plan(1000, 70, [16, 32]).unwrap();
        assert_eq!((found.grid(), found.block()), ([63, 3, 1], [16, 32, 1]));
        assert!(plan(1 << 31, 1, [32, 32]).is_ok() && plan(5, 0, [8, 8]).unwrap().is_empty());
        assert_eq!(
            plan(1, 65_536 * 32, [32, 32]).unwrap_err().to_string(),
            "65536 blocks in one direction of the grid, the limit is 65535"
        );
    }

    #[test]
    fn tiles_beyond_a_block_are_refused() {
        let refusal = plan(&DeviceLimits::h200(), Shape::square(1000), By::Row, [100; 2]).unwrap_err();
        assert_eq!(refusal.to_string(), "10000 threads per block, the limit is 1024");
    }
}

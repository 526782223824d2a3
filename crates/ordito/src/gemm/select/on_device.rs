//! What `auto` takes on a device, from the shape and the limits of the device.

use crate::Scalar;
use crate::device::DeviceLimits;
use crate::gemm::cuda::fast::dense_cuda_narrow;
use crate::gemm::cuda::fast::dense_cuda_registers::REGISTERS;
use crate::gemm::cuda::fast::dense_cuda_tensor_f64_rows;
use crate::gemm::cuda::fast::dense_cuda_tensor_tf32x3::TENSOR_TF32X3;
use crate::gemm::cuda::fast::dense_cuda_wgmma_tf32x3;
use crate::gemm::cuda::fast::tiled::Tiled;
use crate::gemm::cuda::ladder::dense_cuda_ladder::TILE_BY_COLUMN;
use crate::gemm::product::Shape;
use crate::gemm::select::f64_tiles;
use crate::machine::{Accelerator, Machine};
use crate::op::{Choice, Description};

/// On the machine's device; on an H200, where it cannot be had.
pub(super) fn on_device<S: Scalar>(machine: &Machine, shape: Shape) -> Choice {
    let limits = machine.device().map_or_else(|_| DeviceLimits::h200(), |device| device.limits().clone());
    let emulated = machine.accelerator() == Accelerator::Emulator;
    if let Some(variant) = narrow::<S>(&limits, shape) {
        return Choice::new(variant, format!("{shape}: few columns: along rows of A"));
    }
    if S::NAME == f32::NAME { f32_on_device(&limits, emulated, shape) } else { f64_on_device(&limits, shape) }
}

// f32: fitted to an H200 (measurements/2026-11-15-h200/gemm), squares from 100 to 10000 and thin products.

/// Tiles of 128×128, for every multiprocessor, from which their last, half empty wave no longer weighs more than what they save.
const MANY_WAVES: usize = 7;

/// f32: terms of so short a sum that the error of splitting numbers into TF32 halves would stand out.
const SHORT_SUM: usize = 4;
/// f32: terms up to which numbers are not worth splitting in two, and multiply-adds of small products.
const TERMS_TO_SPLIT: usize = 128;
const WORK_TO_SPLIT: u64 = 256 * 256 * 256;
/// f32: multiply-adds up to which launching costs more than anything else.
const TINY: u64 = 100 * 100 * 100;
/// f32: terms up to which a small product needs no slices.
const TERMS_OF_SMALL: usize = 512;
/// f32: terms from which wide tiles are worth their beginning and end.
const TERMS_OF_WIDE_TILES: usize = 512;
/// f32: rows of A, columns of B and terms from which packed operands are used often enough, and multiply-adds from which
/// there is enough to do.
const SIDE_TO_PACK: usize = 500;
const WORK_TO_PACK: u64 = 640 * 640 * 640;

// Few columns (measurements/2026-11-17-h200/gemm and 2026-11-18-h200/gemm): rows instead of tiles.
/// f32: columns that are few, and that are few where sums are short. (100000×100×12: 15 µs, in tiles 44. 1000000×16×16: 69 and 110.)
const FEW_COLS: usize = 12;
const FEW_COLS_OF_SHORT_SUMS: usize = 16;
const SHORT_SUMS: usize = 32;
const LONG_SUMS: usize = 4096;
/// f64: columns and terms up to which tensor cores would mostly multiply what is not there. (1000000×8×8: 52 µs, on tensor cores 65.)
const FEW_COLS_WITHOUT_TENSOR_CORES: usize = 8;
const TERMS_WITHOUT_TENSOR_CORES: usize = 12;

/// What goes along rows of A, where C is so narrow that this does better than tiles.
fn narrow<S: Scalar>(limits: &DeviceLimits, Shape { m, k, n }: Shape) -> Option<&'static Description> {
    // Few rows leave multiprocessors idle, and long sums, which tiles have sliced, make that worse.
    let rows_to_fill = if k <= LONG_SUMS { 4 } else { 8 };
    if m < rows_to_fill * limits.multiprocessors as usize {
        return None;
    }
    let lanes = if S::NAME == f32::NAME {
        n <= FEW_COLS || (n <= FEW_COLS_OF_SHORT_SUMS && k <= SHORT_SUMS)
    } else {
        n <= FEW_COLS_WITHOUT_TENSOR_CORES && k <= TERMS_WITHOUT_TENSOR_CORES
    };
    let tensor_cores = S::NAME == f64::NAME && n <= dense_cuda_tensor_f64_rows::TILE_COLS;
    if lanes {
        Some(&dense_cuda_narrow::DESCRIPTION)
    } else {
        tensor_cores.then_some(&dense_cuda_tensor_f64_rows::DESCRIPTION)
    }
}

/// Elements of the tiles over those of C, in percent, up to which larger tiles are worth what they compute in vain.
const MOST_PADDING: usize = 125;

/// How C is covered by tiles of `rows` × `cols`.
struct Cover {
    tiles: usize,
    /// Not much larger than C?
    close: bool,
}

impl Cover {
    fn new(shape: Shape, rows: usize, cols: usize) -> Self {
        let tiles = shape.m.div_ceil(rows).saturating_mul(shape.n.div_ceil(cols));
        let covered = tiles.saturating_mul(rows * cols);
        let close = covered / MOST_PADDING <= shape.m.saturating_mul(shape.n) / 100;
        Cover { tiles, close }
    }
}

/// Blocks of 16×16 threads.
const SMALL_TILE: &Description = &TILE_BY_COLUMN[2].description;

/// The variant of a family that has tiles of this size, of which there is one: a test sees to it.
fn with_tiles(family: &'static [Tiled], rows: u32, cols: u32) -> &'static Description {
    let has = |tiled: &&Tiled| tiled.description.params == [("rows", rows), ("cols", cols)];
    &family.iter().find(has).unwrap_or(&family[0]).description
}

/// Tensor cores, in the tiles that take least by what is known of them.
fn f64_on_device(limits: &DeviceLimits, shape: Shape) -> Choice {
    let fastest = f64_tiles::fastest(limits, shape);
    let [rows, cols] = fastest.f64.as_ref().map_or([0; 2], |tiling| [tiling.rows, tiling.cols]);
    let why = "of all sizes these should leave least idle";
    let reason = format!("{shape}: f64 on tensor cores in tiles of {rows}×{cols}: {why}");
    Choice::new(&fastest.description, reason)
}

/// Tensor cores by three products in TF32, but for what is too small or too flat for them.
fn f32_on_device(limits: &DeviceLimits, emulated: bool, shape: Shape) -> Choice {
    let warp_groups = limits.compute_capability == [9, 0] && !emulated;
    let large = Cover::new(shape, 128, 128);
    let below = |work| shape.multiply_adds() <= work && shape.k <= TERMS_OF_SMALL;
    let (variant, why) = if shape.k <= SHORT_SUM {
        (
            with_tiles(&REGISTERS, 64, 64),
            "sums too short to hide the error of splitting numbers into TF32 halves",
        )
    } else if below(TINY) {
        (SMALL_TILE, "too small for anything larger than a small shared tile")
    } else if shape.k <= TERMS_TO_SPLIT || below(WORK_TO_SPLIT) {
        (with_tiles(&REGISTERS, 64, 64), "too little to do to pay for splitting numbers into TF32 halves")
    } else if warp_groups
        && shape.m.min(shape.k).min(shape.n) >= SIDE_TO_PACK
        && shape.multiply_adds() >= WORK_TO_PACK
    {
        (&dense_cuda_wgmma_tf32x3::DESCRIPTION, "large: three TF32 products on warp groups")
    } else if large.tiles >= MANY_WAVES * limits.multiprocessors as usize
        && large.close
        && shape.k >= TERMS_OF_WIDE_TILES
    {
        (
            with_tiles(&TENSOR_TF32X3, 128, 64),
            "three TF32 products in the tiles that large products do best in",
        )
    } else {
        (
            with_tiles(&TENSOR_TF32X3, 64, 64),
            "three TF32 products in small tiles, which keep more multiprocessors busy",
        )
    };
    Choice::new(variant, format!("{shape}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::product::Gemm;
    use crate::op::Op;

    fn f32_chosen(m: usize, k: usize, n: usize) -> &'static str {
        f32_on_device(&DeviceLimits::h200(), false, Shape { m, k, n })
            .variant
            .trim_start_matches("dense-cuda-")
    }

    #[test]
    fn squares_take_larger_tiles_the_larger_they_are() {
        let f32_chosen = |m| f32_chosen(m, m, m);
        assert_eq!(f32_chosen(100), "tile-by-column-16");
        assert_eq!([128, 256].map(f32_chosen), ["registers-64x64"; 2]);
        assert_eq!([384, 512].map(f32_chosen), ["tensor-tf32x3-64x64"; 2]);
        assert_eq!([768, 1000, 4096, 10_000].map(f32_chosen), ["wgmma-tf32x3-128x128"; 4]);
    }

    #[test]
    fn thin_products_take_what_waits_best_for_memory() {
        assert_eq!([f32_chosen(1_000_000, 64, 64), f32_chosen(4096, 64, 4096)], ["registers-64x64"; 2]);
        assert_eq!([f32_chosen(64, 1_000_000, 64), f32_chosen(20_000, 200, 128)], ["tensor-tf32x3-64x64"; 2]);
        assert_eq!(f32_chosen(500, 5000, 500), "wgmma-tf32x3-128x128");
        assert_eq!(f32_chosen(4096, 256, 4096), "tensor-tf32x3-64x64");
        assert_eq!(f32_chosen(64, 4, 8384), "registers-64x64");
    }

    #[test]
    fn narrow_products_go_along_rows() {
        fn chosen<S: Scalar>(m: usize, k: usize, n: usize) -> Option<&'static str> {
            narrow::<S>(&DeviceLimits::h200(), Shape { m, k, n }).map(|description| description.name)
        }
        let lanes = Some(dense_cuda_narrow::DESCRIPTION.name);
        for (m, k, n) in [(10_000, 1000, 10), (100_000, 100, 12), (1_000_000, 16, 16), (1000, 1000, 1)] {
            assert_eq!(chosen::<f32>(m, k, n), lanes);
        }
        for (m, k, n) in [(100_000, 100, 16), (64, 1_000_000, 4), (4096, 64, 4096)] {
            assert_eq!(chosen::<f32>(m, k, n), None);
        }
        let tensor_cores = Some(dense_cuda_tensor_f64_rows::DESCRIPTION.name);
        for (m, k, n) in [(10_000, 1000, 10), (100_000, 100, 12), (1000, 1000, 1), (20_000, 3000, 4)] {
            assert_eq!(chosen::<f64>(m, k, n), tensor_cores);
        }
        assert_eq!(chosen::<f64>(1_000_000, 8, 8), lanes);
        assert_eq!([chosen::<f64>(10_000, 1000, 17), chosen::<f64>(64, 1_000_000, 4)], [None; 2]);
    }

    #[test]
    fn warp_groups_are_for_the_gpu_that_has_them() {
        let (h200, large) = (DeviceLimits::h200(), Shape::square(4096));
        let elsewhere = DeviceLimits { compute_capability: [10, 0], ..h200.clone() };
        assert_eq!(f32_on_device(&elsewhere, false, large).variant, "dense-cuda-tensor-tf32x3-128x64");
        assert_eq!(f32_on_device(&h200, true, large).variant, "dense-cuda-tensor-tf32x3-128x64");
    }

    #[test]
    fn every_choice_is_a_variant_with_a_reason() {
        let h200 = DeviceLimits::h200();
        for m in [0, 1, 100, 3000, usize::MAX] {
            for k in [0, 1, 64, 1_000_000, usize::MAX] {
                for n in [0, 1, 300, 10_000] {
                    let shape = Shape { m, k, n };
                    for emulated in [false, true] {
                        let choice = f32_on_device(&h200, emulated, shape);
                        assert!(Gemm::<f32>::variant(choice.variant).is_some(), "{}", choice.variant);
                    }
                    let choice = f64_on_device(&h200, shape);
                    assert!(Gemm::<f64>::variant(choice.variant).is_some(), "{}", choice.variant);
                    assert!(choice.reason.starts_with(&format!("{shape}: ")));
                }
            }
        }
    }
}

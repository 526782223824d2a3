//! What `auto` takes on a device, from the shape and the limits of the device.

use crate::Scalar;
use crate::device::DeviceLimits;
use crate::gemm::cuda::fast::dense_cuda_narrow;
use crate::gemm::cuda::fast::dense_cuda_registers::REGISTERS;
use crate::gemm::cuda::fast::dense_cuda_tensor_f64::TENSOR_F64;
use crate::gemm::cuda::fast::dense_cuda_tensor_tf32x3::TENSOR_TF32X3;
use crate::gemm::cuda::fast::dense_cuda_wgmma_tf32x3;
use crate::gemm::cuda::fast::tiled::Tiled;
use crate::gemm::cuda::ladder::dense_cuda_ladder::TILE_BY_COLUMN;
use crate::gemm::product::Shape;
use crate::machine::{Accelerator, Machine};
use crate::op::{Choice, Description};

/// On the machine's device; on an H200, where it cannot be had.
pub(super) fn on_device<S: Scalar>(machine: &Machine, shape: Shape) -> Choice {
    let limits = machine.device().map_or_else(|_| DeviceLimits::h200(), |device| device.limits().clone());
    let emulated = machine.accelerator() == Accelerator::Emulator;
    if is_narrow::<S>(&limits, shape) {
        let reason = format!("{shape}: few columns: lanes walk along rows of A");
        return Choice::new(&dense_cuda_narrow::DESCRIPTION, reason);
    }
    if S::NAME == f32::NAME { f32_on_device(&limits, emulated, shape) } else { f64_on_device(&limits, shape) }
}

// Fitted to an H200 (measurements/2026-11-15-h200/gemm), squares from 100 to 10000 and thin products: of the 32 shapes there
// the choice is within 11 % of our fastest kernel, but for narrow ones, which have rules of their own below.

/// Terms up to which tiles wait for memory, and small ones, of which more run at a time, wait best.
const FEW_TERMS: usize = 256;
/// Terms from which slicing a sum pays where C alone has too few tiles.
const MANY_TERMS: usize = 4096;
/// Tiles of 128×128, alone on a multiprocessor, and of 128×64, two on each, from which their last, half empty wave no longer
/// weighs more than what they save, and terms that they need until their beginning and end no longer count.
const MANY_WAVES: usize = 7;
const TERMS_OF_LARGE_TILES: usize = 2048;
const MANY_HALF_WAVES: usize = 3; // 2048: 301 µs in tiles of 128×64, 316 in 64×64; 1536, with 2.2 of them: 218 and 164
const TERMS_OF_LONG_TILES: usize = 1024; // 4096×1024×4096: 681 µs, in 64×64 692; 4096×512×4096: 363 and 356

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

// Few columns (measurements/2026-11-17-h200/gemm): rows instead of tiles.
/// f32: columns that are few, and that are few where sums are short. (100000×100×8: 31 µs, in tiles 42; ×12: 48 and 44. 1000000×16×16: 69
/// and 110.)
const FEW_COLS: usize = 10;
const FEW_COLS_OF_SHORT_SUMS: usize = 16;
const SHORT_SUMS: usize = 32;
const LONG_SUMS: usize = 4096;

/// Is C so narrow that lanes do better along rows of A than on tiles? Tensor cores in f64 leave less to gain: 1000000×8×8 takes 53 µs
/// instead of 97, but 100000×100×4 49 instead of 34; 20000×3000×4 takes 145 instead of 150.
fn is_narrow<S: Scalar>(limits: &DeviceLimits, Shape { m, k, n }: Shape) -> bool {
    // Few rows leave multiprocessors idle, and long sums, which tiles have sliced, make that worse.
    let rows_to_fill = if k <= LONG_SUMS { 4 } else { 8 };
    if m < rows_to_fill * limits.multiprocessors as usize {
        return false;
    }
    if S::NAME == f32::NAME {
        n <= FEW_COLS || (n <= FEW_COLS_OF_SHORT_SUMS && k <= SHORT_SUMS)
    } else {
        n <= 2 || (n <= 8 && k <= 12) || (n <= 4 && k >= 1000)
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

/// Tensor cores, in the largest tiles of which there are enough: large ones read least, small ones keep all
/// multiprocessors busy.
fn f64_on_device(limits: &DeviceLimits, shape: Shape) -> Choice {
    let multiprocessors = limits.multiprocessors as usize;
    let [large, long, medium, small] =
        [(128, 128), (128, 64), (64, 64), (64, 32)].map(|(rows, cols)| Cover::new(shape, rows, cols));
    let are_many = |cover: &Cover| cover.tiles.saturating_mul(2) >= 3 * multiprocessors;
    let enough = |cover: &Cover| are_many(cover) && cover.close;
    let ((rows, cols), why) = if shape.k <= FEW_TERMS && are_many(&small) {
        ((64, 32), "short sums, small ones wait best for memory")
    } else if large.tiles >= MANY_WAVES * multiprocessors && large.close && shape.k >= TERMS_OF_LARGE_TILES {
        ((128, 128), "many for every multiprocessor")
    } else if long.tiles >= MANY_HALF_WAVES * multiprocessors && long.close && shape.k >= TERMS_OF_LONG_TILES
    {
        ((128, 64), "several for every multiprocessor")
    } else if enough(&medium) {
        ((64, 64), "enough for every multiprocessor")
    } else if shape.k >= MANY_TERMS {
        ((64, 64), "few, but their sums are long and can be sliced")
    } else if enough(&small) || (shape.n <= 32 && are_many(&small)) {
        // A C that is narrower than every tile wastes the same in all.
        ((64, 32), "the largest of which there are enough")
    } else {
        ((32, 32), "small ones keep more multiprocessors busy")
    };
    let reason = format!("{shape}: f64 on tensor cores in tiles of {rows}×{cols}: {why}");
    Choice::new(with_tiles(&TENSOR_F64, rows, cols), reason)
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

    fn f64_chosen(m: usize, k: usize, n: usize) -> &'static str {
        f64_on_device(&DeviceLimits::h200(), Shape { m, k, n }).variant.trim_start_matches("dense-cuda-")
    }

    fn f32_chosen(m: usize, k: usize, n: usize) -> &'static str {
        f32_on_device(&DeviceLimits::h200(), false, Shape { m, k, n })
            .variant
            .trim_start_matches("dense-cuda-")
    }

    #[test]
    fn squares_take_larger_tiles_the_larger_they_are() {
        let f64_chosen = |m| f64_chosen(m, m, m);
        assert_eq!([100, 256, 512].map(f64_chosen), ["tensor-f64-32x32"; 3]);
        assert_eq!(f64_chosen(768), "tensor-f64-64x32");
        assert_eq!([1000, 1024, 1536].map(f64_chosen), ["tensor-f64-64x64"; 3]);
        assert_eq!([2048, 3000].map(f64_chosen), ["tensor-f64-128x64"; 2]);
        assert_eq!([4096, 8192, 10_000].map(f64_chosen), ["tensor-f64-128x128"; 3]);
        let f32_chosen = |m| f32_chosen(m, m, m);
        assert_eq!(f32_chosen(100), "tile-by-column-16");
        assert_eq!([128, 256].map(f32_chosen), ["registers-64x64"; 2]);
        assert_eq!([384, 512].map(f32_chosen), ["tensor-tf32x3-64x64"; 2]);
        assert_eq!([768, 1000, 4096, 10_000].map(f32_chosen), ["wgmma-tf32x3-128x128"; 4]);
    }

    #[test]
    fn thin_products_take_what_waits_best_for_memory() {
        assert_eq!([f64_chosen(1_000_000, 64, 64), f64_chosen(4096, 256, 4096)], ["tensor-f64-64x32"; 2]);
        assert_eq!(f64_chosen(1_000_000, 8, 8), "tensor-f64-64x32");
        assert_eq!(f64_chosen(4096, 512, 4096), "tensor-f64-64x64");
        assert_eq!(f64_chosen(4096, 1024, 4096), "tensor-f64-128x64");
        assert_eq!([f64_chosen(64, 1_000_000, 64), f64_chosen(500, 5000, 500)], ["tensor-f64-64x64"; 2]);
        assert_eq!([f64_chosen(10_000, 1000, 10), f64_chosen(1, 1000, 1000)], ["tensor-f64-32x32"; 2]);
        assert_eq!([f32_chosen(1_000_000, 64, 64), f32_chosen(4096, 64, 4096)], ["registers-64x64"; 2]);
        assert_eq!([f32_chosen(64, 1_000_000, 64), f32_chosen(20_000, 200, 128)], ["tensor-tf32x3-64x64"; 2]);
        assert_eq!(f32_chosen(500, 5000, 500), "wgmma-tf32x3-128x128");
        assert_eq!(f32_chosen(4096, 256, 4096), "tensor-tf32x3-64x64");
        assert_eq!(f32_chosen(64, 4, 8384), "registers-64x64");
    }

    #[test]
    fn narrow_products_go_along_rows() {
        fn narrow<S: Scalar>(m: usize, k: usize, n: usize) -> bool {
            is_narrow::<S>(&DeviceLimits::h200(), Shape { m, k, n })
        }
        assert!(
            narrow::<f32>(10_000, 1000, 10)
                && narrow::<f32>(1_000_000, 16, 16)
                && narrow::<f32>(1000, 1000, 1)
        );
        assert!(
            !narrow::<f32>(100_000, 100, 12)
                && !narrow::<f32>(64, 1_000_000, 4)
                && !narrow::<f32>(4096, 64, 4096)
        );
        assert!(
            narrow::<f64>(1_000_000, 8, 8) && narrow::<f64>(20_000, 3000, 4) && narrow::<f64>(1000, 1000, 1)
        );
        assert!(!narrow::<f64>(10_000, 1000, 10) && !narrow::<f64>(100_000, 100, 4));
        assert_eq!(f64_chosen(20_000, 3000, 8), "tensor-f64-64x32");
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

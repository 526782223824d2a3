//! What `auto` takes, as data: from the shape and the machine, without running anything.

use super::Shape;
use super::dense_threads_packed::SERIAL_BELOW;
use crate::Scalar;
use crate::machine::{Accelerator, DeviceLimits, Machine};
use crate::ops::Choice;

/// On a device where the machine has one, otherwise on the CPU.
pub(super) fn choose<S: Scalar>(machine: &Machine, shape: Shape) -> Choice {
    match machine.accelerator() {
        Accelerator::None => on_cpu(machine, shape),
        Accelerator::Cuda(_) | Accelerator::Emulator => {
            let limits =
                machine.device().map_or_else(|_| DeviceLimits::h200(), |device| device.limits().clone());
            let emulated = machine.accelerator() == Accelerator::Emulator;
            if S::NAME == f32::NAME {
                f32_on_device(&limits, emulated, shape)
            } else {
                f64_on_device(&limits, shape)
            }
        }
    }
}

fn on_cpu(machine: &Machine, shape: Shape) -> Choice {
    let (threads, steps) = (machine.threads(), shape.multiply_adds());
    let reason = if threads == 1 {
        "one thread: packed panels and vector instructions".into()
    } else if steps < SERIAL_BELOW {
        format!("{steps} multiply-adds are too few to wake a second thread: runs on the calling one")
    } else {
        format!("{threads} threads: packed panels and vector instructions")
    };
    Choice { variant: "dense-threads-packed", reason }
}

// First rules, from what an earlier implementation of the same tiles gave on an H200 at 100, 512, 1000, 1024, 4096, 8192,
// 10000, 1000000x64x64 and 64x1000000x64.

/// Terms from which slicing a sum pays where C alone has too few tiles.
const MANY_TERMS: usize = 4096;
/// Terms up to which tiles wait for memory, and small ones, of which more run at a time, wait best; f32 is then not worth
/// splitting in two.
const FEW_TERMS: usize = 128;
/// Terms of so short a sum that the error of splitting numbers into TF32 halves would stand out.
const SHORT_SUM: usize = 4;
/// Multiply-adds, and terms, up to which launching costs more than anything else.
const TINY: u64 = 128 * 128 * 128;
const TINY_TERMS: usize = 512;
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
        let tiles = shape.n.div_ceil(rows).saturating_mul(shape.p.div_ceil(cols));
        let covered = tiles.saturating_mul(rows * cols);
        let close = covered / MOST_PADDING <= shape.n.saturating_mul(shape.p) / 100;
        Cover { tiles, close }
    }
}

/// Tensor cores, in the largest tiles of which there are enough: large ones read least, small ones keep all
/// multiprocessors busy.
fn f64_on_device(limits: &DeviceLimits, shape: Shape) -> Choice {
    let multiprocessors = limits.multiprocessors as usize;
    let (large, wide) = (Cover::new(shape, 128, 128), Cover::new(shape, 128, 64));
    let (variant, tile, why) = if shape.m <= FEW_TERMS {
        ("dense-cuda-tensor-f64-32x32", "32×32", "short sums, small ones wait best for memory")
    } else if large.tiles >= multiprocessors && large.close {
        ("dense-cuda-tensor-f64-128x128", "128×128", "enough for every multiprocessor")
    } else if 4 * large.tiles >= multiprocessors && wide.close {
        ("dense-cuda-tensor-f64-128x64", "128×64", "the largest of which there are enough and that fit C")
    } else if shape.m >= MANY_TERMS {
        ("dense-cuda-tensor-f64-64x64", "64×64", "few, but their sums are long and can be sliced")
    } else {
        ("dense-cuda-tensor-f64-32x32", "32×32", "small ones keep more multiprocessors busy")
    };
    Choice { variant, reason: format!("{shape}: f64 on tensor cores in tiles of {tile}: {why}") }
}

/// Tensor cores by three products in TF32, but for what is too small or too flat for them.
fn f32_on_device(limits: &DeviceLimits, emulated: bool, shape: Shape) -> Choice {
    let multiprocessors = limits.multiprocessors as usize;
    let [large, wide, medium] =
        [(128, 128), (128, 64), (64, 64)].map(|(rows, cols)| Cover::new(shape, rows, cols));
    let warp_groups = limits.compute_capability == [9, 0] && !emulated;
    let (variant, why) = if shape.m <= SHORT_SUM {
        (
            "dense-cuda-registers-64x64",
            "sums too short to hide the error of splitting numbers into TF32 halves",
        )
    } else if shape.multiply_adds() <= TINY && shape.m <= TINY_TERMS {
        ("dense-cuda-tile-by-column-16", "too small for anything larger than a small shared tile")
    } else if shape.m <= FEW_TERMS && medium.tiles >= multiprocessors {
        ("dense-cuda-registers-64x64", "sums too short to pay for splitting numbers into TF32 halves")
    } else if large.tiles >= 2 * multiprocessors && large.close && warp_groups {
        ("dense-cuda-wgmma-tf32x3-128x128", "large: three TF32 products on warp groups")
    } else if 4 * large.tiles >= multiprocessors && large.close {
        (
            "dense-cuda-tensor-tf32x3-128x128",
            "three TF32 products in the largest tiles of which there are enough",
        )
    } else if 4 * large.tiles >= multiprocessors && wide.close {
        ("dense-cuda-tensor-tf32x3-128x64", "three TF32 products in the largest tiles that fit C")
    } else {
        (
            "dense-cuda-tensor-tf32x3-64x64",
            "three TF32 products in small tiles, which keep more multiprocessors busy",
        )
    };
    Choice { variant, reason: format!("{shape}: {why}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::Op;
    use crate::ops::gemm::Gemm;

    const SHAPES: [Shape; 7] = [
        Shape { n: 100, m: 100, p: 100 },
        Shape { n: 512, m: 512, p: 512 },
        Shape { n: 1000, m: 1000, p: 1000 },
        Shape { n: 4096, m: 4096, p: 4096 },
        Shape { n: 10_000, m: 10_000, p: 10_000 },
        Shape { n: 1_000_000, m: 64, p: 64 },
        Shape { n: 64, m: 1_000_000, p: 64 },
    ];

    #[test]
    fn the_choice_on_a_device_follows_the_shape() {
        let h200 = DeviceLimits::h200();
        let f64_chosen = SHAPES.map(|shape| f64_on_device(&h200, shape).variant);
        let tiles = ["32x32", "32x32", "128x64", "128x128", "128x128", "32x32", "64x64"];
        assert_eq!(f64_chosen.map(|name| name.trim_start_matches("dense-cuda-tensor-f64-")), tiles);
        assert_eq!(
            SHAPES.map(|shape| f32_on_device(&h200, false, shape).variant),
            [
                "dense-cuda-tile-by-column-16",
                "dense-cuda-tensor-tf32x3-64x64",
                "dense-cuda-tensor-tf32x3-128x128",
                "dense-cuda-wgmma-tf32x3-128x128",
                "dense-cuda-wgmma-tf32x3-128x128",
                "dense-cuda-registers-64x64",
                "dense-cuda-tensor-tf32x3-64x64",
            ]
        );
        let narrow = Shape { n: 1_000_000, m: 1000, p: 64 };
        assert_eq!(f64_on_device(&h200, narrow).variant, "dense-cuda-tensor-f64-128x64");
        assert_eq!(f32_on_device(&h200, false, narrow).variant, "dense-cuda-tensor-tf32x3-128x64");
        let very_narrow = Shape { n: 1_000_000, m: 1000, p: 8 };
        assert_eq!(f64_on_device(&h200, very_narrow).variant, "dense-cuda-tensor-f64-32x32");
        assert_eq!(f32_on_device(&h200, false, very_narrow).variant, "dense-cuda-tensor-tf32x3-64x64");
        let one_long_sum = Shape { n: 1, m: 2_000_000, p: 1 };
        assert_eq!(f32_on_device(&h200, false, one_long_sum).variant, "dense-cuda-tensor-tf32x3-64x64");
        let short_sums = Shape { n: 64, m: 4, p: 8384 };
        assert_eq!(f32_on_device(&h200, false, short_sums).variant, "dense-cuda-registers-64x64");
        let elsewhere = DeviceLimits { compute_capability: [10, 0], ..h200.clone() };
        let large = Shape::square(4096);
        assert_eq!(f32_on_device(&elsewhere, false, large).variant, "dense-cuda-tensor-tf32x3-128x128");
        assert_eq!(f32_on_device(&h200, true, large).variant, "dense-cuda-tensor-tf32x3-128x128");
    }

    #[test]
    fn every_choice_is_a_variant_with_a_reason() {
        let h200 = DeviceLimits::h200();
        for n in [0, 1, 100, 3000, usize::MAX] {
            for m in [0, 1, 64, 1_000_000, usize::MAX] {
                for p in [0, 1, 300, 10_000] {
                    let shape = Shape { n, m, p };
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

    #[test]
    fn on_the_cpu_only_the_reason_differs() {
        let machine = Machine::with_threads(2).unwrap();
        assert!(on_cpu(&machine, Shape::square(10)).reason.contains("too few"));
        assert!(on_cpu(&machine, Shape::square(1000)).reason.starts_with("2 threads"));
    }
}

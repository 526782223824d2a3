//! In which tiles f64 is multiplied on a device: what every size would take, estimated, and the least of it.

use crate::device::DeviceLimits;
use crate::gemm::cuda::fast::dense_cuda_tensor_f64::TENSOR_F64;
use crate::gemm::cuda::fast::tiled::Tiled;
use crate::gemm::cuda::fast::tiling::{Slices, Tiling};
use crate::gemm::product::Shape;

// Fitted to an H200 (measurements/2026-11-18-h200/gemm), squares from 128 to 8192 and products that are not: times of `tiles-again-f64.txt`,
// and of `tiles-tried-f64.txt` and `variants-f64.csv` for tiles that have not changed since; what was tried in neither was taken to be slower.
// Of these 30 shapes, to which it was fitted, the choice is the fastest in 27 and within 1 % in two; at 576 it is one that was not tried. Of other
// shapes that were timed it misses 1000×100×1000 (1.6 % behind 64×64) and, in another call, 1000000×64×64 (1.9 % behind 128×64); what is cut into
// slices at 500×5000×500 (48×128) and 64×10000×64 (32×32) was timed whole only.

/// What a size of tile does with a multiprocessor.
struct Habit {
    rows: u32,
    cols: u32,
    /// That it holds at once.
    blocks: u32,
    /// The share of its tensor cores that as many blocks as it holds keep busy.
    busy: f64,
    /// What beginning and end of a tile take, as terms of its sums.
    ends: f64,
}

const HABITS: [Habit; TENSOR_F64.len()] = [
    Habit { rows: 128, cols: 128, blocks: 1, busy: 0.97, ends: 170.0 },
    Habit { rows: 128, cols: 64, blocks: 2, busy: 0.92, ends: 95.0 },
    Habit { rows: 96, cols: 64, blocks: 2, busy: 0.94, ends: 125.0 },
    Habit { rows: 48, cols: 128, blocks: 2, busy: 0.96, ends: 135.0 },
    Habit { rows: 64, cols: 64, blocks: 3, busy: 0.94, ends: 90.0 },
    Habit { rows: 64, cols: 32, blocks: 2, busy: 0.86, ends: 150.0 },
    Habit { rows: 64, cols: 32, blocks: 4, busy: 0.82, ends: 75.0 },
    Habit { rows: 32, cols: 32, blocks: 2, busy: 0.53, ends: 30.0 },
    Habit { rows: 32, cols: 16, blocks: 2, busy: 0.52, ends: 95.0 },
];
/// What a block that has the multiprocessor for itself, where there is room for very many, loses of that share.
const LOST_ALONE: f64 = 0.34;
/// Products that a multiprocessor would add up while another kernel starts.
const PRODUCTS_PER_LAUNCH: f64 = 390_000.0;

/// The size of tile that takes least.
pub(super) fn fastest(limits: &DeviceLimits, shape: Shape) -> &'static Tiled {
    let cost = |tiled: &Tiled| tiled.f64.as_ref().map_or(f64::INFINITY, |tiling| cost(limits, tiling, shape));
    let first = &TENSOR_F64[0];
    TENSOR_F64
        .iter()
        .fold((first, cost(first)), |best, tiled| {
            let cost = cost(tiled);
            if cost < best.1 { (tiled, cost) } else { best }
        })
        .0
}

/// Whose habit it is.
fn is_of(tiling: &Tiling, habit: &Habit) -> bool {
    let Habit { rows, cols, blocks, .. } = *habit;
    (rows, cols, blocks) == (tiling.rows, tiling.cols, tiling.blocks_per_multiprocessor)
}

/// Time, in products that a multiprocessor adds up at its peak.
fn cost(limits: &DeviceLimits, tiling: &Tiling, shape: Shape) -> f64 {
    let Some(habit) = HABITS.iter().find(|habit| is_of(tiling, habit)) else { return f64::INFINITY };
    let (multiprocessors, room) =
        (u64::from(limits.multiprocessors), u64::from(tiling.blocks_per_multiprocessor));
    let (tiles, wave) = (tiling.tiles(shape), multiprocessors * room);
    let Slices { whole_tiles, count, .. } = tiling.slices(limits, shape);
    // So many blocks on every multiprocessor, each with so many terms of one tile.
    let blocks = |at_once: u64, terms: f64| {
        let alone = 1.0 - LOST_ALONE * room.saturating_sub(at_once) as f64 / room as f64;
        at_once as f64 * f64::from(tiling.rows * tiling.cols) * terms / (habit.busy * alone)
    };
    let (terms, slice) = (shape.k as f64 + habit.ends, shape.k as f64 / f64::from(count));
    if count > 1 && whole_tiles == 0 {
        let at_once = (tiles * u64::from(count)).div_ceil(multiprocessors);
        return PRODUCTS_PER_LAUNCH + blocks(at_once, slice + habit.ends);
    }
    let waves = (tiles / wave) as f64 * blocks(room, terms);
    match tiles % wave {
        0 => waves,
        // Partial sums are written and read again.
        _ if count > 1 => waves + blocks(1, slice + 2.0 * habit.ends),
        last => waves + blocks(last.div_ceil(multiprocessors), terms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_of_tile_has_its_habit() {
        for tiled in &TENSOR_F64 {
            let tiling = tiled.f64.as_ref().unwrap();
            let habits = HABITS.iter().filter(|habit| is_of(tiling, habit)).count();
            assert_eq!(habits, 1, "{}", tiled.description.name);
        }
        for habit in &HABITS {
            let tiles = TENSOR_F64.iter().filter(|tiled| is_of(tiled.f64.as_ref().unwrap(), habit)).count();
            assert_eq!(tiles, 1, "{}×{}, {} blocks", habit.rows, habit.cols, habit.blocks);
        }
    }

    fn chosen(m: usize, k: usize, n: usize) -> &'static str {
        let shape = Shape { m, k, n };
        fastest(&DeviceLimits::h200(), shape).description.name.trim_start_matches("dense-cuda-tensor-f64-")
    }

    #[test]
    fn squares_take_the_tiles_that_fill_the_last_wave() {
        let chosen = |m| chosen(m, m, m);
        assert_eq!([100, 128, 256, 384, 448].map(chosen), ["32x16"; 5]);
        assert_eq!([320, 576].map(chosen), ["32x32"; 2]);
        assert_eq!([512, 640, 704, 768].map(chosen), ["64x32"; 4]);
        assert_eq!([832, 896].map(chosen), ["64x32-small-warps"; 2]);
        assert_eq!([960, 1000, 1024, 1280, 3000].map(chosen), ["64x64"; 5]);
        assert_eq!([1536, 2500, 4096, 5000].map(chosen), ["48x128"; 4]);
        assert_eq!(chosen(1800), "96x64");
        assert_eq!([2048, 8192].map(chosen), ["128x128"; 2]);
    }

    #[test]
    fn short_sums_take_tiles_of_which_many_run_beside_each_other() {
        let shapes = [(1_000_000, 64, 64), (4096, 64, 4096), (4096, 256, 4096), (4096, 512, 4096)];
        assert_eq!(shapes.map(|(m, k, n)| chosen(m, k, n)), ["64x64"; 4]);
        assert_eq!(chosen(1000, 100, 1000), "64x32-small-warps");
    }

    #[test]
    fn a_device_with_fewer_multiprocessors_has_other_waves() {
        let half = DeviceLimits { multiprocessors: 66, ..DeviceLimits::h200() };
        let of_half = fastest(&half, Shape::square(1024)).description.name;
        assert!(!of_half.ends_with(chosen(1024, 1024, 1024)), "{of_half}");
    }
}

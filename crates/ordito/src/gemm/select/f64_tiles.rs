//! In which tiles f64 is multiplied on a device: what every size would take, estimated, and the least of it.

use crate::device::DeviceLimits;
use crate::gemm::cuda::fast::dense_cuda_tensor_f64::TENSOR_F64;
use crate::gemm::cuda::fast::tiled::Tiled;
use crate::gemm::cuda::fast::tiling::{Slices, Tiling};
use crate::gemm::product::Shape;

// Fitted to an H200 (measurements/2026-11-18-h200/gemm), squares from 128 to 8192 and products that are not: times of `variants-f64.csv`, and
// of `tiles-tried-f64.txt` for tiles that were changed after it; what was tried in neither was taken to be slower. Of these 28 shapes, to
// which it was fitted, the choice is the fastest in 23 and within 5 % in all.

/// What a size of tile does with a multiprocessor.
struct Habit {
    rows: u32,
    cols: u32,
    /// The share of its tensor cores that as many blocks as it holds keep busy.
    busy: f64,
    /// What beginning and end of a tile take, as terms of its sums.
    ends: f64,
}

const HABITS: [Habit; TENSOR_F64.len()] = [
    Habit { rows: 128, cols: 128, busy: 0.90, ends: 125.0 },
    Habit { rows: 128, cols: 64, busy: 0.87, ends: 105.0 },
    Habit { rows: 96, cols: 64, busy: 0.89, ends: 105.0 },
    Habit { rows: 64, cols: 64, busy: 0.83, ends: 70.0 },
    Habit { rows: 64, cols: 32, busy: 0.80, ends: 120.0 },
    Habit { rows: 32, cols: 32, busy: 0.69, ends: 120.0 },
    Habit { rows: 32, cols: 16, busy: 0.59, ends: 120.0 },
];
/// What a block that has the multiprocessor for itself, where there is room for very many, loses of that share.
const LOST_ALONE: f64 = 0.18;
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

/// Time, in products that a multiprocessor adds up at its peak.
fn cost(limits: &DeviceLimits, tiling: &Tiling, shape: Shape) -> f64 {
    let is_its = |habit: &&Habit| (habit.rows, habit.cols) == (tiling.rows, tiling.cols);
    let Some(habit) = HABITS.iter().find(is_its) else { return f64::INFINITY };
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
        for (tiled, habit) in TENSOR_F64.iter().zip(&HABITS) {
            let tiling = tiled.f64.as_ref().unwrap();
            assert_eq!((tiling.rows, tiling.cols), (habit.rows, habit.cols));
        }
    }

    fn chosen(m: usize, k: usize, n: usize) -> (u32, u32) {
        let tiling = fastest(&DeviceLimits::h200(), Shape { m, k, n }).f64.as_ref().unwrap();
        (tiling.rows, tiling.cols)
    }

    #[test]
    fn squares_take_the_tiles_that_fill_the_last_wave() {
        let chosen = |m| chosen(m, m, m);
        assert_eq!([100, 128, 256, 384, 448].map(chosen), [(32, 16); 5]);
        assert_eq!(chosen(320), (32, 32));
        assert_eq!([512, 640, 768, 896].map(chosen), [(64, 32); 4]);
        assert_eq!([1000, 1024, 1280].map(chosen), [(64, 64); 3]);
        assert_eq!([1536, 1800].map(chosen), [(96, 64); 2]);
        assert_eq!([2048, 8192].map(chosen), [(128, 128); 2]);
    }

    #[test]
    fn short_sums_take_tiles_of_which_many_run_beside_each_other() {
        let shapes = [(1_000_000, 64, 64), (4096, 64, 4096), (4096, 256, 4096), (1000, 100, 1000)];
        assert_eq!(shapes.map(|(m, k, n)| chosen(m, k, n)), [(64, 64); 4]);
        assert_eq!(chosen(4096, 512, 4096), (96, 64));
    }

    #[test]
    fn a_device_with_fewer_multiprocessors_has_other_waves() {
        let half = DeviceLimits { multiprocessors: 66, ..DeviceLimits::h200() };
        let tiling = fastest(&half, Shape::square(1024)).f64.as_ref().unwrap();
        assert_ne!((tiling.rows, tiling.cols), chosen(1024, 1024, 1024));
    }
}

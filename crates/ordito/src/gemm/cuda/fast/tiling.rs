//! The sizes of a kernel that computes C in tiles, in the words of `gemm.cuh`, and how many slices its sums are cut into.

use crate::device::{DeviceLimits, KernelSource, LaunchPlan};
use crate::gemm::product::Shape;
use crate::refusal::Refusal;

const WARP: u32 = 32;
/// Two blocks keep a multiprocessor busy, one copying while the other multiplies: more slices would only be more partial
/// sums to write and to add.
const SLICED_BLOCKS_PER_MULTIPROCESSOR: u32 = 2;
/// Slices of a tile of the last wave: one block alone adds them up.
const MOST_SLICES_OF_LAST_TILES: u64 = 16;

/// Bytes of C that stand in the last-level cache anyway.
const KEPT_BYTES: u64 = 16 << 20;
/// Terms of sums so short that reading C at their end is a good part of all: it is asked for at their beginning. (f64 on an H200: 4096×64×4096
/// 84 µs instead of 91, 4096×128×4096 114 instead of 125, but 4096×256×4096 182 instead of 179.)
const SHORT_SUMS_IN_F64: usize = 192;
/// Bytes of a warp's part of the tile. Warps with larger ones are for long sums, and have no register to spare; smaller ones are for small
/// products, which took 5 % longer.
const MEDIUM_WARP_BYTES: std::ops::RangeInclusive<usize> = 4096..=8192;

/// What a kernel is compiled for. All are definitions of the same name, in capitals.
pub(crate) struct Tiling {
    /// Of the tile, the work of a block.
    pub(crate) rows: u32,
    pub(crate) cols: u32,
    /// Terms of a slab.
    pub(crate) depth: u32,
    /// Of the part of the tile that is the work of a warp.
    pub(crate) warp_rows: u32,
    pub(crate) warp_cols: u32,
    /// Teams of warps that each cover the tile and take other steps of a slab.
    pub(crate) teams: u32,
    /// Slabs that shared memory holds.
    pub(crate) stages: u32,
    /// As many as registers and shared memory allow; the compiler is told.
    pub(crate) blocks_per_multiprocessor: u32,
    /// Bytes that a slab takes beyond its numbers, for every term.
    pub(crate) padding_bytes: u32,
    /// Definitions that only this kernel knows.
    pub(crate) more: &'static [(&'static str, u32)],
}

/// How the terms of a sum are shared out among blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slices {
    /// The first tiles, which are not cut.
    pub(crate) whole_tiles: u64,
    /// Of each of the others, if there are any.
    pub(crate) count: u32,
    /// Of a slice: whole slabs; the last one may have fewer.
    pub(crate) terms: u32,
}

impl Tiling {
    pub(crate) fn threads(&self) -> u32 {
        (self.rows / self.warp_rows) * (self.cols / self.warp_cols) * WARP * self.teams
    }

    /// Dynamic shared memory of a block.
    pub(crate) fn shared_bytes(&self, scalar_bytes: usize) -> u64 {
        let numbers = u64::from(self.rows + self.cols) * scalar_bytes as u64;
        u64::from(self.stages * self.depth) * (numbers + u64::from(self.padding_bytes))
    }

    pub(crate) fn define(&self, source: KernelSource) -> KernelSource {
        let source = source
            .define("ROWS", self.rows)
            .define("COLS", self.cols)
            .define("DEPTH", self.depth)
            .define("WARP_ROWS", self.warp_rows)
            .define("WARP_COLS", self.warp_cols)
            .define("TEAMS", self.teams)
            .define("STAGES", self.stages)
            .define("BLOCKS_PER_MULTIPROCESSOR", self.blocks_per_multiprocessor);
        self.more.iter().fold(source, |source, &(name, value)| source.define(name, value))
    }

    /// May its kernel ask for C early?
    pub(crate) fn may_ask_for_old(&self, scalar_bytes: usize) -> bool {
        MEDIUM_WARP_BYTES.contains(&((self.warp_rows * self.warp_cols) as usize * scalar_bytes))
    }

    /// Does it, for this shape?
    pub(crate) fn asks_for_old(&self, shape: Shape, scalar_bytes: usize) -> bool {
        let bytes = (shape.m as u64).saturating_mul(shape.n as u64).saturating_mul(scalar_bytes as u64);
        let short = scalar_bytes == 4 || shape.k <= SHORT_SUMS_IN_F64;
        self.may_ask_for_old(scalar_bytes) && short && bytes > KEPT_BYTES
    }

    pub(crate) fn tiles(&self, shape: Shape) -> u64 {
        let tiles = |side: usize, of_tile: u32| (side as u64).div_ceil(u64::from(of_tile));
        tiles(shape.m, self.rows).saturating_mul(tiles(shape.n, self.cols))
    }

    fn slabs(&self, shape: Shape) -> u64 {
        (shape.k as u64).div_ceil(u64::from(self.depth))
    }

    /// Slices for all tiles where they are too few, and for those of the last wave where few of them would be left for it.
    pub(crate) fn slices(&self, limits: &DeviceLimits, shape: Shape) -> Slices {
        let (tiles, multiprocessors) = (self.tiles(shape), u64::from(limits.multiprocessors));
        let wave = multiprocessors * u64::from(self.blocks_per_multiprocessor);
        let last = tiles % wave;
        if tiles < wave || last == 0 {
            return self.slices_for_all(limits, shape);
        }
        // One for every multiprocessor: alone on it, a block is quickest.
        let fill = (multiprocessors / last).min(MOST_SLICES_OF_LAST_TILES);
        let count = fill.min(self.slabs(shape) / u64::from(self.stages)).max(1);
        self.cut(shape, tiles - last, count)
    }

    /// As many slices as fill the multiprocessors once, none with fewer slabs than there are stages: a block must fill its
    /// pipeline before it multiplies. Partial sums never exceed what the tiles of those blocks hold, some 35 MB on an H200.
    pub(crate) fn slices_for_all(&self, limits: &DeviceLimits, shape: Shape) -> Slices {
        let blocks = self.blocks_per_multiprocessor.min(SLICED_BLOCKS_PER_MULTIPROCESSOR);
        let (at_once, tiles) = (u64::from(limits.multiprocessors * blocks), self.tiles(shape).max(1));
        // Where more than half of the multiprocessors have a tile, adding up takes more than it gains (1024 in f64 on an H200 in tiles of
        // 128×64, 128 of them: 41 µs, in two slices 49).
        let fill = if tiles.saturating_mul(2) > limits.multiprocessors.into() { 1 } else { at_once / tiles };
        self.cut(shape, 0, fill.min(self.slabs(shape) / u64::from(self.stages)).max(1))
    }

    /// The terms in at most `count` slices of equally many slabs, but for the first tiles.
    pub(crate) fn cut(&self, shape: Shape, whole_tiles: u64, count: u64) -> Slices {
        let slabs = self.slabs(shape);
        let slabs_per_slice = slabs.div_ceil(count).max(1);
        let terms = slabs_per_slice.saturating_mul(self.depth.into());
        let count = slabs.div_ceil(slabs_per_slice).max(1);
        let whole_tiles = if count == 1 { self.tiles(shape) } else { whole_tiles };
        // `check_sides` refuses what 32 bits do not hold, with room to round up.
        Slices { whole_tiles, count: count as u32, terms: terms as u32 }
    }

    /// A block for every tile and slice.
    pub(crate) fn plan(
        &self,
        limits: &DeviceLimits,
        shape: Shape,
        slices: Slices,
        scalar_bytes: usize,
    ) -> Result<LaunchPlan, Refusal> {
        let cut_tiles = self.tiles(shape) - slices.whole_tiles;
        let blocks = slices.whole_tiles.saturating_add(cut_tiles.saturating_mul(slices.count.into()));
        LaunchPlan::new(limits, [blocks, 1, 1], [self.threads(), 1, 1], self.shared_bytes(scalar_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::cuda::fast::dense_cuda_registers::REGISTERS;
    use crate::gemm::cuda::fast::dense_cuda_tensor_f64::TENSOR_F64;
    use crate::gemm::cuda::fast::dense_cuda_tensor_tf32x3::TENSOR_TF32X3;
    use crate::gemm::cuda::fast::dense_cuda_wgmma_tf32x3;
    use crate::gemm::cuda::fast::tiled::Tiled;

    /// Every tiling, with its bytes per number.
    fn all() -> Vec<(&'static str, &'static Tiling, usize)> {
        let of = |tiled: &'static Tiled| {
            let both = [(tiled.f32.as_ref(), 4), (tiled.f64.as_ref(), 8)];
            both.into_iter().filter_map(|(tiling, bytes)| Some((tiled.description.name, tiling?, bytes)))
        };
        let warp_groups = (dense_cuda_wgmma_tf32x3::DESCRIPTION.name, &dense_cuda_wgmma_tf32x3::TILING, 4);
        let tiled = REGISTERS.iter().chain(&TENSOR_F64).chain(&TENSOR_TF32X3).flat_map(of);
        tiled.chain([warp_groups]).collect()
    }

    fn tiling(name: &str, bytes: usize) -> &'static Tiling {
        all().into_iter().find(|&(found, _, of)| found == name && of == bytes).unwrap().1
    }

    #[test]
    fn descriptions_say_the_size_of_the_tile() {
        for tiled in REGISTERS.iter().chain(&TENSOR_F64).chain(&TENSOR_TF32X3) {
            for tiling in [&tiled.f32, &tiled.f64].into_iter().flatten() {
                let size = [("rows", tiling.rows), ("cols", tiling.cols)];
                assert_eq!(tiled.description.params, size, "{}", tiled.description.name);
            }
        }
    }

    fn count(name: &str, bytes: usize, m: usize, k: usize, n: usize) -> u32 {
        tiling(name, bytes).slices_for_all(&DeviceLimits::h200(), Shape { m, k, n }).count
    }

    #[test]
    fn an_h200_is_filled_once() {
        assert_eq!(count("dense-cuda-tensor-f64-128x64", 8, 1000, 1000, 1000), 1);
        assert_eq!(count("dense-cuda-tensor-f64-128x128", 8, 1024, 1024, 1024), 2);
        assert_eq!(count("dense-cuda-tensor-tf32x3-128x128", 4, 1000, 1000, 1000), 2);
        assert_eq!(count("dense-cuda-tensor-tf32x3-128x128", 4, 1024, 1024, 1024), 2);
        assert_eq!(count("dense-cuda-tensor-tf32x3-64x64", 4, 512, 512, 512), 4);
        // 264 were asked for; whole slabs of 32 terms make one fewer.
        assert_eq!(count("dense-cuda-tensor-tf32x3-64x64", 4, 64, 1_000_000, 64), 263);
        assert_eq!(count("dense-cuda-tensor-f64-64x64", 8, 64, 1_000_000, 64), 264);
        assert_eq!(count("dense-cuda-tensor-f64-32x32", 8, 100, 100, 100), 1);
        assert_eq!(count("dense-cuda-tensor-f64-32x32", 8, 512, 512, 512), 1);
        for (name, _, bytes) in all() {
            for m in [4096, 8192, 10_000] {
                assert_eq!(count(name, bytes, m, m, m), 1, "{name}");
            }
            assert_eq!(count(name, bytes, 1_000_000, 64, 64), 1, "{name}");
        }
    }

    #[test]
    fn a_large_c_is_asked_for_where_sums_are_short() {
        let asks = |name, bytes, m, k| tiling(name, bytes).asks_for_old(Shape { m, k, n: m }, bytes);
        let f64_tiles = "dense-cuda-tensor-f64-64x64";
        assert!(asks(f64_tiles, 8, 4096, 64) && asks(f64_tiles, 8, 4096, 128));
        assert!(!asks(f64_tiles, 8, 4096, 256) && !asks(f64_tiles, 8, 1000, 64));
        assert!(asks("dense-cuda-tensor-tf32x3-64x64", 4, 4096, 256));
        assert!(!asks("dense-cuda-tensor-f64-128x128", 8, 4096, 64));
    }

    #[test]
    fn the_last_tiles_are_cut_where_they_are_few() {
        let cut = |name, m| {
            let (tiling, shape) = (tiling(name, 8), Shape::square(m));
            let slices = tiling.slices(&DeviceLimits::h200(), shape);
            (tiling.tiles(shape) - slices.whole_tiles, slices.count)
        };
        assert_eq!(cut("dense-cuda-tensor-f64-128x64", 1536), (24, 5));
        assert_eq!(cut("dense-cuda-tensor-f64-128x128", 3000), (48, 2));
        assert_eq!(cut("dense-cuda-tensor-f64-128x64", 2500), (8, 16));
        // More than half of the multiprocessors have one.
        assert_eq!(cut("dense-cuda-tensor-f64-128x64", 2048), (0, 1));
    }

    #[test]
    fn slices_cover_every_term_and_partial_sums_stay_small() {
        let h200 = DeviceLimits::h200();
        for (name, tiling, bytes) in all() {
            for k in [0, 1, 7, 16, 100, 127, 128, 129, 1000, 10_000, 1_000_000, i32::MAX as usize] {
                for (m, n) in [(1, 1), (64, 64), (100, 1), (1000, 777), (1, 1_000_000), (5000, 5000)] {
                    let shape = Shape { m, k, n };
                    let Slices { whole_tiles, count, terms } = tiling.slices(&h200, shape);
                    let (of_slice, k) = (u64::from(terms), k as u64);
                    assert!(of_slice.is_multiple_of(tiling.depth.into()), "{name}");
                    assert!(u64::from(count) * of_slice >= k, "{name}: {count} × {terms} for {k}");
                    assert!(u64::from(count - 1) * of_slice < k.max(1), "{name}: an empty slice for {k}");
                    if count > 1 {
                        assert!(of_slice >= u64::from(tiling.stages * tiling.depth), "{name}");
                        let cut = (tiling.tiles(shape) - whole_tiles) * u64::from(tiling.rows * tiling.cols);
                        let elements = if whole_tiles == 0 { (m * n) as u64 } else { cut };
                        assert!(u64::from(count) * elements * bytes as u64 <= 35 << 20, "{name} {m}x{k}x{n}");
                    } else {
                        assert_eq!(whole_tiles, tiling.tiles(shape), "{name}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_tiling_fits_a_multiprocessor() {
        let h200 = DeviceLimits::h200();
        for (name, tiling, bytes) in all() {
            let shape = Shape::square(1000);
            let plan = tiling.plan(&h200, shape, tiling.slices(&h200, shape), bytes).unwrap();
            // 228 KiB of shared memory, of which every block takes one KiB for itself.
            let shared = u64::from(plan.shared_bytes()) + 1024;
            assert!(shared * u64::from(tiling.blocks_per_multiprocessor) <= 228 << 10, "{name}");
            assert!([128, 256].contains(&tiling.threads()), "{name}");
        }
    }
}

//! How the K columns of X are dealt out to lanes, for the kernels that include `few.cuh`: data from K alone, but for
//! how wide loads are, which also depends on how far apart rows of X and Y lie.

use crate::Scalar;
use crate::device::KernelSource;

/// Bytes of the widest load of a lane.
const WIDEST: usize = 16;

/// `lanes` lanes side by side have a tile of `columns` columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Tiling {
    pub(crate) lanes: u32,
    pub(crate) columns: u32,
}

impl Tiling {
    /// Enough lanes for K columns at the widest load and `loads` of them per lane, `lanes` at most; what is more than that
    /// is done in tiles. Fewer columns than one load has take a narrower one.
    pub(crate) fn new<S: Scalar>(k: usize, loads: u32, lanes: u32) -> Self {
        let per_load = (WIDEST / size_of::<S>()) as u32;
        let k = u32::try_from(k).unwrap_or(u32::MAX / 2).max(1);
        if k <= per_load {
            return Tiling { lanes: 1, columns: k.next_power_of_two() };
        }
        let needed = k.div_ceil(per_load).next_power_of_two();
        let loads = loads.min(needed);
        let lanes = (needed / loads).min(lanes);
        Tiling { lanes, columns: lanes * loads * per_load }
    }

    /// Every one that [`new`](Self::new) makes of some K.
    pub(crate) fn all<S: Scalar>(loads: u32, lanes: u32) -> Vec<Self> {
        let mut all: Vec<Tiling> = Vec::new();
        let most = (WIDEST / size_of::<S>()) * (loads * lanes) as usize;
        for k in (0..).map(|power| 1 << power).take_while(|&k| k <= most) {
            let tiling = Tiling::new::<S>(k, loads, lanes);
            if !all.contains(&tiling) {
                all.push(tiling);
            }
        }
        all
    }

    /// Tiles of K columns.
    pub(crate) fn tiles(self, k: usize) -> u64 {
        (k as u64).div_ceil(self.columns.into())
    }

    /// How rows of `k` elements that lie so far apart are read: by loads as wide as all of them allow.
    pub(crate) fn loads<S: Scalar>(self, k: usize, distances: [usize; 2]) -> Loads {
        let widest = self.widest::<S>();
        let aligned = (k | distances[0] | distances[1]).trailing_zeros();
        let width = widest.min(1 << aligned.min(widest.ilog2()));
        Loads { width, whole: width == widest && k.is_multiple_of(self.columns as usize) }
    }

    /// Every way there is.
    pub(crate) fn all_loads<S: Scalar>(self) -> Vec<Loads> {
        let widest = self.widest::<S>();
        let mut all = vec![Loads { width: widest, whole: true }];
        let narrower = (0..=widest.ilog2()).rev().map(|power| Loads { width: 1 << power, whole: false });
        all.extend(narrower.filter(|_| self.columns > 1));
        all
    }

    fn widest<S: Scalar>(self) -> u32 {
        ((WIDEST / size_of::<S>()) as u32).min(self.columns / self.lanes)
    }

    /// Loads of a lane.
    pub(crate) fn chunks(self, width: u32) -> u32 {
        self.columns / (self.lanes * width)
    }

    /// Registers of a lane for its part of a row of X.
    pub(crate) fn registers<S: Scalar>(self) -> u32 {
        self.columns / self.lanes * (size_of::<S>() / 4) as u32
    }

    /// What `few.cuh` asks for.
    pub(crate) fn define<S: Scalar>(self, source: KernelSource, loads: Loads) -> KernelSource {
        source
            .define("SCALAR", S::CUDA_NAME)
            .define("VEC", loads.width)
            .define("LANES", self.lanes)
            .define("CHUNKS", self.chunks(loads.width))
            .define("WHOLE", u32::from(loads.whole))
    }
}

/// How a lane reads its part of a row of X.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Loads {
    /// Elements of a load: as many as are aligned.
    pub(crate) width: u32,
    /// Tiles divide K: no load has to ask whether its columns are there.
    pub(crate) whole: bool,
}

/// Registers of a multiprocessor; the most of a thread.
const REGISTERS: u32 = 65_536;
const REGISTERS_PER_THREAD: u32 = 255;

/// Blocks of `threads` threads that find room on a multiprocessor with so many registers each: what the compiler is told, so
/// that it neither spills nor holds loads back to save registers. What kernels say they need beside their arrays is found by
/// trying: as few as leave none spilling (`tests/nvrtc.rs`), or as run fastest.
pub(crate) fn blocks_per_multiprocessor(threads: u32, registers: u32) -> u32 {
    (REGISTERS / (threads * registers.next_multiple_of(8).min(REGISTERS_PER_THREAD))).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_all_columns_with_aligned_loads() {
        fn check<S: Scalar>() {
            for (loads, lanes) in [(1, 8), (1, 32), (2, 32)] {
                let all = Tiling::all::<S>(loads, lanes);
                for k in [1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32, 33, 64, 65, 128, 1000, usize::MAX] {
                    let tiling = Tiling::new::<S>(k, loads, lanes);
                    assert!(all.contains(&tiling), "{tiling:?}");
                    assert!(tiling.tiles(k) as u128 * u128::from(tiling.columns) >= k as u128);
                    assert!(tiling.lanes <= lanes && 32 % tiling.lanes == 0);
                    for distances in [[k, k], [k.saturating_add(1), k], [k, k.saturating_add(2)]] {
                        let loads = tiling.loads::<S>(k, distances);
                        assert!(tiling.all_loads::<S>().contains(&loads), "{loads:?} of {tiling:?}");
                        assert!(!loads.whole || k % tiling.columns as usize == 0);
                        let width = loads.width;
                        assert!(width as usize * size_of::<S>() <= WIDEST);
                        assert_eq!(tiling.chunks(width) * tiling.lanes * width, tiling.columns);
                        assert!([k, distances[0], distances[1]].iter().all(|n| n % width as usize == 0));
                    }
                }
            }
        }
        check::<f32>();
        check::<f64>();
    }

    #[test]
    fn few_columns_take_one_narrow_load() {
        assert_eq!(Tiling::new::<f32>(1, 2, 32), Tiling { lanes: 1, columns: 1 });
        assert_eq!(Tiling::new::<f32>(3, 2, 32), Tiling { lanes: 1, columns: 4 });
        assert_eq!(Tiling::new::<f64>(8, 2, 32), Tiling { lanes: 2, columns: 8 });
        assert_eq!(Tiling::new::<f64>(8, 1, 32), Tiling { lanes: 4, columns: 8 });
        assert_eq!(Tiling::new::<f64>(500, 2, 32), Tiling { lanes: 32, columns: 128 });
        let twelve = Tiling::new::<f32>(12, 1, 8);
        assert_eq!(twelve.loads::<f32>(12, [12, 13]), Loads { width: 1, whole: false });
        assert_eq!(twelve.loads::<f32>(12, [12, 16]), Loads { width: 4, whole: false });
        assert_eq!(Tiling::new::<f32>(10, 1, 8).loads::<f32>(10, [10, 10]), Loads { width: 2, whole: false });
    }
}

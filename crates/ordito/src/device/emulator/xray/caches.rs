//! A model of a cache: lines of four sectors in sets, the line that was used longest ago goes first.
//!
//! What NVIDIA's caches do exactly is not published. Which set a line belongs to is mixed here, as it seems to be there, so that
//! strides that are powers of two do not all end in one set.

use crate::device::emulator::xray::coalesce::{LINE_BYTES, SECTOR_BYTES};

const SECTORS_PER_LINE: u64 = LINE_BYTES / SECTOR_BYTES;

/// Size and shape of a cache; lines have 128 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CacheShape {
    /// All of its bytes.
    pub bytes: u64,
    /// Lines of a set.
    pub ways: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Line {
    /// Number of the line plus 1; 0: none.
    tag: u64,
    used: u64,
    /// A bit for each sector that is there, and for each that memory does not have yet.
    present: u8,
    dirty: u8,
}

/// A cache while a launch runs.
#[derive(Debug)]
pub(crate) struct Cache {
    lines: Vec<Line>,
    ways: usize,
    sets: u64,
    time: u64,
    /// Sectors that were pushed out and had to be written to memory.
    pub(crate) written_back: u64,
}

impl Cache {
    pub(crate) fn new(shape: CacheShape) -> Self {
        let ways = shape.ways.max(1) as usize;
        let sets = (shape.bytes / LINE_BYTES / ways as u64).max(1);
        Cache { lines: vec![Line::default(); sets as usize * ways], ways, sets, time: 0, written_back: 0 }
    }

    /// Reads a sector; `true`: it was there. Otherwise it is now.
    pub(crate) fn read(&mut self, sector: u64) -> bool {
        let bit = bit_of(sector);
        let line = self.line(sector / SECTORS_PER_LINE);
        let hit = line.present & bit != 0;
        line.present |= bit;
        hit
    }

    /// Writes a sector, which memory gets later; `true`: it was there.
    pub(crate) fn write(&mut self, sector: u64) -> bool {
        let bit = bit_of(sector);
        let line = self.line(sector / SECTORS_PER_LINE);
        let hit = line.present & bit != 0;
        line.present |= bit;
        line.dirty |= bit;
        hit
    }

    /// The sector is there no more, if it was; it was not written here.
    pub(crate) fn forget(&mut self, sector: u64) {
        let number = sector / SECTORS_PER_LINE;
        let start = self.set(number);
        let line = self.lines[start..start + self.ways].iter_mut().find(|line| line.tag == number + 1);
        line.into_iter().for_each(|line| line.present &= !bit_of(sector));
    }

    /// Sectors that memory does not have yet.
    pub(crate) fn dirty(&self) -> u64 {
        self.lines.iter().map(|line| u64::from(line.dirty.count_ones())).sum()
    }

    fn set(&self, number: u64) -> usize {
        // Fibonacci's multiplier spreads neighbours and strides alike.
        let mixed = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) * self.sets;
        (mixed >> 32) as usize * self.ways
    }

    /// The line of this number, in place of another one if it was not there.
    fn line(&mut self, number: u64) -> &mut Line {
        self.time += 1;
        let start = self.set(number);
        let set = &mut self.lines[start..start + self.ways];
        let (mut oldest, mut found) = (0, None);
        for (index, line) in set.iter().enumerate() {
            if line.tag == number + 1 {
                found = Some(index);
                break;
            }
            if line.used < set[oldest].used {
                oldest = index;
            }
        }
        let index = found.unwrap_or_else(|| {
            self.written_back += u64::from(set[oldest].dirty.count_ones());
            set[oldest] = Line { tag: number + 1, ..Line::default() };
            oldest
        });
        let line = &mut set[index];
        line.used = self.time;
        line
    }
}

fn bit_of(sector: u64) -> u8 {
    1 << (sector % SECTORS_PER_LINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Cache {
        /// Is the sector there? Changes nothing.
        fn has(&self, sector: u64) -> bool {
            let number = sector / SECTORS_PER_LINE;
            let start = self.set(number);
            let found = self.lines[start..start + self.ways].iter().find(|line| line.tag == number + 1);
            found.is_some_and(|line| line.present & bit_of(sector) != 0)
        }
    }

    /// One set of two lines.
    fn small() -> Cache {
        Cache::new(CacheShape { bytes: 256, ways: 2 })
    }

    #[test]
    fn sectors_come_one_by_one() {
        let mut cache = small();
        assert!(!cache.read(0) && cache.read(0));
        assert!(!cache.read(1), "the same line, another sector");
        assert!(cache.has(1) && !cache.has(2));
        cache.forget(1);
        assert!(!cache.has(1) && cache.has(0));
    }

    #[test]
    fn the_line_that_was_used_longest_ago_goes() {
        let mut cache = small();
        for line in [0, 1] {
            cache.read(line * 4);
        }
        assert!(cache.read(0));
        cache.read(8);
        assert!(cache.has(0) && cache.has(8) && !cache.has(4));
    }

    #[test]
    fn what_was_written_goes_to_memory_when_it_is_pushed_out() {
        let mut cache = small();
        assert!(!cache.write(0));
        assert!(cache.write(0));
        assert_eq!((cache.dirty(), cache.written_back), (1, 0));
        cache.read(4);
        cache.read(8);
        assert_eq!((cache.dirty(), cache.written_back), (0, 1));
    }

    #[test]
    fn what_fits_stays() {
        let mut cache = Cache::new(CacheShape { bytes: 1 << 20, ways: 16 });
        let half = (1 << 19) / SECTOR_BYTES;
        for sector in 0..half {
            cache.read(sector);
        }
        let kept = (0..half).filter(|&sector| cache.has(sector)).count() as u64;
        assert!(kept * 100 > half * 99, "{kept} of {half}");
    }
}

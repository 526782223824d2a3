//! What one warp instruction asks of global memory: the sectors and lines that its lanes touch together.

/// What memory and caches move at least.
pub(crate) const SECTOR_BYTES: u64 = 32;
/// What a cache has a tag for.
pub(crate) const LINE_BYTES: u64 = 128;
const SECTORS_PER_LINE: u64 = LINE_BYTES / SECTOR_BYTES;

/// The sectors of one instruction, each with a bit for every byte of it that some lane uses. Kept to be filled again.
#[derive(Debug, Default)]
pub(crate) struct Sectors {
    /// Numbers: addresses divided by the size.
    pub(crate) numbers: Vec<u64>,
    used: Vec<u32>,
    greatest: u64,
}

impl Sectors {
    /// Of accesses to so many bytes at these addresses.
    pub(crate) fn fill(&mut self, accesses: impl Iterator<Item = (u64, u64)>) {
        self.numbers.clear();
        self.used.clear();
        self.greatest = 0;
        for (address, bytes) in accesses {
            let mut at = address;
            while at < address + bytes {
                let number = at / SECTOR_BYTES;
                let end = (address + bytes).min((number + 1) * SECTOR_BYTES);
                self.touch(number, mask(at % SECTOR_BYTES, end - at));
                at = end;
            }
        }
    }

    #[inline]
    fn touch(&mut self, number: u64, bytes: u32) {
        // Neighbours usually touch the last sector again, or the next one.
        if self.numbers.last() == Some(&number) {
            if let Some(used) = self.used.last_mut() {
                *used |= bytes;
            }
            return;
        }
        // Addresses mostly rise.
        let is_new = number > self.greatest || self.numbers.is_empty();
        match if is_new { None } else { self.numbers.iter().position(|&other| other == number) } {
            Some(index) => self.used[index] |= bytes,
            None => {
                self.numbers.push(number);
                self.used.push(bytes);
                self.greatest = self.greatest.max(number);
            }
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.numbers.len() as u64
    }

    /// Lines of 128 bytes that they lie in.
    pub(crate) fn lines(&self) -> u64 {
        let (mut lines, mut greatest) = (0, None);
        for (index, &number) in self.numbers.iter().enumerate() {
            let line = number / SECTORS_PER_LINE;
            // Those of a line mostly follow each other, and lines rise.
            let seen = greatest.is_some_and(|greatest| {
                line == greatest
                    || line < greatest
                        && self.numbers[..index].iter().any(|other| other / SECTORS_PER_LINE == line)
            });
            lines += u64::from(!seen);
            greatest = greatest.max(Some(line));
        }
        lines
    }

    /// Bytes in them that some lane uses.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.used.iter().map(|used| u64::from(used.count_ones())).sum()
    }
}

fn mask(first: u64, bytes: u64) -> u32 {
    (((1_u64 << bytes) - 1) << first) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sectors, lines and used bytes of a warp whose lane `i` touches `bytes` bytes at `address(i)`.
    fn of(bytes: u64, address: impl Fn(u64) -> u64) -> [u64; 3] {
        let mut sectors = Sectors::default();
        sectors.fill((0..32).map(|lane| (address(lane), bytes)));
        [sectors.count(), sectors.lines(), sectors.used_bytes()]
    }

    #[test]
    fn textbook_patterns() {
        assert_eq!(of(4, |lane| 4 * lane), [4, 1, 128], "coalesced");
        assert_eq!(of(8, |lane| 8 * lane), [8, 2, 256]);
        assert_eq!(of(16, |lane| 16 * lane), [16, 4, 512]);
        assert_eq!(of(4, |_| 64), [1, 1, 4], "broadcast");
        assert_eq!(of(4, |lane| 4 * lane + 4), [5, 2, 128], "one element off");
        assert_eq!(of(4, |lane| 4 * (31 - lane)), [4, 1, 128], "backwards");
        assert_eq!(of(4, |lane| 4 * (lane * 7 % 32)), [4, 1, 128], "mixed");
        assert_eq!(of(4, |lane| 4096 * lane), [32, 32, 128], "a column");
        for (stride, sectors) in [(2, 8), (4, 16), (8, 32), (16, 32), (32, 32)] {
            let lines = (stride * 128 / LINE_BYTES).min(32);
            assert_eq!(of(4, |lane| 4 * stride * lane), [sectors, lines, 128], "stride {stride}");
        }
    }

    #[test]
    fn what_lies_across_two_sectors_counts_in_both() {
        let mut sectors = Sectors::default();
        sectors.fill([(30, 4), (127, 2)].into_iter());
        assert_eq!((sectors.numbers.as_slice(), sectors.used_bytes()), (&[0, 1, 3, 4][..], 6));
        assert_eq!(sectors.lines(), 2);
    }
}

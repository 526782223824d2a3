//! One access to memory by one thread.

/// What is done to memory; numbers as in `cuda_emulator.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    kind: u32,
}

impl Access {
    pub(crate) const READ: u32 = 0;
    pub(crate) const WRITE: u32 = 1;
    const FLOAT_ATOMIC: u32 = 3;
    pub(crate) const UNALIGNED: u32 = 4;
    /// What is there now is wanted: a volatile load, or one that asks for it (`__ldcg`, `__ldcv`). Told only where launches are counted.
    const FRESH: u32 = 8;

    pub(crate) fn new(address: usize, bytes: usize, kind: u32) -> Self {
        Access { address, bytes, kind }
    }
    fn what(&self) -> u32 {
        self.kind & !(Self::UNALIGNED | Self::FRESH)
    }
    /// Atomics read, too.
    pub(crate) fn reads(&self) -> bool {
        self.what() != Self::WRITE
    }
    pub(crate) fn writes(&self) -> bool {
        self.what() != Self::READ
    }
    pub(crate) fn atomic(&self) -> bool {
        self.what() >= 2
    }
    pub(crate) fn fresh(&self) -> bool {
        self.kind & Self::FRESH != 0
    }
    /// An atomic whose result depends on the order, on every device.
    pub(crate) fn float_atomic(&self) -> bool {
        self.what() == Self::FLOAT_ATOMIC
    }
    /// Ranges and types without a promise about alignment may lie anywhere; the rest must not.
    #[inline]
    pub(crate) fn misaligned(&self) -> bool {
        // No remainder is taken: of powers of two it is in these bits.
        self.address & self.bytes.wrapping_sub(1) != 0
            && self.kind & Self::UNALIGNED == 0
            && self.bytes.is_power_of_two()
            && self.bytes <= 16
    }
    /// As in "out-of-bounds ‹write›".
    pub(crate) fn name(&self) -> &'static str {
        match self.what() {
            0 => "read",
            1 => "write",
            _ => "atomic",
        }
    }
}

/// The 4-byte words that `bytes` bytes from `offset` on touch, each with a mask of the bytes in it.
pub(crate) fn words(offset: usize, bytes: usize) -> impl Iterator<Item = (usize, u8)> {
    // Nothing touches no word, wherever it lies.
    let (offset, end) = if bytes == 0 { (0, 0) } else { (offset, offset + bytes) };
    (offset / 4..end.div_ceil(4)).map(move |word| {
        let first = offset.max(word * 4) - word * 4;
        let behind = end.min(word * 4 + 4) - word * 4;
        (word, ((1_u32 << behind) - (1 << first)) as u8)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_their_bytes() {
        let found = |offset, bytes| words(offset, bytes).collect::<Vec<_>>();
        assert_eq!(found(8, 4), [(2, 0b1111)]);
        assert_eq!(found(8, 8), [(2, 0b1111), (3, 0b1111)]);
        assert_eq!(found(3, 3), [(0, 0b1000), (1, 0b0011)]);
        assert_eq!(found(5, 1), [(1, 0b0010)]);
        assert_eq!(found(5, 0), []);
    }

    #[test]
    fn kinds_and_alignment() {
        let [read, write, atomic, float] = [0, 1, 2, 3].map(|kind| Access::new(12, 4, kind));
        assert!(read.reads() && !read.writes() && !read.atomic());
        assert!(write.writes() && !write.reads());
        assert!(atomic.reads() && atomic.writes() && atomic.atomic() && !atomic.float_atomic());
        assert!(float.atomic() && float.float_atomic());
        assert!(!read.misaligned() && Access::new(12, 8, 0).misaligned());
        assert!(!Access::new(12, 8, 4).misaligned() && !Access::new(1, 1, 0).misaligned());
    }
}

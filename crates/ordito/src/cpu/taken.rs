//! How many chunks of a range are taken in which region of a team, in one number: nobody has to reset it.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The upper bits are the lower ones of the region's number; when they come round again, all are reset.
#[derive(Debug, Default)]
pub(super) struct Taken(AtomicU64);

impl Taken {
    const COUNT_BITS: u32 = 24;
    /// Chunks that are counted.
    pub(super) const MOST: usize = (1 << Self::COUNT_BITS) - 1;

    fn tag(region: u64) -> u64 {
        region << Self::COUNT_BITS
    }

    /// Do the numbers of regions begin anew with this one? Then all must be reset before it is opened.
    pub(super) fn is_first(region: u64) -> bool {
        Self::tag(region) == Self::tag(1)
    }

    pub(super) fn reset(&self) {
        self.0.store(0, Relaxed);
    }

    /// The next chunk of `length`, if there is one that nobody has.
    pub(super) fn take(&self, region: u64, length: usize) -> Option<usize> {
        let mut now = self.0.load(Relaxed);
        loop {
            let of_region = now >> Self::COUNT_BITS == Self::tag(region) >> Self::COUNT_BITS;
            let count = if of_region { now & Self::MOST as u64 } else { 0 };
            if count >= length as u64 {
                return None;
            }
            match self.0.compare_exchange_weak(now, Self::tag(region) | (count + 1), Relaxed, Relaxed) {
                Ok(_) => return Some(count as usize),
                Err(other) => now = other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_round_again() {
        let taken = Taken::default();
        let take = |region, length| taken.take(region, length);
        assert_eq!((take(1, 2), take(1, 2), take(1, 2)), (Some(0), Some(1), None));
        assert_eq!((take(3, 1), take(3, 1)), (Some(0), None), "the next region begins anew");
        // All numbers of regions that fit have been used: the first one is told, and everything reset.
        let round = 1 + (1_u64 << (u64::BITS - Taken::COUNT_BITS));
        assert!(Taken::is_first(1) && Taken::is_first(round) && !Taken::is_first(3));
        assert_eq!((take(round - 2, 1), take(round - 2, 1)), (Some(0), None));
    }
}

//! What one warp instruction asks of shared memory: 32 banks of 4 bytes each serve one word at a time.

use crate::device::emulator::xray::trace::bits;

/// Banks of shared memory, each 4 bytes wide.
pub(crate) const BANKS: usize = 32;
const WORD_BYTES: u64 = 4;

/// Passes over shared memory that one instruction takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Wavefronts {
    pub(crate) taken: u64,
    /// Without conflicts; what is taken beyond it are conflicts.
    pub(crate) least: u64,
}

/// Of an instruction whose lanes touch so many bytes at these places. In one pass every bank serves one word, to all lanes that want
/// it, and 128 bytes go back. So wider accesses are served in turns: halves of a warp for 8 bytes, quarters for 16. Two turns are one where
/// in every pair of lanes (i and i ^ 1, or else in every pair i and i ^ 2) both want the same or one wants nothing: then lanes share
/// what goes back. (NVIDIA's forum, "Unexpected shared memory bank conflict", 2019; counts of an H200 agree.)
pub(crate) fn wavefronts(lanes: u32, bytes: u64, addresses: &[u64]) -> Wavefronts {
    let words = bytes.div_ceil(WORD_BYTES).max(1);
    if words == 1 {
        return Wavefronts { taken: passes(addresses, bytes), least: u64::from(!addresses.is_empty()) };
    }
    let turn = (BANKS as u64 / words.next_power_of_two()).max(1) as u32;
    let mut found = Wavefronts::default();
    let mut rest = addresses;
    for first in (0..32).step_by(2 * turn as usize) {
        let pair = lanes & (mask(2 * turn) << first);
        let (both, behind) = rest.split_at(pair.count_ones() as usize);
        let early = (pair & mask(turn) << first).count_ones() as usize;
        let turns = if shared_by_pairs(pair, both) { [both, &[]] } else { both.split_at(early).into() };
        for turn in turns.into_iter().filter(|turn| !turn.is_empty()) {
            found.taken += passes(turn, bytes);
            found.least += 1;
        }
        rest = behind;
    }
    found
}

/// The lowest so many lanes.
fn mask(lanes: u32) -> u32 {
    if lanes >= 32 { u32::MAX } else { (1 << lanes) - 1 }
}

/// Lanes share what they want with their neighbours, or else with those two farther; one address for each bit of `lanes`.
fn shared_by_pairs(lanes: u32, addresses: &[u64]) -> bool {
    let mut wanted = [0; 32];
    bits(lanes).zip(addresses).for_each(|(lane, &address)| wanted[lane] = address);
    [1, 2].into_iter().any(|distance| {
        bits(lanes).all(|lane| {
            let other = lane ^ distance;
            lanes >> other & 1 == 0 || wanted[other] == wanted[lane]
        })
    })
}

/// The most words that any bank has to serve.
fn passes(addresses: &[u64], bytes: u64) -> u64 {
    // Mostly one: no need to remember more than that.
    let mut only = [0; BANKS];
    for &address in addresses {
        let mut word = address / WORD_BYTES;
        while word * WORD_BYTES < address + bytes {
            let served = &mut only[word as usize % BANKS];
            if *served != 0 && *served != word + 1 {
                return passes_in_conflict(addresses, bytes);
            }
            *served = word + 1;
            word += 1;
        }
    }
    u64::from(!addresses.is_empty())
}

fn passes_in_conflict(addresses: &[u64], bytes: u64) -> u64 {
    let mut words: [[u64; 32]; BANKS] = [[0; 32]; BANKS];
    let mut counts = [0_usize; BANKS];
    for &address in addresses {
        let mut word = address / WORD_BYTES;
        while word * WORD_BYTES < address + bytes {
            let bank = word as usize % BANKS;
            let count = counts[bank];
            if count < 32 && !words[bank][..count].contains(&word) {
                words[bank][count] = word;
                counts[bank] += 1;
            }
            word += 1;
        }
    }
    counts.into_iter().max().unwrap_or(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: u64, address: impl Fn(u64) -> u64) -> u64 {
        among(u32::MAX, bytes, address).taken
    }

    fn among(lanes: u32, bytes: u64, address: impl Fn(u64) -> u64) -> Wavefronts {
        let addresses: Vec<u64> = bits(lanes).map(|lane| address(lane as u64)).collect();
        wavefronts(lanes, bytes, &addresses)
    }

    #[test]
    fn textbook_patterns() {
        assert_eq!(of(4, |lane| 4 * lane), 1, "a row");
        assert_eq!(of(4, |_| 40), 1, "broadcast");
        assert_eq!(of(4, |lane| 4 * (lane / 2)), 1, "two lanes want the same word");
        for (stride, passes) in [(2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1)] {
            assert_eq!(of(4, |lane| 4 * stride * lane), passes, "stride {stride}");
        }
        assert_eq!(of(1, |lane| lane), 1, "bytes of the same words");
        assert_eq!(among(u32::MAX, 4, |lane| 128 * lane), Wavefronts { taken: 32, least: 1 });
        assert_eq!(wavefronts(0, 4, &[]), Wavefronts::default());
    }

    #[test]
    fn wide_accesses_take_turns() {
        for (bytes, turns) in [(8, 2), (16, 4)] {
            assert_eq!(
                among(u32::MAX, bytes, |lane| bytes * lane),
                Wavefronts { taken: turns, least: turns }
            );
        }
        assert_eq!(of(8, |lane| 16 * lane), 4);
        assert_eq!(among(0xffff, 8, |lane| 8 * lane), Wavefronts { taken: 1, least: 1 }, "half a warp");
    }

    #[test]
    fn turns_become_one_where_pairs_of_lanes_share() {
        assert_eq!((of(8, |_| 8), of(16, |_| 16)), (1, 2), "broadcast");
        assert_eq!((of(8, |lane| 8 * (lane / 2)), of(16, |lane| 16 * (lane / 2))), (1, 2), "neighbours");
        assert_eq!(of(8, |lane| 8 * (lane / 4 * 2 + lane % 2)), 1, "every other");
        assert_eq!(of(8, |lane| 8 * (lane % 16)), 2, "the same, but in the other half");
        // The lanes of a tree: what halves want lies in the same banks, and is a conflict where it was one turn.
        let conflict = Wavefronts { taken: 2, least: 1 };
        assert_eq!(among(0x0303_0303, 8, |lane| 8 * lane), conflict);
        assert_eq!(among(0x5555_5555, 8, |lane| 8 * lane), conflict);
        assert_eq!(among(0x0f0f_0f0f, 8, |lane| 8 * lane), Wavefronts { taken: 2, least: 2 });
        assert_eq!(among(0x0000_ffff, 8, |lane| 256 * lane), Wavefronts { taken: 16, least: 1 });
    }
}

//! What one warp instruction asks of shared memory: 32 banks of 4 bytes each serve one word at a time.

/// Banks of shared memory, each 4 bytes wide.
pub(crate) const BANKS: usize = 32;
const WORD_BYTES: u64 = 4;

/// Passes over shared memory that an instruction takes, whose lanes touch so many bytes at these places of it. In one pass every
/// bank serves one word, to all lanes that want it. Of wider accesses lanes take turns: halves of a warp for 8 bytes, quarters for
/// 16; but where the whole warp wants no two words of a bank, one pass serves it.
pub(crate) fn wavefronts(lanes: u32, bytes: u64, addresses: &[u64]) -> u64 {
    let words = bytes.div_ceil(WORD_BYTES).max(1);
    let whole = passes(addresses, bytes);
    if words == 1 || whole == 1 {
        return whole;
    }
    let lanes_at_once = (BANKS as u64 / words).max(1) as u32;
    let (mut sum, mut next) = (0, 0);
    for first in (0..32).step_by(lanes_at_once as usize) {
        let turn = if lanes_at_once == 32 { u32::MAX } else { ((1 << lanes_at_once) - 1) << first };
        let count = (lanes & turn).count_ones() as usize;
        sum += passes(&addresses[next..next + count], bytes);
        next += count;
    }
    sum
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

/// Passes without conflicts: as many bytes at a time as all banks have.
pub(crate) fn least_wavefronts(bytes: u64, addresses: &[u64]) -> u64 {
    let rising = addresses.windows(2).all(|pair| pair[0] < pair[1]);
    let is_new = |index: &usize| rising || !addresses[..*index].contains(&addresses[*index]);
    let distinct = (0..addresses.len()).filter(is_new).count() as u64;
    (distinct * bytes).div_ceil(BANKS as u64 * WORD_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: u64, address: impl Fn(u64) -> u64) -> u64 {
        let addresses: Vec<u64> = (0..32).map(address).collect();
        wavefronts(u32::MAX, bytes, &addresses)
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
    }

    #[test]
    fn wide_accesses_take_turns() {
        assert_eq!(of(8, |lane| 8 * lane), 2);
        assert_eq!(of(16, |lane| 16 * lane), 4);
        assert_eq!(of(8, |_| 8), 1, "broadcast");
        assert_eq!(of(8, |lane| 16 * lane), 4);
        assert_eq!(
            wavefronts(0xffff, 8, &(0..16).map(|lane| 8 * lane).collect::<Vec<_>>()),
            1,
            "half a warp"
        );
    }

    #[test]
    fn conflicts_are_what_is_beyond_the_least() {
        let row: Vec<u64> = (0..32).map(|lane| 8 * lane).collect();
        assert_eq!(least_wavefronts(8, &row), 2);
        assert_eq!(least_wavefronts(4, &[0; 32]), 1);
    }
}

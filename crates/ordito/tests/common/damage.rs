//! Files as they should not be: what was written well, with some of its bytes changed.

/// Numbers that follow from a seed.
pub(crate) struct Random(u64);

impl Random {
    /// Other numbers with every `ORDITO_MUTATION_SEED`, so that several processes can look at the same time.
    pub(crate) fn new(seed: u64) -> Self {
        let chosen =
            std::env::var("ORDITO_MUTATION_SEED").ok().map_or(0, |text| text.parse::<u64>().unwrap());
        Random(seed ^ chosen.wrapping_mul(0xd6e8_feb8_6659_fd93))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(crate) fn choose<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// What breaks readers: limits of number types, things that are no numbers, marks of other formats, control characters.
const HOSTILE: &[&[u8]] = &[
    b"0",
    b"-1",
    b"1",
    b"2147483647",
    b"2147483648",
    b"4294967296",
    b"9223372036854775807",
    b"18446744073709551615",
    b"18446744073709551616",
    b"1e308",
    b"1e309",
    b"-1e-400",
    b"nan",
    b"inf",
    b"0x10",
    b"1e",
    b".",
    b"\n",
    b"\r\n",
    b" ",
    b"\t",
    b",",
    b"%",
    b"#",
    b"\0",
    b"\x1b[2J",
    b"\xff\xfe",
    b"\xe2\x80\xae",
    b"\x1f\x8b",
    b"\x93NUMPY",
    b"%%MatrixMarket matrix coordinate real general\n",
    b"symmetric",
    b"skew-symmetric",
    b"pattern",
    b"complex",
    b"array",
    b"True",
    b"(18446744073709551615, 0)",
    b"{\"",
];

/// Changes one to three places of `bytes`: bits, cuts, copies, hostile words, pieces of other files.
pub(crate) fn damage(bytes: &mut Vec<u8>, random: &mut Random, others: &[Vec<u8>]) {
    for _ in 0..random.below(4).max(1) {
        let at = random.below(bytes.len() + 1);
        let end = (at + 1 + random.below(16)).min(bytes.len());
        match random.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 => bytes.truncate(at),
            2 if at < end => drop(bytes.drain(at..end)),
            3 if at < end => {
                let piece = bytes[at..end].to_vec();
                let copies = 1 + random.below(200);
                bytes.splice(at..at, piece.repeat(copies));
            }
            4 => {
                let other = random.choose(others).clone();
                let from = random.below(other.len() + 1);
                bytes.splice(at..end.max(at), other[from..].iter().copied().take(64));
            }
            5 => {
                // In place of a word, so that a field of a line is hit whole.
                let is_word = |byte: &u8| !byte.is_ascii_whitespace();
                let start = at - bytes[..at].iter().rev().take_while(|byte| is_word(byte)).count();
                let end = at + bytes[at..].iter().take_while(|byte| is_word(byte)).count();
                bytes.splice(start..end, random.choose(HOSTILE).iter().copied());
            }
            _ => drop(bytes.splice(at..at, random.choose(HOSTILE).iter().copied())),
        }
    }
}

/// What every error must be: one line that a terminal can show.
pub(crate) fn is_one_plain_line(message: &str) -> bool {
    !message.is_empty() && !message.chars().any(char::is_control)
}

//! Names for what is kept in the cache folder: a hash of all that it depends on.

use hmac_sha256::Hash;

/// SHA-256 over everything that the result depends on: pieces are length-prefixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key([u8; 32]);

impl Key {
    /// The key of these pieces in this order.
    pub(crate) fn of(pieces: &[&[u8]]) -> Key {
        let mut hash = Hash::new();
        for piece in pieces {
            // With its length before it, `["ab", "c"]` and `["a", "bc"]` differ.
            hash.update((piece.len() as u64).to_le_bytes());
            hash.update(piece);
        }
        Key(hash.finalize())
    }

    /// The 32 bytes of the hash.
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// 64 hexadecimal digits: the name of the file.
    pub(crate) fn to_hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_depend_on_every_piece_and_on_where_it_ends() {
        let keys = [
            Key::of(&[b"ab", b"c"]),
            Key::of(&[b"a", b"bc"]),
            Key::of(&[b"abc"]),
            Key::of(&[b"c", b"ab"]),
            Key::of(&[b"ab", b"c", b""]),
            Key::of(&[]),
        ];
        for (i, key) in keys.iter().enumerate() {
            assert!(!keys[..i].contains(key), "{i}");
            assert_eq!(key.to_hex().len(), 64);
        }
        assert_eq!(Key::of(&[b"ab", b"c"]), keys[0]);
    }
}

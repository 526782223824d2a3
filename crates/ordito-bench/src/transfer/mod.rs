//! Bytes from the host to the device and back: what a product on a GPU costs before and after it is computed.
//!
//! Timed by the wall clock: a copy is over when the caller may go on, staging of pageable memory included.

mod copy;

use crate::check::Save;
use crate::transfer::copy::{
    Copy, PAGEABLE_DOWNLOAD, PAGEABLE_UPLOAD, PINNED_DOWNLOAD, PINNED_UPLOAD, STAGED_DOWNLOAD, STAGED_UPLOAD,
};
use ordito::files::{WriteError, write_atomically};
use ordito::machine::{Accelerator, Interrupt, Interrupted, Machine};
use ordito::op::{Choice, Cost, Extent, Observed, Op, Prepared, Reference, Variant};
use std::path::Path;
use std::sync::Arc;

/// The operation.
#[derive(Debug)]
pub struct Transfer;

/// What was found at the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrived(pub Vec<u8>);

impl Op for Transfer {
    const NAME: &'static str = "transfer";
    const ABOUT: &'static str = "host → device and device → host: pageable against pinned memory";
    /// How many bytes.
    type Subject = usize;
    /// Which ones.
    type Inputs = Arc<Vec<u8>>;
    type Output = Arrived;
    type Ready = dyn Prepared<Self>;

    fn variants() -> &'static [&'static dyn Variant<Self>] {
        &[
            &PAGEABLE_UPLOAD,
            &STAGED_UPLOAD,
            &PINNED_UPLOAD,
            &PAGEABLE_DOWNLOAD,
            &STAGED_DOWNLOAD,
            &PINNED_DOWNLOAD,
        ]
    }

    fn choose(machine: &Machine, _: &usize) -> Choice {
        if machine.accelerator() == Accelerator::Emulator {
            return Choice::new(&PAGEABLE_UPLOAD.description, "the emulator pins no memory");
        }
        Choice::new(
            &PINNED_UPLOAD.description,
            "pinned memory needs no staging copy; operands go up before anything comes down",
        )
    }

    fn cost(&bytes: &usize) -> Cost {
        Cost { least_bytes: bytes as u64, ..Cost::default() }
    }

    /// Bytes arrive unchanged.
    fn oracle(_: &usize, sent: &Arc<Vec<u8>>, _: Extent, _: &Interrupt) -> Result<Reference, Interrupted> {
        Ok(Reference { structure: digests(sent), ..Reference::default() })
    }
}

impl Save for Transfer {
    fn save(_: &usize, sent: &Arc<Vec<u8>>, arrived: &Arrived, folder: &Path) -> Result<(), WriteError> {
        write_atomically(&folder.join("sent.bin"), |file| file.write_all(sent))?;
        write_atomically(&folder.join("arrived.bin"), |file| file.write_all(&arrived.0))
    }
}

/// Does the variant of that name take bytes to the device?
pub(crate) fn is_upload(name: &str) -> bool {
    let uploads: [&Copy; 3] = [&PAGEABLE_UPLOAD, &STAGED_UPLOAD, &PINNED_UPLOAD];
    Transfer::variant(name)
        .is_some_and(|variant| uploads.iter().any(|upload| upload.description == *variant.describe()))
}

impl Observed for Arrived {
    fn structure(&self) -> Vec<u64> {
        digests(&self.0)
    }
    fn rows(&self) -> usize {
        0
    }
    fn cols(&self) -> usize {
        0
    }
    fn copy_row(&self, _: usize, _: &mut [f64]) {}
    fn fact(&self, fact: u64) -> String {
        format!("{fact} (how many bytes, or a digest of {CHUNK} of them)")
    }
}

const CHUNK: usize = 65536;

/// The number of bytes, and a digest of every 64 KiB: a fault is found, and found where it is, without a second copy
/// of everything.
fn digests(bytes: &[u8]) -> Vec<u64> {
    let digest = |chunk: &[u8]| {
        chunk.chunks(8).fold(0xcbf2_9ce4_8422_2325u64, |hash, word| {
            let mut whole = [0; 8];
            whole[..word.len()].copy_from_slice(word);
            (hash.rotate_left(5) ^ u64::from_le_bytes(whole)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        })
    };
    std::iter::once(bytes.len() as u64).chain(bytes.chunks(CHUNK).map(digest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_changes_a_digest() {
        let mut bytes: Vec<u8> = (0..200_001u32).map(|i| (i * 7 % 251) as u8).collect();
        let whole = digests(&bytes);
        assert_eq!((whole[0], whole.len()), (200_001, 1 + 4));
        for at in [0, 7, 65_535, 65_536, 199_999, 200_000] {
            bytes[at] ^= 1;
            let changed = digests(&bytes);
            let differ = whole.iter().zip(&changed).position(|(a, b)| a != b);
            assert_eq!(differ, Some(1 + at / CHUNK));
            bytes[at] ^= 1;
        }
        assert_ne!(digests(&bytes[..200_000]), whole);
    }
}

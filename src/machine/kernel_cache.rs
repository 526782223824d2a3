//! Compiled kernels on disk: found again by everything that went into them.

use super::cache_dir;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// A folder of compiled kernels; without a folder nothing is kept.
#[derive(Debug)]
pub(crate) struct KernelCache {
    folder: Option<PathBuf>,
}

/// What a compiled kernel is found by.
#[derive(Debug)]
pub(crate) struct Key([u8; 32]);

impl Key {
    /// Of everything that goes into a compilation. Lengths are hashed too, so that pieces cannot run together.
    pub(crate) fn of(pieces: &[&[u8]]) -> Key {
        let mut hash = Sha256::new();
        for piece in pieces {
            hash.update((piece.len() as u64).to_le_bytes());
            hash.update(piece);
        }
        Key(hash.finalize().into())
    }

    fn file_name(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl KernelCache {
    /// The cache of one kind of compiled kernels.
    pub(crate) fn open(kind: &str) -> Self {
        let folder = cache_dir().map(|folder| folder.join(kind));
        KernelCache { folder: folder.filter(|folder| fs::create_dir_all(folder).is_ok()) }
    }

    /// The bytes that were put there, if they are whole.
    pub(crate) fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let mut bytes = fs::read(self.folder.as_ref()?.join(key.file_name())).ok()?;
        let checksum = bytes.split_off(bytes.len().checked_sub(32)?);
        (Sha256::digest(&bytes)[..] == checksum[..]).then_some(bytes)
    }

    /// Keeps them. A cache is never worth an error.
    pub(crate) fn put(&self, key: &Key, bytes: &[u8]) {
        let Some(folder) = &self.folder else { return };
        let write = || -> std::io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(bytes)?;
            file.write_all(&Sha256::digest(bytes))?;
            file.persist(folder.join(key.file_name()))?;
            Ok(())
        };
        let _ = write();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_files_come_back_and_damaged_ones_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = KernelCache { folder: Some(folder.path().into()) };
        let key = Key::of(&[b"a", b"bc"]);
        assert_ne!(key.0, Key::of(&[b"ab", b"c"]).0);
        assert_eq!(cache.get(&key), None);
        cache.put(&key, b"code");
        assert_eq!(cache.get(&key).unwrap(), b"code");
        fs::write(folder.path().join(key.file_name()), b"damaged").unwrap();
        assert_eq!(cache.get(&key), None);
        KernelCache { folder: None }.put(&key, b"code");
    }
}

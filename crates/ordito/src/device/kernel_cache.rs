//! Compiled kernels on disk, so that each is compiled once and not once per process.

use crate::files::{Key, cache_folder, note_unused, read_own, write_own};
use hmac_sha256::Hash;
use std::path::PathBuf;

/// First bytes of every entry. A new layout takes a new one, and old entries are then no entries.
const MAGIC: &[u8; 8] = b"ordito1\n";
/// Before the content: the magic, the key, the checksum of the content.
const HEAD_BYTES: usize = MAGIC.len() + 32 + 32;

/// Compiled kernels on disk. An entry is only taken when nobody else can have written it, for it is run, and when its checksum
/// holds; a cache that cannot be written is no error.
#[derive(Debug)]
pub(crate) struct KernelCache {
    folder: Option<PathBuf>,
}

impl KernelCache {
    /// The cache of one kind of compiled kernels: the folder `kind` in the cache folder.
    pub(crate) fn open(kind: &str) -> Self {
        KernelCache { folder: cache_folder(kind) }
    }

    /// What was put under this key, whole and unchanged; else `None`.
    pub(crate) fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.path(key)?;
        let distrusted = |why: String| note_unused(&format!("{}: {why}", path.display()));
        let mut entry = read_own(&path).map_err(distrusted).ok()??;
        let (magic, rest) = entry.split_at_checked(MAGIC.len())?;
        let (of_key, rest) = rest.split_at_checked(32)?;
        let (checksum, content) = rest.split_at_checked(32)?;
        if magic != MAGIC || of_key != key.bytes() || checksum != sha256(content) {
            return None;
        }
        entry.drain(..HEAD_BYTES);
        Some(entry)
    }

    /// Keeps `bytes`, where that is possible.
    pub(crate) fn put(&self, key: &Key, bytes: &[u8]) {
        let Some(path) = self.path(key) else { return };
        let entry = [MAGIC.as_slice(), key.bytes(), &sha256(bytes), bytes].concat();
        let _ = write_own(&path, &entry); // a cache is never worth an error
    }

    fn path(&self, key: &Key) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(key.to_hex()))
    }
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    Hash::hash(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn entries_come_back_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let cache = KernelCache { folder: Some(folder.path().to_owned()) };
        let (key, other) = (Key::of(&[b"kernel"]), Key::of(&[b"other"]));
        assert_eq!(cache.get(&key), None);
        cache.put(&key, b"machine code");
        assert_eq!(cache.get(&key).as_deref(), Some(b"machine code".as_slice()));
        assert_eq!(cache.get(&other), None);
        cache.put(&other, b"");
        assert_eq!(cache.get(&other).as_deref(), Some(b"".as_slice()));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);

        let path = cache.path(&key).unwrap();
        let whole = fs::read(&path).unwrap();
        for cut in [0, 7, 8, 40, 71, 72, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(cache.get(&key), None, "{cut} bytes");
        }
        for byte in [0, 10, 50, 75] {
            let mut damaged = whole.clone();
            damaged[byte] ^= 1;
            fs::write(&path, damaged).unwrap();
            assert_eq!(cache.get(&key), None, "byte {byte}");
        }
        fs::copy(cache.path(&other).unwrap(), &path).unwrap();
        assert_eq!(cache.get(&key), None, "the entry of another key");
        cache.put(&key, b"again");
        assert_eq!(cache.get(&key).as_deref(), Some(b"again".as_slice()));
    }

    #[test]
    fn without_a_folder_nothing_is_kept_and_nothing_fails() {
        let key = Key::of(&[b"kernel"]);
        for folder in [None, Some(PathBuf::from("/no/such/folder"))] {
            let cache = KernelCache { folder };
            cache.put(&key, b"machine code");
            assert_eq!(cache.get(&key), None);
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_others_can_write_is_not_run() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
        let folder = tempfile::tempdir().unwrap();
        let cache = KernelCache { folder: Some(folder.path().to_owned()) };
        let key = Key::of(&[b"kernel"]);
        cache.put(&key, b"machine code");
        let path = cache.path(&key).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let set_mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        set_mode(0o666);
        assert_eq!(cache.get(&key), None);
        let notes = crate::files::take_cache_notes();
        assert!(notes.iter().any(|note| note.contains(&key.to_hex()) && note.contains("others may write")));
        cache.put(&key, b"machine code"); // in its place
        assert!(cache.get(&key).is_some());
        if fs::metadata(&path).unwrap().uid() != 0 {
            return println!("not tried: files of another user, which only root can make");
        }
        chown(&path, Some(65534), None).unwrap();
        assert_eq!(cache.get(&key), None);
    }
}

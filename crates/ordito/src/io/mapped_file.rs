//! A file in memory, of which a part may go away: the system sends SIGBUS to whoever looks at a page that another program has
//! cut off, or that the disk does not give. Here such a page becomes one of zeros, and the mapping says that it was cut.
//!
//! (Reading files instead would need no such care, and takes 1.1 to 1.8 times as long, measured on texts of 200 and 300 MB that the
//! system has in memory: copying them takes about as long as making numbers of them.)

/// A file mapped into memory, watched, and shared by whoever holds it.
#[derive(Clone)]
pub(super) struct MappedFile(imp::Shared);

impl MappedFile {
    /// `None` where the file cannot be mapped, or the mapping not be watched: then it is read.
    pub(super) fn new(file: &std::fs::File) -> Option<Self> {
        imp::map(file).map(MappedFile)
    }
    /// Did a part of it go away? There are zeros in its place then.
    pub(super) fn is_cut(&self) -> bool {
        imp::is_cut(&self.0)
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        imp::bytes(&self.0)
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
mod imp {
    use crate::io::watched_ranges::Watched;
    use memmap2::Mmap;
    use std::fs::File;
    use std::sync::Arc;

    pub(super) type Shared = Arc<Mapping>;

    pub(super) struct Mapping {
        /// First: fields are dropped in this order, and memory is watched as long as it is mapped.
        watched: Watched,
        map: Mmap,
        file: File,
    }

    pub(super) fn map(file: &File) -> Option<Shared> {
        let file = file.try_clone().ok()?;
        // SAFETY: the bytes are only looked at, never taken as valid text or as a length. As with every mapping, another
        // process may write to the file meanwhile: then rows are missing or wrong, and the reader, which checks every
        // index against the mapping's length, reports a fault. When one shortens the file, zeros take the place of what is gone.
        let map = unsafe { Mmap::map(&file) }.ok()?;
        // SAFETY: the mapping is read only, and `Mapping` keeps it as long as it is watched.
        let watched = unsafe { Watched::new(map.as_ptr_range()) }?;
        Some(Arc::new(Mapping { watched, map, file }))
    }
    /// Of the page in which the file ends now no signal comes: what was behind that end reads as zeros.
    pub(super) fn is_cut(mapping: &Shared) -> bool {
        let is_shorter = |now: std::fs::Metadata| now.len() < mapping.map.len() as u64;
        mapping.watched.is_cut() || mapping.file.metadata().is_ok_and(is_shorter)
    }
    pub(super) fn bytes(mapping: &Shared) -> &[u8] {
        &mapping.map
    }
}

/// Elsewhere nobody watches, and files are read.
// Miri knows no mapped files.
#[cfg(any(not(target_os = "linux"), miri))]
mod imp {
    pub(super) type Shared = std::convert::Infallible;

    pub(super) fn map(_: &std::fs::File) -> Option<Shared> {
        None
    }
    pub(super) fn is_cut(mapping: &Shared) -> bool {
        match *mapping {}
    }
    pub(super) fn bytes(mapping: &Shared) -> &[u8] {
        match *mapping {}
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;
    use std::fs::{self, File};

    #[test]
    fn what_is_cut_off_becomes_zeros_and_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, vec![7; 100_000]).unwrap();
        let [whole, cut] = [0, 1].map(|_| MappedFile::new(&File::open(&path).unwrap()).unwrap());
        let threads: Vec<_> = (0..3).map(|_| cut.clone()).collect();
        assert!(whole.as_ref() == vec![7; 100_000] && !whole.is_cut());
        File::options().write(true).open(&path).unwrap().set_len(10_000).unwrap();
        std::thread::scope(|scope| {
            for map in threads {
                scope.spawn(move || {
                    let bytes = map.as_ref();
                    assert_eq!((bytes.len(), bytes[9_999], bytes[99_999]), (100_000, 7, 0));
                });
            }
        });
        assert!(cut.is_cut());
        assert_eq!(whole.as_ref().iter().map(|&byte| usize::from(byte)).sum::<usize>(), 70_000);
        assert!(whole.is_cut());
        drop((whole, cut));
        fs::write(&path, "again").unwrap();
        let again = MappedFile::new(&File::open(&path).unwrap()).unwrap();
        assert!(again.as_ref() == b"again" && !again.is_cut());
        fs::write(&path, "ag").unwrap();
        assert!(again.as_ref() == b"ag\0\0\0" && again.is_cut(), "within a page");
    }
}

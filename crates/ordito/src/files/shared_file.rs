//! A file that several processes write together, each a range of it; it appears whole or not at all.

use crate::files::target::Target;
use crate::files::temporary::Temporary;
use crate::files::write_error::WriteError;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// What one of them holds. Dropped before [`finish`](SharedFile::finish), it leaves nothing behind, and the old file as it was.
#[derive(Debug)]
pub struct SharedFile {
    path: PathBuf,
    target: Target,
    temporary: Temporary,
}

impl SharedFile {
    /// A temporary file of so many bytes beside `path`. Refused is what [`write_atomically`](crate::files::write_atomically) refuses, and what is no regular file: it has
    /// no ranges.
    pub fn create(path: &Path, bytes: u64) -> Result<Self, WriteError> {
        let io = |reason: io::Error| WriteError::Io { path: path.to_owned(), reason };
        let target = Target::find(path)?;
        if let Target::Device(_) = target {
            return Err(io(io::Error::other("it is no regular file, which several could write together")));
        }
        let temporary = Temporary::beside(target.path()).map_err(io)?;
        target.keep_owner(temporary.as_file()).map_err(|_| WriteError::NotOurs { path: path.to_owned() })?;
        temporary.as_file().set_len(bytes).map_err(io)?;
        Ok(SharedFile { path: path.to_owned(), target, temporary })
    }

    /// Where the others find it: for [`open_shared_file`].
    pub fn temporary_path(&self) -> &Path {
        self.temporary.path()
    }

    /// Everything is in it: gives it its name, when the disk has it.
    pub fn finish(self) -> Result<(), WriteError> {
        let io = |reason: io::Error| WriteError::Io { path: self.path.clone(), reason };
        self.temporary.as_file().sync_all().map_err(io)?;
        self.target.keep_mode(self.temporary.as_file()).map_err(io)?;
        self.temporary.rename(self.target.path()).map_err(io)
    }
}

/// Opens what another process has made, to write a range of it. It must be there, and no link.
pub fn open_shared_file(temporary_path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW);
    options.open(temporary_path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::{Seek, SeekFrom, Write};

    #[test]
    fn it_appears_when_all_is_in_it_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result");
        fs::write(&path, "old").unwrap();
        drop(SharedFile::create(&path, 6).unwrap());
        assert_eq!((fs::read(&path).unwrap(), fs::read_dir(&folder).unwrap().count()), (b"old".to_vec(), 1));
        let shared = SharedFile::create(&path, 6).unwrap();
        for (at, text) in [(3, b"def"), (0, b"abc")] {
            let mut file = open_shared_file(shared.temporary_path()).unwrap();
            file.seek(SeekFrom::Start(at)).unwrap();
            file.write_all(text).unwrap();
        }
        assert_eq!(fs::read(&path).unwrap(), b"old");
        shared.finish().unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), fs::read_dir(&folder).unwrap().count()),
            (b"abcdef".to_vec(), 1)
        );
        assert!(SharedFile::create(folder.path(), 6).is_err());
        assert!(open_shared_file(&folder.path().join("none")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_links_are_refused() {
        let fault = SharedFile::create(Path::new("/dev/null"), 6).unwrap_err().to_string();
        assert!(fault.contains("no regular file"), "{fault}");
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(open_shared_file(&file).is_ok() && open_shared_file(&link).is_err());
    }
}

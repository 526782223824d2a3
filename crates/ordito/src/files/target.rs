//! Where a file goes: what is there already, and what of it the new file keeps.

use crate::files::temporary;
use crate::files::write_error::WriteError;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// What a path leads to.
#[derive(Debug)]
pub(crate) enum Target {
    /// Nothing yet.
    New(PathBuf),
    /// A regular file, links followed.
    #[cfg_attr(not(unix), allow(dead_code))] // only there its owner and mode are kept
    Old(PathBuf, Metadata),
    /// What cannot be replaced and is written to directly: `/dev/null`, a pipe.
    Device(PathBuf),
}

/// Can a file be written here, in place of what may be there? To be asked before hours are spent on its content.
///
/// ```
/// use ordito::files::check_writable;
/// assert!(check_writable(std::env::temp_dir().join("result.npy").as_ref()).is_ok());
/// assert!(check_writable("/no/such/folder/result.npy".as_ref()).is_err());
/// ```
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    let io = |reason: io::Error| WriteError::Io { path: path.to_owned(), reason };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(WriteError::NoFolder { path: path.to_owned(), folder: folder.to_owned() });
    }
    match Target::find(path)? {
        Target::Device(_) => Ok(()), // a pipe may have no reader yet
        // What makes the file also finds out whether it can be made.
        target @ (Target::New(_) | Target::Old(..)) => {
            let temporary = temporary::Temporary::beside(target.path()).map_err(io)?;
            target.keep_owner(temporary.as_file()).map_err(|_| WriteError::NotOurs { path: path.to_owned() })
        }
    }
}

impl Target {
    /// Looks what is there, and refuses what must not be replaced.
    pub(crate) fn find(path: &Path) -> Result<Self, WriteError> {
        let io = |reason: io::Error| WriteError::Io { path: path.to_owned(), reason };
        let found = match fs::metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Target::absent(path),
            Err(error) => return Err(io(error)),
        };
        if found.is_dir() {
            return Err(io(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")));
        }
        if !found.is_file() {
            return Ok(Target::Device(path.to_owned()));
        }
        // A rename asks nobody whether the old file may be written. To root every file may be: its mode is what its owner meant.
        let opened = OpenOptions::new().write(true).open(path);
        match opened {
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => Err(io(error)),
            Ok(_) if !found.permissions().readonly() => {
                Ok(Target::Old(fs::canonicalize(path).map_err(io)?, found))
            }
            _ => Err(WriteError::ReadOnly { path: path.to_owned() }),
        }
    }

    fn absent(path: &Path) -> Result<Self, WriteError> {
        match fs::read_link(path) {
            Ok(to) => Err(WriteError::DanglingLink { path: path.to_owned(), to }),
            Err(_) => Ok(Target::New(path.to_owned())),
        }
    }

    /// Where the file itself is.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Target::New(path) | Target::Old(path, _) | Target::Device(path) => path,
        }
    }

    /// Gives the new file the owner and group of the old one.
    #[cfg(unix)]
    pub(crate) fn keep_owner(&self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::{MetadataExt, fchown};
        let Target::Old(_, old) = self else { return Ok(()) };
        let new = file.metadata()?;
        let differs = (old.uid(), old.gid()) != (new.uid(), new.gid());
        if differs { fchown(file, Some(old.uid()), Some(old.gid())) } else { Ok(()) }
    }

    /// Gives the new file the mode of the old one, or of any other new file. Only when all is in it: until then it is for
    /// us alone.
    #[cfg(unix)]
    pub(crate) fn keep_mode(&self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        const PERMISSIONS: u32 = 0o777;
        let mode = match self {
            Target::Old(_, old) => old.permissions().mode() & PERMISSIONS,
            Target::New(path) => ordinary_mode(path)?,
            Target::Device(_) => return Ok(()),
        };
        file.set_permissions(fs::Permissions::from_mode(mode))
    }

    #[cfg(not(unix))]
    pub(crate) fn keep_owner(&self, _: &File) -> io::Result<()> {
        Ok(())
    }

    #[cfg(not(unix))]
    pub(crate) fn keep_mode(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

/// What a new file's mode is here. Only making one tells: the mask of a process cannot be read without changing it, and
/// folders can have lists of their own.
#[cfg(unix)]
fn ordinary_mode(path: &Path) -> io::Result<u32> {
    use std::os::unix::fs::PermissionsExt;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let probe = tempfile::Builder::new()
        .prefix(&temporary::prefix())
        .suffix(temporary::SUFFIX)
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(|error| io::Error::from(error.kind()))?;
    Ok(probe.as_file().metadata()?.permissions().mode())
}

//! Files that appear whole or not at all.

use crate::files::write_error::WriteError;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Large enough that the system is asked rarely, small enough to stay in the L2 cache.
const BUFFER_BYTES: usize = 256 * 1024;

/// Writes to a temporary file beside `path` and renames it when `write` has succeeded: nobody ever sees half a
/// file, and a failure leaves the old one as it was. Links are followed. What is no regular file (`/dev/null`,
/// a pipe) cannot be replaced and is written to directly.
///
/// This guards against programs that stop, not against power that fails: nothing waits for the disk.
///
/// ```
/// let path = std::env::temp_dir().join(format!("ordito-example-{}.txt", std::process::id()));
/// ordito::files::write_atomically(&path, |file| writeln!(file, "all of it"))?;
/// assert_eq!(std::fs::read_to_string(&path)?, "all of it\n");
/// std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let mut write = Some(write);
    let mut write = |file: &mut dyn Write| write.take().map_or(Ok(()), |write| write(file));
    replace(path, &mut write).map_err(|reason| WriteError::Io { path: path.to_owned(), reason })
}

/// What puts the content into a file; called once.
type Fill<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

fn replace(path: &Path, write: Fill<'_>) -> io::Result<()> {
    let target = match fs::metadata(path) {
        Ok(found) if found.is_file() => fs::canonicalize(path)?,
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => return buffered(OpenOptions::new().write(true).open(path)?, write).map(drop),
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    // The library's error repeats the temporary name, which means nothing to anybody.
    let temporary = temporary_beside(&target).map_err(|error| io::Error::from(error.kind()))?;
    let unfinished = Unfinished::note(temporary.path());
    buffered(temporary, write)?.persist(&target)?;
    drop(unfinished);
    Ok(())
}

/// Temporary files that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A temporary file while it is written.
struct Unfinished(PathBuf);

impl Unfinished {
    fn note(path: &Path) -> Self {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
        Unfinished(path.to_owned())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| *path != self.0);
    }
}

/// Deletes the temporary files of writes that are under way: for a program that is told to end at once.
pub fn remove_unfinished_files() {
    for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = fs::remove_file(path); // there is nobody left to tell
    }
}

fn buffered<W: Write>(file: W, write: Fill<'_>) -> io::Result<W> {
    let mut writer = BufWriter::with_capacity(BUFFER_BYTES, file);
    write(&mut writer)?;
    writer.into_inner().map_err(io::IntoInnerError::into_error)
}

/// In the same folder, since a rename does not cross file systems.
fn temporary_beside(target: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ordito-").suffix(".part");
    #[cfg(unix)]
    {
        // Temporary files are private unless told otherwise; this one becomes an ordinary file (0666 less umask).
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result");
        fs::write(&path, "old").unwrap();
        let error = write_atomically(&path, |file| {
            file.write_all(b"half of the new")?;
            Err(io::Error::other("enough"))
        });
        assert_eq!(error.unwrap_err().to_string(), format!("cannot write {}: enough", path.display()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        write_atomically(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn folders_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_atomically(folder.path(), |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains(&folder.path().display().to_string()), "{error}");
        assert!(write_atomically(&folder.path().join("no/such/folder"), |_| Ok(())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_ordinary_links_followed_and_devices_kept() {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link, other) =
            (folder.path().join("result"), folder.path().join("link"), folder.path().join("ordinary"));
        write_atomically(&path, |file| file.write_all(b"1")).unwrap();
        fs::write(&other, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&other));
        symlink(&path, &link).unwrap();
        write_atomically(&link, |file| file.write_all(b"2")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "2");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        write_atomically(Path::new("/dev/null"), |file| file.write_all(b"3")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
}

//! Files that appear whole or not at all.

use crate::files::target::Target;
use crate::files::temporary::Temporary;
use crate::files::write_error::WriteError;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Large enough that the system is asked rarely, small enough to stay in the L2 cache.
const BUFFER_BYTES: usize = 256 * 1024;

/// Writes to a temporary file beside `path` and renames it when `write` has succeeded: nobody ever sees half a
/// file, and a failure leaves the old one as it was. Links are followed; mode and owner of an old file stay. A file that is
/// read-only is refused, and so is a link to nowhere. What is no regular file (`/dev/null`, a pipe) cannot be replaced and is
/// written to directly.
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
    replace(path, &mut write)
}

/// The same for a file that is for us alone, such as one that [`read_own`](crate::files::read_own) is to believe. Whatever has
/// the name is replaced.
pub fn write_own(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let written = Temporary::beside(path).and_then(|temporary| {
        temporary.as_file().write_all(bytes)?;
        temporary.rename(path)
    });
    written.map_err(|reason| WriteError::Io { path: path.to_owned(), reason })
}

/// What puts the content into a file; called once.
type Fill<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

fn replace(path: &Path, write: Fill<'_>) -> Result<(), WriteError> {
    let io = |reason: io::Error| WriteError::Io { path: path.to_owned(), reason };
    let target = Target::find(path)?;
    if let Target::Device(path) = &target {
        return buffered(OpenOptions::new().write(true).open(path).map_err(io)?, write).map_err(io);
    }
    let temporary = Temporary::beside(target.path()).map_err(io)?;
    target.keep_owner(temporary.as_file()).map_err(|_| WriteError::NotOurs { path: path.to_owned() })?;
    buffered(temporary.as_file(), write).map_err(io)?;
    target.keep_mode(temporary.as_file()).map_err(io)?;
    temporary.rename(target.path()).map_err(io)
}

fn buffered(file: impl Write, write: Fill<'_>) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(BUFFER_BYTES, file);
    write(&mut writer)?;
    writer.into_inner().map(drop).map_err(io::IntoInnerError::into_error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
    #[cfg(unix)]
    #[test]
    fn a_replaced_file_keeps_mode_and_owner() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result");
        for mode in [0o600, 0o640, 0o755, 0o222] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            write_atomically(&path, |file| {
                let parts = fs::read_dir(&folder)?.flatten().map(|entry| entry.path()).filter(|p| *p != path);
                let modes: Vec<u32> = parts.map(|p| fs::metadata(p).unwrap().mode() & 0o777).collect();
                assert_eq!(modes, [0o600], "while it is written");
                file.write_all(b"new")
            })
            .unwrap();
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, mode);
            fs::remove_file(&path).unwrap();
        }
        fs::write(&path, "old").unwrap();
        if fs::metadata(&path).unwrap().uid() != 0 {
            return println!("not tried: files of another user, which only root can make");
        }
        chown(&path, Some(65534), Some(65533)).unwrap();
        write_atomically(&path, |file| file.write_all(b"new")).unwrap();
        let found = fs::metadata(&path).unwrap();
        assert_eq!((found.uid(), found.gid(), found.len()), (65534, 65533, 3));
    }

    #[cfg(unix)]
    #[test]
    fn read_only_files_and_links_to_nowhere_are_refused_and_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link, nowhere) =
            (folder.path().join("result"), folder.path().join("link"), folder.path().join("nowhere"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        symlink(&nowhere, &link).unwrap();
        for (path, why) in [(&path, "it is read-only"), (&link, "does not exist")] {
            for error in [
                write_atomically(path, |file| file.write_all(b"new")).unwrap_err(),
                crate::files::check_writable(path).unwrap_err(),
            ] {
                let text = error.to_string();
                assert!(text.contains(why) && text.contains(&path.display().to_string()), "{text}");
            }
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink() && !nowhere.exists());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    }
}

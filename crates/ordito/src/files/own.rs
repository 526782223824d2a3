//! Files that nobody else can have written. What is kept to be loaded and run must be one of these: whoever could write
//! to it would run as us.

use crate::files::write_error::printable;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Makes the folder, for us alone, where there is none.
pub(crate) fn make_own_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Can only we put files into this folder? A sentence where others can.
pub(crate) fn check_own_folder(path: &Path) -> Result<(), String> {
    let found = std::fs::metadata(path).map_err(|error| error.to_string())?;
    check_owner(&found, "700").map_err(|why| format!("{}: {why}", printable(path)))
}

/// The bytes of a regular file that belongs to us and that nobody else may write; `None` where there is no such file. A
/// sentence where it may be of somebody else: what is then in it must not be believed. Links are not followed, and a pipe is
/// not waited for.
pub fn read_own(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(explain(&error)),
    };
    // Of what is open, not of the name: that may mean another file by now.
    let found = file.metadata().map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("it is no regular file; remove it".into());
    }
    check_owner(&found, "600")?;
    let mut bytes = Vec::new();
    { file }.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(Some(bytes))
}

/// Opens without waiting: for a pipe that nobody writes to, that would be for ever.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    options.open(path)
}

#[cfg(unix)]
fn explain(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ELOOP) => "it is a link; remove it".into(),
        _ => error.to_string(),
    }
}

#[cfg(not(unix))]
fn explain(error: &io::Error) -> String {
    error.to_string()
}

/// `mode` is what `chmod` should make of it.
#[cfg(unix)]
fn check_owner(found: &Metadata, mode: &str) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    /// Write permissions of the group and of everybody else.
    const OF_OTHERS: u32 = 0o022;
    // SAFETY: takes nothing, writes nothing, cannot fail.
    let us = unsafe { libc::geteuid() };
    if found.uid() != us {
        return Err(format!(
            "it belongs to user {}, we are user {us}; remove it or use another",
            found.uid()
        ));
    }
    match found.mode() & OF_OTHERS {
        0 => Ok(()),
        _ => Err(format!("others may write to it; `chmod {mode}` it if you trust what is in it")),
    }
}

#[cfg(not(unix))]
fn check_owner(_: &Metadata, _: &str) -> Result<(), String> {
    Ok(()) // folders of a user are closed to others there
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn only_regular_files_that_nobody_else_writes_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kernel");
        assert_eq!(read_own(&path), Ok(None));
        fs::write(&path, "code").unwrap();
        for (mode, is_ours) in
            [(0o600, true), (0o644, true), (0o400, true), (0o620, false), (0o602, false), (0o666, false)]
        {
            set_mode(&path, mode);
            let read = read_own(&path);
            assert_eq!(read == Ok(Some(b"code".to_vec())), is_ours, "{mode:o}: {read:?}");
            assert!(is_ours || read.unwrap_err().contains("others may write"));
        }
        set_mode(&path, 0o600);
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(read_own(&link).unwrap_err().contains("a link"));
        assert!(read_own(folder.path()).unwrap_err().contains("no regular file"));
        if fs::metadata(&path).unwrap().uid() != 0 {
            return println!("not tried: files of another user, which only root can make");
        }
        chown(&path, Some(65534), None).unwrap();
        let why = read_own(&path).unwrap_err();
        assert_eq!(why, "it belongs to user 65534, we are user 0; remove it or use another");
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let (done, is_done) = std::sync::mpsc::channel();
        std::thread::spawn(move || done.send(read_own(&pipe)));
        let read = is_done.recv_timeout(std::time::Duration::from_secs(20)).expect("waits for a pipe");
        assert_eq!(read, Err("it is no regular file; remove it".into()));
    }

    #[test]
    fn folders_are_made_for_us_alone_and_checked() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("one/two");
        make_own_folder(&cache).unwrap();
        assert_eq!(fs::metadata(&cache).unwrap().mode() & 0o777, 0o700);
        assert_eq!(check_own_folder(&cache), Ok(()));
        for mode in [0o770, 0o702, 0o777, 0o1777] {
            set_mode(&cache, mode);
            assert!(check_own_folder(&cache).unwrap_err().contains("others may write"), "{mode:o}");
        }
        set_mode(&cache, 0o755);
        make_own_folder(&cache).unwrap();
        assert_eq!(check_own_folder(&cache), Ok(()));
    }
}

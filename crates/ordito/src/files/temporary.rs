//! Temporary files: beside the file that they become, for us alone until then; and folders for what a compiler needs. Those of
//! processes that died are swept up.

use crate::files::own;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tempfile::NamedTempFile;

const PREFIX: &str = ".ordito-";
pub(crate) const SUFFIX: &str = ".part";
#[cfg(feature = "emulator")]
const KERNEL_PREFIX: &str = "ordito-kernel-";
/// Names of earlier versions do not say whose they are: nobody writes to one file for so long.
const SURELY_ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// How every name begins: with whose file it is, so that it is swept up when that process has ended.
pub(crate) fn prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}

/// The same for what a compiler of kernels leaves in the system's folder.
#[cfg(feature = "emulator")]
pub(crate) fn kernel_prefix() -> String {
    format!("{KERNEL_PREFIX}{}-", std::process::id())
}

/// A temporary file while it is written. It is gone when this is dropped, unless it got its name.
#[derive(Debug)]
pub(crate) struct Temporary {
    file: NamedTempFile,
    _unfinished: Unfinished,
}

impl Temporary {
    /// In the folder of `target`, since a rename does not cross file systems. Only we can read it.
    pub(crate) fn beside(target: &Path) -> io::Result<Self> {
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        sweep_once(folder, Left::Parts);
        let made = tempfile::Builder::new().prefix(&prefix()).suffix(SUFFIX).tempfile_in(folder);
        // The library's error repeats the temporary name, which means nothing to anybody.
        let file = made.map_err(|error| io::Error::from(error.kind()))?;
        // Tells other processes, also those of other computers, that somebody is at it. Not every file system can.
        let _ = file.as_file().try_lock();
        let _unfinished = Unfinished::note(file.path());
        Ok(Temporary { file, _unfinished })
    }

    /// The open file. (Written through the library its errors would name the temporary file.)
    pub(crate) fn as_file(&self) -> &File {
        self.file.as_file()
    }

    /// Where it is until then.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Gives it its name, in place of what had it.
    pub(crate) fn rename(self, target: &Path) -> io::Result<()> {
        self.file.persist(target).map(drop).map_err(|error| error.error)
    }
}

/// A temporary folder while it is used. It is gone, with what is in it, when this is dropped.
#[cfg(feature = "emulator")]
#[derive(Debug)]
pub(crate) struct TemporaryFolder {
    folder: tempfile::TempDir,
    _unfinished: Unfinished,
    /// As for files: locked while somebody is at it.
    _lock: Option<File>,
}

#[cfg(feature = "emulator")]
impl TemporaryFolder {
    /// In the system's folder for such things. Only we can look into it.
    pub(crate) fn new() -> io::Result<Self> {
        sweep_once(&std::env::temp_dir(), Left::Kernels);
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.prefix(&kernel_prefix()).tempdir()?;
        let _lock = own::open(folder.path()).ok().filter(|opened| opened.try_lock().is_ok());
        let _unfinished = Unfinished::note(folder.path());
        Ok(TemporaryFolder { folder, _unfinished, _lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Temporary files and folders that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Stands in the list of those that are being written.
#[derive(Debug)]
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

/// Deletes the temporary files and folders of what is under way: for a program that is told to end at once.
pub fn remove_unfinished_files() {
    for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        remove(&path); // there is nobody left to tell
    }
}

/// Removes a file, or a folder with what is in it, where that can be.
fn remove(path: &Path) {
    if fs::remove_file(path).is_err() {
        let _ = fs::remove_dir_all(path);
    }
}

/// What a process that died may have left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// Files that were to become others, beside those.
    Parts,
    /// What a compiler of kernels had, in the system's folder.
    #[cfg(feature = "emulator")]
    Kernels,
}

impl Left {
    /// Is this a name of ours, of something that nobody writes to any more?
    fn is_abandoned(self, name: &str, path: &Path) -> bool {
        match self {
            Left::Parts => {
                let rest = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
                rest.is_some_and(|rest| {
                    let writer = rest.split_once('-').and_then(|(process, _)| process.parse::<u32>().ok());
                    is_unused(path, |found, age| {
                        found.is_file() && (age > SURELY_ABANDONED || writer.is_some_and(has_ended))
                    })
                })
            }
            // Only what has exactly a name that we give: whoever calls a folder of his own something like it keeps it.
            #[cfg(feature = "emulator")]
            Left::Kernels => writer_of_kernel(name).is_some_and(|writer| {
                is_unused(path, |found, _| (found.is_file() || found.is_dir()) && has_ended(writer))
            }),
        }
    }
}

/// The process in `ordito-kernel-1234-a1B2c3`, with or without `.so`: six letters and digits are the library's.
#[cfg(feature = "emulator")]
fn writer_of_kernel(name: &str) -> Option<u32> {
    let name = name.strip_suffix(".so").unwrap_or(name);
    let (process, random) = name.strip_prefix(KERNEL_PREFIX)?.split_once('-')?;
    let is_ours = random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_ours.then(|| process.parse().ok()).flatten()
}

/// Sweeps a folder the first time that this process writes to it.
fn sweep_once(folder: &Path, left: Left) {
    static SWEPT: Mutex<Vec<(PathBuf, Left)>> = Mutex::new(Vec::new());
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if !swept.iter().any(|(known, of)| known == folder && *of == left) {
        swept.push((folder.to_owned(), left));
        drop(swept);
        sweep(folder, left);
    }
}

/// Removes what processes left that died while they wrote. What cannot be removed stays: it harms nobody.
fn sweep(folder: &Path, left: Left) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(|name| left.is_abandoned(name, &entry.path())) {
            remove(&entry.path());
        }
    }
}

/// Is this ours, does it look left behind, and has nobody locked it?
fn is_unused(path: &Path, is_left: impl Fn(&fs::Metadata, Duration) -> bool) -> bool {
    let Ok(file) = own::open(path) else { return false };
    let Ok(found) = file.metadata() else { return false };
    let age = found.modified().ok().and_then(|time| time.elapsed().ok()).unwrap_or_default();
    // A process of another computer has a number that says nothing here, but its file is locked.
    is_left(&found, age) && file.try_lock().is_ok()
}

#[cfg(unix)]
fn has_ended(process: u32) -> bool {
    let Ok(process) = libc::pid_t::try_from(process) else { return true };
    // SAFETY: signal 0 is sent to nobody; it only asks whether there is such a process.
    let answer = unsafe { libc::kill(process, 0) };
    process > 0 && answer != 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

#[cfg(not(unix))]
fn has_ended(_: u32) -> bool {
    false // not known: age decides
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::time::SystemTime;

    /// The number of a process that has ended, and been waited for.
    fn ended_process() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[test]
    fn what_the_dead_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = folder.path().join(name);
            fs::write(&path, "half").unwrap();
            path
        };
        let (dead, living) = (ended_process(), std::process::id());
        let left = file(&format!(".ordito-{dead}-abc.part"));
        let in_use = file(&format!(".ordito-{dead}-def.part"));
        let lock = File::open(&in_use).unwrap();
        lock.try_lock().unwrap();
        let kept = [
            file(&format!(".ordito-{living}-abc.part")),
            file(".ordito-young.part"),
            file("result.part"),
            file(".ordito-figures"),
        ];
        let old = file(".ordito-old.part");
        let long_ago = std::time::SystemTime::now() - 2 * SURELY_ABANDONED;
        File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
        let new = Temporary::beside(&folder.path().join("result")).unwrap();
        assert!(!left.exists() && !old.exists());
        assert!(in_use.exists() && kept.iter().all(|path| path.exists()));
        drop(new);
    }

    #[cfg(feature = "emulator")]
    #[test]
    fn folders_of_the_dead_are_removed_with_what_is_in_them() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("kernel.cpp"), "half").unwrap();
            path
        };
        let (dead, living) = (ended_process(), std::process::id());
        let left = make(&format!("ordito-kernel-{dead}-abcdef"));
        let in_use = make(&format!("ordito-kernel-{dead}-ghijkl"));
        let lock = File::open(&in_use).unwrap();
        lock.try_lock().unwrap();
        // Names that somebody gives to folders of his own stay, however old they are.
        let long_ago = fs::FileTimes::new().set_modified(SystemTime::UNIX_EPOCH);
        let kept = [
            make(&format!("ordito-kernel-{living}-abcdef")),
            make("kernel"),
            make("ordito-kernel-notes"),
            make(&format!("ordito-kernel-{dead}-experiments")),
            make(&format!("ordito-kernel-{dead}")),
        ];
        kept.iter().for_each(|path| File::open(path).unwrap().set_times(long_ago).unwrap());
        let elsewhere = folder.path().join(format!("ordito-kernel-{dead}-linked"));
        std::os::unix::fs::symlink(&kept[1], &elsewhere).unwrap();
        sweep(folder.path(), Left::Parts);
        assert!(left.exists(), "beside outputs nobody looks for folders");
        sweep(folder.path(), Left::Kernels);
        assert!(!left.exists() && in_use.exists());
        assert!(kept.iter().all(|path| path.join("kernel.cpp").exists()), "what a link leads to stays too");

        let used = TemporaryFolder::new().unwrap();
        let path = used.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(!is_unused(&path, |_, _| true), "it is locked");
        drop(used);
        assert!(!path.exists());
    }

    #[test]
    fn only_we_can_read_it_and_it_goes_with_its_value() {
        let folder = tempfile::tempdir().unwrap();
        let temporary = Temporary::beside(&folder.path().join("result")).unwrap();
        let path = temporary.file.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        drop(temporary);
        assert!(!path.exists());
    }
}

//! The folder of `--out`: one run at a time writes to it, and while not all of its files are there it says so.

use crate::console::Console;
use crate::interrupt;
use ordito::files::{WriteError, write_atomically};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Locked by the run that writes. It stays, since a lock on a file that somebody else removes holds nobody back.
const LOCK: &str = ".ordito-lock";
/// There while files are missing, or may still be those of an earlier run.
const MARK: &str = "INCOMPLETE.txt";
const MARK_TEXT: &str = "\
A run of ordito is writing to this folder, or was ended before it was done.
Until this file is gone, files beside it may be of an earlier run. The next run that ends well removes it.
";
/// Short beside any run, long beside asking.
const BETWEEN_ASKING: Duration = Duration::from_millis(50);

/// A folder that this run alone writes to.
pub(crate) struct OutFolder {
    path: PathBuf,
    /// Released when the run ends, however it ends. `None` where the file system has no locks.
    _lock: Option<File>,
}

impl OutFolder {
    /// Makes the folder, sees that it can be written before hours are spent, and waits for other runs that write to it: two at
    /// a time would lose results, and disturb each other's times.
    pub(crate) fn make(path: &Path, console: &Console) -> anyhow::Result<Self> {
        let tried = std::fs::create_dir_all(path).and_then(|()| tempfile::tempfile_in(path));
        // The error's own text names a temporary file, which means nothing to anybody.
        let explain =
            |error: io::Error| anyhow::anyhow!("--out {}: {}", path.display(), io::Error::from(error.kind()));
        tried.map(drop).map_err(explain)?;
        let file = File::options().create(true).truncate(false).write(true).open(path.join(LOCK));
        let lock = file.map_err(explain)?;
        let mut is_told = false;
        let _lock = loop {
            match lock.try_lock() {
                Ok(()) => break Some(lock),
                Err(TryLockError::Error(_)) => break None,
                Err(TryLockError::WouldBlock) if interrupt::interrupted() => {
                    anyhow::bail!("--out {}: interrupted while another run writes there", path.display())
                }
                Err(TryLockError::WouldBlock) => {}
            }
            if !is_told {
                console.warn(&format!("another run writes to {}: waiting for its end", path.display()));
                is_told = true;
            }
            std::thread::sleep(BETWEEN_ASKING);
        };
        Ok(OutFolder { path: path.to_owned(), _lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// From now on files in it may belong to different runs.
    pub(crate) fn begin(&self) -> Result<(), WriteError> {
        write_atomically(&self.path.join(MARK), |file| file.write_all(MARK_TEXT.as_bytes()))
    }

    /// All that this run has to write is there.
    pub(crate) fn finish(&self) -> Result<(), WriteError> {
        let path = self.path.join(MARK);
        match std::fs::remove_file(&path) {
            Err(reason) if reason.kind() != io::ErrorKind::NotFound => Err(WriteError::Io { path, reason }),
            _ => Ok(()),
        }
    }
}

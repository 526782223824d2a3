//! A file that all ranks write, each a range of it; it appears whole or not at all.

use crate::error::Error;
use crate::ranks::{Collective, Ranks};
use crate::reading::together::{agreed, agreed_unless_alone};
use ordito::files::{SharedFile, open_shared_file};
use ordito::io::WriteError;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Makes a file of so many bytes that `write` fills, on every rank its part. When any of them fails, nothing is left behind and an old file is as it was.
pub(super) fn write_together(
    ranks: &dyn Ranks,
    path: &Path,
    bytes: u64,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> Result<(), Error> {
    let failed = |reason: io::Error| WriteError::Io { path: path.to_owned(), reason };
    ranks.same("the file to write", &path.to_string_lossy())?;
    let made = match ranks.rank() {
        0 => SharedFile::create(path, bytes).and_then(|shared| match shared.temporary_path().to_str() {
            Some(_) => Ok(Some(shared)),
            None => Err(failed(io::Error::other("its name is no Unicode, and other ranks cannot be told"))),
        }),
        _ => Ok(None),
    };
    let shared = agreed(ranks, made)?;
    let name =
        shared.as_ref().map_or_else(Default::default, |shared| shared.temporary_path().to_string_lossy());
    let temporary = PathBuf::from(ranks.from_first(&name)?);
    let file = agreed_unless_alone(ranks, open_shared_file(&temporary).map_err(failed))?;
    // Here, not only where it gets its name: other computers hold back what they have not been asked for.
    agreed(ranks, write(&file).and_then(|()| file.sync_data()).map_err(failed))?;
    drop(file);
    agreed(ranks, shared.map_or(Ok(()), SharedFile::finish))
}

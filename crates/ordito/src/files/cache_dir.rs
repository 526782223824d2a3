//! Where things are kept that can be made again: compiled kernels, measured ceilings.

use crate::files::own::{check_own_folder, make_own_folder};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The folder for cached files, created if need be, for us alone: `$ORDITO_CACHE_DIR`, else `$XDG_CACHE_HOME/ordito`,
/// else `~/.cache/ordito`. `None` where there is no such place, it cannot be created, or others could have put files
/// into it; a cache is never worth an error, so callers then go without, as they do when writing to it fails.
pub fn cache_dir() -> Option<PathBuf> {
    let home = std::env::home_dir();
    let folder = choose(
        std::env::var_os("ORDITO_CACHE_DIR"),
        std::env::var_os("XDG_CACHE_HOME"),
        home.map(PathBuf::into_os_string),
    )?;
    own_folder(folder)
}

/// A folder in it, for one kind of files.
pub(crate) fn cache_folder(kind: &str) -> Option<PathBuf> {
    cache_dir().and_then(|cache| own_folder(cache.join(kind)))
}

fn own_folder(folder: PathBuf) -> Option<PathBuf> {
    make_own_folder(&folder).ok()?;
    let checked = check_own_folder(&folder).map_err(|why| note_unused(&why));
    checked.ok().map(|()| folder)
}

/// What is in the cache and is not used, each sentence once.
static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps a sentence for whoever can show it.
pub(crate) fn note_unused(why: &str) {
    let note = format!("the cache is not used: {why}");
    let mut notes = NOTES.lock().unwrap_or_else(PoisonError::into_inner);
    if !notes.contains(&note) {
        notes.push(note);
    }
}

/// Sentences on what was found in the cache and not used, because others could have put it there. A program may want to show
/// them; they are handed out once.
pub fn take_cache_notes() -> Vec<String> {
    std::mem::take(&mut NOTES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Empty variables count as unset, and so does a relative `XDG_CACHE_HOME` (its specification says so).
fn choose(own: Option<OsString>, xdg: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let set = |variable: Option<OsString>| variable.filter(|text| !text.is_empty()).map(PathBuf::from);
    set(own)
        .or_else(|| set(xdg).filter(|path| path.is_absolute()).map(|path| path.join("ordito")))
        .or_else(|| set(home).map(|path| path.join(Path::new(".cache/ordito"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_is_set_wins() {
        let text = |t: &str| Some(OsString::from(t));
        let found = |own, xdg, home| choose(own, xdg, home);
        assert_eq!(found(text("here"), text("/x"), text("/h")), Some("here".into()));
        assert_eq!(found(None, text("/x"), text("/h")), Some("/x/ordito".into()));
        assert_eq!(found(text(""), text("x"), text("/h")), Some("/h/.cache/ordito".into()));
        assert_eq!(found(None, None, None), None);
    }
}

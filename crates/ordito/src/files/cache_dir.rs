//! Where things are kept that can be made again: compiled kernels, measured ceilings.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folder for cached files, created if need be: `$ORDITO_CACHE_DIR`, else `$XDG_CACHE_HOME/ordito`,
/// else `~/.cache/ordito`. `None` where there is no such place or it cannot be created; a cache is never
/// worth an error, so callers then go without, as they do when writing to it fails.
pub fn cache_dir() -> Option<PathBuf> {
    let home = std::env::home_dir();
    let folder = choose(
        std::env::var_os("ORDITO_CACHE_DIR"),
        std::env::var_os("XDG_CACHE_HOME"),
        home.map(PathBuf::into_os_string),
    )?;
    std::fs::create_dir_all(&folder).ok().map(|()| folder)
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

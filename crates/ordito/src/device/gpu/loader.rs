//! The system's loader: libraries by name, functions in them, and the files that they come from.

/// The first of these names that the loader opens; else what it said about one that is there but cannot be opened.
pub(crate) fn by_name(names: &[String]) -> Result<(libloading::Library, String), Option<String>> {
    let mut failure = None;
    for name in names {
        // SAFETY: the name is one of a library of NVIDIA's, whose initialisers have no preconditions.
        match unsafe { libloading::Library::new(name) } {
            Ok(library) => return Ok((library, name.clone())),
            // The loader's sentence starts with the file that is missing: the library itself, or one that it needs.
            Err(error) => {
                let text = loaders_words(&error);
                if !text.starts_with(&format!("{name}: cannot open shared object file: No such file")) {
                    failure.get_or_insert(text);
                }
            }
        }
    }
    Err(failure)
}

/// What the loader itself said: the last cause.
pub(crate) fn loaders_words(error: &libloading::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

/// Where the library has this function.
pub(crate) fn address(library: &libloading::Library, function: &str) -> Option<usize> {
    // SAFETY: the pointer is never called, only compared and shown.
    let symbol = unsafe { library.get::<unsafe extern "C" fn()>(function) }.ok()?;
    Some(*symbol as usize)
}

/// The file that a loaded function comes from.
pub(crate) fn file_of(address: usize) -> Option<String> {
    mapped_file(address, &maps())
}

/// What is mapped where, as Linux tells; empty elsewhere.
fn maps() -> String {
    std::fs::read_to_string("/proc/self/maps").unwrap_or_default()
}

/// The file that this address is mapped from: `start-end rights offset device inode   path`.
fn mapped_file(address: usize, maps: &str) -> Option<String> {
    maps.lines().find_map(|line| {
        let (start, end) = line.split_whitespace().next()?.split_once('-')?;
        let within =
            (usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?).contains(&address);
        let path = &line[line.find('/')?..];
        within.then(|| path.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_traced_to_its_file() {
        let maps = "10-20 r-xp 00000000 fd:00 1  /lib/a b.so.1\n20-30 rw-p 00000000 00:00 0\n30-40 r-xp 0 fd:00 2 /lib/c.so\n";
        assert_eq!(mapped_file(0x1f, maps).unwrap(), "/lib/a b.so.1");
        assert_eq!(mapped_file(0x25, maps), None);
        assert_eq!(mapped_file(0x30, maps).unwrap(), "/lib/c.so");
    }
}

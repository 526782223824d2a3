//! Lines of a `.cu` file from addresses in its machine code, by the program `addr2line` where there is one.

use crate::device::source::{HEADER_NAME, PTX};
use crate::files::kernel_prefix;
use std::io::Write;
use std::process::Command;

/// A loaded kernel's code.
#[derive(Debug)]
pub(crate) struct SourceLines<'a> {
    /// The library.
    pub(crate) code: &'a [u8],
    /// Where it was loaded.
    pub(crate) image: usize,
}

impl SourceLines<'_> {
    /// `csr_cuda_thread.cu:17`: the line of the call that returns to this address.
    pub(crate) fn find(&self, return_address: usize) -> Option<String> {
        let call = return_address.checked_sub(self.image)?.checked_sub(1)?;
        let mut library = tempfile::Builder::new().prefix(&kernel_prefix()).tempfile().ok()?;
        library.write_all(self.code).ok()?;
        let output = Command::new("addr2line")
            .args(["-i", "-e"])
            .arg(library.path())
            .arg(format!("{call:#x}"))
            .output()
            .ok()?;
        choose(&String::from_utf8_lossy(&output.stdout))
    }
}

/// Of the chain of inlined functions, innermost first: the first line that is not in a header for all kernels, else the
/// first.
fn choose(lines: &str) -> Option<String> {
    const FOR_ALL: [&str; 3] = ["cuda_emulator.h", HEADER_NAME, PTX.0];
    let place = |line: &str| {
        let line = line.split_whitespace().next()?; // "… (discriminator 2)"
        let (path, number) = line.rsplit_once(':')?;
        let number: u32 = number.parse().ok().filter(|&number| number > 0)?;
        let name = path.rsplit('/').next().unwrap_or(path);
        Some((name.to_string(), number))
    };
    let found: Vec<(String, u32)> = lines.lines().filter_map(place).collect();
    let (name, number) = found.iter().find(|(name, _)| !FOR_ALL.contains(&name.as_str())).or(found.first())?;
    Some(format!("{name}:{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_own_files_are_preferred() {
        let lines = "/x/./ordito.cuh:25\n/x/./k.cu:17 (discriminator 3)\n";
        assert_eq!(choose(lines).as_deref(), Some("k.cu:17"));
        let lines = "/x/./ptx.cuh:25\n/x/./tile.cuh:3\n/x/./k.cu:17\n";
        assert_eq!(choose(lines).as_deref(), Some("tile.cuh:3"));
        assert_eq!(choose("/x/./ordito.cuh:25\n").as_deref(), Some("ordito.cuh:25"));
        assert_eq!(choose("??:0\n"), None);
        assert_eq!(choose("??:?\n"), None);
        assert_eq!(choose(""), None);
    }
}

//! Lines of a `.cu` file from addresses in its machine code, by the program `addr2line` where there is one.

use crate::device::source::{EMULATOR_HEADER_NAME, FUNCTIONS_HEADER_NAME, HEADER_NAME, PTX};
use crate::files::kernel_prefix;
use std::fmt;
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

/// A line of a file: its name and the line's number, from 1 on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct SourceLine {
    pub(crate) file: String,
    pub(crate) line: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl SourceLines<'_> {
    /// `csr_cuda_thread.cu:17`: the line of the call that returns to this address.
    pub(crate) fn find(&self, return_address: usize) -> Option<SourceLine> {
        let offset = return_address.checked_sub(self.image)?;
        self.find_all(&[u32::try_from(offset).ok()?]).pop()?
    }

    /// The lines of the calls that return so many bytes behind the beginning of the library; none where they cannot be found
    /// out.
    pub(crate) fn find_all(&self, returns: &[u32]) -> Vec<Option<SourceLine>> {
        let none = || vec![None; returns.len()];
        let Ok(mut library) = tempfile::Builder::new().prefix(&kernel_prefix()).tempfile() else {
            return none();
        };
        if library.write_all(self.code).is_err() {
            return none();
        }
        let calls = returns.iter().map(|offset| format!("{:#x}", offset.saturating_sub(1)));
        let output =
            Command::new("addr2line").args(["-a", "-i", "-e"]).arg(library.path()).args(calls).output();
        let Ok(output) = output else { return none() };
        let text = String::from_utf8_lossy(&output.stdout);
        let chains = chains(&text);
        if chains.len() != returns.len() {
            return none();
        }
        chains.into_iter().map(choose).collect()
    }
}

/// What follows each address: its chain of lines. An address begins a line; within one `0x` may be part of a path.
fn chains(text: &str) -> Vec<&str> {
    text.strip_prefix("0x").map_or_else(Vec::new, |text| text.split("\n0x").collect())
}

/// Of the chain of inlined functions, innermost first: the first line that is not in a header for all kernels, else the
/// first.
fn choose(lines: &str) -> Option<SourceLine> {
    let for_all = [EMULATOR_HEADER_NAME, FUNCTIONS_HEADER_NAME, HEADER_NAME, PTX.0];
    let place = |line: &str| {
        let line = line.split_whitespace().next()?; // "… (discriminator 2)"
        let (path, number) = line.rsplit_once(':')?;
        let number: u32 = number.parse().ok().filter(|&number| number > 0)?;
        let name = path.rsplit('/').next().unwrap_or(path);
        Some(SourceLine { file: name.to_string(), line: number })
    };
    let found: Vec<SourceLine> = lines.lines().filter_map(place).collect();
    found.iter().find(|place| !for_all.contains(&place.file.as_str())).or(found.first()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_may_have_names_that_look_like_addresses() {
        let text = "0x0000000000001219\nbuilt/kernel-a0xb1/./k.cu:3\n0x000000000000130f\nbuilt/kernel-a0xb1/./ordito.cuh:9\nbuilt/kernel-a0xb1/./k.cu:5\n";
        let found = chains(text).into_iter().map(choose).map(|line| line.map(|line| line.line));
        assert_eq!(found.collect::<Vec<_>>(), [Some(3), Some(5)]);
        assert!(chains("").is_empty() && chains("addr2line: no such file\n").is_empty());
    }

    #[test]
    fn the_kernels_own_files_are_preferred() {
        let lines = "/x/./ordito.cuh:25\n/x/./k.cu:17 (discriminator 3)\n";
        assert_eq!(choose(lines).map(|line| line.to_string()).as_deref(), Some("k.cu:17"));
        let lines = "/x/./ptx.cuh:25\n/x/./tile.cuh:3\n/x/./k.cu:17\n";
        assert_eq!(choose(lines).map(|line| line.to_string()).as_deref(), Some("tile.cuh:3"));
        assert_eq!(
            choose("/x/./ordito.cuh:25\n").map(|line| line.to_string()).as_deref(),
            Some("ordito.cuh:25")
        );
        assert_eq!(choose("??:0\n"), None);
        assert_eq!(choose("??:?\n"), None);
        assert_eq!(choose(""), None);
    }
}

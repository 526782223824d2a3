//! Lines of a `.cu` file from addresses in its machine code, by the program `addr2line` where there is one.

use std::io::Write;
use std::process::Command;

/// A loaded kernel's code and its file.
#[derive(Debug)]
pub(super) struct SourceLines<'a> {
    /// The library.
    pub(super) code: &'a [u8],
    /// Where it was loaded.
    pub(super) image: usize,
    /// The kernel's file.
    pub(super) file: &'a str,
}

impl SourceLines<'_> {
    /// `csr_cuda_thread.cu:17`: the line of the call that returns to this address.
    pub(super) fn find(&self, return_address: usize) -> Option<String> {
        let call = return_address.checked_sub(self.image)?.checked_sub(1)?;
        let mut library = tempfile::NamedTempFile::new().ok()?;
        library.write_all(self.code).ok()?;
        let output = Command::new("addr2line")
            .args(["-i", "-e"])
            .arg(library.path())
            .arg(format!("{call:#x}"))
            .output()
            .ok()?;
        choose(&String::from_utf8_lossy(&output.stdout), self.file)
    }
}

/// Of the chain of inlined functions, innermost first: the first line in the kernel's own file, else the first.
fn choose(lines: &str, file: &str) -> Option<String> {
    let place = |line: &str| {
        let line = line.split_whitespace().next()?; // "… (discriminator 2)"
        let (path, number) = line.rsplit_once(':')?;
        let number: u32 = number.parse().ok().filter(|&number| number > 0)?;
        let name = path.rsplit('/').next().unwrap_or(path);
        Some((name.to_string(), number))
    };
    let found: Vec<(String, u32)> = lines.lines().filter_map(place).collect();
    let (name, number) = found.iter().find(|(name, _)| name == file).or(found.first())?;
    Some(format!("{name}:{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_own_file_is_preferred() {
        let lines = "/x/./ordito.cuh:25\n/x/./k.cu:17 (discriminator 3)\n";
        assert_eq!(choose(lines, "k.cu").as_deref(), Some("k.cu:17"));
        assert_eq!(choose(lines, "other.cu").as_deref(), Some("ordito.cuh:25"));
        assert_eq!(choose("??:0\n", "k.cu"), None);
        assert_eq!(choose("??:?\n", "k.cu"), None);
        assert_eq!(choose("", "k.cu"), None);
    }
}

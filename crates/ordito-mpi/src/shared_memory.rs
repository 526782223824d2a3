//! Memory that ranks of one computer have in common: what one writes, the others read in place.
//!
//! On Linux it is a file without a name, which the first of them makes and the others open through `/proc`. Where that cannot be done (other systems, containers that do not see
//! each other) there is none, and messages do.

use crate::ranks::{Collective, Ranks, RanksError};

/// So many bytes, seen by all members.
pub(crate) struct SharedMemory {
    #[cfg(target_os = "linux")]
    map: memmap2::MmapRaw,
    #[cfg(target_os = "linux")]
    identity: u64,
}

// What lies there is read and written by several processes. Whoever uses it sees to it, by messages, that nobody reads what is being written.
impl SharedMemory {
    /// Of `members`, ascending, this rank among them; every rank calls it, those of other computers with members of their own. Nothing where some of them cannot: then all know.
    pub(crate) fn new(
        ranks: &dyn Ranks,
        members: &[usize],
        bytes: usize,
    ) -> Result<Option<Self>, RanksError> {
        let is_first = members.first() == Some(&ranks.rank());
        let is_needed = members.len() > 1 && bytes > 0 && ranks.shares_memory();
        let made = if is_first && is_needed { system::make(bytes) } else { None };
        let told = made.as_ref().map(system::Made::words).unwrap_or_default();
        let all = ranks.all_gather(told.as_bytes())?;
        let words =
            String::from_utf8_lossy(&all[members.first().copied().unwrap_or(ranks.rank())]).into_owned();
        let opened = if is_needed { system::open(&words, bytes) } else { None };
        // The first one keeps its file until all have opened it, or failed to.
        let mut failed = [f64::from(members.len() > 1 && bytes > 0 && opened.is_none())];
        ranks.sum(&mut failed)?;
        drop(made);
        Ok(opened.filter(|_| failed[0] == 0.0))
    }

    /// What tells it from other memory that these ranks share; never 0.
    pub(crate) fn identity(&self) -> u64 {
        #[cfg(target_os = "linux")]
        return self.identity;
        #[cfg(not(target_os = "linux"))]
        1
    }

    /// From the first byte on.
    pub(crate) fn start(&self) -> *mut u8 {
        #[cfg(target_os = "linux")]
        return self.map.as_mut_ptr();
        #[cfg(not(target_os = "linux"))]
        std::ptr::null_mut()
    }
}

// SAFETY: an address and a length; the memory belongs to no thread.
unsafe impl Send for SharedMemory {}

#[cfg(target_os = "linux")]
mod system {
    use super::SharedMemory;
    use std::fs::File;
    use std::os::fd::{AsRawFd, FromRawFd};
    use std::os::unix::fs::MetadataExt;

    pub(super) struct Made(File);

    impl Made {
        /// Where others find it.
        pub(super) fn words(&self) -> String {
            let it = self.0.metadata().map(|it| format!("{} {}", it.dev(), it.ino())).unwrap_or_default();
            format!("/proc/{}/fd/{} {it}", std::process::id(), self.0.as_raw_fd())
        }
    }

    /// A file in memory that nobody can make shorter: what is mapped stays.
    pub(super) fn make(bytes: usize) -> Option<Made> {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: a name that ends with 0; the result is looked at.
        let descriptor = unsafe { libc::memfd_create(c"ordito".as_ptr(), flags) };
        if descriptor < 0 {
            return None;
        }
        // SAFETY: just made, and nobody else's.
        let file = unsafe { File::from_raw_fd(descriptor) };
        file.set_len(bytes as u64).ok()?;
        // SAFETY: a descriptor of ours and numbers.
        let sealed =
            unsafe { libc::fcntl(descriptor, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK | libc::F_SEAL_GROW) };
        (sealed == 0).then_some(Made(file))
    }

    /// Only the very file that was made: where processes are numbered apart, the path may lead to another one.
    pub(super) fn open(words: &str, bytes: usize) -> Option<SharedMemory> {
        let (path, identity) = words.split_once(' ')?;
        let found = std::fs::metadata(path).ok()?;
        if format!("{} {}", found.dev(), found.ino()) != identity || found.len() != bytes as u64 {
            return None;
        }
        let file = File::options().read(true).write(true).open(path).ok()?;
        let map = memmap2::MmapOptions::new().len(bytes).map_raw(&file).ok()?;
        let _ = map.advise(memmap2::Advice::HugePage); // fewer misses where the system allows it
        Some(SharedMemory { map, identity: found.ino().max(1) })
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::SharedMemory;

    pub(super) struct Made;

    impl Made {
        pub(super) fn words(&self) -> String {
            String::new()
        }
    }
    pub(super) fn make(_: usize) -> Option<Made> {
        None
    }
    pub(super) fn open(_: &str, _: usize) -> Option<SharedMemory> {
        None
    }
}

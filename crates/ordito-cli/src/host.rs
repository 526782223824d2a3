//! Cores and memory of a computer, shared by the ranks that run on it. Known before anything is computed; a process that is alone has all of it.

use std::sync::OnceLock;

/// What of this computer is this process's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Host {
    /// Ranks that run on it.
    pub(crate) ranks: usize,
    /// Which of them this is.
    pub(crate) index: usize,
    /// Computers in all.
    pub(crate) hosts: usize,
}

impl Host {
    /// A process that nobody shares it with.
    const ALONE: Host = Host { ranks: 1, index: 0, hosts: 1 };

    /// Threads of this rank, of so many that it may use and so many cores that there are. Told how many, or bound by mpiexec, a rank has its own; else all ranks see
    /// all cores.
    pub(crate) fn threads(self, usable: usize, there: usize) -> usize {
        let has_its_own = self.ranks == 1 || usable != there;
        if has_its_own { usable } else { (there / self.ranks).max(1) }
    }
}

static SHARED: OnceLock<Host> = OnceLock::new();

/// Several ranks are here.
#[cfg(feature = "mpi")]
pub(crate) fn share(host: Host) {
    let _ = SHARED.set(host); // once, at the beginning
}

/// What this process has of it.
pub(crate) fn host() -> Host {
    *SHARED.get().unwrap_or(&Host::ALONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_shared_unless_they_are_bound() {
        let host = Host { ranks: 4, ..Host::ALONE };
        assert_eq!((host.threads(16, 16), host.threads(2, 16), host.threads(2, 2)), (4, 2, 1));
        assert_eq!((Host::ALONE.threads(16, 16), Host::ALONE.threads(3, 2)), (16, 3));
    }
}

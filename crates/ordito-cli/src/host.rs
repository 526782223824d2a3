//! Cores, memory and GPUs of a computer, shared by the ranks that run on it. Known before anything is computed; a process that is alone has all of it.

use ordito::device::Gpu;
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

    /// Is there one process?
    pub(crate) fn is_alone(self) -> bool {
        self.ranks == 1 && self.hosts == 1
    }

    /// Threads of this rank, of so many that it may use and so many cores that there are. Told how many, or bound by mpiexec, a rank has its own; else all ranks see
    /// all cores.
    pub(crate) fn threads(self, usable: usize, there: usize) -> usize {
        let has_its_own = self.ranks == 1 || usable != there;
        if has_its_own { usable } else { (there / self.ranks).max(1) }
    }

    /// Which of so many this rank takes, where each takes the next one.
    fn turn(self, of: usize) -> usize {
        self.index % of.max(1)
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

/// The GPU that was asked for. Without a word ranks of one computer take one after the other; a process that is alone takes the first.
pub(crate) fn gpu(asked: Option<usize>) -> usize {
    let host = host();
    asked.unwrap_or_else(|| match host.ranks {
        1 => 0,
        _ => host.turn(Gpu::list().map_or(0, |gpus| gpus.len())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_shared_unless_they_are_bound_and_devices_one_after_the_other() {
        let host = Host { ranks: 4, ..Host::ALONE };
        assert_eq!((host.threads(16, 16), host.threads(2, 16), host.threads(2, 2)), (4, 2, 1));
        let second = Host { index: 5, ..host };
        assert_eq!((second.turn(4), second.turn(8), second.turn(0), Host::ALONE.turn(4)), (1, 5, 0, 0));
        assert!(Host::ALONE.is_alone() && !host.is_alone() && !Host { hosts: 2, ..Host::ALONE }.is_alone());
        assert_eq!((Host::ALONE.threads(16, 16), Host::ALONE.threads(3, 2)), (16, 3));
    }
}

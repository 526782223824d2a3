//! Cores, memory and devices of a computer, shared by the ranks that run on it.

use ordito_mpi::ranks::{Collective, Ranks, RanksError};

/// What of this computer is this rank's.
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
    pub(super) fn find(ranks: &dyn Ranks) -> Result<Self, RanksError> {
        let names = ranks.all_gather(ranks.host().as_bytes())?;
        let mine = &names[ranks.rank()];
        let here = |names: &[Vec<u8>]| names.iter().filter(|name| *name == mine).count();
        let mut distinct = names.clone();
        distinct.sort_unstable();
        distinct.dedup();
        Ok(Host { ranks: here(&names), index: here(&names[..ranks.rank()]), hosts: distinct.len() })
    }

    /// Threads of this rank, of so many cores that it may use and so many that there are. Bound by mpiexec, a rank has cores of its own; else all ranks see all of them.
    pub(crate) fn threads(self, usable: usize, there: usize) -> usize {
        if usable < there { usable } else { (there / self.ranks).max(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_shared_unless_they_are_bound() {
        let host = Host { ranks: 4, index: 1, hosts: 1 };
        assert_eq!((host.threads(16, 16), host.threads(2, 16), host.threads(2, 2)), (4, 2, 1));
    }
}

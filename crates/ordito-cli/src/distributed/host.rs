//! Which ranks run on which computer.

use crate::host::Host;
use ordito_mpi::ranks::{Collective, Ranks, RanksError};

/// Asks everyone.
pub(super) fn find(ranks: &dyn Ranks) -> Result<Host, RanksError> {
    let names = ranks.all_gather(ranks.host().as_bytes())?;
    let mine = &names[ranks.rank()];
    let here = |names: &[Vec<u8>]| names.iter().filter(|name| *name == mine).count();
    let mut distinct = names.clone();
    distinct.sort_unstable();
    distinct.dedup();
    Ok(Host { ranks: here(&names), index: here(&names[..ranks.rank()]), hosts: distinct.len() })
}

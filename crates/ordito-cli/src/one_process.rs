//! What stands for `distributed` where the program was built without MPI: there is one process.


/// Cores and memory are not shared.
#[derive(Clone, Copy)]
pub(crate) struct Host {
    pub(crate) ranks: usize,
}

impl Host {
    pub(crate) fn threads(self, usable: usize, _: usize) -> usize {
        usable
    }
}

pub(crate) fn speaks() -> bool {
    true
}
pub(crate) fn begin() -> anyhow::Result<()> {
    Ok(())
}
pub(crate) fn host() -> Option<Host> {
    None
}
pub(crate) fn alone(_: &str) -> anyhow::Result<()> {
    Ok(())
}
pub(crate) fn end(outcome: anyhow::Result<u8>) -> anyhow::Result<u8> {
    outcome
}

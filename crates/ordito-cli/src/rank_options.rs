//! How ranks share a matrix, where several were started.

use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RankOptions {
    /// On ranks: a file with the rank of every row, a number on each line [default: consecutive rows, equally many nonzeros]
    #[arg(long, value_name = "FILE")]
    pub(crate) partition: Option<PathBuf>,
    /// On ranks: so many share rows, each with some of the columns [default: what lets least travel]
    #[arg(long, value_name = "N")]
    pub(crate) team: Option<NonZeroUsize>,
}

impl RankOptions {
    /// One process shares nothing.
    pub(crate) fn check_alone(&self) -> anyhow::Result<()> {
        let given = [("--partition", self.partition.is_some()), ("--team", self.team.is_some())];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => {
                anyhow::bail!("{option}: is for ranks; `mpiexec -n N ordito …` starts several")
            }
            None => Ok(()),
        }
    }
}

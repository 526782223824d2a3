//! Who started this process, as the environment tells. Nothing is opened and nothing is initialised for it.

use std::fmt;

/// A program that starts ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// `mpiexec` of Open MPI.
    OpenMpi,
    /// `mpiexec` of MPICH, or of one that descends from it.
    Mpich,
    /// Another that speaks PMI, such as those of Cray and Flux.
    Pmi,
    /// `srun`.
    Slurm,
}

impl fmt::Display for Launcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Launcher::OpenMpi => "Open MPI's mpiexec",
            Launcher::Mpich => "MPICH's mpiexec",
            Launcher::Pmi => "the launcher of this machine",
            Launcher::Slurm => "srun",
        })
    }
}

/// One of several ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launched {
    /// How many there are.
    pub ranks: usize,
    /// Which of them this is.
    pub rank: usize,
    /// Who started them.
    pub by: Launcher,
}

/// Was this process started as one of several ranks? If not, MPI need not even be looked for.
pub fn launched() -> Option<Launched> {
    launcher(|name| std::env::var(name).ok()).filter(|launched| launched.ranks > 1)
}

/// Who started it, if only as one rank.
pub(super) fn launcher(variable: impl Fn(&str) -> Option<String>) -> Option<Launched> {
    let number = |name: &str| variable(name)?.trim().parse().ok();
    let told =
        |ranks: &str, rank: &str, by| Some(Launched { ranks: number(ranks)?, rank: number(rank)?, by });
    let has = |name| variable(name).is_some();
    // Several speak PMI. MPICH's own may have been started by `srun`, as one of which it then starts ranks.
    let of_pmi = match () {
        () if has("HYDI_CONTROL_FD") || has("MPI_LOCALNRANKS") => Launcher::Mpich,
        () if has("SLURM_STEP_NUM_TASKS") => Launcher::Slurm,
        () => Launcher::Pmi,
    };
    told("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", Launcher::OpenMpi)
        .or_else(|| told("PMI_SIZE", "PMI_RANK", of_pmi))
        .or_else(|| told("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", Launcher::Mpich))
        // Not `SLURM_NTASKS`: a script of `sbatch` has that, and is no rank.
        .or_else(|| told("SLURM_STEP_NUM_TASKS", "SLURM_PROCID", Launcher::Slurm))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Option<Launched> {
        let value = |name: &str| variables.iter().find(|(known, _)| *known == name);
        launcher(|name| value(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn launchers_are_known_by_what_they_set() {
        assert_eq!(with(&[]), None);
        assert_eq!(
            with(&[("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "3"), ("PMIX_RANK", "3")]),
            Some(Launched { ranks: 4, rank: 3, by: Launcher::OpenMpi })
        );
        assert_eq!(
            with(&[("PMI_SIZE", "2"), ("PMI_RANK", "0"), ("HYDI_CONTROL_FD", "7")]),
            Some(Launched { ranks: 2, rank: 0, by: Launcher::Mpich })
        );
        assert_eq!(with(&[("PMI_SIZE", "2"), ("PMI_RANK", "0")]).map(|by| by.by), Some(Launcher::Pmi));
        let of_slurm = [("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "5"), ("SLURM_NTASKS", "8")];
        assert_eq!(with(&of_slurm), Some(Launched { ranks: 8, rank: 5, by: Launcher::Slurm }));
        assert_eq!(with(&[("SLURM_NTASKS", "8"), ("SLURM_PROCID", "0")]), None, "a script, not a rank");
        assert_eq!(with(&[("PMI_SIZE", "two"), ("PMI_RANK", "0")]), None);
    }
}

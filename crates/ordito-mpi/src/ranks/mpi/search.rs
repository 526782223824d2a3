//! Where MPI may lie: what the process has already, what belongs to who started it, what is active, what the loader knows.

use crate::ranks::mpi::launched::Launcher;
use std::path::{Path, PathBuf};

/// Names of MPI's library, those that go with the launcher first. Of an Open MPI that is older than 4 none is looked for.
pub(super) fn names(launcher: Option<Launcher>) -> &'static [&'static str] {
    match launcher {
        Some(Launcher::OpenMpi) => {
            &["libmpi.so.40", "libmpi.so", "libmpi_abi.so.1", "libmpi.so.12", "libmpich.so.12"]
        }
        _ => &["libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1", "libmpi.so.40", "libmpi.so"],
    }
}

/// Files and names to try, the likeliest first.
pub(super) fn candidates(launcher: Option<Launcher>) -> Vec<String> {
    let mut candidates = loaded(&std::fs::read_to_string("/proc/self/maps").unwrap_or_default());
    let names = names(launcher);
    for folder in folders() {
        let files = names.iter().map(|name| folder.join(name)).filter(|file| file.exists());
        candidates.extend(files.map(|file| file.to_string_lossy().into_owned()));
    }
    candidates.extend(names.iter().map(|name| (*name).to_owned()));
    let mut seen = std::collections::HashSet::new();
    candidates.retain(|candidate| seen.insert(candidate.clone()));
    candidates
}

/// MPIs that this process has already, as Python with mpi4py does: `start-end rights offset device inode   path`.
fn loaded(maps: &str) -> Vec<String> {
    let is_mpi = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        ["libmpi.so", "libmpich.so", "libmpi_abi.so"].iter().any(|known| name.starts_with(known))
    };
    let mut paths: Vec<String> = maps
        .lines()
        .filter_map(|line| Some(&line[line.find('/')?..]))
        .filter(|path| is_mpi(path))
        .map(str::to_owned)
        .collect();
    paths.dedup();
    paths
}

/// Beside the programs that have started this process, beside `mpiexec`, in the active environment of Python.
fn folders() -> Vec<PathBuf> {
    let programs = ancestors().into_iter().filter(|program| is_launcher(program)).chain(on_path());
    let roots = programs.filter_map(|program| Some(program.parent()?.parent()?.to_owned()));
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let libraries = |root: PathBuf| [root.join("lib"), root.join("lib64")];
    roots.chain(active).filter(|root| root.is_absolute()).flat_map(libraries).collect()
}

/// Programs that start ranks, and those that they leave on other computers.
fn is_launcher(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    ["mpiexec", "mpirun", "hydra", "prte", "orte", "ompi"].iter().any(|known| name.starts_with(known))
}

/// How far up it is looked for who started this process: scripts and shells stand between.
const GENERATIONS: usize = 8;

/// The programs that this process descends from, as Linux tells.
fn ancestors() -> Vec<PathBuf> {
    let mut programs = Vec::new();
    let mut process = "self".to_owned();
    for _ in 0..GENERATIONS {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let Some(parent) = parent(&stat) else { break };
        programs.extend(std::fs::read_link(format!("/proc/{parent}/exe")));
        process = parent;
    }
    programs
}

/// `number (name) state parent …`; a name may hold anything.
fn parent(stat: &str) -> Option<String> {
    let parent = stat.rsplit_once(") ")?.1.split_whitespace().nth(1)?;
    (parent != "0").then(|| parent.to_owned())
}

/// The first `mpiexec` of `PATH`, as it is called and as it is.
fn on_path() -> Vec<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&folders).map(|folder| folder.join("mpiexec")).find(|file| file.is_file());
    found.into_iter().flat_map(|file| [Some(file.clone()), file.canonicalize().ok()]).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_process_has_comes_first() {
        let maps = "10-20 r-xp 0 fd:00 1  /lib/libc.so.6\n20-30 r-xp 0 fd:00 2  /my env/lib/libmpi.so.40.30\n30-40 rw-p 0 fd:00 2  /my env/lib/libmpi.so.40.30\n";
        assert_eq!(loaded(maps), ["/my env/lib/libmpi.so.40.30"]);
    }

    #[test]
    fn parents_are_found() {
        assert_eq!(parent("12 (a ) b) S 11 3 4"), Some("11".to_owned()));
        assert_eq!(parent("1 (init) S 0 1 1"), None);
        assert_eq!(parent(""), None);
        assert!(!cfg!(target_os = "linux") || !ancestors().is_empty());
    }

    #[test]
    fn names_go_with_the_launcher() {
        assert_eq!(names(Some(Launcher::OpenMpi))[0], "libmpi.so.40");
        assert_eq!(names(Some(Launcher::Mpich))[0], "libmpi.so.12");
    }
}

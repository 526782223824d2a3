//! Where NVIDIA's libraries lie when the loader does not find them by itself: toolkits and Python's wheels.

use crate::device::gpu::libraries::Library;
use std::path::{Path, PathBuf};

/// More folders to look in, separated like those of `PATH`.
pub const FOLDERS_VARIABLE: &str = "ORDITO_LIBRARY_PATH";

/// What [`folders`] looks at, for messages.
pub(crate) fn places(library: Library) -> &'static str {
    match library {
        Library::Cuda => "on the loader path",
        _ => {
            "on the loader path, in ORDITO_LIBRARY_PATH, CUDA_HOME, CUDA_PATH, /usr/local/cuda* or Python's nvidia wheels"
        }
    }
}

/// Folders that exist and may hold the library, the likeliest first.
pub(crate) fn folders(library: Library) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::env::var_os(FOLDERS_VARIABLE)
        .map(|list| std::env::split_paths(&list).filter(|folder| folder.is_absolute()).collect())
        .unwrap_or_default();
    if library == Library::Cuda {
        // The driver is never taken from a toolkit: what lies there is a stub. These are where containers, WSL and
        // NixOS put the real one.
        let mounted =
            ["/usr/lib/wsl/lib", "/usr/local/nvidia/lib64", "/usr/lib64-nvidia", "/run/opengl-driver/lib"];
        folders.extend(mounted.map(PathBuf::from));
    } else {
        for toolkit in toolkits() {
            folders.push(toolkit.join("lib64"));
            folders.extend(entries(&toolkit.join("targets"), "").map(|target| target.join("lib")));
        }
        for packages in python_packages() {
            folders.extend(entries(&packages.join("nvidia"), "").map(|wheel| wheel.join("lib")));
        }
    }
    let mut seen = std::collections::HashSet::new();
    folders.retain(|folder| folder.is_dir() && seen.insert(folder.clone()));
    folders
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn toolkits() -> Vec<PathBuf> {
    let asked_for = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable);
    asked_for.chain(entries(Path::new("/usr/local"), "cuda")).collect()
}

/// Folders of Python packages: of the active environment, of the user, of the system.
fn python_packages() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable).collect();
    roots.extend(std::env::home_dir().map(|home| home.join(".local")));
    roots.extend(["/usr/local", "/usr"].map(PathBuf::from));
    let mut packages = Vec::new();
    for root in roots {
        for python in entries(&root.join("lib"), "python3") {
            packages.extend(["site-packages", "dist-packages"].map(|name| python.join(name)));
        }
    }
    packages
}

/// What lies in a folder under a name that begins so; the highest version first.
pub(crate) fn entries(folder: &Path, prefix: &str) -> impl Iterator<Item = PathBuf> + use<> {
    let begins =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = found.filter(begins).collect();
    found.sort_by_cached_key(|path| std::cmp::Reverse(numbers(&path.to_string_lossy())));
    found.into_iter()
}

/// The numbers in a name, so that `cuda-12.10` comes after `cuda-12.9`; a name without any comes last.
fn numbers(name: &str) -> Vec<u64> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_toolkit_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["cuda-12.9", "cuda-12.10", "cuda", "other-99"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let found: Vec<PathBuf> = entries(folder.path(), "cuda").collect();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["cuda-12.10", "cuda-12.9", "cuda"]);
        assert_eq!(entries(Path::new("/nonexistent"), "").count(), 0);
    }
}

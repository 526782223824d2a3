//! What a user calls a matrix becomes one.

use crate::Scalar;
use crate::io::ReadOptions;
use crate::io::error::ReadError;
use crate::io::matrix_market::{Header, read_matrix_market};
use crate::io::nearest;
use crate::io::synthetic;
use crate::io::synthetic::KINDS;
use crate::matrix::Coo;
use crate::precision::compiled_here;
use crate::units;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The environment variable that names the folder in which bare names are looked up.
pub const MATRICES_VARIABLE: &str = "ORDITO_MATRICES";

/// A matrix and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded<S> {
    /// The matrix.
    pub coo: Coo<S>,
    /// Short: the file's name without `.mtx` and `.gz`, or the synthetic name.
    pub name: String,
    /// What is worth showing about it.
    pub origin: Origin,
}

/// Where a matrix came from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// A Matrix Market file.
    File {
        /// Which one.
        path: PathBuf,
        /// What it says about itself.
        header: Header,
        /// Entries that vanished because others at the same place took them up.
        merged_duplicates: usize,
    },
    /// A synthetic name.
    Synthetic {
        /// The seed it was made with.
        seed: u64,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Synthetic { seed } => write!(f, "synthetic, seed {seed}"),
            Origin::File { header, merged_duplicates: 0, .. } => write!(f, "Matrix Market, {header}"),
            Origin::File { header, merged_duplicates, .. } => {
                let merged = units::count(*merged_duplicates as u64);
                write!(f, "Matrix Market, {header}, {merged} duplicates summed")
            }
        }
    }
}

/// Reads or makes a matrix: a synthetic name ([`synthetic::KINDS`]), a path, or a bare name that is looked up as
/// NAME, NAME.mtx and NAME.mtx.gz in the folder that the environment variable `ORDITO_MATRICES` names.
///
/// A synthetic name always means the synthetic matrix; a file of that name is `./stencil27:8`.
///
/// ```
/// use ordito::io::{ReadOptions, load};
/// let a = load::<f64>("diagonal:3", &ReadOptions::default())?;
/// assert_eq!((a.name.as_str(), a.coo.nnz()), ("diagonal:3", 3));
/// let error = load::<f64>("stencil72:8", &ReadOptions::default()).unwrap_err();
/// assert!(error.to_string().ends_with("did you mean stencil27:S?"));
/// # Ok::<(), ordito::io::ReadError>(())
/// ```
pub fn load<S: Scalar>(name: &str, options: &ReadOptions) -> Result<Loaded<S>, ReadError> {
    type Load<S> = fn(&str, &ReadOptions) -> Result<Loaded<S>, ReadError>;
    compiled_here!(S, load_name, Load)(name, options)
}

fn load_name<S: Scalar>(name: &str, options: &ReadOptions) -> Result<Loaded<S>, ReadError> {
    load_with_folder(name, folder().as_deref(), options)
}

/// Where bare names are looked up.
fn folder() -> Option<PathBuf> {
    std::env::var_os(MATRICES_VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

fn load_with_folder<S: Scalar>(
    name: &str,
    folder: Option<&Path>,
    options: &ReadOptions,
) -> Result<Loaded<S>, ReadError> {
    if let Some(made) = synthetic::generate(name, options) {
        return Ok(Loaded {
            coo: made?,
            name: name.to_owned(),
            origin: Origin::Synthetic { seed: options.seed },
        });
    }
    let path = found(name, folder)?;
    let file = read_matrix_market(&path, options)?;
    let name = short_name(&path);
    let origin = Origin::File { path, header: file.header, merged_duplicates: file.merged_duplicates };
    Ok(Loaded { coo: file.coo, name, origin })
}

/// The file that a name means which is no synthetic one, as [`load`] finds it.
#[doc(hidden)] // for the crates of this workspace
pub fn find_matrix_file(name: &str) -> Result<PathBuf, ReadError> {
    found(name, folder().as_deref())
}

fn found(name: &str, folder: Option<&Path>) -> Result<PathBuf, ReadError> {
    let mut candidates = candidates(name, folder);
    if let Some(at) = candidates.iter().position(|path| path.exists() && !path.is_dir()) {
        return Ok(candidates.swap_remove(at));
    }
    Err(match candidates.into_iter().find(|path| path.is_dir()) {
        Some(path) => ReadError::Io { path, reason: io::Error::other(IS_A_FOLDER) },
        None => unknown(name, folder),
    })
}

const IS_A_FOLDER: &str =
    "this is a folder; name a file in it, or set ORDITO_MATRICES to it and give the bare name of a matrix";

/// Every path a name may stand for, in the order in which they are tried.
fn candidates(name: &str, folder: Option<&Path>) -> Vec<PathBuf> {
    let mut paths = vec![PathBuf::from(name)];
    if let Some(folder) = folder
        && !name.is_empty()
    {
        paths.extend(["", ".mtx", ".mtx.gz"].map(|extension| folder.join(format!("{name}{extension}"))));
    }
    paths
}

/// `bcsstk16` of `/data/bcsstk16.mtx.gz`.
#[doc(hidden)] // for the crates of this workspace
pub fn short_name(path: &Path) -> String {
    let mut name = PathBuf::from(path.file_name().map_or_else(OsString::new, OsString::from));
    for extension in ["gz", "mtx"] {
        if name.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension)) {
            name.set_extension("");
        }
    }
    name.to_string_lossy().into_owned()
}

fn unknown(name: &str, folder: Option<&Path>) -> ReadError {
    let tried = match folder {
        Some(folder) => format!("there is no such file, nor a .mtx or .mtx.gz of that name in {folder:?}"),
        None => {
            format!("there is no such file, and {MATRICES_VARIABLE}, the folder for bare names, is not set")
        }
    };
    let kind = name.split(':').next().unwrap_or_default();
    let near = nearest(kind, KINDS.iter().map(|known| known.name));
    let known = near.and_then(|near| KINDS.iter().find(|known| known.name == near));
    let suggestion = known.map_or(String::new(), |known| format!("; did you mean {}?", known.form));
    ReadError::UnknownName { name: name.to_owned(), tried, kinds: synthetic::forms(), suggestion }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const FILE: &str = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 1 2\n2 2 3\n";

    #[test]
    fn paths_and_bare_names_find_files() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("some.Thing.mtx"), FILE).unwrap();
        let options = ReadOptions::default();
        let path = folder.path().join("some.Thing.mtx").to_string_lossy().into_owned();
        let by_path = load::<f64>(&path, &options).unwrap();
        let by_name = load_with_folder::<f64>("some.Thing", Some(folder.path()), &options).unwrap();
        assert_eq!(by_path, by_name);
        assert_eq!(by_path.name, "some.Thing");
        assert!(matches!(by_path.origin, Origin::File { merged_duplicates: 1, .. }));
        assert_eq!(by_path.coo.values(), [3.0, 3.0]);
        assert!(load_with_folder::<f64>("some", Some(folder.path()), &options).is_err());
    }

    #[test]
    fn short_names_lose_only_known_extensions() {
        for (path, name) in
            [("/a/b.mtx.gz", "b"), ("b.MTX", "b"), ("b.c", "b.c"), ("b.1.gz", "b.1"), ("b", "b")]
        {
            assert_eq!(short_name(Path::new(path)), name);
        }
    }

    #[test]
    fn errors_say_what_was_tried_and_what_there_is() {
        let error = |name: &str| {
            load_with_folder::<f64>(name, None, &ReadOptions::default()).unwrap_err().to_string()
        };
        let text = error("no such\nmatrix");
        assert!(
            text.starts_with("no matrix \"no such\\nmatrix\": there is no such file, and ORDITO_MATRICES")
        );
        assert!(KINDS.iter().all(|kind| text.contains(kind.form)) && !text.contains("did you mean"));
        assert!(error("unifrom:10x3").ends_with("; did you mean uniform:ROWSxNNZ_PER_ROW?"));
        assert!(error("diagonal").ends_with("; did you mean diagonal:N?"));
        assert!(error("").contains("no such file"));
        let folder = tempfile::tempdir().unwrap();
        assert!(error(&folder.path().to_string_lossy()).contains("this is a folder"));
    }
}

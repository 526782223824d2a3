//! The failing case on disk, so that it can be looked at and sent on.

use crate::check::Findings;
use crate::check::save::Save;
use ordito::files::{WriteError, write_atomically};
use ordito::io::write_npy;
use ordito::matrix::Dense;
use ordito::op::Reference;
use std::path::{Path, PathBuf};

/// Why a case could not be written.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The folder could not be made.
    #[error("{}: cannot create the folder: {reason}", .folder.display())]
    Folder {
        /// Which one.
        folder: PathBuf,
        /// What the system said.
        reason: std::io::Error,
    },
    /// Nothing was fetched.
    #[error("there is no result to be written")]
    NoResult,
    /// A file in it could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Writes operands, the result, the oracle's answer (`expected.npy`, where it was computed in full) and the
/// findings (`findings.txt`) into `folder`.
pub fn dump<O: Save>(
    subject: &O::Subject,
    inputs: &O::Inputs,
    output: &O::Output,
    reference: &Reference,
    findings: &Findings,
    folder: &Path,
) -> Result<(), DumpError> {
    std::fs::create_dir_all(folder)
        .map_err(|reason| DumpError::Folder { folder: folder.to_path_buf(), reason })?;
    O::save(subject, inputs, output, folder)?;
    if reference.listed_rows.is_none() {
        let expected = Dense::from_rows(reference.rows, reference.cols, reference.expected.clone());
        if let Ok(expected) = expected {
            write_npy(expected.view(), &folder.join("expected.npy"))?;
        }
    }
    write_atomically(&folder.join("findings.txt"), |file| writeln!(file, "{}\n{findings:#?}", O::NAME))?;
    Ok(())
}

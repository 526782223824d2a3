//! Reading: files become epochs, all of one at once where memory allows, else block after block.

use super::arrangement::{EpochShape, Stack};
use super::{ErpError, Stages};
use crate::Scalar;
use crate::io::ReadError;
use crate::io::npy::{Conversion, bytes_to_read_npy, read_npy_stack};
use crate::io::text_matrix::{TextOptions, read_text_blocks, read_text_matrix};
use crate::machine::{Machine, Refusal};
use crate::matrix::Dense;
use rayon::prelude::*;
use std::path::Path;
use std::time::Instant;

/// All epochs of a file.
pub(super) struct Epochs<S> {
    pub(super) shape: EpochShape,
    pub(super) matrix: Dense<S>,
}

/// Reads a whole file; `None` where it is text that would take more than `max_bytes`.
pub(super) fn read_whole<S: Scalar>(
    path: &Path,
    max_bytes: u64,
    machine: &Machine,
    stages: &mut Stages,
) -> Result<Option<Epochs<S>>, ErpError> {
    let epochs = if is_npy(path) {
        let start = Instant::now();
        let needed = bytes_to_read_npy::<S>(path)?;
        if needed.is_none_or(|bytes| bytes > max_bytes) {
            let what = format!("reading the epochs of {}", path.display());
            return Err(Refusal::Memory { what, needed, budget: max_bytes }.into());
        }
        let epochs = read_stack(path, machine)?;
        stages.read_ns += start.elapsed().as_nanos() as f64;
        epochs
    } else {
        let options = TextOptions { max_bytes, ..TextOptions::default() };
        let text = match machine.pool().install(|| read_text_matrix::<S>(path, &options)) {
            Err(ReadError::TooLarge { .. }) => return Ok(None),
            text => text?,
        };
        stages.read_ns += text.read_ns;
        stages.parse_ns += text.parse_ns;
        Epochs { shape: EpochShape { columns: text.matrix.cols(), stack: None }, matrix: text.matrix }
    };
    if epochs.matrix.rows() == 0 || epochs.matrix.cols() == 0 {
        return Err(ErpError::NoEpochs(path.to_owned()));
    }
    Ok(Some(epochs))
}

fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

/// A `.npy` of two dimensions, epochs × columns, or of three: epochs × sensors × samples, or the other way round.
fn read_stack<S: Scalar>(path: &Path, machine: &Machine) -> Result<Epochs<S>, ErpError> {
    let stack = read_npy_stack::<S>(path, Conversion::Allow)?;
    let third_is_slowest = stack.last_is_slowest;
    let dimensions = match stack.shape[..] {
        [_, second, third] => Some(Stack { second, third, third_is_slowest }),
        _ => None,
    };
    let matrix = stack.matrix;
    let numbers = matrix.data();
    let first = machine.pool().install(|| numbers.par_iter().position_first(|number| !number.is_finite()));
    if let Some(at) = first {
        let (epoch, column) = (at / matrix.cols() + 1, at % matrix.cols() + 1);
        let value = numbers[at].to_f64();
        return Err(ErpError::NotFinite { path: path.to_owned(), epoch, column, value });
    }
    Ok(Epochs { shape: EpochShape { columns: matrix.cols(), stack: dimensions }, matrix })
}

/// Bytes of a block of epochs: large enough that starting threads does not show, small enough that several fit anywhere.
const BLOCK_BYTES: usize = 32 << 20;

/// Columns of a text, from its first row.
pub(super) fn text_columns(path: &Path) -> Result<usize, ErpError> {
    /// The first row is all that is wanted.
    enum Stop {
        Columns(usize),
        Failed(ReadError),
    }
    impl From<ReadError> for Stop {
        fn from(error: ReadError) -> Self {
            Stop::Failed(error)
        }
    }
    let first = |row: Dense<f64>| Err(Stop::Columns(row.cols()));
    match read_text_blocks(path, &TextOptions::default(), 1, first) {
        Err(Stop::Columns(columns)) => Ok(columns),
        Err(Stop::Failed(error)) => Err(error.into()),
        Ok(_) => Err(ErpError::NoEpochs(path.to_owned())),
    }
}

/// Rows of a block of a few dozen megabytes.
pub(super) fn rows_per_block<S: Scalar>(columns: usize) -> usize {
    (BLOCK_BYTES / columns.saturating_mul(size_of::<S>()).max(1)).clamp(1, 1 << 16)
}

/// Reads a text block after block, in order, each of so many rows.
pub(super) fn read_blocks<S: Scalar>(
    path: &Path,
    rows: usize,
    machine: &Machine,
    take: impl FnMut(Dense<S>) -> Result<(), ErpError> + Send,
) -> Result<(), ErpError> {
    machine.pool().install(|| read_text_blocks(path, &TextOptions::default(), rows, take)).map(drop)
}

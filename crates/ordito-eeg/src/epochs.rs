//! Reading: files become epochs, all of one at once or block after block.

use crate::analysis::Stages;
use crate::arrangement::{EpochShape, Stack};
use crate::error::ErpError;
use ordito::Scalar;
use ordito::io::ReadError;
use ordito::io::npy::{Conversion, bytes_to_read_npy, read_npy_stack};
use ordito::io::{TextBlock, TextFacts, TextOptions, read_text_blocks, read_text_columns, read_text_matrix};
use ordito::machine::Machine;
use ordito::matrix::Dense;
use ordito::refusal::Refusal;
use rayon::prelude::*;
use std::path::Path;
use std::time::Instant;

/// All epochs of a file.
pub(crate) struct Epochs<S> {
    pub(crate) shape: EpochShape,
    pub(crate) matrix: Dense<S>,
}

/// Reads a whole file; `None` where it is text that would take more than `max_bytes`.
pub(crate) fn read_whole<S: Scalar>(
    path: &Path,
    max_bytes: u64,
    machine: &Machine,
    stages: &mut Stages,
) -> Result<Option<Epochs<S>>, ErpError> {
    let epochs = if !is_text(path) {
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

/// Is it none of NumPy's files?
pub(crate) fn is_text(path: &Path) -> bool {
    path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("npy"))
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

/// Bytes of numbers that a block may have. An ordinary one is allowed whatever the limit (a number in eight bytes takes two of
/// text, so a block has four times its text at most): only rows that are longer than blocks can have more.
fn most_of_a_block(machine: &Machine, block_bytes: usize) -> u64 {
    machine.limits().memory_bytes.max(4 * block_bytes as u64)
}

/// Columns of a text, from its first row.
pub(crate) fn text_columns(path: &Path, machine: &Machine) -> Result<usize, ErpError> {
    let options = TextOptions::default();
    let max_bytes = most_of_a_block(machine, options.block_bytes);
    Ok(read_text_columns(path, &TextOptions { max_bytes, ..options })?)
}

/// Reads a text, with all threads, as [`read_text_blocks`] does.
pub(crate) fn read_blocks<S: Scalar, T: Send>(
    path: &Path,
    block_bytes: usize,
    machine: &Machine,
    work: impl Fn(TextBlock<'_, S>) -> T + Sync + Send,
    take: impl FnMut(T) -> Result<(), ErpError> + Send,
) -> Result<TextFacts, ErpError> {
    let max_bytes = most_of_a_block(machine, block_bytes);
    let options = TextOptions { block_bytes, max_bytes, ..TextOptions::default() };
    machine.pool().install(|| read_text_blocks(path, &options, work, take))
}

//! One condition after the other: its files read, whole where they fit, and reduced.

use super::arrangement::{Arrangement, EpochShape};
use super::epochs::{Epochs, read_blocks, read_whole, text_columns};
use super::reduce::{Engine, Kept, Reduction};
use super::{Condition, ErpError, GroupOrder, Settings};
use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::Dense;
use crate::ops::columns::Statistics;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The epochs of a condition.
pub(super) enum Source<S> {
    /// All in memory, one matrix per file.
    Whole(Vec<Epochs<S>>),
    /// Too large for that.
    Blocks(Vec<PathBuf>),
}

/// What became of them.
pub(super) struct Reduced<S> {
    pub(super) condition: Condition,
    pub(super) groups: Vec<Condition>,
    pub(super) statistics: Statistics,
    /// The epochs themselves, where a permutation test will need them.
    pub(super) kept: Vec<Kept<S>>,
    pub(super) warning: Option<String>,
}

pub(super) struct Job<'a, S: Scalar> {
    settings: &'a Settings,
    machine: &'a Arc<Machine>,
    pub(super) engine: Engine<'a, S>,
    /// Bytes of epochs that stay in memory.
    held: u64,
}

impl<'a, S: Scalar> Job<'a, S> {
    pub(super) fn new(settings: &'a Settings, machine: &'a Arc<Machine>) -> Self {
        Job { settings, machine, engine: Engine::new(machine), held: 0 }
    }

    /// Reads the files of one condition, which all have epochs of one shape; only the first row where they do not fit.
    pub(super) fn read(&mut self, paths: &[PathBuf]) -> Result<(EpochShape, Source<S>), ErpError> {
        let (mut files, mut shape) = (Vec::new(), None);
        let mut free = self.machine.limits().memory_bytes.saturating_sub(self.held);
        for path in paths {
            let Some(epochs) = read_whole::<S>(path, free, self.machine, &mut self.engine.stages)? else {
                return self.read_in_blocks(paths, path);
            };
            free = free.saturating_sub(size_of_val(epochs.matrix.data()) as u64);
            same_shape(*shape.get_or_insert(epochs.shape), &paths[0], epochs.shape, path)?;
            files.push(epochs);
        }
        let shape = shape.unwrap_or(EpochShape { columns: 0, stack: None });
        Ok((shape, Source::Whole(files)))
    }

    fn read_in_blocks(
        &self,
        paths: &[PathBuf],
        too_large: &Path,
    ) -> Result<(EpochShape, Source<S>), ErpError> {
        let blocked = self.settings.groups.is_some_and(|groups| groups.order == GroupOrder::Blocked);
        let path = too_large.to_owned();
        if self.settings.permutations.is_some() {
            return Err(ErpError::NotInMemory { what: "--permutations", path });
        }
        if blocked {
            return Err(ErpError::NotInMemory { what: "--group-order blocked", path });
        }
        let shape_of = |path: &PathBuf| text_columns(path).map(|columns| EpochShape { columns, stack: None });
        let first = shape_of(&paths[0])?;
        for path in &paths[1..] {
            same_shape(first, &paths[0], shape_of(path)?, path)?;
        }
        Ok((first, Source::Blocks(paths.to_vec())))
    }

    /// Preprocesses and averages.
    pub(super) fn reduce(
        &mut self,
        name: &'static str,
        arrangement: &Arrangement,
        source: Source<S>,
    ) -> Result<Reduced<S>, ErpError> {
        let groups = self.settings.groups.filter(|_| name == NONTARGET);
        let rows = match &source {
            Source::Whole(files) => files.iter().map(|file| file.matrix.rows()).sum(),
            Source::Blocks(_) => 0,
        };
        if let (Some(groups), Source::Whole(_)) = (groups, &source) {
            groups.check(rows)?;
        }
        let grouping = groups.map(|groups| (groups, rows));
        let mut reduction = Reduction::new(name, self.settings, arrangement, grouping);
        let mut kept = Vec::new();
        match source {
            Source::Whole(files) => {
                for file in files {
                    let epochs = reduction.take(file.matrix, &mut self.engine)?;
                    if self.settings.permutations.is_some() {
                        self.held += size_of_val(epochs.matrix.data()) as u64;
                        kept.push(epochs);
                    }
                }
            }
            Source::Blocks(paths) => {
                for path in paths {
                    self.take_blocks(&path, arrangement.shape.columns, &mut reduction)?;
                }
            }
        }
        let warning = groups.map_or(Ok(None), |groups| groups.check(reduction.read()))?;
        let statistics = reduction.statistics.clone();
        let (condition, groups) = reduction.finish()?;
        Ok(Reduced { condition, groups, statistics, kept, warning })
    }

    /// Reads a file block after block, each reduced before the next is asked for.
    fn take_blocks(
        &mut self,
        path: &Path,
        columns: usize,
        reduction: &mut Reduction<'_>,
    ) -> Result<(), ErpError> {
        let (start, mut reducing_ns) = (Instant::now(), 0.0);
        let engine = &mut self.engine;
        read_blocks(path, columns, self.machine, |block: Dense<S>| {
            let start = Instant::now();
            reduction.take(block, engine)?;
            reducing_ns += start.elapsed().as_nanos() as f64;
            Ok(())
        })?;
        // Reading and parsing overlap here; the sum stands with what takes longer.
        self.engine.stages.parse_ns += start.elapsed().as_nanos() as f64 - reducing_ns;
        Ok(())
    }
}

/// The names of the two conditions.
pub(super) const TARGET: &str = "target";
pub(super) const NONTARGET: &str = "nontarget";

/// Epochs of one recording have one shape.
pub(super) fn same_shape(
    expected: EpochShape,
    first: &Path,
    found: EpochShape,
    second: &Path,
) -> Result<(), ErpError> {
    if found == expected {
        return Ok(());
    }
    let (first, second) = (first.to_owned(), second.to_owned());
    match (expected.stack, found.stack) {
        (expected, found) if expected != found => Err(ErpError::LayoutsDiffer { first, second }),
        _ => Err(ErpError::FilesDiffer {
            first,
            first_columns: expected.columns,
            second,
            second_columns: found.columns,
        }),
    }
}

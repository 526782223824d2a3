//! One condition after the other: its files read, whole where they fit, and reduced.

use super::arrangement::{Arrangement, EpochShape};
use super::epochs::{Epochs, read_blocks, read_whole, rows_per_block, text_columns};
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
    /// Sentences that a person should read.
    pub(super) warnings: Vec<String>,
}

/// One condition after the other.
pub(super) struct Job<'a, S: Scalar> {
    settings: &'a Settings,
    /// Rows of a block, where a test wants many of them.
    rows_per_block: Option<usize>,
    machine: &'a Arc<Machine>,
    pub(super) engine: Engine<'a, S>,
    /// Bytes of epochs that stay in memory.
    held: u64,
}

impl<'a, S: Scalar> Job<'a, S> {
    pub(super) fn new(
        settings: &'a Settings,
        machine: &'a Arc<Machine>,
        rows_per_block: Option<usize>,
    ) -> Self {
        Job { settings, rows_per_block, machine, engine: Engine::new(machine), held: 0 }
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
        // All are opened again, and the one that was too large has been read in part.
        if let Some(path) = paths.iter().find(|path| !path.is_file()) {
            return Err(ErpError::NotRegular(path.clone()));
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
        if let Some(groups) = groups {
            let bytes = groups.bytes_of_statistics(arrangement.shape.columns);
            self.machine.check_memory(format!("--groups {}", groups.count), bytes)?;
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
        let uneven = groups.map_or(Ok(None), |groups| groups.check(reduction.read()))?;
        let statistics = reduction.statistics.clone();
        let (condition, groups) = reduction.finish()?;
        let warnings = uneven.into_iter().chain(groups.iter().filter_map(few_epochs)).collect();
        Ok(Reduced { condition, groups, statistics, kept, warnings })
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
        let rows = self.rows_per_block.unwrap_or_else(|| rows_per_block::<S>(columns));
        read_blocks(path, rows, self.machine, |block: Dense<S>| {
            if block.cols() != columns {
                let (path, found) = (path.to_owned(), block.cols());
                return Err(ErpError::Changed { path, expected: columns, found });
            }
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

/// A sentence on a group of which too little is left to say all there is to say.
fn few_epochs(group: &Condition) -> Option<String> {
    let Condition { name, read, kept, .. } = group;
    match kept {
        0 => Some(format!("{name} has none of its {read} epochs left: its mean is not known (NaN)")),
        1 => Some(format!("{name} has one epoch left of {read}: its standard error is not known (NaN)")),
        _ => None,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::erp::Sensors;

    #[test]
    fn a_file_that_changed_while_it_was_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "1 2 3\n4 5 6\n").unwrap();
        let settings = Settings { sensors: Sensors::Count(1), ..Settings::default() };
        for columns in [2, 4] {
            let shape = EpochShape { columns, stack: None };
            let arrangement = Arrangement::new(&settings, &path, shape).unwrap();
            let machine = Machine::with_threads(1).unwrap();
            let mut job = Job::<f64>::new(&settings, &machine, None);
            let reduced = job.reduce(TARGET, &arrangement, Source::Blocks(vec![path.clone()]));
            let said = reduced.map(drop).unwrap_err().to_string();
            assert!(
                said.ends_with(&format!(
                    "a.txt had {columns} columns and now has 3: did it change while it was read?"
                )),
                "{said}"
            );
        }
    }
}

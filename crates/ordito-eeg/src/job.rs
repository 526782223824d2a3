//! One condition after the other: its files read and reduced, at once where that is possible.

use crate::analysis::Chosen;
use crate::arrangement::{Arrangement, EpochShape};
use crate::block::Steps;
use crate::condition::Condition;
use crate::epochs::{Epochs, is_text, read_blocks, read_whole, text_columns};
use crate::error::ErpError;
use crate::groups::GroupOrder;
use crate::reduce::{Engine, Kept, Reduction, reduce_here};
use crate::settings::Settings;
use crate::variant::{by_one_thread, takes_blocks};
use ordito::Scalar;
use ordito::column_stats::{Shape, Statistics};
use ordito::io::TextBlock;
use ordito::machine::{Accelerator, Machine};
use ordito::op::Description;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The epochs of a file.
pub(crate) enum Source<S> {
    /// All in memory.
    Whole(Epochs<S>),
    /// Still to be read: each block is reduced as soon as it is, and all of them are never in memory.
    Blocks(PathBuf),
}

/// What became of them.
pub(crate) struct Reduced<S> {
    pub(crate) condition: Condition,
    pub(crate) groups: Vec<Condition>,
    pub(crate) statistics: Statistics,
    /// The epochs themselves, where a permutation test will need them.
    pub(crate) kept: Vec<Kept<S>>,
    /// Sentences that a person should read.
    pub(crate) warnings: Vec<String>,
}

/// One condition after the other.
pub(crate) struct Job<'a, S: Scalar> {
    settings: &'a Settings,
    machine: &'a Arc<Machine>,
    /// Text of a block.
    block_bytes: usize,
    pub(crate) engine: Engine<'a, S>,
    /// Bytes of epochs that stay in memory.
    held: u64,
}

impl<'a, S: Scalar> Job<'a, S> {
    pub(crate) fn new(
        settings: &'a Settings,
        machine: &'a Arc<Machine>,
        variant: Option<&'static Description>,
        block_bytes: usize,
    ) -> Self {
        Job { settings, machine, block_bytes, engine: Engine::new(machine, variant), held: 0 }
    }

    /// Reads the files of one condition, which all have epochs of one shape; of text that need not be in memory as a whole
    /// the first row only.
    pub(crate) fn read(&mut self, paths: &[PathBuf]) -> Result<(EpochShape, Vec<Source<S>>), ErpError> {
        let (mut files, mut first) = (Vec::new(), None);
        let needs_all = self.needs_all_epochs();
        let mut free = self.machine.limits().memory_bytes.saturating_sub(self.held);
        for path in paths {
            // What comes through a pipe can be looked at only once.
            let (shape, source) = if needs_all.is_none() && is_text(path) && path.is_file() {
                let shape = EpochShape { columns: text_columns(path, self.machine)?, stack: None };
                (shape, Source::Blocks(path.clone()))
            } else {
                let epochs = read_whole::<S>(path, free, self.machine, &mut self.engine.stages)?;
                let epochs = epochs.ok_or_else(|| match needs_all {
                    Some(what) => ErpError::NotInMemory { what, path: path.clone() },
                    None => ErpError::NotRegular(path.clone()),
                })?;
                free = free.saturating_sub(size_of_val(epochs.matrix.data()) as u64);
                (epochs.shape, Source::Whole(epochs))
            };
            same_shape(*first.get_or_insert(shape), &paths[0], shape, path)?;
            self.check_columns(shape.columns)?;
            files.push(source);
        }
        Ok((first.unwrap_or(EpochShape { columns: 0, stack: None }), files))
    }

    /// Results grow with the columns of an epoch, however few epochs there are.
    fn check_columns(&self, columns: usize) -> Result<(), ErpError> {
        /// Of both conditions and what becomes of them, and while a thread reduces a block of its own.
        const BYTES_PER_COLUMN: u64 = 240;
        const BYTES_PER_THREAD_AND_COLUMN: u64 = 16;
        let per_column = BYTES_PER_COLUMN + BYTES_PER_THREAD_AND_COLUMN * self.machine.threads() as u64;
        let bytes = (columns as u64).checked_mul(per_column);
        Ok(self.machine.check_memory(format!("waves of {columns} numbers"), bytes)?)
    }

    /// What was asked for that cannot be done block after block.
    fn needs_all_epochs(&self) -> Option<&'static str> {
        if self.settings.permutations.is_some() {
            return Some("--permutations");
        }
        if self.settings.groups.is_some_and(|groups| groups.order == GroupOrder::Blocked) {
            return Some("--group-order blocked");
        }
        if self.engine.variant.is_some_and(|variant| !takes_blocks(variant)) {
            return Some("the variant that was asked for");
        }
        match self.machine.accelerator() {
            Accelerator::None => None,
            Accelerator::Emulator => Some("--on emulator"),
            _ => Some("--on cuda"),
        }
    }

    /// Preprocesses and averages.
    pub(crate) fn reduce(
        &mut self,
        name: &'static str,
        arrangement: &Arrangement,
        files: Vec<Source<S>>,
    ) -> Result<Reduced<S>, ErpError> {
        let groups = self.settings.groups.filter(|_| name == NONTARGET);
        // How many epochs there are, where that is known: where groups depend on it, it is.
        let rows: Option<usize> = files.iter().map(Source::rows).sum();
        if let Some(groups) = groups {
            rows.map_or(Ok(None), |rows| groups.check(rows))?;
            let bytes = groups.bytes_of_statistics(arrangement.shape.columns);
            self.machine.check_memory(format!("--groups {}", groups.count), bytes)?;
        }
        let grouping = groups.map(|groups| (groups, rows.unwrap_or(0)));
        let steps = Steps::new(self.settings, arrangement, grouping, name == TARGET);
        let mut reduction = Reduction::new(name, self.settings, &steps);
        let mut kept = Vec::new();
        for file in files {
            match file {
                Source::Whole(epochs) => kept.extend(self.take_whole(epochs, &steps, &mut reduction)?),
                Source::Blocks(path) => self.take_blocks(&path, &steps, &mut reduction)?,
            }
        }
        let uneven = groups.map_or(Ok(None), |groups| groups.check(reduction.read()))?;
        let mut warnings = std::mem::take(&mut reduction.warnings);
        let statistics = reduction.statistics.clone();
        let (condition, groups) = reduction.finish(&steps)?;
        warnings.extend(uneven.into_iter().chain(groups.iter().filter_map(few_epochs)));
        Ok(Reduced { condition, groups, statistics, kept, warnings })
    }

    /// Reduces epochs that are in memory; keeps them where a permutation test will need them.
    fn take_whole(
        &mut self,
        mut epochs: Epochs<S>,
        steps: &Steps<'_>,
        reduction: &mut Reduction,
    ) -> Result<Option<Kept<S>>, ErpError> {
        let (engine, first) = (&mut self.engine, reduction.read());
        let mut view = epochs.matrix.view_mut();
        let part = steps.take(first, &mut view, self.machine.pool(), |view| engine.statistics(view))?;
        let rows = part.kept;
        self.engine.stages.preprocess_ns += part.preprocess_ns;
        reduction.add(part, steps);
        if self.settings.permutations.is_none() {
            return Ok(None);
        }
        self.held += size_of_val(epochs.matrix.data()) as u64;
        Ok(Some(Kept { rows, matrix: epochs.matrix }))
    }

    /// Reads a text; every block is reduced by the thread that read it.
    fn take_blocks(
        &mut self,
        path: &Path,
        steps: &Steps<'_>,
        reduction: &mut Reduction,
    ) -> Result<(), ErpError> {
        let (start, first, cols) = (Instant::now(), reduction.read(), steps.arrangement.shape.columns);
        let machine = self.machine;
        let work = |mut block: TextBlock<'_, S>| {
            let found = block.numbers.cols();
            if found != cols {
                return Err(ErpError::Changed { path: path.to_owned(), expected: cols, found });
            }
            let first = first + block.first_row as usize;
            steps.take(first, &mut block.numbers, machine.pool(), |view| reduce_here(view, machine))
        };
        let (mut blocks, mut most_rows) = (0, 0);
        let (mut preprocess_ns, mut statistics_ns) = (0.0, 0.0);
        let facts = read_blocks(path, self.block_bytes, machine, work, |part| {
            let part = part?;
            (blocks, most_rows) = (blocks + 1, most_rows.max(part.rows));
            preprocess_ns += part.preprocess_ns;
            statistics_ns += part.statistics_ns;
            reduction.add(part, steps);
            Ok(())
        })?;
        // The threads do all of it at once: every step has its share of the time.
        let at_once = machine.threads().min(blocks).max(1) as f64;
        let (preprocess_ns, kernel_ns) = (preprocess_ns / at_once, statistics_ns / at_once);
        let stages = &mut self.engine.stages;
        stages.read_ns += facts.read_ns;
        stages.preprocess_ns += preprocess_ns;
        stages.kernel_ns += kernel_ns;
        let elapsed_ns = start.elapsed().as_nanos() as f64;
        stages.parse_ns += (elapsed_ns - facts.read_ns - preprocess_ns - kernel_ns).max(0.0);
        self.engine.chosen.get_or_insert_with(|| {
            let shape = Shape { rows: facts.rows as usize, cols };
            let asked = self.engine.variant.map_or("", |_| "asked for by name; ");
            let reason = format!(
                "{asked}{shape}: at most {most_rows} rows at a time, by the thread that has just read them"
            );
            let variant = by_one_thread().map_or("", |variant| variant.name).to_owned();
            Chosen { step: "statistics", variant, reason }
        });
        Ok(())
    }
}

impl<S: Scalar> Source<S> {
    /// How many epochs, if they were read.
    fn rows(&self) -> Option<usize> {
        match self {
            Source::Whole(epochs) => Some(epochs.matrix.rows()),
            Source::Blocks(_) => None,
        }
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
pub(crate) const TARGET: &str = "target";
pub(crate) const NONTARGET: &str = "nontarget";

/// Epochs of one recording have one shape.
pub(crate) fn same_shape(
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
    use crate::settings::Sensors;

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
            let mut job = Job::<f64>::new(&settings, &machine, None, 1 << 20);
            let reduced = job.reduce(TARGET, &arrangement, vec![Source::Blocks(path.clone())]);
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

//! Blocks of epochs become the statistics of their columns: preprocessed and reduced where they lie.

use super::arrangement::Arrangement;
use super::preprocess::Preprocess;
use super::{Chosen, Condition, ErpError, Groups, Rejected, Settings, Stages};
use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Dense, DenseView};
use crate::ops::RunError;
use crate::ops::columns::{Plan, Shape, Statistics};
use std::sync::Arc;
use std::time::Instant;

/// Epochs of a matrix that were kept: its first rows.
pub(super) struct Kept<S> {
    pub(super) matrix: Dense<S>,
    pub(super) rows: usize,
}

/// Computes the statistics of columns, on the machine that was asked for.
pub(super) struct Engine<'a, S: Scalar> {
    machine: &'a Arc<Machine>,
    /// For blocks of one shape; those of a large file all have it but the last.
    plan: Option<(Shape, Plan<S>)>,
    pub(super) stages: Stages,
    /// Who computed the first of them, and why.
    pub(super) chosen: Option<Chosen>,
}

impl<'a, S: Scalar> Engine<'a, S> {
    pub(super) fn new(machine: &'a Arc<Machine>) -> Self {
        Engine { machine, plan: None, stages: Stages::default(), chosen: None }
    }

    fn statistics(&mut self, data: DenseView<'_, S>) -> Result<Statistics, ErpError> {
        let shape = Shape { rows: data.rows(), cols: data.cols() };
        let plan = match &mut self.plan {
            Some((ready, plan)) if *ready == shape => plan,
            other => {
                let start = Instant::now();
                let plan = Plan::new(shape, self.machine)?;
                self.stages.prepare_ns += start.elapsed().as_nanos() as f64;
                &mut other.insert((shape, plan)).1
            }
        };
        let start = Instant::now();
        let statistics = plan.apply(data)?;
        let (elapsed_ns, phases) = (start.elapsed().as_nanos() as f64, plan.phases());
        self.stages.upload_ns += phases.upload_ns.unwrap_or(0.0);
        self.stages.kernel_ns += phases.run_ns.unwrap_or(elapsed_ns);
        self.stages.download_ns += phases.download_ns.unwrap_or(0.0);
        let choice = plan.choice();
        self.chosen.get_or_insert_with(|| Chosen {
            step: "statistics",
            variant: choice.variant.to_owned(),
            reason: choice.reason.clone(),
        });
        Ok(statistics)
    }
}

/// Groups, and of how many rows in all.
pub(super) type Grouping = (Groups, usize);

/// One condition while its blocks come in.
pub(super) struct Reduction<'a> {
    name: &'static str,
    arrangement: &'a Arrangement,
    preprocess: Preprocess<'a>,
    limit: Option<f64>,
    read: usize,
    rejected: Vec<Rejected>,
    quietest: f64,
    pub(super) statistics: Statistics,
    grouping: Option<Grouping>,
    /// Epochs read, those left out, and the statistics of the others, of every group.
    groups: Vec<(usize, Vec<Rejected>, Statistics)>,
}

impl<'a> Reduction<'a> {
    pub(super) fn new(
        name: &'static str,
        settings: &Settings,
        arrangement: &'a Arrangement,
        grouping: Option<Grouping>,
    ) -> Self {
        let nothing = || Statistics::empty(arrangement.shape.columns);
        let groups = grouping.map_or(0, |(groups, _)| groups.count);
        Reduction {
            name,
            arrangement,
            preprocess: Preprocess::new(settings, arrangement),
            limit: settings.reject,
            read: 0,
            rejected: Vec::new(),
            quietest: f64::INFINITY,
            statistics: nothing(),
            grouping,
            groups: (0..groups).map(|_| (0, Vec::new(), nothing())).collect(),
        }
    }

    /// Takes the next epochs; gives them back, those that were kept first.
    pub(super) fn take<S: Scalar>(
        &mut self,
        mut epochs: Dense<S>,
        engine: &mut Engine<'_, S>,
    ) -> Result<Kept<S>, ErpError> {
        let start = Instant::now();
        let (first, rows) = (self.read, epochs.rows());
        let mut kept: Vec<usize> = (0..rows).collect();
        if self.preprocess.is_needed() {
            let farthest = self.preprocess.apply(&mut epochs, engine.machine.pool());
            kept.retain(|&row| farthest[row].as_ref().is_none_or(|found| self.preprocess.keeps(found)));
            self.note(farthest, first);
            move_up(&mut epochs, &kept);
            engine.stages.preprocess_ns += start.elapsed().as_nanos() as f64;
        }
        self.read += rows;
        let view = first_rows(&epochs, kept.len())?;
        if !kept.is_empty() {
            self.statistics.merge(&engine.statistics(view)?);
        }
        self.take_groups(view, first, rows, &kept, engine)?;
        Ok(Kept { rows: kept.len(), matrix: epochs })
    }

    /// Keeps account of what was rejected.
    fn note(&mut self, farthest: Vec<Option<Rejected>>, first: usize) {
        for found in farthest.into_iter().flatten() {
            self.quietest = self.quietest.min(found.peak_to_peak);
            if !self.preprocess.keeps(&found) {
                self.rejected.push(Rejected { epoch: first + found.epoch + 1, ..found });
            }
        }
    }

    /// The rows of every group, copied together: a group is a small share of all.
    fn take_groups<S: Scalar>(
        &mut self,
        view: DenseView<'_, S>,
        first: usize,
        rows: usize,
        kept: &[usize],
        engine: &mut Engine<'_, S>,
    ) -> Result<(), ErpError> {
        let Some((groups, total)) = self.grouping else { return Ok(()) };
        for row in first..first + rows {
            self.groups[groups.of(row, total)].0 += 1;
        }
        for group in 0..groups.count {
            let here = |row: usize| groups.of(first + row, total) == group;
            let places: Vec<usize> = (0..kept.len()).filter(|&place| here(kept[place])).collect();
            if places.is_empty() {
                continue;
            }
            let numbers: Vec<S> = places.iter().flat_map(|&place| view.row(place)).copied().collect();
            let gathered = DenseView::new(&numbers, places.len(), view.cols(), view.cols());
            let statistics = engine.statistics(gathered.map_err(RunError::from)?)?;
            self.groups[group].2.merge(&statistics);
        }
        let of = |rejected: &Rejected| groups.of(rejected.epoch - 1, total);
        for rejected in self.rejected.iter().filter(|rejected| rejected.epoch > first) {
            self.groups[of(rejected)].1.push(rejected.clone());
        }
        Ok(())
    }

    /// Epochs read so far.
    pub(super) fn read(&self) -> usize {
        self.read
    }

    /// The condition, and its groups.
    pub(super) fn finish(self) -> Result<(Condition, Vec<Condition>), ErpError> {
        let (condition, read) = (self.name.to_owned(), self.read);
        let Arrangement { recording, .. } = self.arrangement;
        match self.statistics.count {
            0 => {
                let (limit, unit) = (self.limit.unwrap_or(0.0), recording.unit.clone());
                return Err(ErpError::AllRejected { condition, read, limit, unit, quietest: self.quietest });
            }
            1 => return Err(ErpError::OneEpoch { condition }),
            _ => {}
        }
        let columns = self.arrangement.columns();
        let groups = self.grouping.map_or(Vec::new(), |(groups, _)| groups.labels());
        let groups = groups.iter().zip(self.groups).map(|(label, (read, rejected, statistics))| {
            Condition::new(label, recording, &columns, &statistics, read, rejected)
        });
        let groups = groups.collect();
        let whole = Condition::new(self.name, recording, &columns, &self.statistics, read, self.rejected);
        Ok((whole, groups))
    }
}

/// Moves the rows that are kept to the top, in order.
fn move_up<S: Scalar>(epochs: &mut Dense<S>, kept: &[usize]) {
    let (cols, distance) = (epochs.cols(), epochs.leading_dimension());
    for (place, &row) in kept.iter().enumerate().filter(|(place, row)| place != *row) {
        epochs.data_mut().copy_within(row * distance..row * distance + cols, place * distance);
    }
}

/// The first rows of a matrix.
pub(super) fn first_rows<S: Scalar>(matrix: &Dense<S>, rows: usize) -> Result<DenseView<'_, S>, ErpError> {
    let view = DenseView::new(matrix.data(), rows, matrix.cols(), matrix.leading_dimension());
    Ok(view.map_err(RunError::from)?)
}

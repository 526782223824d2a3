//! Blocks of epochs become a condition: who reduces them, and how what becomes of each is put together.

use crate::analysis::{Chosen, Stages};
use crate::arrangement::Arrangement;
use crate::block::{Part, Steps};
use crate::condition::Condition;
use crate::error::ErpError;
use crate::reject::Rejected;
use crate::settings::Settings;
use crate::variant::by_one_thread;
use ordito::Scalar;
use ordito::column_stats::{Plan, Shape, Statistics};
use ordito::machine::Machine;
use ordito::matrix::{Dense, DenseView};
use ordito::op::Description;
use std::sync::Arc;
use std::time::Instant;

/// Epochs of a matrix that were kept: its first rows.
pub(crate) struct Kept<S> {
    pub(crate) matrix: Dense<S>,
    pub(crate) rows: usize,
}

/// The statistics of a block, by the thread that asks.
pub(crate) fn reduce_here<S: Scalar>(
    data: DenseView<'_, S>,
    machine: &Arc<Machine>,
) -> Result<Statistics, ErpError> {
    let shape = Shape { rows: data.rows(), cols: data.cols() };
    let plan = match by_one_thread() {
        Some(variant) => Plan::with_variant(variant.name, shape, machine),
        None => Plan::new(shape, machine),
    };
    Ok(plan?.apply(data)?)
}

/// Computes the statistics of whole files, on the machine that was asked for.
pub(crate) struct Engine<'a, S: Scalar> {
    machine: &'a Arc<Machine>,
    /// Asked for by name; otherwise what fits every shape.
    pub(crate) variant: Option<&'static Description>,
    /// For matrices of one shape.
    plan: Option<(Shape, Plan<S>)>,
    pub(crate) stages: Stages,
    /// Who computed the first of them, and why.
    pub(crate) chosen: Option<Chosen>,
}

impl<'a, S: Scalar> Engine<'a, S> {
    pub(crate) fn new(machine: &'a Arc<Machine>, variant: Option<&'static Description>) -> Self {
        Engine { machine, variant, plan: None, stages: Stages::default(), chosen: None }
    }

    pub(crate) fn statistics(&mut self, data: DenseView<'_, S>) -> Result<Statistics, ErpError> {
        let shape = Shape { rows: data.rows(), cols: data.cols() };
        let plan = match &mut self.plan {
            Some((ready, plan)) if *ready == shape => plan,
            other => {
                let start = Instant::now();
                let plan = match self.variant {
                    Some(variant) => Plan::with_variant(variant.name, shape, self.machine)?,
                    None => Plan::new(shape, self.machine)?,
                };
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

/// One condition while its blocks come in.
pub(crate) struct Reduction {
    name: &'static str,
    limit: Option<f64>,
    read: usize,
    rejected: Vec<Rejected>,
    quietest: f64,
    pub(crate) statistics: Statistics,
    /// Epochs read, those left out, and the statistics of the others, of every group.
    groups: Vec<(usize, Vec<Rejected>, Statistics)>,
    /// Sentences that a person should read.
    pub(crate) warnings: Vec<String>,
}

impl Reduction {
    pub(crate) fn new(name: &'static str, settings: &Settings, steps: &Steps<'_>) -> Self {
        let nothing = || Statistics::empty(steps.arrangement.shape.columns);
        let groups = steps.grouping.map_or(0, |(groups, _)| groups.count);
        Reduction {
            name,
            limit: settings.reject,
            read: 0,
            rejected: Vec::new(),
            quietest: f64::INFINITY,
            statistics: nothing(),
            groups: (0..groups).map(|_| (0, Vec::new(), nothing())).collect(),
            warnings: Vec::new(),
        }
    }

    /// Takes in what became of the next block.
    pub(crate) fn add(&mut self, part: Part, steps: &Steps<'_>) {
        if let Some((groups, total)) = steps.grouping {
            for row in part.first..part.first + part.rows {
                self.groups[groups.of(row, total)].0 += 1;
            }
            for rejected in &part.rejected {
                self.groups[groups.of(rejected.epoch - 1, total)].1.push(rejected.clone());
            }
            for (group, statistics) in &part.groups {
                self.groups[*group].2.merge(statistics);
            }
        }
        self.read += part.rows;
        self.quietest = self.quietest.min(part.quietest);
        self.rejected.extend(part.rejected);
        if let Some(statistics) = &part.statistics {
            self.statistics.merge(statistics);
        }
        self.warnings.extend(part.warning);
    }

    /// Epochs read so far.
    pub(crate) fn read(&self) -> usize {
        self.read
    }

    /// The condition, and its groups.
    pub(crate) fn finish(self, steps: &Steps<'_>) -> Result<(Condition, Vec<Condition>), ErpError> {
        let (condition, read) = (self.name.to_owned(), self.read);
        let Arrangement { recording, .. } = steps.arrangement;
        match self.statistics.count {
            0 => {
                let (limit, unit) = (self.limit.unwrap_or(0.0), recording.unit.clone());
                return Err(ErpError::AllRejected { condition, read, limit, unit, quietest: self.quietest });
            }
            1 => return Err(ErpError::OneEpoch { condition }),
            _ => {}
        }
        let columns = steps.arrangement.columns();
        let groups = steps.grouping.map_or(Vec::new(), |(groups, _)| groups.labels());
        let groups = groups.iter().zip(self.groups).map(|(label, (read, rejected, statistics))| {
            Condition::new(label, recording, &columns, &statistics, read, rejected)
        });
        let groups = groups.collect();
        let whole = Condition::new(self.name, recording, &columns, &self.statistics, read, self.rejected);
        Ok((whole, groups))
    }
}

//! What was asked of `verify` or `bench`, with suite and defaults filled in.

use super::args::Dtype;
use super::suite::SuiteFiles;
use super::targets::Targets;
use crate::io::ReadOptions;
use crate::machine::Machine;
use crate::report::bar::Ink;
use crate::sample::StopRule;
use crate::workbench::{OracleLimits, Wanted};
use std::path::PathBuf;
use std::sync::Arc;

/// What was asked for.
pub(super) struct Request {
    pub(super) inputs: Vec<String>,
    pub(super) wanted: Wanted,
    /// The first machine of the CPU: reads, converts, limits.
    pub(super) machine: Arc<Machine>,
    pub(super) targets: Targets,
    pub(super) ks: Vec<usize>,
    pub(super) dtypes: Vec<Dtype>,
    pub(super) read: ReadOptions,
    pub(super) dump: Option<PathBuf>,
    pub(super) json: bool,
    pub(super) verbose: bool,
    /// Is the operation limited by what is multiplied, rather than by what is moved?
    pub(super) limited_by_products: bool,
    /// The suite, where one was asked for.
    pub(super) suite: Option<SuiteRequest>,
    /// How to measure; `None`: verify only.
    pub(super) measure: Option<MeasureRequest>,
}

/// What a suite adds.
pub(super) struct SuiteRequest {
    pub(super) name: String,
    pub(super) files: SuiteFiles,
    /// Few samples and a short check.
    pub(super) is_brief: bool,
}

impl Request {
    /// Is the check short, for want of time? `verify` has all there is.
    pub(super) fn is_brief(&self) -> bool {
        self.measure.is_some() && self.suite.as_ref().is_some_and(|suite| suite.is_brief)
    }

    /// When the oracle stops computing everything.
    pub(super) fn oracle_limits(&self) -> OracleLimits {
        if self.is_brief() { OracleLimits::brief() } else { OracleLimits::default() }
    }

    /// Inputs of the suite that are not there.
    pub(super) fn left_out(&self) -> &[String] {
        self.suite.as_ref().map_or(&[], |suite| &suite.files.left_out)
    }
}

/// How the caches are when a run is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caches {
    /// As the run before leaves them; on a GPU also emptied, in a column of its own.
    Both,
    /// As the run before leaves them.
    Hot,
    /// Emptied before every run.
    Cold,
}

/// What `bench` adds.
pub(super) struct MeasureRequest {
    pub(super) rule: StopRule,
    pub(super) caches: Caches,
    pub(super) out: Option<PathBuf>,
    /// The variant that speed-ups are held against.
    pub(super) baseline: Option<String>,
    /// What to draw bars of rates with, if they are wanted.
    pub(super) bars: Option<Ink>,
}

//! What was asked of `verify` or `bench`, with suite and defaults filled in.

use crate::args::Dtype;
use crate::rank_options::RankOptions;
use crate::row_groups::RowGroups;
use crate::suite::SuiteFiles;
use crate::targets::Targets;
use crate::xrayed::XrayRequest;
use ordito::io::ReadOptions;
use ordito::machine::Machine;
use ordito_bench::report::bar::Ink;
use ordito_bench::sample::StopRule;
use ordito_bench::workbench::{OracleLimits, Wanted};
use std::path::PathBuf;
use std::sync::Arc;

/// What was asked for.
pub(crate) struct Request {
    pub(crate) inputs: Vec<String>,
    pub(crate) wanted: Wanted,
    /// The first machine of the CPU: reads, converts, limits.
    pub(crate) machine: Arc<Machine>,
    pub(crate) targets: Targets,
    pub(crate) ks: Vec<usize>,
    pub(crate) dtypes: Vec<Dtype>,
    /// In which groups rows are taken, where they are.
    pub(crate) groups: Option<RowGroups>,
    /// β of a dense product, where one was asked for.
    pub(crate) beta: Option<f64>,
    /// Elements between the rows of dense operands, a case for each.
    pub(crate) pads: Vec<usize>,
    pub(crate) read: ReadOptions,
    pub(crate) dump: Option<PathBuf>,
    /// How ranks share a matrix, where there are several.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub(crate) ranks: RankOptions,
    pub(crate) json: bool,
    pub(crate) verbose: bool,
    /// Is the operation limited by what is multiplied, rather than by what is moved?
    pub(crate) limited_by_products: bool,
    /// The suite, where one was asked for.
    pub(crate) suite: Option<SuiteRequest>,
    /// How to measure; `None`: verify only.
    pub(crate) measure: Option<MeasureRequest>,
    /// How to count what kernels do, instead of all that.
    pub(crate) xray: Option<XrayRequest>,
}

/// What a suite adds.
pub(crate) struct SuiteRequest {
    pub(crate) name: String,
    pub(crate) files: SuiteFiles,
    /// Few samples and a short check.
    pub(crate) is_brief: bool,
}

impl Request {
    /// Is the check short, for want of time? `verify` has all there is.
    pub(crate) fn is_brief(&self) -> bool {
        self.measure.is_some() && self.suite.as_ref().is_some_and(|suite| suite.is_brief)
    }

    /// When the oracle stops computing everything.
    pub(crate) fn oracle_limits(&self) -> OracleLimits {
        if self.is_brief() { OracleLimits::brief() } else { OracleLimits::default() }
    }

    /// Inputs of the suite that are not there.
    pub(crate) fn left_out(&self) -> &[String] {
        self.suite.as_ref().map_or(&[], |suite| &suite.files.left_out)
    }
}

/// How the caches are when a run is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caches {
    /// As the run before leaves them; on a GPU also emptied, in a column of its own.
    Both,
    /// As the run before leaves them.
    Hot,
    /// Emptied before every run.
    Cold,
}

/// What `bench` adds.
pub(crate) struct MeasureRequest {
    pub(crate) rule: StopRule,
    /// Is every single sample written?
    pub(crate) keep_samples: bool,
    /// Is a table of means and standard deviations printed?
    pub(crate) statistics: bool,
    pub(crate) caches: Caches,
    pub(crate) out: Option<PathBuf>,
    /// The variant that speed-ups are held against.
    pub(crate) baseline: Option<String>,
    /// What to draw bars of rates with, if they are wanted.
    pub(crate) bars: Option<Ink>,
}

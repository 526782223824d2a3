//! Results on their way out: one flat record per measured thing, and its shapes on disk and on the screen.
//! Knows nothing of how a record came about.
//!
//! `record` is the thing; `csv` and `json` its shapes on disk, `table` and `bar` those on the terminal; `matrix_facts` is what is known of a
//! matrix. What records say of each other: `compare` (runs with the first), `speed_up` (variants with the simplest), `break_even` (preparing
//! with what it buys), `peers` (our CUDA kernels with cuSPARSE). `figures` makes figures of records, `html` is the page around them.

pub mod bar;
pub mod break_even;
pub mod compare;
pub mod csv;
pub mod figures;
pub mod fingerprint;
pub mod html;
pub mod json;
pub mod labels;
pub mod matrix_facts;
pub mod one_run;
pub mod outcome;
pub mod peers;
pub mod record;
pub mod runs_csv;
pub mod setting;
pub mod speed_up;
pub mod table;
mod time_unit;
pub mod timed;

pub use crate::report::fingerprint::Fingerprint;
pub use crate::report::matrix_facts::MatrixFacts;
pub use crate::report::one_run::OneRun;
pub use crate::report::outcome::{Outcome, Param};
pub use crate::report::peers::PeerSummary;
pub use crate::report::record::{Record, SCHEMA};

use std::path::PathBuf;

/// Results of one run, as read from a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// What it is called: the file.
    pub label: String,
    /// Where it was measured.
    pub fingerprint: Fingerprint,
    /// What is known of the matrices.
    pub matrices: Vec<MatrixFacts>,
    /// What came out.
    pub records: Vec<Record>,
    /// The variant that speed-ups are held against, where one was chosen.
    pub baseline: Option<String>,
}

/// Why kept results cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// No such file, no permission, …
    #[error("{}: {reason}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: std::io::Error,
    },
    /// A line that is no record.
    #[error("{}:{line}: {message}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
}

//! What can go wrong with the EEG job, each a sentence that says where and what to do.

use crate::settings::Layout;
use ordito::files::WriteError;
use ordito::io::ReadError;
use ordito::op::RunError;
use ordito::refusal::Refusal;
use ordito::units;
use std::path::PathBuf;

/// Why there is no event-related potential.
#[derive(Debug, thiserror::Error)]
pub enum ErpError {
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A result cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The machine cannot do it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It failed while running.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A variant that computes less than the job needs.
    #[error(
        "`{variant}` computes the mean only; standard errors and t need the variance of every column too"
    )]
    MeanOnly {
        /// Its name.
        variant: &'static str,
    },
    /// The columns of a file are no whole number of samples.
    #[error("{} has {columns} columns, which is no multiple of {sensors} sensors: how many are there (--sensors)?", path.display())]
    NotDivisible {
        /// Which file.
        path: PathBuf,
        /// Its columns.
        columns: usize,
        /// Sensors, as given or assumed.
        sensors: usize,
    },
    /// Sensors and samples do not make the columns of a file.
    #[error("{} has {columns} columns, but {sensors} sensors × {samples} samples are {}", path.display(), sensors.saturating_mul(*samples))]
    NotTheProduct {
        /// Which file.
        path: PathBuf,
        /// Its columns.
        columns: usize,
        /// As asked for.
        sensors: usize,
        /// As asked for.
        samples: usize,
    },
    /// A stack of epochs has another shape than was said.
    #[error("{} has {found} {what} if it is {} (--layout {}), and {asked} were asked for", path.display(), layout.dimensions(), layout.name())]
    Stack {
        /// Which file.
        path: PathBuf,
        /// `sensors` or `samples`.
        what: &'static str,
        /// As in the file.
        found: usize,
        /// As asked for.
        asked: usize,
        /// Which decides what the dimensions are.
        layout: Layout,
    },
    /// Two files that are to be compared or joined have epochs of different shape.
    #[error("{} has {} columns, {} has {}: epochs of one recording have the same", first.display(), first_columns, second.display(), second_columns)]
    FilesDiffer {
        /// One.
        first: PathBuf,
        /// Its columns.
        first_columns: usize,
        /// The other.
        second: PathBuf,
        /// Its columns.
        second_columns: usize,
    },
    /// A text or a matrix beside a stack of epochs, or stacks of different shape.
    #[error("{} and {} hold epochs of different shape: both must be text or two-dimensional, or both of three equal dimensions and one order", first.display(), second.display())]
    LayoutsDiffer {
        /// One.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// A file holds no epochs.
    #[error("{} holds no epochs", .0.display())]
    NoEpochs(PathBuf),
    /// A number that is none.
    #[error("{}: epoch {epoch}, column {column} is {value}; every number must be finite", path.display())]
    NotFinite {
        /// Which file.
        path: PathBuf,
        /// Counted from 1.
        epoch: usize,
        /// Counted from 1.
        column: usize,
        /// NaN or an infinity.
        value: f64,
    },
    /// A sampling rate that is none.
    #[error("--rate {0}: a positive number of samples per second is needed, such as 102.4")]
    Rate(f64),
    /// A start that is no time.
    #[error("--start {0}: a time in seconds is needed, such as -0.1")]
    Start(f64),
    /// A rejection limit that is none.
    #[error("--reject {0}: a positive peak-to-peak amplitude is needed, such as 150")]
    Limit(f64),
    /// Sensors twice, or none.
    #[error("--sensors: {0}")]
    Sensors(String),
    /// Epochs without samples.
    #[error("--samples 0: at least one is needed")]
    NoSamples,
    /// No sensor has this name.
    #[error("--bad-channels: there is no sensor {name:?}{suggestion}")]
    UnknownSensor {
        /// What was asked for.
        name: String,
        /// "; did you mean …?", where one is near.
        suggestion: String,
    },
    /// Nothing is left.
    #[error("--bad-channels leaves no sensor")]
    NoSensorsLeft,
    /// A baseline without samples in it.
    #[error(
        "--baseline {from_s}:{to_s} does not lie inside of the epoch, which goes from {first_s:.4} s to {last_s:.4} s (--start, --rate)"
    )]
    Baseline {
        /// As asked for.
        from_s: f64,
        /// As asked for.
        to_s: f64,
        /// The first sample.
        first_s: f64,
        /// The last one.
        last_s: f64,
    },
    /// A baseline that is no interval.
    #[error(
        "--baseline {from_s}:{to_s}: two times are needed, the first not after the second, such as -0.1:0"
    )]
    BaselineTimes {
        /// As asked for.
        from_s: f64,
        /// As asked for.
        to_s: f64,
    },
    /// Nothing is left of a condition.
    #[error(
        "--reject {limit} {unit} leaves none of the {read} {condition} epochs; the quietest has {} {unit} peak to peak",
        units::number(*quietest)
    )]
    AllRejected {
        /// Which.
        condition: String,
        /// Epochs that were read.
        read: usize,
        /// The limit.
        limit: f64,
        /// Of the limit.
        unit: String,
        /// The smallest peak-to-peak amplitude of any epoch.
        quietest: f64,
    },
    /// One epoch has no spread.
    #[error("one {condition} epoch is left: a standard error needs two at least")]
    OneEpoch {
        /// Which condition.
        condition: String,
    },
    /// Groups of nothing.
    #[error("{0} needs a nontarget file")]
    NeedsNontarget(&'static str),
    /// Groups that cannot be cut.
    #[error("--groups {groups}: {problem}")]
    Groups {
        /// As asked for.
        groups: usize,
        /// What is wrong with that.
        problem: String,
    },
    /// Times of windows that are none.
    #[error("windows of a group begin {0} s apart: a positive time below 1e9 is needed, such as 0.8")]
    WindowStep(f64),
    /// A first window at no time.
    #[error("the first window begins at {0} s: a time within 1e9 s is needed, such as 0.6")]
    WindowStart(f64),
    /// Windows of which only the first is known.
    #[error("when windows begin is known only with the time from one window of a group to its next")]
    NoWindowStep,
    /// Windows of no groups.
    #[error("times of windows are those of groups, and no groups were asked for")]
    WindowsOfNothing,
    /// Too few permutations to say anything.
    #[error("--permutations {0}: 19 at least are needed for p ≤ 0.05 to be possible")]
    FewPermutations(usize),
    /// All epochs at once are needed, and they do not fit.
    #[error("{what} needs all epochs in memory at once, and {} is too large for that (--memory-limit)", path.display())]
    NotInMemory {
        /// What was asked for.
        what: &'static str,
        /// The file that did not fit.
        path: PathBuf,
    },
    /// A large file is read more than once, which a pipe does not allow.
    #[error(
        "{} is no regular file, and with what else is in memory it is too large to be read at once: save it to a file first, or raise --memory-limit",
        .0.display()
    )]
    NotRegular(PathBuf),
    /// A file that is read block after block is not what it was.
    #[error("{} had {expected} columns and now has {found}: did it change while it was read?", path.display())]
    Changed {
        /// Which file.
        path: PathBuf,
        /// Columns at first.
        expected: usize,
        /// Columns now.
        found: usize,
    },
}

//! The average of one kind of epochs, and how well it is known.

use crate::field_power;
use crate::recording::Recording;
use crate::reject::Rejected;
use crate::windows::Windows;
use ordito::column_stats::Statistics;
use ordito::column_stats::student_t;

/// The event-related potential of one condition. All waves are sensor-major, sensors × samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// `target`, `nontarget`, or the label of a group.
    pub name: String,
    /// Epochs that the files hold.
    pub read: usize,
    /// When they were recorded, where that is known.
    pub windows: Option<Windows>,
    /// Those that were left out.
    pub rejected: Vec<Rejected>,
    /// Those that were averaged.
    pub kept: u64,
    /// The mean over epochs.
    pub mean: Vec<f64>,
    /// The standard error of the mean: s / √n, with n − 1 in s. NaN of a single epoch.
    pub sem: Vec<f64>,
    /// Half of the 95 % band around the mean: the SEM times Student's quantile for n − 1 degrees of freedom.
    pub half_width: Vec<f64>,
    /// Global field power: the standard deviation over sensors, at every sample.
    pub field_power: Vec<f64>,
}

impl Condition {
    /// Of the statistics of the columns of a file; `columns` says which column holds which number of a wave.
    pub(crate) fn new(
        name: &str,
        recording: &Recording,
        columns: &[usize],
        statistics: &Statistics,
        read: usize,
        rejected: Vec<Rejected>,
    ) -> Self {
        let kept = statistics.count;
        let mean: Vec<f64> = columns.iter().map(|&column| statistics.mean[column]).collect();
        let error_of = |&column: &usize| (statistics.variance[column] / kept as f64).sqrt();
        let sem: Vec<f64> = columns.iter().map(error_of).collect();
        let quantile = student_t(kept as f64 - 1.0);
        let half_width = sem.iter().map(|sem| quantile * sem).collect();
        let field_power = field_power(recording, &mean);
        let (name, windows) = (name.to_owned(), None);
        Condition { name, read, windows, rejected, kept, mean, sem, half_width, field_power }
    }
}

//! When epochs were cut from the recording.

use serde::Serialize;
use std::fmt;

/// When the windows of one kind of epochs begin, in time of the recording, and which rows of the files they are.
///
/// ```
/// use ordito_eeg::Windows;
/// let of_target = Windows { first_s: 0.6, step_s: 0.8, first_epoch: 1, epoch_step: 1 };
/// assert_eq!(of_target.to_string(), "600, 1400, 2200 … ms");
/// assert_eq!(of_target.starts(2).collect::<Vec<_>>(), [(1, 0.6), (2, 1.4)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Windows {
    /// Start of the first one.
    pub first_s: f64,
    /// From one to the next: the cycle.
    pub step_s: f64,
    /// The row of the first one, counted from 1.
    pub first_epoch: usize,
    /// Rows from one to the next.
    pub epoch_step: usize,
}

impl Windows {
    /// Row and start of each of so many.
    pub fn starts(self, count: usize) -> impl Iterator<Item = (usize, f64)> {
        (0..count).map(move |window| (self.first_epoch + window * self.epoch_step, self.start_s(window)))
    }

    /// Start of a window, counted from 0.
    fn start_s(self, window: usize) -> f64 {
        to_nanoseconds(self.first_s + window as f64 * self.step_s)
    }
}

/// `600, 1400, 2200 … ms`
impl fmt::Display for Windows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, third] = [0, 1, 2].map(|window| milliseconds(self.start_s(window)));
        write!(f, "{first}, {second}, {third} … ms")
    }
}

/// `600`, `97.7`: no more digits than a clock has.
pub(crate) fn milliseconds(seconds: f64) -> String {
    format!("{}", (1e4 * seconds).round() / 10.0)
}

/// What adding up tenths leaves in the last digits is nobody's business.
pub(crate) fn to_nanoseconds(seconds: f64) -> f64 {
    (1e9 * seconds).round() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_no_digits_of_rounding() {
        let windows = Windows { first_s: 0.1, step_s: 0.7, first_epoch: 3, epoch_step: 7 };
        assert_eq!(windows.starts(4).collect::<Vec<_>>(), [(3, 0.1), (10, 0.8), (17, 1.5), (24, 2.2)]);
        assert_eq!(Windows { step_s: 0.09765625, ..windows }.to_string(), "100, 197.7, 295.3 … ms");
        assert_eq!(windows.starts(0).count(), 0);
    }
}

//! Variances of times and rates, beside the standard deviations that a terminal has room for.

use crate::report::table::{Column, numeric, shown};
use crate::report::time_unit::unit_for;
use ordito::units;

/// What the report's full table has beyond the statistics of the terminal.
pub(crate) const VARIANCES: &[Column] = &[
    numeric("var time", |r| shown(r.stddev_ns, of_time)),
    numeric("var GFLOP/s", |r| shown(r.gflops_stddev, |deviation| units::number(deviation * deviation))),
];

/// In the square of the unit in which the deviation is a short number.
fn of_time(deviation_ns: f64) -> String {
    let (unit, size) = unit_for(deviation_ns);
    format!("{} {unit}²", units::number((deviation_ns / size).powi(2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variance_has_the_unit_of_its_deviation_squared() {
        assert_eq!([20.0, 2e3, 1.5e6].map(of_time), ["400 ns²", "4.00 µs²", "2.25 ms²"]);
    }
}

//! The unit in which a time is a short number.

/// Name and nanoseconds of the largest unit that so many nanoseconds are one of, at least.
pub(crate) fn unit_for(ns: f64) -> (&'static str, f64) {
    let units = [("s", 1e9), ("ms", 1e6), ("µs", 1e3)];
    units.into_iter().find(|(_, size)| ns >= *size).unwrap_or(("ns", 1.0))
}

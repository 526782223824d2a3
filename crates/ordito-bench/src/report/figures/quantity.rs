//! What is drawn of a record: how fast it was, or how long it took.

use crate::report::figures::groups::{Group, Member, Value};
use crate::report::record::Record;
use crate::report::time_unit::unit_for;
use ordito::units;
use ordito_chart::{Axis, Scale};

/// A rate: its unit, and what a record says of it.
pub(crate) type Rate = (&'static str, fn(&Record) -> Option<f64>);

/// The first of these that the records have: sorting and copying compute nothing.
const RATES: [Rate; 2] = [("GFLOP/s", |record| record.gflops), BANDWIDTH];
const BANDWIDTH: Rate = ("GB/s", |record| record.gbytes_per_s);

/// A rate, or the median time in a unit.
#[derive(Clone, Copy)]
pub(crate) enum Quantity {
    Rate(Rate),
    /// Name and nanoseconds of the unit.
    Time(&'static str, f64),
}

/// Which end of an axis is the good one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Best {
    Highest,
    Lowest,
}

impl Quantity {
    /// Bytes over time.
    pub(crate) const BANDWIDTH: Quantity = Quantity::Rate(BANDWIDTH);

    /// The rate in which a group is drawn.
    pub(crate) fn rate_of(group: &Group<'_>) -> Option<Self> {
        let drawn = |rate: &&Rate| group.members.iter().any(|member| (rate.1)(member.record).is_some());
        RATES.iter().find(drawn).copied().map(Quantity::Rate)
    }

    /// The time, in the unit in which the middle one of a group is a short number.
    pub(crate) fn time_of(group: &Group<'_>) -> Option<Self> {
        let mut times: Vec<f64> = group.members.iter().filter_map(|m| m.record.median_ns).collect();
        times.sort_by(f64::total_cmp);
        let (unit, size) = unit_for(*times.get(times.len() / 2)?);
        Some(Quantity::Time(unit, size))
    }

    /// Are bytes counted, not flops or nanoseconds?
    pub(crate) fn is_bandwidth(&self) -> bool {
        matches!(self, Quantity::Rate((unit, _)) if *unit == BANDWIDTH.0)
    }

    /// What titles begin with.
    pub(crate) fn title(&self) -> &'static str {
        match self {
            Quantity::Rate((unit, _)) => unit,
            Quantity::Time(..) => "Time",
        }
    }

    pub(crate) fn label(&self) -> String {
        match self {
            Quantity::Rate((unit, _)) => (*unit).to_owned(),
            Quantity::Time(unit, _) => format!("time in {unit}"),
        }
    }

    pub(crate) fn best(&self) -> Best {
        match self {
            Quantity::Rate(_) => Best::Highest,
            Quantity::Time(..) => Best::Lowest,
        }
    }

    /// Rates from 0; times are spread over too many powers of ten for that.
    pub(crate) fn axis(&self) -> Axis {
        match self {
            Quantity::Rate(_) => Axis { label: self.label(), from_zero: true, ..Axis::default() },
            Quantity::Time(..) => self.logarithmic_axis(),
        }
    }

    pub(crate) fn logarithmic_axis(&self) -> Axis {
        Axis { label: self.label(), scale: Scale::Log10, ..Axis::default() }
    }

    /// Of a record, with that of its slower and faster runs.
    pub(crate) fn value(&self, group: &Group<'_>, member: Member<'_>) -> Option<Value> {
        let record = member.record;
        let at = group.sweep.of(record).map(|at| format!(" at {}", group.sweep.say(at))).unwrap_or_default();
        let time = record.median_ns.map(units::duration).unwrap_or_default();
        let quantiles = record.p05_ns.zip(record.p95_ns);
        let is_sound = |value: &f64| value.is_finite() && *value > 0.0;
        let (value, range, text) = match *self {
            Quantity::Rate((unit, of)) => {
                let value = of(record).filter(is_sound)?;
                let spread =
                    |(median, (low, high)): (f64, (f64, f64))| (value * median / high, value * median / low);
                let text = format!("{} {unit}{at} ({time})", units::number(value));
                (value, record.median_ns.zip(quantiles).map(spread), text)
            }
            Quantity::Time(_, size) => {
                let value = record.median_ns.filter(is_sound)? / size;
                let range = quantiles.map(|(low, high)| (low / size, high / size));
                let rate = RATES.iter().find_map(|(unit, of)| Some((of(record).filter(is_sound)?, unit)));
                let rate = rate.map(|(rate, unit)| format!(" ({} {unit})", units::number(rate)));
                (value, range, format!("{time}{at}{}", rate.unwrap_or_default()))
            }
        };
        let range = range.filter(|(low, high)| low.is_finite() && high.is_finite());
        Some(Value { value, range, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::groups::timed as grouped;
    use crate::report::figures::tests::{run, timed};

    #[test]
    fn a_range_holds_the_rates_of_slow_and_fast_runs() {
        let runs = [run("a", vec![timed("x", 8, 1, 2.0)])];
        let group = &grouped(&runs)[0];
        let value = Quantity::rate_of(group).unwrap().value(group, group.members[0]).unwrap();
        let (low, high) = value.range.unwrap();
        assert!(low < 2.0 && 2.0 < high, "{low} {high}");
        assert_eq!(value.text, "2.00 GFLOP/s at K = 8 (500 µs)");
    }

    #[test]
    fn a_time_has_the_unit_of_the_middle_one_and_its_quantiles() {
        let runs = [run("a", vec![timed("x", 4, 1, 2000.0), timed("x", 8, 1, 2.0), timed("y", 8, 1, 2.0)])];
        let group = &grouped(&runs)[0];
        let time = Quantity::time_of(group).unwrap();
        assert_eq!((time.label().as_str(), time.best()), ("time in µs", Best::Lowest));
        let value = time.value(group, group.members[1]).unwrap();
        assert_eq!((value.value, value.range), (500.0, Some((450.0, 600.0))));
        assert_eq!(value.text, "500 µs at K = 8 (2.00 GFLOP/s)");
    }
}

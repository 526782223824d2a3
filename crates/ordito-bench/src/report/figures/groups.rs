//! Records that belong into one chart, and what its lines are called.

use crate::report::Run;
use crate::report::record::Record;
use crate::report::setting::{Setting, behind_a_size};
use ordito::units;
use ordito_chart::{Axis, Point, Scale, Series};
use std::collections::{BTreeSet, HashMap};

/// Everything that was timed of one input in one dtype; square dense products of all sizes together, and copies of all
/// lengths.
pub(crate) struct Group<'a> {
    pub(crate) title: String,
    /// What it was timed on, in a word; empty where that was varied.
    pub(crate) input: String,
    pub(crate) sweep: Sweep,
    pub(crate) members: Vec<Member<'a>>,
    differs: Differs,
}

/// What differs between members, and is therefore part of their names.
#[derive(Clone, Copy)]
struct Differs {
    place: bool,
    threads: bool,
    run: bool,
}

impl Differs {
    fn between(members: &[Member<'_>]) -> Self {
        let Some(first) = members.first() else {
            return Differs { place: false, threads: false, run: false };
        };
        let any = |differs: &dyn Fn(&Member<'_>) -> bool| members.iter().any(differs);
        Differs {
            place: any(&|member| member.record.place != first.record.place),
            threads: any(&|member| member.record.threads != first.record.threads),
            run: any(&|member| member.run.label != first.run.label),
        }
    }
}

/// A record and the run that it is from.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) run: &'a Run,
    pub(crate) record: &'a Record,
}

/// What was varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sweep {
    /// Columns of X.
    K,
    /// Rows and columns of square matrices.
    Size,
    /// Bytes of a copy.
    Bytes,
}

impl Sweep {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Sweep::K => "K, columns of X",
            Sweep::Size => "rows and columns of the matrices",
            Sweep::Bytes => "bytes",
        }
    }

    /// Where on this axis a record stands.
    pub(crate) fn of(self, record: &Record) -> Option<u64> {
        match self {
            Sweep::K => record.k,
            Sweep::Size => record.n,
            Sweep::Bytes => record.bytes,
        }
    }

    /// As a reader is told.
    pub(crate) fn say(self, at: u64) -> String {
        match self {
            Sweep::K => format!("K = {at}"),
            Sweep::Size => units::count(at),
            Sweep::Bytes => units::bytes(at),
        }
    }
}

/// Groups of what was timed, in the order in which it was measured. The emulator's times are no measure of anything, and
/// how fast a wrong result was is nobody's business.
pub(crate) fn timed(runs: &[Run]) -> Vec<Group<'_>> {
    let is_timed = |record: &Record| {
        record.median_ns.is_some() && record.place != "emulator" && !record.outcome.is_bad()
    };
    grouped(runs, is_timed)
}

/// Groups of the records that `wanted` says. A name alone may stand for two matrices: the shape then tells them apart.
pub(crate) fn grouped<'a>(runs: &'a [Run], wanted: impl Fn(&Record) -> bool) -> Vec<Group<'a>> {
    type Key = (String, [Option<u64>; 3]);
    let (mut order, mut found) = (Vec::<Key>::new(), HashMap::<Key, (Sweep, Vec<Member<'a>>)>::new());
    for run in runs {
        for record in run.records.iter().filter(|record| wanted(record)) {
            let (title, sweep) = place_of(record);
            let key = (title, [record.rows, record.cols, record.nnz]);
            let member = Member { run, record };
            match found.get_mut(&key) {
                Some((_, members)) => members.push(member),
                None => {
                    order.push(key.clone());
                    found.insert(key, (sweep, vec![member]));
                }
            }
        }
    }
    let ambiguous = |title: &String| order.iter().filter(|(other, _)| other == title).count() > 1;
    let shape = |key: &Key| match (ambiguous(&key.0), key.1) {
        (true, [Some(rows), Some(cols), Some(nnz)]) => {
            let [rows, cols, nnz] = [rows, cols, nnz].map(units::count);
            format!(" ({rows} × {cols}, {nnz} entries)")
        }
        _ => String::new(),
    };
    let group = |key: &Key| {
        let (sweep, members) = found.remove(key)?;
        let input = members.first().filter(|_| sweep == Sweep::K);
        let input = input.map(|member| Setting::of(member.record).input() + &shape(key)).unwrap_or_default();
        Some(Group { input, ..Group::new(key.0.clone() + &shape(key), sweep, members) })
    };
    order.iter().filter_map(group).collect()
}

fn place_of(record: &Record) -> (String, Sweep) {
    let with_dtype = |what: String| match record.dtype.as_str() {
        "" => what,
        dtype => format!("{what}, {dtype}"),
    };
    if record.bytes.is_some() {
        return (record.op.clone(), Sweep::Bytes);
    }
    if record.n.is_some() && record.n == record.m && record.m == record.p {
        let pad = behind_a_size(record.pad);
        return (with_dtype(format!("{} of square matrices{pad}", record.op)), Sweep::Size);
    }
    (with_dtype(format!("{} {}", record.op, Setting::of(record).input())), Sweep::K)
}

impl<'a> Group<'a> {
    pub(crate) fn new(title: String, sweep: Sweep, members: Vec<Member<'a>>) -> Self {
        Group { title, input: String::new(), sweep, differs: Differs::between(&members), members }
    }

    /// What was varied, at the different places, ascending.
    pub(crate) fn places(&self) -> Vec<u64> {
        let places: BTreeSet<u64> =
            self.members.iter().filter_map(|member| self.sweep.of(member.record)).collect();
        places.into_iter().collect()
    }

    /// Where a record stands on the axis of what was varied.
    pub(crate) fn place_of(&self, record: &Record) -> Option<f64> {
        self.sweep.of(record).map(|at| at as f64)
    }

    /// The axis of what was varied, with a mark at every place; copies have too many for that.
    pub(crate) fn axis(&self) -> Axis {
        let (scale, ticks) = match self.sweep {
            Sweep::Bytes => (Scale::Log10, Vec::new()),
            Sweep::K | Sweep::Size => (Scale::Log2, self.places().iter().map(|&at| at as f64).collect()),
        };
        Axis { label: self.sweep.label().into(), scale, ticks, ..Axis::default() }
    }

    /// Only what was measured at the last place; everything where nothing was varied.
    pub(crate) fn at_the_last_place(&self) -> impl Iterator<Item = Member<'a>> {
        let last = self.places().last().copied();
        self.members.iter().copied().filter(move |member| self.sweep.of(member.record) == last)
    }

    /// What is written behind a title whose figure shows only the last place.
    pub(crate) fn title_at_the_last_place(&self) -> String {
        match self.places().as_slice() {
            [.., last] => format!("{}, {}", self.title, self.sweep.say(*last)),
            [] => self.title.clone(),
        }
    }

    /// The variant, and what else differs within the group: where it ran, threads, the file.
    pub(crate) fn name_of(&self, member: Member<'_>) -> String {
        self.name_with(member, self.differs.threads)
    }

    /// The same without the threads, for figures over them.
    pub(crate) fn name_over_threads(&self, member: Member<'_>) -> String {
        self.name_with(member, false)
    }

    fn name_with(&self, member: Member<'_>, threads: bool) -> String {
        let record = member.record;
        let mut parts = vec![record.name()];
        // Every other variant says in its name where it runs.
        let tells_place = record.chosen.is_some() || record.place == "emulator";
        if tells_place && self.differs.place {
            parts.push(format!("on {}", record.place));
        }
        parts.extend(record.threads.filter(|_| threads).map(units::threads));
        parts.extend(record.cold.then(|| "cold".to_owned()));
        if self.differs.run {
            parts.push(member.run.label.clone());
        }
        parts.join(", ")
    }

    /// A series for every name, its points ascending, by what `place` and `value` say of a member.
    pub(crate) fn series(
        &self,
        name: impl Fn(Member<'a>) -> String,
        place: impl Fn(&Record) -> Option<f64>,
        value: impl Fn(Member<'a>) -> Option<Value>,
    ) -> Vec<Series> {
        let mut all: Vec<Series> = Vec::new();
        for &member in &self.members {
            let (Some(x), Some(found)) = (place(member.record), value(member)) else { continue };
            let name = name(member);
            let point =
                Point { x, y: found.value, range: found.range, text: format!("{name}: {}", found.text) };
            match all.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push(point),
                None => all.push(Series { name, points: vec![point], ..Series::default() }),
            }
        }
        for series in &mut all {
            series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        all
    }
}

/// A value of a record, its spread, and both in words.
pub(crate) struct Value {
    pub(crate) value: f64,
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) text: String,
}

#[cfg(test)]
mod tests {
    use super::timed as timed_groups;
    use super::{Group, Member, Sweep};
    use crate::report::figures::quantity::Quantity;
    use crate::report::figures::tests::{run, timed};

    fn names(group: &Group<'_>) -> Vec<String> {
        let rate = Quantity::rate_of(group).unwrap();
        let value = |member: Member<'_>| rate.value(group, member);
        let series = group.series(|m| group.name_of(m), |r| group.sweep.of(r).map(|k| k as f64), value);
        series.into_iter().map(|series| series.name).collect()
    }

    #[test]
    fn names_hold_what_differs() {
        let runs = [run("a", vec![timed("x", 8, 1, 2.0), timed("x", 4, 1, 1.0), timed("y", 8, 1, 3.0)])];
        let groups = timed_groups(&runs);
        assert_eq!((groups.len(), groups[0].places()), (1, vec![4, 8]));
        assert_eq!(names(&groups[0]), ["x", "y"]);
        let runs = [
            run("a", vec![timed("x", 8, 1, 2.0), timed("x", 8, 2, 4.0)]),
            run("b", vec![timed("x", 8, 1, 1.0)]),
        ];
        assert_eq!(names(&timed_groups(&runs)[0]), ["x, 1 thread, a", "x, 2 threads, a", "x, 1 thread, b"]);
    }

    #[test]
    fn matrices_of_one_name_are_told_apart_by_their_shape() {
        let of_shape = |rows: u64| {
            let mut record = timed("x", 8, 1, 2.0);
            (record.rows, record.cols, record.nnz) = (Some(rows), Some(9), Some(20));
            record
        };
        let runs = [run("a", vec![of_shape(3), of_shape(4)])];
        let titles: Vec<String> = timed_groups(&runs).into_iter().map(|group| group.title).collect();
        assert_eq!(titles, ["spmm m, f64 (3 × 9, 20 entries)", "spmm m, f64 (4 × 9, 20 entries)"]);
        assert_eq!(timed_groups(&runs)[1].input, "m (4 × 9, 20 entries)");
    }

    #[test]
    fn square_products_and_copies_are_swept_over_their_size() {
        let mut square = timed("x", 8, 1, 2.0);
        (square.op, square.matrix, square.k) = ("gemm".into(), None, None);
        (square.n, square.m, square.p) = (Some(100), Some(100), Some(100));
        let mut other = square.clone();
        other.p = Some(7);
        let mut copy = timed("x", 8, 1, 2.0);
        (copy.op, copy.bytes, copy.matrix, copy.k, copy.dtype) =
            ("transfer".into(), Some(1000), None, None, String::new());
        let runs = [run("a", vec![square, other, copy])];
        let groups = timed_groups(&runs);
        let found: Vec<(&str, Sweep)> = groups.iter().map(|g| (g.title.as_str(), g.sweep)).collect();
        assert_eq!(found[0], ("gemm of square matrices, f64", Sweep::Size));
        assert_eq!(found[1].1, Sweep::K);
        assert_eq!(found[2], ("transfer", Sweep::Bytes));
    }
}

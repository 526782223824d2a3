//! What one product takes, from the host's memory and back.

use crate::report::figures::groups::{Group, Member};
use crate::report::record::Record;
use crate::report::time_unit::unit_for;
use ordito::units;
use ordito_chart::{Bar, Bars, Figure};

/// A part of the time and what a record says of it.
type Part = (&'static str, fn(&Record) -> Option<f64>);

/// In the order in which they happen.
const PARTS: [Part; 4] = [
    ("upload", |record| record.upload_ns),
    ("repack", |record| record.repack_ns),
    ("kernel", |record| record.median_ns.map(|ns| (ns - record.repack_ns.unwrap_or(0.0)).max(0.0))),
    ("download", |record| record.download_ns),
];

/// Stacked bars at the last place of what was varied, where anything is there to be split.
pub(crate) fn parts(group: &Group<'_>) -> Option<Figure> {
    let members: Vec<Member<'_>> = group.at_the_last_place().collect();
    let is_split = |record: &Record| {
        record.upload_ns.is_some() || record.download_ns.is_some() || record.repack_ns.is_some()
    };
    if !members.iter().any(|member| is_split(member.record)) {
        return None;
    }
    let has = |(_, of): &&Part| members.iter().any(|member| of(member.record).is_some());
    let parts: Vec<&Part> = PARTS.iter().filter(has).collect();
    let longest = members.iter().filter_map(|member| total(member.record)).fold(0.0, f64::max);
    let (unit, size) = unit_for(longest);
    let mut rows: Vec<Bar> = Vec::new();
    for member in members {
        let Some(total) = total(member.record) else { continue };
        let values = parts.iter().map(|(_, of)| of(member.record).unwrap_or(0.0) / size).collect();
        let prepare = member.record.prepare_ns.map(|ns| format!("; prepare {}", units::duration(ns)));
        let text = units::duration(total) + &prepare.unwrap_or_default();
        rows.push(Bar { name: group.name_of(member), values, text });
    }
    rows.sort_by(|a, b| a.values.iter().sum::<f64>().total_cmp(&b.values.iter().sum()));
    Some(Figure::Bars(Bars {
        title: format!("Time of one product: {}", group.title_at_the_last_place()),
        label: format!("time in {unit}"),
        parts: parts.iter().map(|(name, _)| (*name).to_owned()).collect(),
        rows,
        ..Bars::default()
    }))
}

fn total(record: &Record) -> Option<f64> {
    record.median_ns?;
    Some(PARTS.iter().filter_map(|(_, of)| of(record)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::groups::timed as grouped;
    use crate::report::figures::tests::{run, timed};

    #[test]
    fn parts_add_up_and_the_shortest_comes_first() {
        let mut on_gpu = timed("gpu", 8, 1, 100.0); // 10 µs
        (on_gpu.upload_ns, on_gpu.download_ns, on_gpu.repack_ns) = (Some(50e3), Some(40e3), Some(4e3));
        let runs = [run("a", vec![on_gpu, timed("cpu", 8, 1, 20.0)])];
        let Some(Figure::Bars(bars)) = parts(&grouped(&runs)[0]) else { panic!("no bars") };
        assert_eq!(bars.label, "time in µs");
        assert_eq!(
            (bars.rows[0].name.as_str(), bars.rows[0].values.as_slice()),
            ("cpu", [0.0, 0.0, 50.0, 0.0].as_slice())
        );
        assert_eq!(
            (bars.rows[1].values.as_slice(), bars.rows[1].text.as_str()),
            ([50.0, 4.0, 6.0, 40.0].as_slice(), "100 µs")
        );
    }

    #[test]
    fn nothing_to_split_is_not_drawn() {
        let runs = [run("a", vec![timed("cpu", 8, 1, 20.0)])];
        assert_eq!(parts(&grouped(&runs)[0]), None);
    }
}

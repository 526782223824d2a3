//! How a product on ranks was shared, and where its time went: a line for each.

use crate::report::record::Record;
use crate::report::table::shown;
use ordito::units;

/// What is printed below the table of records that ran on ranks; nothing where none did.
pub fn ranks(records: &[Record]) -> String {
    let several = records.iter().filter(|record| record.ranks.is_some()).count() > 1;
    let lines = records.iter().filter_map(|record| {
        let what = match (several, record.k) {
            (true, Some(k)) => format!("{}, K = {k}, {}: ", record.name(), record.dtype),
            _ => String::new(),
        };
        Some(format!("  {what}{}", of_one(record)?))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// "4 ranks in teams of 2; 1.2 MB travel, from 3 neighbours at most; pack 3 µs, own 500 µs, …".
pub(crate) fn of_one(record: &Record) -> Option<String> {
    let ranks = record.ranks?;
    let mut parts = vec![units::ranks(ranks) + &shown(record.team, |team| format!(" in teams of {team}"))];
    if let Some(bytes) = record.halo_bytes.filter(|&bytes| bytes > 0) {
        let from = shown(record.neighbours.filter(|&count| count > 0), |count| {
            format!(" from {count} neighbours at most")
        });
        parts.push(format!("{} travel{from}", units::bytes(bytes)));
    }
    let near = record.near_bytes.filter(|&bytes| bytes > 0);
    parts.extend(near.map(|bytes| format!("{} read in place", units::bytes(bytes))));
    let times = [
        ("pack", record.pack_ns),
        ("own", record.own_ns),
        ("wait", record.wait_ns),
        ("release", record.release_ns),
        ("outer", record.outer_ns),
        ("add up", record.reduce_ns),
    ];
    let times = times.iter().filter_map(|(name, ns)| ns.map(|ns| format!("{name} {}", units::duration(ns))));
    parts.push(times.collect::<Vec<_>>().join(", "));
    parts.extend(record.exchange_ns.map(|exchange| {
        // On a device packing and bringing rows are the longer part of an exchange, and no waiting.
        let hidden = record.wait_ns.filter(|_| record.place == "cpu").map(|wait| 1.0 - wait / exchange);
        let hidden =
            shown(hidden, |part| format!(", {:.0} % of it hidden", (100.0 * part).clamp(0.0, 100.0)));
        format!("an exchange alone {}{hidden}", units::duration(exchange))
    }));
    parts.extend(record.fastest_rank_ns.map(|ns| format!("the fastest rank {}", units::duration(ns))));
    parts.extend(record.imbalance.map(|ratio| format!("largest part {ratio:.2} of the mean")));
    parts.retain(|part| !part.is_empty());
    Some(parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::outcome::Outcome;

    #[test]
    fn parts_are_told_in_a_line() {
        let mut record = Record::new("spmm", "auto", Outcome::Passed);
        assert_eq!((of_one(&record), ranks(&[record.clone()])), (None, String::new()));
        (record.ranks, record.team, record.halo_bytes, record.neighbours) =
            (Some(4), Some(2), Some(1_200_000), Some(3));
        (record.pack_ns, record.own_ns, record.wait_ns) = (Some(3000.0), Some(5e5), Some(1e4));
        (record.exchange_ns, record.place) = (Some(1e5), "cpu".into());
        assert_eq!(
            ranks(&[record.clone()]),
            "  4 ranks in teams of 2; 1.20 MB travel from 3 neighbours at most; pack 3.00 µs, own 500 µs, wait 10.0 µs; an exchange alone 100 µs, 90 % of it hidden"
        );
        record.place = "cuda".into();
        assert!(ranks(&[record.clone()]).ends_with("an exchange alone 100 µs"));
        // On one computer only parts of sums travel.
        record.neighbours = Some(0);
        assert!(ranks(&[record]).starts_with("  4 ranks in teams of 2; 1.20 MB travel; pack"));
    }
}

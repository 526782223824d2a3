//! What `bench` says at the end: our kernels beside cuSPARSE where both ran, and of a suite what it left out and what
//! was checked.

use crate::console::Console;
use crate::request::{Request, SuiteRequest};
use ordito_bench::report::{Outcome, PeerSummary, Record, SCHEMA, table};
use serde::Serialize;

/// The last line of `--json`, of the yardstick only: others print records and nothing else.
#[derive(Serialize)]
struct Line<'a> {
    schema: u32,
    kind: &'static str,
    suite: &'a str,
    left_out: &'a [String],
    verified: Verified,
    #[serde(flatten)]
    peers: Option<PeerSummary>,
}

/// How the results were checked.
#[derive(Serialize)]
struct Verified {
    /// Element by element.
    whole: usize,
    /// Some rows element by element, all of them through a random projection.
    sampled: usize,
}

impl Verified {
    fn of(records: &[Record]) -> Self {
        let passed = |sampled: bool| {
            let here = |record: &&Record| record.outcome == Outcome::Passed && record.sampled == sampled;
            records.iter().filter(here).count()
        };
        Verified { whole: passed(false), sampled: passed(true) }
    }
}

pub(crate) fn show(request: &Request, records: &[Record], console: &Console) -> anyhow::Result<()> {
    let peers = PeerSummary::of(records);
    if request.json {
        let Some(suite) = request.suite.as_ref().filter(|suite| suite.is_brief) else { return Ok(()) };
        return console.json(&Line {
            schema: SCHEMA,
            kind: "summary",
            suite: &suite.name,
            left_out: &suite.files.left_out,
            verified: Verified::of(records),
            peers,
        });
    }
    if let Some(peers) = peers {
        console.line(table::peers(&peers))?;
    }
    request.suite.iter().flat_map(|suite| notes(suite, records)).try_for_each(|note| console.line(note))
}

fn notes(suite: &SuiteRequest, records: &[Record]) -> Vec<String> {
    let mut notes = Vec::new();
    let Verified { whole, sampled } = Verified::of(records);
    if suite.is_brief {
        notes.push(format!(
            "checked: one run of each variant, {whole} results element by element, {sampled} by up to 1000 rows and by \
             all rows through a random projection"
        ));
    }
    let files = &suite.files;
    if !files.left_out.is_empty() {
        let only = if files.found.is_empty() { "; synthetic matrices only" } else { "" };
        let names = files.left_out.join(", ");
        notes.push(format!("left out of the suite: {names} ({}){only}", files.looked));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::SuiteFiles;

    #[test]
    fn what_is_left_out_and_what_was_checked_is_said() {
        let files = |found: &[&str], left_out: &[&str]| SuiteFiles {
            found: found.iter().map(|name| name.to_string()).collect(),
            left_out: left_out.iter().map(|name| name.to_string()).collect(),
            looked: "not in data".into(),
        };
        let suite = |files, is_brief| SuiteRequest { name: "gpu".into(), files, is_brief };
        let passed = Record::new("spmm", "a", Outcome::Passed);
        let records = [
            Record { sampled: true, ..passed.clone() },
            passed,
            Record::new("spmm", "b", Outcome::Incorrect),
        ];
        let some = notes(&suite(files(&["a.mtx"], &["mdual", "BOYD1_A"]), true), &records);
        assert!(some[0].contains("1 results element by element, 1 by up to 1000 rows"), "{some:?}");
        assert_eq!(some[1], "left out of the suite: mdual, BOYD1_A (not in data)");
        let none = notes(&suite(files(&[], &["mdual"]), false), &records);
        assert_eq!(none, ["left out of the suite: mdual (not in data); synthetic matrices only"]);
        assert!(notes(&suite(files(&["a.mtx"], &[]), false), &records).is_empty());
    }
}

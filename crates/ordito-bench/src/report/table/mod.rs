//! Tables for the terminal: one per input, with a heading, only the columns that say something, and a line
//! that counts the outcomes. The same records always give the same text.

mod bars;
mod by_tile;
mod comparison;
mod launches;
mod layout;
mod matrices;
mod peers;
mod product;
mod ranks;
mod stages;
mod variances;

pub use crate::report::table::bars::bars;
pub use crate::report::table::by_tile::by_tile;
pub use crate::report::table::comparison::comparison;
pub(crate) use crate::report::table::comparison::overall_text;
pub use crate::report::table::launches::launches;
pub use crate::report::table::layout::{Printed, laid_out};
pub use crate::report::table::matrices::matrices;
pub use crate::report::table::peers::peers;
pub(crate) use crate::report::table::peers::sentences;
pub use crate::report::table::product::one;
pub use crate::report::table::ranks::ranks;
pub use crate::report::table::stages::{Stage, stages, stages_of};
pub(crate) use crate::report::table::variances::VARIANCES;

use crate::report::outcome::Outcome;
use crate::report::record::Record;
use crate::report::speed_up::{SpeedUp, speed_ups};
use crate::report::table::layout::total_width;
use ordito::text::for_one_line;
use ordito::units;
use std::ops::Deref;

/// A record, with what is only known beside the others.
pub(crate) struct Row<'a> {
    pub(crate) record: &'a Record,
    /// Over the serial rung with the same input and setting.
    pub(crate) speed_up: Option<f64>,
}

impl Deref for Row<'_> {
    type Target = Record;
    fn deref(&self) -> &Record {
        self.record
    }
}

/// All records of a run, in their order.
pub(crate) fn rows(records: &[Record]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = records.iter().map(|record| Row { record, speed_up: None }).collect();
    for SpeedUp { record, is_over_serial, ratio, .. } in speed_ups(records, None) {
        rows[record].speed_up = is_over_serial.then_some(ratio);
    }
    rows
}

/// One column: its title and what it shows of a record.
pub(crate) struct Column {
    pub(crate) title: &'static str,
    /// Text stands left, numbers right.
    pub(crate) is_text: bool,
    /// How the heading says it when all rows have the same value; `None` keeps it a column.
    in_heading: Option<fn(&str) -> String>,
    pub(crate) cell: fn(&Row<'_>) -> String,
}

const fn text(title: &'static str, cell: fn(&Row<'_>) -> String) -> Column {
    Column { title, is_text: true, in_heading: None, cell }
}
const fn numeric(title: &'static str, cell: fn(&Row<'_>) -> String) -> Column {
    Column { title, is_text: false, in_heading: None, cell }
}
const fn setting(
    title: &'static str,
    in_heading: fn(&str) -> String,
    cell: fn(&Row<'_>) -> String,
) -> Column {
    Column { title, is_text: false, in_heading: Some(in_heading), cell }
}

fn shown<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map(show).unwrap_or_default()
}

const VARIANT: Column = text("variant", |r| r.variant.clone());
const PLACE: Column = setting("where", |place| format!("on {place}"), |r| r.place.clone());
const K: Column = setting("k", |k| format!("k = {k}"), |r| shown(r.k, |k| k.to_string()));
const DTYPE: Column = setting("dtype", str::to_owned, |r| r.dtype.clone());
const THREADS: Column = setting(
    "threads",
    |threads| threads.parse().map_or_else(|_| threads.to_owned(), units::threads),
    |r| shown(r.threads, |threads| threads.to_string()),
);
const RANKS: Column = setting(
    "ranks",
    |ranks| ranks.parse().map_or_else(|_| ranks.to_owned(), units::ranks),
    |r| shown(r.ranks, |ranks| ranks.to_string()),
);
const GEOMETRY: Column = setting("launch", str::to_owned, |r| r.geometry.clone().unwrap_or_default());
const MAX_REL_ERR: Column = numeric("max rel err", |r| shown(r.max_rel_err, units::error));
const MEAN_REL_ERR: Column = numeric("mean rel err", |r| shown(r.mean_rel_err, units::error));
const OUTCOME: Column = text("outcome", |r| r.outcome.to_string());
const NOTE: Column = text("note", |r| r.note());

/// Columns of `bench`, and the first ones of the report's full table.
pub(crate) const BENCH: &[Column] = &[
    VARIANT,
    PLACE,
    K,
    DTYPE,
    RANKS,
    THREADS,
    GEOMETRY,
    OUTCOME,
    numeric("time", |r| shown(r.median_ns, units::duration)),
    numeric("±", |r| shown(spread_percent(r), |percent| format!("{percent:.0} %"))),
    numeric("flushed", |r| shown(r.flushed_median_ns, units::duration)),
    numeric("GFLOP/s", |r| shown(r.gflops, units::number)),
    numeric("speed-up", |r| shown(r.speed_up, |ratio| format!("{} ×", units::number(ratio)))),
    numeric("GB/s", |r| shown(r.gbytes_per_s, units::number)),
    numeric("ceiling", |r| shown(r.percent_of_ceiling, |percent| format!("{percent:.0} %"))),
    numeric("prepare", |r| shown(r.prepare_ns, units::duration)),
    numeric("compile", |r| shown(r.prepare_compile_ns, units::duration)),
    numeric("A up", |r| shown(r.prepare_upload_ns, units::duration)),
    numeric("repack", |r| shown(r.repack_ns, units::duration)),
    numeric("host copy", |r| shown(r.host_copy_ns, units::duration)),
    numeric("upload", |r| shown(r.upload_ns, units::duration)),
    numeric("download", |r| shown(r.download_ns, units::duration)),
    numeric("total", |r| shown(r.total_ns(), units::duration)),
    numeric("error/bound", |r| shown(r.bound_ratio, units::number)),
    NOTE,
];

/// What `bench --statistics` adds, and the report's full table has: mean and standard deviation in one pass (Welford), errors.
pub(crate) const STATISTICS: &[Column] = &[
    numeric("samples", |r| shown(r.samples, units::count)),
    numeric("mean time", |r| shown(r.mean_ns, units::duration)),
    numeric("sd time", |r| shown(r.stddev_ns, units::duration)),
    numeric("mean GFLOP/s", |r| shown(r.gflops_mean, units::number)),
    numeric("sd GFLOP/s", |r| shown(r.gflops_stddev, units::number)),
    MAX_REL_ERR,
    MEAN_REL_ERR,
];

const VERIFY: &[Column] = &[
    VARIANT,
    PLACE,
    K,
    DTYPE,
    RANKS,
    THREADS,
    GEOMETRY,
    OUTCOME,
    MAX_REL_ERR,
    numeric("in ε", |r| shown(r.max_err_eps, units::number)),
    MEAN_REL_ERR,
    numeric("in ε", |r| shown(r.mean_err_eps, units::number)),
    numeric("error/bound", |r| shown(r.bound_ratio, units::number)),
    numeric("best of 2", |r| shown(r.min_ns, units::duration)),
    numeric("prepare", |r| shown(r.prepare_ns, units::duration)),
    NOTE,
];

/// Half the distance from the 5 % to the 95 % quantile, as a percentage of the median: nine of ten runs lay
/// about that close.
fn spread_percent(record: &Record) -> Option<f64> {
    let median = record.median_ns.filter(|&ns| ns > 0.0 && record.samples > Some(1))?;
    Some(50.0 * (record.p95_ns? - record.p05_ns?) / median)
}

/// What `ordito bench` prints. Notes are a column if the table then fits into `width` characters, else they
/// stand below it.
pub fn bench(records: &[Record], width: u16) -> String {
    tables(&BENCH.iter().collect::<Vec<_>>(), records, width)
}

/// What `ordito bench --statistics` prints: for each input a second table, of means and standard deviations.
pub fn statistics(records: &[Record], width: u16) -> String {
    let settings = [&VARIANT, &PLACE, &K, &DTYPE, &RANKS, &THREADS, &GEOMETRY];
    let timed: Vec<Record> = records.iter().filter(|record| record.mean_ns.is_some()).cloned().collect();
    tables(&settings.into_iter().chain(STATISTICS).collect::<Vec<_>>(), &timed, width)
}

/// What `ordito verify` prints; `width` as above.
pub fn verify(records: &[Record], width: u16) -> String {
    tables(&VERIFY.iter().collect::<Vec<_>>(), records, width)
}

/// `12 passed, 1 refused, 0 incorrect`: the first and the last always, the others if there are any.
///
/// ```
/// use ordito_bench::report::{Outcome, Record, table};
/// let records = [Record::new("spmm", "csr-serial", Outcome::Passed)];
/// assert_eq!(table::summary(&records), "1 passed, 0 incorrect");
/// ```
pub fn summary(records: &[Record]) -> String {
    let outcomes = Outcome::ALL.iter().rev();
    let counted = outcomes.map(|&outcome| {
        let count = records.iter().filter(|record| record.outcome == outcome).count();
        (outcome, count)
    });
    let always = [Outcome::Passed, Outcome::Incorrect];
    let shown = counted.filter(|(outcome, count)| *count > 0 || always.contains(outcome));
    shown.map(|(outcome, count)| format!("{count} {outcome}")).collect::<Vec<_>>().join(", ")
}

fn tables(columns: &[&Column], records: &[Record], width: u16) -> String {
    let tables =
        by_input(rows(records)).into_iter().map(|(input, rows)| one_table(&input, columns, &rows, width));
    tables.collect::<Vec<_>>().join("\n")
}

/// Records of the same operation and input together, in order of first appearance; with them what the
/// heading calls the input.
fn by_input(rows: Vec<Row<'_>>) -> Vec<(String, Vec<Row<'_>>)> {
    let mut groups: Vec<(String, Vec<Row<'_>>)> = Vec::new();
    for row in rows {
        let input = input_text(&row);
        match groups.iter_mut().find(|(known, _)| *known == input) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((input, vec![row])),
        }
    }
    groups
}

/// `spmm stencil27:10: 1 000 × 1 000, 21 952 nonzeros`
pub(crate) fn input_text(record: &Record) -> String {
    let mut facts = Vec::new();
    if let (Some(n), Some(m), Some(p)) = (record.n, record.m, record.p) {
        facts.push(format!("{} × {} × {}", units::count(n), units::count(m), units::count(p)));
    } else if let (Some(rows), Some(cols)) = (record.rows, record.cols) {
        facts.push(format!("{} × {}", units::count(rows), units::count(cols)));
    }
    facts.extend(record.nnz.map(|nnz| format!("{} nonzeros", units::count(nnz))));
    facts.extend(record.pad.map(|pad| format!("rows padded by {pad}")));
    facts.extend(record.beta.map(|beta| format!("β = {beta}")));
    facts.extend(record.bytes.map(units::bytes));
    let name = [Some(record.op.as_str()), record.matrix.as_deref()];
    let name = name.into_iter().flatten().map(for_one_line).collect::<Vec<_>>().join(" ");
    if facts.is_empty() { name } else { format!("{name}: {}", facts.join(", ")) }
}

fn one_table(input: &str, columns: &[&Column], rows: &[Row<'_>], width: u16) -> String {
    let mut heading = vec![input.to_owned()];
    let mut kept: Vec<Printed<'_>> = Vec::new();
    for column in columns {
        let cells: Vec<String> =
            rows.iter().map(|row| for_one_line(&(column.cell)(row)).into_owned()).collect();
        let same = cells.iter().all(|cell| *cell == cells[0]);
        match column.in_heading {
            _ if cells.iter().all(String::is_empty) => {}
            Some(in_heading) if same => heading.push(in_heading(&cells[0])),
            _ => kept.push(Printed { title: column.title, is_text: column.is_text, cells }),
        }
    }
    let mut notes = Vec::new();
    if total_width(&kept) > usize::from(width) {
        kept.retain(|column| column.title != NOTE.title);
        notes = notes_below(rows);
    }
    if width < FULL_WIDTH {
        notes.extend(narrowed(&mut kept, width));
    }
    let lines = std::iter::once(heading.join(", ")).chain(laid_out(&kept)).chain(notes);
    lines.map(|line| line + "\n").collect()
}

/// Nothing is left out of a table that has this much room, even if it needs more.
const FULL_WIDTH: u16 = 120;

/// Columns that a narrow terminal does without, the first one first.
const DISPENSABLE: &[&str] = &[
    "mean rel err",
    "in ε",
    "compile",
    "A up",
    "prepare",
    "upload",
    "download",
    "GB/s",
    "best of 2",
    "repack",
    "host copy",
    "total",
    "ceiling",
    "±",
];

/// Leaves columns out until the rest fits; a line that says which.
fn narrowed(kept: &mut Vec<Printed<'_>>, width: u16) -> Option<String> {
    let mut left_out = Vec::new();
    for title in DISPENSABLE {
        let there = kept.iter().any(|column| column.title == *title);
        if there && total_width(kept) > usize::from(width) {
            kept.retain(|column| column.title != *title);
            left_out.push(*title);
        }
    }
    (!left_out.is_empty()).then(|| format!("  left out for want of room: {}", left_out.join(", ")))
}

/// Each note once, with the variants it belongs to.
fn notes_below(rows: &[Row<'_>]) -> Vec<String> {
    let mut notes: Vec<((String, Outcome), Vec<&str>)> = Vec::new();
    for row in rows.iter().filter(|row| !row.note().is_empty()) {
        let note = (row.note(), row.outcome);
        match notes.iter_mut().find(|(known, _)| *known == note) {
            Some((_, variants)) if variants.contains(&row.variant.as_str()) => {}
            Some((_, variants)) => variants.push(&row.variant),
            None => notes.push((note, vec![&row.variant])),
        }
    }
    let line = |((note, outcome), variants): ((String, Outcome), Vec<&str>)| {
        let variants = match &variants[..] {
            [first, .., last] if variants.len() > 3 => {
                format!("{} variants ({first} … {last})", variants.len())
            }
            few => few.join(", "),
        };
        match outcome {
            Outcome::Passed => format!("  {variants}: {note}"),
            outcome => format!("  {variants} {outcome}: {note}"),
        }
    };
    notes.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(variant: &str, k: u64, outcome: Outcome) -> Record {
        let mut record = Record::new("spmm", variant, outcome);
        record.matrix = Some("stencil27:100".to_owned());
        (record.rows, record.cols, record.nnz) = (Some(1_000_000), Some(1_000_000), Some(26_463_592));
        (record.k, record.dtype, record.threads) = (Some(k), "f64".to_owned(), Some(2));
        record.place = "cpu".to_owned();
        record
    }

    fn timed(variant: &str, k: u64, median_ns: f64) -> Record {
        let mut record = record(variant, k, Outcome::Passed);
        (record.samples, record.median_ns) = (Some(10), Some(median_ns));
        (record.p05_ns, record.p95_ns) = (Some(median_ns * 0.97), Some(median_ns * 1.05));
        record.gflops = Some(423_417_472.0 / median_ns);
        record.gbytes_per_s = Some(449_563_108.0 / median_ns);
        record.percent_of_ceiling = Some(61.4);
        record.prepare_ns = Some(81_234_567.0);
        record.set_errors(6.66e-16, 1.1e-16, f64::EPSILON);
        record.bound_ratio = Some(0.0421);
        record
    }

    fn some() -> Vec<Record> {
        let mut refused = record("ell-cpu-padded-threads", 8, Outcome::Refused);
        refused.refusal = Some("padded ELLPACK would need 87 GB: longest row 93 261".to_owned());
        let mut auto = timed("auto", 8, 20_301_000.0);
        auto.chosen = Some("csr-cpu-rows-static".to_owned());
        vec![
            timed("csr-cpu-serial", 8, 41_234_000.0),
            timed("csr-cpu-rows-static", 8, 21_234_000.0),
            auto,
            refused,
        ]
    }

    #[test]
    fn bench_says_what_differs_and_hoists_what_does_not() {
        let expected = "\
spmm stencil27:100: 1 000 000 × 1 000 000, 26 463 592 nonzeros, on cpu, k = 8, f64, 2 threads
variant                 outcome     time    ±  GFLOP/s  GB/s  ceiling  prepare  error/bound
────────────────────────────────────────────────────────────────────────────────────────────
csr-cpu-serial          passed   41.2 ms  4 %     10.3  10.9     61 %  81.2 ms        0.042
csr-cpu-rows-static     passed   21.2 ms  4 %     19.9  21.2     61 %  81.2 ms        0.042
auto                    passed   20.3 ms  4 %     20.9  22.1     61 %  81.2 ms        0.042
ell-cpu-padded-threads  refused
  auto: chose csr-cpu-rows-static
  ell-cpu-padded-threads refused: padded ELLPACK would need 87 GB: longest row 93 261
";
        let found = bench(&some(), 100);
        assert_eq!(found, expected, "found\n{found}");
    }

    #[test]
    fn short_notes_are_a_column() {
        let mut wrong = record("csr-cpu-serial-wrong", 4, Outcome::Incorrect);
        wrong.set_errors(1.0, 0.25, f64::EPSILON);
        wrong.bound_ratio = Some(3.1e13);
        wrong.error = Some("row 7, column 0".to_owned());
        let expected = "\
spmm stencil27:100: 1 000 000 × 1 000 000, 26 463 592 nonzeros, on cpu, f64, 2 threads
variant               k  outcome    max rel err    in ε  mean rel err    in ε  error/bound  prepare  note
─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
csr-cpu-serial        8  passed         6.7e-16    3.00       1.1e-16   0.495        0.042  81.2 ms
csr-cpu-serial-wrong  4  incorrect        1.0e0  4.5e15        2.5e-1  1.1e15       3.1e13           row 7, column 0
";
        let found = verify(&[timed("csr-cpu-serial", 8, 1.0), wrong], 120);
        assert_eq!(found, expected, "found\n{found}");
    }

    #[test]
    fn narrow_terminals_do_without_the_least_important() {
        let found = bench(&[timed("csr-cpu-serial", 8, 1e6), timed("csr-cpu-rows-static", 16, 2e6)], 72);
        let lines: Vec<&str> = found.lines().collect();
        assert!(lines[1..].iter().all(|line| line.chars().count() <= 72), "{found}");
        assert_eq!(lines.last(), Some(&"  left out for want of room: prepare, GB/s, ceiling"), "{found}");
        assert!(lines[1].contains("GFLOP/s") && lines[1].contains("error/bound"));
    }

    #[test]
    fn every_input_has_its_table() {
        let mut gemm = Record::new("gemm", "serial", Outcome::Passed);
        (gemm.n, gemm.m, gemm.p) = (Some(1000), Some(500), Some(20));
        let mut transfer = Record::new("transfer", "pinned", Outcome::Passed);
        transfer.bytes = Some(256_000_000);
        let found = bench(&[gemm.clone(), transfer, gemm], 80);
        let headings: Vec<&str> = found.lines().filter(|line| line.contains(':')).collect();
        assert_eq!(headings, ["gemm: 1 000 × 500 × 20", "transfer: 256 MB"]);
        assert_eq!(found.matches("serial").count(), 2);
        assert_eq!(bench(&[], 80), "");
    }

    #[test]
    fn names_of_others_stay_on_their_line() {
        let mut record = record("csr-serial", 8, Outcome::Passed);
        record.matrix = Some("a\nspmm b: all passed".to_owned());
        record.error = Some("\u{1b}[1A".to_owned());
        let found = bench(&[record], 120);
        assert!(found.starts_with("spmm a\\nspmm b: all passed: 1 000 000"), "{found}");
        assert!(!found.contains('\u{1b}'), "{found:?}");
    }

    #[test]
    fn the_summary_counts_everything() {
        assert_eq!(summary(&some()), "3 passed, 1 refused, 0 incorrect");
        let all = Outcome::ALL.map(|outcome| Record::new("a", "b", outcome));
        assert_eq!(summary(&all), "1 passed, 1 not-verified, 1 refused, 1 failed, 1 incorrect");
        assert_eq!(summary(&[]), "0 passed, 0 incorrect");
    }
}

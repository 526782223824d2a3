//! `runs.csv`: one row for every single sample that was kept.

use crate::report::record::Record;
use ordito::files::{WriteError, write_atomically};
use ordito::text::csv_cell;
use std::io::{self, Write};
use std::path::Path;

const HEADER: [&str; 17] = [
    "op", "variant", "where", "matrix", "n", "m", "p", "beta", "pad", "bytes", "k", "dtype", "threads",
    "geometry", "run", "start_ns", "time_ns",
];

/// Writes the header and a row for every run of every record.
pub fn write_to(writer: &mut dyn Write, records: &[Record]) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(writer);
    csv.write_record(HEADER)?;
    let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    for record in records {
        for (index, run) in record.runs.iter().enumerate() {
            let cells = [
                record.op.clone(),
                record.variant.clone(),
                record.place.clone(),
                record.matrix.clone().unwrap_or_default(),
                number(record.n),
                number(record.m),
                number(record.p),
                record.beta.map(|beta| beta.to_string()).unwrap_or_default(),
                number(record.pad),
                number(record.bytes),
                number(record.k),
                record.dtype.clone(),
                number(record.threads),
                record.geometry.clone().unwrap_or_default(),
                (index + 1).to_string(),
                number(run.start_ns),
                run.time_ns.to_string(),
            ];
            csv.write_record(cells.iter().map(|text| csv_cell(text).into_owned()))?;
        }
    }
    csv.flush()
}

/// Writes `runs.csv`, whole or not at all.
pub fn write_runs(path: &Path, records: &[Record]) -> Result<(), WriteError> {
    write_atomically(path, |file| write_to(file, records))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::one_run::OneRun;
    use crate::report::outcome::Outcome;

    #[test]
    fn every_run_has_a_row() {
        let mut record = Record::new("spmm", "csr-serial", Outcome::Passed);
        (record.k, record.place) = (Some(8), "cpu".into());
        (record.pad, record.geometry) = (Some(3), Some("block 64".to_owned()));
        record.runs =
            vec![OneRun { start_ns: Some(5), time_ns: 1.5 }, OneRun { start_ns: None, time_ns: 2.0 }];
        let mut text = Vec::new();
        write_to(&mut text, &[record.clone(), Record::new("spmm", "auto", Outcome::Refused)]).unwrap();
        let run = "spmm,csr-serial,cpu,,,,,,3,,8,,,block 64";
        let rows = format!("{run},1,5,1.5\n{run},2,,2\n");
        assert_eq!(String::from_utf8(text).unwrap(), format!("{}\n{rows}", HEADER.join(",")));
        let line = serde_json::to_string(&record).unwrap();
        assert!(line.contains(r#""runs":[{"start_ns":5,"time_ns":1.5},{"time_ns":2.0}]"#), "{line}");
    }
}

//! `samples.csv`: one row per record, one column per field, empty where a field is absent.

use crate::report::record::FIELDS;
use crate::report::record::Record;
use ordito::files::{WriteError, write_atomically};
use ordito::text::csv_cell;
use serde_json::Value;
use std::io::{self, Write};
use std::path::Path;

/// Writes the header and all records. Cells come from the record's JSON form: the two files cannot disagree.
pub fn write_to(writer: &mut dyn Write, records: &[Record]) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(writer);
    csv.write_record(FIELDS)?;
    for record in records {
        let object = serde_json::to_value(record)?;
        let cell = |field: &&str| match (*field, &object[*field]) {
            ("params", _) => record.params_text(),
            ("launches", _) => record.launches_text(),
            ("runs", _) => {
                record.runs.iter().map(|run| run.time_ns.to_string()).collect::<Vec<_>>().join(";")
            }
            (_, Value::Null) => String::new(),
            (_, Value::String(text)) => text.clone(),
            (_, value) => value.to_string(),
        };
        csv.write_record(FIELDS.iter().map(cell).map(|text| csv_cell(&text).into_owned()))?;
    }
    csv.flush()
}

/// Writes `samples.csv`, whole or not at all.
pub fn write_samples(path: &Path, records: &[Record]) -> Result<(), WriteError> {
    write_atomically(path, |file| write_to(file, records))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::outcome::Outcome;
    use crate::report::record::tests::full;

    #[test]
    fn every_row_has_every_column() {
        let mut refused = Record::new("spmm", "ell", Outcome::Refused);
        refused.refusal = Some("needs 87 GB, \"too much\"".to_owned());
        refused.matrix = Some("=1+1".to_owned()); // a spreadsheet would compute it
        let mut text = Vec::new();
        write_to(&mut text, &[full(), refused]).unwrap();
        let mut reader = csv::Reader::from_reader(&text[..]);
        assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>(), FIELDS);
        let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
        let at = |row: usize, field: &str| &rows[row][FIELDS.iter().position(|f| *f == field).unwrap()];
        assert_eq!((at(0, "where"), at(0, "k"), at(0, "cold")), ("cuda", "8", "true"));
        assert_eq!((at(0, "params"), at(0, "gflops")), ("kind=a,b;lanes=4", "351.2"));
        assert_eq!((at(1, "refusal"), at(1, "k")), ("needs 87 GB, \"too much\"", ""));
        assert_eq!(at(1, "matrix"), "'=1+1");
        assert!(rows[0].iter().all(|cell| !cell.is_empty()), "a full record fills every cell");
    }
}

//! JSON lines: the fingerprint first, then one record per line. What can be read here can be reported again.

use super::{Fingerprint, Record, ReportError, fingerprint};
use crate::io::{WriteError, write_atomically};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

/// One object and the end of the line: what `--json` prints.
pub fn write_line<T: Serialize>(writer: &mut (impl Write + ?Sized), object: &T) -> io::Result<()> {
    serde_json::to_writer(&mut *writer, object)?;
    writer.write_all(b"\n")
}

/// Writes `samples.json`, whole or not at all.
pub fn write_samples(path: &Path, fingerprint: &Fingerprint, records: &[Record]) -> Result<(), WriteError> {
    write_atomically(path, |file| {
        write_line(file, fingerprint)?;
        records.iter().try_for_each(|record| write_line(file, record))
    })
}

/// Reads `samples.json`.
pub fn read_samples(path: &Path) -> Result<(Fingerprint, Vec<Record>), ReportError> {
    let file = File::open(path).map_err(|reason| ReportError::Open { path: path.to_owned(), reason })?;
    parse_samples(BufReader::new(file), path)
}

/// The same from anywhere; `name` stands in the error.
pub fn parse_samples(text: impl BufRead, name: &Path) -> Result<(Fingerprint, Vec<Record>), ReportError> {
    let fault = |line: usize, message: String| ReportError::Line { path: name.to_owned(), line, message };
    let mut found: Option<Fingerprint> = None;
    let mut records = Vec::new();
    for (index, text) in text.lines().enumerate() {
        let number = index + 1;
        let text = text.map_err(|error| fault(number, error.to_string()))?;
        if text.trim().is_empty() {
            continue;
        }
        if found.is_none() {
            found = Some(parse_fingerprint(&text).map_err(|message| fault(number, message))?);
        } else {
            let record = serde_json::from_str(&text);
            records.push(record.map_err(|error| fault(number, format!("not a record: {error}")))?);
        }
    }
    let missing = || fault(1, "the file is empty: a fingerprint is expected first".to_owned());
    Ok((found.ok_or_else(missing)?, records))
}

fn parse_fingerprint(text: &str) -> Result<Fingerprint, String> {
    let expected = "the first line must be the machine's fingerprint";
    let fingerprint: Fingerprint =
        serde_json::from_str(text).map_err(|error| format!("{expected}: {error}"))?;
    match fingerprint.kind == fingerprint::KIND {
        true => Ok(fingerprint),
        false => Err(format!("{expected}: its kind is {:?}", fingerprint.kind)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CpuInfo;
    use crate::report::Outcome;
    use crate::report::record::tests::full;

    #[test]
    fn files_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.json");
        let fingerprint = Fingerprint::new(&CpuInfo::default(), ["ordito", "bench"]);
        let records = vec![full(), Record::new("gemm", "serial", Outcome::Refused)];
        write_samples(&path, &fingerprint, &records).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 3);
        assert_eq!(read_samples(&path).unwrap(), (fingerprint, records));
    }

    #[test]
    fn errors_name_file_and_line() {
        let first = r#"{"kind":"fingerprint"}"#;
        let record = r#"{"schema":1,"op":"o","variant":"v","outcome":"passed"}"#;
        let fault = |text: &str| parse_samples(text.as_bytes(), Path::new("a.json")).unwrap_err().to_string();
        assert_eq!(fault(""), "a.json:1: the file is empty: a fingerprint is expected first");
        assert!(fault(record).starts_with("a.json:1: the first line must be the machine's fingerprint"));
        assert!(fault("hello").starts_with("a.json:1: the first line must be"));
        let text = format!("{first}\n\n{record}\n{}", record.replace("passed", "great"));
        let message = fault(&text);
        assert!(message.starts_with("a.json:4: not a record: unknown variant `great`"), "{message}");
        assert!(fault(&format!("{first}\n{}", &record[..20])).starts_with("a.json:2: not a record: EOF"));
        let message = read_samples(Path::new("/no/such.json")).unwrap_err().to_string();
        assert!(message.starts_with("/no/such.json: "), "{message}");
    }
}

//! JSON lines: the fingerprint first, then what is known of the matrices, then one record per line. What can be read here
//! can be reported again.

use crate::report::fingerprint::Fingerprint;
use crate::report::record::Record;
use crate::report::{ReportError, Run, fingerprint, matrix_facts};
use ordito::files::{WriteError, write_atomically};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

/// Records have thousands of bytes, pictures of matrices some hundred thousand. A file that has no lines must not fill the memory.
const MOST_LINE_BYTES: u64 = 64 << 20;

/// One object and the end of the line: what `--json` prints.
pub fn write_line<T: Serialize>(writer: &mut (impl Write + ?Sized), object: &T) -> io::Result<()> {
    // As text first: what writes an object is then compiled once, not for every kind of writer.
    let mut line = serde_json::to_vec(object)?;
    line.push(b'\n');
    writer.write_all(&line)
}

/// Writes `samples.json`, whole or not at all.
pub fn write_samples(path: &Path, run: &Run) -> Result<(), WriteError> {
    write_atomically(path, |file| {
        write_line(file, &run.fingerprint)?;
        run.matrices.iter().try_for_each(|matrix| write_line(file, matrix))?;
        run.records.iter().try_for_each(|record| write_line(file, record))
    })
}

/// Reads `samples.json`; the run is called as the file is.
pub fn read_samples(path: &Path) -> Result<Run, ReportError> {
    let file = File::open(path).map_err(|reason| ReportError::Open { path: path.to_owned(), reason })?;
    parse_samples(BufReader::new(file), path)
}

/// The same from anywhere; `name` stands in the error.
pub fn parse_samples(text: impl BufRead, name: &Path) -> Result<Run, ReportError> {
    let fault = |line: usize, message: String| ReportError::Line { path: name.to_owned(), line, message };
    let mut found: Option<Fingerprint> = None;
    let (mut matrices, mut records) = (Vec::new(), Vec::new());
    let mut source = text;
    for number in 1.. {
        let mut line = Vec::new();
        let read = source.by_ref().take(MOST_LINE_BYTES + 1).read_until(b'\n', &mut line);
        if read.map_err(|error| fault(number, error.to_string()))? == 0 {
            break;
        }
        if line.len() as u64 > MOST_LINE_BYTES {
            return Err(fault(number, format!("a line of more than {MOST_LINE_BYTES} bytes is no result")));
        }
        let text = String::from_utf8(line).map_err(|error| fault(number, error.to_string()))?;
        if text.trim().is_empty() {
            continue;
        }
        if found.is_none() {
            found = Some(parse_fingerprint(&text).map_err(|message| fault(number, message))?);
        } else if is_matrix(&text) {
            let matrix = serde_json::from_str(&text);
            matrices.push(matrix.map_err(|error| fault(number, format!("not a matrix: {error}")))?);
        } else {
            let record =
                parse_record(&text).map_err(|error| fault(number, format!("not a record: {error}")))?;
            records.push(record.with_role()); // results of older versions do not say it
        }
    }
    let missing = || fault(1, "the file is empty: a fingerprint is expected first".to_owned());
    let fingerprint = found.ok_or_else(missing)?;
    Ok(Run { label: name.display().to_string(), fingerprint, matrices, records, baseline: None })
}

/// A record as bytes, for those who send it.
pub fn record_to_bytes(record: &Record) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write_line(&mut bytes, record)?;
    Ok(bytes)
}

/// And back.
pub fn record_from_bytes(bytes: &[u8]) -> io::Result<Record> {
    let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
    Ok(parse_record(text)?)
}

fn parse_record(text: &str) -> serde_json::Result<Record> {
    serde_json::from_str(text)
}

fn is_matrix(text: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Kind {
        #[serde(default)]
        kind: String,
    }
    serde_json::from_str::<Kind>(text).is_ok_and(|line| line.kind == matrix_facts::KIND)
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
    use crate::report::matrix_facts::MatrixFacts;
    use crate::report::outcome::Outcome;
    use crate::report::record::tests::full;
    use ordito::cpu::CpuInfo;
    use ordito::op::{Role, Storage};

    #[test]
    fn files_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.json");
        assert_eq!(record_from_bytes(&record_to_bytes(&full()).unwrap()).unwrap(), full());
        assert!(record_from_bytes(b"\xff").is_err() && record_from_bytes(b"{}").is_err());
        let fingerprint = Fingerprint::new(&CpuInfo::default(), ["ordito", "bench"]);
        let records = vec![full(), Record::new("gemm", "serial", Outcome::Refused)];
        let matrices =
            vec![MatrixFacts { kind: matrix_facts::KIND.into(), matrix: "m".into(), ..Default::default() }];
        let run = Run { label: path.display().to_string(), fingerprint, matrices, records, baseline: None };
        write_samples(&path, &run).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 4);
        assert_eq!(read_samples(&path).unwrap(), run);
    }

    #[test]
    fn older_results_get_the_role_of_their_variants() {
        let lines = [
            r#"{"kind":"fingerprint"}"#,
            r#"{"schema":1,"op":"spmm","variant":"csr-cuda-shares","outcome":"passed"}"#,
            r#"{"schema":1,"op":"spmm","variant":"auto","chosen":"csr-cuda-cusparse-alg2","outcome":"passed"}"#,
            r#"{"schema":1,"op":"spmm","variant":"csr-forgotten","outcome":"passed"}"#,
        ];
        let run = parse_samples(lines.join("\n").as_bytes(), Path::new("a.json")).unwrap();
        let found: Vec<_> = run.records.iter().map(|record| (record.role, record.storage)).collect();
        let ours = (Some(Role::Ours), Some(Storage::Converted));
        assert_eq!(found, [ours, (Some(Role::Peer), Some(Storage::AsGiven)), (None, None)]);
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

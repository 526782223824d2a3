//! The body of a Matrix Market file line after line: for streams, and for whatever has to be looked at closely, since
//! this is what says where a fault is.

use crate::Scalar;
use crate::io::error::ReadError;
use crate::io::error::quoted;
use crate::io::matrix_market::entries::Entries;
use crate::io::matrix_market::header::Header;
use crate::io::matrix_market::line;
use crate::io::matrix_market::lines::Lines;
use crate::io::matrix_market::places::Places;
use std::io::Read;

/// Reads all lines that there are. No more entries than the header declares; whether there are as many is seen at the
/// end of the file, by [`check_end`].
pub(super) fn read_lines<S: Scalar, R: Read>(
    lines: &mut Lines<R>,
    header: &Header,
    entries: &mut Entries<S>,
) -> Result<(), ReadError> {
    let mut places = Places::from(header, entries.listed());
    while let Some(line) = lines.next_data()? {
        let expected = if entries.listed() == header.entries {
            format!("the end of the file after {} entries", header.entries)
        } else {
            match line::entry(line.text, header, &mut places) {
                Ok((row, col, value)) => {
                    entries.push(row, col, value);
                    continue;
                }
                Err(fault) => fault.expected(line.text, header),
            }
        };
        let (number, found) = (line.number, quoted(line.text));
        return Err(lines.error(number, found, expected));
    }
    Ok(())
}

/// At the end of the file: were there as many entries as the header declares?
pub(super) fn check_end<S: Scalar, R: Read>(
    lines: &Lines<R>,
    header: &Header,
    entries: &Entries<S>,
) -> Result<(), ReadError> {
    let read = entries.listed();
    if read == header.entries {
        return Ok(());
    }
    let (next, declared) = (read + 1, header.entries);
    Err(lines.error_at_end(format!("entry {next} of the {declared} that the size line declares")))
}

#[cfg(test)]
mod tests {
    use crate::io::ReadOptions;
    use crate::io::error::ReadError;
    use crate::io::matrix_market::read_matrix_market_from;
    use crate::matrix::Coo;
    use crate::matrix::Duplicates;
    use std::path::Path;

    fn read(banner: &str, body: &str) -> Result<Coo<f64>, String> {
        let text = format!("%%MatrixMarket {banner}\n{body}");
        let options = ReadOptions { duplicates: Duplicates::Keep, ..ReadOptions::default() };
        let file = read_matrix_market_from(text.as_bytes(), Path::new("t"), &options);
        file.map(|file| file.coo).map_err(|error: ReadError| error.to_string())
    }

    fn entries(banner: &str, body: &str) -> Vec<(u32, u32, f64)> {
        read(banner, body).unwrap().entries().collect()
    }

    #[test]
    fn symmetries_are_expanded_after_what_is_listed() {
        let body = "3 3 3\n2 2 5\n3 1 7\n1 2 0\n";
        let symmetric = entries("matrix coordinate real symmetric", body);
        assert_eq!(symmetric, [(1, 1, 5.0), (2, 0, 7.0), (0, 1, 0.0), (0, 2, 7.0), (1, 0, 0.0)]);
        let skew = entries("matrix coordinate integer skew-symmetric", "3 3 2\n2 2 0\n3 1 7\n");
        assert_eq!(skew, [(1, 1, 0.0), (2, 0, 7.0), (0, 2, -7.0)]);
        let fault = read("matrix coordinate real skew-symmetric", "3 3 1\n2 2 1\n").unwrap_err();
        assert_eq!(
            fault,
            r#"t: line 3: expected 0 on the diagonal, since the file is skew-symmetric, found "2 2 1""#
        );
    }

    #[test]
    fn arrays_go_column_by_column() {
        let general = entries("matrix array real general", "2 2\n1\n0\n3\n4\n");
        assert_eq!(general, [(0, 0, 1.0), (1, 0, 0.0), (0, 1, 3.0), (1, 1, 4.0)]);
        let symmetric = entries("matrix array integer symmetric", "2 2\n1\n2\n3\n");
        assert_eq!(symmetric, [(0, 0, 1.0), (1, 0, 2.0), (1, 1, 3.0), (0, 1, 2.0)]);
        let skew = entries("matrix array real skew-symmetric", "2 2\n2\n");
        assert_eq!(skew, [(1, 0, 2.0), (0, 1, -2.0)]);
        assert_eq!(entries("vector array real general", "2\n1\n2\n"), [(0, 0, 1.0), (1, 0, 2.0)]);
        assert_eq!(entries("vector coordinate pattern general", "9 1\n4\n"), [(3, 0, 1.0)]);
    }

    #[test]
    fn every_fault_names_line_text_and_expectation() {
        let fault =
            |line: &str| read("matrix coordinate real general", &format!("3 4 1\n{line}\n")).unwrap_err();
        assert!(
            fault("0 1 1").starts_with("t: line 3: expected a row from 1 to 3: Matrix Market counts from 1")
        );
        assert!(fault("1 00 1").ends_with(r#"this file looks zero-based, found "1 00 1""#));
        assert!(fault("4 1 1").contains("a row from 1 to 3, found"));
        assert!(fault("1 5 1").contains("a column from 1 to 4"));
        assert!(fault("1 -1 1").contains("a column from 1 to 4"));
        assert!(fault("1").contains("a column from 1 to 4"));
        assert!(fault("99999999999999999999 1 1").contains("a row from 1 to 3"));
        assert!(fault("1 1").contains("a value, since the field is real"));
        assert!(fault("1 1 x").contains("expected a number, found"));
        assert!(fault("1 1 1 1").contains("nothing after the value"));
        assert!(fault("1 1 1e999").contains("fits f64"));
        assert_eq!(
            fault(""),
            "t: line 4: expected entry 1 of the 1 that the size line declares, found the end of the file"
        );
        assert_eq!(
            fault("1 1 1\n2 2 2"),
            r#"t: line 4: expected the end of the file after 1 entries, found "2 2 2""#
        );
        let fault = read("matrix coordinate pattern general", "1 1 1\n1 1 1").unwrap_err();
        assert!(fault.contains("since the field is pattern"));
        let fault = read("matrix coordinate integer general", "1 1 1\n1 1 1.5").unwrap_err();
        assert!(fault.contains("a whole number"));
        let fault = read("matrix array real general", "1 2\n1\n2 3\n").unwrap_err();
        assert!(fault.contains("line 4: expected nothing after the value"));
    }

    #[test]
    fn huge_promises_cost_nothing() {
        let fault = read("matrix coordinate real general", "9 9 1000000000000000000\n1 1 1\n").unwrap_err();
        assert!(fault.contains("line 4: expected entry 2 of the 1000000000000000000"), "{fault}");
        let fault = read("matrix array real general", "4294967295 4294967295\n1\n").unwrap_err();
        assert!(fault.contains("expected entry 2 of"), "{fault}");
        assert_eq!(
            read("matrix coordinate real general", "4294967295 4294967295 0\n").unwrap().rows(),
            4294967295
        );
    }
}

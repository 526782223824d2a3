//! Texts with everything that the format allows or forbids, cut into tiny segments.

use crate::partition::Partition;
use crate::ranks::{Patience, on_threads};
use crate::reading::load_for;
use crate::reading::tests::{COUNTS, TINY, assert_alike, parts_of, put_together, read_by};
use flate2::Compression;
use flate2::write::GzEncoder;
use ordito::io::ReadOptions;
use ordito::matrix::Random;
use ordito::{Csr, Duplicates};
use std::fs;
use std::io::Write;
use std::path::Path;

fn packed(text: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(text).unwrap();
    packer.finish().unwrap()
}

/// The same for the text and the packed text; was it read?
fn try_text(folder: &Path, text: &[u8]) -> bool {
    let (plain, zipped) = (folder.join("text.mtx"), folder.join("text.mtx.gz"));
    fs::write(&plain, text).unwrap();
    fs::write(&zipped, packed(text)).unwrap();
    let read = assert_alike::<f64>(plain.to_str().unwrap(), &COUNTS, TINY);
    assert_eq!(assert_alike::<f64>(zipped.to_str().unwrap(), &COUNTS, TINY), read);
    read
}

#[test]
fn texts_in_any_dress() {
    let folder = tempfile::tempdir().unwrap();
    let general = "%%MatrixMarket matrix coordinate real general\n";
    let long_comment = format!("{general}4 4 3\n1 1 1\n%{}\n2 2 2\n4 4 4\n", "x".repeat(1000));
    let long_line = format!("{general}4 4 3\n1 1{}1\n2 2 2\n{}4 4 4\n", " ".repeat(500), " ".repeat(300));
    for text in [
        "%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 1.5\n3 4 -2\n2 1 0\n",
        // No end of the last line, other ends of lines, blank lines and comments between and behind.
        "%%MatrixMarket matrix coordinate real general\r\n3 4 3\r\n1 1 1.5\r\n3 4 -2\r\n2 1 0",
        "%%MatrixMarket matrix coordinate real general\n% a\n3 4 3\n\n1 1 1.5\n%b\n \t\n3 4 -2\n2 1 0\n\n\n%c\n",
        "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 4\n1 1\n2 1\n4 4\n4 2\n",
        "%%MatrixMarket matrix coordinate integer skew-symmetric\n4 4 3\n2 1 7\n4 2 -3\n3 3 0\n",
        "%%MatrixMarket matrix array real general\n3 2\n1\n2\n%\n3\n4\n5\n6\n",
        "%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
        "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3",
        "%%MatrixMarket vector array real general\n5\n1\n2\n3\n4\n5\n",
        "%%MatrixMarket vector coordinate real general\n9 2\n4 1.5\n9 2\n",
        "%%MatrixMarket matrix coordinate real general\n0 0 0\n",
        "%%MatrixMarket matrix coordinate real general\n5 0 0\n% nothing\n",
        "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 nan\n1 2 inf\n1 1 -0\n2 2 -0\n",
        // Both of a pair are listed, and one of them twice.
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n2 1 1e16\n1 2 1\n3 3 1\n2 1 -1e16\n3 1 4\n",
        &long_comment,
        &long_line,
    ] {
        assert!(try_text(folder.path(), text.as_bytes()), "{text}");
    }
}

#[test]
fn faults_are_told_in_the_words_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let too_long = format!("2 2 {}1\n", " ".repeat(1 << 20));
    for body in [
        "3 3 3\n1 1 1\n2 2 2\n",
        "3 3 3\n1 1 1\n%\n2 2 2\n",
        "3 3 3\n",
        "3 3 1000000000000000000\n1 1 1\n",
        "3 3 1\n1 1 1\n2 2 2\n3 3 3\n",
        "3 3 3\n1 1 1\n2 2 2\n\n%\n3 3 3\n1 2 3\n",
        "3 3 3\n1 1 1\n4 1 1\n1 1 x\n",
        "3 3 3\n1 1 1\n\n\n0 1 1\n1 1 x\n",
        "3 3 4\n1 1 1\n1 5 1\n1 1 1e999\n1 1",
        // The first fault counts, not the first that somebody meets; nor that there are too many.
        "3 3 2\n1 1 1\n2 2 y\n2 2 2\n2 2 2\n2 2 2\n2 2 2\n1 1 x\n",
        "3 3 3\n1 1 1\r\n2 2 2 2\r\n3 3 3\r\n",
        "4294967296 1 1\n1 1 1\n",
        "3 x 1\n1 1 1\n",
        &format!("3 3 2\n1 1 1\n{too_long}"),
    ] {
        let text = format!("%%MatrixMarket matrix coordinate real general\n{body}");
        assert!(!try_text(folder.path(), text.as_bytes()), "{text}");
    }
    for text in [
        "",
        "\n\n",
        "1 2 3\n",
        "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n",
        "%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n",
        "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n2 1 1\n2 2 0\n3 3 1\n",
        "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
        "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n5\n",
        "%%MatrixMarket matrix array real general\n2 2\n1\n2 2\n3\n4\n",
    ] {
        assert!(!try_text(folder.path(), text.as_bytes()), "{text}");
    }
    assert!(!assert_alike::<f64>("no such file", &COUNTS, TINY));
    assert!(!assert_alike::<f64>(folder.path().to_str().unwrap(), &COUNTS, TINY));
}

#[test]
fn a_damaged_packed_file() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (1..=3000).map(|row| format!("{row} {row} 0.{row}\n")).collect();
    let text = format!("%%MatrixMarket matrix coordinate real general\n3000 3000 3000\n{lines}");
    let whole = packed(text.as_bytes());
    for cut in [40, whole.len() / 2, whole.len() - 3] {
        let path = folder.path().join("cut.mtx.gz");
        fs::write(&path, &whole[..cut]).unwrap();
        assert!(!assert_alike::<f64>(path.to_str().unwrap(), &[1, 3], TINY));
    }
}

/// Drawn texts: entries in no order, many at the same place, comments strewn in.
#[test]
fn drawn_texts() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..40 {
        let mut random = Random::new(seed, 0);
        let symmetry = ["general", "symmetric", "skew-symmetric"][random.below(3) as usize];
        let rows = 1 + random.below(12);
        let cols = if symmetry == "general" { 1 + random.below(12) } else { rows };
        let entries = random.below(60);
        let mut text = format!("%%MatrixMarket matrix coordinate real {symmetry}\n{rows} {cols} {entries}\n");
        for _ in 0..entries {
            let (row, col) = (1 + random.below(rows), 1 + random.below(cols));
            let value = if symmetry == "skew-symmetric" && row == col { 0.0 } else { random.normal() };
            text += &format!("{row} {col} {value}\n");
            if random.below(9) == 0 {
                text += ["\n", "% aside\n", "  \r\n"][random.below(3) as usize];
            }
        }
        if random.below(2) == 0 {
            text.truncate(text.trim_end().len());
        }
        assert!(try_text(folder.path(), text.as_bytes()), "{text}");
    }
}

#[test]
fn a_given_partition_is_kept_and_one_that_does_not_fit_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    fs::write(&path, "%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n1 1 1\n2 1 2\n4 4 3\n4 2 4\n")
        .unwrap();
    let options = ReadOptions::default();
    for name in [path.to_str().unwrap(), "stencil5:2"] {
        let csr = Csr::from_coo(&ordito::io::load::<f64>(name, &options).unwrap().coo, Duplicates::Sum);
        let given = Partition::new([0, 3, 3, 4]).unwrap();
        let read = read_by::<f64>(3, name, &options, Some(&given), TINY).unwrap();
        assert_eq!(read[0].rows, given);
        assert_eq!(put_together(&read), parts_of(&csr));
        for (starts, why) in [(&[0, 4][..], "has 1 parts"), (&[0, 1, 2, 5], "has 5 rows, the matrix 4")] {
            let given = Partition::new(starts).unwrap();
            let fault = read_by::<f64>(3, name, &options, Some(&given), TINY).unwrap_err();
            assert!(fault.contains(why), "{fault}");
        }
        let faults = on_threads(2, Patience::default(), |ranks| {
            use crate::ranks::Ranks;
            let given = Partition::new([0, 1 + ranks.rank() as u64, 4]).unwrap();
            load_for::<f64>(&ranks, name, &options, Some(given)).unwrap_err().to_string()
        });
        assert!(faults.iter().all(|fault| fault.starts_with("the partition")), "{faults:?}");
    }
}

#[test]
fn limits_are_those_of_a_rank() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    // All entries in one row: half of them on every rank while they are read, all on one in the end.
    let entries: String = (1..=10).map(|column| format!("1 {column} 1\n")).collect();
    let text = format!("%%MatrixMarket matrix coordinate real general\n10 10 10\n{entries}");
    fs::write(&path, &text).unwrap();
    let zipped = folder.path().join("b.mtx.gz");
    fs::write(&zipped, packed(text.as_bytes())).unwrap();
    for path in [path, zipped] {
        let name = path.to_str().unwrap();
        let read = |ranks, max_bytes| {
            read_by::<f64>(ranks, name, &ReadOptions { max_bytes, ..ReadOptions::default() }, None, TINY)
        };
        assert!(read(2, 160).is_ok());
        let fault = read(2, 159).unwrap_err();
        assert_eq!(
            fault,
            format!("{name} on one of 2 ranks: 10 entries take 160 B, more than the limit of 159 B")
        );
        let fault = read(2, 79).unwrap_err();
        assert_eq!(
            fault,
            format!("{name} on one of 2 ranks: 5 entries take 80 B, more than the limit of 79 B")
        );
        assert_eq!(
            read(1, 159).unwrap_err(),
            format!("{name}: 10 entries take 160 B, more than the limit of 159 B")
        );
    }
}

#[test]
fn what_ranks_want_is_the_same_and_duplicates_are_not_kept() {
    let faults = on_threads(2, Patience::default(), |ranks| {
        use crate::ranks::Ranks;
        let options = ReadOptions { seed: ranks.rank() as u64, ..ReadOptions::default() };
        load_for::<f64>(&ranks, "diagonal:3", &options, None).unwrap_err().to_string()
    });
    assert!(faults[0].starts_with("the matrix that is wanted: rank 0 has"), "{faults:?}");
    let options = ReadOptions { duplicates: Duplicates::Keep, ..ReadOptions::default() };
    assert!(read_by::<f64>(2, "diagonal:3", &options, None, TINY).unwrap_err().contains("cannot be kept"));
}

//! Text matrices from files: real recordings where they are at hand, every kind of malformed text with its message, pipes,
//! `.gz`, very long rows.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // in helpers of tests too

use flate2::Compression;
use flate2::write::GzEncoder;
use ordito::io::{
    NonFinite, ReadError, TextBlock, TextMatrix, TextOptions, read_text_blocks, read_text_columns,
    read_text_matrix,
};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text).unwrap();
    gzip.finish().unwrap()
}

fn read_with(text: &[u8], options: &TextOptions) -> Result<TextMatrix<f64>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.txt");
    fs::write(&path, text).unwrap();
    read_text_matrix(&path, options).map_err(|error| {
        assert!(!error.to_string().contains('\n'), "{error}");
        error.to_string().replace(&format!("{}/", folder.path().display()), "")
    })
}

fn read(text: &[u8]) -> Result<TextMatrix<f64>, String> {
    read_with(text, &TextOptions::default())
}

#[test]
fn every_malformed_text_gives_one_clear_error() {
    let cases: &[(&[u8], &str)] = &[
        (b"", "the file is empty; expected rows of numbers"),
        (b"# only\n\n", "the file holds only comments or empty lines; expected rows of numbers"),
        (b"a b c\n", "the file holds a line of text and no numbers; expected rows of numbers"),
        (b"1 2 3\n4 5\n", "row 2 has 2 numbers, 3 expected"),
        (b"1 2 3\n4\n", "row 2 has 1 number, 3 expected"),
        (b"# c\n1 2 3\n4 5 6 7 8\n", "row 2 (line 3) has 5 numbers, 3 expected"),
        (b"1 2 3\n1 1.2.3 3\n", "row 2, column 2: `1.2.3` is not a number"),
        (b"x y z\n1 2 three\n", "row 1 (line 2), column 3: `three` is not a number"),
        (b"hello world\nfoo bar\n", "row 1 (line 2), column 1: `foo` is not a number"),
        (b"time 1 2\n", "row 1, column 1: `time` is not a number"),
        (b"1 2\n\n3 4\n", "row 2 is an empty line, and more rows follow; remove it, or write its numbers"),
        (b"1,2,3\n4,,6\n", "row 2, column 2: the field is empty; a number must stand between two separators"),
        (b"1,2,3\n4,5,\n", "row 2 has 2 numbers, 3 expected"),
        (b"1,2\n3,4 5\n", "row 2, column 2: `4 5` is not a number"),
        (
            b"1,5;2,5\n",
            "its first row looks like numbers with decimal commas; write them with a decimal point",
        ),
        (
            b"1,5 2,5\n",
            "its first row looks like numbers with decimal commas; write them with a decimal point",
        ),
        (b"1 2\n3 nan\n", "row 2, column 2: `nan` is not finite, and only finite numbers are allowed"),
        (b"1 2\n3 1e309\n", "row 2, column 2: `1e309` is too large for f64"),
        (b"1 2\r3 4\r", "row 1, column 2: `2\\r3` is not a number"),
        (
            b"1 2\n3 \x00 4\n",
            "row 2, column 2: `\\0` is not a number; this looks like a binary or damaged file",
        ),
        (b"1\x002\x00\n\x00", "this looks like a binary file (byte 0 at position 1)"),
        (b"\x93NUMPY\x01\x00v\x00{'descr'", "this is a NumPy file; its name should end in .npy"),
        (b"PK\x03\x04xx", "this is a ZIP archive (.npz, .xlsx); take the numbers out as text or .npy first"),
        (b"\xff\xfe1\x00 \x002\x00", "this is UTF-16 text; save it as UTF-8"),
        (b"a b c\n1 2\n", "the header has 3 names, and the first row 2 numbers"),
    ];
    for (text, expected) in cases {
        let shown = String::from_utf8_lossy(text);
        assert_eq!(read(text).unwrap_err(), format!("file.txt: {expected}"), "{shown:?}");
        if !text.is_empty() {
            assert_eq!(read(&gzip(text)).unwrap_err(), format!("file.txt: {expected}"), "{shown:?}");
        }
    }
    assert_eq!(
        read(&gzip(&gzip(b"1"))).unwrap_err(),
        "file.txt: this is gzip inside gzip; decompress it once"
    );
    assert!(read_text_matrix::<f64>(Path::new("no such file"), &TextOptions::default()).is_err());
    assert!(read_text_matrix::<f64>(Path::new("/"), &TextOptions::default()).is_err());
}

#[test]
fn every_dress_of_the_same_matrix_is_read() {
    let texts: &[&[u8]] = &[
        b"1 2.5 -3\n4e0 500D-2 6",
        b"\xef\xbb\xbf1 2.5 -3\r\n+4 5. 6\r\n",
        b"# first\n% second\n\n a\tb c\n1\t2.5 -3 \n  4   5 6\n# last\n\n\n",
        b"\"a\",\"b\",\"c\"\n1,2.5,-3\n4 , 5\t,6\n",
        b"1;2.5;-3;\n4;5;6;\n",
        b"1.0000000000000000000000000000 .25e+1 -0.3E1\n4 5 6.000000000000000000e+00\n",
    ];
    for text in texts {
        for text in [text.to_vec(), gzip(text)] {
            let read = read(&text).unwrap();
            assert_eq!((read.matrix.rows(), read.matrix.cols()), (2, 3));
            assert_eq!(read.matrix.data(), [1.0, 2.5, -3.0, 4.0, 5.0, 6.0]);
            assert!(read.header.is_none_or(|names| names == ["a", "b", "c"]));
        }
    }
    let allow = TextOptions { non_finite: NonFinite::Allow, ..TextOptions::default() };
    let read = read_with(b"NaN inf\n-Infinity 1\n", &allow).unwrap();
    assert!(read.matrix.data()[0].is_nan());
    assert_eq!(read.matrix.data()[1..], [f64::INFINITY, f64::NEG_INFINITY, 1.0]);
}

#[test]
fn compressed_members_follow_each_other_and_a_cut_one_is_an_error() {
    let members = [gzip(b"1 2\n3 "), gzip(b"4\n5 6\n")].concat();
    assert_eq!(read(&members).unwrap().matrix.data(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let whole = gzip("1.5 2.5\n".repeat(100_000).as_bytes());
    for kept in [whole.len() - 1, whole.len() / 2, 12] {
        let error = read(&whole[..kept]).unwrap_err();
        assert!(error.starts_with("file.txt: line "), "{error}");
        assert!(error.contains("the file is damaged or cut off here"), "{error}");
    }
}

#[test]
fn memory_is_refused_before_it_is_taken() {
    let options = TextOptions { max_bytes: 32, ..TextOptions::default() };
    assert_eq!(read_with(b"1 2\n3 4\n", &options).unwrap().matrix.data().len(), 4);
    let error = read_with(b"1 2\n3 4\n5 6\n", &options).unwrap_err();
    assert_eq!(error, "file.txt: 6 entries take 48 B, more than the limit of 32 B");
}

#[test]
fn a_million_columns_are_read_and_their_faults_found() {
    let row: String = (0..1_000_000).map(|col| format!("{col} ")).collect();
    let text = format!("{row}\n{row}\n");
    let matrix = read(text.as_bytes()).unwrap().matrix;
    assert_eq!((matrix.rows(), matrix.cols()), (2, 1_000_000));
    assert_eq!(matrix.view().row(1)[999_999], 999_999.0);
    let error = read(format!("{text}{row} 7\n").as_bytes()).unwrap_err();
    assert_eq!(error, "file.txt: row 3 has 1000001 numbers, 1000000 expected");
    let error = read(text.replace("999998 ", "99999x ").as_bytes()).unwrap_err();
    assert_eq!(error, "file.txt: row 1, column 999999: `99999x` is not a number");
}

#[cfg(unix)]
#[test]
fn pipes_are_read_too() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: no mkfifo here");
        return;
    }
    for bytes in [b"1 2\n3 4\n".to_vec(), gzip(b"1 2\n3 4\n")] {
        let writer = pipe.clone();
        let writing = std::thread::spawn(move || fs::write(writer, bytes).unwrap());
        let read = read_text_matrix::<f32>(&pipe, &TextOptions::default()).unwrap();
        writing.join().unwrap();
        assert_eq!((read.matrix.data(), read.bytes), (&[1.0f32, 2.0, 3.0, 4.0][..], 8));
    }
}

#[test]
fn blocks_stop_where_the_caller_wants() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.txt");
    fs::write(&path, "1\n2\n3\n4\n5\n").unwrap();
    #[derive(Debug)]
    struct Enough(Option<ReadError>);
    impl From<ReadError> for Enough {
        fn from(error: ReadError) -> Self {
            Enough(Some(error))
        }
    }
    let options = TextOptions { block_bytes: 4, ..TextOptions::default() }; // two rows
    let copy = |block: TextBlock<'_, f64>| block.numbers.as_view().data().to_vec();
    let mut seen = Vec::new();
    let stopped = read_text_blocks(&path, &options, copy, |block| {
        seen.push(block);
        if seen.len() == 2 { Err(Enough(None)) } else { Ok(()) }
    });
    assert!(matches!(stopped, Err(Enough(None))));
    assert_eq!(seen, [[1.0, 2.0], [3.0, 4.0]]);
    let mut lengths = Vec::new();
    let all = read_text_blocks(&path, &options, copy, |block| {
        lengths.push(block.len());
        Ok::<_, Enough>(())
    });
    assert_eq!((all.unwrap().rows, lengths), (5, vec![2, 2, 1]));
    assert_eq!(read_text_columns(&path, &options).unwrap(), 1);
}

/// The recordings of the corpus, as `tests/corpus.rs` looks for it.
fn recordings() -> Vec<PathBuf> {
    let data = match std::env::var_os("ORDITO_CORPUS") {
        Some(data) => PathBuf::from(data),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let Ok(files) = fs::read_dir(data.join("eeg")) else {
        println!("skipped: no eeg in {}; set ORDITO_CORPUS", data.display());
        return Vec::new();
    };
    files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "gz"))
        .collect()
}

#[test]
fn recordings_are_read_as_the_standard_library_reads_them() {
    for path in recordings() {
        let mut text = String::new();
        flate2::read::MultiGzDecoder::new(fs::File::open(&path).unwrap()).read_to_string(&mut text).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain.txt");
        fs::write(&plain, &text).unwrap();
        let options = TextOptions::default();
        let double = read_text_matrix::<f64>(&plain, &options).unwrap();
        let single = read_text_matrix::<f32>(&plain, &options).unwrap();
        assert_eq!(double.bytes as usize, text.len());
        assert_eq!(double.matrix.rows(), text.lines().count());
        let words = || text.split_ascii_whitespace();
        assert_eq!(double.matrix.data().len(), words().count());
        for ((word, double), single) in words().zip(double.matrix.data()).zip(single.matrix.data()) {
            assert_eq!(double.to_bits(), word.parse::<f64>().unwrap().to_bits(), "{word}");
            assert_eq!(single.to_bits(), word.parse::<f32>().unwrap().to_bits(), "{word}");
        }
        let compressed = read_text_matrix::<f64>(&path, &options).unwrap();
        assert_eq!(compressed.matrix, double.matrix, "{}", path.display());
        let mut rows = 0;
        let compare = |block: TextBlock<'_, f64>| {
            let (numbers, first) = (block.numbers.as_view(), block.first_row as usize);
            let same = |row| numbers.row(row) == double.matrix.view().row(first + row);
            assert!((0..numbers.rows()).all(same), "from row {first} on");
            numbers.rows()
        };
        let count = |of_block| {
            rows += of_block;
            Ok::<_, ReadError>(())
        };
        read_text_blocks(&path, &options, compare, count).unwrap();
        assert_eq!(rows, double.matrix.rows());
    }
}

#[test]
fn a_file_that_is_shortened_while_it_is_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    // Comments are read in no time: many chunks of them, and a row in each.
    let line = format!("1 2\n#{}\n", "x".repeat(1 << 20));
    fs::write(&path, line.repeat(100)).unwrap();
    let shorten = |_: TextBlock<'_, f64>| {
        fs::File::options().write(true).open(&path).unwrap().set_len(1 << 20).unwrap();
    };
    let read = read_text_blocks(&path, &TextOptions::default(), shorten, |()| Ok::<_, ReadError>(()));
    let error = read.unwrap_err().to_string();
    assert!(
        error.ends_with("text: the file was shortened, or its disk failed, while it was read"),
        "{error}"
    );
}

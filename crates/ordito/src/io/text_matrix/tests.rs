//! The whole reader on tiny grids, with several numbers of threads, and on texts with random damage.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests too

use crate::Scalar;
use crate::io::error::ReadError;
use crate::io::text_matrix::blocks::TextBlock;
use crate::io::text_matrix::grid::Grain;
use crate::io::text_matrix::reader::{read_blocks, read_whole};
use crate::io::text_matrix::{NonFinite, TextFacts, TextMatrix, TextOptions};
use crate::matrix::Random;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// One chunk per line or nearly so, several chunks per segment, everything at once.
const GRAINS: [Grain; 3] = [
    Grain { segment_bytes: 1, chunk_bytes: 1 },
    Grain { segment_bytes: 64, chunk_bytes: 16 },
    Grain { segment_bytes: 1 << 20, chunk_bytes: 1 << 16 },
];

const ALLOW: TextOptions =
    TextOptions { non_finite: NonFinite::Allow, separator: None, max_bytes: u64::MAX, block_bytes: 1 << 20 };

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Bits, shape and header, or the error's text.
type Outcome = Result<(Vec<u64>, usize, usize, Option<Vec<String>>), String>;

fn bits<S: Scalar>(numbers: &[S]) -> Vec<u64> {
    // NaN is NaN: text carries no payload.
    numbers
        .iter()
        .map(|number| number.to_f64())
        .map(|x| if x.is_nan() { f64::NAN } else { x }.to_bits())
        .collect()
}

fn whole<S: Scalar>(path: &Path, grain: Grain) -> Outcome {
    let read: Result<TextMatrix<S>, ReadError> = read_whole(path, &ALLOW, grain);
    let text = read.map_err(|error| error.to_string())?;
    Ok((bits(text.matrix.data()), text.matrix.rows(), text.matrix.cols(), text.header))
}

/// The same, put together of blocks, and the rows of each.
fn blocks<S: Scalar>(path: &Path, grain: Grain) -> (Outcome, Vec<usize>) {
    let (mut numbers, mut lengths) = (Vec::new(), Vec::new());
    let copy = |block: TextBlock<'_, S>| {
        (block.first_row, block.numbers.rows(), block.numbers.as_view().data().to_vec())
    };
    let read: Result<TextFacts, ReadError> =
        read_blocks(path, &ALLOW, grain, copy, |(first_row, rows, block)| {
            assert_eq!(first_row as usize, lengths.iter().sum::<usize>());
            lengths.push(rows);
            numbers.extend(bits(&block));
            Ok(())
        });
    let outcome = read.map_err(|error| error.to_string());
    (outcome.map(|facts| (numbers, facts.rows as usize, facts.cols, facts.header)), lengths)
}

/// Plain and compressed, whole and in blocks, on every grid: all the same. Returns what it is.
fn read_every_way<S: Scalar>(folder: &Path, text: &[u8]) -> Outcome {
    let path = folder.join("text"); // one name, so that errors are alike
    fs::write(&path, text).unwrap();
    let first = whole::<S>(&path, GRAINS[0]);
    let all = |what: &str| {
        GRAINS.map(|grain| {
            let shown = || format!("{what}, {grain:?}: {:?}", String::from_utf8_lossy(text));
            assert_eq!(whole::<S>(&path, grain), first, "{}", shown());
            let (outcome, lengths) = blocks::<S>(&path, grain);
            assert_eq!(outcome, first, "{}", shown());
            lengths
        })
    };
    let plain = all("plain");
    if text.starts_with(&[0x1f, 0x8b]) {
        return first; // and compressed it would be refused for that
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text).unwrap();
    fs::write(&path, gzip.finish().unwrap()).unwrap();
    let compressed = all("compressed");
    if let Ok((_, rows, ..)) = first {
        assert_eq!(plain, compressed, "{:?}", String::from_utf8_lossy(text));
        assert!(plain.iter().all(|lengths| lengths.iter().sum::<usize>() == rows));
    }
    first
}

fn sample(rows: usize, cols: usize, seed: u64) -> String {
    let mut random = Random::new(seed, 9);
    let mut text = "# a comment\nname".to_owned() + &" name".repeat(cols - 1) + "\r\n";
    for row in 0..rows {
        for col in 0..cols {
            let value = 50.0 * random.normal();
            text += &match (row + col) % 3 {
                0 => format!("{value:.18e} "),
                1 => format!("{value} "),
                _ => format!("\t{:.0} ", value),
            };
        }
        text += if row % 5 == 4 { "\r\n % between\n" } else { "\n" };
    }
    text
}

/// As `numpy.savetxt` writes it: long enough rows are read eight numbers at a time.
fn savetxt(rows: usize, cols: usize, separator: char) -> String {
    let mut random = Random::new(3, 9);
    let mut text = String::new();
    for place in 1..=rows * cols {
        let value = format!("{:.18e}", 50.0 * random.normal());
        let (digits, exponent) = value.split_once('e').unwrap();
        text += &format!("{digits}e{:+03}", exponent.parse::<i32>().unwrap());
        text.push(if place % cols == 0 { '\n' } else { separator });
    }
    text
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn threads_and_grids_change_neither_numbers_nor_errors() {
    let folder = tempfile::tempdir().unwrap();
    let good = sample(40, 7, 1);
    let lines: Vec<&str> = good.split_inclusive('\n').collect();
    let with = |line: usize, other: &str| {
        let mut lines = lines.clone();
        lines[line] = other;
        lines.concat()
    };
    let two_faults = with(30, "1 2 3\n").replace(lines[20], "1 2 3 4 5 6 x\n").replace(lines[40], "\n");
    let texts =
        [good.clone(), with(10, "\n"), with(30, "1 2 3\n"), with(45, "1 2 3 4 5 6 7 8\n"), two_faults];
    let expected: Vec<Outcome> = texts
        .iter()
        .map(|text| pool(1).install(|| read_every_way::<f64>(folder.path(), text.as_bytes())))
        .collect();
    assert_eq!(expected[0].as_ref().map(|read| (read.1, read.2)), Ok((40, 7)));
    let ends = |index: usize, end: &str| {
        assert!(expected[index].as_ref().unwrap_err().ends_with(end), "{expected:?}")
    };
    ends(1, ": row 8 (line 11) is an empty line, and more rows follow; remove it, or write its numbers");
    ends(2, ": row 25 (line 31) has 3 numbers, 7 expected");
    ends(3, ": row 37 (line 46) has 8 numbers, 7 expected");
    ends(4, ": row 16 (line 21), column 7: `x` is not a number");
    for threads in [2, 5] {
        let pool = pool(threads);
        for (text, expected) in texts.iter().zip(&expected) {
            let found = pool.install(|| read_every_way::<f64>(folder.path(), text.as_bytes()));
            assert_eq!(&found, expected, "{threads} threads");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn rows_may_be_shorter_than_the_first_one_promised() {
    let folder = tempfile::tempdir().unwrap();
    let long = savetxt(3, 12, ' ');
    let short = "1 2 3 4 5 6 7 8 9 10 11 12\n# between\n".repeat(9);
    for text in [format!("{long}{short}"), format!("{long}{short}{long}"), format!("{long}# x\n{short}\n")] {
        let read = read_every_way::<f64>(folder.path(), text.as_bytes()).unwrap();
        assert_eq!(Some((read.0, read.1, read.2)), reference::<f64>(text.as_bytes()));
    }
    let fault = |text: String| read_every_way::<f64>(folder.path(), text.as_bytes()).unwrap_err();
    let place = fault(format!("{long}{short}1 2\n{long}"));
    assert!(place.ends_with(": row 13 (line 22) has 2 numbers, 12 expected"), "{place}");
    let place = fault(format!("{long}\n{short}"));
    assert!(place.contains(": row 4 is an empty line"), "{place}");
}

/// The rules of the format once more, as plainly as they can be written.
fn reference<S: Scalar>(text: &[u8]) -> Option<(Vec<u64>, usize, usize)> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut lines: Vec<&[u8]> =
        text.split(|&byte| byte == b'\n').map(|l| l.strip_suffix(b"\r").unwrap_or(l)).collect();
    let is_blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    let first = |line: &[u8]| line.iter().find(|byte| !is_blank(byte)).copied();
    lines.retain(|line| !matches!(first(line), Some(b'#' | b'%')));
    let start = lines.iter().position(|line| first(line).is_some())?;
    let end = lines.iter().rposition(|line| first(line).is_some())?;
    let mut lines = &lines[start..=end];
    let split = |line: &[u8], by: Option<u8>| -> Vec<String> {
        let line = String::from_utf8_lossy(line).into_owned();
        match by {
            None => line.split([' ', '\t']).filter(|word| !word.is_empty()).map(str::to_owned).collect(),
            Some(by) => {
                let trimmed = line.trim_matches([' ', '\t']);
                let whole = trimmed.strip_suffix(char::from(by)).unwrap_or(trimmed);
                whole.split(char::from(by)).map(|word| word.trim_matches([' ', '\t']).to_owned()).collect()
            }
        }
    };
    let number = |word: &str| -> Option<f64> {
        let has_digits = word.contains(|c: char| c.is_ascii_digit());
        let word = if has_digits { word.replacen(['d', 'D'], "e", 1) } else { word.to_owned() };
        let value = match size_of::<S>() {
            4 => word.parse::<f32>().ok()?.into(),
            _ => word.parse::<f64>().ok()?,
        };
        (value.is_finite() || !has_digits).then_some(value)
    };
    let separator = |line: &[u8]| line.iter().find(|byte| matches!(byte, b',' | b';')).copied();
    // Words that overflow count as numbers here.
    let is_number =
        |word: &String| word.replacen(['d', 'D'], "e", 1).parse::<f64>().is_ok() || number(word).is_some();
    if !split(lines[0], separator(lines[0])).iter().any(is_number) {
        lines = &lines[1..];
        let skipped = lines.iter().position(|line| first(line).is_some())?;
        lines = &lines[skipped..];
    }
    let separator = separator(lines[0]);
    let cols = split(lines[0], separator).len();
    let mut numbers = Vec::new();
    for line in lines {
        let words = split(line, separator);
        if words.len() != cols {
            return None;
        }
        for word in words {
            numbers.push(S::from_f64(number(&word)?));
        }
    }
    Some((bits(&numbers), lines.len(), cols))
}

/// A few bytes changed, inserted, removed, repeated or cut off.
fn damage(text: &mut Vec<u8>, random: &mut Random) {
    const TELLING: &[u8] = b"0159 \t\n\r,;.+-eEdD#%xnainf\0\xef\xbb\xbf\xff\"";
    for _ in 0..1 + random.below(3) {
        if text.is_empty() {
            return;
        }
        let at = random.below(text.len() as u64) as usize;
        let end = (at + 1 + random.below(12) as usize).min(text.len());
        match random.below(6) {
            0 => text[at] ^= 1 << random.below(8),
            1 => text[at] = TELLING[random.below(TELLING.len() as u64) as usize],
            2 => text.insert(at, TELLING[random.below(TELLING.len() as u64) as usize]),
            3 => _ = text.drain(at..end),
            4 => _ = text.splice(at..at, text[at..end].to_vec()).count(),
            _ if random.below(4) == 0 => text.truncate(at),
            _ => {}
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn damaged_texts_are_refused_or_read_as_the_rules_say() {
    let seconds: u64 = std::env::var("ORDITO_MUTATION_SECONDS").ok().map_or(2, |text| text.parse().unwrap());
    let samples = [
        sample(6, 3, 2),
        "1.500000000000000000e+00 -2.250000000000000000e-01\n3.000000000000000000e+00 4.000000000000000000e+00\n".into(),
        savetxt(3, 12, ' '),
        savetxt(2, 21, ','),
        "a,b,c\r\n1,2,3\r\n4, 5 ,6,\r\n".into(),
        "1;2;3\n4;inf;-6.5D-03\n".into(),
        "-1.32063e+01 1e5\n\t.5 5.\n% end\n\n".into(),
        "12345678901234567890.123 0.1\nnan 1e308\n".into(),
    ];
    for text in &samples {
        assert!(reference::<f64>(text.as_bytes()).is_some(), "{text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let (end, mut random) = (Instant::now() + Duration::from_secs(seconds), Random::new(6, 1));
    let (mut read, mut refused) = (0u64, 0u64);
    while Instant::now() < end || read < 100 {
        let mut text = samples[random.below(samples.len() as u64) as usize].clone().into_bytes();
        damage(&mut text, &mut random);
        let shown = String::from_utf8_lossy(&text);
        match read_every_way::<f64>(folder.path(), &text) {
            Ok((numbers, rows, cols, _)) => {
                assert_eq!(Some((numbers, rows, cols)), reference::<f64>(&text), "{shown:?}");
                read += 1;
            }
            Err(error) => {
                assert!(!error.contains('\n') && !error.is_empty(), "{error:?}");
                refused += 1;
            }
        }
        if let Ok((numbers, rows, cols, _)) = read_every_way::<f32>(folder.path(), &text) {
            assert_eq!(Some((numbers, rows, cols)), reference::<f32>(&text), "{shown:?}");
        }
    }
    assert!(refused > 0);
}

//! Chunks beside lines: whatever they read or refuse, they do alike.

use crate::io::ReadOptions;
use crate::io::matrix_market::parallel::*;
use crate::io::matrix_market::read_matrix_market_from;
use crate::matrix::Random;

/// Triplets or the error, read in segments and chunks of these lengths.
fn read_in_parallel(text: &str, segment_bytes: usize, chunk_bytes: usize) -> Result<String, String> {
    let path = Path::new("t");
    let mut lines = Lines::new(text.as_bytes(), path);
    let read = || -> Result<Entries<f64>, ReadError> {
        let header = Header::read(&mut lines)?;
        let (looked_at, _, lines_read) = lines.into_rest();
        let mut body = Body::<f64>::new(path, &header, Entries::default(), lines_read);
        body.chunk_bytes = chunk_bytes;
        segments(&looked_at, segment_bytes).try_for_each(|segment| body.read(segment))?;
        body.finish()
    };
    read().map(|entries| format!("{:?}", entries.into_parts())).map_err(|error| error.to_string())
}

fn read_line_by_line(text: &str) -> Result<String, String> {
    let keep = ReadOptions { duplicates: crate::matrix::Duplicates::Keep, ..ReadOptions::default() };
    let file = read_matrix_market_from::<f64>(text.as_bytes(), Path::new("t"), &keep);
    let show = |coo: crate::matrix::Coo<f64>| {
        let parts = (coo.row_indices().to_vec(), coo.col_indices().to_vec(), coo.values().to_vec());
        format!("{parts:?}")
    };
    file.map(|file| show(file.coo)).map_err(|error| error.to_string())
}

fn assert_same(text: &str) -> bool {
    let expected = read_line_by_line(text);
    for (segment_bytes, chunk_bytes) in [(1 << 20, 1 << 20), (1 << 20, 16), (64, 24), (1, 1)] {
        let found = read_in_parallel(text, segment_bytes, chunk_bytes);
        assert_eq!(found, expected, "segments of {segment_bytes}, chunks of {chunk_bytes} in {text:?}");
    }
    expected.is_ok()
}

const BODIES: &[(&str, &str)] = &[
    (
        "matrix coordinate real general\n9 8 7",
        "1 1 0.5\n9 8 -1.25e3\n 2\t3  1.5D+03 \r\n\n% c\n4 4 nan\n5 5 -inf\n1 2 12345678901234567890123\n8 8 4.9e-324\n",
    ),
    (
        "matrix coordinate integer general\n300 300 4",
        "1 299 -7\n300 1 +9007199254740993\n5 5 0\n6 6 18446744073709551615",
    ),
    ("matrix coordinate pattern general\n12345678 123456789 3", "12345678 1\n7 123456789\n% end\n00001 1 \n"),
    ("matrix array real general\n3 2", "1\n2.5\n-3e-5\n4\n% c\n5\n\n6\n"),
    ("vector coordinate real general\n9 2", "1 2.5\n9 -1\n"),
    ("matrix coordinate real general\n5 5 0", "\n% nothing\n"),
];

#[test]
fn chunks_say_what_lines_say() {
    for (head, body) in BODIES {
        assert!(assert_same(&format!("%%MatrixMarket {head}\n{body}")), "{body}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn damaged_texts_are_refused_at_the_same_place_in_the_same_words() {
    let mut random = Random::new(8, 1);
    let mut refused = 0;
    const BYTES: &[u8] = b"0179 \n\r\t.-+eEdDx%\x0b\xff";
    for _ in 0..4000 {
        let (head, body) = BODIES[random.below(BODIES.len() as u64) as usize];
        let mut body = body.as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(body.len() as u64) as usize;
            let byte = BYTES[random.below(BYTES.len() as u64) as usize];
            match random.below(3) {
                0 => body[at] = byte,
                1 => body.insert(at, byte),
                _ => drop(body.remove(at)),
            }
        }
        let text = format!("%%MatrixMarket {head}\n{}", String::from_utf8_lossy(&body));
        refused += usize::from(!assert_same(&text));
    }
    assert!((1000..4000).contains(&refused), "{refused}");
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn lines_that_are_too_long_are_refused_wherever_they_stand() {
    let blanks = " ".repeat(BUFFER_BYTES);
    for body in [format!("1 1 {blanks}5\n"), format!("1 1 5{blanks}\n"), format!("{blanks}\n1 1 5\n")] {
        let text = format!("%%MatrixMarket matrix coordinate real general\n2 2 1\n{body}");
        let said = read_in_parallel_whole(&text).unwrap_err();
        assert_eq!(said, read_line_by_line(&text).unwrap_err());
        assert!(said.contains("a line of at most 1048576 bytes"), "{said}");
    }
    let comment = format!("%%MatrixMarket matrix coordinate real general\n2 2 1\n%{blanks}\n1 1 5\n");
    assert!(read_in_parallel_whole(&comment).is_ok());
}

/// All of a text that is longer than what is read to find the header.
fn read_in_parallel_whole(text: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    std::fs::write(&path, text).unwrap();
    let file = crate::io::matrix_market::read_matrix_market::<f64>(&path, &ReadOptions::default());
    let shown = file.map(|file| format!("{:?}", file.coo)).map_err(|error| error.to_string());
    shown.map_err(|said| said.replace(&*path.to_string_lossy(), "t"))
}

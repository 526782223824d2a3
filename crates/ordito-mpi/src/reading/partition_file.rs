//! Which rank is to have which row, from a file: one number on each line, as METIS writes `.part` files.

use crate::error::Error;
use crate::partition::Partition;
use crate::ranks::Ranks;
use crate::reading::together::{agreed, agreed_unless_alone, deliver, number_of_all};
use ordito::io::ReadError;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

/// Most characters of a line that an error repeats.
const QUOTED_CHARACTERS: usize = 40;

/// Reads the numbers of this rank's rows: line r + 1 says which rank is to have row r. Blank lines count as lines, not as rows. Every rank reads a range of the file's bytes, and holds about twice its share of
/// the numbers.
///
/// ```
/// use ordito_mpi::ranks::{Patience, on_threads};
/// use ordito_mpi::{Partition, reading};
/// # let path = std::env::temp_dir().join(format!("ordito-{}.part", std::process::id()));
/// # std::fs::write(&path, "1\n0\n1\n").unwrap();
/// let rows = Partition::even(3, 2);
/// let read = on_threads(2, Patience::default(), |ranks| reading::read_partition(&ranks, &path, &rows));
/// assert_eq!(read.into_iter().collect::<Result<Vec<_>, _>>()?, [vec![1], vec![0, 1]]);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), ordito_mpi::Error>(())
/// ```
pub fn read_partition(ranks: &dyn Ranks, path: &Path, rows: &Partition) -> Result<Vec<u32>, Error> {
    let failed = |reason| ReadError::Io { path: path.to_owned(), reason };
    let text = agreed_unless_alone(ranks, lines_of_part(path, ranks.rank(), ranks.count()).map_err(failed))?;
    let lines: Vec<&[u8]> = lines(&text).collect();
    let lines_of_all = number_of_all(ranks, lines.len() as u64)?;
    let lines_before: u64 = lines_of_all[..ranks.rank()].iter().sum();
    let fault = |line: u64, found: String, expected: String| ReadError::Line {
        path: path.to_owned(),
        line: line + 1,
        found,
        expected,
    };
    let filled = || (lines_before..).zip(&lines).filter(|(_, line)| !line.trim_ascii().is_empty());
    let number = |(at, line): (u64, &&[u8])| {
        let number = std::str::from_utf8(line.trim_ascii()).ok().and_then(|text| text.parse::<u32>().ok());
        number
            .filter(|&number| (number as usize) < ranks.count())
            .ok_or_else(|| fault(at, quoted(line), format!("a rank from 0 to {}", ranks.count() - 1)))
    };
    let numbers: Vec<u32> = agreed(ranks, filled().map(number).collect::<Result<_, _>>())?;
    // As many as there are rows?
    let counts = number_of_all(ranks, numbers.len() as u64)?;
    let (total, before) = (counts.iter().sum::<u64>(), counts[..ranks.rank()].iter().sum::<u64>());
    if total < rows.total() {
        let expected = format!("the rank of row {} of {}", total + 1, rows.total());
        let at = lines_of_all.iter().sum();
        return Err(Error::File(fault(at, "the end of the file".to_owned(), expected).to_string()));
    }
    let first_extra = rows.total().checked_sub(before).and_then(|extra| filled().nth(extra as usize));
    let extra = first_extra.or_else(|| filled().next().filter(|_| before > rows.total()));
    let expected = || format!("the end of the file after {} rows", rows.total());
    agreed(ranks, extra.map_or(Ok(()), |(at, line)| Err(fault(at, quoted(line), expected()))))?;
    let for_rank = |rank| {
        let range = rows.range(rank);
        let own = |row: u64| row.clamp(before, before + numbers.len() as u64) - before;
        bytemuck::cast_slice(&numbers[own(range.start) as usize..own(range.end) as usize]).to_vec()
    };
    let came = deliver(ranks, (0..ranks.count()).map(for_rank).collect())?;
    Ok(came.iter().flat_map(|bytes| bytemuck::pod_collect_to_vec::<u8, u32>(bytes)).collect())
}

/// The lines that start in this part of a file's bytes.
fn lines_of_part(path: &Path, part: usize, parts: usize) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file, which several could read together"));
    }
    let border = |part: usize| (u128::from(metadata.len()) * part as u128 / parts as u128) as u64;
    let (mut at, end) = (border(part), border(part + 1));
    let (mut reader, mut text) = (BufReader::new(file), Vec::new());
    if at > 0 {
        // The line that has the byte before belongs to the part before.
        reader.seek(SeekFrom::Start(at - 1))?;
        at = at - 1 + reader.skip_until(b'\n')? as u64;
    }
    while at < end {
        match reader.read_until(b'\n', &mut text)? {
            0 => break,
            bytes => at += bytes as u64,
        }
    }
    Ok(text)
}

/// Lines, the last of which may lack its end.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n')
}

fn quoted(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * QUOTED_CHARACTERS)]).trim().to_owned();
    format!("{:?}", text.chars().take(QUOTED_CHARACTERS).collect::<String>())
}

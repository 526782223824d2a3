//! A Matrix Market file, opened by rank 0 and read by all.

use crate::error::Error;
use crate::partition::Partition;
use crate::ranks::{Collective, Ranks};
use crate::reading::share::{Limit, Pieces};
use crate::reading::together::agreed;
use crate::reading::{DistributedRows, borders, placing, stream, text};
use ordito::Scalar;
use ordito::io::matrix_market::Header;
use ordito::io::matrix_market::parts::{self, Opened, Start, StreamReader};
use ordito::io::{Origin, ReadError, ReadOptions, find_matrix_file, short_name};
use std::path::PathBuf;

/// What all ranks know of an opened file.
struct Known {
    path: PathBuf,
    header: Header,
    /// Where the body begins, of a text that all can read.
    start: Option<Start>,
    /// On rank 0, of what only it can read.
    reader: Option<StreamReader>,
}

pub(super) fn read<S: Scalar>(
    ranks: &dyn Ranks,
    name: &str,
    options: &ReadOptions,
    given: Option<Partition>,
    pieces: Pieces,
) -> Result<DistributedRows<S>, Error> {
    let Known { path, header, start, reader } = opened(ranks, name)?;
    let shown = path.to_string_lossy();
    let limit = Limit::new(&shown, options.max_bytes, ranks.count());
    agreed(ranks, limit.check::<S>(header.entries.div_ceil(ranks.count() as u64)))?;
    if let Some(rows) = &given {
        borders::check(ranks, &shown, header.rows as u64, rows)?;
    }
    let share = match &start {
        Some(start) => text::read::<S>(ranks, &path, start, pieces, limit.clone())?,
        None => stream::read(ranks, reader, header.entries, pieces, limit.clone())?,
    };
    let rows = match given {
        Some(rows) => rows,
        None => borders::of_shares(ranks, &shown, header.rows as u64, header.symmetry, &share)?,
    };
    let (local, merged_duplicates) = placing::place(ranks, share, &header, &rows, &shown, &limit)?;
    let (name, cols) = (short_name(&path), header.cols as u64);
    let origin = Origin::File { path, header, merged_duplicates };
    Ok(DistributedRows { rows, cols, local, name, origin, merged_duplicates })
}

/// Rank 0 finds the file, reads its first lines and tells the others.
fn opened(ranks: &dyn Ranks, name: &str) -> Result<Known, Error> {
    let first = match ranks.rank() {
        0 => agreed(ranks, find_and_open(name).map(Some))?,
        _ => agreed(ranks, Ok::<_, ReadError>(None))?,
    };
    let telling = first.as_ref().map_or(String::new(), |(path, opened)| {
        let path = path.to_string_lossy();
        let (kind, text) = match opened {
            Opened::Text(start) => ("text", start.to_text()),
            Opened::Stream(reader) => ("stream", parts::header_to_text(reader.header())),
        };
        format!("{kind} {}\n{path}{text}", path.len())
    });
    let told = ranks.from_first(&telling)?;
    let mut known =
        understood(&told).ok_or_else(|| Error::File(format!("rank 0 said {told:?} of the file")))?;
    if let Some((path, opened)) = first {
        known.path = path;
        known.reader = match opened {
            Opened::Stream(reader) => Some(reader),
            Opened::Text(_) => None,
        };
    }
    Ok(known)
}

fn find_and_open(name: &str) -> Result<(PathBuf, Opened), ReadError> {
    let path = find_matrix_file(name)?;
    let opened = parts::open(&path)?;
    Ok((path, opened))
}

fn understood(told: &str) -> Option<Known> {
    let (first, rest) = told.split_once('\n')?;
    let (kind, length) = first.split_once(' ')?;
    let (path, text) = rest.split_at_checked(length.parse().ok()?)?;
    let path = PathBuf::from(path);
    if kind == "stream" {
        return Some(Known { path, header: parts::header_from_text(text)?, start: None, reader: None });
    }
    let start = Start::from_text(text)?;
    Some(Known { path, header: start.header.clone(), start: Some(start), reader: None })
}

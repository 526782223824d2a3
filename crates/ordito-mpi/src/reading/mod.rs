//! Matrices and vectors, read and written by all ranks together. No rank ever holds all of a matrix.
//!
//! | what | who reads |
//! |---|---|
//! | `.mtx` | every rank a range of its bytes, where files can be mapped into memory (Linux) |
//! | `.mtx.gz`, pipes, other systems | rank 0, which deals entries out as it goes |
//! | synthetic names | nobody: every rank makes its rows |
//! | `.npy` | every rank its rows |
//!
//! What is read is what one process reads, bit for bit, and faults are told in the same words, on every rank.

mod borders;
mod file;
mod npy;
mod partition_file;
mod placing;
mod share;
mod stream;
mod synthetic;
mod text;
mod together;
mod written;

pub use npy::{read_npy_rows, write_npy_columns, write_npy_rows, write_npy_vector_rows};
pub use partition_file::read_partition;

use crate::error::Error;
use crate::local_rows::LocalRows;
use crate::partition::Partition;
use crate::ranks::{Collective, Ranks};
use crate::reading::share::Pieces;
use ordito::io::synthetic::Parts;
use ordito::io::{Origin, ReadOptions};
use ordito::precision::compiled_here;
use ordito::{Duplicates, Scalar};

/// A matrix whose rows lie on ranks: what this one has of it, and what all know.
#[derive(Debug, Clone, PartialEq)]
pub struct DistributedRows<S> {
    /// Who has which rows.
    pub rows: Partition,
    /// Columns of the whole matrix.
    pub cols: u64,
    /// The rows of this rank.
    pub local: LocalRows<S>,
    /// Short: the file's name without `.mtx` and `.gz`, or the synthetic name.
    pub name: String,
    /// What is worth showing about it.
    pub origin: Origin,
    /// Entries that vanished because others at the same place took them up, on all ranks together.
    pub merged_duplicates: usize,
}

/// Reads or makes a matrix, by the names that [`ordito::io::load`] takes. Every rank gets about as many nonzeros; a row counts as one more. (Of entries at the same place, which are added in the order of the
/// file, each counts.)
///
/// A rank holds, at its peak, the larger of two: its share of the entries that the file lists, with those entries of its rows that have come; or the entries of its rows, twice. An entry takes 8 bytes and a number; a
/// row takes 8 bytes more. Beside that there are messages that are under way, and their copies: about 2²⁴ entries (16 M) of all ranks together, which are for one of them in the worst case. A text is mapped, not held. A synthetic
/// matrix takes its rows alone; some kinds (`drawn`) also a number or two for every row of the matrix.
///
/// [`ReadOptions::max_bytes`] is for each rank: entries that it is to hold, once.
///
/// Text is read by the threads of the current rayon pool, or of all cores: several ranks on one computer are best given a pool each.
///
/// ```
/// use ordito::io::ReadOptions;
/// use ordito_mpi::ranks::{Patience, on_threads};
/// use ordito_mpi::reading;
/// let nonzeros = on_threads(2, Patience::default(), |ranks| {
///     let a = reading::load::<f64>(&ranks, "stencil5:10", &ReadOptions::default())?;
///     Ok::<_, ordito_mpi::Error>((a.rows.total(), a.local.nnz()))
/// });
/// assert_eq!(nonzeros.into_iter().collect::<Result<Vec<_>, _>>()?, [(100, 230), (100, 230)]);
/// # Ok::<(), ordito_mpi::Error>(())
/// ```
pub fn load<S: Scalar>(
    ranks: &dyn Ranks,
    name: &str,
    options: &ReadOptions,
) -> Result<DistributedRows<S>, Error> {
    load_for(ranks, name, options, None)
}

/// The same for given rows of every rank; without them, for those of [`load`].
pub fn load_for<S: Scalar>(
    ranks: &dyn Ranks,
    name: &str,
    options: &ReadOptions,
    rows: Option<Partition>,
) -> Result<DistributedRows<S>, Error> {
    type Load<S> =
        fn(&dyn Ranks, &str, &ReadOptions, Option<Partition>, Pieces) -> Result<DistributedRows<S>, Error>;
    compiled_here!(S, load_in_pieces, Load)(ranks, name, options, rows, Pieces::default())
}

fn load_in_pieces<S: Scalar>(
    ranks: &dyn Ranks,
    name: &str,
    options: &ReadOptions,
    rows: Option<Partition>,
    pieces: Pieces,
) -> Result<DistributedRows<S>, Error> {
    let partition = if rows.is_some() { "a given partition" } else { "equal nonzeros" };
    let keep = if options.duplicates == Duplicates::Keep { ", duplicates kept" } else { "" };
    let asked = format!("{name:?} in {} with seed {}, {partition}{keep}", S::NAME, options.seed);
    ranks.same("the matrix that is wanted", &asked)?;
    if options.duplicates != Duplicates::Sum {
        return Err(Error::Asked(
            "rows on ranks have every column once: entries at the same place are summed, and cannot be kept"
                .to_owned(),
        ));
    }
    match Parts::of(name, options.seed) {
        Some(parts) => synthetic::make(ranks, name, parts, options, rows),
        None => file::read(ranks, name, options, rows, pieces),
    }
}

#[cfg(test)]
mod tests;

//! `.npy`: every rank reads and writes its rows.

use crate::error::Error;
use crate::partition::Partition;
use crate::ranks::{Collective, Ranks};
use crate::reading::together::{agreed, agreed_unless_alone};
use crate::reading::written::write_together;
use ordito::io::ReadError;
use ordito::io::npy::{Conversion, NpyRows, header_of, header_of_columns};
use ordito::precision::compiled_here;
use ordito::{Dense, DenseView, Scalar};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

/// Large enough that the system is asked rarely, small enough to stay in the L2 cache.
const BUFFER_BYTES: usize = 256 * 1024;

/// Reads this rank's rows of a matrix, as [`ordito::io::read_npy`] would: nothing else of the numbers is looked at. Row by row that is one range of the file, column by column one range of each column.
///
/// A rank holds its rows, and while they are put in another order or converted, twice.
pub fn read_npy_rows<S: Scalar>(
    ranks: &dyn Ranks,
    path: &Path,
    rows: &Partition,
    conversion: Conversion,
) -> Result<Dense<S>, Error> {
    type Read<S> = fn(&dyn Ranks, &Path, &Partition, Conversion) -> Result<Dense<S>, Error>;
    compiled_here!(S, read_rows, Read)(ranks, path, rows, conversion)
}

fn read_rows<S: Scalar>(
    ranks: &dyn Ranks,
    path: &Path,
    rows: &Partition,
    conversion: Conversion,
) -> Result<Dense<S>, Error> {
    check_parts(ranks, rows)?;
    let file = agreed_unless_alone(ranks, NpyRows::open(path))?;
    let (found, cols) = file.shape();
    ranks.same(&format!("the shape of {}", path.display()), &format!("{found} × {cols}"))?;
    let fits = match found as u64 == rows.total() {
        true => Ok(()),
        false => {
            let problem = format!("has {found} rows; expected {}", rows.total());
            Err(ReadError::Binary { path: path.to_owned(), problem })
        }
    };
    agreed(ranks, fits)?;
    let range = rows.range(ranks.rank());
    agreed(ranks, file.read(range.start as usize..range.end as usize, conversion))
}

/// Writes a matrix of which every rank has some rows: the bytes that [`ordito::io::write_npy`] writes. The file appears whole or not at all: rank 0 makes a temporary one beside it, every rank writes its range,
/// and only when all have succeeded is it renamed.
///
/// ```
/// use ordito::Dense;
/// use ordito::io::npy::Conversion;
/// use ordito_mpi::ranks::{Patience, Ranks, on_threads};
/// use ordito_mpi::{Partition, reading};
/// let path = std::env::temp_dir().join(format!("ordito-rows-{}.npy", std::process::id()));
/// let rows = Partition::new([0, 2, 3])?;
/// let read = on_threads(2, Patience::default(), |ranks| {
///     let mine = Dense::filled(rows.rows_of(ranks.rank()), 2, ranks.rank() as f64)?;
///     reading::write_npy_rows(&ranks, &rows, mine.view(), &path)?;
///     reading::read_npy_rows::<f64>(&ranks, &path, &rows, Conversion::Refuse)
/// });
/// assert_eq!(read.into_iter().collect::<Result<Vec<_>, _>>()?[1].data(), [1.0, 1.0]);
/// assert_eq!(ordito::io::read_npy::<f64>(&path, Conversion::Refuse).unwrap().rows(), 3);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), ordito_mpi::Error>(())
/// ```
pub fn write_npy_rows<S: Scalar>(
    ranks: &dyn Ranks,
    rows: &Partition,
    local: DenseView<'_, S>,
    path: &Path,
) -> Result<(), Error> {
    write_as(ranks, rows, local, path, header_of::<S>(&[rows.total() as usize, local.cols()]))
}

/// The same of a single column, as an array of one dimension.
pub fn write_npy_vector_rows<S: Scalar>(
    ranks: &dyn Ranks,
    rows: &Partition,
    local: DenseView<'_, S>,
    path: &Path,
) -> Result<(), Error> {
    let fits = (local.cols() == 1).then_some(());
    agreed(ranks, fits.ok_or(format!("a vector has one column, and this has {}", local.cols())))?;
    write_as(ranks, rows, local, path, header_of::<S>(&[rows.total() as usize]))
}

/// Writes the transposed of a matrix of which every rank has some rows: they are columns of the file, which is in Fortran's order.
pub fn write_npy_columns<S: Scalar>(
    ranks: &dyn Ranks,
    columns: &Partition,
    local: DenseView<'_, S>,
    path: &Path,
) -> Result<(), Error> {
    write_as(ranks, columns, local, path, header_of_columns::<S>(local.cols(), columns.total() as usize))
}

fn write_as<S: Scalar>(
    ranks: &dyn Ranks,
    rows: &Partition,
    local: DenseView<'_, S>,
    path: &Path,
    header: Vec<u8>,
) -> Result<(), Error> {
    type Write<S> = fn(&dyn Ranks, &Partition, DenseView<'_, S>, &Path, Vec<u8>) -> Result<(), Error>;
    compiled_here!(S, write_rows, Write)(ranks, rows, local, path, header)
}

fn write_rows<S: Scalar>(
    ranks: &dyn Ranks,
    rows: &Partition,
    local: DenseView<'_, S>,
    path: &Path,
    header: Vec<u8>,
) -> Result<(), Error> {
    check_parts(ranks, rows)?;
    let range = rows.range(ranks.rank());
    let fits = match local.rows() == rows.rows_of(ranks.rank()) {
        true => Ok(()),
        false => Err(format!(
            "rank {} has {} rows to write; expected {}",
            ranks.rank(),
            local.rows(),
            range.end - range.start
        )),
    };
    agreed(ranks, fits)?;
    ranks.same("the columns to write", &format!("{} of {}", local.cols(), S::NAME))?;
    let row_bytes = (local.cols() as u64).saturating_mul(size_of::<S>() as u64);
    let at = |row: u64| row.checked_mul(row_bytes).and_then(|bytes| bytes.checked_add(header.len() as u64));
    let (Some(start), Some(bytes)) = (at(range.start), at(rows.total())) else {
        return Err(Error::File(format!("cannot write {}: more than 2⁶⁴ bytes", path.display())));
    };
    write_together(ranks, path, bytes, |file| {
        let mut writer = BufWriter::with_capacity(BUFFER_BYTES, file);
        if ranks.rank() == 0 {
            writer.write_all(&header)?;
        }
        writer.seek(SeekFrom::Start(start))?;
        (0..local.rows()).try_for_each(|row| writer.write_all(bytemuck::cast_slice(local.row(row))))?;
        writer.into_inner().map(drop).map_err(io::IntoInnerError::into_error)
    })
}

fn check_parts(ranks: &dyn Ranks, rows: &Partition) -> Result<(), Error> {
    let (parts, count) = (rows.ranks(), ranks.count());
    let fits = match parts == count {
        true => Ok(()),
        false => Err(format!("the partition has {parts} parts, and there are {count} ranks")),
    };
    agreed(ranks, fits)
}

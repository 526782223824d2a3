//! Matrix Market files from matrices: every number with the fewest digits that read back to the same bits.

use crate::Scalar;
use crate::cpu::parallel;
use crate::files::{WriteError, write_atomically};
use crate::matrix::{Coo, Csr, Duplicates};
use crate::precision::compiled_here;
use flate2::{Compression, write::GzEncoder};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// What a file lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// Every entry, in the order in which it is stored.
    #[default]
    General,
    /// The lower triangle, sorted by row. The upper one must mirror it bit for bit.
    Symmetric,
    /// Every element, column after column: explicit zeros are no longer told from missing entries.
    Array,
}

/// How a file is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteOptions {
    /// What the file lists.
    pub layout: Layout,
    /// Lines below the banner, for people. Empty: none.
    pub comment: String,
}

/// The most numbers an array file is written with: some gigabytes of text.
pub const MAX_ARRAY_ELEMENTS: u64 = 1 << 28;

/// Writes a matrix, compressed when the name ends in `.gz`. Reading the file gives the same bits (but for the
/// payload of NaNs, which text does not carry). The file appears whole or not at all. Numbers are formatted on the threads
/// of the current rayon pool; compressing takes one.
///
/// ```
/// use ordito::Coo;
/// use ordito::io::matrix_market::WriteOptions;
/// use ordito::io::{ReadOptions, read_matrix_market, write_matrix_market};
/// let path = std::env::temp_dir().join(format!("ordito-write-{}.mtx.gz", std::process::id()));
/// let a = Coo::new(2, 3, vec![0, 1], vec![2, 0], vec![0.1, -1e300])?;
/// write_matrix_market(&a, &path, &WriteOptions { comment: "an example".into(), ..Default::default() })?;
/// assert_eq!(read_matrix_market::<f64>(&path, &ReadOptions::default())?.coo, a);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_matrix_market<S: Scalar>(
    coo: &Coo<S>,
    path: &Path,
    options: &WriteOptions,
) -> Result<(), WriteError> {
    type Write<S> = fn(&Coo<S>, &Path, &WriteOptions) -> Result<(), WriteError>;
    compiled_here!(S, write_file, Write)(coo, path, options)
}

fn write_file<S: Scalar>(coo: &Coo<S>, path: &Path, options: &WriteOptions) -> Result<(), WriteError> {
    let is_gzip = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let write = |write_body: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        write_atomically(path, |file| {
            if is_gzip {
                let mut encoder = GzEncoder::new(file, Compression::default());
                write_body(&mut encoder)?;
                encoder.finish().map(drop)
            } else {
                write_body(file)
            }
        })
    };
    match options.layout {
        Layout::General => write(&|file| {
            write_head(file, "coordinate real general", &options.comment)?;
            writeln!(file, "{} {} {}", coo.rows(), coo.cols(), coo.nnz())?;
            write_in_blocks(file, coo.nnz(), |text, range| format_entries(text, coo, range, |_, _| true))
        }),
        Layout::Symmetric => {
            let sorted = sorted_if_symmetric(coo, path)?;
            let lower = |row: u32, col: u32| row >= col;
            let listed = sorted.entries().filter(|&(row, col, _)| lower(row, col)).count();
            write(&|file| {
                write_head(file, "coordinate real symmetric", &options.comment)?;
                writeln!(file, "{} {} {}", coo.rows(), coo.cols(), listed)?;
                write_in_blocks(file, sorted.nnz(), |text, range| {
                    format_entries(text, &sorted, range, lower);
                })
            })
        }
        Layout::Array => {
            let columns = columns_without_duplicates(coo, path)?;
            write(&|file| {
                write_head(file, "array real general", &options.comment)?;
                writeln!(file, "{} {}", coo.rows(), coo.cols())?;
                write_in_blocks(file, coo.rows() * coo.cols(), |text, range| {
                    format_elements(text, &columns, range);
                })
            })
        }
    }
}

fn write_head(file: &mut dyn Write, kind: &str, comment: &str) -> io::Result<()> {
    writeln!(file, "%%MatrixMarket matrix {kind}")?;
    comment.lines().try_for_each(|line| writeln!(file, "% {line}"))
}

/// Lines that are formatted at a time: a few hundred kilobytes of text.
const LINES_PER_BLOCK: usize = 1 << 13;

/// Writes `count` lines. While blocks of them are written, the threads of the current rayon pool format the next ones.
fn write_in_blocks(
    file: &mut dyn Write,
    count: usize,
    format: impl Fn(&mut String, Range<usize>) + Sync,
) -> io::Result<()> {
    let lines_at_once = LINES_PER_BLOCK * 2 * parallel::threads();
    let format_from = |first: usize| -> Vec<String> {
        let last = count.min(first.saturating_add(lines_at_once));
        parallel::map((first..last).step_by(LINES_PER_BLOCK).collect(), |start| {
            let mut text = String::new();
            format(&mut text, start..last.min(start + LINES_PER_BLOCK));
            text
        })
    };
    let mut blocks = format_from(0);
    let mut next = lines_at_once;
    while !blocks.is_empty() {
        let mut following = Vec::new();
        let write = || blocks.iter().try_for_each(|block| file.write_all(block.as_bytes()));
        parallel::beside(|| following = format_from(next.min(count)), write)?;
        (blocks, next) = (following, next.saturating_add(lines_at_once));
    }
    Ok(())
}

/// Debug formatting is the shortest text that reads back to the same bits, in f32 as in f64, with an exponent
/// where the number is far from 1.
fn format_entries<S: Scalar>(
    text: &mut String,
    coo: &Coo<S>,
    range: Range<usize>,
    is_listed: impl Fn(u32, u32) -> bool,
) {
    for entry in range {
        let (row, col, value) = (coo.row_indices()[entry], coo.col_indices()[entry], coo.values()[entry]);
        if is_listed(row, col) {
            // Writing to a string never fails.
            let _ = writeln!(text, "{} {} {value:?}", u64::from(row) + 1, u64::from(col) + 1);
        }
    }
}

/// The matrix sorted by row, once it is certain that the other triangle mirrors it.
fn sorted_if_symmetric<S: Scalar>(coo: &Coo<S>, path: &Path) -> Result<Coo<S>, WriteError> {
    let (rows, cols) = (coo.rows(), coo.cols());
    if rows != cols {
        return Err(WriteError::NotSquare { path: path.to_owned(), rows, cols });
    }
    let csr = Csr::from_coo(coo, Duplicates::Keep);
    let (sorted, mirrored) = (csr.to_coo(), csr.transpose().to_coo());
    let same = |a: (u32, u32, S), b: (u32, u32, S)| {
        // Bits, so that NaN mirrors NaN and -0 does not mirror 0.
        (a.0, a.1) == (b.0, b.1) && bytemuck::bytes_of(&a.2) == bytemuck::bytes_of(&b.2)
    };
    let differing = sorted.entries().zip(mirrored.entries()).find(|&(a, b)| !same(a, b));
    match differing {
        Some((a, b)) => {
            let (row, col) = (a.0, a.1).min((b.0, b.1));
            Err(WriteError::NotSymmetric {
                path: path.to_owned(),
                row: u64::from(row) + 1,
                col: u64::from(col) + 1,
            })
        }
        None => Ok(sorted),
    }
}

/// The transpose, whose rows are the columns that an array file goes through.
fn columns_without_duplicates<S: Scalar>(coo: &Coo<S>, path: &Path) -> Result<Csr<S>, WriteError> {
    let (rows, cols) = (coo.rows(), coo.cols());
    // Both are below 2³²: the product fits 64 bits.
    if rows as u64 * cols as u64 > MAX_ARRAY_ELEMENTS {
        return Err(WriteError::TooManyElements {
            path: path.to_owned(),
            rows,
            cols,
            limit: MAX_ARRAY_ELEMENTS,
        });
    }
    let columns = Csr::from_coo(coo, Duplicates::Keep).transpose();
    for col in 0..cols {
        let rows_of_column = &columns.view().columns()[columns.view().range(col)];
        if let Some(pair) = rows_of_column.windows(2).find(|pair| pair[0] == pair[1]) {
            let (row, col) = (u64::from(pair[0]) + 1, col as u64 + 1);
            return Err(WriteError::Duplicate { path: path.to_owned(), row, col });
        }
    }
    Ok(columns)
}

/// The elements with these numbers, counted column after column.
fn format_elements<S: Scalar>(text: &mut String, columns: &Csr<S>, range: Range<usize>) {
    let rows = columns.cols();
    let mut element = range.start;
    while element < range.end {
        let (col, first_row) = (element / rows, element % rows);
        let last_row = rows.min(first_row + range.end - element);
        let mut column = columns.view().row(col).skip_while(|entry| entry.0 < first_row).peekable();
        for row in first_row..last_row {
            // Writing to a string never fails.
            let _ = match column.next_if(|entry| entry.0 == row) {
                Some((_, value)) => writeln!(text, "{value:?}"),
                None => writeln!(text, "0"),
            };
        }
        element += last_row - first_row;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::ReadOptions;
    use crate::io::matrix_market::read_matrix_market;
    use std::fs;

    fn written(coo: &Coo<f64>, layout: Layout) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        let options = WriteOptions { layout, comment: "two\nlines".into() };
        write_matrix_market(coo, &path, &options).map_err(|error| error.to_string())?;
        read_matrix_market::<f64>(&path, &ReadOptions::default()).unwrap();
        Ok(fs::read_to_string(&path).unwrap())
    }

    #[test]
    #[cfg_attr(miri, ignore = "rayon breaks the rules that Miri knows")]
    fn layouts_look_as_they_should() {
        let coo = Coo::new(2, 2, vec![1, 0, 0], vec![0, 0, 1], vec![1e-7, 2.0, 1e-7]).unwrap();
        let head = |kind: &str| format!("%%MatrixMarket matrix {kind}\n% two\n% lines\n2 2");
        let general = head("coordinate real general") + " 3\n2 1 1e-7\n1 1 2.0\n1 2 1e-7\n";
        assert_eq!(written(&coo, Layout::General).unwrap(), general);
        let symmetric = head("coordinate real symmetric") + " 2\n1 1 2.0\n2 1 1e-7\n";
        assert_eq!(written(&coo, Layout::Symmetric).unwrap(), symmetric);
        let array = head("array real general") + "\n2.0\n1e-7\n1e-7\n0\n";
        assert_eq!(written(&coo, Layout::Array).unwrap(), array);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn lines_stay_in_order_over_many_blocks() {
        let count = 5 * LINES_PER_BLOCK + 3;
        let coo = Coo::new(count, 1, (0..count as u32).collect(), vec![0; count], vec![0.5; count]).unwrap();
        let general = written(&coo, Layout::General).unwrap();
        let places = general.lines().skip(4).map(|line| line.split(' ').next().unwrap().parse::<usize>());
        assert!(places.map(Result::unwrap).eq(1..=count));
        let wide = Coo::new(7, count, vec![2, 6], vec![1, count as u32 - 1], vec![0.5, 3.0]).unwrap();
        let array = written(&wide, Layout::Array).unwrap();
        let elements: Vec<&str> = array.lines().skip(4).collect();
        let filled: Vec<_> = elements.iter().enumerate().filter(|(_, text)| **text != "0").collect();
        assert_eq!(elements.len(), 7 * count);
        assert_eq!(filled, [(9, &"0.5"), (7 * count - 1, &"3.0")]);
    }

    #[test]
    fn what_does_not_fit_the_layout_is_refused() {
        let coo = Coo::new(3, 3, vec![0, 0, 2, 2], vec![0, 2, 0, 0], vec![1.0, 5.0, 2.0, 3.0]).unwrap();
        assert!(written(&coo, Layout::Symmetric).unwrap_err().contains("entry (1, 3), counted from 1"));
        assert!(written(&coo, Layout::Array).unwrap_err().contains("several entries at (3, 1)"));
        let coo = Coo::empty(1 << 20, 1 << 20).unwrap();
        assert!(written(&coo, Layout::Array).unwrap_err().contains("1048576 × 1048576"));
        assert!(written(&Coo::empty(1, 2).unwrap(), Layout::Symmetric).unwrap_err().contains("not square"));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn compressed_files_are_smaller_and_say_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, compressed) = (folder.path().join("a.mtx"), folder.path().join("a.mtx.gz"));
        let coo = Coo::new(900, 900, (0..900).collect(), (0..900).collect(), vec![0.5f32; 900]).unwrap();
        for path in [&plain, &compressed] {
            write_matrix_market(&coo, path, &WriteOptions::default()).unwrap();
            assert_eq!(read_matrix_market::<f32>(path, &ReadOptions::default()).unwrap().coo, coo);
        }
        let bytes = fs::read(&compressed).unwrap();
        assert!(bytes.len() < fs::read(&plain).unwrap().len() / 3);
        // The name does not matter, and a cut-off file says where it ends.
        fs::write(&plain, &bytes[..bytes.len() / 2]).unwrap();
        let error = read_matrix_market::<f32>(&plain, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("a.mtx: line ") && error.contains("damaged or cut off"), "{error}");
    }
}

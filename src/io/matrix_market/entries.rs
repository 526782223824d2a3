//! Triplets on their way from a file to a matrix.

use super::header::Symmetry;
use crate::Scalar;
use crate::io::{ReadError, ReadOptions, bytes_per_entry};
use std::path::Path;

/// Triplets under construction.
#[derive(Debug, Default)]
pub(super) struct Entries<S> {
    pub(super) rows: Vec<u32>,
    pub(super) cols: Vec<u32>,
    pub(super) values: Vec<S>,
}

/// Refuses more triplets than are allowed.
pub(super) fn check_limit<S>(path: &Path, entries: u64, options: &ReadOptions) -> Result<(), ReadError> {
    let bytes = entries.saturating_mul(bytes_per_entry::<S>());
    if bytes > options.max_bytes {
        let name = path.to_string_lossy().into_owned();
        return Err(ReadError::TooLarge { name, entries, bytes, limit: Some(options.max_bytes) });
    }
    Ok(())
}

impl<S: Scalar> Entries<S> {
    #[inline(always)]
    pub(super) fn push(&mut self, row: u32, col: u32, value: S) {
        self.rows.push(row);
        self.cols.push(col);
        self.values.push(value);
    }

    pub(super) fn reserve(&mut self, path: &Path, entries: u64) -> Result<(), ReadError> {
        let count = usize::try_from(entries).unwrap_or(usize::MAX);
        let reserved = self.rows.try_reserve_exact(count);
        let reserved = reserved.and_then(|()| self.cols.try_reserve_exact(count));
        reserved.and_then(|()| self.values.try_reserve_exact(count)).map_err(|_| {
            let bytes = entries.saturating_mul(bytes_per_entry::<S>());
            ReadError::TooLarge { name: path.to_string_lossy().into_owned(), entries, bytes, limit: None }
        })
    }

    /// Appends the mirror image of every entry that is not on the diagonal.
    pub(super) fn expand(
        &mut self,
        symmetry: Symmetry,
        path: &Path,
        options: &ReadOptions,
    ) -> Result<(), ReadError> {
        if symmetry == Symmetry::General {
            return Ok(());
        }
        let listed = self.rows.len();
        let mirrored = self.rows.iter().zip(&self.cols).filter(|(row, col)| row != col).count();
        check_limit::<S>(path, (listed + mirrored) as u64, options)?;
        self.reserve(path, mirrored as u64)?;
        for entry in 0..listed {
            let (row, col, value) = (self.rows[entry], self.cols[entry], self.values[entry]);
            if row != col {
                self.push(col, row, if symmetry == Symmetry::SkewSymmetric { -value } else { value });
            }
        }
        Ok(())
    }

    /// Does the order alone show that no place is listed twice, not even after mirroring? Files are nearly always
    /// sorted by column or by row, and symmetric ones within one triangle; then nothing has to be searched.
    pub(super) fn are_clearly_unique(&self, symmetry: Symmetry) -> bool {
        let places = || self.rows.iter().zip(&self.cols);
        let by_column = places().is_sorted_by(|a, b| (a.1, a.0) < (b.1, b.0));
        let sorted = by_column || places().is_sorted_by(|a, b| a < b);
        let one_triangle = || places().all(|(row, col)| row >= col) || places().all(|(row, col)| row <= col);
        sorted && (symmetry == Symmetry::General || one_triangle())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::read_matrix_market_from;

    fn entries(places: &[(u32, u32)]) -> Entries<f64> {
        let mut entries = Entries::default();
        places.iter().for_each(|&(row, col)| entries.push(row, col, 1.0));
        entries
    }

    #[test]
    fn order_shows_that_places_differ() {
        let unique = |places: &[(u32, u32)], symmetry| entries(places).are_clearly_unique(symmetry);
        assert!(unique(&[(0, 0), (0, 5), (1, 0)], Symmetry::General));
        assert!(unique(&[(0, 0), (5, 0), (0, 1)], Symmetry::General));
        assert!(!unique(&[(0, 0), (0, 0)], Symmetry::General));
        assert!(!unique(&[(5, 5), (0, 0)], Symmetry::General), "not sorted: unclear");
        assert!(unique(&[(0, 0), (1, 0), (1, 1)], Symmetry::Symmetric));
        assert!(!unique(&[(0, 1), (1, 0)], Symmetry::Symmetric), "its mirror image coincides");
        assert!(unique(&[], Symmetry::SkewSymmetric));
    }

    #[test]
    fn what_is_over_the_limit_is_refused_before_and_after_mirroring() {
        let read = |max_bytes| {
            let text = "%%MatrixMarket matrix coordinate real symmetric\n9 9 2\n2 1 1\n3 1 1\n";
            let options = ReadOptions { max_bytes, ..ReadOptions::default() };
            read_matrix_market_from::<f64>(text.as_bytes(), Path::new("t"), &options)
                .map_err(|e| e.to_string())
        };
        assert!(read(64).is_ok());
        assert_eq!(read(63).unwrap_err(), "t: 4 entries take 64 B, more than the limit of 63 B");
        assert_eq!(read(31).unwrap_err(), "t: 2 entries take 32 B, more than the limit of 31 B");
    }
}

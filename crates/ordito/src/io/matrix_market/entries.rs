//! Triplets on their way from a file to a matrix.

use crate::Scalar;
use crate::cpu::parallel;
use crate::io::error::ReadError;
use crate::io::matrix_market::header::Symmetry;
use crate::io::{ReadOptions, bytes_per_entry};
use crate::matrix::huge_pages;
use std::path::Path;

/// Triplets that were read, and room for more.
#[derive(Debug, Default)]
pub(super) struct Entries<S> {
    /// What lies behind `count` in each of them is room.
    rows: Vec<u32>,
    cols: Vec<u32>,
    values: Vec<S>,
    count: usize,
    /// Entries of the file before these, which others hold.
    before: u64,
}

/// Room for triplets that follow each other.
pub(super) struct Room<'a, S> {
    pub(super) rows: &'a mut [u32],
    pub(super) cols: &'a mut [u32],
    pub(super) values: &'a mut [S],
}

/// So many triplets are mirrored, or compared with their neighbours, at a time.
const ENTRIES_PER_TASK: usize = 1 << 16;

/// Refuses more triplets than are allowed.
pub(super) fn check_limit<S>(path: &Path, entries: u64, options: &ReadOptions) -> Result<(), ReadError> {
    let bytes = entries.saturating_mul(bytes_per_entry::<S>());
    if bytes > options.max_bytes {
        return Err(too_large::<S>(path, entries, Some(options.max_bytes)));
    }
    Ok(())
}

fn too_large<S>(path: &Path, entries: u64, limit: Option<u64>) -> ReadError {
    let bytes = entries.saturating_mul(bytes_per_entry::<S>());
    ReadError::TooLarge { name: path.to_string_lossy().into_owned(), entries, bytes, limit }
}

impl<'a, S> Room<'a, S> {
    /// The first so many, which are no longer part of this.
    pub(super) fn split_off(&mut self, count: usize) -> Room<'a, S> {
        let (rows, rows_left) = std::mem::take(&mut self.rows).split_at_mut(count);
        let (cols, cols_left) = std::mem::take(&mut self.cols).split_at_mut(count);
        let (values, values_left) = std::mem::take(&mut self.values).split_at_mut(count);
        *self = Room { rows: rows_left, cols: cols_left, values: values_left };
        Room { rows, cols, values }
    }
}

impl<S: Scalar> Entries<S> {
    /// Room for so many from the start. Zeros that come from the system cost nothing before they are overwritten.
    pub(super) fn with_room(path: &Path, entries: u64) -> Result<Self, ReadError> {
        let count = usize::try_from(entries).unwrap_or(usize::MAX);
        let (mut rows, mut values) = (Vec::<u32>::new(), Vec::<S>::new());
        let reserved = rows.try_reserve_exact(count).and_then(|()| values.try_reserve_exact(count));
        reserved.map_err(|_| too_large::<S>(path, entries, None))?;
        drop((rows, values)); // the same once more, but zeroed by the system
        let (mut rows, mut cols, mut values) = (vec![0; count], vec![0; count], vec![S::ZERO; count]);
        huge_pages::advise(&mut rows);
        huge_pages::advise(&mut cols);
        huge_pages::advise(&mut values);
        Ok(Entries { rows, cols, values, count: 0, before: 0 })
    }

    /// Goes on in the middle of a file, of which others hold so many entries.
    pub(super) fn after(before: u64) -> Self {
        Entries { before, ..Entries::default() }
    }

    /// Entries of the file that were read, also those that others hold.
    pub(super) fn listed(&self) -> u64 {
        self.before + self.count as u64
    }

    /// Rows, columns and values of those that are held.
    pub(super) fn held(&self) -> (&[u32], &[u32], &[S]) {
        (&self.rows[..self.count], &self.cols[..self.count], &self.values[..self.count])
    }

    /// Somebody else has them now; their room is for those that follow.
    pub(super) fn hand_over(&mut self) {
        self.before += self.count as u64;
        self.count = 0;
    }

    #[inline(always)]
    pub(super) fn push(&mut self, row: u32, col: u32, value: S) {
        if self.count < self.rows.len() {
            (self.rows[self.count], self.cols[self.count], self.values[self.count]) = (row, col, value);
        } else {
            self.rows.push(row);
            self.cols.push(col);
            self.values.push(value);
        }
        self.count += 1;
    }

    /// Room for so many behind those that were read; [`Entries::add`] says that it was filled.
    pub(super) fn room(&mut self, path: &Path, count: usize) -> Result<Room<'_, S>, ReadError> {
        let end = self.count.saturating_add(count);
        let more = end.saturating_sub(self.rows.len());
        if more > 0 {
            let reserved = self.rows.try_reserve(more).and_then(|()| self.cols.try_reserve(more));
            let reserved = reserved.and_then(|()| self.values.try_reserve(more));
            reserved.map_err(|_| too_large::<S>(path, end as u64, None))?;
            self.rows.resize(end, 0);
            self.cols.resize(end, 0);
            self.values.resize(end, S::ZERO);
        }
        let filled = self.count..end;
        Ok(Room {
            rows: &mut self.rows[filled.clone()],
            cols: &mut self.cols[filled.clone()],
            values: &mut self.values[filled],
        })
    }

    /// So many more were written to the room behind the others.
    pub(super) fn add(&mut self, count: usize) {
        self.count += count;
    }

    /// Rows, columns and values.
    pub(super) fn into_parts(mut self) -> (Vec<u32>, Vec<u32>, Vec<S>) {
        self.rows.truncate(self.count);
        self.cols.truncate(self.count);
        self.values.truncate(self.count);
        (self.rows, self.cols, self.values)
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
        let listed = self.count;
        let count_mirrored =
            |(rows, cols): (&[u32], &[u32])| rows.iter().zip(cols).filter(|(row, col)| row != col).count();
        let tasks = self.rows[..listed].chunks(ENTRIES_PER_TASK);
        let tasks = tasks.zip(self.cols[..listed].chunks(ENTRIES_PER_TASK)).collect();
        let mirrored = parallel::map(tasks, count_mirrored);
        let total: usize = mirrored.iter().sum();
        check_limit::<S>(path, (listed + total) as u64, options)?;
        self.room(path, total)?;
        let (rows, rows_room) = self.rows.split_at_mut(listed);
        let (cols, cols_room) = self.cols.split_at_mut(listed);
        let (values, values_room) = self.values.split_at_mut(listed);
        let mut room = Room { rows: rows_room, cols: cols_room, values: values_room };
        let room: Vec<Room<'_, S>> = mirrored.into_iter().map(|count| room.split_off(count)).collect();
        let places = rows.chunks(ENTRIES_PER_TASK).zip(cols.chunks(ENTRIES_PER_TASK));
        let entries = places.zip(values.chunks(ENTRIES_PER_TASK));
        parallel::for_each(entries.zip(room).collect(), |(((rows, cols), values), room)| {
            let below = rows.iter().zip(cols).zip(values).filter(|((row, col), _)| row != col);
            let room = room.rows.iter_mut().zip(room.cols).zip(room.values);
            for (((row, col), value), ((mirrored_row, mirrored_col), mirrored_value)) in below.zip(room) {
                (*mirrored_row, *mirrored_col) = (*col, *row);
                *mirrored_value = if symmetry == Symmetry::SkewSymmetric { -*value } else { *value };
            }
        });
        self.add(total);
        Ok(())
    }

    /// Does the order alone show that no place is listed twice, not even after mirroring? Files are nearly always
    /// sorted by column or by row, and symmetric ones within one triangle; then nothing has to be searched.
    pub(super) fn are_clearly_unique(&self, symmetry: Symmetry) -> bool {
        let (rows, cols) = (&self.rows[..self.count], &self.cols[..self.count]);
        let sorted = are_places_sorted(cols, rows) || are_places_sorted(rows, cols);
        let one_triangle = || {
            let all = |holds: fn(&u32, &u32) -> bool| {
                let tasks = rows.chunks(ENTRIES_PER_TASK).zip(cols.chunks(ENTRIES_PER_TASK)).collect();
                parallel::all(tasks, |(rows, cols): (&[u32], &[u32])| {
                    rows.iter().zip(cols).all(|(row, col)| holds(row, col))
                })
            };
            all(|row, col| row >= col) || all(|row, col| row <= col)
        };
        sorted && (symmetry == Symmetry::General || one_triangle())
    }
}

/// Does every place come strictly behind the one before it?
fn are_places_sorted(first: &[u32], second: &[u32]) -> bool {
    let place = |entry: usize| u64::from(first[entry]) << 32 | u64::from(second[entry]);
    let tasks = first.len().saturating_sub(1).div_ceil(ENTRIES_PER_TASK);
    parallel::all((0..tasks).collect(), |task| {
        let start = task * ENTRIES_PER_TASK;
        let end = (start + ENTRIES_PER_TASK).min(first.len() - 1);
        (start..end).all(|entry| place(entry) < place(entry + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::matrix_market::read_matrix_market_from;

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

//! The places of an array, which its lines do not name: column after column; of a symmetric matrix from the diagonal
//! down, of a skew-symmetric one from below it.

use crate::io::matrix_market::header::{Format, Header, Symmetry};

/// Places from some entry on, in the order of the file.
pub(super) struct Places {
    rows: u64,
    symmetry: Symmetry,
    row: u64,
    col: u64,
    left: u64,
}

impl Places {
    /// From the entry with this number, counted from 0. Coordinates have none, and take no time.
    pub(super) fn from(header: &Header, entry: u64) -> Self {
        let (rows, symmetry) = (header.rows as u64, header.symmetry);
        // The last column that starts at or before the entry.
        let cols = if header.format == Format::Array { header.cols as u64 } else { 0 };
        let (mut col, mut end) = (0, cols.max(1));
        while end - col > 1 {
            let middle = col + (end - col) / 2;
            if entries_before(middle, rows, symmetry) <= entry { col = middle } else { end = middle }
        }
        let row = first_row(col, symmetry) + entry.saturating_sub(entries_before(col, rows, symmetry));
        Places { rows, symmetry, row, col, left: header.entries.saturating_sub(entry) }
    }
}

/// Entries in the columns before this one. Both factors are below 2³².
fn entries_before(col: u64, rows: u64, symmetry: Symmetry) -> u64 {
    match symmetry {
        Symmetry::General => col * rows,
        Symmetry::Symmetric => col * rows - col * col.saturating_sub(1) / 2,
        Symmetry::SkewSymmetric => col * rows.saturating_sub(1) - col * col.saturating_sub(1) / 2,
    }
}

fn first_row(col: u64, symmetry: Symmetry) -> u64 {
    match symmetry {
        Symmetry::General => 0,
        Symmetry::Symmetric => col,
        Symmetry::SkewSymmetric => col + 1,
    }
}

impl Iterator for Places {
    type Item = (u32, u32);

    #[inline]
    fn next(&mut self) -> Option<(u32, u32)> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        if self.row == self.rows {
            self.col += 1;
            self.row = first_row(self.col, self.symmetry);
        }
        let place = (self.row as u32, self.col as u32);
        self.row += 1;
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::matrix_market::header::{Field, Object};

    #[test]
    fn places_go_column_by_column_from_any_entry_on() {
        for (symmetry, rows, cols, lower) in [
            (Symmetry::General, 3u32, 4u32, None),
            (Symmetry::General, 1, 5, None),
            (Symmetry::Symmetric, 4, 4, Some(0)),
            (Symmetry::SkewSymmetric, 4, 4, Some(1)),
            (Symmetry::SkewSymmetric, 1, 1, Some(1)),
        ] {
            let listed = |&(row, col): &(u32, u32)| lower.is_none_or(|below| row >= col + below);
            let all: Vec<_> =
                (0..cols).flat_map(|col| (0..rows).map(move |row| (row, col))).filter(listed).collect();
            let header = Header {
                object: Object::Matrix,
                format: Format::Array,
                field: Field::Real,
                symmetry,
                rows: rows as usize,
                cols: cols as usize,
                entries: all.len() as u64,
            };
            for start in 0..=all.len() {
                let found: Vec<_> = Places::from(&header, start as u64).collect();
                assert_eq!(found, all[start..], "{symmetry} {rows}×{cols} from {start}");
            }
        }
    }
}

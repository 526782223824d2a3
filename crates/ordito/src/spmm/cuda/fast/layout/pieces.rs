//! Work dealt out in pieces: rows, and parts of long rows. Data, made on the host.

use crate::refusal::Refusal;
use crate::spmm::cuda::fast::layout::by_class::descending;
use crate::spmm::cuda::fast::layout::parts::PartsOfRow;

/// In the place of a row of Y: a part, to be added up with others.
pub(crate) const PART: u32 = 1 << 31;

/// A piece as `pieces.cuh` reads it: start (low and high half), length, row or part.
pub(crate) type Piece = [u32; 4];

/// All of a matrix.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pieces {
    pub(crate) list: Vec<Piece>,
    /// Rows that are in several pieces.
    pub(crate) cut: Vec<PartsOfRow>,
    /// How many parts those have together.
    pub(crate) parts: usize,
}

impl Pieces {
    /// Every row by itself, the longest first, so that those of a warp end together and the last to start are short; rows of
    /// more than twice `most` nonzeros are cut into parts of about that.
    pub(crate) fn of_rows(starts: &[usize], most: usize) -> Result<Self, Refusal> {
        check_rows(starts.len().saturating_sub(1))?;
        let mut pieces = Pieces::default();
        for (row, ends) in starts.windows(2).enumerate() {
            if ends[1] - ends[0] > 2 * most {
                pieces.cut(row, ends[0], ends[1], most);
            } else {
                pieces.list.push(piece(ends[0], ends[1], row as u32));
            }
        }
        pieces.list = descending(&pieces.list, |piece| length_class(piece[2]));
        Ok(pieces)
    }

    /// Every row by itself, whole, in an order.
    pub(crate) fn in_order(starts: &[usize], rows: impl Iterator<Item = u32>) -> Result<Self, Refusal> {
        check_rows(starts.len().saturating_sub(1))?;
        let whole = |row: u32| piece(starts[row as usize], starts[row as usize + 1], row);
        Ok(Pieces { list: rows.map(whole).collect(), ..Pieces::default() })
    }

    /// One row in parts as equal as can be.
    pub(crate) fn cut(&mut self, row: usize, start: usize, end: usize, most: usize) {
        let count = (end - start).div_ceil(most);
        self.cut.push([row as u32, self.parts as u32, (self.parts + count) as u32, 0]);
        for part in 0..count {
            let place = |part: usize| start + (end - start) * part / count;
            self.list.push(piece(place(part), place(part + 1), PART | (self.parts + part) as u32));
        }
        self.parts += count;
    }
}

/// Its first nonzero.
pub(crate) fn start_of(piece: &Piece) -> usize {
    piece[0] as usize | (piece[1] as usize) << 32
}

pub(crate) fn piece(start: usize, end: usize, to: u32) -> Piece {
    [start as u32, (start as u64 >> 32) as u32, (end - start) as u32, to]
}

/// Rows of one class take about the same time: every length by itself up to 32, then eight classes for every doubling.
pub(crate) fn length_class(length: u32) -> u32 {
    match length.checked_ilog2() {
        Some(power @ 5..) => 32 + (power - 5) * 8 + (length >> (power - 3)) % 8,
        _ => length,
    }
}

/// There are fewer than so many.
pub(crate) const LENGTH_CLASSES: u32 = 256;

/// A bit of the number of a row says something else.
pub(crate) fn check_rows(rows: usize) -> Result<(), Refusal> {
    if rows < PART as usize {
        return Ok(());
    }
    Err(Refusal::Unsupported(format!("the kernel counts {PART} rows, not {rows}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(lengths: &[usize]) -> Vec<usize> {
        lengths.iter().fold(vec![0], |mut starts, length| {
            starts.push(starts[starts.len() - 1] + length);
            starts
        })
    }

    /// Every nonzero once: in a row's own piece, or in the parts of the row.
    fn covers(pieces: &Pieces, starts: &[usize]) {
        let mut seen = vec![0; starts[starts.len() - 1]];
        for piece in &pieces.list {
            let (start, length, to) = (start_of(piece), piece[2], piece[3]);
            (start..start + length as usize).for_each(|place| seen[place] += 1);
            if to & PART == 0 {
                assert_eq!((start, start + length as usize), (starts[to as usize], starts[to as usize + 1]));
                continue;
            }
            let part = (to & !PART) as usize;
            let row =
                pieces.cut.iter().find(|row| (row[1] as usize..row[2] as usize).contains(&part)).unwrap();
            assert!(
                starts[row[0] as usize] <= start && start + length as usize <= starts[row[0] as usize + 1]
            );
        }
        assert!(seen.iter().all(|&times| times == 1), "{seen:?}");
        let parts: usize = pieces.cut.iter().map(|row| (row[2] - row[1]) as usize).sum();
        assert_eq!(parts, pieces.parts);
    }

    #[test]
    fn pieces_hold_every_nonzero_once() {
        for lengths in [&[][..], &[0], &[5], &[0, 0, 100, 0, 3, 3, 17, 16, 24, 25, 1, 0], &[1; 40], &[70, 70]]
        {
            let starts = starts(lengths);
            for most in [1, 8, 16] {
                let rows = Pieces::of_rows(&starts, most).unwrap();
                covers(&rows, &starts);
                let lengths: Vec<u32> = rows.list.iter().map(|piece| length_class(piece[2])).collect();
                assert!(lengths.is_sorted_by(|a, b| a >= b));
            }
            let backwards = Pieces::in_order(&starts, (0..lengths.len() as u32).rev()).unwrap();
            covers(&backwards, &starts);
            assert!(backwards.list.iter().map(|piece| piece[3]).is_sorted_by(|a, b| a > b));
        }
    }

    #[test]
    fn classes_grow_with_the_length() {
        assert!((0..5000).map(length_class).is_sorted());
        assert_ne!(length_class(1000), length_class(2000));
        assert!(length_class(u32::MAX) < LENGTH_CLASSES);
    }

    #[test]
    fn starts_beyond_32_bits_are_told() {
        assert_eq!(piece(5 << 32 | 7, (5 << 32) + 9, 3), [7, 5, 2, 3]);
        assert!(check_rows(1 << 31).is_err());
    }
}

//! Work dealt out in pieces: rows, which are listed on the device, and parts of long rows, which are cut here.

use crate::refusal::Refusal;
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
    /// One row in parts as equal as can be; whole, if one is enough.
    pub(crate) fn cut(&mut self, row: usize, start: usize, end: usize, most: usize) {
        let count = (end - start).div_ceil(most);
        if count <= 1 {
            return self.list.push(piece(start, end, row as u32));
        }
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

    #[test]
    fn parts_are_about_equal_and_hold_every_nonzero_once() {
        for most in [1, 7, 16, 100] {
            let mut pieces = Pieces::default();
            pieces.cut(4, 50, 150, most);
            pieces.cut(9, 300, 301, most);
            let count = 100_usize.div_ceil(most);
            let places: Vec<usize> =
                pieces.list.iter().flat_map(|it| start_of(it)..start_of(it) + it[2] as usize).collect();
            assert!(places.into_iter().eq((50..150).chain([300])));
            assert_eq!(pieces.list.pop(), Some(piece(300, 301, 9)));
            if count == 1 {
                assert_eq!((pieces.parts, pieces.cut.len(), pieces.list[0][3]), (0, 0, 4));
                continue;
            }
            assert_eq!((pieces.parts, &pieces.cut[..]), (count, &[[4, 0, count as u32, 0]][..]));
            assert!(pieces.list.iter().zip(0..).all(|(piece, part)| piece[3] == PART | part));
            assert!(pieces.list.iter().all(|piece| piece[2] as usize <= most));
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

//! In which order a matrix on diagonals is multiplied. Where they stand in groups far apart, as those of a grid of three dimensions do,
//! a row of X is wanted once for each group, and with many columns it is gone from the cache by then. It is still there where tiles are
//! taken one after the other through all planes of the grid: a tile is so many rows of a plane that what it reads of as many planes as
//! there are groups fits.

use std::ops::Range;

/// The part of the second-level cache that rows of X may take: A and Y pass through it, too. stencil27:120, f64, K = 32, 2 MiB, 16 threads
/// of a Sapphire Rapids, three turns: 24.1, 29.3, 29.9 ms in the order of the rows; in tiles 22.8, 25.0, 23.8 with 0.4, 24.2, 22.8, 24.1 with
/// 0.6, 24.2, 24.0, 24.3 with 0.9; 8 threads 44.2, and 34.3, 37.4, 36.9. K = 8: no difference to be told from chance.
const OF_CACHE: f64 = 0.6;
/// Narrower rows of X gain nothing: beside them it is A that takes the time. (Rows between the two widths were not measured.)
const LEAST_ROW_BYTES: usize = 256;
/// Rows at the edges of a tile are read by the next one, too: a tile has at least so many times as many.
const TIMES_EDGES: usize = 2;
/// Tiles end between stretches: they have at least so many.
const LEAST_STRETCHES: usize = 2;

/// Diagonals in groups at even distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Groups {
    count: usize,
    /// From the first diagonal of a group to the last, and one more.
    width: usize,
    /// From one group to the next: the rows of a plane.
    distance: usize,
}

impl Groups {
    /// Of diagonals by their distance from the main one, rising. `None`: they stand in one group, or at uneven distances.
    pub(crate) fn of(diagonals: &[i64]) -> Option<Groups> {
        let widest = diagonals.windows(2).map(|pair| pair[1] - pair[0]).max()?;
        let groups: Vec<(i64, i64)> = diagonals
            .chunk_by(|one, next| 2 * (next - one) <= widest)
            .map(|group| (group[0], group[group.len() - 1]))
            .collect();
        let width = groups.iter().map(|(first, last)| last - first + 1).max()?;
        let from_middle = |one: (i64, i64), next: (i64, i64)| (next.0 + next.1 - one.0 - one.1) / 2;
        let between = groups.len() as i64 - 1;
        let distance = from_middle(*groups.first()?, *groups.last()?) / between.max(1);
        let are_even = groups.windows(2).all(|pair| (from_middle(pair[0], pair[1]) - distance).abs() < width);
        (between > 0 && are_even && distance > 2 * width).then_some(Groups {
            count: groups.len(),
            width: width as usize,
            distance: distance as usize,
        })
    }

    /// Rows of a tile whose rows of X, of so many bytes each, stay in a cache; `None`: they do in the order of the rows, too, or in no tile
    /// of at least so many rows.
    fn rows_of_tile(self, row_bytes: usize, cache_bytes: u64, least: usize) -> Option<usize> {
        if row_bytes < LEAST_ROW_BYTES {
            return None;
        }
        let Groups { count, width, distance } = self;
        let most = (cache_bytes as f64 * OF_CACHE / row_bytes as f64) as usize;
        let in_order_of_rows = (count - 1) * distance + width;
        if in_order_of_rows <= most {
            return None;
        }
        let rows = (most / count).checked_sub(width)?;
        (rows >= least.max(TIMES_EDGES * width) && rows < distance).then_some(rows)
    }

    /// Is this what others say, too? At the edges of a grid diagonals are missing.
    pub(crate) fn is_like(self, other: Groups) -> bool {
        self.count == other.count && self.distance.abs_diff(other.distance) <= self.width.max(other.width)
    }

    /// All stretches of so many rows each in the order of tiles, neighbours in one piece; `None`: the order of the rows is as good.
    pub(crate) fn in_tiles(
        self,
        stretches: usize,
        rows_of_stretch: usize,
        row_bytes: usize,
        cache_bytes: u64,
    ) -> Option<Vec<Range<usize>>> {
        let rows = self.rows_of_tile(row_bytes, cache_bytes, LEAST_STRETCHES * rows_of_stretch)?;
        let place = |stretch: usize| {
            let middle = stretch * rows_of_stretch + rows_of_stretch / 2;
            let (plane, in_plane) = (middle / self.distance, middle % self.distance);
            (in_plane / rows, plane)
        };
        let mut pieces: Vec<Range<usize>> = Vec::new();
        for stretch in 0..stretches {
            match pieces.last_mut() {
                Some(piece) if place(piece.start) == place(stretch) => piece.end = stretch + 1,
                _ => pieces.push(stretch..stretch + 1),
            }
        }
        pieces.sort_by_key(|piece| place(piece.start));
        Some(pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of a grid of so many points in each direction, with all neighbours.
    fn of_grid(side: i64) -> Vec<i64> {
        let near = || -1..=1;
        near()
            .flat_map(|z| near().flat_map(move |y| near().map(move |x| (z * side + y) * side + x)))
            .collect()
    }

    #[test]
    fn planes_of_a_grid_are_found() {
        let of_grid_of_120 = Groups { count: 3, width: 243, distance: 14_400 };
        assert_eq!(Groups::of(&of_grid(120)), Some(of_grid_of_120));
        assert_eq!(
            Groups::of(&[-900, -30, -1, 0, 1, 30, 900]),
            Some(Groups { count: 3, width: 61, distance: 900 })
        );
        assert_eq!(Groups::of(&[-30, -1, 0, 1, 30]), Some(Groups { count: 3, width: 3, distance: 30 }));
        assert_eq!(Groups::of(&[-1, 0, 1]), None, "a band");
        assert_eq!(Groups::of(&[-1100, 0, 2000]), None, "uneven");
        assert_eq!((Groups::of(&[3]), Groups::of(&[])), (None, None));
    }

    #[test]
    fn a_tile_fits_where_planes_do_not() {
        let grid = Groups::of(&of_grid(120)).unwrap();
        // 1.2 MiB are 4915 rows of 32 numbers of 8 bytes: 1638 of each of three planes.
        assert_eq!(grid.rows_of_tile(256, 2 << 20, 256), Some(1638 - 243));
        assert_eq!(grid.rows_of_tile(256, 2 << 20, 2000), None, "stretches are larger");
        assert_eq!(grid.rows_of_tile(2048, 2 << 20, 256), None, "nothing but edges");
        assert_eq!(grid.rows_of_tile(256, 64 << 20, 256), None, "three planes fit");
        assert_eq!(grid.rows_of_tile(64, 2 << 20, 256), None, "narrow rows");
    }

    #[test]
    fn tiles_hold_every_stretch_once_and_go_through_all_planes() {
        let grid = Groups { count: 3, width: 83, distance: 1600 };
        let pieces = grid.in_tiles(250, 256, 256, 800 << 10).unwrap();
        let mut all: Vec<usize> = pieces.iter().cloned().flatten().collect();
        // Tiles of 557 rows: the first pieces are those stretches of each plane whose middles lie in its first tile.
        assert_eq!((&pieces[..3], pieces.len() > 100), (&[0..2, 6..8, 12..15][..], true));
        all.sort_unstable();
        assert_eq!(all, (0..250).collect::<Vec<usize>>());
    }
}

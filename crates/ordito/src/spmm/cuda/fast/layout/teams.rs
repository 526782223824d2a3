//! Rows in the order of their lengths, for slices: a lane has a short row, a team of lanes a long one, and only rows that are
//! too long for a warp are cut into parts. Data, made on the host.

use crate::cpu::parallel;
use crate::refusal::Refusal;
use crate::spmm::cuda::fast::layout::by_class::descending;
use crate::spmm::cuda::fast::layout::pieces::{
    LENGTH_CLASSES, PART, Piece, Pieces, check_rows, length_class, piece,
};

/// In the place of a row of Y: nothing, since no row was left for the last lanes of a warp.
const NOTHING: u32 = u32::MAX;

/// All of a matrix.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Teams {
    /// A piece for each lane, those of a team one after the other and all to the same row or part.
    pub(crate) pieces: Pieces,
    /// Of each piece: how many lanes its team has, as a power of two.
    pub(crate) sizes: Vec<u8>,
}

/// Tasks that a thread makes pieces of at a time.
const TASKS_AT_ONCE: usize = 4096;

/// A row, or a part of one, for a team.
#[derive(Debug, Clone, Copy, Default)]
struct Task {
    start: usize,
    end: usize,
    to: u32,
    /// Lanes, as a power of two.
    size: u8,
}

impl Teams {
    /// At most `per_lane` nonzeros for a lane, and `lanes` of them (a power of two) in a warp; `window` rows are sorted by
    /// themselves.
    pub(crate) fn new(
        starts: &[usize],
        window: usize,
        per_lane: usize,
        lanes: usize,
    ) -> Result<Self, Refusal> {
        let rows = starts.len().saturating_sub(1);
        check_rows(rows + 1)?;
        let mut teams = Teams::default();
        // Parts are numbered in the order of the rows, before windows are sorted side by side.
        let longest = per_lane * lanes;
        let window = window.max(1);
        let mut windows: Vec<Vec<Task>> = Vec::with_capacity(rows.div_ceil(window));
        for first in (0..rows).step_by(window) {
            let mut tasks = Vec::new();
            for row in first..rows.min(first + window) {
                let (start, end) = (starts[row], starts[row + 1]);
                let size = |length: usize| {
                    length.div_ceil(per_lane).max(1).next_power_of_two().trailing_zeros() as u8
                };
                if end - start <= longest {
                    tasks.push(Task { start, end, to: row as u32, size: size(end - start) });
                    continue;
                }
                let parts = (end - start).div_ceil(longest);
                let place = |part: usize| start + (end - start) * part / parts;
                let number = teams.pieces.parts;
                teams.pieces.cut.push([row as u32, number as u32, (number + parts) as u32, 0]);
                tasks.extend((0..parts).map(|part| {
                    let to = PART | (number + part) as u32;
                    // A whole warp, which the kernel relies on.
                    Task { start: place(part), end: place(part + 1), to, size: lanes.trailing_zeros() as u8 }
                }));
                teams.pieces.parts += parts;
            }
            windows.push(tasks);
        }
        let sorted: Vec<(Vec<Piece>, Vec<u8>)> = parallel::map(windows, |tasks| pieces_of(&tasks, lanes));
        for (pieces, sizes) in sorted {
            teams.pieces.list.extend(pieces);
            teams.sizes.extend(sizes);
        }
        Ok(teams)
    }
}

/// One list behind the other.
fn together(
    mut first: (Vec<Piece>, Vec<u8>),
    (pieces, sizes): (Vec<Piece>, Vec<u8>),
) -> (Vec<Piece>, Vec<u8>) {
    first.0.extend(pieces);
    first.1.extend(sizes);
    first
}

/// Large teams first, which keeps each inside a warp; of those of a size the longest first, so that lanes of a warp end together.
fn pieces_of(tasks: &[Task], lanes: usize) -> (Vec<Piece>, Vec<u8>) {
    let tasks = descending(tasks, |task| {
        let per_lane = (task.end - task.start).div_ceil(1 << task.size) as u32;
        u32::from(task.size) * LENGTH_CLASSES + length_class(per_lane)
    });
    let chunks = tasks.chunks(TASKS_AT_ONCE).collect();
    let dealt = parallel::map(chunks, |some: &[Task]| some.iter().flat_map(Task::lanes).unzip());
    let (mut pieces, mut sizes): (Vec<Piece>, Vec<u8>) =
        dealt.into_iter().reduce(together).unwrap_or_default();
    // Windows fill whole warps, so that the next one's teams lie inside of theirs.
    let count = pieces.len().next_multiple_of(lanes);
    pieces.resize(count, piece(0, 0, NOTHING));
    sizes.resize(count, 0);
    (pieces, sizes)
}

impl Task {
    /// The piece of each lane, and the size of the team.
    fn lanes(&self) -> impl Iterator<Item = (Piece, u8)> {
        let &Task { start, end, to, size } = self;
        let place = move |lane: usize| start + (((end - start) * lane) >> size);
        (0..1 << size).map(move |lane| (piece(place(lane), place(lane + 1), to), size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spmm::cuda::fast::layout::pieces::start_of;

    #[test]
    fn teams_hold_every_nonzero_once_and_lie_inside_of_a_warp() {
        let lengths: Vec<usize> =
            (0..40_000).map(|row| if row % 97 == 5 { row % 1000 } else { row % 7 }).collect();
        let starts = lengths.iter().fold(vec![0], |mut starts, length| {
            starts.push(starts[starts.len() - 1] + length);
            starts
        });
        for (window, per_lane, lanes) in [(1 << 14, 4, 32), (40_000, 16, 8), (1000, 128, 1)] {
            let Teams { pieces, sizes } = Teams::new(&starts, window, per_lane, lanes).unwrap();
            assert!(pieces.list.len() == sizes.len() && sizes.len().is_multiple_of(lanes));
            let mut seen = vec![0; starts[starts.len() - 1]];
            let mut rows = vec![0; lengths.len()];
            for (place, (&size, team)) in sizes.iter().zip(&pieces.list).enumerate() {
                let (start, length) = (start_of(team), team[2] as usize);
                assert!(length <= per_lane);
                (start..start + length).for_each(|at| seen[at] += 1);
                let first = place >> size << size;
                assert!(first / lanes == (first + (1 << size) - 1) / lanes, "inside of a warp");
                assert_eq!((pieces.list[first][3], sizes[first]), (team[3], size), "all of a team");
                assert!(team[3] & PART == 0 || team[3] == NOTHING || 1 << size == lanes, "a part has a warp");
                if first == place && team[3] & PART == 0 {
                    rows[team[3] as usize] += 1;
                }
            }
            for &[row, first, end, _] in &pieces.cut {
                assert!(first < end && lengths[row as usize] > per_lane * lanes);
                rows[row as usize] += 1;
            }
            assert!(seen.iter().all(|&times| times == 1) && rows.iter().all(|&times| times == 1));
            assert_eq!(pieces.parts, pieces.cut.last().map_or(0, |cut| cut[2] as usize));
        }
        assert_eq!(Teams::new(&[0], 0, 8, 32).unwrap(), Teams::default());
    }

    #[test]
    fn long_rows_come_first_and_warps_are_filled_up() {
        let teams = Teams::new(&[0, 1, 9, 11, 11], 4, 4, 4).unwrap();
        let lengths: Vec<[u32; 2]> = teams.pieces.list.iter().map(|piece| [piece[2], piece[3]]).collect();
        assert_eq!(
            lengths,
            [[4, 1], [4, 1], [2, 2], [1, 0], [0, 3], [0, NOTHING], [0, NOTHING], [0, NOTHING]]
        );
        assert_eq!(teams.sizes, [1, 1, 0, 0, 0, 0, 0, 0]);
    }
}

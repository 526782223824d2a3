//! Rows in groups of 8 that share many columns, for windows: the nonzeros of a mesh or stencil lead from a row to its
//! neighbours on all sides, which the order of the rows keeps far apart. Data, made on the host.

use crate::Scalar;
use crate::cpu::parallel;
use crate::matrix::{Csr, Pattern};
use crate::spmm::analysis::reuse::{WINDOW, reuse, reuse_of, reuse_within, sampled};
use std::ops::Range;

/// Rows that are gathered by themselves, by one thread: a few layers of a large mesh.
const CHUNK: usize = 1 << 16;
/// Of longer rows only the first nonzeros lead anywhere; matrices with far longer ones have other kernels.
const NONZEROS: usize = 64;
const LONGEST: usize = 256;
/// Nonzeros for every column of a window, over what windows of neighbours have: less is not worth another order.
const WORTH: f64 = 1.1;
/// Chunks and groups of each that are looked at to foresee the result.
const SAMPLED_CHUNKS: usize = 8;
const SAMPLED_GROUPS: usize = 16;
/// Rows around which a group is looked at for the largest.
const LONGEST_ROWS: usize = 4;

/// All rows, group after group, where that gains; `None`: as they are.
pub(crate) fn gathered<S: Scalar>(a: &Csr<S>) -> Option<Vec<u32>> {
    if !leads_to_rows(a) {
        return None; // and spare what follows
    }
    gain_foreseen(a, reuse_within(a, WINDOW, 0))?;
    let chunks: Vec<Vec<u32>> = parallel::map_index(a.rows().div_ceil(CHUNK), |chunk| {
        Gathering::new(a.pattern(), chunk_of(a, chunk)).all()
    });
    let order = chunks.concat();
    let worth = reuse_of(a, sampled(a.rows()), |place| order[place] as usize) > WORTH * reuse(a);
    worth.then_some(order)
}

/// What windows would be like, in the better of the two orders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Foreseen {
    /// About how many nonzeros every column of a window would have.
    pub(crate) shared: f64,
    /// About how many columns the window of gathered rows would have that has most: long rows have long ones near them. None where rows
    /// stay as they are.
    pub(crate) longest: usize,
}

pub(crate) fn foreseen<S: Scalar>(a: &Csr<S>, of_neighbours: f64) -> Foreseen {
    match gain_foreseen(a, of_neighbours) {
        Some(shared) => Foreseen { shared, longest: around_the_longest(a) },
        None => Foreseen { shared: of_neighbours, longest: 0 },
    }
}

/// Columns of the largest group around one of the longest rows.
fn around_the_longest<S: Scalar>(a: &Csr<S>) -> usize {
    let pattern = a.pattern();
    let mut longest: Vec<(usize, usize)> = Vec::with_capacity(LONGEST_ROWS + 1);
    for (row, length) in a.row_lengths().enumerate() {
        if longest.len() < LONGEST_ROWS || length > longest[LONGEST_ROWS - 1].0 {
            let place = longest.partition_point(|&(other, _)| other >= length);
            longest.insert(place, (length, row));
            longest.truncate(LONGEST_ROWS);
        }
    }
    let columns_around = |row: usize| {
        let mut gathering = Gathering::new(pattern, chunk_of(a, row / CHUNK));
        gathering.next = row % CHUNK;
        let mut columns: Vec<u32> = Vec::new();
        for row in gathering.group() {
            columns.extend(&pattern.columns()[pattern.range(row as usize)]);
        }
        columns.sort_unstable();
        columns.dedup();
        columns.len()
    };
    longest.into_iter().map(|(_, row)| columns_around(row)).max().unwrap_or(0)
}

/// About how many they would be of gathered rows, where that is worth it.
fn gain_foreseen<S: Scalar>(a: &Csr<S>, of_neighbours: f64) -> Option<f64> {
    if !leads_to_rows(a) {
        return None;
    }
    let chunks = a.rows().div_ceil(CHUNK);
    let mut rows: Vec<u32> = Vec::new();
    for sample in 0..chunks.min(SAMPLED_CHUNKS) {
        let mut gathering =
            Gathering::new(a.pattern(), chunk_of(a, sample * chunks / chunks.min(SAMPLED_CHUNKS)));
        let count = gathering.rows.len();
        for group in 0..SAMPLED_GROUPS {
            // Once its turn comes, the rows before it are taken. In the second half few groups begin: most rows are in one by then.
            gathering.next = (2 * group + 1) * count / (4 * SAMPLED_GROUPS);
            gathering.taken[..gathering.next].fill(true);
            let group = gathering.group();
            // Near the end of a chunk fewer may be left.
            if group.len() == WINDOW {
                rows.extend(group);
            }
        }
    }
    let there = reuse_of(a, (0..rows.len()).step_by(WINDOW), |place| rows[place] as usize);
    (there > WORTH * of_neighbours).then_some(there)
}

/// Columns stand for rows, and no row leads to most of the others.
fn leads_to_rows<S: Scalar>(a: &Csr<S>) -> bool {
    a.rows() == a.cols() && a.rows() >= WINDOW && a.longest_row() <= LONGEST
}

fn chunk_of<S: Scalar>(a: &Csr<S>, chunk: usize) -> Range<usize> {
    chunk * CHUNK..a.rows().min((chunk + 1) * CHUNK)
}

/// A chunk half gathered. Rows are counted from its first.
struct Gathering<'a> {
    a: Pattern<'a>,
    rows: Range<usize>,
    taken: Vec<bool>,
    /// Where to look for a row that is left, once none is near.
    next: usize,
    /// Columns that a row shares with the group, and with its first row: zero outside of [`Self::group`].
    shared: Vec<[u16; 2]>,
    /// The last group that has the column.
    has: Vec<u32>,
    groups: u32,
}

impl<'a> Gathering<'a> {
    fn new(a: Pattern<'a>, rows: Range<usize>) -> Self {
        let count = rows.len();
        let (taken, shared, has) = (vec![false; count], vec![[0; 2]; count], vec![0; count]);
        Gathering { a, rows, taken, next: 0, shared, has, groups: 0 }
    }

    fn all(mut self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.rows.len());
        while order.len() < self.rows.len() {
            order.extend(self.group());
        }
        order
    }

    /// The first row that is left, and those that share the most columns with it and each other; where none shares any, the
    /// next that are left.
    fn group(&mut self) -> Vec<u32> {
        self.groups += 1;
        let (mut group, mut near): (Vec<u32>, Vec<u32>) = (Vec::with_capacity(WINDOW), Vec::new());
        while group.len() < WINDOW {
            // As much shared with the first keeps a group round; otherwise it would grow into a line.
            let best = near.iter().copied().filter(|&row| !self.taken[row as usize]);
            let best = best.max_by_key(|&row| (self.shared[row as usize], std::cmp::Reverse(row)));
            let Some(row) = best.or_else(|| self.first_left()) else { break };
            self.take(row, group.is_empty(), &mut near);
            group.push((self.rows.start + row as usize) as u32);
        }
        near.iter().for_each(|&row| self.shared[row as usize] = [0; 2]);
        group
    }

    fn first_left(&mut self) -> Option<u32> {
        self.next += self.taken[self.next..].iter().position(|&taken| !taken)?;
        Some(self.next as u32)
    }

    /// Into the group: rows that share its columns come near.
    fn take(&mut self, row: u32, is_first: bool, near: &mut Vec<u32>) {
        self.taken[row as usize] = true;
        let (first, end) = (self.rows.start, self.rows.end);
        let inside = |column: &&u32| (first..end).contains(&(**column as usize));
        let nonzeros = |row| self.a.columns()[self.a.range(row)].iter().take(NONZEROS);
        for column in nonzeros(first + row as usize).filter(inside) {
            let column = *column as usize;
            if std::mem::replace(&mut self.has[column - first], self.groups) == self.groups {
                continue;
            }
            // Where the pattern is symmetric, row `column` names the rows that have this column; elsewhere it is a guess.
            for other in nonzeros(column).filter(inside) {
                let other = *other as usize - first;
                if self.taken[other] {
                    continue;
                }
                let shared = &mut self.shared[other];
                if *shared == [0; 2] {
                    near.push(other as u32);
                }
                shared[0] += 1;
                shared[1] += u16::from(is_first);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io;
    use crate::matrix::Duplicates;

    fn synthetic(name: &str) -> Csr<f64> {
        Csr::from_coo(&io::load(name, &Default::default()).unwrap().coo, Duplicates::Sum)
    }

    #[test]
    fn a_stencil_is_gathered_in_cubes() {
        let a = synthetic("stencil27:12");
        let order = gathered(&a).unwrap();
        let mut rows = order.clone();
        rows.sort_unstable();
        assert!(rows.into_iter().eq(0..12 * 12 * 12));
        let reuse = reuse_of(&a, (0..a.rows()).step_by(WINDOW), |place| order[place] as usize);
        let as_they_are = super::reuse(&a);
        assert!(reuse > 1.2 * as_they_are, "{reuse} instead of {as_they_are}");
        let foreseen = foreseen(&a, as_they_are).shared;
        assert!((foreseen / reuse - 1.0).abs() < 0.15, "{foreseen} instead of {reuse}");
    }

    #[test]
    fn rows_stay_where_nothing_is_gained() {
        for name in [
            "band:3000x20",
            "uniform:3000x8",
            "powerlaw:3000x16",
            "empty:0x0",
            "empty:20x20",
            "diagonal:5",
            "diagonal:32",
            "diagonal:100",
            "band:65541x3",
        ] {
            let a = synthetic(name);
            assert_eq!(gathered(&a), None, "{name}");
            let as_they_are = super::reuse(&a);
            let stays = Foreseen { shared: as_they_are, longest: 0 };
            assert_eq!(foreseen(&a, as_they_are), stays, "{name}");
        }
    }
}

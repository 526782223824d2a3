//! Graphs whose rows depend on each other: nearest neighbours, networks, the web. All columns of all rows are made at once.

mod nearest;

use crate::io::synthetic::{Pattern, Size};
use crate::matrix::Random;
use nearest::Points;

/// Streams of the seed: of points and of an order, beside those of rows and of other kinds.
const POINT_STREAM: u64 = 1 << 59;
const ORDER_STREAM: u64 = 1 << 58;

/// The columns of every row.
#[derive(Debug)]
pub(super) struct Lists {
    ends: Vec<usize>,
    columns: Vec<u32>,
}

impl Lists {
    pub(super) fn of(&self, row: u64) -> &[u32] {
        let row = row as usize;
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.columns[start..self.ends[row]]
    }

    /// Every pair stands in both rows, and every row has its diagonal.
    fn symmetric(rows: u64, pairs: &[(u32, u32)]) -> Self {
        let mut ends = vec![1_usize; rows as usize];
        pairs.iter().flat_map(|&(a, b)| [a, b]).for_each(|row| ends[row as usize] += 1);
        let mut end = 0;
        ends.iter_mut().for_each(|length| {
            end += *length;
            *length = end;
        });
        // Each row is filled from behind.
        let mut columns = vec![0; end];
        let mut next = ends.clone();
        let mut put = |row: u32, column: u32| {
            next[row as usize] -= 1;
            columns[next[row as usize]] = column;
        };
        (0..rows as u32).for_each(|row| put(row, row));
        pairs.iter().for_each(|&(a, b)| {
            put(a, b);
            put(b, a);
        });
        Lists { ends, columns }
    }
}

/// Points anywhere in a cube, each with so many that are nearest to it; in any order, or so that those near each other mostly have
/// numbers that are.
pub(super) fn nearest(rows: u64, degree: u64, dimensions: u64, in_order: bool, seed: u64) -> Lists {
    let points = Points::anywhere(rows as usize, dimensions as usize, &mut Random::new(seed, POINT_STREAM));
    let place = |point: u32| if in_order { points.place(point) } else { point };
    let mut pairs = Vec::with_capacity((rows * degree) as usize);
    for point in 0..rows as u32 {
        let near = points.nearest(point, degree as usize);
        pairs.extend(near.into_iter().map(|other| (place(point), place(other))));
    }
    Lists::symmetric(rows, &pairs)
}

/// At least as many entries as [`nearest`] makes.
pub(super) fn most_of_nearest(rows: u64, degree: u64) -> u128 {
    u128::from(rows) * (2 * u128::from(degree) + 1)
}

/// Pages by hosts. A page takes over some links of one shortly before it, has others inside its host, and a few to pages that
/// everyone knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Web {
    /// Pages of a host.
    pub(super) host: u64,
    /// The share of another page's links that is taken over.
    pub(super) copied: f64,
}

impl Web {
    /// How far back the page is that links are taken over from, at most.
    const BACK: u64 = 7;
    /// Of the other links, those inside a host.
    const INSIDE: f64 = 0.75;

    pub(super) fn lists(&self, rows: u64, seed: u64, length: impl Fn(u64, &mut Random) -> u64) -> Lists {
        let mut lists = Lists { ends: Vec::with_capacity(rows as usize), columns: Vec::new() };
        for row in 0..rows {
            let mut random = Random::new(seed, row);
            let length = length(row, &mut random) as usize;
            let (host, start) = (row / self.host * self.host, lists.columns.len());
            if row > host {
                let page = row - 1 - random.below((row - host).min(Self::BACK));
                for at in 0..lists.of(page).len() {
                    let column = lists.of(page)[at];
                    if lists.columns.len() - start < length && random.unit() < self.copied {
                        lists.columns.push(column);
                    }
                }
            }
            while lists.columns.len() - start < length {
                let column = if random.unit() < Self::INSIDE {
                    host + random.below(self.host.min(rows - host))
                } else {
                    let u = random.unit();
                    ((rows as f64 * (u * u * u)) as u64).min(rows - 1)
                };
                lists.columns.push(column as u32);
            }
            lists.ends.push(lists.columns.len());
        }
        lists
    }
}

/// Nodes that are linked to earlier ones: lines of a power grid, roads, citations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Network {
    /// How far back, at most, in numbers of nodes.
    pub(super) reach: u64,
    /// Links of a node to earlier ones, on average.
    pub(super) links: f64,
    /// The share of links that go anywhere, rather to the first nodes.
    pub(super) far: f64,
    /// Rows and columns of a node: unknowns that are coupled.
    pub(super) side: u64,
    pub(super) shuffled: bool,
}

impl Network {
    pub(super) fn most_entries(&self, rows: u64) -> u128 {
        let (nodes, side) = (u128::from(rows.div_ceil(self.side)), u128::from(self.side));
        // Links of all nodes to earlier ones, and of each to itself.
        let pairs = nodes * (self.links as u128 + 1 + u128::from(side > 1));
        2 * pairs * side * side + u128::from(rows)
    }

    pub(super) fn lists(&self, rows: u64, seed: u64) -> Lists {
        let nodes = rows.div_ceil(self.side);
        let mut order: Vec<u32> = (0..nodes as u32).collect();
        if self.shuffled {
            Random::new(seed, ORDER_STREAM).shuffle(&mut order);
        }
        let mut pairs = Vec::new();
        for node in 1..nodes {
            let mut random = Random::new(seed, node);
            let links = self.links as u64 + u64::from(random.unit() < self.links.fract());
            for _ in 0..links {
                let other = if random.unit() < self.far {
                    let u = random.unit();
                    ((node as f64 * (u * u)) as u64).min(node - 1)
                } else {
                    node - 1 - random.below(self.reach.min(node))
                };
                self.couple(rows, order[node as usize], order[other as usize], &mut pairs);
            }
        }
        if self.side > 1 {
            (0..nodes as u32).for_each(|node| self.couple(rows, node, node, &mut pairs));
        }
        Lists::symmetric(rows, &pairs)
    }

    /// All unknowns of one node with all of another.
    fn couple(&self, rows: u64, a: u32, b: u32, pairs: &mut Vec<(u32, u32)>) {
        let of = |node: u32| {
            let first = u64::from(node) * self.side;
            (first..(first + self.side).min(rows)).map(|row| row as u32)
        };
        pairs.extend(of(a).flat_map(|row| of(b).map(move |column| (row, column))));
    }
}

pub(super) fn neighbours_size(parameters: &[u64], _: u64) -> Result<Size, String> {
    let [rows, degree, dimensions] = [parameters[0], parameters[1], parameters[2]];
    if degree >= rows {
        return Err(format!("DEGREE is {degree}, and there are {} other points", rows - 1));
    }
    if dimensions > nearest::MOST_DIMENSIONS {
        return Err(format!("DIMENSIONS is {dimensions}, more than {}", nearest::MOST_DIMENSIONS));
    }
    Ok(Size { rows, cols: rows, entries: most_of_nearest(rows, degree) })
}

pub(super) fn neighbours(parameters: &[u64], seed: u64) -> Pattern {
    let lists = nearest(parameters[0], parameters[1], parameters[2], false, seed);
    Box::new(move |row, _, columns| columns.extend(lists.of(row)))
}

pub(super) fn web_size(parameters: &[u64], _: u64) -> Result<Size, String> {
    let [rows, average] = [parameters[0], parameters[1]];
    if average > rows {
        return Err(format!("AVG is {average}, more than the {rows} rows"));
    }
    Ok(Size { rows, cols: rows, entries: 2 * u128::from(rows) * u128::from(average) })
}

/// A page has up to twice as many links as the average.
pub(super) fn web(parameters: &[u64], seed: u64) -> Pattern {
    let [rows, average] = [parameters[0], parameters[1]];
    let web = Web { host: HOST, copied: COPIED };
    let lists = web.lists(rows, seed, |_, random| random.below(2 * average + 1));
    Box::new(move |row, _, columns| columns.extend(lists.of(row)))
}
const HOST: u64 = 100;
const COPIED: f64 = 0.7;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn entries(lists: &Lists, rows: u64) -> BTreeSet<(u64, u64)> {
        (0..rows).flat_map(|row| lists.of(row).iter().map(move |&column| (row, column.into()))).collect()
    }

    fn assert_symmetric(lists: &Lists, rows: u64) {
        let all = entries(lists, rows);
        assert!((0..rows).all(|row| all.contains(&(row, row))));
        assert!(all.iter().all(|&(row, column)| column < rows && all.contains(&(column, row))));
    }

    #[test]
    fn nearest_points_are_symmetric_and_their_order_brings_them_together() {
        let apart = |in_order| {
            let lists = nearest(500, 4, 2, in_order, 1);
            assert_symmetric(&lists, 500);
            let all = entries(&lists, 500);
            assert!((500 * 5..=most_of_nearest(500, 4) as usize).contains(&all.len()), "{}", all.len());
            all.iter().map(|&(row, column)| row.abs_diff(column)).sum::<u64>() / all.len() as u64
        };
        assert!(apart(true) < apart(false) / 3);
    }

    #[test]
    fn networks_are_symmetric_and_couple_unknowns() {
        for (side, shuffled) in [(1, false), (2, false), (1, true)] {
            let network = Network { reach: 9, links: 1.5, far: 0.2, side, shuffled };
            let lists = network.lists(301, 5);
            assert_symmetric(&lists, 301);
            let all = entries(&lists, 301);
            assert!(all.len() as u128 <= network.most_entries(301), "{}", all.len());
            if side == 2 {
                assert!((0..300).all(|row| all.contains(&(row, row ^ 1))));
            }
        }
    }

    #[test]
    fn pages_of_a_host_share_links() {
        let shared = |copied| {
            let lists = Web { host: 50, copied }.lists(1000, 3, |_, _| 10);
            let of = |row| lists.of(row).iter().collect::<BTreeSet<_>>();
            assert!((0..1000).all(|row| lists.of(row).len() == 10));
            (1..1000).map(|row| of(row).intersection(&of(row - 1)).count()).sum::<usize>()
        };
        assert!(shared(0.9) > 2 * shared(0.0));
    }
}

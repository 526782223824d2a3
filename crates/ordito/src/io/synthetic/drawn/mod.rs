//! `drawn:NUMBER`, `small:NUMBER`, `sketched:NUMBER`: matrices as they come from practice, drawn from families of them. A corpus
//! without files, to fit choices of kernels on and to judge them by: another seed is another corpus.
//!
//! A matrix is how long its rows are and where their entries stand. Number and seed say which; families follow each other, so that
//! any run of numbers has all of them.

mod families;
mod mesh;
mod sketches;

use self::mesh::{Order, around, shuffled};
use crate::io::synthetic::graphs::{self, Lists, Network, Web};
use crate::io::synthetic::{Pattern, Size};
use crate::matrix::Random;
use std::sync::Arc;

/// How long rows are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lengths {
    /// As long as the mean; where that is a fraction, one more in so many.
    Regular,
    /// Each further entry as likely as the one before.
    Geometric,
    /// The logarithm is normal, with this deviation.
    LogNormal(f64),
    /// Pareto of exponent 6/5, as in `powerlaw`.
    Pareto,
    /// Regular, but so many rows have this share of all columns.
    FewDense { rows: u64, share: f64 },
    /// Geometric, but this share of the rows has none.
    ManyEmpty(f64),
    /// What the places say.
    OfPlaces,
}

/// Where the entries of a row stand.
#[derive(Debug, Clone, PartialEq)]
enum Places {
    Anywhere,
    /// Within so many columns of the diagonal.
    Near(u64),
    /// Half of them near, half anywhere: a network with a few long lines.
    NearAndFar(u64),
    /// As in `powerlaw`: the left columns are fullest.
    Left,
    /// A share of all entries in so many columns, the others near.
    FewColumns {
        columns: u64,
        share: f64,
    },
    /// From the diagonal rightwards, none left out.
    Band,
    /// So many rows share blocks of as many columns, near the diagonal.
    Blocks {
        side: u64,
        reach: u64,
    },
    /// So many rows draw from the same few columns, which are anywhere.
    Clusters {
        rows: u64,
        columns: u64,
    },
    /// Points of a grid of two or three sides and those around them, along the axes or all.
    Mesh {
        side: u64,
        dimensions: u32,
        diagonals: bool,
    },
    /// The same with points in any order.
    ShuffledMesh {
        side: u64,
        dimensions: u32,
        diagonals: bool,
    },
    /// The diagonal, and one entry so far to the right of it, then another twice as far.
    Lines(u64),
    /// Equations with entries near the diagonal, so many rows of them; then bounds: rows of one entry, column after column.
    Bounded {
        equations: u64,
        reach: u64,
    },
    /// So many nearest points of each in a cube of so many dimensions.
    Nearest {
        degree: u64,
        dimensions: u64,
        in_order: bool,
    },
    Web(Web),
    Network(Network),
}

/// What was drawn.
#[derive(Debug, Clone, PartialEq)]
struct Drawn {
    rows: u64,
    cols: u64,
    mean: f64,
    lengths: Lengths,
    places: Places,
}

/// Streams of the seed: rows have those of their numbers, as in every kind, and lie below these.
const DRAW_STREAM: u64 = 1 << 62;
const CLUSTER_STREAM: u64 = 1 << 60;
const SMALL_STREAM: u64 = 1 << 63;
const SKETCH_STREAM: u64 = 3 << 62;

/// Between the two, their logarithms equally likely.
fn between(random: &mut Random, least: f64, most: f64) -> f64 {
    least * Random::power_of_two(random.unit() * Random::binary_logarithm(most / least))
}

/// How often something that happens with probability mean / (mean + 1) happens in a row.
fn geometric(mean: f64, random: &mut Random) -> u64 {
    let u = 1.0 - random.unit();
    (Random::binary_logarithm(u) / Random::binary_logarithm(mean / (mean + 1.0))) as u64
}

impl Drawn {
    /// Entries that the row draws; the first random numbers of its stream.
    fn length(&self, row: u64, random: &mut Random, scale: f64) -> u64 {
        let whole =
            |length: f64, random: &mut Random| length as u64 + u64::from(random.unit() < length.fract());
        let length = match self.lengths {
            Lengths::Regular | Lengths::OfPlaces => whole(self.mean, random),
            Lengths::Geometric => geometric(self.mean, random),
            Lengths::LogNormal(deviation) => {
                let exponent = deviation * random.normal() / std::f64::consts::LN_2;
                whole(scale * Random::power_of_two(exponent.clamp(-60.0, 60.0)), random)
            }
            Lengths::Pareto => whole(scale * random.pareto().min(self.rows as f64 / 20.0), random),
            Lengths::ManyEmpty(share) => {
                let length = geometric(self.mean / (1.0 - share), random);
                if random.unit() < share { 0 } else { length }
            }
            Lengths::FewDense { rows, share } => {
                let is_dense = row % self.rows.div_ceil(rows) == self.rows.div_ceil(rows) / 2;
                if is_dense { (share * self.cols as f64) as u64 } else { whole(self.mean, random) }
            }
        };
        length.min(self.cols)
    }

    /// What lengths of mean 1 are multiplied by.
    fn scale(&self, seed: u64) -> f64 {
        match self.lengths {
            Lengths::LogNormal(deviation) => {
                self.mean / Random::power_of_two(deviation * deviation / 2.0 / std::f64::consts::LN_2)
            }
            Lengths::Pareto => {
                let cut = self.rows as f64 / 20.0;
                let sum: f64 = (0..self.rows).map(|row| Random::new(seed, row).pareto().min(cut)).sum();
                self.mean * self.rows as f64 / sum
            }
            _ => 1.0,
        }
    }

    fn size(&self, seed: u64) -> Size {
        let scale = self.scale(seed);
        let of_row = |row| self.length(row, &mut Random::new(seed, row), scale);
        let entries = match self.places {
            // Rows of blocks have the length of the first.
            Places::Blocks { side, .. } => {
                let first = |row| (of_row(row).div_ceil(side) * side).min(self.cols);
                (0..self.rows).step_by(side as usize).map(|row| u128::from(first(row) * side)).sum()
            }
            Places::Mesh { .. } | Places::ShuffledMesh { .. } => u128::from(self.rows) * self.mean as u128,
            Places::Lines(_) => 3 * u128::from(self.rows),
            Places::Bounded { equations, .. } => {
                let of_equations: u128 = (0..equations).map(|row| u128::from(of_row(row).max(1))).sum();
                of_equations + u128::from(self.rows - equations)
            }
            Places::Nearest { degree, .. } => graphs::most_of_nearest(self.rows, degree),
            Places::Network(network) => network.most_entries(self.rows),
            _ => (0..self.rows).map(|row| u128::from(of_row(row))).sum(),
        };
        Size { rows: self.rows, cols: self.cols, entries }
    }

    fn pattern(self, seed: u64) -> Pattern {
        let scale = self.scale(seed);
        let order = match self.places {
            Places::ShuffledMesh { .. } => shuffled(self.rows, seed),
            _ => Arc::default(),
        };
        let lists = self.lists(seed, scale);
        Box::new(move |row, random, columns| match &lists {
            Some(lists) => columns.extend(lists.of(row)),
            None => self.row(row, random, scale, (seed, &order), columns),
        })
    }

    /// The columns of all rows, where one row depends on others.
    fn lists(&self, seed: u64, scale: f64) -> Option<Lists> {
        match self.places {
            Places::Nearest { degree, dimensions, in_order } => {
                Some(graphs::nearest(self.rows, degree, dimensions, in_order, seed))
            }
            Places::Network(network) => Some(network.lists(self.rows, seed)),
            Places::Web(web) => {
                Some(web.lists(self.rows, seed, |row, random| self.length(row, random, scale)))
            }
            _ => None,
        }
    }

    fn row(
        &self,
        row: u64,
        random: &mut Random,
        scale: f64,
        (seed, order): (u64, &Order),
        columns: &mut Vec<u32>,
    ) {
        let cols = self.cols;
        // The diagonal of a matrix that is not square leads from corner to corner.
        let diagonal = (u128::from(row) * u128::from(cols) / u128::from(self.rows)) as u64;
        let near = |random: &mut Random, at: u64, reach: u64| {
            let reach = reach.min(cols / 2);
            (at + cols - reach + random.below(2 * reach + 1)) % cols
        };
        let mut push = |column: u64| columns.push(column as u32);
        let length = self.length(row, random, scale);
        match self.places {
            Places::Anywhere => (0..length).for_each(|_| push(random.below(cols))),
            // No narrower than the row is long: columns that coincide are counted once.
            Places::Near(reach) => (0..length).for_each(|_| push(near(random, diagonal, reach.max(length)))),
            Places::NearAndFar(reach) => (0..length).for_each(|number| {
                push(if number % 2 == 0 { near(random, diagonal, reach) } else { random.below(cols) });
            }),
            Places::Left => (0..length).for_each(|_| {
                let u = random.unit();
                push(((cols as f64 * (u * u * u)) as u64).min(cols - 1));
            }),
            Places::FewColumns { columns: few, share } => (0..length).for_each(|_| {
                let full = random.unit() < share;
                push(if full { random.below(few) * cols / few } else { near(random, diagonal, 50) });
            }),
            Places::Band => (0..length).for_each(|number| push((diagonal + number) % cols)),
            Places::Blocks { side, reach } => {
                let first = row / side * side;
                let mut random = Random::new(seed, first);
                let blocks = self.length(first, &mut random, scale).div_ceil(side);
                for _ in 0..blocks {
                    let column = near(&mut random, first, reach.max(blocks * side)) / side * side;
                    (column..(column + side).min(cols)).for_each(&mut push);
                }
            }
            Places::Clusters { rows, columns: few } => {
                let cluster = Random::new(seed, CLUSTER_STREAM + row / rows);
                (0..length).for_each(|_| push(cluster.at(random.below(few)) % cols));
            }
            Places::Mesh { side, dimensions, diagonals } => around(row, side, dimensions, diagonals, push),
            Places::ShuffledMesh { side, dimensions, diagonals } => {
                let point = u64::from(order.points[row as usize]);
                around(point, side, dimensions, diagonals, |at| push(order.rows[at as usize].into()));
            }
            Places::Lines(apart) => {
                push(row);
                let to_the_right = [row + apart, row + 2 * apart].into_iter().take(length as usize - 1);
                to_the_right.filter(|&column| column < cols).for_each(push);
            }
            Places::Bounded { equations, .. } if row >= equations => push((row - equations) % cols),
            Places::Bounded { equations, reach } => {
                let at = (u128::from(row) * u128::from(cols) / u128::from(equations)) as u64;
                push(at);
                (1..length).for_each(|_| push(near(random, at, reach.max(length))));
            }
            // These have lists.
            Places::Nearest { .. } | Places::Web(_) | Places::Network(_) => {}
        }
    }
}

/// The matrix of a number and a seed, in one of the kinds.
type Draw = fn(u64, u64) -> Drawn;

fn size_of(draw: Draw, parameters: &[u64], seed: u64) -> Result<Size, String> {
    if parameters[0] >= DRAW_STREAM {
        return Err(format!("NUMBER is {}, {DRAW_STREAM} or more", parameters[0]));
    }
    Ok(draw(parameters[0], seed).size(seed))
}

pub(super) fn size(parameters: &[u64], seed: u64) -> Result<Size, String> {
    size_of(families::draw, parameters, seed)
}
pub(super) fn pattern(parameters: &[u64], seed: u64) -> Pattern {
    families::draw(parameters[0], seed).pattern(seed)
}

pub(super) fn small_size(parameters: &[u64], seed: u64) -> Result<Size, String> {
    size_of(families::draw_small, parameters, seed)
}
pub(super) fn small(parameters: &[u64], seed: u64) -> Pattern {
    families::draw_small(parameters[0], seed).pattern(seed)
}

pub(super) fn sketched_size(parameters: &[u64], seed: u64) -> Result<Size, String> {
    size_of(sketches::draw, parameters, seed)
}
pub(super) fn sketched(parameters: &[u64], seed: u64) -> Pattern {
    sketches::draw(parameters[0], seed).pattern(seed)
}

#[cfg(test)]
mod tests {
    use super::families::{FAMILIES, MOST_NONZEROS, draw, draw_small};
    use super::*;
    use crate::io::ReadOptions;
    use crate::io::synthetic::generate;
    use crate::matrix::{Coo, Csr, Duplicates};

    fn made(number: u64, seed: u64) -> Coo<f32> {
        made_of("drawn", number, seed)
    }

    fn made_of(kind: &str, number: u64, seed: u64) -> Coo<f32> {
        let options = ReadOptions { seed, ..ReadOptions::default() };
        generate(&format!("{kind}:{number}"), &options).unwrap().unwrap()
    }

    /// The smallest of a few of every family.
    fn smallest(family: u64) -> u64 {
        let numbers = (1..40).map(|turn| turn * FAMILIES + family);
        let entries = |&number: &u64| (draw(number, 0).rows as f64 * draw(number, 0).mean) as u64;
        numbers.min_by_key(entries).unwrap()
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn every_family_stays_within_what_it_said() {
        let drawn = (0..FAMILIES).map(|family| ("drawn", smallest(family), draw(smallest(family), 0)));
        let smaller = (1..=2 * FAMILIES).map(|number| ("small", number, draw_small(number, 0)));
        let sketched =
            (1..=6 * sketches::FAMILIES).map(|number| ("sketched", number, sketches::draw(number, 0)));
        let few = |(_, _, drawn): &(&str, u64, Drawn)| drawn.rows as f64 * drawn.mean < 5e4;
        for (kind, number, drawn) in drawn.chain(smaller).chain(sketched.filter(few)) {
            let (coo, size) = (made_of(kind, number, 0), drawn.size(0));
            assert_eq!((coo.rows() as u64, coo.cols() as u64), (size.rows, size.cols), "{drawn:?}");
            assert!(coo.nnz() as u128 <= size.entries, "{} of {}: {drawn:?}", coo.nnz(), size.entries);
            assert!(coo.nnz() as u128 * 3 >= size.entries, "{} of {}: {drawn:?}", coo.nnz(), size.entries);
            assert_eq!(Csr::from_coo(&coo, Duplicates::Sum).to_coo(), coo, "{drawn:?}");
        }
    }

    /// FNV-1a over shapes and the columns of the first rows.
    fn checksum(all: impl Iterator<Item = Drawn>) -> u64 {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        let mut add = |number: u64| hash = (hash ^ number).wrapping_mul(0x100_0000_01b3);
        for drawn in all {
            add(drawn.rows);
            add(drawn.cols);
            let rows = drawn.rows.min(100);
            let pattern = drawn.pattern(0);
            for row in 0..rows {
                let mut columns = Vec::new();
                pattern(row, &mut Random::new(0, row), &mut columns);
                columns.into_iter().for_each(|column| add(column.into()));
            }
        }
        hash
    }

    #[test]
    fn every_family_is_the_same_for_ever() {
        let drawn = (0..FAMILIES).map(|family| draw(smallest(family), 0));
        assert_eq!(checksum(drawn), 0xec5d404c46e3f92d);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn small_and_sketched_ones_are_too() {
        let smaller = checksum((1..=FAMILIES).map(|number| draw_small(number, 0)));
        let sketched = checksum((1..=sketches::FAMILIES).map(|number| sketches::draw(number, 0)));
        assert_eq!([smaller, sketched], [0x2b771bdc28a55653, 0xbfab2f3800d26f6]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn numbers_and_seeds_differ() {
        let refused = generate::<f32>("drawn:18446744073709551615", &ReadOptions::default()).unwrap();
        assert!(refused.unwrap_err().to_string().contains("NUMBER is 18446744073709551615"));
        assert_ne!(draw(1, 0), draw(17, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
        assert_eq!(made(smallest(1), 0), made(smallest(1), 0));
    }

    #[test]
    fn sizes_and_lengths_cover_what_there_is() {
        let all: Vec<Drawn> = (1..=320).map(|number| draw(number, 0)).collect();
        let share = |of: &dyn Fn(&Drawn) -> bool| all.iter().filter(|drawn| of(drawn)).count() as f64 / 320.0;
        for (least, most) in [(1e3, 1e4), (1e4, 1e5), (1e5, 1e6), (1e6, 1.01e7)] {
            assert!(share(&|drawn| (least..most).contains(&(drawn.rows as f64))) > 0.05, "{least} rows");
        }
        for (least, most) in [(0.5, 2.0), (2.0, 8.0), (8.0, 32.0), (32.0, 501.0)] {
            assert!(share(&|drawn| (least..most).contains(&drawn.mean)) > 0.1, "{least} nonzeros");
        }
        assert!(all.iter().all(|drawn| drawn.rows as f64 * drawn.mean <= 1.001 * MOST_NONZEROS));
    }

    #[test]
    fn a_shuffled_mesh_is_the_mesh_in_another_order() {
        let places = Places::Mesh { side: 5, dimensions: 2, diagonals: false };
        let mesh = Drawn { rows: 25, cols: 25, mean: 5.0, lengths: Lengths::OfPlaces, places };
        let places = Places::ShuffledMesh { side: 5, dimensions: 2, diagonals: false };
        let lengths = |drawn: Drawn| {
            let pattern = drawn.pattern(7);
            let mut lengths: Vec<usize> = (0..25)
                .map(|row| {
                    let mut columns = Vec::new();
                    pattern(row, &mut Random::new(7, row), &mut columns);
                    assert!(columns.contains(&(row as u32)), "the point itself");
                    columns.len()
                })
                .collect();
            lengths.sort_unstable();
            lengths
        };
        let (of_mesh, of_shuffled) = (lengths(mesh.clone()), lengths(Drawn { places, ..mesh }));
        assert_eq!(of_mesh, of_shuffled);
        assert_eq!((of_mesh[0], of_mesh[24], of_mesh.iter().sum::<usize>()), (3, 5, 105));
    }
}

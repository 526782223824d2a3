//! A synthetic matrix made by several, each some rows of it: the same entries as [`generate`](super::generate) makes, bit for bit.
//!
//! Rows do not depend on each other. Values do: they are one stream of normal numbers, made of pairs of uniform ones of which about
//! a fifth is thrown away. So pairs are counted first, in parts too ([`Values::count`]), and that is cheap beside making the numbers.

use crate::Scalar;
use crate::io::error::ReadError;
use crate::io::synthetic::{Kind, Pattern, Size, VALUES_STREAM, columns_of, kind_of};
use crate::matrix::Random;
use std::ops::Range;

/// A matrix that is to be made.
pub struct Parts {
    kind: &'static Kind,
    parameters: Vec<u64>,
    size: Size,
    seed: u64,
}

impl Parts {
    /// The matrix of that name; `None` when no kind is called so.
    pub fn of(name: &str, seed: u64) -> Option<Result<Self, ReadError>> {
        let kind = kind_of(name)?;
        let read = kind.read(name, seed);
        Some(read.map(|(parameters, size)| Parts { kind, parameters, size, seed }))
    }

    /// How many rows.
    pub fn rows(&self) -> u64 {
        self.size.rows
    }
    /// How many columns.
    pub fn cols(&self) -> u64 {
        self.size.cols
    }
    /// At least as many entries as there will be.
    pub fn most_entries(&self) -> u64 {
        u64::try_from(self.size.entries).unwrap_or(u64::MAX)
    }

    /// Where entries stand. Some kinds need a number for every row of the matrix to say that, or look at every row once.
    pub fn patterns(&self) -> Rows {
        Rows { pattern: (self.kind.pattern)(&self.parameters, self.seed), seed: self.seed }
    }

    /// What stands there.
    pub fn values(&self) -> Values {
        Values(Random::new(self.seed, VALUES_STREAM))
    }
}

/// Where entries stand, row by row.
pub struct Rows {
    pattern: Pattern,
    seed: u64,
}

impl Rows {
    /// Puts the columns of a row into `columns`, ascending, each once.
    pub fn columns(&self, row: u64, columns: &mut Vec<u32>) {
        columns_of(&self.pattern, self.seed, row, columns);
    }
}

/// The values of all entries, in their order.
pub struct Values(Random);

impl Values {
    /// How many of these pairs of random numbers make a value.
    pub fn count(&self, pairs: Range<u64>) -> u64 {
        pairs.map(|pair| u64::from(self.0.is_normal_pair(pair))).sum()
    }

    /// The values that are made of this pair and those behind it.
    pub fn from_pair<S: Scalar>(&self, pair: u64) -> impl Iterator<Item = S> {
        let mut random = self.0.starting_at(pair.wrapping_mul(2));
        std::iter::repeat_with(move || S::from_f64(random.normal()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::ReadOptions;
    use crate::io::synthetic::generate;

    #[test]
    fn parts_are_those_of_the_whole() {
        let options = ReadOptions { seed: 3, ..ReadOptions::default() };
        let whole = generate::<f64>("uniform:90x7", &options).unwrap().unwrap();
        let parts = Parts::of("uniform:90x7", 3).unwrap().unwrap();
        let (patterns, values, mut columns) = (parts.patterns(), parts.values(), Vec::new());
        assert!(parts.most_entries() >= whole.nnz() as u64);
        let mut entries = Vec::new();
        for row in 0..parts.rows() {
            patterns.columns(row, &mut columns);
            entries.extend(columns.iter().map(|&column| (row as u32, column)));
        }
        assert!(whole.entries().map(|(row, column, _)| (row, column)).eq(entries));
        // From every pair on: as many values are left out as are counted before it.
        for pair in [0, 1, 2, 77, 500] {
            let before = values.count(0..pair) as usize;
            let rest: Vec<f64> = values.from_pair(pair).take(whole.nnz() - before).collect();
            assert_eq!(rest, whole.values()[before..]);
        }
        assert!(Parts::of("stencil:3", 0).is_none() && Parts::of("band:4x5", 0).unwrap().is_err());
    }
}

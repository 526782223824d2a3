//! What the oracle says, in a form that can be compared without knowing the operation.

use crate::Scalar;
use crate::matrix::Dense;
use crate::matrix::Random;
use crate::precision::compiled_here;

/// How much of the answer the oracle computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Every element.
    Whole,
    /// A seeded choice of rows in full, and all of them together through a random projection (Freivalds):
    /// for when the whole would take too long.
    Sampled {
        /// How many rows.
        rows: usize,
        /// Which ones, and the weights of the projection.
        seed: u64,
    },
}

impl Extent {
    /// Which of `rows` rows are computed in full: different ones in rising order; `None` for all of them.
    pub(crate) fn listed_rows(self, rows: usize) -> Option<Vec<usize>> {
        let Extent::Sampled { rows: count, seed } = self else { return None };
        let mut random = Random::new(seed, 1);
        let mut chosen: Vec<usize> =
            (0..count.min(rows)).map(|_| random.below(rows as u64) as usize).collect();
        chosen.sort_unstable();
        chosen.dedup();
        Some(chosen)
    }
}

/// The serial f64 answer with what is needed to bound the error of another one.
///
/// Element (r, c) of a computed result may differ from `expected` by γₙ·`magnitude`, where n = `terms` of
/// row r and `magnitude` is Σ|a||x|.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reference {
    /// Facts that must be equal, not close: where the entries of a converted matrix stand.
    pub structure: Vec<u64>,
    /// Rows of the whole answer.
    pub rows: usize,
    /// Columns of the answer.
    pub cols: usize,
    /// Which rows are listed below; `None` for all of them.
    pub listed_rows: Option<Vec<usize>>,
    /// The listed rows, one after the other.
    pub expected: Vec<f64>,
    /// Σ|a||x| of each of these elements; 0 asks for equality.
    pub magnitude: Vec<f64>,
    /// Rounded operations behind each element of a listed row.
    pub terms: Vec<u64>,
    /// By what a term may be multiplied after it underflowed: |α|; 0 where nothing is scaled.
    pub amplification: f64,
    /// All rows at once, weighted: what a sampled answer adds.
    pub projection: Option<Projection>,
    /// Is a NaN an answer like any other (the mean of nothing), which the result must give too? If not, it is a sign that
    /// the oracle has none.
    pub nan_is_an_answer: bool,
}

/// Y·w for a random vector w (Freivalds): one number for each row. An error in a row shows unless the weights
/// happen to cancel it, or it hides below the bound of the whole row.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    /// w, one weight per column.
    pub weights: Vec<f64>,
    /// Y·w, computed as A·(X·w).
    pub expected: Vec<f64>,
    /// Σ over the columns of Σ|a||x|.
    pub magnitude: Vec<f64>,
    /// Rounded operations behind an element of each row.
    pub terms: Vec<u64>,
}

impl Projection {
    /// Weights between ½ and 1 with random signs: such as differ tell two swapped columns apart, which ±1 would not.
    pub(crate) fn weights(cols: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed, 2);
        let mut weight = || (0.5 + 0.5 * random.unit()) * if random.below(2) == 0 { 1.0 } else { -1.0 };
        (0..cols).map(|_| weight()).collect()
    }
}

/// A result that can be laid beside a [`Reference`].
pub trait Observed: Sync {
    /// Facts that must be equal; empty for dense results.
    fn structure(&self) -> Vec<u64>;
    /// Rows.
    fn rows(&self) -> usize;
    /// Columns.
    fn cols(&self) -> usize;
    /// Copies row `row` into `into`, which has [`cols`](Self::cols) elements.
    fn copy_row(&self, row: usize, into: &mut [f64]);
    /// Did the variant set out to compute this row? What it did not is not compared.
    fn row_is_computed(&self, _row: usize) -> bool {
        true
    }
    /// Says in words what was computed, where that is not all.
    fn partial(&self) -> Option<&'static str> {
        None
    }
    /// Says in words where element (`row`, `col`) is.
    fn place(&self, row: usize, col: usize) -> String {
        format!("row {row}, column {col}")
    }
    /// Says in words what a number of the structure means.
    fn fact(&self, fact: u64) -> String {
        fact.to_string()
    }
}

impl<S: Scalar> Observed for Dense<S> {
    fn structure(&self) -> Vec<u64> {
        Vec::new()
    }
    fn rows(&self) -> usize {
        Dense::rows(self)
    }
    fn cols(&self) -> usize {
        Dense::cols(self)
    }
    fn copy_row(&self, row: usize, into: &mut [f64]) {
        type Copy<S> = fn(&[S], &mut [f64]);
        compiled_here!(S, copy_as_f64, Copy)(self.view().row(row), into);
    }
}

fn copy_as_f64<S: Scalar>(from: &[S], into: &mut [f64]) {
    into.iter_mut().zip(from).for_each(|(to, from)| *to = from.to_f64());
}

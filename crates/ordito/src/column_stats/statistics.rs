//! What comes out, and how the statistics of two parts become those of the whole.

use crate::op::Observed;

/// Statistics that a variant computes: mean, variance, least and greatest element, each a row of its results; the first
/// rungs of the ladder compute the mean only.
pub(crate) const ALL_STATISTICS: usize = 4;
pub(crate) const MEAN_ONLY: usize = 1;

/// Statistics of every column. A column with a NaN has NaN everywhere.
///
/// ```
/// use ordito::column_stats::{Statistics, column_stats};
/// use ordito::{Dense, Machine};
/// let machine = Machine::all_cores()?;
/// let part = |numbers: Vec<f32>| column_stats(Dense::from_rows(numbers.len(), 1, numbers)?.view(), &machine)
///     .map_err(Box::<dyn std::error::Error>::from);
/// let mut all = Statistics::empty(1); // a file that does not fit into memory, block after block
/// all.merge(&part(vec![1.0, 2.0])?);
/// all.merge(&part(vec![6.0])?);
/// assert_eq!((all.count, all.mean[0], all.variance[0]), (3, 3.0, 7.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Rows.
    pub count: u64,
    /// Mean of each column; NaN of no rows.
    pub mean: Vec<f64>,
    /// Sum of squared differences from the mean over n − 1; NaN of fewer than two rows. Empty, as are the next two, where
    /// a variant computes the mean only.
    pub variance: Vec<f64>,
    /// Least element; NaN of no rows.
    pub min: Vec<f64>,
    /// Greatest element; NaN of no rows.
    pub max: Vec<f64>,
}

impl Statistics {
    /// Of no rows.
    pub fn empty(cols: usize) -> Self {
        Statistics::from_rows(0, &vec![f64::NAN; ALL_STATISTICS * cols], ALL_STATISTICS)
    }

    /// Out of `statistics` rows of results, one after the other.
    pub(crate) fn from_rows(count: u64, results: &[f64], statistics: usize) -> Self {
        let cols = results.len() / statistics;
        let row =
            |row: usize| if row < statistics { results[row * cols..][..cols].to_vec() } else { Vec::new() };
        Statistics { count, mean: row(0), variance: row(1), min: row(2), max: row(3) }
    }

    /// Takes in the statistics of further rows (Chan, Golub and LeVeque 1979). The same parts in the same order give the
    /// same bits. What one of the two does not have, the result does not have either.
    ///
    /// # Panics
    /// When the two have different numbers of columns.
    pub fn merge(&mut self, other: &Statistics) {
        assert_eq!(self.mean.len(), other.mean.len(), "statistics of different numbers of columns");
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            return self.clone_from(other);
        }
        let (mine, theirs) = (self.count as f64, other.count as f64);
        let total = mine + theirs;
        // Weights first: a sum of squares may overflow where the variance does not.
        let part = |count: f64, variance: f64| {
            if count < 2.0 { 0.0 } else { variance * ((count - 1.0) / (total - 1.0)) }
        };
        // The variance first: it needs the mean as it was.
        let means = self.mean.iter().zip(&other.mean);
        for ((variance, &their_variance), (mean, their_mean)) in
            self.variance.iter_mut().zip(&other.variance).zip(means)
        {
            let apart = their_mean - mean;
            let between = apart * (apart * (mine * theirs / total / (total - 1.0)));
            *variance = part(mine, *variance) + part(theirs, their_variance) + between;
        }
        for (mean, their_mean) in self.mean.iter_mut().zip(&other.mean) {
            let apart = their_mean - *mean;
            *mean = match apart.is_finite() {
                true => *mean + apart * (theirs / total),
                false => *mean * (mine / total) + their_mean * (theirs / total),
            };
        }
        for (min, &theirs) in self.min.iter_mut().zip(&other.min) {
            *min = if theirs < *min || theirs.is_nan() { theirs } else { *min };
        }
        for (max, &theirs) in self.max.iter_mut().zip(&other.max) {
            *max = if theirs > *max || theirs.is_nan() { theirs } else { *max };
        }
        self.variance.truncate(other.variance.len());
        self.min.truncate(other.min.len());
        self.max.truncate(other.max.len());
        self.count += other.count;
    }

    /// Names and values, in the order in which they are compared.
    pub fn named(&self) -> [(&'static str, &[f64]); ALL_STATISTICS] {
        [("mean", &self.mean), ("variance", &self.variance), ("min", &self.min), ("max", &self.max)]
    }
}

/// A row for each statistic.
impl Observed for Statistics {
    fn structure(&self) -> Vec<u64> {
        Vec::new()
    }
    fn rows(&self) -> usize {
        ALL_STATISTICS
    }
    fn cols(&self) -> usize {
        self.mean.len()
    }
    fn copy_row(&self, row: usize, into: &mut [f64]) {
        into.copy_from_slice(self.named()[row].1);
    }
    fn row_is_computed(&self, row: usize) -> bool {
        self.named()[row].1.len() == self.mean.len()
    }
    fn partial(&self) -> Option<&'static str> {
        let computed = (0..ALL_STATISTICS).filter(|&row| self.row_is_computed(row)).count();
        (computed == MEAN_ONLY).then_some("mean only")
    }
    fn place(&self, row: usize, col: usize) -> String {
        format!("{} of column {col}", self.named()[row].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[f64]) -> Statistics {
        let n = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / n;
        let variance = numbers.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
        let min = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let max = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Statistics::from_rows(numbers.len() as u64, &[mean, variance, min, max], 4)
    }

    #[test]
    fn parts_merge_to_the_whole() {
        let numbers: Vec<f64> = (0..100).map(|i| 30_000.0 + f64::from(i * 37 % 11)).collect();
        let whole = of(&numbers);
        for cut in [0, 1, 2, 50, 99, 100] {
            let mut merged = Statistics::empty(1);
            merged.merge(&of(&numbers[..cut]));
            merged.merge(&of(&numbers[cut..]));
            assert_eq!((merged.count, merged.min[0], merged.max[0]), (100, whole.min[0], whole.max[0]));
            assert!((merged.mean[0] - whole.mean[0]).abs() < 1e-11, "cut at {cut}");
            assert!((merged.variance[0] - whole.variance[0]).abs() < 1e-9, "cut at {cut}");
        }
    }

    #[test]
    fn parts_of_large_numbers_merge_without_overflow() {
        let merged = |parts: &[&[f64]]| {
            let mut all = Statistics::empty(1);
            parts.iter().for_each(|part| all.merge(&of(part)));
            (all.mean[0], all.variance[0])
        };
        assert_eq!(merged(&[&[1e308], &[-1e308]]), (0.0, f64::INFINITY));
        assert_eq!(merged(&[&[f64::INFINITY], &[1.0]]).0, f64::INFINITY);
        // 10⁶ times the same, and one that is 2·10¹⁵⁴ away: the variance is about 4·10³⁰².
        let mut many = Statistics::from_rows(1_000_000, &[0.0, 0.0, 0.0, 0.0], 4);
        many.merge(&of(&[2e154]));
        assert!((many.variance[0] / 4e302 - 1.0).abs() < 1e-5, "{many:?}");
    }

    #[test]
    fn a_nan_stays_whichever_side_it_comes_from() {
        let (numbers, nan) = (of(&[1.0, 2.0]), Statistics::from_rows(2, &[f64::NAN; 4], 4));
        for (mut first, second) in [(numbers.clone(), &nan), (nan.clone(), &numbers)] {
            first.merge(second);
            assert!(first.named().iter().all(|(_, values)| values[0].is_nan()), "{first:?}");
        }
    }

    #[test]
    fn a_mean_alone_stays_alone() {
        let alone = Statistics::from_rows(2, &[5.0], MEAN_ONLY);
        assert_eq!((alone.partial(), of(&[1.0]).partial()), (Some("mean only"), None));
        assert!(alone.row_is_computed(0) && !alone.row_is_computed(1));
        let mut both = of(&[1.0, 1.0]);
        both.merge(&alone);
        assert_eq!((both.count, both.mean, both.variance.len()), (4, vec![3.0], 0));
        assert_eq!(Statistics::empty(0).partial(), None);
    }
}

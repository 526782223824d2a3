//! Is a result right? NaN-safe comparison against the oracle, with a verdict from a rigorous bound.
//!
//! A sum of n rounded products differs from the exact one by at most γₙ·Σ|a||x|, γₙ = n·u / (1 − n·u), whatever the
//! order of the additions (Higham, *Accuracy and Stability of Numerical Algorithms*, 3.1). The oracle itself is
//! such a sum in f64, so its own γₙ is allowed for too. Nothing here knows which operation it judges.

mod dump;
mod precision;
mod save;
mod tally;

pub use crate::check::dump::{DumpError, dump};
pub use crate::check::precision::{NoBound, Precision, Sum};
pub use crate::check::save::Save;

use crate::check::tally::Tally;
use ordito::op::{Observed, Reference};
use rayon::prelude::*;

/// What a comparison found.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// The judgement.
    pub verdict: Verdict,
    /// Largest relative error of an element. Infinite where a number stands that must be 0.
    pub max_rel_err: f64,
    /// Mean relative error of all compared elements.
    pub mean_rel_err: f64,
    /// Largest error in units of what the bound allows: above 1 is wrong.
    pub bound_ratio: f64,
    /// Elements that were compared one by one.
    pub compared: usize,
    /// Only some rows were compared element by element, the rest through a projection.
    pub sampled: bool,
    /// What was computed and compared, in words, where that is not all.
    pub partial: Option<&'static str>,
}

/// Right, wrong, or not to be told.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Every element is within its bound.
    Passed,
    /// At least one is not; the sentence names the worst.
    Incorrect(String),
    /// The oracle has no finite answer (the operands hold infinities or NaN), or no bound holds (a sum that is too
    /// long for its precision, terms that may overflow).
    NotVerified(String),
}

/// Lays `output` beside `reference`. `error_factor` is the variant's own constant on the bound.
///
/// ```
/// use ordito::Dense;
/// use ordito::op::Reference;
/// use ordito_bench::check::{Precision, Verdict, compare};
/// let reference = Reference {
///     rows: 1, cols: 2, expected: vec![1.0, 2.0], magnitude: vec![1.0, 2.0], terms: vec![3], ..Default::default()
/// };
/// let close = Dense::from_rows(1, 2, vec![1.0 + 2.0 * f64::EPSILON, 2.0])?;
/// assert_eq!(compare(&reference, &close, Precision::of::<f64>(), 1.0).verdict, Verdict::Passed);
/// let nan = Dense::from_rows(1, 2, vec![1.0, f64::NAN])?;
/// assert!(matches!(compare(&reference, &nan, Precision::of::<f64>(), 1.0).verdict, Verdict::Incorrect(_)));
/// # Ok::<(), ordito::FormatError>(())
/// ```
pub fn compare(
    reference: &Reference,
    output: &dyn Observed,
    precision: Precision,
    error_factor: f64,
) -> Findings {
    let mut tally = Tally::default();
    let partial = output.partial();
    let fault = shape_fault(reference, output).or_else(|| structure_fault(reference, output));
    if let Some(fault) = fault.or_else(|| nothing_computed(reference, output)) {
        return Findings { partial, ..tally.findings(Verdict::Incorrect(fault), reference) };
    }
    let mut found = vec![0.0; reference.cols];
    let listed = reference.listed_rows.as_deref();
    for (at, &terms) in reference.terms.iter().enumerate() {
        let row = listed.map_or(at, |listed| listed[at]);
        if !output.row_is_computed(row) {
            continue;
        }
        output.copy_row(row, &mut found);
        for (col, &found) in found.iter().enumerate() {
            let i = at * reference.cols + col;
            let (expected, magnitude) = (reference.expected[i], reference.magnitude[i]);
            // Where nothing is computed, only copied, a NaN is right if it is the same one.
            if terms == 0 && expected.to_bits() == found.to_bits() {
                tally.same();
                continue;
            }
            if reference.nan_is_an_answer && expected.is_nan() {
                tally.nan(found, || output.place(row, col));
                continue;
            }
            let amplification = reference.amplification;
            let sum = Sum { elements: 1, terms, oracle_terms: terms, magnitude, amplification };
            let bound = precision.bound(sum, error_factor);
            tally.element(expected, found, magnitude, bound, || output.place(row, col));
        }
    }
    if let Some(projection) = &reference.projection {
        // All of the result is read: by all threads.
        let weigh = |found: &mut Vec<f64>, row: usize| -> f64 {
            output.copy_row(row, found);
            found.iter().zip(&projection.weights).map(|(y, w)| y * w).sum()
        };
        let rows = (0..reference.rows).into_par_iter();
        let weighted: Vec<f64> = rows.map_init(|| vec![0.0; reference.cols], weigh).collect();
        for (row, weighted) in weighted.into_iter().enumerate() {
            let sum = Sum {
                elements: reference.cols as u64,
                terms: projection.terms[row],
                // Both sides weigh every column, in f64.
                oracle_terms: projection.terms[row] + 2 * reference.cols as u64 + 2,
                magnitude: projection.magnitude[row],
                amplification: reference.amplification,
            };
            let bound = precision.bound(sum, error_factor);
            tally.judge(projection.expected[row], weighted, bound, || {
                format!("row {row}, summed up with random weights")
            });
        }
    }
    let verdict = tally.verdict();
    Findings { partial, ..tally.findings(verdict, reference) }
}

/// A variant may leave rows out, but not all of them.
fn nothing_computed(reference: &Reference, output: &dyn Observed) -> Option<String> {
    let nothing = reference.rows > 0
        && reference.structure.is_empty()
        && !(0..reference.rows).any(|row| output.row_is_computed(row));
    nothing.then(|| "nothing was computed".into())
}

fn shape_fault(reference: &Reference, output: &dyn Observed) -> Option<String> {
    let (expected, found) = ((reference.rows, reference.cols), (output.rows(), output.cols()));
    // Entries of a converted matrix are compared as a structure, which says more than a count.
    (reference.structure.is_empty() && expected != found)
        .then(|| format!("the result is {}×{}, {}×{} expected", found.0, found.1, expected.0, expected.1))
}

fn structure_fault(reference: &Reference, output: &dyn Observed) -> Option<String> {
    let found = output.structure();
    let expected = &reference.structure;
    let differs = expected.iter().zip(&found).position(|(expected, found)| expected != found);
    match differs {
        Some(at) => Some(format!(
            "entry {at} stands at {}, {} expected",
            output.fact(found[at]),
            output.fact(expected[at])
        )),
        None if expected.len() != found.len() => {
            Some(format!("the result has {} entries, {} expected", found.len(), expected.len()))
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ordito::matrix::Dense;
    use ordito::op::Projection;

    fn judge_f64(expected: Vec<f64>, magnitude: Vec<f64>, found: Vec<f64>) -> Findings {
        let cols = expected.len();
        let reference =
            Reference { rows: 1, cols, expected, magnitude, terms: vec![4], ..Default::default() };
        let found = Dense::from_rows(1, found.len(), found).unwrap();
        compare(&reference, &found, Precision::of::<f64>(), 1.0)
    }

    #[test]
    fn nothing_but_numbers_within_the_bound_passes() {
        let passes = |found: f64| judge_f64(vec![1.0], vec![1.0], vec![found]).verdict == Verdict::Passed;
        assert!(passes(1.0) && passes(1.0 + 4.0 * f64::EPSILON) && passes(1.0 - 2.0 * f64::EPSILON));
        assert!(!passes(1.0 + 6.0 * f64::EPSILON));
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1.1] {
            assert!(!passes(wrong), "{wrong} passed");
        }
    }

    #[test]
    fn cancellation_is_judged_by_the_magnitude_of_the_terms() {
        // 1e8 − 1e8 + tiny: a relative error of 1 is within the bound, but no larger absolute one is.
        let findings = judge_f64(vec![1e-9], vec![2e8], vec![2e-9]);
        assert_eq!(findings.verdict, Verdict::Passed);
        assert!((findings.max_rel_err - 1.0).abs() < 1e-12);
        assert!(matches!(judge_f64(vec![1e-9], vec![2e8], vec![1e-6]).verdict, Verdict::Incorrect(_)));
    }

    #[test]
    fn zeros_are_compared_as_the_mission_says() {
        let findings = judge_f64(vec![0.0, 0.0], vec![4.0, 0.0], vec![1e-16, 0.0]);
        assert_eq!(findings.verdict, Verdict::Passed);
        assert_eq!(findings.max_rel_err, 2.5e-17);
        let findings = judge_f64(vec![0.0], vec![0.0], vec![1e-30]);
        assert!(matches!(findings.verdict, Verdict::Incorrect(_)), "an empty row must give 0");
        assert_eq!(findings.max_rel_err, f64::INFINITY);
    }

    #[test]
    fn the_worst_element_is_named() {
        let findings = judge_f64(vec![1.0, 1.0, 1.0], vec![1.0; 3], vec![1.5, f64::NAN, 3.0]);
        let Verdict::Incorrect(why) = findings.verdict else { panic!("{findings:?}") };
        assert!(why.starts_with("row 0, column 1: NaN found, 1e0 expected"), "{why}");
        assert_eq!(findings.bound_ratio, f64::INFINITY);
    }

    #[test]
    fn operands_without_a_finite_answer_cannot_be_judged() {
        assert_eq!(judge_f64(vec![f64::INFINITY], vec![1.0], vec![f64::INFINITY]).verdict, Verdict::Passed);
        for expected in [f64::NAN, f64::INFINITY] {
            let verdict = judge_f64(vec![expected], vec![1.0], vec![1.0]).verdict;
            assert!(matches!(verdict, Verdict::NotVerified(_)), "{verdict:?}");
        }
    }

    #[test]
    fn where_no_bound_holds_nothing_passes_but_equality() {
        let judge = |magnitude: f64, terms: u64, found: f32| {
            let reference = Reference {
                rows: 1,
                cols: 1,
                expected: vec![1.0],
                magnitude: vec![magnitude],
                terms: vec![terms],
                ..Default::default()
            };
            let found = Dense::from_rows(1, 1, vec![found]).unwrap();
            compare(&reference, &found, Precision::of::<f32>(), 1.0).verdict
        };
        for (magnitude, terms) in [(1.0, 1 << 24), (1e39, 4)] {
            assert_eq!(judge(magnitude, terms, 1.0), Verdict::Passed);
            assert!(matches!(judge(magnitude, terms, 1e30), Verdict::NotVerified(_)));
            assert!(matches!(judge(magnitude, terms, f32::INFINITY), Verdict::NotVerified(_)));
        }
        // inf − inf is NaN where partial sums overflow; a long sum of finite terms has no such excuse.
        assert!(matches!(judge(1e39, 4, f32::NAN), Verdict::NotVerified(_)));
        assert!(matches!(judge(1.0, 1 << 24, f32::NAN), Verdict::Incorrect(_)));
    }

    #[test]
    fn what_is_only_copied_must_be_the_same_bits() {
        let copied = |found: f64| {
            let (expected, magnitude) = (vec![f64::NAN], vec![0.0]);
            let reference =
                Reference { rows: 1, cols: 1, expected, magnitude, terms: vec![0], ..Default::default() };
            let found = Dense::from_rows(1, 1, vec![found]).unwrap();
            compare(&reference, &found, Precision::of::<f64>(), 1.0).verdict
        };
        assert_eq!(copied(f64::NAN), Verdict::Passed);
        assert_ne!(copied(1.0), Verdict::Passed);
    }

    #[test]
    fn where_nan_is_the_answer_nothing_else_is() {
        let judge = |found: f64| {
            let (expected, magnitude) = (vec![f64::NAN], vec![f64::NAN]);
            let terms = vec![4];
            let reference = Reference {
                rows: 1,
                cols: 1,
                expected,
                magnitude,
                terms,
                nan_is_an_answer: true,
                ..Default::default()
            };
            compare(&reference, &Dense::from_rows(1, 1, vec![found]).unwrap(), Precision::of::<f64>(), 1.0)
        };
        assert_eq!(judge(f64::NAN).verdict, Verdict::Passed);
        assert_eq!(judge(-f64::NAN).verdict, Verdict::Passed, "whatever its sign");
        for wrong in [0.0, 1.0, f64::INFINITY] {
            assert!(matches!(judge(wrong).verdict, Verdict::Incorrect(_)), "{wrong}");
        }
    }

    /// Two rows, of which some are computed.
    struct Partly(&'static [usize]);

    impl Observed for Partly {
        fn structure(&self) -> Vec<u64> {
            Vec::new()
        }
        fn rows(&self) -> usize {
            2
        }
        fn cols(&self) -> usize {
            1
        }
        fn copy_row(&self, _: usize, into: &mut [f64]) {
            into.fill(1.0);
        }
        fn row_is_computed(&self, row: usize) -> bool {
            self.0.contains(&row)
        }
        fn partial(&self) -> Option<&'static str> {
            Some("a part")
        }
    }

    #[test]
    fn what_is_not_claimed_is_not_compared_but_something_must_be() {
        let judge = |computed| {
            let (expected, magnitude) = (vec![1.0, 2.0], vec![1.0, 2.0]);
            let reference =
                Reference { rows: 2, cols: 1, expected, magnitude, terms: vec![4, 4], ..Default::default() };
            compare(&reference, &Partly(computed), Precision::of::<f64>(), 1.0)
        };
        let first = judge(&[0]);
        assert_eq!((first.verdict, first.compared, first.partial), (Verdict::Passed, 1, Some("a part")));
        assert!(matches!(judge(&[1]).verdict, Verdict::Incorrect(_)));
        assert!(matches!(judge(&[0, 1]).verdict, Verdict::Incorrect(_)));
        assert_eq!(judge(&[]).verdict, Verdict::Incorrect("nothing was computed".into()));
    }

    #[test]
    fn wrong_shapes_are_incorrect() {
        let verdict = judge_f64(vec![1.0, 2.0], vec![1.0, 2.0], vec![1.0]).verdict;
        assert_eq!(verdict, Verdict::Incorrect("the result is 1×1, 1×2 expected".into()));
    }

    #[test]
    fn a_projection_sees_errors_in_rows_that_are_not_listed() {
        let projection = Projection {
            weights: vec![1.0, -1.0],
            expected: vec![-1.0, -1.0],
            magnitude: vec![3.0, 7.0],
            terms: vec![4, 4],
        };
        let reference = Reference {
            rows: 2,
            cols: 2,
            listed_rows: Some(vec![0]),
            expected: vec![1.0, 2.0],
            magnitude: vec![1.0, 2.0],
            terms: vec![2],
            projection: Some(projection),
            ..Default::default()
        };
        let judge = |last: f64| {
            let found = Dense::from_rows(2, 2, vec![1.0, 2.0, 3.0, last]).unwrap();
            compare(&reference, &found, Precision::of::<f64>(), 1.0)
        };
        assert_eq!(judge(4.0).verdict, Verdict::Passed);
        assert!(judge(4.0).sampled && judge(4.0).compared == 2);
        assert!(matches!(judge(4.1).verdict, Verdict::Incorrect(_)));
        assert!(matches!(judge(f64::NAN).verdict, Verdict::Incorrect(_)));
    }
}

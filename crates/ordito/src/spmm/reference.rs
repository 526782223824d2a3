//! The serial answer in f64: one loop over the triplets, with Σ|a||x| beside it for the error bound.

use crate::Scalar;
use crate::machine::{Interrupt, Interrupted};
use crate::op::{Extent, Projection, Reference};
use crate::precision::compiled_here;
use crate::spmm::product::{Inputs, Subject};

/// αAX + βY in f64, in full or sampled.
pub(crate) fn oracle<S: Scalar>(
    subject: &Subject<S>,
    inputs: &Inputs<S>,
    extent: Extent,
    interrupt: &Interrupt,
) -> Result<Reference, Interrupted> {
    type Compute<S> = fn(&Subject<S>, &Inputs<S>, Extent, &Interrupt) -> Result<Reference, Interrupted>;
    compiled_here!(S, computed, Compute)(subject, inputs, extent, interrupt)
}

fn computed<S: Scalar>(
    subject: &Subject<S>,
    inputs: &Inputs<S>,
    extent: Extent,
    interrupt: &Interrupt,
) -> Result<Reference, Interrupted> {
    let (rows, cols) = (subject.a.rows(), subject.k);
    let terms = terms(subject, inputs, interrupt);
    let listed_rows = extent.listed_rows(rows);
    let mut answer = Answer::new(rows, cols, listed_rows.as_deref());
    let add = |row, col, value| answer.add(row, value, inputs.x.view().row(col));
    for_each_entry(subject, inputs, interrupt, add);
    interrupt.check()?;
    answer.finish(inputs);

    let projection = match extent {
        Extent::Whole => None,
        Extent::Sampled { seed, .. } => Some(project(subject, inputs, terms.clone(), seed, interrupt)),
    };
    interrupt.check()?;
    let terms = match &listed_rows {
        None => terms,
        Some(listed) => listed.iter().map(|&row| terms[row]).collect(),
    };
    let (expected, magnitude) = (answer.expected, answer.magnitude);
    let amplification = inputs.alpha.to_f64().abs();
    let structure = Vec::new();
    Ok(Reference {
        structure,
        rows,
        cols,
        listed_rows,
        expected,
        magnitude,
        terms,
        amplification,
        projection,
        nan_is_an_answer: false,
    })
}

/// Entries from one look at the interrupt to the next: a second at most, with a million columns of X.
const ENTRIES_BETWEEN_LOOKS: usize = 1024;

/// Every entry of A once, unless it is interrupted: as it was read where that is known, else from CSR. None where α is 0: A is not read then.
fn for_each_entry<S: Scalar>(
    subject: &Subject<S>,
    inputs: &Inputs<S>,
    interrupt: &Interrupt,
    mut entry: impl FnMut(usize, usize, f64),
) {
    if inputs.alpha == S::ZERO {
        return;
    }
    match &subject.triplets {
        Some(triplets) => {
            for (at, (row, col, a)) in triplets.entries().enumerate() {
                if at % ENTRIES_BETWEEN_LOOKS == 0 && interrupt.is_set() {
                    return;
                }
                entry(row as usize, col as usize, a.to_f64());
            }
        }
        None => {
            for row in interrupt.until_set(0..subject.a.rows()) {
                subject.a.view().row(row).for_each(|(col, a)| entry(row, col, a.to_f64()));
            }
        }
    }
}

/// Rounded operations behind an element of each row: a product and an addition per nonzero count once each,
/// fused or not; α and β where they do something.
fn terms<S: Scalar>(subject: &Subject<S>, inputs: &Inputs<S>, interrupt: &Interrupt) -> Vec<u64> {
    let scaling = u64::from(inputs.alpha != S::ONE) + 2 * u64::from(inputs.beta != S::ZERO);
    let mut terms = vec![scaling; subject.a.rows()];
    for_each_entry(subject, inputs, interrupt, |row, _, _| terms[row] += 1);
    terms
}

/// The rows that are computed, and where each of them is kept.
struct Answer {
    cols: usize,
    /// Place of every row of A in the arrays below; `None` when all are kept in order.
    place: Option<Vec<u32>>,
    listed: Vec<usize>,
    expected: Vec<f64>,
    magnitude: Vec<f64>,
}

const NOT_LISTED: u32 = u32::MAX;

impl Answer {
    fn new(rows: usize, cols: usize, listed: Option<&[usize]>) -> Self {
        let place = listed.map(|listed| {
            let mut place = vec![NOT_LISTED; rows];
            listed.iter().enumerate().for_each(|(at, &row)| place[row] = at as u32);
            place
        });
        let listed: Vec<usize> = listed.map_or_else(|| (0..rows).collect(), <[usize]>::to_vec);
        let zeros = vec![0.0; listed.len() * cols];
        Answer { cols, place, listed, expected: zeros.clone(), magnitude: zeros }
    }

    #[inline(always)]
    fn add<S: Scalar>(&mut self, row: usize, a: f64, x: &[S]) {
        let at = match &self.place {
            None => row,
            Some(place) if place[row] == NOT_LISTED => return,
            Some(place) => place[row] as usize,
        };
        let range = at * self.cols..(at + 1) * self.cols;
        let sums = self.expected[range.clone()].iter_mut().zip(&mut self.magnitude[range]);
        for ((sum, magnitude), x) in sums.zip(x) {
            let product = a * x.to_f64();
            *sum += product;
            *magnitude += product.abs();
        }
    }

    fn finish<S: Scalar>(&mut self, inputs: &Inputs<S>) {
        let (alpha, beta) = (inputs.alpha.to_f64(), inputs.beta.to_f64());
        for (at, &row) in self.listed.iter().enumerate() {
            let before = inputs.y.as_ref().map(|y| y.view().row(row));
            for k in 0..self.cols {
                let i = at * self.cols + k;
                self.expected[i] *= alpha;
                self.magnitude[i] *= alpha.abs();
                if let Some(before) = before.filter(|_| beta != 0.0) {
                    self.expected[i] += beta * before[k].to_f64();
                    self.magnitude[i] += (beta * before[k].to_f64()).abs();
                }
            }
        }
    }
}

/// αA(Xw) + βYw: as much work as a product with a single column.
fn project<S: Scalar>(
    subject: &Subject<S>,
    inputs: &Inputs<S>,
    terms: Vec<u64>,
    seed: u64,
    interrupt: &Interrupt,
) -> Projection {
    let (rows, cols) = (subject.a.rows(), subject.k);
    let weights = Projection::weights(cols, seed);
    let weigh = |row: &[S]| {
        let products = row.iter().zip(&weights).map(|(x, w)| x.to_f64() * w);
        products.fold((0.0, 0.0), |(sum, magnitude), p| (sum + p, magnitude + p.abs()))
    };
    let x: Vec<(f64, f64)> = (0..inputs.x.rows()).map(|row| weigh(inputs.x.view().row(row))).collect();
    let (mut expected, mut magnitude) = (vec![0.0; rows], vec![0.0; rows]);
    let (alpha, beta) = (inputs.alpha.to_f64(), inputs.beta.to_f64());
    for_each_entry(subject, inputs, interrupt, |row, col, a| {
        expected[row] += alpha * a * x[col].0;
        magnitude[row] += (alpha * a).abs() * x[col].1;
    });
    if let Some(before) = inputs.y.as_ref().filter(|_| beta != 0.0) {
        for row in 0..rows {
            let (sum, size) = weigh(before.view().row(row));
            expected[row] += beta * sum;
            magnitude[row] += beta.abs() * size;
        }
    }
    Projection { weights, expected, magnitude, terms }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Csr, Dense, Duplicates};
    use std::sync::Arc;

    /// The answer, which nobody interrupts.
    fn oracle(subject: &Subject<f64>, inputs: &Inputs<f64>, extent: Extent) -> Reference {
        super::oracle(subject, inputs, extent, &Interrupt::default()).unwrap()
    }

    fn example() -> (Subject<f64>, Inputs<f64>) {
        let coo = Coo::new(2, 2, vec![0, 0, 1], vec![0, 1, 1], vec![1.0, -2.0, 3.0]).unwrap();
        let a = Arc::new(Csr::from_coo(&coo, Duplicates::Keep));
        let x = Arc::new(Dense::from_rows(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap());
        let y = Arc::new(Dense::from_rows(2, 2, vec![1.0; 4]).unwrap());
        let inputs = Inputs { x, alpha: 2.0, beta: -1.0, y: Some(y) };
        (Subject { a, triplets: Some(Arc::new(coo)), k: 2 }, inputs)
    }

    #[test]
    fn small_product_by_hand() {
        let (subject, inputs) = example();
        let reference = oracle(&subject, &inputs, Extent::Whole);
        assert_eq!(reference.expected, [-11.0, -13.0, 17.0, 23.0]);
        assert_eq!(reference.magnitude, [15.0, 21.0, 19.0, 25.0]);
        assert_eq!(reference.terms, [5, 4]);
    }

    #[test]
    fn what_is_interrupted_has_no_answer() {
        let (subject, inputs) = example();
        let interrupt = Interrupt::default();
        interrupt.set();
        for extent in [Extent::Whole, Extent::Sampled { rows: 1, seed: 3 }] {
            assert_eq!(super::oracle(&subject, &inputs, extent, &interrupt), Err(Interrupted));
        }
    }

    #[test]
    fn without_alpha_nothing_of_a_and_x_is_left() {
        let (subject, mut inputs) = example();
        inputs.x = Arc::new(Dense::filled(2, 2, f64::NAN).unwrap());
        inputs.alpha = 0.0;
        assert_eq!(oracle(&subject, &inputs, Extent::Whole).expected, [-1.0; 4]);
        let projection = oracle(&subject, &inputs, Extent::Sampled { rows: 1, seed: 3 }).projection.unwrap();
        assert!(projection.expected.iter().all(|sum| sum.is_finite()));
    }

    #[test]
    fn projection_is_the_weighted_sum_of_the_whole() {
        let (subject, inputs) = example();
        let whole = oracle(&subject, &inputs, Extent::Whole);
        let sampled = oracle(&subject, &inputs, Extent::Sampled { rows: 1, seed: 3 });
        let listed = sampled.listed_rows.unwrap();
        assert_eq!(sampled.expected, whole.expected[listed[0] * 2..listed[0] * 2 + 2]);
        let projection = sampled.projection.unwrap();
        for row in 0..2 {
            let weighted: f64 =
                projection.weights.iter().zip(&whole.expected[row * 2..]).map(|(w, y)| w * y).sum();
            let sizes = whole.magnitude[row * 2..].iter().zip(&projection.weights).map(|(m, w)| m * w.abs());
            assert!((projection.expected[row] - weighted).abs() < 1e-12, "row {row}");
            assert!((projection.magnitude[row] - sizes.sum::<f64>()).abs() < 1e-12, "row {row}");
        }
    }
}

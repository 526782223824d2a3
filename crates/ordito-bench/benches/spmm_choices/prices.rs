//! Prices of what kernels do, fitted to times: of each kernel by itself, then of all together, so that the fastest is chosen.

use crate::regret::regret;
use crate::table::Sample;
use std::collections::BTreeMap;

/// Of each kernel, for every term.
pub(crate) type Prices = BTreeMap<String, Vec<f64>>;

/// The prices that such times tell.
pub(crate) fn prices(samples: &[&Sample]) -> Prices {
    let mut by_variant: BTreeMap<&str, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        by_variant.entry(sample.asked.variant).or_default().push(sample);
    }
    let alone =
        by_variant.iter().map(|(variant, samples)| (variant.to_string(), least_squares(samples))).collect();
    chosen_by(samples, &by_variant, &alone)
}

pub(crate) fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Rounds of fitting, each with the weights that the one before led to; an error from which on a sample counts for less.
const ROUNDS: usize = 8;
const OUTLIER: f64 = 0.15;

/// Prices that are not negative, with the least squares of relative errors.
fn least_squares(samples: &[&Sample]) -> Vec<f64> {
    let times: Vec<f64> = samples.iter().map(|sample| sample.middle_ns()).collect();
    let mut weights: Vec<f64> = times.iter().map(|ns| 1.0 / ns).collect();
    let mut prices = Vec::new();
    for _ in 0..ROUNDS {
        prices = not_negative(samples, &times, &weights);
        for ((weight, sample), ns) in weights.iter_mut().zip(samples).zip(&times) {
            let predicted = product(&sample.asked.terms, &prices).max(1.0);
            let error = (predicted / ns).ln() / OUTLIER;
            *weight = 1.0 / ((ns * predicted).sqrt() * (1.0 + error * error).sqrt());
        }
    }
    prices
}

/// By coordinate descent, each price in turn as good as the others allow.
fn not_negative(samples: &[&Sample], times: &[f64], weights: &[f64]) -> Vec<f64> {
    let count = samples.first().map_or(0, |sample| sample.asked.terms.len());
    let (mut gram, mut right) = (vec![vec![0.0; count]; count], vec![0.0; count]);
    for ((sample, ns), weight) in samples.iter().zip(times).zip(weights) {
        for i in 0..count {
            let scaled = sample.asked.terms[i] * weight * weight;
            right[i] += scaled * ns;
            (0..count).for_each(|j| gram[i][j] += scaled * sample.asked.terms[j]);
        }
    }
    let mut prices = vec![0.0; count];
    for _ in 0..20_000 {
        for i in 0..count {
            if gram[i][i] > 0.0 {
                let others = product(&gram[i], &prices) - gram[i][i] * prices[i];
                prices[i] = ((right[i] - others) / gram[i][i]).max(0.0);
            }
        }
    }
    prices
}

/// Steps downhill, the length of the first; what holds prices back.
const DOWNHILL: usize = 1500;
const FIRST_STEP: f64 = 0.03;
const HELD_BACK: f64 = 1e-3;
/// A price that is next to nothing can still rise: this part of the median time for the mean of its term.
const NEXT_TO_NOTHING: f64 = 1e-3;

/// Prices with the least of both: errors of predicted times, and time that is lost where not the fastest is chosen. That one kernel is
/// predicted too slow by as much as the others does no harm, which least squares of each by itself cannot know.
fn chosen_by(samples: &[&Sample], by_variant: &BTreeMap<&str, Vec<&Sample>>, alone: &Prices) -> Prices {
    let variants: Vec<&str> = by_variant.keys().copied().collect();
    let mut cases: BTreeMap<_, Vec<(usize, &Sample)>> = BTreeMap::new();
    for sample in samples {
        if let Ok(variant) = variants.binary_search(&sample.asked.variant) {
            cases.entry(&sample.case).or_default().push((variant, sample));
        }
    }
    let start: Vec<Vec<f64>> =
        by_variant.iter().map(|(variant, of)| logarithms(&alone[*variant], of)).collect();
    let mut at = start.clone();
    let mut descent = Descent::new(&at);
    for step in 0..DOWNHILL {
        let prices: Vec<Vec<f64>> =
            at.iter().map(|of| of.iter().map(|price| price.exp()).collect()).collect();
        let mut slopes: Vec<Vec<f64>> = (at.iter().zip(&start))
            .map(|(at, start)| at.iter().zip(start).map(|(at, start)| held_back(*at, *start)).collect())
            .collect();
        cases.values().for_each(|case| slopes_of(case, &prices, &mut slopes));
        descent.step(&mut at, &slopes, FIRST_STEP * (1.0 - step as f64 / DOWNHILL as f64));
    }
    let prices = at.iter().map(|of| of.iter().map(|price| price.exp()).collect());
    variants.iter().map(|variant| variant.to_string()).zip(prices).collect()
}

fn held_back(at: f64, start: f64) -> f64 {
    // A term that no sample has.
    if at.is_finite() { 2.0 * HELD_BACK * (at - start) } else { 0.0 }
}

/// Logarithms of prices.
fn logarithms(prices: &[f64], samples: &[&Sample]) -> Vec<f64> {
    let mut times: Vec<f64> = samples.iter().map(|sample| sample.middle_ns()).collect();
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    let of_term = |(term, price): (usize, &f64)| {
        let mean = samples.iter().map(|sample| sample.asked.terms[term]).sum::<f64>() / samples.len() as f64;
        if mean > 0.0 { price.max(NEXT_TO_NOTHING * median / mean).ln() } else { f64::NEG_INFINITY }
    };
    prices.iter().enumerate().map(of_term).collect()
}

/// Adds how what one product costs changes with the logarithms of prices.
fn slopes_of(case: &[(usize, &Sample)], prices: &[Vec<f64>], slopes: &mut [Vec<f64>]) {
    let predicted: Vec<f64> = case
        .iter()
        .map(|(variant, sample)| product(&sample.asked.terms, &prices[*variant]).max(1e-9))
        .collect();
    let times: Vec<f64> = case.iter().map(|(_, sample)| sample.middle_ns()).collect();
    for (at, ((variant, sample), regret)) in case.iter().zip(regret(&predicted, &times)).enumerate() {
        let slope = regret.of_error + regret.of_choice;
        for ((of_term, term), price) in
            slopes[*variant].iter_mut().zip(&sample.asked.terms).zip(&prices[*variant])
        {
            *of_term += slope * term * price / predicted[at];
        }
    }
}

/// Downhill with a step for each price that fits how its slope has changed (Adam).
struct Descent {
    means: Vec<Vec<f64>>,
    squares: Vec<Vec<f64>>,
    steps: i32,
}

impl Descent {
    fn new(like: &[Vec<f64>]) -> Self {
        let zeros: Vec<Vec<f64>> = like.iter().map(|of| vec![0.0; of.len()]).collect();
        Descent { means: zeros.clone(), squares: zeros, steps: 0 }
    }

    fn step(&mut self, at: &mut [Vec<f64>], slopes: &[Vec<f64>], length: f64) {
        const MEAN: f64 = 0.9;
        const SQUARE: f64 = 0.999;
        self.steps += 1;
        let begun = [MEAN, SQUARE].map(|kept| 1.0 - kept.powi(self.steps));
        for (variant, of) in at.iter_mut().enumerate() {
            for (term, price) in of.iter_mut().enumerate() {
                let slope = slopes[variant][term];
                let (mean, square) = (&mut self.means[variant][term], &mut self.squares[variant][term]);
                *mean = MEAN * *mean + (1.0 - MEAN) * slope;
                *square = SQUARE * *square + (1.0 - SQUARE) * slope * slope;
                *price -= length * (*mean / begun[0]) / ((*square / begun[1]).sqrt() + 1e-12);
            }
        }
    }
}

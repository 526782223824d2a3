//! Corrections of prices: small trees of questions, each fitted to what those before it leave wrong.

use crate::prices::{Prices, product};
use crate::regret::regret;
use crate::table::Sample;
use std::collections::BTreeMap;

/// All questions are asked; the answers, read as a binary number, lead to the logarithm of a factor.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub(crate) asks: Vec<(usize, f64)>,
    pub(crate) answers: Vec<f64>,
}

/// Of each kernel.
pub(crate) type Trees = BTreeMap<&'static str, Vec<Tree>>;

impl Tree {
    fn answer(&self, aspects: &[f64]) -> usize {
        self.asks
            .iter()
            .fold(0, |answers, &(aspect, limit)| 2 * answers + usize::from(aspects[aspect] > limit))
    }

    pub(crate) fn logarithm(&self, aspects: &[f64]) -> f64 {
        self.answers[self.answer(aspects)]
    }
}

/// Trees of a kernel, and questions of each, as the library has them.
const TREES: usize = 48;
const QUESTIONS: usize = 4;
/// How much of what is wrong a tree corrects, and at most; so many samples more would say that nothing is.
const CORRECTED: f64 = 0.2;
const MOST: f64 = 0.3;
const HELD_BACK: f64 = 10.0;
/// Limits that are tried of every aspect.
const LIMITS: usize = 24;
/// Times over the fastest, as a logarithm, from which on an error counts for less: such kernels are not chosen anyway.
const FAR_BEHIND: f64 = 0.3;

/// One after the other, those of all kernels in turn.
pub(crate) fn trees(samples: &[&Sample], prices: &Prices) -> Trees {
    let mut cases: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    let mut kernels: BTreeMap<&'static str, Vec<usize>> = BTreeMap::new();
    for (at, sample) in samples.iter().enumerate() {
        cases.entry(&sample.case).or_default().push(at);
        kernels.entry(sample.asked.variant).or_default().push(at);
    }
    let mut predicted: Vec<f64> =
        samples.iter().map(|sample| product(&sample.asked.terms, &prices[sample.asked.variant])).collect();
    let sorted: Vec<(&'static str, Sorted)> =
        kernels.into_iter().map(|(kernel, places)| (kernel, Sorted::new(samples, places))).collect();
    let mut grown = Trees::new();
    for _ in 0..TREES {
        let (mut slopes, mut weights) = (vec![0.0; samples.len()], vec![0.0; samples.len()]);
        for case in cases.values() {
            let of_case: Vec<f64> = case.iter().map(|&at| predicted[at]).collect();
            let times: Vec<f64> = case.iter().map(|&at| samples[at].middle_ns()).collect();
            for (&at, regret) in case.iter().zip(regret(&of_case, &times)) {
                weights[at] = 1.0 / (1.0 + (regret.lost / FAR_BEHIND).powi(2));
                slopes[at] = weights[at] * regret.of_error + regret.of_choice;
            }
        }
        for (kernel, sorted) in &sorted {
            let tree = sorted.grow(&slopes, &weights);
            for &at in &sorted.places {
                predicted[at] *= tree.logarithm(&samples[at].asked.aspects).exp();
            }
            grown.entry(kernel).or_default().push(tree);
        }
    }
    grown
}

/// As the table is printed.
fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

/// The samples of a kernel: for every aspect the limits that are tried, and between which of them each sample lies.
struct Sorted {
    places: Vec<usize>,
    limits: Vec<Vec<f64>>,
    between: Vec<Vec<usize>>,
}

impl Sorted {
    fn new(samples: &[&Sample], places: Vec<usize>) -> Self {
        let aspects = samples[places[0]].asked.aspects.len();
        let (mut limits, mut between) = (Vec::new(), Vec::new());
        for aspect in 0..aspects {
            let of_sample = |&at: &usize| samples[at].asked.aspects[aspect];
            let mut values: Vec<f64> = places.iter().map(of_sample).collect();
            values.sort_by(f64::total_cmp);
            let mut tried: Vec<f64> = (1..LIMITS)
                .filter_map(|part| {
                    // In the middle of what lies there and the next that is larger.
                    let here = values[part * (values.len() - 1) / LIMITS];
                    let next = values.get(values.partition_point(|&value| value <= here))?;
                    Some(rounded(f64::midpoint(here, *next)))
                })
                .collect();
            tried.dedup();
            between.push(
                places.iter().map(|at| tried.partition_point(|&limit| limit < of_sample(at))).collect(),
            );
            limits.push(tried);
        }
        Sorted { places, limits, between }
    }

    /// Question after question the one that tells most, whatever the answers before it.
    fn grow(&self, slopes: &[f64], weights: &[f64]) -> Tree {
        let mut leaves = vec![0; self.places.len()];
        let mut asks = Vec::new();
        for question in 0..QUESTIONS {
            let mut best = (-1.0, 0, 0);
            for aspect in 0..self.limits.len() {
                let (told, limit) = self.told(aspect, 1 << question, &leaves, slopes, weights);
                if told > best.0 {
                    best = (told, aspect, limit);
                }
            }
            let (_, aspect, limit) = best;
            asks.push((aspect, self.limits[aspect][limit]));
            for (leaf, &between) in leaves.iter_mut().zip(&self.between[aspect]) {
                *leaf = 2 * *leaf + usize::from(between > limit);
            }
        }
        let mut sums = vec![[0.0, HELD_BACK]; 1 << QUESTIONS];
        for (&leaf, &at) in leaves.iter().zip(&self.places) {
            sums[leaf][0] -= slopes[at];
            sums[leaf][1] += weights[at];
        }
        let answer = |[slope, weight]: [f64; 2]| rounded((CORRECTED * slope / weight).clamp(-MOST, MOST));
        Tree { asks, answers: sums.into_iter().map(answer).collect() }
    }

    /// How much the best limit of an aspect tells, and which one that is.
    fn told(
        &self,
        aspect: usize,
        leaves: usize,
        leaf_of: &[usize],
        slopes: &[f64],
        weights: &[f64],
    ) -> (f64, usize) {
        let count = self.limits[aspect].len() + 1;
        let mut sums = vec![[0.0; 2]; leaves * count];
        for ((&leaf, &between), &at) in leaf_of.iter().zip(&self.between[aspect]).zip(&self.places) {
            let sum = &mut sums[leaf * count + between];
            sum[0] += slopes[at];
            sum[1] += weights[at];
        }
        let mut told = vec![0.0; count - 1];
        for of_leaf in sums.chunks(count) {
            let all = of_leaf.iter().fold([0.0; 2], |all, sum| [all[0] + sum[0], all[1] + sum[1]]);
            let mut below = [0.0; 2];
            for (told, sum) in told.iter_mut().zip(of_leaf) {
                below = [below[0] + sum[0], below[1] + sum[1]];
                let above = [all[0] - below[0], all[1] - below[1]];
                *told += [below, above]
                    .iter()
                    .map(|[slope, weight]| slope * slope / (weight + HELD_BACK))
                    .sum::<f64>();
            }
        }
        let best = told.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        best.map_or((-1.0, 0), |(limit, told)| (told, limit))
    }
}

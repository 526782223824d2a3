//! Fits prices and corrections to times, and tells how good the choice is that they lead to.

use crate::options::Options;
use crate::prices::{Prices, prices, product};
use crate::table::{Case, Sample, Table};
use crate::trees::{Tree, Trees, trees};
use anyhow::Context;
use ordito::device::DeviceLimits;
use ordito::matrix::{Csr, Duplicates};
use ordito::spmm::KnownOnDevice;
use std::collections::BTreeMap;

/// Families of `drawn` and `small`, and of `sketched`, by number; families that are left out of a fit at a time are those that leave
/// the same rest by this.
const FAMILIES: u64 = 16;
const SKETCHED_FAMILIES: u64 = 12;
const FOLDS: u64 = 7;

fn fold(sample: &Sample) -> u64 {
    let (kind, number) = sample.case.0.split_once(':').unwrap_or_default();
    let number: u64 = number.parse().unwrap_or(0);
    let family = match kind {
        "sketched" => FAMILIES + number % SKETCHED_FAMILIES,
        _ => number % FAMILIES,
    };
    family % FOLDS
}

/// What times are predicted by.
struct Model {
    prices: Prices,
    trees: Trees,
}

impl Model {
    /// Of kernels where they are thought of.
    fn of(samples: &[&Sample]) -> Self {
        let samples: Vec<&Sample> = samples.iter().copied().filter(|sample| sample.asked.serves).collect();
        let prices = prices(&samples);
        let trees = trees(&samples, &prices);
        Model { prices, trees }
    }

    /// What has no price, or is not thought of, is never chosen.
    fn predicted_ns(&self, sample: &Sample) -> f64 {
        let asked = &sample.asked;
        let prices = self.prices.get(asked.variant).filter(|_| asked.serves);
        let Some(prices) = prices else { return f64::INFINITY };
        let of_tree = |tree: &Tree| tree.logarithm(&asked.aspects);
        let corrected: f64 = self.trees.get(asked.variant).into_iter().flatten().map(of_tree).sum();
        product(&asked.terms, prices) * corrected.exp()
    }
}

/// Fits, tells how good that is, and prints the tables of `select/device_costs.rs` and `select/device_trees.rs`.
pub(crate) fn fit(options: &Options) -> anyhow::Result<String> {
    let corpus = Table::read_all(options, &options.fit)?;
    let mut told = String::new();
    let left_out: Vec<Vec<Choice<'_>>> = std::thread::scope(|scope| {
        let without = |of_fold: u64| {
            let corpus = &corpus;
            scope.spawn(move || {
                let (out, rest): (Vec<&Sample>, Vec<&Sample>) =
                    corpus.samples.iter().partition(|sample| fold(sample) == of_fold);
                choices(out, &Model::of(&rest))
            })
        };
        let folds: Vec<_> = (0..FOLDS).map(without).collect();
        folds.into_iter().map(|fold| fold.join().unwrap_or_default()).collect()
    });
    let left_out: Vec<Choice<'_>> = left_out.into_iter().flatten().collect();
    told += &tell("families that had no part in the fit", &left_out, &corpus);
    let all: Vec<&Sample> = corpus.samples.iter().collect();
    let model = Model::of(&all);
    told += &tell("all that had", &choices(all, &model), &corpus);
    for judge in &options.judge {
        let judge_table = Table::read(options, judge)?;
        let choices = choices(judge_table.samples.iter().collect(), &model);
        told += &tell(&judge.display().to_string(), &choices, &judge_table);
        told += &worst(choices);
    }
    told += &format!("\n{}\n", KnownOnDevice::names_of_terms().join(" "));
    let in_order = KnownOnDevice::of(&Csr::<f64>::from_coo(&ordito::Coo::empty(0, 0)?, Duplicates::Sum));
    let in_order = in_order.asked::<f64>(&DeviceLimits::h200(), 1);
    for variant in in_order.iter().map(|asked| asked.variant) {
        let ns = model.prices.get(variant).with_context(|| format!("no times of {variant}"))?;
        told += &format!("{variant:26}[{}]\n", listed(ns.iter().map(|ns| format!("{ns:.4}"))));
    }
    for (place, name) in KnownOnDevice::names_of_aspects().iter().enumerate() {
        told += &format!("{place}: {name}{}", if (place + 1) % 6 == 0 { "\n" } else { ", " });
    }
    for variant in in_order.iter().map(|asked| asked.variant) {
        told += &format!("\n// {variant}\n");
        for Tree { asks, answers } in model.trees.get(variant).into_iter().flatten() {
            let asks = listed(asks.iter().map(|(aspect, limit)| format!("({aspect}, {limit:?})")));
            told += &format!(
                "Tree([{asks}], [{}]),\n",
                listed(answers.iter().map(|answer| format!("{answer:?}")))
            );
        }
    }
    Ok(told)
}

fn listed(all: impl Iterator<Item = String>) -> String {
    all.collect::<Vec<_>>().join(", ")
}

/// What predictions lead to.
struct Choice<'a> {
    case: &'a Case,
    chosen: &'a Sample,
    predicted_ns: f64,
    /// By the time between warm and empty.
    fastest: &'a Sample,
    /// The time of the fastest kernel over that of the chosen one, warm and with an empty cache.
    ratios: [f64; 2],
}

/// For every product.
fn choices<'a>(samples: Vec<&'a Sample>, model: &Model) -> Vec<Choice<'a>> {
    let mut cases: BTreeMap<&Case, Vec<&Sample>> = BTreeMap::new();
    samples.into_iter().for_each(|sample| cases.entry(&sample.case).or_default().push(sample));
    let predicted = |sample: &Sample| model.predicted_ns(sample);
    let of_case = |(case, samples): (&'a Case, Vec<&'a Sample>)| {
        let chosen = samples.iter().copied().min_by(|a, b| predicted(a).total_cmp(&predicted(b)))?;
        let fastest = samples.iter().copied().min_by(|a, b| a.middle_ns().total_cmp(&b.middle_ns()))?;
        let ratios = [0, 1].map(|kind| {
            samples.iter().map(|sample| sample.ns[kind]).fold(f64::INFINITY, f64::min) / chosen.ns[kind]
        });
        Some(Choice { case, chosen, predicted_ns: predicted(chosen), fastest, ratios })
    };
    cases.into_iter().filter_map(of_case).collect()
}

fn geometric_mean(numbers: &[f64]) -> f64 {
    (numbers.iter().map(|number| number.ln()).sum::<f64>() / numbers.len() as f64).exp()
}

fn tell(whose: &str, choices: &[Choice<'_>], table: &Table) -> String {
    let mut told = format!("{whose}: {} products\n", choices.len());
    for (kind, name) in ["warm", "empty cache"].into_iter().enumerate() {
        let ratios: Vec<f64> = choices.iter().map(|choice| choice.ratios[kind]).collect();
        let share = |least: f64| {
            100.0 * ratios.iter().filter(|&&ratio| ratio >= least).count() as f64 / ratios.len() as f64
        };
        told += &format!(
            "  {name:12} {:.3} of the fastest kernel, within 5 % {:.1} %, within 20 % {:.1} %, worst {:.2}\n",
            geometric_mean(&ratios),
            share(0.95),
            share(0.8),
            ratios.iter().copied().fold(f64::INFINITY, f64::min),
        );
        let over = |choice: &Choice<'_>| Some(table.peers.get(choice.case)?[kind] / choice.chosen.ns[kind]);
        let over: Vec<f64> = choices.iter().filter_map(over).collect();
        if !over.is_empty() {
            told += &format!(
                "               {:.3} over the fastest peer, behind in {} of {}, worst {:.2}\n",
                geometric_mean(&over),
                over.iter().filter(|&&ratio| ratio < 1.0).count(),
                over.len(),
                over.iter().copied().fold(f64::INFINITY, f64::min),
            );
        }
    }
    told
}

/// Products that are told one by one.
const TOLD: usize = 12;

fn worst(mut choices: Vec<Choice<'_>>) -> String {
    let lost = |choice: &Choice<'_>| choice.ratios[0] * choice.ratios[1];
    choices.sort_by(|a, b| lost(a).total_cmp(&lost(b)));
    let line = |choice: &Choice<'_>| {
        let Choice { case: (matrix, dtype, k), chosen, predicted_ns, fastest, ratios } = choice;
        format!(
            "  {:.2} {:.2}  {matrix} {dtype} k = {k}: {} {:.1} us, predicted {:.1}; {} {:.1} us\n",
            ratios[0],
            ratios[1],
            chosen.asked.variant,
            chosen.middle_ns() / 1e3,
            predicted_ns / 1e3,
            fastest.asked.variant,
            fastest.middle_ns() / 1e3
        )
    };
    choices.iter().take(TOLD).map(line).collect()
}

//! Fits prices to times, and tells how good the choice is that they lead to.

use crate::options::Options;
use crate::prices::{Prices, prices, product};
use crate::table::{Case, Sample, Table};
use anyhow::Context;
use ordito::device::DeviceLimits;
use ordito::matrix::{Csr, Duplicates};
use ordito::spmm::KnownOnDevice;
use std::collections::BTreeMap;
use std::path::Path;

/// Families of `drawn`, by number.
const FAMILIES: u64 = 16;

fn family(sample: &Sample) -> u64 {
    let number = sample.case.0.rsplit(':').next().and_then(|number| number.parse().ok());
    number.unwrap_or(0_u64) % FAMILIES
}

/// Fits, tells how good that is, and prints the table of `select/device_costs.rs`.
pub(crate) fn fit(options: &Options, folder: &Path) -> anyhow::Result<String> {
    let corpus = Table::read(options, folder)?;
    let mut told = String::new();
    let mut left_out = Vec::new();
    for of_family in 0..FAMILIES {
        let (out, rest): (Vec<&Sample>, Vec<&Sample>) =
            corpus.samples.iter().partition(|sample| family(sample) == of_family);
        left_out.extend(choices(out, &prices(&rest)));
    }
    told += &tell("families that had no part in the fit", &left_out, &corpus);
    let all: Vec<&Sample> = corpus.samples.iter().collect();
    let prices = prices(&all);
    told += &tell("all that had", &choices(all, &prices), &corpus);
    for judge in &options.judge {
        let judge_table = Table::read(options, judge)?;
        let choices = choices(judge_table.samples.iter().collect(), &prices);
        told += &tell(&judge.display().to_string(), &choices, &judge_table);
        told += &worst(choices);
    }
    told += &format!("\n{}\n", KnownOnDevice::names_of_terms().join(" "));
    let in_order = KnownOnDevice::of(&Csr::<f64>::from_coo(&ordito::Coo::empty(0, 0)?, Duplicates::Sum));
    for (variant, _) in in_order.terms::<f64>(&DeviceLimits::h200(), 1) {
        let ns = prices.get(variant).with_context(|| format!("no times of {variant}"))?;
        let ns: Vec<String> = ns.iter().map(|ns| format!("{ns:.4}")).collect();
        told += &format!("{variant:26}[{}]\n", ns.join(", "));
    }
    Ok(told)
}

/// What prices lead to.
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
fn choices<'a>(samples: Vec<&'a Sample>, prices: &Prices) -> Vec<Choice<'a>> {
    let mut cases: BTreeMap<&Case, Vec<&Sample>> = BTreeMap::new();
    samples.into_iter().for_each(|sample| cases.entry(&sample.case).or_default().push(sample));
    // What has no price is never chosen.
    let predicted = |sample: &Sample| {
        prices.get(&sample.variant).map_or(f64::INFINITY, |prices| product(&sample.terms, prices))
    };
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
            chosen.variant,
            chosen.middle_ns() / 1e3,
            predicted_ns / 1e3,
            fastest.variant,
            fastest.middle_ns() / 1e3
        )
    };
    choices.iter().take(TOLD).map(line).collect()
}

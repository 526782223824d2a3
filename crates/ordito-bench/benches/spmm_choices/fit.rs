//! Prices of what kernels do, fitted to times; and how good the choice is that they lead to.

use crate::options::{Dtype, Options};
use crate::rounded;
use anyhow::Context;
use ordito::Scalar;
use ordito::device::DeviceLimits;
use ordito::io::load;
use ordito::matrix::{Csr, Duplicates};
use ordito::spmm::KnownOnDevice;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A line of `times.csv`.
#[derive(Debug, Deserialize)]
struct Line {
    matrix: String,
    dtype: String,
    k: usize,
    variant: String,
    hot_ns: f64,
    flushed_ns: f64,
}

/// One kernel on one product: what it asks for, and how long it took, with a warm and with an empty cache.
struct Sample {
    /// The product it belongs to.
    case: (String, String, usize),
    variant: String,
    terms: Vec<f64>,
    ns: [f64; 2],
}

impl Sample {
    /// What is predicted: between the two.
    fn middle_ns(&self) -> f64 {
        (self.ns[0] * self.ns[1]).sqrt()
    }
    /// Matrices of a generator come in families.
    fn family(&self) -> u64 {
        let number = self.case.0.rsplit(':').next().and_then(|number| number.parse().ok());
        number.unwrap_or(0_u64) % FAMILIES
    }
}

/// Families of `drawn`.
const FAMILIES: u64 = 16;
type Prices = BTreeMap<String, Vec<f64>>;

/// Fits, tells how good that is, and prints the table of `select/device_costs.rs`.
pub(crate) fn fit(options: &Options, folder: &Path) -> anyhow::Result<String> {
    let samples = read(options, folder, "")?;
    let mut told = String::new();
    let mut left_out = Vec::new();
    for family in 0..FAMILIES {
        let prices = prices(&samples, |sample| sample.family() != family);
        let of_family = samples.iter().filter(|sample| sample.family() == family);
        left_out.extend(ratios(of_family, &prices));
    }
    told += &tell("families that had no part in the fit", &left_out);
    let prices = prices(&samples, |_| true);
    told += &tell("all that had", &ratios(samples.iter(), &prices));
    if let Some(judged) = &options.judge {
        let data = options.data.as_deref().context("--judge needs --data, the folder of the matrices")?;
        let judged = read(options, judged, &format!("{data}/"))?;
        told += &tell("real matrices", &ratios(judged.iter(), &prices));
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

/// Times with the terms of the products that took them.
fn read(options: &Options, folder: &Path, before: &str) -> anyhow::Result<Vec<Sample>> {
    let path = folder.join("times.csv");
    let mut lines: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    for line in csv::Reader::from_path(&path).with_context(|| path.display().to_string())?.deserialize() {
        let line: Line = line?;
        lines.entry(line.matrix.clone()).or_default().push(line);
    }
    let mut samples = Vec::new();
    for (matrix, lines) in lines {
        let before = if matrix.contains(':') { "" } else { before }; // no file
        let coo = load::<f64>(&format!("{before}{matrix}"), &options.read_options())?.coo;
        let a = Csr::from_owned_coo(coo, Duplicates::Sum);
        for dtype in [Dtype::F32, Dtype::F64] {
            match dtype {
                Dtype::F32 => samples_of::<f32>(&*rounded(&a)?, &lines, &mut samples),
                Dtype::F64 => samples_of::<f64>(&a, &lines, &mut samples),
            }
        }
    }
    Ok(samples)
}

fn samples_of<S: Scalar>(a: &Csr<S>, lines: &[Line], samples: &mut Vec<Sample>) {
    let known = KnownOnDevice::of(a);
    let mut terms: BTreeMap<usize, Vec<(&str, Vec<f64>)>> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.dtype == S::NAME) {
        let of_k = terms.entry(line.k).or_insert_with(|| known.terms::<S>(&DeviceLimits::h200(), line.k));
        // cuSPARSE has none.
        let Some((_, terms)) = of_k.iter().find(|(variant, _)| *variant == line.variant) else { continue };
        samples.push(Sample {
            case: (line.matrix.clone(), line.dtype.clone(), line.k),
            variant: line.variant.clone(),
            terms: terms.clone(),
            ns: [line.hot_ns, line.flushed_ns],
        });
    }
}

fn prices(samples: &[Sample], takes_part: impl Fn(&Sample) -> bool) -> Prices {
    let mut by_variant: BTreeMap<&str, Vec<&Sample>> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| takes_part(sample)) {
        by_variant.entry(&sample.variant).or_default().push(sample);
    }
    by_variant.into_iter().map(|(variant, samples)| (variant.to_string(), least_squares(&samples))).collect()
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
            let predicted = product(&sample.terms, &prices).max(1.0);
            let error = (predicted / ns).ln() / OUTLIER;
            *weight = 1.0 / ((ns * predicted).sqrt() * (1.0 + error * error).sqrt());
        }
    }
    prices
}

/// By coordinate descent, each price in turn as good as the others allow.
fn not_negative(samples: &[&Sample], times: &[f64], weights: &[f64]) -> Vec<f64> {
    let count = samples.first().map_or(0, |sample| sample.terms.len());
    let (mut gram, mut right) = (vec![vec![0.0; count]; count], vec![0.0; count]);
    for ((sample, ns), weight) in samples.iter().zip(times).zip(weights) {
        for i in 0..count {
            let scaled = sample.terms[i] * weight * weight;
            right[i] += scaled * ns;
            (0..count).for_each(|j| gram[i][j] += scaled * sample.terms[j]);
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

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The time of the fastest kernel over that of the chosen one, for every product, warm and with an empty cache.
fn ratios<'a>(samples: impl Iterator<Item = &'a Sample>, prices: &Prices) -> Vec<[f64; 2]> {
    let mut cases: BTreeMap<&(String, String, usize), Vec<&Sample>> = BTreeMap::new();
    samples.for_each(|sample| cases.entry(&sample.case).or_default().push(sample));
    let of_case = |samples: &Vec<&Sample>| {
        let unknown = Vec::new();
        let predicted = |sample: &&&Sample| {
            // What has no price is never chosen.
            let prices = prices.get(&sample.variant).unwrap_or(&unknown);
            if prices.is_empty() { f64::INFINITY } else { product(&sample.terms, prices) }
        };
        let chosen = samples.iter().min_by(|a, b| predicted(a).total_cmp(&predicted(b)))?;
        Some([0, 1].map(|kind| {
            samples.iter().map(|sample| sample.ns[kind]).fold(f64::INFINITY, f64::min) / chosen.ns[kind]
        }))
    };
    cases.values().filter_map(of_case).collect()
}

fn tell(whose: &str, ratios: &[[f64; 2]]) -> String {
    let mut told = format!("{whose}: {} products\n", ratios.len());
    for (kind, name) in ["warm", "empty cache"].into_iter().enumerate() {
        let of_kind: Vec<f64> = ratios.iter().map(|ratio| ratio[kind]).collect();
        let mean = (of_kind.iter().map(|ratio| ratio.ln()).sum::<f64>() / of_kind.len() as f64).exp();
        let share = |least: f64| {
            of_kind.iter().filter(|&&ratio| ratio >= least).count() as f64 / of_kind.len() as f64
        };
        let worst = of_kind.iter().copied().fold(f64::INFINITY, f64::min);
        told += &format!(
            "  {name:12} {mean:.3} of the fastest kernel, within 5 % {:.1} %, within 20 % {:.1} %, worst {worst:.2}\n",
            100.0 * share(0.95),
            100.0 * share(0.8)
        );
    }
    told
}

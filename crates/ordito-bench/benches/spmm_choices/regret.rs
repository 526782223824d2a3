//! What predictions cost: errors of times, and time that is lost where not the fastest is chosen.

/// From which error on it counts for less; predicted times that differ by less than this share are chosen from by chance.
const LARGE_ERROR: f64 = 0.2;
const UNDECIDED: f64 = 0.1;

/// How what one product costs changes with the logarithm of one predicted time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Regret {
    pub(crate) of_error: f64,
    pub(crate) of_choice: f64,
    /// The time over that of the fastest, as a logarithm.
    pub(crate) lost: f64,
}

/// Of all kernels on one product.
pub(crate) fn regret(predicted: &[f64], times: &[f64]) -> Vec<Regret> {
    let least = predicted.iter().copied().fold(f64::INFINITY, f64::min);
    let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
    // How likely each is chosen, and what is lost by it.
    let chances: Vec<f64> = predicted.iter().map(|ns| (-(ns / least).ln() / UNDECIDED).exp()).collect();
    let all: f64 = chances.iter().sum();
    let lost: Vec<f64> = times.iter().map(|ns| (ns / fastest).ln()).collect();
    let expected = chances.iter().zip(&lost).map(|(chance, lost)| chance * lost).sum::<f64>() / all;
    let of_one = |at: usize| {
        let error = (predicted[at] / times[at]).ln();
        Regret {
            of_error: error / (1.0 + (error / LARGE_ERROR).powi(2)).sqrt(),
            of_choice: -chances[at] / all * (lost[at] - expected) / UNDECIDED,
            lost: lost[at],
        }
    };
    (0..times.len()).map(of_one).collect()
}

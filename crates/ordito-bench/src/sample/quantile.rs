//! Quantiles by linear interpolation between neighbours, as numpy's default, and how well the median is known.

/// The 5 % quantile, the median and the 95 % quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantiles {
    /// Five percent of the values lie below.
    pub p05: f64,
    /// Half of the values lie below.
    pub median: f64,
    /// Five percent of the values lie above.
    pub p95: f64,
    /// Where the median of all runs that could have been sampled lies, with a confidence of at least 95 %.
    pub median_interval: Option<(f64, f64)>,
}

impl Quantiles {
    /// Of values in any order; `None` if there are none.
    ///
    /// ```
    /// use ordito_bench::sample::Quantiles;
    /// assert_eq!(Quantiles::of(&[4.0, 1.0, 2.0, 3.0]).map(|q| q.median), Some(2.5));
    /// ```
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |fraction| quantile(&sorted, fraction);
        Some(Quantiles {
            p05: at(0.05)?,
            median: at(0.5)?,
            p95: at(0.95)?,
            median_interval: median_interval(&sorted),
        })
    }
}

/// The quantile at `fraction` (0 to 1) of ascending values; `None` if there are none.
pub fn quantile(sorted: &[f64], fraction: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = fraction.clamp(0.0, 1.0) * last as f64;
    let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    Some(below + (above - below) * position.fract())
}

/// Half of what the median's interval may miss: 2.5 % on either side.
const MISSED_ON_A_SIDE: f64 = 0.025;

/// The interval of the median of ascending values, whatever their distribution: so many values lie below the true median
/// as heads fall in as many tosses of a coin. The values must not depend on each other; drift makes the interval too
/// narrow. `None` for fewer than six values: even from the least to the largest misses too often (for five, 1 in 16).
///
/// ```
/// use ordito_bench::sample::quantile::median_interval;
/// assert_eq!(median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0]), None);
/// assert_eq!(median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), Some((1.0, 6.0)));
/// ```
pub fn median_interval(sorted: &[f64]) -> Option<(f64, f64)> {
    let rank = lower_rank(sorted.len())?;
    Some((sorted[rank - 1], sorted[sorted.len() - rank]))
}

/// The largest j with P(fewer than j heads in n tosses) ≤ 2.5 %; `None` where that is 0.
fn lower_rank(n: usize) -> Option<usize> {
    // Binomial coefficients over the one in the middle: neither overflow for many tosses, nor take a step for each.
    const NEGLIGIBLE: f64 = 1e-30;
    let (mut heads, mut weight) = (n / 2, 1.0);
    let mut weights = vec![weight];
    while heads > 0 && weight > NEGLIGIBLE {
        weight *= heads as f64 / (n - heads + 1) as f64;
        weights.push(weight);
        heads -= 1;
    }
    let half: f64 = weights.iter().sum();
    let all = if n.is_multiple_of(2) { 2.0 * half - 1.0 } else { 2.0 * half };
    let mut fewer = 0.0;
    let mut rank = heads;
    for weight in weights.iter().rev() {
        fewer += weight;
        if fewer > MISSED_ON_A_SIDE * all {
            break;
        }
        rank += 1;
    }
    (rank > 0).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANKS: [(usize, usize); 17] = [
        (0, 0),
        (1, 0),
        (5, 0),
        (6, 1),
        (7, 1),
        (8, 1),
        (9, 2),
        (10, 2),
        (11, 2),
        (12, 3),
        (15, 4),
        (20, 6),
        (50, 18),
        (100, 40),
        (101, 41),
        (1000, 469),
        (4001, 1939),
    ];

    /// `numpy.quantile([1, 3, 4, 8, 20], q)` and the like.
    #[test]
    fn agrees_with_numpy() {
        let five = [1.0, 3.0, 4.0, 8.0, 20.0];
        for (fraction, expected) in
            [(0.0, 1.0), (0.05, 1.4), (0.5, 4.0), (0.9, 15.2), (0.95, 17.6), (1.0, 20.0)]
        {
            let found = quantile(&five, fraction).unwrap();
            assert!((found - expected).abs() < 1e-12, "{fraction}: {found}");
        }
        let q = Quantiles::of(&[8.0, 1.0, 20.0, 3.0, 4.0, 100.0]).unwrap();
        assert!((q.p05 - 1.5).abs() < 1e-12 && q.median == 6.0 && (q.p95 - 80.0).abs() < 1e-12, "{q:?}");
    }

    #[test]
    fn few_values() {
        assert_eq!(Quantiles::of(&[]), None);
        let one = Quantiles { p05: 7.0, median: 7.0, p95: 7.0, median_interval: None };
        assert_eq!(Quantiles::of(&[7.0]), Some(one));
        assert_eq!(quantile(&[1.0, 2.0], 7.0), Some(2.0));
    }

    /// `scipy.stats.binom.cdf(j - 1, n, 0.5) <= 0.025` for these and for no larger j.
    #[test]
    fn ranks_are_those_of_the_binomial_distribution() {
        for (n, rank) in RANKS {
            assert_eq!(lower_rank(n), (rank > 0).then_some(rank), "{n}");
        }
    }

    /// Of many series of ten, the interval must miss the median of what they are drawn from in less than one of twenty:
    /// two ranks of ten miss it in 2.1 %.
    #[test]
    fn the_interval_holds_the_median_as_often_as_it_says() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1_u64 << 24) as f64
        };
        let series = 20_000;
        let missed = (0..series).filter(|_| {
            // Skewed, as times are; the median of u⁴ is 2⁻⁴.
            let times: Vec<f64> = (0..10).map(|_| random().powi(4)).collect();
            let (low, high) = Quantiles::of(&times).unwrap().median_interval.unwrap();
            !(low..=high).contains(&0.0625)
        });
        let share = missed.count() as f64 / f64::from(series);
        assert!((0.017..0.026).contains(&share), "{share}");
    }
}

//! Quantiles by linear interpolation between neighbours, as numpy's default.

/// The 5 % quantile, the median and the 95 % quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantiles {
    /// Five percent of the values lie below.
    pub p05: f64,
    /// Half of the values lie below.
    pub median: f64,
    /// Five percent of the values lie above.
    pub p95: f64,
}

impl Quantiles {
    /// Of values in any order; `None` if there are none.
    ///
    /// ```
    /// use ordito::sample::Quantiles;
    /// assert_eq!(Quantiles::of(&[4.0, 1.0, 2.0, 3.0]).map(|q| q.median), Some(2.5));
    /// ```
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |fraction| quantile(&sorted, fraction);
        Some(Quantiles { p05: at(0.05)?, median: at(0.5)?, p95: at(0.95)? })
    }
}

/// The quantile at `fraction` (0 to 1) of ascending values; `None` if there are none.
pub fn quantile(sorted: &[f64], fraction: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = fraction.clamp(0.0, 1.0) * last as f64;
    let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    Some(below + (above - below) * position.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(Quantiles::of(&[7.0]), Some(Quantiles { p05: 7.0, median: 7.0, p95: 7.0 }));
        assert_eq!(quantile(&[1.0, 2.0], 7.0), Some(2.0));
    }
}

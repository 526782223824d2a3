//! Student's distribution: how wide an interval must be when the spread itself was only measured.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_4};

/// The 97.5 % quantile: a mean ± this many standard errors holds the true one with a confidence of 95 %. Degrees of freedom
/// need not be whole (Welch's are not); below 1 there is none: NaN.
///
/// Hill's algorithm (Communications of the ACM 13 (1970), algorithm 396), which is right to six digits from 3 degrees on; below,
/// where it is not, the distribution itself is inverted.
///
/// ```
/// assert!((ordito::column_stats::student_t(9.0) - 2.262157).abs() < 1e-5);
/// ```
pub fn student_t(degrees_of_freedom: f64) -> f64 {
    let nu = degrees_of_freedom;
    if nu.is_nan() || nu < 1.0 {
        return f64::NAN;
    }
    if nu < 3.0 {
        return of_few_degrees(nu);
    }
    let a = 1.0 / (nu - 0.5);
    let b = 48.0 / (a * a);
    let mut c = ((20_700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * (a * std::f64::consts::FRAC_PI_2).sqrt() * nu;
    let mut y = (d * BOTH_TAILS).powf(2.0 / nu);
    if y > 0.05 + a {
        let x = NORMAL;
        y = x * x;
        if nu < 5.0 {
            c += 0.3 * (nu - 4.5) * (x + 0.6);
        }
        c += (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        y = (a * y * y).exp_m1();
    } else {
        let inner = 1.0 / (((nu + 6.0) / (nu * y) - 0.089 * d - 0.822) * (nu + 2.0) * 3.0) + 0.5 / (nu + 4.0);
        y = (inner * y - 1.0) * (nu + 1.0) / (nu + 2.0) + 1.0 / y;
    }
    (nu * y).sqrt()
}

const BOTH_TAILS: f64 = 0.05;
/// The 2.5 % quantile of the normal distribution.
const NORMAL: f64 = -1.959_963_984_540_054;

/// With x = 1 / √(1 + t² / ν), both tails beyond t are the share of ∫ uᵛ⁻¹ / √(1 − u²) du that lies below x: bisected.
fn of_few_degrees(nu: f64) -> f64 {
    let middle = FRAC_1_SQRT_2;
    // Above the middle, u = cos θ makes the integrand smooth: Simpson's rule from 0 to π / 4.
    const PARTS: u32 = 64;
    let step = FRAC_PI_4 / f64::from(PARTS);
    let weighted = |part: u32| {
        let weight = if part == 0 || part == PARTS { 1.0 } else { f64::from(2 + 2 * (part % 2)) };
        weight * (step * f64::from(part)).cos().powf(nu - 1.0)
    };
    let above = (0..=PARTS).map(weighted).sum::<f64>() * step / 3.0;
    let wanted = BOTH_TAILS * (tail(nu, middle) + above);
    let (mut low, mut high) = (0.0, middle);
    for _ in 0..f64::MANTISSA_DIGITS {
        let x = 0.5 * (low + high);
        if tail(nu, x) < wanted {
            low = x;
        } else {
            high = x;
        }
    }
    (nu * (1.0 / (low * low) - 1.0)).sqrt()
}

/// ∫ uᵛ⁻¹ / √(1 − u²) du from 0 to x ≤ √½: the series of 1 / √(1 − u²), term by term.
fn tail(nu: f64, x: f64) -> f64 {
    let (mut sum, mut factor) = (0.0, x.powf(nu));
    for term in 0..40 {
        let term = 2.0 * f64::from(term);
        sum += factor / (nu + term);
        factor *= x * x * (term + 1.0) / (term + 2.0);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_the_tables() {
        // scipy.stats.t.ppf(0.975, nu)
        let known = [
            (1.0, 12.706205),
            (2.0, 4.302653),
            (3.0, 3.182446),
            (4.0, 2.776445),
            (7.5, 2.333),
            (9.0, 2.262157),
            (10.0, 2.228139),
            (30.0, 2.042272),
            (120.0, 1.979930),
            (1e6, 1.959966),
        ];
        for (nu, t) in known {
            let relative = (student_t(nu) / t - 1.0).abs();
            assert!(relative < 3e-4, "{nu}: {}", student_t(nu));
        }
        assert!(student_t(f64::NAN).is_nan() && student_t(0.5).is_nan());
    }

    #[test]
    fn few_degrees_need_not_be_whole() {
        // scipy.stats.t.ppf(0.975, nu); tan(0.475 π) and √(2 / (0.05 · 1.95) − 2) at 1 and 2
        let known = [
            (1.0, 12.706204736432095),
            (1.01, 12.412738499102536),
            (1.2, 8.648826510748867),
            (1.5, 6.016663104427929),
            (1.8, 4.794881365166813),
            (2.0, 4.302652729911275),
            (2.1, 4.112152758173878),
            (2.5, 3.5746548420036817),
            (2.99, 3.1884761148082315),
        ];
        for (nu, t) in known {
            assert!((student_t(nu) / t - 1.0).abs() < 1e-9, "{nu}: {}", student_t(nu));
        }
    }

    #[test]
    fn it_falls_all_the_way() {
        let steps: Vec<f64> = (100..4000).map(|nu| student_t(f64::from(nu) / 100.0)).collect();
        assert!(steps.windows(2).all(|pair| pair[1] < pair[0]));
    }
}

//! Student's distribution: how wide an interval must be when the spread itself was only measured.

/// The 97.5 % quantile: a mean ± this many standard errors holds the true one with a confidence of 95 %. Degrees of freedom
/// need not be whole (Welch's are not); below 1 there is none: NaN.
///
/// Hill's algorithm (Communications of the ACM 13 (1970), algorithm 396), which is right to six digits from 3 degrees on;
/// between 1 and 2, where it is not, the interpolated inverse square of what is known exactly at both ends.
///
/// ```
/// assert!((ordito::sample::student_t(9.0) - 2.262157).abs() < 1e-5);
/// ```
pub fn student_t(degrees_of_freedom: f64) -> f64 {
    let nu = degrees_of_freedom;
    if nu.is_nan() || nu < 1.0 {
        return f64::NAN;
    }
    if nu <= 2.0 {
        return (1.0 / (AT_ONE * AT_ONE)).mul_add(2.0 - nu, (nu - 1.0) / (AT_TWO * AT_TWO)).sqrt().recip();
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
/// tan(0.475 π), and √(2 / (0.05 · 1.95) − 2).
const AT_ONE: f64 = 12.706_204_736_432_1;
const AT_TWO: f64 = 4.302_652_729_911_28;

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
    fn it_falls_all_the_way() {
        let steps: Vec<f64> = (100..4000).map(|nu| student_t(f64::from(nu) / 100.0)).collect();
        assert!(steps.windows(2).all(|pair| pair[1] < pair[0]));
    }
}

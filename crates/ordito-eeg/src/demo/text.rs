//! Numbers as `numpy.savetxt` writes them.

use std::fmt::Write as _;

/// Numbers as `%.18e` writes them, blanks between them.
pub(crate) fn line_of(numbers: &[f64]) -> String {
    let mut line = String::with_capacity(26 * numbers.len());
    for (column, &number) in numbers.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = match nineteen_digits(number.abs()) {
            Some((digits, exponent)) => {
                let sign = if number < 0.0 { "-" } else { "" };
                let (first, others) = (digits / TEN_18, digits % TEN_18);
                write!(line, "{sign}{first}.{others:018}e{exponent:+03}")
            }
            None => write_any(&mut line, number),
        };
        line.push(if column + 1 == numbers.len() { '\n' } else { ' ' });
    }
    line
}

const TEN_18: u64 = 10u64.pow(18);

/// The first 19 digits of a number and its exponent, exactly rounded, half to even. Rust's own way to so many digits takes
/// several times as long, and was nearly all that writing a demo took. Between 10⁻³ and 10¹⁵ the product of mantissa and
/// power of ten fits 128 bits; elsewhere `None`.
fn nineteen_digits(number: f64) -> Option<(u64, i32)> {
    if !(1e-3..1e15).contains(&number) {
        return None;
    }
    let bits = number.to_bits();
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    let shift = 1075 - (bits >> 52); // number = mantissa / 2^shift, from 2³ to 2⁶²
    let scaled = |exponent: i32| {
        let product = mantissa * 10u128.pow((18 - exponent).unsigned_abs());
        let (whole, rest, half) = (product >> shift, product & ((1 << shift) - 1), 1 << (shift - 1));
        (whole + u128::from(rest > half || rest == half && whole % 2 == 1)) as u64
    };
    // Near a power of ten the logarithm may be off by one.
    let exponent = number.log10().floor() as i32;
    match scaled(exponent) {
        digits if digits < TEN_18 => Some((scaled(exponent - 1), exponent - 1)),
        digits if digits >= 10 * TEN_18 => Some((scaled(exponent + 1), exponent + 1)),
        digits => Some((digits, exponent)),
    }
}

/// Any number.
fn write_any(line: &mut String, number: f64) -> std::fmt::Result {
    let digits = format!("{number:.18e}");
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((&digits, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    write!(line, "{mantissa}e{sign}{exponent:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ordito::matrix::Random;

    #[test]
    fn numbers_look_as_numpy_writes_them() {
        // numpy.savetxt(f, [[-57, 0.001, 1e100, 0]])
        assert_eq!(
            line_of(&[-57.0, 0.001, 1e100, 0.0]),
            "-5.700000000000000000e+01 1.000000000000000021e-03 1.000000000000000016e+100 0.000000000000000000e+00\n"
        );
    }

    #[test]
    fn the_quick_way_writes_the_same_digits() {
        let mut random = Random::new(1, 1);
        let mut numbers: Vec<f64> =
            (0..20_000).map(|_| (random.unit() - 0.5) * 10f64.powi(random.below(20) as i32 - 4)).collect();
        for power in -3..15 {
            let exact = 10f64.powi(power);
            numbers.extend([exact, exact.next_down(), exact.next_up(), 0.5 * exact, exact + 2f64.powi(-10)]);
        }
        for number in numbers {
            let mut expected = String::new();
            write_any(&mut expected, number).unwrap();
            assert_eq!(line_of(&[number]), expected + "\n");
        }
    }
}

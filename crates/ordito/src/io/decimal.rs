//! `mantissa · 10^exponent`, correctly rounded: the algorithm of Eisel and Lemire ("Number parsing at a gigabyte per
//! second", 2021), for the exponents that measured data have. Everything else is `None`, and read another way.

use crate::Scalar;

/// The powers in the table. Their 5^|q| fits 126 bits, which keeps the long division below simple.
const SMALLEST_POWER: i64 = -54;
const LARGEST_POWER: i64 = 54;
const POWERS: usize = (LARGEST_POWER - SMALLEST_POWER + 1) as usize;

/// Down to here one rounded-up reciprocal decides every 64-bit mantissa; below it a product may be ambiguous.
const ALWAYS_DECIDED_FROM: i64 = -27;

/// The leading 128 bits of 5^q, the highest of them set: upper and lower half.
static FIVES: [(u64, u64); POWERS] = powers_of_five();

const fn powers_of_five() -> [(u64, u64); POWERS] {
    let mut table = [(0, 0); POWERS];
    let mut index = 0;
    while index < POWERS {
        let power = SMALLEST_POWER + index as i64;
        let five = 5u128.pow(power.unsigned_abs() as u32);
        let bits = match power {
            0.. => five << five.leading_zeros(),
            ALWAYS_DECIDED_FROM..0 => leading_bits_of_reciprocal(five) + 1,
            _ => leading_bits_of_reciprocal(five),
        };
        table[index] = ((bits >> 64) as u64, bits as u64);
        index += 1;
    }
    table
}

/// The first 128 bits of 1 / divisor, truncated: long division, bit after bit.
const fn leading_bits_of_reciprocal(divisor: u128) -> u128 {
    let (mut quotient, mut remainder) = (0u128, 1u128);
    while quotient >> 127 == 0 {
        remainder *= 2; // below 2^127: the divisor has at most 126 bits
        let fits = remainder >= divisor;
        quotient = quotient * 2 + fits as u128;
        remainder -= if fits { divisor } else { 0 };
    }
    quotient
}

/// 10^exponent as the sum of two f64, wrong by less than 2⁻¹⁰⁵ of it; NaN outside the table.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // for vectors of AVX-512
pub(super) const fn power_of_ten(exponent: i64) -> (f64, f64) {
    if exponent < SMALLEST_POWER || exponent > LARGEST_POWER {
        return (f64::NAN, f64::NAN);
    }
    let (five_upper, five_lower) = FIVES[(exponent - SMALLEST_POWER) as usize];
    let bits = (five_upper as u128) << 64 | five_lower as u128;
    let upper = bits as f64;
    let lower = bits.wrapping_sub(upper as u128) as i128 as f64;
    let scale = f64::from_bits(((exponent_of_two(exponent) - 127 + 1023) as u64) << 52);
    (upper * scale, lower * scale)
}

/// ⌊exponent · log₂10⌋, exact for |exponent| ≤ 342.
const fn exponent_of_two(exponent: i64) -> i64 {
    (exponent * 217_706) >> 16
}

/// What rounding to f32 or f64 depends on.
struct Precision {
    /// Bits of the mantissa that are stored.
    stored_bits: u32,
    /// Exponents of 10 whose products can lie exactly between two numbers.
    ties: (i64, i64),
    /// Exponents of 2 whose numbers are neither subnormal nor, rounded up, infinite.
    normal: (i64, i64),
}

const fn precision<S: Scalar>() -> Precision {
    match size_of::<S>() == size_of::<f32>() {
        true => Precision { stored_bits: 23, ties: (-17, 10), normal: (-126, 126) },
        false => Precision { stored_bits: 52, ties: (-4, 23), normal: (-1022, 1022) },
    }
}

/// The nearest number, ties to even; `None` where this table does not decide it.
#[inline(always)]
pub(super) fn round<S: Scalar>(negative: bool, mantissa: u64, exponent: i64) -> Option<S> {
    let Precision { stored_bits, ties, normal } = const { precision::<S>() };
    if mantissa == 0 {
        return Some(S::from_f64(if negative { -0.0 } else { 0.0 }));
    }
    let &(five_upper, five_lower) = FIVES.get(usize::try_from(exponent - SMALLEST_POWER).ok()?)?;
    let leading_zeros = mantissa.leading_zeros();
    let normalized = mantissa << leading_zeros;
    // All 192 bits but the last 64. Their upper half alone mostly decides, but whether it does cannot be predicted: numbers
    // that were printed with 18 digits lie just beside simple ones.
    let (upper, lower) = product(normalized, five_upper);
    let (lower, carried) = lower.overflowing_add(product(normalized, five_lower).0);
    let upper = upper + u64::from(carried);
    if lower == u64::MAX && exponent < ALWAYS_DECIDED_FROM {
        return None;
    }
    let top = (upper >> 63) as u32;
    let shift = top + 64 - stored_bits - 3;
    let mut rounded = upper >> shift; // one bit more than is kept
    let tie_is_possible = lower <= 1 && ties.0 <= exponent && exponent <= ties.1;
    if tie_is_possible && rounded & 3 == 1 && rounded << shift == upper {
        rounded &= !1; // exactly between two numbers, and the lower one is even
    }
    rounded = (rounded + (rounded & 1)) >> 1;
    let exponent_of_two = exponent_of_two(exponent) + 63 + i64::from(top) - i64::from(leading_zeros);
    if exponent_of_two < normal.0 || exponent_of_two > normal.1 {
        return None;
    }
    // Put together as f64, which holds every f32 exactly. The mantissa's leading bit, and the one it gains where it
    // is rounded up to the next power of two, add to the exponent.
    let sign = u64::from(negative) << 63;
    let biased = ((exponent_of_two + 1022) as u64) << 52;
    Some(S::from_f64(f64::from_bits(sign | (biased + (rounded << (52 - stored_bits))))))
}

/// Upper and lower half of a product.
#[inline(always)]
fn product(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    ((product >> 64) as u64, product as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Random;

    #[test]
    fn the_table_starts_with_known_powers() {
        let at = |power: i64| FIVES[(power - SMALLEST_POWER) as usize];
        assert_eq!(at(0), (1 << 63, 0));
        assert_eq!(at(3), (125 << 57, 0));
        assert_eq!(at(-1), (0xcccc_cccc_cccc_cccc, 0xcccc_cccc_cccc_cccd));
        assert_eq!(at(-28), (0xfd87_b5f2_8300_ca0d, 0x8bca_9d6e_1888_53fc));
    }

    #[test]
    fn powers_of_ten_are_sums_of_two() {
        for exponent in SMALLEST_POWER..=LARGEST_POWER {
            let (upper, lower) = power_of_ten(exponent);
            assert_eq!(upper, format!("1e{exponent}").parse::<f64>().unwrap());
            assert!(lower.abs() <= upper * f64::EPSILON / 2.0, "10^{exponent}: {lower}");
        }
        // 1e-1 and 1e23 less their nearest f64, to seventeen digits.
        assert_eq!(power_of_ten(-1).1, -5.551_115_123_125_783e-18);
        assert_eq!(power_of_ten(23).1, 8_388_608.0);
        assert!(power_of_ten(LARGEST_POWER + 1).0.is_nan() && power_of_ten(SMALLEST_POWER - 1).1.is_nan());
    }

    /// Same bits as the standard library, or undecided; how many were decided.
    fn compare(mantissa: u64, exponent: i64) -> [bool; 2] {
        let text = format!("-{mantissa}e{exponent}");
        let single = round::<f32>(true, mantissa, exponent);
        let double = round::<f64>(true, mantissa, exponent);
        if let Some(found) = single {
            assert_eq!(found.to_bits(), text.parse::<f32>().unwrap().to_bits(), "{text}");
        }
        if let Some(found) = double {
            assert_eq!(found.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
        [single.is_some(), double.is_some()]
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn random_mantissas_of_every_length_round_like_the_standard_library() {
        let mut random = Random::new(1, 1);
        let mut decided = [0; 2];
        const NUMBERS: u64 = 1_000_000;
        for _ in 0..NUMBERS {
            let mantissa = random.next_bits() >> random.below(64);
            let exponent = random.below(POWERS as u64) as i64 + SMALLEST_POWER;
            let [single, double] = compare(mantissa, exponent);
            decided = [decided[0] + u64::from(single), decided[1] + u64::from(double)];
        }
        // Products of f32 leave its range at many of these exponents.
        assert!(decided[0] > NUMBERS / 2 && decided[1] > NUMBERS * 99 / 100, "{decided:?}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn numbers_halfway_between_two_others_and_their_neighbours() {
        let mut random = Random::new(2, 1);
        for _ in 0..200_000 {
            // One bit more than f64, or f32, keeps: a tie when it is the last. Times 5^q it stays one.
            let bits = [54, 25][random.below(2) as usize];
            let odd = (random.next_bits() >> (64 - bits)) | 1 | 1 << (bits - 1);
            let power = random.below(5) as u32;
            for mantissa in [odd, odd.saturating_mul(5u64.pow(power))] {
                for near in [mantissa - 1, mantissa, mantissa + 1] {
                    compare(near, 0);
                    compare(near, -i64::from(power));
                    compare(near, power.into());
                }
            }
        }
    }

    #[test]
    fn zeros_keep_their_sign_and_far_exponents_are_left_to_others() {
        assert_eq!(round::<f64>(true, 0, 1000).map(f64::to_bits), Some((-0.0f64).to_bits()));
        assert_eq!(round::<f64>(false, 1, SMALLEST_POWER - 1), None);
        assert_eq!(round::<f64>(false, 1, LARGEST_POWER + 1), None);
        assert_eq!(round::<f64>(false, 1, i64::MIN + 100), None);
        assert_eq!(round::<f32>(false, 1, 39), None, "infinite in f32");
        assert_eq!(round::<f32>(false, 1, -40), None, "subnormal in f32");
    }
}

//! Random numbers that are the same for ever, on every machine.
//!
//! This is part of Ordito's contract: a synthetic matrix named in a report of years ago can be made again, bit for
//! bit. So the generator is written down here, SplitMix64 as a function of a counter, and everything built on it
//! uses only operations that IEEE 754 defines exactly: +, −, ×, ÷, √. The logarithms and roots of the system's
//! mathematics library differ in their last bit from one system to the next; those that are needed are below.

use crate::Scalar;
use crate::matrix::FormatError;
use crate::matrix::dense::Dense;
use crate::precision::compiled_here;
use std::ops::Range;

/// 2⁶⁴ / φ, rounded to odd: the step of SplitMix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64 (Stafford's variant 13): every bit of the input reaches every bit of the output.
const fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Bits as a number in [0, 1), a multiple of 2⁻⁵³.
#[inline]
const fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// Two random numbers as a point of the square from −1 to 1: x and its squared distance from the middle, when that is below 1 and
/// x is not 0.
#[inline]
const fn inside_circle([x, y]: [u64; 2]) -> Option<(f64, f64)> {
    let (x, y) = (2.0 * unit(x) - 1.0, 2.0 * unit(y) - 1.0);
    let square = x * x + y * y;
    if square < 1.0 && x != 0.0 { Some((x, square)) } else { None }
}

/// A stream of random numbers, by position or one after the other. Streams of the same seed do not depend on each
/// other, so that parts of a matrix can be made in any order.
///
/// ```
/// use ordito::matrix::Random;
/// let mut random = Random::new(7, 0);
/// assert_eq!(random.at(1), { random.next_bits(); random.next_bits() });
/// assert!((0.0..1.0).contains(&random.unit()));
/// assert!(random.below(6) < 6);
/// ```
#[derive(Debug, Clone)]
pub struct Random {
    start: u64,
    position: u64,
}

impl Random {
    /// The stream of that number.
    pub const fn new(seed: u64, stream: u64) -> Self {
        let start = mix(mix(seed.wrapping_add(STEP)).wrapping_add(stream.wrapping_mul(STEP)));
        Random { start, position: 0 }
    }

    /// What kernels that draw the same numbers begin with.
    #[cfg(all(feature = "solve", any(feature = "cuda", feature = "emulator")))]
    pub(crate) const fn start(&self) -> u64 {
        self.start
    }

    /// 64 random bits, those of a position counted from 0.
    #[inline]
    pub const fn at(&self, position: u64) -> u64 {
        mix(self.start.wrapping_add(position.wrapping_add(1).wrapping_mul(STEP)))
    }

    /// The next 64 bits.
    #[inline]
    pub const fn next_bits(&mut self) -> u64 {
        let bits = self.at(self.position);
        self.position = self.position.wrapping_add(1);
        bits
    }

    /// Uniform in [0, 1): a multiple of 2⁻⁵³.
    #[inline]
    pub const fn unit(&mut self) -> f64 {
        unit(self.next_bits())
    }

    /// A whole number below `bound`; 0 when `bound` is. A bound near 2⁶⁴ would favour some numbers; those in use
    /// are below 2³², where nobody can tell.
    #[inline]
    pub const fn below(&mut self, bound: u64) -> u64 {
        ((self.next_bits() as u128 * bound as u128) >> 64) as u64
    }

    /// Puts items in a random order, every one as likely as any other.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// Standard normal, never 0: Marsaglia's polar method. Consumes an even number of positions, two or more.
    pub fn normal(&mut self) -> f64 {
        loop {
            let point = [self.next_bits(), self.next_bits()];
            if let Some((x, square)) = inside_circle(point) {
                return x * (-2.0 * natural_logarithm(square) / square).sqrt();
            }
        }
    }

    /// Do positions 2·`pair` and 2·`pair` + 1 make a number of [`normal`](Random::normal)? Its j-th number is that of the j-th
    /// such pair, wherever it stands.
    #[doc(hidden)] // for values that are made in parts
    #[inline]
    pub const fn is_normal_pair(&self, pair: u64) -> bool {
        let position = pair.wrapping_mul(2);
        inside_circle([self.at(position), self.at(position.wrapping_add(1))]).is_some()
    }

    /// The same stream from another position on.
    #[doc(hidden)]
    pub const fn starting_at(&self, position: u64) -> Self {
        Random { start: self.start, position }
    }

    /// Pareto distributed with exponent 6/5 and least value 1: u^(−5/6) of a u in (0, 1].
    pub fn pareto(&mut self) -> f64 {
        let u = 1.0 - self.unit();
        1.0 / (u.sqrt() * cube_root(u))
    }
}

#[cfg(feature = "io")] // for synthetic matrices
impl Random {
    /// log₂ x of a positive normal number.
    pub(crate) fn binary_logarithm(x: f64) -> f64 {
        natural_logarithm(x) / std::f64::consts::LN_2
    }

    /// 2ˣ of an x between −1000 and 1000.
    pub(crate) fn power_of_two(x: f64) -> f64 {
        let whole = x.round().clamp(-1000.0, 1000.0);
        let rest = (x - whole) * std::f64::consts::LN_2;
        // |rest| < 0.35: fifteen terms reach 2⁻⁵³.
        let series = (1..16).rev().fold(1.0, |sum, term| 1.0 + sum * rest / f64::from(term));
        f64::from_bits(((1023 + whole as i64) as u64) << 52) * series
    }
}

/// ln x of a positive normal number, to a few units in the last place: x = m·2ᵉ with m near 1, ln m = 2·artanh((m−1)/(m+1)).
fn natural_logarithm(x: f64) -> f64 {
    let bits = x.to_bits();
    // Moves the cut between two exponents from 1 to √½.
    let shifted = bits.wrapping_sub(std::f64::consts::FRAC_1_SQRT_2.to_bits());
    let exponent = shifted as i64 >> 52;
    let m = f64::from_bits(bits.wrapping_sub((exponent as u64) << 52));
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    // s² < 0.03: eleven terms reach 2⁻⁵³.
    let series = (0..11).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * s * series
}

/// ∛x of a positive normal number: Newton's method from a third of the exponent.
fn cube_root(x: f64) -> f64 {
    // The bits of a number are about its binary logarithm; the constant is two thirds of those of 1, less the
    // usual correction, and leaves an error of a few per cent, which four steps square away.
    let mut root = f64::from_bits(x.to_bits() / 3 + 0x2a9f_7893_782d_a1ce);
    for _ in 0..4 {
        root -= (root - x / (root * root)) / 3.0;
    }
    root
}

/// A dense matrix of numbers uniform in (−1, 1), never 0: an odd multiple of 2⁻⁵³ in f64, of 2⁻²⁴ in f32, from the
/// same bits in both. The same seed gives the same numbers for ever.
///
/// ```
/// let x = ordito::matrix::random_dense::<f32>(100, 8, 42)?;
/// assert!(x.data().iter().all(|&x| x != 0.0 && x.abs() < 1.0));
/// # Ok::<(), ordito::FormatError>(())
/// ```
pub fn random_dense<S: Scalar>(rows: usize, cols: usize, seed: u64) -> Result<Dense<S>, FormatError> {
    random_rows(0..rows as u64, cols, seed)
}

/// Some rows of such a matrix, as large as it may be: element (r, c) comes from position r·cols + c of stream 0.
///
/// ```
/// use ordito::matrix::{random_dense, random_rows};
/// let (all, some) = (random_dense::<f64>(100, 8, 42)?, random_rows::<f64>(10..30, 8, 42)?);
/// assert_eq!(some.data(), &all.data()[80..240]);
/// # Ok::<(), ordito::FormatError>(())
/// ```
pub fn random_rows<S: Scalar>(rows: Range<u64>, cols: usize, seed: u64) -> Result<Dense<S>, FormatError> {
    type Draw<S> = fn(Range<u64>, usize, u64) -> Result<Dense<S>, FormatError>;
    compiled_here!(S, drawn_rows, Draw)(rows, cols, seed)
}

fn drawn_rows<S: Scalar>(rows: Range<u64>, cols: usize, seed: u64) -> Result<Dense<S>, FormatError> {
    let digits = if size_of::<S>() == size_of::<f32>() { 24 } else { 53 };
    let count = rows.end.saturating_sub(rows.start) as usize;
    let mut dense = Dense::filled(count, cols, S::ZERO)?;
    let random = Random::new(seed, 0);
    let first = rows.start.wrapping_mul(cols as u64);
    for (position, element) in dense.data_mut().iter_mut().enumerate() {
        let bits = random.at(first.wrapping_add(position as u64));
        let odd = 2 * (bits >> (64 - digits)) as i64 + 1 - (1 << digits);
        *element = S::from_f64(odd as f64 / (1u64 << digits) as f64);
    }
    Ok(dense)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffling_reaches_every_order_equally_often() {
        let (mut random, mut counts) = (Random::new(1, 2), std::collections::BTreeMap::new());
        for _ in 0..6000 {
            let mut items = [1, 2, 3];
            random.shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Six standard deviations.
        assert!(counts.values().all(|count| (826..1174).contains(count)), "{counts:?}");
        random.shuffle::<u8>(&mut []);
    }

    #[test]
    fn the_first_numbers_are_these_for_ever() {
        assert_eq!(mix(STEP), 0xe220_a839_7b1d_cdaf, "the published first number of SplitMix64 with seed 0");
        let mut random = Random::new(0, 0);
        assert_eq!([(); 3].map(|()| random.next_bits()), PINNED_BITS);
        assert_eq!(Random::new(1, 2).at(3), PINNED_AT);
        let mut random = Random::new(0, 0);
        let numbers = [random.unit(), random.normal(), random.normal(), random.pareto()];
        assert_eq!(numbers.map(f64::to_bits), PINNED_NUMBERS.map(f64::to_bits), "{numbers:?}");
    }
    const PINNED_BITS: [u64; 3] = [0x568a_9b0b_1a2c_05ec, 0x44e5_b8b1_47ef_718b, 0x4585_63ab_5552_1133];
    const PINNED_AT: u64 = 0x8e1e_6eac_aa45_f47f;
    const PINNED_NUMBERS: [f64; 4] =
        [0.33805245419550545, -0.933846211790353, -0.5092596747323255, 1.606732543430524];

    #[test]
    #[cfg_attr(miri, ignore = "its functions round at random")]
    fn our_own_functions_agree_with_the_systems() {
        let mut random = Random::new(1, 1);
        for _ in 0..10_000 {
            let x = 1.0 - random.unit();
            assert!((cube_root(x) - x.cbrt()).abs() <= 1e-15 * x.cbrt(), "∛{x}");
            for x in [x, x * x * x, 1.0 + x, 1e300 * x, 1e-300 * x] {
                assert!((natural_logarithm(x) - x.ln()).abs() <= 1e-15 * x.ln().abs(), "ln {x}");
            }
        }
        #[cfg(feature = "io")]
        for x in [-999.5, -1.0, -0.25, 0.0, 0.3, 1.0, 17.75, 900.1] {
            assert!((Random::power_of_two(x) / x.exp2() - 1.0).abs() < 1e-14, "2^{x}");
        }
        assert_eq!(natural_logarithm(1.0), 0.0);
        assert!((cube_root(2f64.powi(-53)) - 2f64.powi(-53).cbrt()).abs() < 1e-20);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn distributions_have_their_moments() {
        let mut random = Random::new(2, 0);
        let count = 100_000;
        let normals: Vec<f64> = (0..count).map(|_| random.normal()).collect();
        let moment = |power| normals.iter().map(|x: &f64| x.powi(power)).sum::<f64>() / f64::from(count);
        assert!(moment(1).abs() < 0.02 && (moment(2) - 1.0).abs() < 0.02 && (moment(4) - 3.0).abs() < 0.15);
        let above_two = (0..count).filter(|_| random.pareto() > 2.0).count() as f64 / f64::from(count);
        assert!((above_two - 2f64.powf(-1.2)).abs() < 0.01);
        let sixes = (0..count).filter(|_| random.below(6) == 5).count() as f64 / f64::from(count);
        assert!((sixes - 1.0 / 6.0).abs() < 0.01);
    }

    #[test]
    fn single_and_double_precision_are_neighbours() {
        let (single, double) =
            (random_dense::<f32>(20, 5, 3).unwrap(), random_dense::<f64>(20, 5, 3).unwrap());
        let near = |(&a, &b): (&f32, &f64)| (f64::from(a) - b).abs() < 2f64.powi(-23);
        assert!(single.data().iter().zip(double.data()).all(near));
        assert!(random_dense::<f64>(usize::MAX, 2, 0).is_err());
    }
}

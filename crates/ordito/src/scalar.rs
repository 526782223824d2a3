//! The two number types Ordito computes with, and the few facts about them that the other rooms need.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What the other rooms need of a number and users do not: no other type can be a [`Scalar`], and no trait of another crate
/// stands in its definition.
mod sealed {
    /// Plain bytes, that registers hold; with `io`, that can be read from text.
    pub trait Number: bytemuck::Pod + crate::simd::Number {
        /// The text as a number, rounded once; `None`: it is none.
        #[cfg(feature = "io")]
        fn parse(text: &[u8]) -> Option<Self>;
        /// The number that the text begins with, and how many bytes it takes.
        #[cfg(feature = "io")]
        fn parse_prefix(text: &[u8]) -> Option<(Self, usize)>;
    }
}

/// `f32` or `f64`: there are no others.
///
/// ```
/// use ordito::Scalar;
/// assert_eq!(f32::NAME, "f32");
/// assert_eq!(f64::EPSILON, 2.0 * <f64 as Scalar>::UNIT_ROUNDOFF);
/// ```
pub trait Scalar:
    sealed::Number
    + Copy
    + Default
    + Debug
    + Display
    + PartialEq
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + Sum
{
    /// What users call it: `"f32"` or `"f64"`.
    const NAME: &'static str;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// ε, the gap between 1 and the next number.
    const EPSILON: f64;
    /// u = ε/2, the largest relative error of one rounded operation.
    const UNIT_ROUNDOFF: f64;
    /// Largest finite number.
    const MAX: f64;
    /// What CUDA C++ calls it: `"float"` or `"double"`.
    #[doc(hidden)]
    const CUDA_NAME: &'static str;
    /// A quiet NaN: what outputs hold before a kernel has written them.
    #[doc(hidden)]
    const POISON: Self;
    /// Smallest positive (subnormal) number: the most that one underflowing operation can lose.
    #[doc(hidden)]
    const SMALLEST: f64;
    /// A cell that several threads may write; relaxed stores cost what plain ones do.
    #[doc(hidden)]
    type Cell: ScalarCell<Self>;

    /// Rounds to this type.
    fn from_f64(value: f64) -> Self;
    /// Exact.
    fn to_f64(self) -> f64;
    /// Is it neither infinite nor NaN?
    fn is_finite(self) -> bool;
    /// `self · factor + addend` with one rounding. Fast only where the CPU has the instruction: code
    /// that is compiled without it must multiply and add.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
}

/// A scalar that several threads may write without a data race.
#[doc(hidden)]
pub trait ScalarCell<S>: Default + Send + Sync {
    /// Stores without ordering.
    fn store(&self, value: S);
    /// The number, once no thread writes any more.
    fn into_scalar(self) -> S;
}

macro_rules! scalar {
    ($type:ident, $cuda:literal, $cell:ident) => {
        impl sealed::Number for $type {
            #[cfg(feature = "io")]
            #[inline(always)]
            fn parse(text: &[u8]) -> Option<Self> {
                fast_float2::parse(text).ok()
            }
            #[cfg(feature = "io")]
            #[inline(always)]
            fn parse_prefix(text: &[u8]) -> Option<(Self, usize)> {
                fast_float2::parse_partial(text).ok()
            }
        }

        impl Scalar for $type {
            const NAME: &'static str = stringify!($type);
            const CUDA_NAME: &'static str = $cuda;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const POISON: Self = $type::NAN;
            const EPSILON: f64 = $type::EPSILON as f64;
            const UNIT_ROUNDOFF: f64 = $type::EPSILON as f64 / 2.0;
            const MAX: f64 = $type::MAX as f64;
            const SMALLEST: f64 = $type::from_bits(1) as f64;
            type Cell = $cell;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $type
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $type::is_finite(self)
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, addend: Self) -> Self {
                $type::mul_add(self, factor, addend)
            }
        }

        impl ScalarCell<$type> for $cell {
            #[inline(always)]
            fn store(&self, value: $type) {
                $cell::store(self, value.to_bits(), Ordering::Relaxed);
            }
            #[inline(always)]
            fn into_scalar(self) -> $type {
                $type::from_bits(self.into_inner())
            }
        }
    };
}

scalar!(f32, "float", AtomicU32);
scalar!(f64, "double", AtomicU64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "its functions round at random")]
    fn constants_are_those_of_ieee_754() {
        assert_eq!(<f64 as Scalar>::UNIT_ROUNDOFF, 2f64.powi(-53));
        assert_eq!(<f32 as Scalar>::UNIT_ROUNDOFF, 2f64.powi(-24));
        assert_eq!(<f64 as Scalar>::SMALLEST, 5e-324);
        assert_eq!(<f32 as Scalar>::SMALLEST, 2f64.powi(-149));
        assert!(<f32 as Scalar>::POISON.is_nan() && <f64 as Scalar>::POISON.is_nan());
    }

    #[test]
    fn cells_keep_every_bit() {
        for value in [0.0, -0.0, 1.5, f64::MIN_POSITIVE, f64::INFINITY] {
            let cell = <f64 as Scalar>::Cell::default();
            ScalarCell::<f64>::store(&cell, value);
            assert_eq!(cell.into_scalar().to_bits(), value.to_bits());
        }
    }
}

//! The two number types Ordito computes with, and the few facts about them that the other rooms need; in `lanes`, registers
//! that hold several of them.

use crate::simd as lanes;
use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// `f32` or `f64`.
///
/// ```
/// use ordito::Scalar;
/// assert_eq!(f32::NAME, "f32");
/// assert_eq!(f64::EPSILON, 2.0 * <f64 as Scalar>::UNIT_ROUNDOFF);
/// ```
pub trait Scalar:
    Copy
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
    + bytemuck::Pod
    + fast_float2::FastFloat
{
    /// What users call it: `"f32"` or `"f64"`.
    const NAME: &'static str;
    /// What CUDA C++ calls it: `"float"` or `"double"`.
    const CUDA_NAME: &'static str;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// A quiet NaN: what outputs hold before a kernel has written them.
    const POISON: Self;
    /// ε, the gap between 1 and the next number.
    const EPSILON: f64;
    /// u = ε/2, the largest relative error of one rounded operation.
    const UNIT_ROUNDOFF: f64;
    /// Largest finite number.
    const MAX: f64;
    /// Smallest positive (subnormal) number: the most that one underflowing operation can lose.
    const SMALLEST: f64;
    /// A cell that several threads may write; relaxed stores cost what plain ones do.
    type Cell: ScalarCell<Self>;
    /// Registers of it, by instruction set.
    #[doc(hidden)]
    #[cfg(target_arch = "x86_64")]
    type Avx512: lanes::Vectors<Self>;
    #[doc(hidden)]
    #[cfg(target_arch = "x86_64")]
    type Avx2: lanes::Vectors<Self>;

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
pub trait ScalarCell<S>: Default + Send + Sync {
    /// Stores without ordering.
    fn store(&self, value: S);
    /// The number, once no thread writes any more.
    fn into_scalar(self) -> S;
}

macro_rules! scalar {
    ($type:ident, $cuda:literal, $cell:ident) => {
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
            #[cfg(target_arch = "x86_64")]
            type Avx512 = lanes::Avx512;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = lanes::Avx2;

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

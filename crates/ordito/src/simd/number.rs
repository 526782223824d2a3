//! Numbers that registers hold.

#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512, Vectors, avx512::AnyLanes};
#[cfg(target_arch = "aarch64")]
use crate::simd::{Neon, Vectors};
use std::iter::Sum;
use std::ops::{Add, Mul};

/// `f32` or `f64`, as far as registers have to know. Its default is 0.
pub trait Number:
    Copy + Default + Add<Output = Self> + Mul<Output = Self> + Sum + Send + Sync + 'static
{
    /// Registers of it, with AVX-512.
    #[cfg(target_arch = "x86_64")]
    type Avx512: Vectors<Self, Wide: AnyLanes<Self>>;
    /// Registers of it, with AVX2.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Vectors<Self>;
    /// Registers of it, with NEON.
    #[cfg(target_arch = "aarch64")]
    type Neon: Vectors<Self>;
}

macro_rules! number {
    ($type:ident) => {
        impl Number for $type {
            #[cfg(target_arch = "x86_64")]
            type Avx512 = Avx512;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = Avx2;
            #[cfg(target_arch = "aarch64")]
            type Neon = Neon;
        }
    };
}

number!(f32);
number!(f64);

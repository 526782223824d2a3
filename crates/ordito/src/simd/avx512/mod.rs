//! AVX-512 with VL: every width has masks that suppress faults.

mod any_lanes;
mod registers;
mod side_by_side;

pub use any_lanes::AnyLanes;
pub use registers::{F32x4, F32x8, F32x16, F64x2, F64x4, F64x8};
pub(crate) use side_by_side::SideBySide;

use crate::simd::{Number, OnRegisters, Vectors};

/// 512-bit registers, and narrower ones with the same masks: AVX-512 F, VL, DQ and BW.
#[derive(Debug)]
pub struct Avx512;

impl Vectors<f64> for Avx512 {
    type Wide = F64x8;
    type Half = F64x4;
    type Narrow = F64x2;
    const REGISTERS: usize = 32;

    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2")]
    #[inline(never)]
    unsafe fn run(work: impl OnRegisters) {
        // SAFETY: the caller's promise; compiled for the set.
        unsafe { work.run() }
    }
}
impl Vectors<f32> for Avx512 {
    type Wide = F32x16;
    type Half = F32x8;
    type Narrow = F32x4;
    const REGISTERS: usize = 32;

    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2")]
    #[inline(never)]
    unsafe fn run(work: impl OnRegisters) {
        // SAFETY: the caller's promise; compiled for the set.
        unsafe { work.run() }
    }
}

/// The register of 64 bytes: sixteen f32 or eight f64.
pub(crate) type Vector<S> = <<S as Number>::Avx512 as Vectors<S>>::Wide;

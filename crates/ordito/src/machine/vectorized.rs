//! A kernel compiled for every instruction set, and the one that this CPU has chosen at run time.

use crate::Scalar;
use crate::cpu::SimdLevel;
use crate::machine::Machine;
use crate::simd::{Portable, Vectors};

/// A kernel that is written once, over the registers of an instruction set.
pub(crate) trait Vectorized<S: Scalar> {
    /// Does it. Implementations are `#[inline(always)]`, so that they are compiled for the set.
    ///
    /// # Safety
    /// Runs inside a function compiled for the instruction set, on a CPU that has it.
    unsafe fn run<V: Vectors<S>>(self);
}

impl Machine {
    /// Runs the kernel with the instructions of this machine's level.
    #[inline]
    pub(crate) fn vectorized<S: Scalar>(&self, kernel: impl Vectorized<S>) {
        match self.cpu().simd {
            // SAFETY: a machine's level never exceeds `SimdLevel::supported`, which asks the CPU for each of these sets.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { avx512(kernel) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { avx2(kernel) },
            // SAFETY: every CPU has the portable ones.
            _ => unsafe { kernel.run::<Portable>() },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2")]
fn avx512<S: Scalar>(kernel: impl Vectorized<S>) {
    // SAFETY: compiled for it, see the attribute; callers have asked the CPU.
    unsafe { kernel.run::<S::Avx512>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2")]
fn avx2<S: Scalar>(kernel: impl Vectorized<S>) {
    // SAFETY: as above.
    unsafe { kernel.run::<S::Avx2>() }
}

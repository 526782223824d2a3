//! A kernel compiled for every instruction set, and the one that this CPU has chosen at run time.

use crate::Scalar;
use crate::cpu::SimdLevel;
use crate::machine::Machine;
use crate::simd::{OnRegisters, Portable, Vectors};
use std::marker::PhantomData;

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
    pub(crate) fn vectorized<S: Scalar>(&self, kernel: impl Vectorized<S>) {
        // SAFETY: a machine's level never exceeds what is supported.
        unsafe { at_level(self.cpu().simd, kernel) }
    }
}

/// Runs the kernel with the instructions that this process uses.
#[cfg(feature = "solve")]
pub(crate) fn vectorized<S: Scalar>(kernel: impl Vectorized<S>) {
    // SAFETY: the level in use never exceeds what is supported.
    unsafe { at_level(SimdLevel::in_use(), kernel) }
}

/// # Safety
/// The level does not exceed `SimdLevel::supported`, which asks the CPU for each set.
unsafe fn at_level<S: Scalar>(level: SimdLevel, kernel: impl Vectorized<S>) {
    match level {
        // SAFETY: the caller's promise.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => unsafe { with::<S, S::Avx512>(kernel) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => unsafe { with::<S, S::Avx2>(kernel) },
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        SimdLevel::Neon => unsafe { with::<S, S::Neon>(kernel) },
        // SAFETY: every CPU has the portable ones.
        _ => unsafe { with::<S, Portable>(kernel) },
    }
}

/// # Safety
/// The CPU has the instruction set.
unsafe fn with<S: Scalar, V: Vectors<S>>(kernel: impl Vectorized<S>) {
    // SAFETY: the caller's promise.
    unsafe { V::run(KernelOnSet { kernel, scalar: PhantomData, set: PhantomData::<V> }) }
}

/// A kernel with the registers of a set.
struct KernelOnSet<S, V, K> {
    kernel: K,
    scalar: PhantomData<S>,
    set: PhantomData<V>,
}

impl<S: Scalar, V: Vectors<S>, K: Vectorized<S>> OnRegisters for KernelOnSet<S, V, K> {
    #[inline(always)]
    unsafe fn run(self) {
        // SAFETY: the caller's promise.
        unsafe { self.kernel.run::<V>() }
    }
}

//! Registers that hold several numbers, the same on every instruction set, so that a kernel is written once.
//!
//! A kernel is generic over [`Vectors`], an instruction set: its registers of three widths. Everything here is
//! `#[inline(always)]` and must end up in a function that is compiled for that set: [`Vectors::run`] is one; kernels that
//! are written for one set alone bring their own.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
#[cfg(target_arch = "x86_64")]
mod each;
mod gathers;
mod level;
#[cfg(target_arch = "aarch64")]
pub mod neon;
mod number;
pub mod portable;

#[cfg(target_arch = "x86_64")]
pub use crate::simd::avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use crate::simd::avx512::Avx512;
pub(crate) use crate::simd::gathers::are_slow as gathers_are_slow;
pub use crate::simd::level::SimdLevel;
#[cfg(target_arch = "aarch64")]
pub use crate::simd::neon::Neon;
pub use crate::simd::number::Number;
pub use crate::simd::portable::Portable;

use std::mem::MaybeUninit;

/// An instruction set, as the registers of a scalar type that it has.
pub trait Vectors<S>: 'static {
    /// The widest.
    type Wide: Gather<S>;
    /// 256 bits, half of the widest of AVX-512; or the widest.
    type Half: Lanes<S>;
    /// 128 bits.
    type Narrow: Lanes<S>;
    /// How many there are: sums beyond that go through memory.
    const REGISTERS: usize;

    /// Does the work in a function of its own, compiled for this set. (A kernel that is one function for all its spans of
    /// columns takes LLVM several times as long as its parts.)
    ///
    /// # Safety
    /// The CPU has the set; what the work itself asks for.
    unsafe fn run(work: impl OnRegisters);
}

/// What is done with the registers of an instruction set.
pub trait OnRegisters {
    /// Does it. Implementations are `#[inline(always)]`, so that they are compiled for the set.
    ///
    /// # Safety
    /// Runs inside a function compiled for the set, on a CPU that has it.
    unsafe fn run(self);
}

/// A register of numbers.
///
/// # Safety
/// Of all functions: they run inside a function compiled for the instruction set, on a CPU that has it. Of those that take an
/// address: all [`COUNT`](Self::COUNT) numbers from there on, or those that the mask names, may be read or written; no others are.
#[allow(clippy::missing_safety_doc)] // said above, once for all
pub trait Lanes<S>: Copy {
    /// How many numbers.
    const COUNT: usize;
    /// Which of them are meant.
    type Mask: Copy;

    /// The first `n` of them, at most [`COUNT`](Self::COUNT).
    unsafe fn first(n: usize) -> Self::Mask;
    /// Zeros.
    unsafe fn zero() -> Self;
    /// One number in every lane.
    unsafe fn splat(value: S) -> Self;
    /// Numbers that stand side by side, anywhere.
    unsafe fn load(from: *const S) -> Self;
    /// Those that the mask names; the others are 0 and their memory is not touched.
    unsafe fn load_masked(from: *const S, mask: Self::Mask) -> Self;
    /// To anywhere.
    unsafe fn store(self, to: *mut S);
    /// Those that the mask names; the memory of the others is not touched.
    unsafe fn store_masked(self, to: *mut S, mask: Self::Mask);
    /// A non-temporal store. `to` must be a multiple of the register's size, and [`fence`] must follow before others read.
    unsafe fn stream(self, to: *mut S);
    /// `self · factor + addend`; with one rounding where the instruction set has that.
    unsafe fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// Sum.
    unsafe fn add(self, other: Self) -> Self;
    /// Product.
    unsafe fn mul(self, factor: Self) -> Self;
}

/// What only the widest registers are asked for.
///
/// # Safety
/// As for [`Lanes`]. An instruction reads indices as signed: all must be below 2³¹ there; one by one any will do.
#[allow(clippy::missing_safety_doc)]
pub trait Gather<S>: Lanes<S> {
    /// Is there an instruction for it? Otherwise both ways are one.
    const BY_INSTRUCTION: bool = false;

    /// `from[indices[lane]]` in every lane.
    unsafe fn gather(from: *const S, indices: *const u32) -> Self;
    /// `from[indices[lane]]` in the first `n` lanes, 0 in the others; no more than `n` indices are read.
    unsafe fn gather_first(from: *const S, indices: *const u32, n: usize) -> Self;
    /// As [`gather`](Self::gather), but loaded one by one, where an instruction set has both.
    #[inline(always)]
    unsafe fn each(from: *const S, indices: *const u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::gather(from, indices) }
    }
    /// As [`gather_first`](Self::gather_first), but loaded one by one; where `n` is not 0 the number at `from` is read, too.
    #[inline(always)]
    unsafe fn each_first(from: *const S, indices: *const u32, n: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::gather_first(from, indices, n) }
    }
    /// All lanes added up, always in the same order.
    unsafe fn sum(self) -> S;
}

/// `from[indices[lane] · distance]` in the first `n` lanes, 0 in the others: one by one, whatever indices and distance are.
///
/// # Safety
/// As for [`Lanes`]; `n` is at most the number of lanes.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // as in kernels: a closure would be compiled without the instruction set
pub(crate) unsafe fn gather_apart<S: Number, L: Lanes<S>>(
    from: *const S,
    indices: *const u32,
    distance: usize,
    n: usize,
) -> L {
    const { assert!(L::COUNT <= 16) };
    let mut numbers = [S::default(); 16];
    // SAFETY: the caller's promise; the array is as long as the longest register.
    unsafe {
        for lane in 0..n {
            numbers[lane] = *from.add(*indices.add(lane) as usize * distance);
        }
        L::load(numbers.as_ptr())
    }
}

/// Asks for the cache line at an address, which need not exist. Only on x86-64: elsewhere nobody has measured what it gives.
#[inline(always)]
#[allow(clippy::not_unsafe_ptr_arg_deref)] // a hint: nothing is read
pub fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; it never faults, and every x86-64 has it.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast())
    };
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Copies by non-temporal stores, so that lines that are overwritten as a whole are not fetched before. Other threads may read it
/// afterwards.
pub fn copy_streaming<T: bytemuck::Pod>(from: &[T], to: &mut [MaybeUninit<T>]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        const REGISTER: usize = size_of::<__m128i>();
        const { assert!(size_of::<T>() > 0 && REGISTER.is_multiple_of(size_of::<T>())) };
        assert_eq!(from.len(), to.len());
        // The instruction wants whole registers of memory.
        let head = to.as_ptr().align_offset(REGISTER).min(to.len());
        let (from_head, from) = from.split_at(head);
        let (to_head, to) = to.split_at_mut(head);
        copy(from_head, to_head);
        let count = REGISTER / size_of::<T>();
        let (mut from, mut to) = (from.chunks_exact(count), to.chunks_exact_mut(count));
        for (from, to) in from.by_ref().zip(to.by_ref()) {
            // SAFETY: both have the bytes of a register, those of `from` are initialized, and `to` is aligned. Every
            // x86-64 has the instructions.
            unsafe { _mm_stream_si128(to.as_mut_ptr().cast(), _mm_loadu_si128(from.as_ptr().cast())) };
        }
        copy(from.remainder(), to.into_remainder());
        fence();
    }
    #[cfg(not(target_arch = "x86_64"))]
    copy(from, to);
}

fn copy<T: Copy>(from: &[T], to: &mut [MaybeUninit<T>]) {
    for (to, &from) in to.iter_mut().zip(from) {
        to.write(from);
    }
}

/// Makes what was streamed visible to other threads.
#[inline(always)]
pub fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has it.
    unsafe {
        std::arch::x86_64::_mm_sfence()
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scalar;

    #[test]
    fn streaming_copies_whatever_the_length_and_the_start() {
        let from: Vec<u32> = (1..100).collect();
        for (start, length) in [(0, 0), (0, 99), (1, 1), (1, 3), (2, 64), (3, 17), (5, 94)] {
            let mut to = vec![MaybeUninit::new(0); 99];
            copy_streaming(&from[start..start + length], &mut to[start..start + length]);
            for (place, to) in to.into_iter().enumerate() {
                let copied = (start..start + length).contains(&place);
                // SAFETY: it was written above, or here.
                let found = unsafe { to.assume_init() };
                assert_eq!(found, if copied { from[place] } else { 0 }, "{start} {length}");
            }
        }
    }

    /// Every operation against plain arithmetic, with neighbours that must stay as they are.
    ///
    /// # Safety
    /// The CPU has the instruction set.
    #[inline(always)]
    unsafe fn obeys<S: Scalar, L: Lanes<S>>() {
        let number = |i: usize| S::from_f64(i as f64 + 1.0);
        let numbers: Vec<S> = (0..L::COUNT + 1).map(number).collect();
        // SAFETY: `numbers` and `out` hold one number more than a register.
        unsafe {
            for n in 0..=L::COUNT {
                let mut out = vec![S::from_f64(-1.0); L::COUNT + 1];
                let mask = L::first(n);
                L::load_masked(numbers.as_ptr().add(1), mask).store(out.as_mut_ptr().add(1));
                for (lane, &found) in out[1..].iter().enumerate() {
                    assert_eq!(found, if lane < n { number(lane + 1) } else { S::ZERO }, "{n}");
                }
                out.fill(S::from_f64(-1.0));
                L::splat(number(6)).store_masked(out.as_mut_ptr().add(1), mask);
                let written = out.iter().filter(|&&x| x == number(6)).count();
                assert!(written == n && out[0] == -S::ONE && (n == 0 || out[n] == number(6)));
            }
            let mut out = vec![S::ZERO; L::COUNT];
            let x = L::load(numbers.as_ptr());
            x.mul_add(L::splat(number(1)), x.mul(x).add(L::zero())).store(out.as_mut_ptr());
            for (lane, &found) in out.iter().enumerate() {
                assert_eq!(found, number(lane) * number(1) + number(lane) * number(lane));
            }
        }
    }

    /// # Safety
    /// The CPU has the instruction set.
    #[inline(always)]
    unsafe fn all_obey<S: Scalar, V: Vectors<S>>() {
        // SAFETY: the caller's promise; indices stay inside `numbers`.
        unsafe {
            obeys::<S, V::Wide>();
            obeys::<S, V::Half>();
            obeys::<S, V::Narrow>();
            let numbers: Vec<S> = (0..100).map(|i| S::from_f64(f64::from(i))).collect();
            let indices: Vec<u32> = (0..V::Wide::COUNT as u32).map(|i| 99 - 5 * i).collect();
            let total = |n: usize| indices[..n].iter().map(|&i| S::from_f64(f64::from(i))).sum::<S>();
            assert_eq!(V::Wide::gather(numbers.as_ptr(), indices.as_ptr()).sum(), total(V::Wide::COUNT));
            assert_eq!(V::Wide::each(numbers.as_ptr(), indices.as_ptr()).sum(), total(V::Wide::COUNT));
            for n in 0..=V::Wide::COUNT {
                let exact: Vec<u32> = indices[..n].to_vec();
                assert_eq!(V::Wide::gather_first(numbers.as_ptr(), exact.as_ptr(), n).sum(), total(n));
                assert_eq!(V::Wide::each_first(numbers.as_ptr(), exact.as_ptr(), n).sum(), total(n));
                let halved: Vec<u32> = exact.iter().map(|i| i / 2).collect();
                let doubled: S = halved.iter().map(|&i| S::from_f64(f64::from(2 * i))).sum();
                let found = gather_apart::<S, V::Wide>(numbers.as_ptr(), halved.as_ptr(), 2, n);
                assert_eq!(found.sum(), doubled);
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2")]
    fn avx512() {
        // SAFETY: compiled for it, and called where the CPU has it.
        unsafe {
            all_obey::<f32, Avx512>();
            all_obey::<f64, Avx512>();
        }
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2")]
    fn avx2() {
        // SAFETY: as above.
        unsafe {
            all_obey::<f32, Avx2>();
            all_obey::<f64, Avx2>();
        }
    }

    #[test]
    fn every_instruction_set_does_the_same() {
        // SAFETY: every CPU has the portable ones.
        unsafe {
            all_obey::<f32, Portable>();
            all_obey::<f64, Portable>();
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: every CPU of the architecture has it.
        unsafe {
            all_obey::<f32, Neon>();
            all_obey::<f64, Neon>();
        }
        #[cfg(target_arch = "x86_64")]
        {
            if SimdLevel::supported() >= SimdLevel::Avx2 {
                // SAFETY: just asked for.
                unsafe { avx2() };
            }
            if SimdLevel::supported() >= SimdLevel::Avx512 {
                // SAFETY: just asked for.
                unsafe { avx512() };
            }
        }
    }
}

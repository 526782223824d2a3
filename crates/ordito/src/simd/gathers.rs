//! Are gather instructions slower than loading numbers one by one? On some processors they are (`each`), on others not: on a Sapphire
//! Rapids loading one by one takes 1.2 to 1.45 times as long. Which it is, is measured once, in some 30 microseconds.

use crate::simd::SimdLevel;

/// Of the gathers of this instruction set, on this computer.
pub(crate) fn are_slow(level: SimdLevel) -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use crate::simd::{Avx2, Avx512};
        use std::sync::OnceLock;
        static FOUND: [OnceLock<bool>; 2] = [const { OnceLock::new() }; 2];
        match level {
            level if level > SimdLevel::supported() => false,
            SimdLevel::Avx512 => *FOUND[0].get_or_init(measured::are_slow::<Avx512>),
            SimdLevel::Avx2 => *FOUND[1].get_or_init(measured::are_slow::<Avx2>),
            _ => false,
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    {
        let _ = level;
        false
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod measured {
    use crate::simd::{Gather, Lanes, OnRegisters, Vectors};
    use std::hint::black_box;
    use std::marker::PhantomData;
    use std::time::{Duration, Instant};

    /// Numbers, which lie in the first-level cache, and which of them are wanted.
    const NUMBERS: usize = 512;
    const WANTED: usize = 512;
    /// Each way so many times, in turn; the fastest counts. The first ones wake the vector units.
    const TURNS: usize = 9;

    pub(super) fn are_slow<V: Vectors<f64>>() -> bool {
        let numbers = [1.0; NUMBERS];
        let wanted: [u32; WANTED] = std::array::from_fn(|i| (i * 167 % NUMBERS) as u32);
        let mut least = [Duration::MAX; 2];
        for _ in 0..TURNS {
            least[0] = least[0].min(time::<V, false>(&numbers, &wanted));
            least[1] = least[1].min(time::<V, true>(&numbers, &wanted));
        }
        least[1] < least[0]
    }

    fn time<V: Vectors<f64>, const EACH: bool>(numbers: &[f64; NUMBERS], wanted: &[u32; WANTED]) -> Duration {
        let mut sum = 0.0;
        let work = Sum::<V, EACH> {
            numbers: black_box(numbers),
            wanted: black_box(wanted),
            sum: &mut sum,
            set: PhantomData,
        };
        let start = Instant::now();
        // SAFETY: whoever asks has the instruction set.
        unsafe { V::run(work) };
        let time = start.elapsed();
        black_box(sum);
        time
    }

    struct Sum<'a, V, const EACH: bool> {
        numbers: &'a [f64; NUMBERS],
        wanted: &'a [u32; WANTED],
        sum: &'a mut f64,
        set: PhantomData<V>,
    }

    impl<V: Vectors<f64>, const EACH: bool> OnRegisters for Sum<'_, V, EACH> {
        #[inline(always)]
        unsafe fn run(self) {
            // SAFETY: the caller's promise; all that is wanted is there.
            unsafe {
                let (numbers, wanted) = (self.numbers.as_ptr(), self.wanted.as_ptr());
                let mut sums = [V::Wide::zero(); 4];
                for at in (0..WANTED).step_by(4 * V::Wide::COUNT) {
                    for (chain, sum) in sums.iter_mut().enumerate() {
                        let wanted = wanted.add(at + chain * V::Wide::COUNT);
                        *sum = sum.add(match EACH {
                            true => V::Wide::each(numbers, wanted),
                            false => V::Wide::gather(numbers, wanted),
                        });
                    }
                }
                *self.sum = sums[0].add(sums[1]).add(sums[2].add(sums[3])).sum();
            }
        }
    }

    /// Both ways bring what is wanted, so what is timed is not nothing.
    #[test]
    fn both_sum_all_that_is_wanted() {
        use crate::simd::{Avx2, SimdLevel};
        if SimdLevel::supported() < SimdLevel::Avx2 {
            return;
        }
        let numbers: [f64; NUMBERS] = std::array::from_fn(|i| i as f64);
        let wanted: [u32; WANTED] = std::array::from_fn(|i| (i * 167 % NUMBERS) as u32);
        let mut sums = [0.0; 2];
        let [one, other] = &mut sums;
        // SAFETY: the processor has AVX2.
        unsafe {
            <Avx2 as Vectors<f64>>::run(Sum::<Avx2, false> {
                numbers: &numbers,
                wanted: &wanted,
                sum: one,
                set: PhantomData,
            });
            <Avx2 as Vectors<f64>>::run(Sum::<Avx2, true> {
                numbers: &numbers,
                wanted: &wanted,
                sum: other,
                set: PhantomData,
            });
        }
        assert_eq!(sums, [f64::from((0..512).sum::<i32>()); 2]);
    }
}

//! The two loops that the ceilings are measured with: one only reads, one only multiplies and adds.

use ordito::cpu::SimdLevel;
use std::hint::black_box;

/// One aligned cache line. Vectors that straddle two lines read at half the speed (75 instead of 140 GB/s
/// from L2 on a Sapphire Rapids core), so the buffers are made of lines.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(crate) struct Line(pub(crate) [u64; 8]);

/// Sums all lines. `streams` = 1 walks from front to back, 4 walks four quarters side by side: the first is
/// faster inside a cache, the second from memory (19 instead of 15 GB/s on that core), where more hardware
/// prefetchers help. The number of lines must be a multiple of [`BLOCK_LINES`]; a rest is left out.
pub(crate) fn read(level: SimdLevel, streams: usize, lines: &[Line]) -> u64 {
    match level.or_supported() {
        // SAFETY: the CPU has these instructions: the level is one that it has.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => unsafe { x86::read_avx512(streams, lines) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => unsafe { x86::read_avx2(streams, lines) },
        _ if streams == 1 => read_portable::<1, 2>(lines),
        _ => read_portable::<4, 1>(lines),
    }
}

/// Buffers are multiples of so many lines: four streams of two.
pub(crate) const BLOCK_LINES: usize = 8;

/// `LINES` consecutive lines of each stream per step, an accumulator for each: enough registers that loads,
/// not additions, are the limit. `V` is what holds a line: one or more vectors.
#[inline(always)]
fn read_streams<V: Copy, const STREAMS: usize, const LINES: usize>(
    lines: &[Line],
    zero: V,
    load: impl Fn(&Line) -> V,
    add: impl Fn(V, V) -> V,
) -> V {
    let blocks = lines.as_chunks::<LINES>().0;
    let steps = blocks.len() / STREAMS;
    let streams: [&[[Line; LINES]]; STREAMS] =
        std::array::from_fn(|stream| &blocks[stream * steps..(stream + 1) * steps]);
    let mut sums = [[zero; LINES]; STREAMS];
    for step in 0..steps {
        for (sums, stream) in sums.iter_mut().zip(streams) {
            for (sum, line) in sums.iter_mut().zip(&stream[step]) {
                *sum = add(*sum, load(line));
            }
        }
    }
    sums.as_flattened().iter().fold(zero, |total, &sum| add(total, sum))
}

/// Left to the compiler: eight 128-bit vectors or so.
fn read_portable<const STREAMS: usize, const LINES: usize>(lines: &[Line]) -> u64 {
    let add = |a: [u64; 8], b: [u64; 8]| std::array::from_fn(|word| a[word].wrapping_add(b[word]));
    let sum = read_streams::<[u64; 8], STREAMS, LINES>(lines, [0; 8], |line| line.0, add);
    sum.into_iter().fold(0, u64::wrapping_add)
}

/// Eight 128-bit vectors, left to the compiler. The numbers tend to 1: no overflow, nothing subnormal.
macro_rules! portable_chains {
    ($scalar:ident, $lanes:literal, $steps:ident) => {{
        let (factor, addend): ($scalar, $scalar) = (black_box(0.5), black_box(0.5));
        let mut chains: [$scalar; $lanes] = std::array::from_fn(|lane| black_box(lane as $scalar));
        for _ in 0..$steps {
            for chain in &mut chains {
                *chain = *chain * factor + addend;
            }
        }
        black_box(chains);
        2 * $lanes * $steps
    }};
}

/// `steps` multiply-adds on every element of several independent vectors; returns how many flops that was.
/// Fused where the level has it, otherwise a multiplication and an addition.
pub(crate) fn multiply_add_f64(level: SimdLevel, steps: u64) -> u64 {
    match level.or_supported() {
        // SAFETY: the CPU has these instructions: the level is one that it has.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => unsafe { x86::fma_f64_avx512(steps) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => unsafe { x86::fma_f64_avx2(steps) },
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        SimdLevel::Neon => unsafe { neon::fma_f64_neon(steps) },
        _ => portable_chains!(f64, 16, steps),
    }
}

/// The same in f32.
pub(crate) fn multiply_add_f32(level: SimdLevel, steps: u64) -> u64 {
    match level.or_supported() {
        // SAFETY: the CPU has these instructions: the level is one that it has.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => unsafe { x86::fma_f32_avx512(steps) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => unsafe { x86::fma_f32_avx2(steps) },
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        SimdLevel::Neon => unsafe { neon::fma_f32_neon(steps) },
        _ => portable_chains!(f32, 32, steps),
    }
}

/// Two units with a latency of four or five cycles need ten chains, four of them (wide AArch64 cores) sixteen; of the
/// registers (16, with AVX-512 and NEON 32) two hold factor and addend. Every chain starts elsewhere, so that none can be merged; the numbers
/// tend to 1. Written with intrinsics: the compiler did not vectorise the f64 loop for AVX2.
macro_rules! fma_chains {
    ($name:ident, $features:literal, $scalar:ident, $lanes:literal, $chains:literal, $splat:ident, $fma:ident) => {
        #[target_feature(enable = $features)]
        pub(crate) fn $name(steps: u64) -> u64 {
            let (factor, addend) = ($splat(black_box(0.5)), $splat(black_box(0.5)));
            let mut chains = [$splat(0.0); $chains];
            for (start, chain) in chains.iter_mut().enumerate() {
                *chain = $splat(black_box(start as $scalar));
            }
            for _ in 0..steps {
                for chain in &mut chains {
                    *chain = $fma(*chain, factor, addend);
                }
            }
            black_box(chains);
            2 * $lanes * $chains * steps
        }
    };
}

/// The same loops with more instructions allowed. Each may only be called where the CPU has them.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Line, black_box, read_streams};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f")]
    pub(crate) fn read_avx512(streams: usize, lines: &[Line]) -> u64 {
        let zero = _mm512_setzero_si512();
        let load = |line: &Line| {
            // SAFETY: a line is 64 readable bytes at a multiple of 64.
            unsafe { _mm512_load_si512(line.0.as_ptr().cast()) }
        };
        let add = |a, b| _mm512_add_epi64(a, b);
        let sum = match streams {
            1 => read_streams::<_, 1, 8>(lines, zero, load, add),
            _ => read_streams::<_, 4, 2>(lines, zero, load, add),
        };
        _mm512_reduce_add_epi64(sum) as u64
    }

    #[target_feature(enable = "avx2")]
    pub(crate) fn read_avx2(streams: usize, lines: &[Line]) -> u64 {
        let zero = [_mm256_setzero_si256(); 2];
        let load = |line: &Line| {
            let first: *const __m256i = line.0.as_ptr().cast();
            // SAFETY: a line is 64 readable bytes at a multiple of 64: two vectors of 32.
            unsafe { [_mm256_load_si256(first), _mm256_load_si256(first.add(1))] }
        };
        let add =
            |a: [__m256i; 2], b: [__m256i; 2]| [_mm256_add_epi64(a[0], b[0]), _mm256_add_epi64(a[1], b[1])];
        let [low, high] = match streams {
            1 => read_streams::<_, 1, 4>(lines, zero, load, add),
            _ => read_streams::<_, 4, 1>(lines, zero, load, add),
        };
        let sum = _mm256_add_epi64(low, high);
        let halves = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
        _mm_cvtsi128_si64(_mm_add_epi64(halves, _mm_unpackhi_epi64(halves, halves))) as u64
    }

    fma_chains!(fma_f64_avx512, "avx512f", f64, 8, 16, _mm512_set1_pd, _mm512_fmadd_pd);
    fma_chains!(fma_f32_avx512, "avx512f", f32, 16, 16, _mm512_set1_ps, _mm512_fmadd_ps);
    fma_chains!(fma_f64_avx2, "avx2,fma", f64, 4, 12, _mm256_set1_pd, _mm256_fmadd_pd);
    fma_chains!(fma_f32_avx2, "avx2,fma", f32, 8, 12, _mm256_set1_ps, _mm256_fmadd_ps);
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::black_box;
    use std::arch::aarch64::{float32x4_t, float64x2_t, vdupq_n_f32, vdupq_n_f64, vfmaq_f32, vfmaq_f64};

    fma_chains!(fma_f64_neon, "neon", f64, 2, 16, vdupq_n_f64, multiply_add_f64);
    fma_chains!(fma_f32_neon, "neon", f32, 4, 16, vdupq_n_f32, multiply_add_f32);

    /// The instruction has the addend in front.
    #[target_feature(enable = "neon")]
    fn multiply_add_f64(a: float64x2_t, factor: float64x2_t, addend: float64x2_t) -> float64x2_t {
        vfmaq_f64(addend, a, factor)
    }
    /// As above.
    #[target_feature(enable = "neon")]
    fn multiply_add_f32(a: float32x4_t, factor: float32x4_t, addend: float32x4_t) -> float32x4_t {
        vfmaq_f32(addend, a, factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_reads_every_word() {
        let line = |first: usize| Line(std::array::from_fn(|word| (8 * first + word) as u64));
        let lines: Vec<Line> = (0..BLOCK_LINES * 5).map(line).collect();
        let words = (BLOCK_LINES * 5 * 8) as u64;
        for level in SimdLevel::ALL {
            for streams in [1, 4] {
                assert_eq!(read(level, streams, &lines), words * (words - 1) / 2, "{level} {streams}");
            }
        }
    }

    #[test]
    fn flops_are_counted_per_step() {
        for level in SimdLevel::ALL {
            for multiply_add in [multiply_add_f32, multiply_add_f64] {
                let one = multiply_add(level, 1);
                assert!(one >= 32 && multiply_add(level, 1000) == 1000 * one, "{level}");
            }
        }
    }
}

//! Up to four columns of X, or eight of f32, without gaps between rows: the numbers of a chunk's rows of Y are K whole
//! vectors, a diagonal's part of X is K whole vectors too, and the values of A are spread over them in registers.

#![allow(clippy::needless_range_loop)] // several arrays of registers are walked side by side

use crate::Scalar;
use crate::simd::avx512::{AnyLanes, Vector};
use crate::simd::{Lanes, prefetch};
use crate::spmm::cpu::diagonals::Part;
use crate::spmm::cpu::diagonals::rows_avx512::{add_rows, fetch_row, has_nan};
use crate::spmm::cpu::formats::Run;
use crate::spmm::cpu::kernels::target::Target;

/// Bytes of A that are asked for before they are needed, at least: a page, at whose end the processor's own prefetching stops.
/// Over MKL on stencil27:58 in f64, one run each: K = 2 1.70 without, 1.82, 2.27, 2.96 with 1, 2, 4 KiB; K = 3 1.51 without,
/// 1.19, 2.09, 2.88. No gain to be seen on stencil5:447 and band:20000x50. Where A lies in a cache of the core it costs: K = 1, f64, 1000
/// rows on 4 diagonals took 1.5 times as long, 12 000 on 2 1.15 times, 50 000 on 4 as long.
const AHEAD: usize = 4096;

/// Rows of Y for K columns. `far`: A does not lie in a cache of the core, and is asked for ahead; so it is wherever Y
/// is scaled or has gaps.
///
/// # Safety
/// The processor has AVX-512; K is at most 4, or 8. X has the matrix's columns as rows, each of K numbers, without gaps.
pub(crate) unsafe fn multiply<S: Scalar, const K: usize>(
    part: Part<'_, S>,
    far: bool,
    x: *const S,
    y: Target<'_, S>,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match (far, y.is_plain(K)) {
            (false, true) => runs::<S, K, false, true>(part, x, y),
            (true, true) => runs::<S, K, true, true>(part, x, y),
            (_, false) => runs::<S, K, true, false>(part, x, y),
        }
    }
}

/// Rows of Y for K columns.
///
/// # Safety
/// As above. `PLAIN`: Y has no gaps, and sums go there as they are.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2,popcnt")]
unsafe fn runs<S: Scalar, const K: usize, const FAR: bool, const PLAIN: bool>(
    part: Part<'_, S>,
    x: *const S,
    y: Target<'_, S>,
) {
    let lanes = Vector::<S>::COUNT;
    // SAFETY: AVX-512 is there. Without masks every lane holds a nonzero, and so lies inside the matrix; with masks all lanes are read
    // only of chunks that are inside. There is a value for every lane. Targets are rows of the part.
    unsafe {
        let mut places = [Vector::<S>::places(|_| 0); K];
        for (j, places) in places.iter_mut().enumerate() {
            *places = Vector::<S>::places(|lane| (j * lanes + lane) / K);
        }
        let mut row = part.first_row;
        for run in part.runs {
            match run {
                Run::Diagonals { chunks, diagonals, masks, values } => {
                    let mut chunk =
                        Chunk { diagonals, x, values: values.as_ptr(), masks: masks.as_ptr(), places };
                    let exact = !masks.is_empty();
                    let inside = if exact { run.chunks_inside(part.cols) } else { 0..chunks };
                    chunk.at_border(inside.start, &mut row, y);
                    let mut left = inside.len();
                    // The last chunk of a matrix may have fewer rows than lanes.
                    let of_whole_rows = y.rows().saturating_sub(row) / lanes;
                    let short = left - left.min(of_whole_rows);
                    left -= short;
                    // Several sums side by side: one alone would wait for every addition.
                    while K == 1 && left >= 4 {
                        chunk.whole::<4, FAR, PLAIN>(exact, &mut row, y);
                        left -= 4;
                    }
                    while K <= 2 && left >= 2 {
                        chunk.whole::<2, FAR, PLAIN>(exact, &mut row, y);
                        left -= 2;
                    }
                    while left > 0 {
                        chunk.whole::<1, FAR, PLAIN>(exact, &mut row, y);
                        left -= 1;
                    }
                    chunk.at_border(short, &mut row, y);
                    chunk.at_border(chunks - inside.end, &mut row, y);
                }
                Run::Rows { lengths, columns, values } => {
                    let mask = [Vector::<S>::first_lanes(K)];
                    let (mut columns, mut values) = (columns.as_ptr(), values.as_ptr());
                    for (lane, &length) in lengths.iter().enumerate() {
                        let length = length as usize;
                        if K == 1 {
                            y.write_element(
                                row + lane,
                                0,
                                fetch_row(columns, values, length, x, part.gathers),
                            );
                        } else {
                            y.write(row + lane, 0, add_rows(columns, values, length, x, K, mask), mask);
                        }
                        (columns, values) = (columns.add(length), values.add(length));
                    }
                    row += lanes;
                }
            }
        }
    }
}

/// A chunk of a run, and those that follow it.
#[derive(Clone, Copy)]
struct Chunk<'a, S: Scalar, const K: usize> {
    diagonals: &'a [u32],
    /// The row of X that stands under lane 0 of diagonal 0.
    x: *const S,
    values: *const S,
    masks: *const u16,
    /// Where every lane takes its value of A from, in each of K vectors.
    places: [<Vector<S> as AnyLanes<S>>::Places; K],
}

/// # Safety
/// As for [`multiply`].
impl<S: Scalar, const K: usize> Chunk<'_, S, K> {
    #[inline(always)]
    fn go_on(&mut self, chunks: usize) {
        let lanes = Vector::<S>::COUNT;
        self.x = self.x.wrapping_add(chunks * lanes * K);
        self.values = self.values.wrapping_add(chunks * self.diagonals.len() * lanes);
        self.masks = self.masks.wrapping_add(chunks * self.diagonals.len());
    }

    #[inline(always)]
    fn x_of(&self, diagonal: u32) -> *const S {
        self.x.wrapping_offset(diagonal as i32 as isize * K as isize)
    }

    /// The values of A under one of K vectors.
    #[inline(always)]
    unsafe fn spread(&self, values: Vector<S>, j: usize) -> Vector<S> {
        // SAFETY: AVX-512 is there.
        if K == 1 { values } else { unsafe { values.permute(self.places[j]) } }
    }

    /// Multiplies so many chunks, all lanes of which lie in the matrix, and goes on behind them. `exact`: some hold no nonzero.
    /// Their zeros are added too. That makes a difference where X is not finite, and then the sum is not a number.
    #[inline(always)]
    unsafe fn whole<const CHUNKS: usize, const FAR: bool, const PLAIN: bool>(
        &mut self,
        exact: bool,
        row: &mut usize,
        y: Target<'_, S>,
    ) {
        let lanes = Vector::<S>::COUNT;
        // SAFETY: the caller's promise; there is a value for every lane.
        unsafe {
            let mut sums = [[Vector::<S>::zero(); K]; CHUNKS];
            let mut values = self.values;
            // Not what is read a moment later, as the next of these chunks.
            let ahead = AHEAD.max(CHUNKS * self.diagonals.len() * 64);
            for &diagonal in self.diagonals {
                let x = self.x_of(diagonal);
                for chunk in 0..CHUNKS {
                    let value = values.wrapping_add(chunk * self.diagonals.len() * lanes);
                    if FAR {
                        prefetch(value.wrapping_byte_add(ahead));
                    }
                    let value = Vector::<S>::load(value);
                    for j in 0..K {
                        let x = Vector::<S>::load(x.add((chunk * K + j) * lanes));
                        sums[chunk][j] = self.spread(value, j).mul_add(x, sums[chunk][j]);
                    }
                }
                values = values.add(lanes);
            }
            if exact && has_nan::<S, K, CHUNKS>(&sums) {
                self.write_masked(CHUNKS, *row, y);
            } else {
                for chunk in 0..CHUNKS {
                    y.write_or_store_rows::<K, PLAIN>(*row + chunk * lanes, sums[chunk]);
                }
            }
            *row += CHUNKS * lanes;
            self.go_on(CHUNKS);
        }
    }

    /// Multiplies so many chunks, some lanes of which lie outside of the matrix, and goes on behind them.
    #[inline(always)]
    unsafe fn at_border(&mut self, chunks: usize, row: &mut usize, y: Target<'_, S>) {
        if chunks > 0 {
            // SAFETY: the caller's promise.
            unsafe { self.write_masked(chunks, *row, y) };
            *row += chunks * Vector::<S>::COUNT;
            self.go_on(chunks);
        }
    }

    /// So many chunks by their masks. Apart: what it needs would take the registers of the loop over whole ones.
    #[cold]
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2,popcnt")]
    unsafe fn write_masked(self, chunks: usize, row: usize, y: Target<'_, S>) {
        for chunk in 0..chunks {
            // SAFETY: the caller's promise.
            unsafe { y.write_rows(row + chunk * Vector::<S>::COUNT, self.masked(chunk)) };
        }
    }

    /// The sums of the chunk so many behind this one, of lanes that hold a nonzero.
    #[inline(always)]
    unsafe fn masked(&self, behind: usize) -> [Vector<S>; K] {
        let lanes = Vector::<S>::COUNT;
        // SAFETY: the caller's promise.
        unsafe {
            let mut sums = [Vector::<S>::zero(); K];
            let places = behind * self.diagonals.len();
            let (mut values, mut masks) = (self.values.add(places * lanes), self.masks.add(places));
            for &diagonal in self.diagonals {
                let x = self.x_of(diagonal).wrapping_add(behind * lanes * K);
                let (value, mask) = (Vector::<S>::load(values), *masks);
                for j in 0..K {
                    let x = Vector::<S>::load_lanes(x.wrapping_add(j * lanes), spread_mask::<S, K>(mask, j));
                    sums[j] = self.spread(value, j).mul_add(x, sums[j]);
                }
                (values, masks) = (values.add(lanes), masks.add(1));
            }
            sums
        }
    }
}

/// The mask of the `j`th of K vectors over which the lanes of a mask are spread, each K times.
#[inline(always)]
unsafe fn spread_mask<S: Scalar, const K: usize>(mask: u16, j: usize) -> u16 {
    use std::arch::x86_64::_pdep_u64;
    let (lanes, bits) = (Vector::<S>::COUNT, u64::from(mask));
    // SAFETY: every processor with AVX-512 has BMI2.
    let spread = unsafe {
        match K {
            1 => bits,
            2 => (_pdep_u64(bits, 0x5555_5555) * 3) >> (j * lanes),
            3 => (_pdep_u64(bits, 0x2492_4924_9249) * 7) >> (j * lanes),
            4 => (_pdep_u64(bits, 0x1111_1111_1111_1111) * 15) >> (j * lanes),
            _ => _pdep_u64(bits >> (j * lanes / 8), 0x0101) * 255, // K = 8: two lanes of f32, one of f64
        }
    };
    spread as u16 & Vector::<S>::ALL
}

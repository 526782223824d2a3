//! Up to four columns of X, or eight of f32, without gaps between rows: the numbers of a chunk's rows of Y are K whole
//! vectors, a diagonal's part of X is K whole vectors too, and the values of A are spread over them in registers.

#![allow(clippy::needless_range_loop)] // several arrays of registers are walked side by side

use crate::Scalar;
use crate::simd::avx512::{AnyLanes, Vector};
use crate::simd::{Lanes, prefetch};
use crate::spmm::cpu::diagonals::Part;
use crate::spmm::cpu::diagonals::rows_avx512::{add_rows, gather_row};
use crate::spmm::cpu::formats::Chunk;
use crate::spmm::cpu::kernels::target::Target;

/// Bytes of A that are asked for before they are needed: a page, at whose end the processor's own prefetching stops.
/// Over MKL on stencil27:58 in f64, one run each: K = 2 1.70 without, 1.82, 2.27, 2.96 with 1, 2, 4 KiB; K = 3 1.51 without,
/// 1.19, 2.09, 2.88. No gain to be seen on stencil5:447 and band:20000x50.
const AHEAD: usize = 4096;

/// Rows of Y for K columns.
///
/// # Safety
/// The processor has AVX-512; K is at most 4, or 8. X has the matrix's columns as rows, each of K numbers, without gaps.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn multiply<S: Scalar, const K: usize>(part: Part<'_, S>, x: *const S, y: Target<'_, S>) {
    let lanes = Vector::<S>::COUNT;
    // SAFETY: AVX-512 is there. Diagonals lie inside the matrix at the lanes that they have, so X is read only where it
    // is; values are as many as the diagonals have lanes. Targets are rows of the part.
    unsafe {
        let mut places = [Vector::<S>::places(|_| 0); K];
        for (j, places) in places.iter_mut().enumerate() {
            *places = Vector::<S>::places(|lane| (j * lanes + lane) / K);
        }
        let spread = |values: Vector<S>, j: usize| if K == 1 { values } else { values.permute(places[j]) };
        let mut row = part.first_row;
        for chunk in part.chunks {
            match chunk {
                Chunk::Diagonals { full, full_values, partial, masks, partial_values } => {
                    let (mut sums, mut more) = ([Vector::<S>::zero(); K], [Vector::<S>::zero(); K]);
                    let (mut value, mut other) = (full_values.as_ptr(), partial_values.as_ptr());
                    let add = |sums: &mut [Vector<S>; K], diagonal: u32, value: *const S| {
                        let x = x.offset(diagonal as i32 as isize * K as isize);
                        prefetch(value.wrapping_byte_add(AHEAD));
                        let values = Vector::<S>::load(value);
                        for j in 0..K {
                            sums[j] = spread(values, j).mul_add(Vector::<S>::load(x.add(j * lanes)), sums[j]);
                        }
                    };
                    let (pairs, last) = full.as_chunks::<2>();
                    for &[one, other] in pairs {
                        add(&mut sums, one, value);
                        add(&mut more, other, value.add(lanes));
                        value = value.add(2 * lanes);
                    }
                    for &diagonal in last {
                        add(&mut sums, diagonal, value);
                        value = value.add(lanes);
                    }
                    for (&diagonal, &mask) in partial.iter().zip(masks) {
                        let x = x.wrapping_offset(diagonal as i32 as isize * K as isize);
                        let values = Vector::<S>::expand(other, mask);
                        other = other.add(mask.count_ones() as usize);
                        for j in 0..K {
                            let x = Vector::<S>::load_lanes(
                                x.wrapping_add(j * lanes),
                                spread_mask::<S, K>(mask, j),
                            );
                            more[j] = spread(values, j).mul_add(x, more[j]);
                        }
                    }
                    for j in 0..K {
                        sums[j] = sums[j].add(more[j]);
                    }
                    y.write_rows(row, sums);
                }
                Chunk::Rows { lengths, columns, values } => {
                    let mask = [Vector::<S>::first_lanes(K)];
                    let (mut columns, mut values) = (columns.as_ptr(), values.as_ptr());
                    for (lane, &length) in lengths.iter().enumerate() {
                        let length = length as usize;
                        if K == 1 {
                            y.write_element(row + lane, 0, gather_row(columns, values, length, x));
                        } else {
                            y.write(row + lane, 0, add_rows(columns, values, length, x, K, mask), mask);
                        }
                        (columns, values) = (columns.add(length), values.add(length));
                    }
                }
            }
            row += lanes;
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

//! The heart: a tile of C whose sums stay in registers while rows of A and columns of B pass by.

// Loops over indices: a closure would be a function of its own, which nobody compiles for the instruction set.
#![allow(clippy::needless_range_loop)]

use crate::Scalar;
use crate::simd::{Lanes, OnRegisters, Portable, SimdLevel, Vectors, prefetch};
use std::marker::PhantomData;

/// Terms of B that are asked for early: its panels are read once from the second-level cache, or from beyond.
const AHEAD: usize = 8;
/// Rows of the tallest tile.
pub(super) const MOST_ROWS: usize = 8;

/// A tile of C and what is added to it. Addresses, since operands lie packed or as they came.
pub(super) struct Operands<S> {
    /// The first term of every row of A, and the elements to the next. Where C has fewer rows than the tile, its last one again.
    pub(super) a: [*const S; MOST_ROWS],
    pub(super) a_step: usize,
    /// The first term of the columns of B, whole registers of them, and the elements to the next.
    pub(super) b: *const S,
    pub(super) b_step: usize,
    pub(super) terms: usize,
    pub(super) c: *mut S,
    pub(super) c_step: usize,
    /// What C has of the tile: at least one row, and more columns than one register less would hold.
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) alpha: S,
    /// What scales C before the sums are added. 0: it is not read.
    pub(super) beta: S,
}

/// The tiles of an instruction set.
pub(super) struct Tiles<S> {
    /// Rows, at most [`MOST_ROWS`].
    pub(super) rows: usize,
    /// Columns of a register.
    pub(super) lanes: usize,
    /// Registers side by side, at most.
    pub(super) width: usize,
    /// C = αAB + βC in a tile that is so many registers wide.
    ///
    /// # Safety
    /// The CPU has the instruction set. `terms` terms of every row of A and of whole registers of B may be read; of C, as many
    /// rows and columns as are said may be read and written, by this thread alone.
    pub(super) run: unsafe fn(registers: usize, operands: &Operands<S>),
    /// Copies a panel of B. Columns that its last register lacks become 0.
    ///
    /// # Safety
    /// The CPU has the instruction set, and what [`Panel`] says holds.
    pub(super) pack: unsafe fn(panel: &Panel<S>),
}

/// Columns of B, as many as a tile has or fewer, and where they go.
pub(super) struct Panel<S> {
    /// The first term of the first column, which may be read as all may, and the elements to the next.
    pub(super) b: *const S,
    pub(super) b_step: usize,
    pub(super) terms: usize,
    pub(super) cols: usize,
    /// Room for whole registers of every term, which this thread alone writes to.
    pub(super) to: *mut S,
}

impl<S: Scalar> Tiles<S> {
    /// Those of this process. Their sums, the columns and a factor fill the registers: 24, 3 and 1 of 32 with AVX-512 and NEON,
    /// 12, 3 and 1 of 16 with AVX2.
    pub(super) fn in_use() -> Self {
        Self::of(SimdLevel::in_use())
    }

    /// Those of a level.
    pub(super) fn of(level: SimdLevel) -> Self {
        match level {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => Self::new::<S::Avx512, <S::Avx512 as Vectors<S>>::Wide, 8, 3>(),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => Self::new::<S::Avx2, <S::Avx2 as Vectors<S>>::Wide, 4, 3>(),
            #[cfg(target_arch = "aarch64")]
            SimdLevel::Neon => Self::new::<S::Neon, <S::Neon as Vectors<S>>::Wide, 8, 3>(),
            _ => Self::new::<Portable, <Portable as Vectors<S>>::Narrow, 4, 1>(),
        }
    }

    fn new<V: Vectors<S>, L: Lanes<S>, const ROWS: usize, const WIDTH: usize>() -> Self {
        const { assert!((ROWS == 4 || ROWS == MOST_ROWS) && 1 <= WIDTH && WIDTH <= 3) }; // as `pack_a` packs
        Tiles {
            rows: ROWS,
            lanes: L::COUNT,
            width: WIDTH,
            run: run::<S, V, L, ROWS, WIDTH>,
            pack: pack::<S, V, L>,
        }
    }
}

/// # Safety
/// As for [`Tiles::run`].
unsafe fn run<S: Scalar, V: Vectors<S>, L: Lanes<S>, const ROWS: usize, const WIDTH: usize>(
    registers: usize,
    operands: &Operands<S>,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if const { WIDTH >= 3 } && registers == 3 {
            V::run(Tile::<S, L, ROWS, 3>(operands, PhantomData));
        } else if const { WIDTH >= 2 } && registers == 2 {
            V::run(Tile::<S, L, ROWS, 2>(operands, PhantomData));
        } else {
            V::run(Tile::<S, L, ROWS, 1>(operands, PhantomData));
        }
    }
}

/// # Safety
/// As for [`Tiles::pack`].
unsafe fn pack<S: Scalar, V: Vectors<S>, L: Lanes<S>>(panel: &Panel<S>) {
    // SAFETY: the caller's promise.
    unsafe { V::run(Pack::<S, L>(panel, PhantomData)) }
}

struct Pack<'a, S, L>(&'a Panel<S>, PhantomData<L>);

impl<S: Scalar, L: Lanes<S>> OnRegisters for Pack<'_, S, L> {
    #[inline(always)]
    unsafe fn run(self) {
        let Pack(panel, _) = self;
        // SAFETY: the caller's promise.
        unsafe {
            let (whole, rest) = (panel.cols / L::COUNT, panel.cols % L::COUNT);
            let (mask, registers) = (L::first(rest), panel.cols.div_ceil(L::COUNT));
            let (mut from, mut to) = (panel.b, panel.to);
            for _ in 0..panel.terms {
                for j in 0..registers {
                    prefetch(from.wrapping_add(AHEAD * panel.b_step + j * L::COUNT));
                }
                for j in 0..whole {
                    L::load(from.add(j * L::COUNT)).store(to.add(j * L::COUNT));
                }
                if rest != 0 {
                    L::load_masked(from.add(whole * L::COUNT), mask).store(to.add(whole * L::COUNT));
                }
                from = from.wrapping_add(panel.b_step); // after the last term it may point anywhere
                to = to.add(registers * L::COUNT);
            }
        }
    }
}

/// `ROWS` rows and `WIDTH` registers of columns.
struct Tile<'a, S, L, const ROWS: usize, const WIDTH: usize>(&'a Operands<S>, PhantomData<L>);

impl<S: Scalar, L: Lanes<S>, const ROWS: usize, const WIDTH: usize> OnRegisters
    for Tile<'_, S, L, ROWS, WIDTH>
{
    #[inline(always)]
    unsafe fn run(self) {
        let Tile(operands, _) = self;
        // SAFETY: the caller's promise.
        unsafe {
            let mut sums = [[L::zero(); WIDTH]; ROWS];
            let (mut a_term, mut b) = (0, operands.b);
            for i in 0..ROWS {
                if i < operands.rows {
                    for j in 0..WIDTH {
                        prefetch(operands.c.add(i * operands.c_step + j * L::COUNT));
                    }
                }
            }
            for _ in 0..operands.terms {
                for j in 0..WIDTH {
                    prefetch(b.wrapping_add(AHEAD * operands.b_step + j * L::COUNT));
                }
                let mut numbers = [L::zero(); WIDTH];
                for j in 0..WIDTH {
                    numbers[j] = L::load(b.add(j * L::COUNT));
                }
                for i in 0..ROWS {
                    let factor = L::splat(*operands.a[i].add(a_term));
                    for j in 0..WIDTH {
                        sums[i][j] = factor.mul_add(numbers[j], sums[i][j]);
                    }
                }
                a_term += operands.a_step;
                b = b.wrapping_add(operands.b_step); // after the last term it may point anywhere
            }
            let (alpha, beta, reads) =
                (L::splat(operands.alpha), L::splat(operands.beta), operands.beta != S::ZERO);
            let rest = operands.cols - (WIDTH - 1) * L::COUNT;
            let (whole, mask) = (rest == L::COUNT, L::first(rest));
            // Over all rows, with a condition: an index that is not known when compiling would send the sums through memory.
            for i in 0..ROWS {
                if i < operands.rows {
                    for j in 0..WIDTH {
                        let to = operands.c.add(i * operands.c_step + j * L::COUNT);
                        let product = sums[i][j].mul(alpha);
                        if j + 1 < WIDTH || whole {
                            let sum = if reads { L::load(to).mul(beta).add(product) } else { product };
                            sum.store(to);
                        } else {
                            let sum =
                                if reads { L::load_masked(to, mask).mul(beta).add(product) } else { product };
                            sum.store_masked(to, mask);
                        }
                    }
                }
            }
        }
    }
}

//! Where sums go: Y = α · sums + β · Y, for several threads that write different rows.

use crate::Scalar;
use crate::matrix::DenseViewMut;
use crate::spmm::cpu::kernels::epilogue::Epilogue;
use std::marker::PhantomData;

/// The rows of Y and what happens to sums on their way there. With β = 0, Y is not read.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a, S> {
    y: *mut S,
    rows: usize,
    distance: usize,
    epilogue: Epilogue<S>,
    lifetime: PhantomData<&'a mut [S]>,
}

// SAFETY: everything that writes is unsafe, and asks that no two threads write the same row.
unsafe impl<S: Scalar> Sync for Target<'_, S> {}
// SAFETY: as above; nothing is tied to a thread.
unsafe impl<S: Scalar> Send for Target<'_, S> {}

/// # Safety
/// Of all functions that write: the row is one of Y's and has the columns that are written; no other thread writes it.
/// Those that take vectors: the processor has AVX-512.
impl<'a, S: Scalar> Target<'a, S> {
    pub(crate) fn new(alpha: S, beta: S, y: DenseViewMut<'a, S>) -> Self {
        let (rows, distance) = (y.rows(), y.leading_dimension());
        let epilogue = Epilogue::new(alpha, beta);
        Target { y: y.into_data().as_mut_ptr(), rows, distance, epilogue, lifetime: PhantomData }
    }

    /// One number.
    #[inline(always)]
    pub(crate) unsafe fn write_element(self, row: usize, column: usize, sum: S) {
        debug_assert!(row < self.rows && column < self.distance);
        // SAFETY: the caller's promise.
        unsafe { self.epilogue.write(self.y.add(row * self.distance + column), sum) };
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(clippy::needless_range_loop)] // several arrays of registers are walked side by side
mod vectors {
    use super::Target;
    use crate::Scalar;
    use crate::simd::Lanes;
    use crate::simd::avx512::{AnyLanes, Vector};
    use crate::spmm::cpu::kernels::epilogue::Slot;

    /// Numbers of Y at those lanes that the mask has.
    #[derive(Clone, Copy)]
    struct LanesOfY<S> {
        y: *mut S,
        mask: u16,
    }

    #[allow(clippy::undocumented_unsafe_blocks)] // each is the promise that `Slot` asks its callers for
    impl<S: Scalar> Slot<S> for LanesOfY<S> {
        type Numbers = Vector<S>;

        #[inline(always)]
        unsafe fn load(self) -> Vector<S> {
            unsafe { Vector::<S>::load_lanes(self.y, self.mask) }
        }
        #[inline(always)]
        unsafe fn store(self, numbers: Vector<S>) {
            unsafe {
                match self.mask == Vector::<S>::ALL {
                    true => numbers.store(self.y),
                    false => numbers.store_lanes(self.y, self.mask),
                }
            }
        }
        #[inline(always)]
        unsafe fn mul(factor: S, numbers: Vector<S>) -> Vector<S> {
            unsafe { Vector::<S>::splat(factor).mul(numbers) }
        }
        #[inline(always)]
        unsafe fn add(a: Vector<S>, b: Vector<S>) -> Vector<S> {
            unsafe { a.add(b) }
        }
    }

    /// # Safety
    /// As above.
    impl<S: Scalar> Target<'_, S> {
        /// Columns from `first` on, those lanes that the masks have.
        #[inline(always)]
        pub(crate) unsafe fn write<const NV: usize>(
            self,
            row: usize,
            first: usize,
            sums: [Vector<S>; NV],
            masks: [u16; NV],
        ) {
            debug_assert!(row < self.rows);
            for j in 0..NV {
                // SAFETY: the caller's promise.
                unsafe {
                    let y = self.y.wrapping_add(row * self.distance + first + j * Vector::<S>::COUNT);
                    self.epilogue.write(LanesOfY { y, mask: masks[j] }, sums[j]);
                }
            }
        }

        /// Rows of Y.
        pub(crate) fn rows(&self) -> usize {
            self.rows
        }

        /// Are rows without gaps written as the sums are? Then [`store_rows`](Self::store_rows) will do. Asked once for many rows: what
        /// else may have to be done takes the registers of the loop that multiplies.
        pub(crate) fn is_plain(&self, columns: usize) -> bool {
            self.distance == columns && self.epilogue.is_plain()
        }

        /// Vectors of neighbouring rows from `row` on.
        ///
        /// # Safety
        /// Besides: [`is_plain`](Self::is_plain), and all these rows are there.
        #[inline(always)]
        pub(crate) unsafe fn store_rows<const K: usize>(self, row: usize, sums: [Vector<S>; K]) {
            debug_assert!(self.is_plain(K) && row + Vector::<S>::COUNT <= self.rows);
            for j in 0..K {
                // SAFETY: without gaps the rows are K vectors.
                unsafe { sums[j].store(self.y.add(row * K + j * Vector::<S>::COUNT)) };
            }
        }

        /// The one column of `count` rows, each lane where its place says, counted from `first_row`.
        ///
        /// # Safety
        /// Besides: there is a place for every lane, and with `PLAIN` [`is_plain`](Self::is_plain).
        #[inline(always)]
        pub(crate) unsafe fn scatter<const PLAIN: bool>(
            self,
            first_row: usize,
            places: *const u16,
            count: usize,
            sums: Vector<S>,
        ) {
            // SAFETY: the caller's promise.
            unsafe {
                if PLAIN {
                    sums.scatter_near(self.y.add(first_row), places, Vector::<S>::first_lanes(count));
                    return;
                }
                let mut numbers = [S::ZERO; 16];
                sums.store(numbers.as_mut_ptr());
                for (lane, &sum) in numbers.iter().enumerate().take(count) {
                    self.write_element(first_row + *places.add(lane) as usize, 0, sum);
                }
            }
        }

        /// Rows from `row` on that are there as a whole, after whatever is to be done to sums.
        #[inline(always)]
        pub(crate) unsafe fn write_or_store_rows<const K: usize, const PLAIN: bool>(
            self,
            row: usize,
            sums: [Vector<S>; K],
        ) {
            // SAFETY: the caller's promise.
            unsafe {
                match PLAIN {
                    true => self.store_rows(row, sums),
                    false => self.write_rows(row, sums),
                }
            }
        }

        /// All K columns of as many rows from `row` on as a vector has lanes, or as there are: row after row in the vectors.
        #[inline(always)]
        pub(crate) unsafe fn write_rows<const K: usize>(self, row: usize, sums: [Vector<S>; K]) {
            let lanes = Vector::<S>::COUNT;
            let count = lanes.min(self.rows - row);
            if self.distance == K {
                for (j, &sums) in sums.iter().enumerate() {
                    let mask = Vector::<S>::first_lanes((count * K).saturating_sub(j * lanes));
                    let y = self.y.wrapping_add(row * K + j * lanes);
                    // SAFETY: without gaps the rows are `count · K` numbers.
                    unsafe { self.epilogue.write(LanesOfY { y, mask }, sums) };
                }
                return;
            }
            let mut numbers = [S::ZERO; 128];
            for (j, &sums) in sums.iter().enumerate() {
                // SAFETY: slices of that length.
                unsafe { sums.store(numbers[j * lanes..(j + 1) * lanes].as_mut_ptr()) };
            }
            for (lane, numbers) in numbers.chunks_exact(K).take(count).enumerate() {
                for (column, &sum) in numbers.iter().enumerate() {
                    // SAFETY: the caller's promise.
                    unsafe { self.write_element(row + lane, column, sum) };
                }
            }
        }
    }
}

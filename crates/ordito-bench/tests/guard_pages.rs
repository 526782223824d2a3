//! X, Y and the arrays of A between pages that nobody may touch: a kernel that reads or writes one element beyond faults.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

#[allow(dead_code)] // used by the tests that share them
mod common;
#[allow(dead_code)] // as above
#[path = "common/spmm.rs"]
mod spmm;

use common::{Values, shapes};
use ordito::Scalar;
use ordito::cpu::{CpuInfo, SimdLevel};
use ordito::machine::{Interrupt, Limits, Machine};
use ordito::matrix::{CsrView, DenseView, DenseViewMut};
use ordito::op::{Extent, Op, Place, Role};
use ordito::spmm::Spmm;
use spmm::spmm_case;

/// Numbers whose first or last neighbour in memory is forbidden.
struct Guarded<T> {
    map: *mut libc::c_void,
    map_bytes: usize,
    first: *mut T,
    count: usize,
}

impl<T: Copy> Guarded<T> {
    fn new(numbers: &[T], at_the_end: bool) -> Self {
        const PAGE: usize = 4096;
        let bytes = size_of_val(numbers);
        let map_bytes = bytes.next_multiple_of(PAGE) + 2 * PAGE;
        let (flags, access) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: fresh memory; its inner pages are opened, and hold all the numbers.
        unsafe {
            let map = libc::mmap(std::ptr::null_mut(), map_bytes, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(map, libc::MAP_FAILED);
            let inner = map.byte_add(PAGE);
            if map_bytes > 2 * PAGE {
                assert_eq!(libc::mprotect(inner, map_bytes - 2 * PAGE, access), 0);
            }
            let first: *mut T =
                inner.byte_add(if at_the_end { map_bytes - 2 * PAGE - bytes } else { 0 }).cast();
            first.copy_from_nonoverlapping(numbers.as_ptr(), numbers.len());
            Guarded { map, map_bytes, first, count: numbers.len() }
        }
    }
    fn get(&self) -> &[T] {
        // SAFETY: written when it was made.
        unsafe { std::slice::from_raw_parts(self.first, self.count) }
    }
    fn get_mut(&mut self) -> &mut [T] {
        // SAFETY: written when it was made, borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.count) }
    }
}

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        // SAFETY: what was mapped, and nobody borrows it any more.
        unsafe { libc::munmap(self.map, self.map_bytes) };
    }
}

fn every_variant_stays_inside<S: Scalar>() {
    let cpu = CpuInfo::detect();
    let levels = SimdLevel::ALL.into_iter().filter(|&level| level <= cpu.simd);
    for (level, gathers_are_slow) in levels.flat_map(|level| [(level, false), (level, true)]) {
        let cpu = CpuInfo { simd: level, gathers_are_slow, ..cpu.clone() };
        let machine = Machine::new(cpu.clone(), 2, Limits::of(&cpu)).unwrap();
        for shape in shapes().iter().filter(|shape| shape.rows * shape.cols > 0) {
            // Only one column is gathered.
            let all = [1, 2, 3, 4, 5, 8, 12, 13, 16, 31, 33, 64];
            for &k in if gathers_are_slow { &all[..1] } else { &all } {
                let (subject, inputs) = spmm_case::<S>(shape, Values::Integers, k);
                let expected =
                    Spmm::oracle(&subject, &inputs, Extent::Whole, &Interrupt::default()).unwrap().expected;
                let variants = Spmm::<S>::variants().iter();
                for variant in variants
                    .filter(|v| v.describe().place != Place::Cuda && v.describe().role != Role::Faulty)
                {
                    let mut ready = variant.prepare(&machine, &subject).unwrap();
                    for at_the_end in [false, true] {
                        let x = Guarded::new(inputs.x.data(), at_the_end);
                        let mut y = Guarded::new(&vec![S::POISON; shape.rows * k], at_the_end);
                        let x = DenseView::new(x.get(), shape.cols, k, k).unwrap();
                        let y_view = DenseViewMut::new(y.get_mut(), shape.rows, k, k).unwrap();
                        ready.apply(S::ONE, x, S::ZERO, y_view).unwrap();
                        let right =
                            y.get().iter().zip(&expected).all(|(found, right)| found.to_f64() == *right);
                        assert!(right, "{}, {}, k = {k}, {level}", variant.name(), shape.name);
                    }
                }
            }
        }
    }
}

/// The call without a plan reads the arrays of A where they are.
fn the_arrays_of_a_are_not_left<S: Scalar>() {
    for shape in shapes() {
        for k in [1, 3, 4, 8, 12, 17] {
            let (subject, inputs) = spmm_case::<S>(&shape, Values::Integers, k);
            let (a, expected) = (
                subject.a.view(),
                Spmm::oracle(&subject, &inputs, Extent::Whole, &Interrupt::default()).unwrap().expected,
            );
            for at_the_end in [false, true] {
                let offsets = Guarded::new(a.offsets(), at_the_end);
                let columns = Guarded::new(a.columns(), at_the_end);
                let values = Guarded::new(a.values(), at_the_end);
                let (offsets, columns, values) = (offsets.get(), columns.get(), values.get());
                let a = CsrView::from_parts(shape.rows, shape.cols, offsets, columns, values).unwrap();
                let mut y = vec![S::POISON; shape.rows * k];
                let y_view = DenseViewMut::new(&mut y, shape.rows, k, k).unwrap();
                ordito::spmm::multiply(S::ONE, &a, inputs.x.view(), S::ZERO, y_view).unwrap();
                assert!(y.iter().zip(&expected).all(|(y, e)| y.to_f64() == *e), "{}, k = {k}", shape.name);
            }
        }
    }
}

#[test]
fn kernels_stay_inside_x_and_y() {
    every_variant_stays_inside::<f32>();
    every_variant_stays_inside::<f64>();
}

#[test]
fn products_without_a_plan_stay_inside_a() {
    the_arrays_of_a_are_not_left::<f32>();
    the_arrays_of_a_are_not_left::<f64>();
}

//! One column of X has the same bits whether gather instructions bring its numbers or they are loaded one by one.

use super::{Laid, Layout, cpu_variants, levels, named, numbers, prepared};
use crate::Scalar;
use crate::cpu::{CpuInfo, SimdLevel};
use crate::machine::{Limits, Machine};
use crate::matrix::{Coo, Csr, Duplicates};
use std::sync::Arc;

fn machine(simd: SimdLevel, gathers_are_slow: bool) -> Arc<Machine> {
    let cpu = CpuInfo { simd, gathers_are_slow, logical_cores: 2, ..CpuInfo::default() };
    let limits = Limits::of(&cpu);
    Machine::new(cpu, 2, limits).unwrap()
}

/// Windows of near columns, an odd number of them, and then of columns far apart, which so stand at odd addresses.
fn near_and_far<S: Scalar>() -> Arc<Csr<S>> {
    let (mut rows, mut cols) = (Vec::new(), Vec::new());
    for row in 0..1200u32 {
        let apart = if row < 600 { 1 } else { 70_000 };
        let length = if row == 5 { 4 } else { 3 };
        rows.extend(std::iter::repeat_n(row, length));
        cols.extend((0..length as u32).map(|entry| (row * 7 + entry * apart) % 200_000));
    }
    let values = numbers(rows.len(), 11);
    Arc::new(Csr::from_coo(&Coo::new(1200, 200_000, rows, cols, values).unwrap(), Duplicates::Sum))
}

fn check<S: Scalar>() {
    // Wide and narrow windows, partly filled slices, diagonals with leftovers, groups, and columns far apart.
    let names = ["powerlaw:3000x9", "uniform:90000x3", "blocks:200x4x3", "stencil5:20", "band:500x9"];
    let matrices = names.map(|name| (name, named::<S>(name)));
    for (name, a) in matrices.into_iter().chain([("near and far", near_and_far())]) {
        let x = numbers::<S>(a.cols(), 5);
        for level in levels() {
            for variant in cpu_variants::<S>() {
                let product = |slow: bool| -> Vec<u64> {
                    let layout = Layout { distance: 1, behind_line: 0 };
                    let x = Laid::new(&x, a.cols(), 1, layout);
                    let mut y = Laid::new(&vec![S::POISON; a.rows()], a.rows(), 1, layout);
                    let mut product = prepared(variant, &machine(level, slow), &a, 1);
                    product.apply(S::ONE, x.view(), S::ZERO, y.view_mut()).unwrap();
                    y.bits().collect()
                };
                assert!(product(false) == product(true), "{level} {} {name}", variant.name());
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn numbers_have_the_same_bits_gathered_or_loaded_one_by_one() {
    check::<f32>();
    check::<f64>();
}

//! The bits of a product do not depend on where X and Y lie, nor on how far apart their rows are.

use super::{Laid, Layout, cpu_variants, levels, machine, named, numbers, prepared};
use crate::Scalar;
use crate::cpu::SimdLevel;
use crate::matrix::Csr;
use std::sync::Arc;

const KS: [usize; 13] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33];
/// α and β: nothing to do, scaled, added to, and both.
const SCALINGS: [(f64, f64); 4] = [(1.0, 0.0), (0.7, 0.0), (1.0, 1.0), (-1.7, 0.3)];

/// X and Y beside each other: gaps in one, in both, whole cache lines apart, and none but off the lines.
fn layouts(k: usize) -> [[Layout; 2]; 5] {
    let layout = |distance, behind_line| Layout { distance, behind_line };
    let plain = layout(k, 0);
    let lines = layout(k.next_multiple_of(16) + 16, 0);
    [
        [layout(k + 1, 0), plain],
        [plain, layout(k + 3, 0)],
        [layout(k + 5, 3), layout(k + 2, 1)],
        [lines, lines],
        [layout(k, 1), layout(k, 5)],
    ]
}

fn same_bits<S: Scalar>(level: SimdLevel, name: &str, a: &Arc<Csr<S>>, k: usize, scalings: &[(f64, f64)]) {
    let machine = machine(level);
    let (x, y) = (numbers::<S>(a.cols() * k, 3), numbers::<S>(a.rows() * k, 5));
    for variant in cpu_variants::<S>() {
        let mut ready = prepared(variant, &machine, a, k);
        for &(alpha, beta) in scalings {
            // With β = 0 nobody may read Y.
            let y = if beta == 0.0 { vec![S::POISON; y.len()] } else { y.clone() };
            let mut product = |[of_x, of_y]: [Layout; 2]| {
                let x = Laid::new(&x, a.cols(), k, of_x);
                let mut y = Laid::new(&y, a.rows(), k, of_y);
                ready.apply(S::from_f64(alpha), x.view(), S::from_f64(beta), y.view_mut()).unwrap();
                y.bits().collect::<Vec<_>>()
            };
            let expected = product([Layout { distance: k, behind_line: 0 }; 2]);
            for layout in layouts(k) {
                let differ = product(layout).iter().zip(&expected).filter(|(a, b)| a != b).count();
                let what =
                    format!("{} {level} {} {name} K = {k} α = {alpha} β = {beta}", variant.name(), S::NAME);
                assert_eq!(differ, 0, "{what}: {differ} numbers of {layout:?}");
            }
        }
    }
}

fn every_matrix<S: Scalar>() {
    for name in ["stencil27:5", "powerlaw:150x6", "blocks:20x4x3"] {
        let a = named::<S>(name);
        for level in levels() {
            KS.into_iter().for_each(|k| same_bits(level, name, &a, k, &SCALINGS));
        }
    }
}

/// Rows that are cut into pieces, whose sums are added to Y at the end.
fn long_rows<S: Scalar>() {
    let (rows, cols) = (5, 40_000);
    let lengths = [3, cols, 0, cols / 2, 2];
    let offsets: Vec<usize> = (0..=rows).map(|row| lengths[..row].iter().sum()).collect();
    let columns = lengths.iter().flat_map(|&length| 0..length as u32).collect();
    let a =
        Arc::new(Csr::from_parts(rows, cols, offsets.clone(), columns, numbers(offsets[rows], 1)).unwrap());
    for level in levels() {
        [1, 3].into_iter().for_each(|k| same_bits::<S>(level, "long rows", &a, k, &SCALINGS[2..]));
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn bits_do_not_depend_on_leading_dimensions() {
    every_matrix::<f32>();
    every_matrix::<f64>();
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn bits_of_long_rows_do_not_depend_on_leading_dimensions() {
    long_rows::<f32>();
    long_rows::<f64>();
}

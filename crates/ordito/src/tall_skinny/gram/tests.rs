//! Several blocks side by side, gaps, both ways to add, any number of threads.

use crate::Scalar;
use crate::cpu::{CpuInfo, SimdLevel};
use crate::machine::{Limits, Machine};
use crate::matrix::{Dense, DenseView, random_dense};
use crate::tall_skinny::{Sums, gram};

fn machine(threads: usize, simd: SimdLevel) -> std::sync::Arc<Machine> {
    let cpu = CpuInfo { simd: simd.or_supported(), ..CpuInfo::detect() };
    Machine::new(cpu.clone(), threads, Limits::of(&cpu)).unwrap()
}

/// Blocks of these widths with a NaN behind every row.
fn blocks<S: Scalar>(rows: usize, widths: &[usize], seed: u64) -> Vec<Dense<S>> {
    let block = |(index, &cols): (usize, &usize)| {
        let numbers = random_dense::<S>(rows, cols, seed + index as u64).unwrap();
        let mut data = vec![S::POISON; rows * (cols + 1)];
        for (row, to) in data.chunks_exact_mut(cols + 1).enumerate() {
            to[..cols].copy_from_slice(numbers.view().row(row));
        }
        Dense::with_leading_dimension(rows, cols, cols + 1, data).unwrap()
    };
    widths.iter().enumerate().map(block).collect()
}

fn views<S: Scalar>(blocks: &[Dense<S>]) -> Vec<DenseView<'_, S>> {
    blocks.iter().map(Dense::view).collect()
}

fn plain<S: Scalar>(rows: usize, x: &[Dense<S>], y: &[Dense<S>]) -> Vec<f64> {
    let line = |blocks: &[Dense<S>], row: usize| -> Vec<f64> {
        blocks.iter().flat_map(|block| block.view().row(row).iter().map(|x| x.to_f64())).collect()
    };
    let (tall, wide) = (line(x, 0).len(), line(y, 0).len());
    let mut g = vec![0.0; tall * wide];
    for row in 0..rows {
        let (x, y) = (line(x, row), line(y, row));
        for (i, x) in x.iter().enumerate() {
            for (j, y) in y.iter().enumerate() {
                g[i * wide + j] += x * y;
            }
        }
    }
    g
}

fn agrees<S: Scalar>() {
    for (rows, left, right) in [
        (1, &[1][..], &[1][..]),
        (129, &[3, 8], &[5]),
        (2500, &[8, 8, 8], &[8, 8]),
        (5000, &[17, 1, 6], &[33, 2]),
        (70_001, &[2], &[9]),
    ] {
        let (x, y) = (blocks::<S>(rows, left, 1), blocks::<S>(rows, right, 7));
        let expected = plain(rows, &x, &y);
        for simd in [SimdLevel::Portable, SimdLevel::Avx2, SimdLevel::Avx512] {
            let alone = gram(&machine(1, simd), &views(&x), Some(&views(&y)), Sums::AsData).unwrap();
            let close = S::EPSILON * (1.0 + rows as f64);
            let off = alone.data().iter().zip(&expected).map(|(found, expected)| (found - expected).abs());
            assert!(off.fold(0.0, f64::max) <= close, "{rows} {left:?} {right:?} {simd}");
            let shared = gram(&machine(3, simd), &views(&x), Some(&views(&y)), Sums::AsData).unwrap();
            assert_eq!(alone, shared);
            let exact = gram(&machine(2, simd), &views(&x), Some(&views(&y)), Sums::F64).unwrap();
            let off = exact.data().iter().zip(&expected).map(|(found, expected)| (found - expected).abs());
            assert!(off.fold(0.0, f64::max) <= 1e-13 * rows as f64, "{rows} {left:?} {right:?} {simd}");
            let symmetric = gram(&machine(2, simd), &views(&x), None, Sums::AsData).unwrap();
            let general = gram(&machine(2, simd), &views(&x), Some(&views(&x)), Sums::AsData).unwrap();
            let cols = symmetric.cols();
            for i in 0..cols {
                for j in i..cols {
                    assert_eq!(symmetric.data()[i * cols + j], general.data()[i * cols + j]);
                    assert_eq!(symmetric.data()[j * cols + i], symmetric.data()[i * cols + j]);
                }
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn blocks_side_by_side_agree_with_plain_loops() {
    agrees::<f32>();
    agrees::<f64>();
}

#[test]
fn nothing_has_a_gram_matrix_too() {
    let machine = Machine::with_threads(2).unwrap();
    let empty = Dense::<f64>::zeros(0, 3).unwrap();
    assert_eq!(gram(&machine, &[empty.view()], None, Sums::AsData).unwrap().data(), &[0.0; 9]);
    assert_eq!(gram::<f64>(&machine, &[], None, Sums::AsData).unwrap().shape(), (0, 0));
    let other = Dense::<f64>::zeros(2, 1).unwrap();
    let error = gram(&machine, &[empty.view()], Some(&[other.view()]), Sums::AsData).unwrap_err();
    assert_eq!(error.to_string(), "Y is 2×1, 0×1 expected");
}

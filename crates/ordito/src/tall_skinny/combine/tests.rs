//! Several blocks side by side, gaps, in place, any number of threads.

use crate::Scalar;
use crate::cpu::{CpuInfo, SimdLevel};
use crate::machine::{Limits, Machine};
use crate::matrix::{Dense, random_dense};
use crate::tall_skinny::{combine, update};

fn machine(threads: usize, simd: SimdLevel) -> std::sync::Arc<Machine> {
    let cpu = CpuInfo { simd: simd.or_supported(), ..CpuInfo::detect() };
    Machine::new(cpu.clone(), threads, Limits::of(&cpu)).unwrap()
}

/// Whole numbers, with two NaN behind every row.
fn block<S: Scalar>(rows: usize, cols: usize, seed: u64) -> Dense<S> {
    let numbers = random_dense::<f64>(rows, cols, seed).unwrap();
    let mut data = vec![S::POISON; rows * (cols + 2)];
    for (row, to) in data.chunks_exact_mut(cols + 2).enumerate() {
        for (to, from) in to.iter_mut().zip(numbers.view().row(row)) {
            *to = S::from_f64((from * 16.0).round());
        }
    }
    Dense::with_leading_dimension(rows, cols, cols + 2, data).unwrap()
}

fn line<S: Scalar>(blocks: &[&Dense<S>], row: usize) -> Vec<f64> {
    blocks.iter().flat_map(|block| block.view().row(row).iter().map(|x| x.to_f64())).collect()
}

fn exact<S: Scalar>() {
    for (rows, x_cols, w_cols, y_cols) in
        [(1, 1, 1, 1), (7, 3, 2, 5), (1000, 8, 8, 8), (4099, 17, 5, 33), (3000, 24, 1, 16)]
    {
        let [x, w] = [block::<S>(rows, x_cols, 1), block::<S>(rows, w_cols, 2)];
        let whole = |cols, seed| {
            let c = block::<f64>(x_cols + w_cols, cols, seed);
            Dense::from_rows(
                x_cols + w_cols,
                cols,
                (0..x_cols + w_cols).flat_map(|row| line(&[&c], row)).collect(),
            )
            .unwrap()
        };
        let times = |c: &Dense<f64>, row: usize| -> Vec<f64> {
            let x = line(&[&x, &w], row);
            (0..c.cols())
                .map(|col| x.iter().enumerate().map(|(i, x)| x * c.view().row(i)[col]).sum())
                .collect()
        };
        for (threads, simd) in [(1, SimdLevel::Portable), (3, SimdLevel::Avx2), (2, SimdLevel::Avx512)] {
            let machine = machine(threads, simd);
            // Two blocks of results.
            let (c, [mut y, mut z]) =
                (whole(y_cols + 2, 3), [block::<S>(rows, y_cols, 4), block::<S>(rows, 2, 5)]);
            combine(&machine, &[x.view(), w.view()], c.view(), &mut [y.view_mut(), z.view_mut()]).unwrap();
            for row in 0..rows {
                assert_eq!(line(&[&y, &z], row), times(&c, row), "{rows} {x_cols} {w_cols} {y_cols} {simd}");
            }
            assert!(
                y.data().chunks(y_cols + 2).all(|row| row[y_cols..].iter().all(|gap| gap.to_f64().is_nan()))
            );
            // In place.
            let (c, mut changed) = (whole(x_cols, 6), x.clone());
            update(&machine, &mut [changed.view_mut()], &[w.view()], c.view()).unwrap();
            for row in 0..rows {
                assert_eq!(line(&[&changed], row), times(&c, row), "{rows} {x_cols} {w_cols} {simd}");
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn whole_numbers_are_combined_exactly() {
    exact::<f32>();
    exact::<f64>();
}

#[test]
fn what_does_not_fit_is_said() {
    let machine = Machine::with_threads(2).unwrap();
    let (x, mut y) = (Dense::<f32>::zeros(3, 2).unwrap(), Dense::<f32>::zeros(3, 1).unwrap());
    let c = Dense::zeros(1, 1).unwrap();
    let error = combine(&machine, &[x.view()], c.view(), &mut [y.view_mut()]).unwrap_err();
    assert_eq!(error.to_string(), "C is 1×1, 2×1 expected");
    let short = Dense::<f32>::zeros(2, 1).unwrap();
    let error = update(&machine, &mut [y.view_mut()], &[short.view()], c.view()).unwrap_err();
    assert_eq!(error.to_string(), "W is 2×1, 3×1 expected");
    // No columns, no rows: nothing happens.
    combine::<f32>(&machine, &[], Dense::zeros(0, 1).unwrap().view(), &mut [y.view_mut()]).unwrap();
    assert_eq!(y.data(), [0.0; 3]);
}

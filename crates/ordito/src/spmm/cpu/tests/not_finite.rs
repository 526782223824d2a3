//! What X holds where a row has no nonzero does not matter to the row, be it infinite or no number at all.

use super::{Laid, Layout, cpu_variants, levels, machine, named, numbers, prepared};
use crate::Scalar;
use crate::cpu::CpuInfo;
use crate::machine::{Limits, Machine};

/// Grids and bands have rows on shared diagonals with holes; where columns are scattered, kernels pad or gather.
const MATRICES: [&str; 4] = ["stencil5:23", "stencil27:9", "band:300x5", "uniform:200x4"];
const KS: [usize; 7] = [1, 2, 3, 4, 8, 16, 33];

fn stays_in_its_rows<S: Scalar>() {
    for name in MATRICES {
        let a = named::<S>(name);
        let (rows, cols) = (a.rows(), a.cols());
        let bad = [0, cols / 3, cols / 2 + 1, cols - 1];
        let is_hit = |row: usize| {
            a.col_indices()[a.view().range(row)].iter().any(|&col| bad.contains(&(col as usize)))
        };
        let expected: Vec<bool> = (0..rows).map(is_hit).collect();
        for level in levels() {
            let as_usual = machine(level);
            let cpu = CpuInfo { gathers_are_slow: true, ..as_usual.cpu().clone() };
            let limits = Limits::of(&cpu);
            let one_by_one = Machine::new(cpu, 2, limits).unwrap();
            for (machine, k) in KS.map(|k| (&as_usual, k)).into_iter().chain([(&one_by_one, 1)]) {
                let mut x = numbers::<S>(cols * k, 3);
                for (at, &row) in bad.iter().enumerate() {
                    let number = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][at % 3];
                    x[row * k..(row + 1) * k].fill(S::from_f64(number));
                }
                let plain = Layout { distance: k, behind_line: 0 };
                let x = Laid::new(&x, cols, k, plain);
                // The padded rungs of the ladder multiply what X has in its first row, as the studies do.
                for variant in cpu_variants::<S>().filter(|variant| variant.describe().can_be_chosen) {
                    let mut y = Laid::new(&vec![S::ZERO; rows * k], rows, k, plain);
                    prepared(variant, machine, &a, k).apply(S::ONE, x.view(), S::ZERO, y.view_mut()).unwrap();
                    let what = format!("{} {level} {} {name} K = {k}", variant.name(), S::NAME);
                    for (row, &is_hit) in expected.iter().enumerate() {
                        for number in y.view().row(row) {
                            assert_eq!(number.is_finite(), !is_hit, "{what}, row {row}: {number:?}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn what_is_not_finite_stays_in_its_rows() {
    stays_in_its_rows::<f32>();
    stays_in_its_rows::<f64>();
}

//! A product has the same bits on any number of threads: what is cut into pieces is cut by the pattern alone.

use super::{Laid, Layout, cpu_variants, named, numbers, prepared, shuffled_mesh};
use crate::Scalar;
use crate::cpu::{CpuInfo, SimdLevel};
use crate::machine::{Limits, Machine};
use crate::matrix::{Coo, Csr, Duplicates};
use crate::op::Variant;
use crate::spmm::cpu::partition::PIECE;
use crate::spmm::product::Spmm;
use std::sync::Arc;

fn machine(threads: usize) -> Arc<Machine> {
    let simd = SimdLevel::supported();
    let cpu = CpuInfo { simd, l2_bytes: Some(1 << 20), logical_cores: threads, ..CpuInfo::default() };
    let limits = Limits::of(&cpu);
    Machine::new(cpu, threads, limits).unwrap()
}

fn check<S: Scalar>() {
    // Rows of every length, a mesh in disorder, rows of several pieces; enough work for every thread.
    let powerlaw = named::<S>("powerlaw:6000x12");
    let mesh = Arc::new(shuffled_mesh::<S>());
    let long = Arc::new(some_long_rows::<S>());
    let machines = [1, 3, 16].map(machine);
    for a in [&powerlaw, &mesh, &long] {
        for variant in cpu_variants::<S>() {
            for k in [1, 2, 8] {
                let alone = product(variant, &machines[0], a, k);
                for machine in &machines[1..] {
                    let shared = product(variant, machine, a, k);
                    let first = alone.iter().zip(&shared).position(|(one, other)| one != other);
                    assert!(
                        first.is_none(),
                        "{} with {k} columns: number {first:?} of Y changes from one thread to {}",
                        variant.name(),
                        machine.threads()
                    );
                }
            }
        }
    }
}

/// 300 rows of three entries, and every hundredth of two pieces and a half.
fn some_long_rows<S: Scalar>() -> Csr<S> {
    let cols = 2 * PIECE + PIECE / 2;
    let (mut row_of, mut col_of) = (Vec::new(), Vec::new());
    for row in 0..300u32 {
        let length = if row % 100 == 50 { cols } else { 3 };
        let first = if length == 3 { row as usize * 61 } else { 0 };
        row_of.extend(std::iter::repeat_n(row, length));
        col_of.extend((first..first + length).map(|col| col as u32));
    }
    let values = numbers(row_of.len(), 3);
    Csr::from_coo(&Coo::new(300, cols, row_of, col_of, values).unwrap(), Duplicates::Sum)
}

fn product<S: Scalar>(
    variant: &dyn Variant<Spmm<S>>,
    machine: &Arc<Machine>,
    a: &Arc<Csr<S>>,
    k: usize,
) -> Vec<u64> {
    let layout = Layout { distance: k, behind_line: 0 };
    let x = Laid::new(&numbers::<S>(a.cols() * k, 7), a.cols(), k, layout);
    let mut y = Laid::new(&vec![S::POISON; a.rows() * k], a.rows(), k, layout);
    let mut product = prepared(variant, machine, a, k);
    product.apply(S::ONE, x.view(), S::ZERO, y.view_mut()).unwrap();
    y.bits().collect()
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn products_have_the_same_bits_on_any_number_of_threads() {
    check::<f32>();
    check::<f64>();
}

//! What holds for all CPU variants bit by bit: sums as they have always been formed, wherever X and Y lie.

mod checksums;
mod gathers;
mod leading_dimensions;
mod not_finite;
mod thread_counts;

use crate::Scalar;
use crate::cpu::{CpuInfo, SimdLevel};
use crate::io::{ReadOptions, synthetic};
use crate::machine::{Limits, Machine};
use crate::matrix::{Coo, Csr, DenseView, DenseViewMut, Duplicates};
use crate::op::{Op, Place, Role, Variant};
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

/// All that run on this computer's cores and are meant to be right.
fn cpu_variants<S: Scalar>() -> impl Iterator<Item = &'static dyn Variant<Spmm<S>>> {
    let variants = Spmm::<S>::variants().iter().copied();
    variants.filter(|variant| {
        let description = variant.describe();
        description.place != Place::Cuda && description.role != Role::Faulty
    })
}

fn named<S: Scalar>(name: &str) -> Arc<Csr<S>> {
    let coo = synthetic::generate::<S>(name, &ReadOptions::default()).unwrap().unwrap();
    Arc::new(Csr::from_coo(&coo, Duplicates::Sum))
}

/// A mesh whose points have lost their order: rows in clusters pay.
pub(crate) fn shuffled_mesh<S: Scalar>() -> Csr<S> {
    let mesh = synthetic::generate::<S>("stencil5:61", &ReadOptions::default()).unwrap().unwrap();
    let mut points: Vec<u64> = (0..mesh.rows() as u64).collect();
    points.sort_by_key(|&point| (point * point * 7919 + point * 104_729) % 65_537);
    let renumbered = |old: &[u32]| old.iter().map(|&point| points[point as usize] as u32).collect();
    let (rows, cols) = (renumbered(mesh.row_indices()), renumbered(mesh.col_indices()));
    let shuffled = Coo::new(mesh.rows(), mesh.cols(), rows, cols, mesh.values().to_vec()).unwrap();
    Csr::from_coo(&shuffled, Duplicates::Sum)
}

/// Two threads, and caches of a size that is the same everywhere: nothing here may depend on the computer.
fn machine(simd: SimdLevel) -> Arc<Machine> {
    let cpu = CpuInfo { simd, l2_bytes: Some(1 << 20), logical_cores: 2, ..CpuInfo::default() };
    let limits = Limits::of(&cpu);
    Machine::new(cpu, 2, limits).unwrap()
}

/// The levels of this CPU; the others are named.
#[allow(clippy::print_stderr)]
fn levels() -> impl Iterator<Item = SimdLevel> {
    SimdLevel::ALL.into_iter().filter(|&level| {
        let there = level <= SimdLevel::supported();
        if !there {
            eprintln!("{level} is not tested: this CPU does not have it");
        }
        there
    })
}

/// Numbers between −1 and 1 whose sums are rounded; the same on every computer.
fn numbers<S: Scalar>(count: usize, seed: u64) -> Vec<S> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        S::from_f64((state >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
    };
    (0..count).map(|_| next()).collect()
}

fn prepared<S: Scalar>(
    variant: &dyn Variant<Spmm<S>>,
    machine: &Arc<Machine>,
    a: &Arc<Csr<S>>,
    k: usize,
) -> Box<dyn Product<S>> {
    variant.prepare(machine, &Subject { a: a.clone(), triplets: None, k }).unwrap()
}

/// Rows that are `distance` apart and begin so many numbers behind a multiple of 64 bytes.
#[derive(Debug, Clone, Copy)]
struct Layout {
    distance: usize,
    behind_line: usize,
}

/// A matrix in memory of its own, laid out as asked; NaN stands in its gaps.
struct Laid<S> {
    memory: Vec<S>,
    start: usize,
    length: usize,
    rows: usize,
    cols: usize,
    distance: usize,
}

impl<S: Scalar> Laid<S> {
    fn new(numbers: &[S], rows: usize, cols: usize, layout: Layout) -> Self {
        let Layout { distance, behind_line } = layout;
        let length = if rows == 0 { 0 } else { (rows - 1) * distance + cols };
        let memory = vec![S::POISON; length + 128];
        let start = memory.as_ptr().align_offset(64) + behind_line;
        let mut laid = Laid { memory, start, length, rows, cols, distance };
        for (row, numbers) in numbers.chunks_exact(cols).enumerate() {
            laid.memory[start + row * distance..][..cols].copy_from_slice(numbers);
        }
        laid
    }
    fn view(&self) -> DenseView<'_, S> {
        DenseView::new(&self.memory[self.start..][..self.length], self.rows, self.cols, self.distance)
            .unwrap()
    }
    fn view_mut(&mut self) -> DenseViewMut<'_, S> {
        let memory = &mut self.memory[self.start..][..self.length];
        DenseViewMut::new(memory, self.rows, self.cols, self.distance).unwrap()
    }
    /// The numbers' bits, row by row. (Of f32, those of the f64 that it is exactly.)
    fn bits(&self) -> impl Iterator<Item = u64> {
        let view = self.view();
        (0..self.rows).flat_map(move |row| view.row(row).iter().map(|number| number.to_f64().to_bits()))
    }
}

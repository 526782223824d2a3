//! Dense products and column statistics of operands that lie on a device, with gaps between their rows: every variant, in
//! the emulator, and on a GPU where there is one. `ORDITO_REQUIRE_EMULATOR=1` and `ORDITO_REQUIRE_GPU=1` make what cannot
//! run a failure.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[allow(dead_code)] // what other tests need of it
mod common;

use common::{Values, dense, say};
use ordito::Scalar;
use ordito::column_stats;
use ordito::device::{Buffer, Device, DeviceView, DeviceViewMut};
use ordito::gemm;
use ordito::machine::{Accelerator, Machine};
use ordito::matrix::{Dense, DenseView, DenseViewMut};
use ordito::op::{Op, Place, RunError};
use ordito::refusal::Refusal;
use std::sync::Arc;

fn machine(accelerator: Accelerator) -> Option<Arc<Machine>> {
    let machine = Machine::all_cores().unwrap().with_accelerator(accelerator);
    let Err(refusal) = machine.device() else { return Some(machine) };
    let required = match accelerator {
        Accelerator::Emulator => "ORDITO_REQUIRE_EMULATOR",
        _ => "ORDITO_REQUIRE_GPU",
    };
    assert!(std::env::var(required).as_deref() != Ok("1"), "{required}=1, but: {refusal}");
    say(&format!("{accelerator:?} was not tried: {refusal}"));
    None
}

/// What stands between the rows, and must stay there.
const GAP: f64 = 77.0;

/// A matrix on a device whose rows lie `distance` elements apart, nothing behind the last one.
struct Spread<S> {
    buffer: Buffer<S>,
    rows: usize,
    cols: usize,
    distance: usize,
}

impl<S: Scalar> Spread<S> {
    fn new(device: &Device, dense: &Dense<S>, distance: usize) -> Self {
        let (rows, cols) = (dense.rows(), dense.cols());
        let mut data = vec![S::from_f64(GAP); (rows - 1) * distance + cols];
        let mut view = DenseViewMut::new(&mut data, rows, cols, distance).unwrap();
        (0..rows).for_each(|row| view.row_mut(row).copy_from_slice(dense.view().row(row)));
        Spread { buffer: device.upload("a matrix with gaps", &data).unwrap(), rows, cols, distance }
    }

    fn view(&self) -> DeviceView<'_, S> {
        DeviceView::new(&self.buffer, self.rows, self.cols, self.distance).unwrap()
    }

    fn view_mut(&mut self) -> DeviceViewMut<'_, S> {
        DeviceViewMut::new(&mut self.buffer, self.rows, self.cols, self.distance).unwrap()
    }

    /// The matrix; fails where a gap was written.
    fn read(&self, what: &str) -> Dense<S> {
        let mut data = vec![S::POISON; self.buffer.len()];
        self.buffer.read(&mut data).unwrap();
        for row in data.chunks(self.distance) {
            assert!(row[self.cols..].iter().all(|gap| gap.to_f64() == GAP), "{what} wrote a gap");
        }
        let view = DenseView::new(&data, self.rows, self.cols, self.distance).unwrap();
        let rows = (0..self.rows).flat_map(|row| view.row(row)).copied().collect();
        Dense::from_rows(self.rows, self.cols, rows).unwrap()
    }
}

/// Distances beyond the columns: none, an odd one, one that keeps rows at multiples of 16 bytes.
fn distances(cols: usize) -> [usize; 3] {
    [cols, cols + 3, cols.next_multiple_of(4) + 8]
}

/// Every variant on every kind of rows: the same bits as from the host, where the values are small integers.
fn products<S: Scalar>(accelerator: Accelerator, shape: gemm::Shape) {
    let Some(machine) = machine(accelerator) else { return };
    let device = machine.device().unwrap();
    let gemm::Shape { m: n, k: m, n: p } = shape;
    let a = dense::<S>(n, m, 0, Values::Integers, 1);
    let b = dense::<S>(m, p, 0, Values::Integers, 2);
    let start = dense::<S>(n, p, 0, Values::Integers, 3);
    let two = S::from_f64(2.0);
    let mut tried = 0;
    for variant in
        gemm::Gemm::<S>::variants().iter().filter(|variant| variant.describe().place == Place::Cuda)
    {
        let name = variant.name();
        let Ok(mut plan) = gemm::Plan::<S>::with_variant(name, shape, &machine) else { continue };
        let mut expected = start.clone();
        plan.apply(two, a.view(), b.view(), S::ONE, expected.view_mut()).unwrap();
        let phases = plan.phases();
        assert!(phases.upload_ns.is_some() && phases.run_ns.is_some() && phases.download_ns.is_some());
        for (a_distance, b_distance, c_distance) in
            (0..3).map(|i| (distances(m)[i], distances(p)[(i + 1) % 3], distances(p)[(i + 2) % 3]))
        {
            let what = format!("{name}, rows {a_distance}, {b_distance}, {c_distance} apart");
            let on_a = Spread::new(&device, &a, a_distance);
            let on_b = Spread::new(&device, &b, b_distance);
            let mut c = Spread::new(&device, &start, c_distance);
            plan.apply_on_device(two, on_a.view(), on_b.view(), S::ONE, c.view_mut()).unwrap();
            assert_eq!(c.read(&what), expected, "{what}");
            // From the host with gaps, by the same plan.
            let mut data = vec![S::from_f64(GAP); (n - 1) * c_distance + p];
            let mut view = DenseViewMut::new(&mut data, n, p, c_distance).unwrap();
            (0..n).for_each(|row| view.row_mut(row).copy_from_slice(start.view().row(row)));
            plan.apply(two, a.view(), b.view(), S::ONE, view).unwrap();
            for (row, found) in data.chunks(c_distance).enumerate() {
                assert_eq!(&found[..p], expected.view().row(row), "{what}, from the host");
                assert!(found[p..].iter().all(|gap| gap.to_f64() == GAP), "{what}, from the host: a gap");
            }
        }
        tried += 1;
    }
    println!("{} {shape} on {accelerator:?}: {tried} variants", S::NAME);
    assert!(tried > 10);
}

#[test]
fn emulator_multiplies_what_lies_there() {
    products::<f32>(Accelerator::Emulator, gemm::Shape { m: 5, k: 7, n: 9 });
    products::<f64>(Accelerator::Emulator, gemm::Shape { m: 5, k: 7, n: 9 });
}
/// So many terms for so small a C are added in slices.
#[test]
fn emulator_multiplies_what_lies_there_in_slices() {
    products::<f32>(Accelerator::Emulator, gemm::Shape { m: 3, k: 600, n: 5 });
}
#[test]
fn gpu_multiplies_what_lies_there() {
    for shape in [gemm::Shape { m: 70, k: 129, n: 133 }, gemm::Shape { m: 33, k: 5000, n: 35 }] {
        products::<f32>(Accelerator::Cuda(0), shape);
        products::<f64>(Accelerator::Cuda(0), shape);
    }
}

fn statistics<S: Scalar>(accelerator: Accelerator, shape: column_stats::Shape) {
    let Some(machine) = machine(accelerator) else { return };
    let device = machine.device().unwrap();
    let column_stats::Shape { rows, cols } = shape;
    let data = dense::<S>(rows, cols, 0, Values::Integers, 1);
    let (mut tried, mut refused) = (0, 0);
    let variants = column_stats::Columns::<S>::variants();
    'variants: for variant in variants.iter().filter(|variant| variant.describe().place == Place::Cuda) {
        let name = variant.name();
        let mut plan = column_stats::Plan::<S>::with_variant(name, shape, &machine).unwrap();
        let expected = plan.apply(data.view()).unwrap();
        let expected = [expected.mean, expected.variance, expected.min, expected.max].concat();
        let statistics = expected.len() / cols;
        for (distance, to_distance) in distances(cols).into_iter().zip([cols + 3, cols, cols + 8]) {
            let what = format!("{name}, rows {distance} and {to_distance} apart");
            let on_device = Spread::new(&device, &data, distance);
            let start = Dense::filled(statistics, cols, f64::NAN).unwrap();
            let mut results = Spread::new(&device, &start, to_distance);
            match plan.apply_on_device(on_device.view(), results.view_mut()) {
                // A rung that was studied with a copy made by the host.
                Err(RunError::Refused(Refusal::Unsupported(why))) => {
                    assert!(why.starts_with("the host makes the copy"), "{what}: {why}");
                    refused += 1;
                    continue 'variants;
                }
                done => done.unwrap(),
            }
            assert_eq!(results.read(&what).data(), expected, "{what}");
        }
        tried += 1;
    }
    println!("{} {shape} on {accelerator:?}: {tried} variants", S::NAME);
    assert!(tried > 5 && refused == 2, "{tried} {refused}");
}

#[test]
fn emulator_reduces_what_lies_there() {
    statistics::<f32>(Accelerator::Emulator, column_stats::Shape { rows: 21, cols: 7 });
    statistics::<f64>(Accelerator::Emulator, column_stats::Shape { rows: 21, cols: 7 });
}
#[test]
fn gpu_reduces_what_lies_there() {
    for shape in
        [column_stats::Shape { rows: 358, cols: 133 }, column_stats::Shape { rows: 100_000, cols: 7 }]
    {
        statistics::<f32>(Accelerator::Cuda(0), shape);
        statistics::<f64>(Accelerator::Cuda(0), shape);
    }
}

/// Shapes, addresses, the CPU, and matrices of another device: errors that name the operand.
#[test]
fn what_does_not_fit_is_refused() {
    let Some(machine) = machine(Accelerator::Emulator) else { return };
    let device = machine.device().unwrap();
    let matrix = |rows, cols| Spread::new(&device, &Dense::filled(rows, cols, 1.0).unwrap(), cols);
    let (a, b, mut c) = (matrix(2, 4), matrix(4, 2), matrix(2, 2));
    let mut plan = gemm::Plan::<f64>::new(gemm::Shape { m: 2, k: 4, n: 2 }, &machine).unwrap();
    assert!(plan.device().is_some());
    let told = plan.apply_on_device(1.0, b.view(), b.view(), 0.0, c.view_mut()).unwrap_err();
    assert_eq!(told.to_string(), "A is 4×2, 2×4 expected");
    // SAFETY: refused before anything is done with it.
    let odd = unsafe { DeviceView::from_raw(b.view().address() + 8, 4, 2, 2) }.unwrap();
    let told = plan.apply_on_device(1.0, a.view(), odd, 0.0, c.view_mut()).unwrap_err();
    assert!(told.to_string().starts_with("B is at address"), "{told}");
    let shape = column_stats::Shape { rows: 2, cols: 4 };
    let mut columns = column_stats::Plan::<f64>::new(shape, &machine).unwrap();
    let told = columns.apply_on_device(a.view(), c.view_mut()).unwrap_err();
    assert_eq!(told.to_string(), "the matrix of statistics is 2×2, 4×4 expected");

    let cpu = Machine::all_cores().unwrap();
    let mut on_cpu = gemm::Plan::<f64>::new(gemm::Shape { m: 2, k: 4, n: 2 }, &cpu).unwrap();
    assert!(on_cpu.device().is_none());
    let told = on_cpu.apply_on_device(1.0, a.view(), b.view(), 0.0, c.view_mut()).unwrap_err();
    assert!(told.to_string().contains("set up for the CPU only"), "{told}");
    let mut on_cpu = column_stats::Plan::<f64>::new(shape, &cpu).unwrap();
    assert!(on_cpu.apply_on_device(a.view(), c.view_mut()).is_err() && on_cpu.device().is_none());

    let gpu = Machine::all_cores().unwrap().with_accelerator(Accelerator::Cuda(0));
    let Ok(gpu) = gpu.device() else { return };
    let elsewhere = Spread::new(&gpu, &Dense::filled(4, 2, 1.0).unwrap(), 2);
    let told = plan.apply_on_device(1.0, a.view(), elsewhere.view(), 0.0, c.view_mut()).unwrap_err();
    assert!(told.to_string().starts_with("B lies in the memory of another device"), "{told}");
}

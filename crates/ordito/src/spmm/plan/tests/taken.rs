//! Plans of a matrix that was taken from memory of a device: the same bits, and values that stay there.

use crate::device::{Buffer, Device, DeviceCsrView, DeviceIndices};
use crate::machine::Machine;
use crate::matrix::{Coo, Csr, Dense, Duplicates, random_dense};
use crate::op::{Op, Place};
use crate::refusal::Refusal;
use crate::spmm::plan::Plan;
use crate::spmm::product::Spmm;
use std::sync::Arc;

/// Said aloud where there is no emulator, and a failure with `ORDITO_REQUIRE_EMULATOR=1`.
fn machine() -> Option<(Arc<Machine>, Device)> {
    let machine = Machine::with_threads(1).unwrap().with_accelerator(crate::machine::Accelerator::Emulator);
    match machine.device() {
        Ok(device) => Some((machine, device)),
        Err(refusal) => {
            let required = std::env::var("ORDITO_REQUIRE_EMULATOR").is_ok_and(|value| value == "1");
            assert!(!required, "ORDITO_REQUIRE_EMULATOR=1, but: {refusal}");
            None
        }
    }
}

/// Square, with empty rows, duplicates, columns out of order, and one long row.
fn untidy() -> Csr<f64> {
    let (mut rows, mut columns) = (Vec::new(), Vec::new());
    for row in 0..90_u32 {
        let length = if row == 40 { 500 } else { row % 5 };
        for entry in 0..length {
            rows.push(row);
            columns.push((row * 7 + entry * 13) % 90);
        }
    }
    let values = (0..rows.len()).map(|at| 0.1 + (at as f64).sin()).collect();
    Csr::from_coo(&Coo::new(90, 90, rows, columns, values).unwrap(), Duplicates::Keep)
}

/// Somebody else's arrays, in indices of either width.
struct Theirs {
    wide_offsets: Buffer<i64>,
    narrow_offsets: Buffer<i32>,
    wide_columns: Buffer<i64>,
    narrow_columns: Buffer<i32>,
    values: Buffer<f64>,
    shape: (usize, usize),
}

impl Theirs {
    fn of(device: &Device, a: &Csr<f64>) -> Self {
        let offsets: Vec<i64> = a.row_offsets().iter().map(|&start| start as i64).collect();
        let columns: Vec<i64> = a.col_indices().iter().map(|&column| i64::from(column)).collect();
        Theirs::new(device, a.shape(), &offsets, &columns, a.values())
    }
    fn new(device: &Device, shape: (usize, usize), offsets: &[i64], columns: &[i64], values: &[f64]) -> Self {
        let narrow = |all: &[i64]| all.iter().map(|&index| index as i32).collect::<Vec<i32>>();
        Theirs {
            wide_offsets: device.upload("their offsets", offsets).unwrap(),
            narrow_offsets: device.upload("their offsets", &narrow(offsets)).unwrap(),
            wide_columns: device.upload("their columns", columns).unwrap(),
            narrow_columns: device.upload("their columns", &narrow(columns)).unwrap(),
            values: device.upload("their values", values).unwrap(),
            shape,
        }
    }
    fn taken(&self, device: &Device, [wide_offsets, wide_columns]: [bool; 2]) -> Result<Csr<f64>, Refusal> {
        let indices = |is_wide, wide: &Buffer<i64>, narrow: &Buffer<i32>| match is_wide {
            true => DeviceIndices::Bits64(wide.address()),
            false => DeviceIndices::Bits32(narrow.address()),
        };
        let offsets = indices(wide_offsets, &self.wide_offsets, &self.narrow_offsets);
        let columns = indices(wide_columns, &self.wide_columns, &self.narrow_columns);
        let (nonzeros, values) = (self.values.len(), self.values.address());
        // SAFETY: the buffers of this struct have so many elements, but where a test says that its offsets are too few.
        unsafe { DeviceCsrView::from_raw(self.shape, nonzeros, offsets, columns, values) }.to_csr(device)
    }
}

fn product(plan: &Plan<f64>, x: &Dense<f64>) -> Result<Vec<u64>, Refusal> {
    plan.prepare(x.cols())?;
    let mut y = Dense::filled(plan.matrix().rows(), x.cols(), f64::NAN).unwrap();
    plan.apply(1.5, x.view(), 0.0, y.view_mut()).unwrap();
    Ok(y.data().iter().map(|y| y.to_bits()).collect())
}

#[test]
fn every_variant_computes_the_same_bits() {
    let Some((machine, device)) = machine() else { return };
    let host = untidy();
    let theirs = Theirs::of(&device, &host);
    let host = Arc::new(host);
    let x = random_dense(90, 5, 3).unwrap();
    let mut stayed = Vec::new();
    for variant in Spmm::<f64>::variants().iter().map(|variant| variant.describe()) {
        if variant.place != Place::Cuda {
            continue;
        }
        let expected = Plan::with_variant(variant.name, host.clone(), &machine).unwrap();
        let Ok(expected) = product(&expected, &x) else { continue };
        let taken = Arc::new(theirs.taken(&device, [true, false]).unwrap());
        let plan = Plan::with_variant(variant.name, taken.clone(), &machine).unwrap();
        assert_eq!(product(&plan, &x).unwrap(), expected, "{}", variant.name);
        if !taken.has_values_here() {
            stayed.push(variant.name);
        }
        assert_eq!(*taken, *host, "{}", variant.name);
    }
    for name in [
        "csr-cuda-rows",
        "csr-cuda-shares",
        "csr-cuda-windows",
        "diagonals-cuda-slices",
        "sell-cuda-slices",
        "csr-cuda-adaptive",
    ] {
        assert!(stayed.iter().any(|stayed| stayed.starts_with(name)), "{name}: {stayed:?}");
    }
}

#[test]
fn what_is_chosen_and_transposed_is_the_same() {
    let Some((machine, device)) = machine() else { return };
    let host = untidy();
    let theirs = Theirs::of(&device, &host);
    let x = random_dense(90, 8, 4).unwrap();
    let expected = Plan::new(host, &machine).unwrap();
    for widths in [[false, false], [false, true], [true, false], [true, true]] {
        let taken = Arc::new(theirs.taken(&device, widths).unwrap());
        let plan = Plan::new(taken.clone(), &machine).unwrap();
        assert_eq!(product(&plan, &x).unwrap(), product(&expected, &x).unwrap());
        assert_eq!(plan.choices(), expected.choices());
        assert!(!taken.has_values_here(), "choosing asks for no value");
        let (plan, expected) = (plan.transposed().unwrap(), expected.transposed().unwrap());
        assert_eq!(product(plan, &x).unwrap(), product(expected, &x).unwrap());
        assert!(taken.has_values_here());
    }
}

#[test]
fn theirs_may_change_or_go_once_it_is_taken() {
    let Some((machine, device)) = machine() else { return };
    let host = untidy();
    let mut theirs = Theirs::of(&device, &host);
    let x = random_dense(90, 2, 5).unwrap();
    let taken = theirs.taken(&device, [false, false]).unwrap();
    theirs.values.fill_bytes(0xFF).unwrap();
    theirs.narrow_columns.fill_bytes(0xFF).unwrap();
    drop(theirs);
    let mut plan = Plan::new(taken, &machine).unwrap();
    let expected = product(&Plan::new(host.clone(), &machine).unwrap(), &x).unwrap();
    assert_eq!(product(&plan, &x).unwrap(), expected);
    let doubled: Vec<f64> = host.values().iter().map(|value| 2.0 * value).collect();
    plan.update_values(doubled.clone()).unwrap();
    let expected = Plan::new(host.with_values(doubled).unwrap(), &machine).unwrap();
    assert_eq!(product(&plan, &x).unwrap(), product(&expected, &x).unwrap());
}

#[test]
fn a_plan_on_the_cpu_brings_the_values() {
    let Some((_, device)) = machine() else { return };
    let host = untidy();
    let taken = Theirs::of(&device, &host).taken(&device, [true, true]).unwrap();
    let cpu = Machine::with_threads(1).unwrap();
    let x = random_dense(90, 3, 6).unwrap();
    let expected = product(&Plan::new(host, &cpu).unwrap(), &x).unwrap();
    assert_eq!(product(&Plan::new(taken, &cpu).unwrap(), &x).unwrap(), expected);
}

#[test]
fn indices_are_checked_before_a_kernel_reads_by_them() {
    let Some((_, device)) = machine() else { return };
    let cases: [(&[i64], &[i64], &str); 6] = [
        (&[0, 1, 2], &[0, 2], "entry 1: column 2 is outside 0..2"),
        (&[0, 1, 2], &[-1, 0], "entry 0: column 4294967295 is outside 0..2"),
        (&[0, 1, 2], &[1 << 40, 0], "entry 0: column"),
        (&[1, 1, 2], &[0, 1], "row offsets must rise from 0 to 2; offset 0 is 1"),
        (&[0, -1, 2], &[0, 1], "row offsets must rise from 0 to 2; offset"),
        (&[0, 1, 1], &[0, 1], "row offsets must rise from 0 to 2; offset 2 is 1"),
    ];
    for (offsets, columns, why) in cases {
        let theirs = Theirs::new(&device, (2, 2), offsets, columns, &[1.0, 2.0]);
        for widths in [[true, true], [false, true], [true, false]] {
            if !widths[1] && columns[0] > i64::from(i32::MAX) {
                continue; // no such column there
            }
            let refusal = theirs.taken(&device, widths).unwrap_err().to_string();
            assert!(refusal.starts_with(why), "{widths:?}: {refusal}");
        }
    }
    let empty = Theirs::new(&device, (0, 0), &[0], &[], &[]);
    assert_eq!(empty.taken(&device, [true, true]).unwrap().nnz(), 0);
    let too_many = Theirs { shape: (1 << 32, 2), ..empty };
    assert!(too_many.taken(&device, [true, true]).is_err());
}

//! In the emulator: several blocks side by side, gaps of NaN, in place, the same bits in every run.

use crate::Scalar;
use crate::device::{Device, DeviceDense, Emulator};
use crate::matrix::{Dense, random_dense};
use crate::tall_skinny::device_part::DevicePart;
use crate::tall_skinny::gram::Kind;
use crate::tall_skinny::on_device::TallSkinnyOnDevice;

fn device() -> Option<Device> {
    match Emulator::open() {
        Ok(emulator) => Some(Device::Emulator(emulator)),
        Err(refusal) => {
            assert_ne!(std::env::var("ORDITO_REQUIRE_EMULATOR").as_deref(), Ok("1"), "{refusal}");
            None
        }
    }
}

/// Whole numbers: sums and products are exact.
fn whole<S: Scalar>(rows: usize, cols: usize, seed: u64) -> Dense<S> {
    let numbers = random_dense::<f64>(rows, cols, seed).unwrap();
    let data = numbers.data().iter().map(|x| S::from_f64((x * 16.0).round())).collect();
    Dense::from_rows(rows, cols, data).unwrap()
}

/// Blocks on the device, with NaN behind every row, and what they hold.
struct Blocks<S> {
    on_device: Vec<DeviceDense<S>>,
    on_host: Vec<Dense<S>>,
}

impl<S: Scalar> Blocks<S> {
    fn new(device: &Device, rows: usize, widths: &[usize], gap: usize, seed: u64) -> Self {
        let on_host: Vec<Dense<S>> =
            widths.iter().zip(seed..).map(|(&cols, seed)| whole(rows, cols, seed)).collect();
        let upload = |dense: &Dense<S>| {
            let shape = (rows, dense.cols());
            let mut on_device =
                DeviceDense::with_leading_dimension(device, "a block", shape, dense.cols() + gap).unwrap();
            on_device.write(dense.view()).unwrap();
            on_device
        };
        Blocks { on_device: on_host.iter().map(upload).collect(), on_host }
    }

    fn parts(&self) -> Vec<DevicePart<S>> {
        self.on_device.iter().map(|block| DevicePart::read(&block.view())).collect()
    }

    /// A row of all of them, as it was at first.
    fn line(&self, row: usize) -> Vec<f64> {
        self.on_host.iter().flat_map(|block| block.view().row(row).iter().map(|x| x.to_f64())).collect()
    }

    fn now_on_host(&self) -> impl Iterator<Item = Dense<S>> + '_ {
        self.on_device.iter().map(|block| {
            let mut dense = Dense::zeros(block.rows(), block.cols()).unwrap();
            block.read(dense.view_mut()).unwrap();
            dense
        })
    }

    /// All rows of all of them, as they are now.
    fn now(&self) -> Vec<Vec<f64>> {
        let blocks: Vec<Dense<S>> = self.now_on_host().collect();
        let rows = self.on_host.first().map_or(0, Dense::rows);
        let line = |row: usize| {
            blocks.iter().flat_map(move |block| block.view().row(row).to_vec()).map(|x| x.to_f64())
        };
        (0..rows).map(|row| line(row).collect()).collect()
    }
}

fn plain_gram<S: Scalar>(rows: usize, left: &Blocks<S>, right: &Blocks<S>) -> Vec<f64> {
    let width = |blocks: &Blocks<S>| blocks.on_host.iter().map(Dense::cols).sum::<usize>();
    let (tall, wide) = (width(left), width(right));
    let mut g = vec![0.0; tall * wide];
    for row in 0..rows {
        let (x, y) = (left.line(row), right.line(row));
        for (i, x) in x.iter().enumerate() {
            y.iter().enumerate().for_each(|(j, y)| g[i * wide + j] += x * y);
        }
    }
    g
}

fn gram_is_exact<S: Scalar>() {
    let Some(device) = device() else { return };
    let mut tall_skinny = TallSkinnyOnDevice::<S>::new(&device);
    for (rows, left, right) in [
        (0, &[3][..], &[2][..]),
        (1, &[1], &[1]),
        (3, &[7], &[8]),
        (4, &[8], &[9]),
        (5, &[9], &[1, 1]),
        (31, &[8, 8, 8], &[8, 8]),
        (32, &[17], &[24]),
        (33, &[24], &[17]),
        (700, &[5, 8], &[2]),
        (1203, &[50], &[33]),
        (1000, &[32], &[7, 1, 8]),
    ] {
        let (x, y) = (Blocks::<S>::new(&device, rows, left, 1, 1), Blocks::new(&device, rows, right, 2, 7));
        let (of_x, of_y) = (x.parts(), y.parts());
        for run in 0..2 {
            // SAFETY: of this device, with so many rows.
            let found = unsafe { tall_skinny.gram(rows, &of_x, &of_y, Kind::General) }.unwrap();
            assert_eq!(found.data(), plain_gram(rows, &x, &y), "{rows} {left:?} {right:?} {run}");
            // SAFETY: the same.
            let found = unsafe { tall_skinny.gram(rows, &of_x, &of_x, Kind::Symmetric) }.unwrap();
            assert_eq!(found.data(), plain_gram(rows, &x, &x), "{rows} {left:?} {run}");
        }
    }
}

#[test]
fn inner_products_of_whole_numbers_are_exact() {
    gram_is_exact::<f32>();
    gram_is_exact::<f64>();
}

/// Real numbers, so many rows that teams of blocks add up.
#[test]
fn sums_are_close_symmetric_and_the_same_in_every_run() {
    let Some(device) = device() else { return };
    let (rows, cols) = (9_001, 9);
    let x = random_dense::<f64>(rows, cols, 3).unwrap();
    let mut on_device = DeviceDense::new(&device, "X", rows, cols).unwrap();
    on_device.write(x.view()).unwrap();
    let parts = [DevicePart::read(&on_device.view())];
    let mut tall_skinny = TallSkinnyOnDevice::<f64>::new(&device);
    // SAFETY: of this device, with so many rows.
    let mut run = || unsafe { tall_skinny.gram(rows, &parts, &parts, Kind::Symmetric) }.unwrap();
    let (once, again) = (run(), run());
    assert_eq!(once, again);
    for i in 0..cols {
        for j in 0..cols {
            let products = (0..rows).map(|row| x.view().row(row)[i] * x.view().row(row)[j]);
            let (sum, size) = products
                .fold((0.0, 0.0), |(sum, size): (f64, f64), product| (sum + product, size + product.abs()));
            assert!((once.view().row(i)[j] - sum).abs() <= 1e-13 * size, "{i} {j}");
            assert_eq!(once.view().row(i)[j].to_bits(), once.view().row(j)[i].to_bits());
        }
    }
}

fn times<S: Scalar>(blocks: &Blocks<S>, c: &Dense<f64>) -> Vec<Vec<f64>> {
    let rows = blocks.on_host.first().map_or(0, Dense::rows);
    let of_row = |row: usize| {
        let x = blocks.line(row);
        let of_col = |col: usize| x.iter().enumerate().map(|(i, x)| x * c.view().row(i)[col]).sum();
        (0..c.cols()).map(of_col).collect()
    };
    (0..rows).map(of_row).collect()
}

fn combinations_are_exact<S: Scalar>() {
    let Some(device) = device() else { return };
    let mut tall_skinny = TallSkinnyOnDevice::<S>::new(&device);
    for (rows, from, into, gap) in [
        (0, &[3][..], &[2][..], 0),
        (1, &[1], &[1], 1),
        (3, &[7], &[8], 0),
        (4, &[8], &[9], 0),
        (5, &[9], &[1, 1], 2),
        (31, &[8, 8, 8], &[8, 8], 0),
        (32, &[17], &[24], 1),
        (33, &[24], &[17], 2),
        (700, &[5, 8], &[2], 0),
        (300, &[32], &[33], 1),
        (40, &[50, 50], &[70, 3], 0), // more than one launch reads, and than one writes
    ] {
        let x = Blocks::<S>::new(&device, rows, from, gap, 1);
        let y = Blocks::<S>::new(&device, rows, into, gap, 9);
        let (p, q) = (from.iter().sum(), into.iter().sum());
        let c = whole::<f64>(p, q, 5);
        // SAFETY: of this device, with so many rows, and apart.
        unsafe { tall_skinny.combine(rows, &x.parts(), c.view(), &y.parts()) }.unwrap();
        assert_eq!(y.now(), times(&x, &c), "{rows} {from:?} {into:?}");
        // In place, beside blocks that are only read.
        let (all, c) = ([y.parts(), x.parts()].concat(), whole::<f64>(p + q, q, 6));
        let before = Blocks { on_device: Vec::new(), on_host: y.now_on_host().chain(x.on_host).collect() };
        // SAFETY: of this device, with so many rows; what is written is what is read.
        unsafe { tall_skinny.combine(rows, &all, c.view(), &y.parts()) }.unwrap();
        assert_eq!(y.now(), times(&before, &c), "{rows} {from:?} {into:?} in place");
    }
}

#[test]
fn whole_numbers_are_combined_exactly() {
    combinations_are_exact::<f32>();
    combinations_are_exact::<f64>();
}

/// More than there are slots for, each with a C of its own.
#[test]
fn small_matrices_wait_for_their_turn() {
    let Some(device) = device() else { return };
    let mut tall_skinny = TallSkinnyOnDevice::<f64>::new(&device);
    let x = Blocks::<f64>::new(&device, 3, &[2], 0, 1);
    let mut expected = x.on_host[0].clone();
    for turn in 0..40 {
        let c = Dense::from_rows(2, 2, vec![0.0, 1.0, if turn % 2 == 0 { 2.0 } else { 0.5 }, 0.0]).unwrap();
        // SAFETY: of this device, in place.
        unsafe { tall_skinny.combine(3, &x.parts(), c.view(), &x.parts()) }.unwrap();
        for row in 0..3 {
            let [a, b] = [expected.view().row(row)[0], expected.view().row(row)[1]];
            expected.view_mut().row_mut(row).copy_from_slice(&[b * c.data()[2], a]);
        }
    }
    assert_eq!(x.now().concat(), expected.data());
    let wrong = Dense::zeros(3, 2).unwrap();
    // SAFETY: of this device; refused.
    let error = unsafe { tall_skinny.combine(3, &x.parts(), wrong.view(), &x.parts()) }.unwrap_err();
    assert_eq!(error.to_string(), "C is 3×2, 2×2 expected");
}

#[test]
fn rows_are_scaled_each_by_its_own_factor() {
    let Some(device) = device() else { return };
    let mut tall_skinny = TallSkinnyOnDevice::<f32>::new(&device);
    for (rows, cols) in [(0, 3), (1, 1), (1000, 3), (33, 40)] {
        let (d, x) =
            (Blocks::<f32>::new(&device, rows, &[1], 2, 3), Blocks::new(&device, rows, &[cols], 1, 4));
        // SAFETY: of this device, with so many rows, and apart.
        unsafe { tall_skinny.scale_rows(rows, d.parts()[0], x.parts()[0]) }.unwrap();
        let expected: Vec<Vec<f64>> =
            (0..rows).map(|row| x.line(row).iter().map(|x| x * d.line(row)[0]).collect()).collect();
        assert_eq!(x.now(), expected);
    }
    let x = Blocks::<f32>::new(&device, 2, &[2], 0, 3);
    // SAFETY: of this device; refused.
    let error = unsafe { tall_skinny.scale_rows(2, x.parts()[0], x.parts()[0]) }.unwrap_err();
    assert_eq!(error.to_string(), "the factors is 2×2, 2×1 expected");
}

//! Blocks in the memory of a device. Nothing of them travels: only small matrices do.

use crate::Scalar;
use crate::device::{Device, DeviceDense, DeviceView, DeviceViewMut};
use crate::matrix::{Dense, DenseView, DenseViewMut};
use crate::op::RunError;
use crate::op::copy_rows::CopyRows;
use crate::solve::blocks::{Block, Blocks, Columns, overlap};
use crate::solve::error::SolveError;
use crate::solve::operator::Operator;
use crate::solve::small::Small;
use crate::tall_skinny::gram::Kind;
use crate::tall_skinny::{DevicePart, TallSkinnyOnDevice};

pub(crate) struct DeviceBlocks<S: Scalar> {
    device: Device,
    kernels: TallSkinnyOnDevice<S>,
    blocks: Vec<DeviceDense<S>>,
}

impl<S: Scalar> DeviceBlocks<S> {
    pub(crate) fn new(device: &Device) -> Self {
        DeviceBlocks { device: device.clone(), kernels: TallSkinnyOnDevice::new(device), blocks: Vec::new() }
    }

    fn parts(&self, columns: &[Columns]) -> Vec<DevicePart<S>> {
        let part = |columns: &Columns| {
            let view = self.blocks[columns.id].view();
            assert!(columns.first + columns.count <= view.cols());
            let address = view.address() + (columns.first * size_of::<S>()) as u64;
            DevicePart::new(address, columns.count, view.leading_dimension())
        };
        columns.iter().map(part).collect()
    }

    /// All of them have as many rows as this.
    fn rows(&self, columns: &[Columns]) -> usize {
        let rows = columns.first().map_or(0, |columns| self.blocks[columns.id].rows());
        assert!(columns.iter().all(|columns| self.blocks[columns.id].rows() == rows));
        rows
    }

    /// From a matrix of ours into columns of a block.
    fn copy_in(&mut self, from: &DeviceDense<S>, to: Columns) -> Result<(), SolveError> {
        let (into, rows) = (self.parts(&[to]), self.rows(&[to]));
        let unit = identity(to.count)?;
        // SAFETY: matrices of this device and stream, with so many rows, which do not overlap.
        Ok(unsafe { self.kernels.combine(rows, &[DevicePart::read(&from.view())], unit.view(), &into) }?)
    }

    fn room(&self, what: &str, rows: usize, cols: usize) -> Result<DeviceDense<S>, SolveError> {
        Ok(DeviceDense::new(&self.device, what, rows, cols)?)
    }
}

fn identity(n: usize) -> Result<Dense<f64>, SolveError> {
    let mut unit = Dense::zeros(n, n)?;
    (0..n).for_each(|i| unit.data_mut()[i * n + i] = 1.0);
    Ok(unit)
}

impl<S: Scalar> Blocks<S> for DeviceBlocks<S> {
    fn add(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<Block, SolveError> {
        let mut block = self.room(what, rows, cols)?;
        block.buffer.fill_bytes(0)?;
        self.blocks.push(block);
        Ok(Block { id: self.blocks.len() - 1, rows, cols })
    }

    fn write(&mut self, to: Columns, from: DenseView<'_, S>) -> Result<(), SolveError> {
        let mut staged = self.room("vectors of the host", from.rows(), from.cols())?;
        staged.write(from)?;
        self.copy_in(&staged, to)
    }

    fn randomize(&mut self, to: Columns, first_row: u64, seed: u64) -> Result<(), SolveError> {
        let (parts, rows) = (self.parts(&[to]), self.rows(&[to]));
        // SAFETY: a block of this device and stream, with so many rows.
        Ok(unsafe { self.kernels.randomize((rows, first_row), seed, parts[0]) }?)
    }

    fn write_from_device(&mut self, to: Columns, from: DeviceView<'_, S>) -> Result<(), SolveError> {
        let (rows, cols) = (from.rows(), from.cols());
        let mut staged = self.room("vectors of the caller", rows, cols)?;
        let copy = CopyRows::new(&self.device, rows, cols)?;
        let copied = |[from]: [DeviceView<'_, S>; 1], into: DeviceViewMut<'_, S>| copy.copy(from, into);
        self.device.in_order::<S, S, RunError, 1>(
            (["X"], [from]),
            ("a copy of X", staged.view_mut()),
            copied,
        )?;
        self.copy_in(&staged, to)
    }

    fn read(&mut self, from: Columns, into: DenseViewMut<'_, S>) -> Result<(), SolveError> {
        Ok(self.copy_out(from)?.read(into)?)
    }

    fn read_on_device(&mut self, from: Columns) -> Result<Option<DeviceDense<S>>, SolveError> {
        self.copy_out(from).map(Some)
    }

    fn gram(&mut self, left: &[Columns], right: &[Columns]) -> Result<Small, SolveError> {
        let rows = self.rows(&[left, right].concat());
        let kind = if left == right { Kind::Symmetric } else { Kind::General };
        let (left, right) = (self.parts(left), self.parts(right));
        // SAFETY: blocks of this device and stream, with so many rows.
        let g = unsafe { self.kernels.gram(rows, &left, &right, kind) }?;
        Ok(Small::from_rows(g.rows(), g.cols(), g.data()))
    }

    fn combine(&mut self, from: &[Columns], c: &Small, into: &[Columns]) -> Result<(), SolveError> {
        let rows = self.rows(&[from, into].concat());
        assert!(!overlap(into), "combinations overlap each other");
        let c_rows: Vec<f64> = c.transpose().iter().copied().collect();
        let c = Dense::from_rows(c.nrows(), c.ncols(), c_rows)?;
        let (from, into) = (self.parts(from), self.parts(into));
        // SAFETY: blocks of this device and stream, with so many rows. What is read and written lies in one block, in the same rows.
        Ok(unsafe { self.kernels.combine(rows, &from, c.view(), &into) }?)
    }

    fn scale_rows(&mut self, factors: Columns, x: Columns) -> Result<(), SolveError> {
        assert!(factors.id != x.id, "factors are a block of their own");
        let rows = self.rows(&[factors, x]);
        let parts = self.parts(&[factors, x]);
        // SAFETY: two blocks of this device and stream, with so many rows.
        Ok(unsafe { self.kernels.scale_rows(rows, parts[0], parts[1]) }?)
    }

    fn apply(
        &mut self,
        operator: &dyn Operator<S>,
        transposed: bool,
        x: Columns,
        y: Columns,
    ) -> Result<(), SolveError> {
        assert!(x.id != y.id && x.count == y.count && x.first == 0 && y.first == 0);
        let (x_block, y_block) = match self.blocks.get_disjoint_mut([x.id, y.id]) {
            Ok([x_block, y_block]) => (x_block, y_block),
            Err(_) => unreachable!("two blocks of ours"),
        };
        let read = DeviceView::whole(&x_block.buffer, x_block.rows, x.count, x_block.leading_dimension);
        let (rows, distance) = (y_block.rows, y_block.leading_dimension);
        let written = DeviceViewMut::whole(&mut y_block.buffer, rows, y.count, distance);
        let product = match transposed {
            true => operator.apply_transposed_on_device(read, written),
            false => operator.apply_on_device(read, written),
        };
        Ok(product?)
    }

    fn wait(&mut self) -> Result<(), SolveError> {
        Ok(self.device.synchronize()?)
    }
}

impl<S: Scalar> DeviceBlocks<S> {
    fn copy_out(&mut self, from: Columns) -> Result<DeviceDense<S>, SolveError> {
        let (parts, rows) = (self.parts(&[from]), self.rows(&[from]));
        let mut copy = self.room("vectors", rows, from.count)?;
        let (unit, into) = (identity(from.count)?, DevicePart::written(&copy.view_mut()));
        // SAFETY: matrices of this device and stream, with so many rows, which do not overlap.
        unsafe { self.kernels.combine(rows, &parts, unit.view(), &[into]) }?;
        Ok(copy)
    }
}

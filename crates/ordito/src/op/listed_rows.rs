//! Rows of matrices on a device that a list names: what is packed for others, and what of theirs is added.

// In a build without devices nothing that takes one can ever run.
#![cfg_attr(not(any(feature = "cuda", feature = "emulator")), allow(unreachable_code, unused_variables))]

use crate::Scalar;
use crate::device::{Argument, Buffer, Device, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan};
use crate::matrix::FormatError;
use crate::op::{RunError, check_shape};
use crate::refusal::Refusal;
use std::marker::PhantomData;

/// A list of rows on a device.
///
/// ```
/// use ordito::device::{Device, DeviceDense, Emulator};
/// use ordito::op::ListedRows;
/// use ordito::Dense;
/// # if Emulator::open().is_err() { return Ok(()); } // no compiler here
/// let device = Device::Emulator(Emulator::open()?);
/// let rows = ListedRows::new(&device, &[0, 2])?;
/// let mut x = DeviceDense::new(&device, "X", 3, 1)?;
/// let mut some = DeviceDense::new(&device, "some rows of X", 2, 1)?;
/// x.write(Dense::from_rows(3, 1, vec![1.0, 2.0, 4.0])?.view())?;
/// rows.gather(x.view(), some.view_mut())?;
/// rows.add(some.view(), x.view_mut())?;
/// let mut found = Dense::zeros(3, 1)?;
/// x.read(found.view_mut())?;
/// assert_eq!(found.data(), [2.0, 2.0, 8.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ListedRows<S> {
    device: Device,
    rows: Buffer<u32>,
    /// The place of the last row, and that row; none where none is listed.
    last: Option<(usize, u32)>,
    ascends: bool,
    gather: Kernel,
    add: Kernel,
    element: PhantomData<S>,
}

impl<S: Scalar> ListedRows<S> {
    /// Uploads the list. What is done to rows goes into the device's stream.
    pub fn new(device: &Device, rows: &[u32]) -> Result<Self, Refusal> {
        let [gather, add] = Self::sources();
        Ok(ListedRows {
            device: device.clone(),
            rows: device.upload("a list of rows", rows)?,
            last: rows.iter().copied().enumerate().max_by_key(|(_, row)| *row),
            ascends: rows.is_sorted_by(|earlier, later| earlier < later),
            gather: device.kernel(&gather)?,
            add: device.kernel(&add)?,
            element: PhantomData,
        })
    }

    pub(crate) fn sources() -> [KernelSource; 2] {
        ["gather_rows", "add_rows"].map(|entry| {
            KernelSource::new(entry, "listed_rows.cu", include_str!("listed_rows.cu"))
                .define("SCALAR", S::CUDA_NAME)
        })
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    /// None at all?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Row i of `into` = the row of `from` that is listed i-th. Only enqueues, after all that was done to both.
    pub fn gather(&self, from: DeviceView<'_, S>, into: DeviceViewMut<'_, S>) -> Result<(), RunError> {
        check_shape("the matrix to be filled", (into.rows(), into.cols()), (self.len(), from.cols()))?;
        self.check_reach(from.rows())?;
        let (from, into) = (("the matrix of all rows", from), ("the matrix to be filled", into));
        self.enqueue(&self.gather, from, into)
    }

    /// Adds row i of `from` to the row of `into` that is listed i-th, where rows are listed in ascending order, none twice. Only enqueues, after all
    /// that was done to both.
    pub fn add(&self, from: DeviceView<'_, S>, into: DeviceViewMut<'_, S>) -> Result<(), RunError> {
        check_shape("the matrix to be added", (from.rows(), from.cols()), (self.len(), into.cols()))?;
        self.check_reach(into.rows())?;
        if !self.ascends {
            return Err(FormatError::NotAscending { what: "rows to be added to" }.into());
        }
        let (from, into) = (("the matrix to be added", from), ("the matrix of all rows", into));
        self.enqueue(&self.add, from, into)
    }

    fn check_reach(&self, rows: usize) -> Result<(), RunError> {
        match self.last {
            Some((entry, row)) if row as usize >= rows => {
                let index = row.into();
                Err(FormatError::IndexOutOfRange { entry, what: "row", index, bound: rows }.into())
            }
            _ => Ok(()),
        }
    }

    /// Both have been checked.
    fn enqueue(
        &self,
        kernel: &Kernel,
        (name, from): (&'static str, DeviceView<'_, S>),
        into: (&'static str, DeviceViewMut<'_, S>),
    ) -> Result<(), RunError> {
        let plan = LaunchPlan::over_rows(self.device.limits(), self.len(), from.cols())?;
        let sides = [self.len(), from.cols()].map(|side| Argument::of(side as u64));
        self.device.in_order(([name], [from]), into, |[from], into| {
            let ([count, cols], [from, from_distance]) = (sides, from.arguments());
            let [into, into_distance] = into.arguments();
            let list = Argument::from(&self.rows);
            let arguments = [count, cols, list, from, from_distance, into, into_distance];
            // SAFETY: as the kernels declare them. Listed rows lie inside the matrix of all rows, and the other has as many as are
            // listed: checked by both callers. The list is never written, and lives as long as this, whose buffer is given back in order.
            Ok(unsafe { kernel.launch(&plan, &arguments) }?)
        })
    }
}

//! A copy of a matrix on a device for kernels that move 16 bytes of a row at a time, made only where the matrix itself does
//! not lie as they need it.

use crate::Scalar;
use crate::device::{
    CHUNK_BYTES, Device, DeviceDense, DeviceView, DeviceViewMut, KernelSource, LaunchReport,
};
use crate::op::RunError;
use crate::op::copy_rows::CopyRows;
use crate::refusal::Refusal;

/// How a kernel needs the rows of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// They start at multiples of 16 bytes.
    AlignedRows,
    /// And may be read to the next multiple, beyond their end.
    WholeChunks,
    /// They lie at the distance of a [`DeviceDense`].
    SameDistance,
}

impl Needs {
    fn is_met<S: Scalar>(self, matrix: &DeviceView<'_, S>) -> bool {
        let (distance, chunk) = (matrix.leading_dimension(), CHUNK_BYTES / size_of::<S>());
        match self {
            Needs::AlignedRows => distance.is_multiple_of(chunk),
            Needs::WholeChunks => matrix.has_whole_chunks(),
            Needs::SameDistance => distance == matrix.cols().next_multiple_of(chunk),
        }
    }
}

/// Where the copy lies, and what makes it.
type RoomAndKernel<S> = (DeviceDense<S>, CopyRows<S>);

/// Room for such a copy; nothing until one is needed, then kept.
pub(crate) struct PaddedRows<S> {
    device: Device,
    /// For messages.
    what: &'static str,
    needs: Needs,
    copy: Option<RoomAndKernel<S>>,
}

impl<S: Scalar> PaddedRows<S> {
    pub(crate) fn new(device: &Device, what: &'static str, needs: Needs) -> Self {
        PaddedRows { device: device.clone(), what, needs, copy: None }
    }

    /// The kernel that copies.
    pub(crate) fn source() -> KernelSource {
        CopyRows::<S>::source()
    }

    /// Memory and kernel, where this matrix has to be copied. All matrices have the same shape.
    pub(crate) fn bind(&mut self, matrix: DeviceView<'_, S>) -> Result<(), Refusal> {
        if !self.needs.is_met(&matrix) && self.copy.is_none() {
            let (rows, cols) = (matrix.rows(), matrix.cols());
            let room = DeviceDense::new(&self.device, self.what, rows, cols)?;
            self.copy = Some((room, CopyRows::new(&self.device, rows, cols)?));
        }
        Ok(())
    }

    /// The copy, where this matrix has to be copied.
    fn copy_of(&mut self, matrix: DeviceView<'_, S>) -> Result<Option<&mut RoomAndKernel<S>>, Refusal> {
        self.bind(matrix)?;
        Ok(self.copy.as_mut().filter(|_| !self.needs.is_met(&matrix)))
    }

    /// Fills the copy; `false` where there is none. Only enqueues.
    pub(crate) fn fill(&mut self, matrix: DeviceView<'_, S>) -> Result<bool, RunError> {
        let Some((room, kernel)) = self.copy_of(matrix)? else { return Ok(false) };
        kernel.copy(matrix, room.view_mut())?;
        Ok(true)
    }

    /// The copy, which has been filled, or the matrix itself where it need not be copied.
    pub(crate) fn or_itself<'a>(&'a self, matrix: DeviceView<'a, S>) -> DeviceView<'a, S> {
        match &self.copy {
            Some((room, _)) if !self.needs.is_met(&matrix) => room.view(),
            _ => matrix,
        }
    }

    /// Runs `work`, which writes the matrix, on the copy, and takes that back; on the matrix itself where it need not be
    /// copied. `is_read`: does the work read it, too?
    pub(crate) fn write(
        &mut self,
        matrix: DeviceViewMut<'_, S>,
        is_read: bool,
        work: impl FnOnce(DeviceViewMut<'_, S>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let Some((room, kernel)) = self.copy_of(matrix.as_view())? else { return work(matrix) };
        if is_read {
            kernel.copy(matrix.as_view(), room.view_mut())?;
        }
        work(room.view_mut())?;
        kernel.copy(room.view(), matrix)
    }

    /// What copying launches, where something was copied.
    pub(crate) fn launches(&self) -> impl Iterator<Item = LaunchReport> {
        self.copy.iter().map(|(_, kernel)| kernel.report())
    }
}

//! A dense matrix of the host that the GPU reads and writes by itself.

use crate::Scalar;
#[cfg(feature = "cuda")]
use crate::device::gpu::PinnedBuffer;
use crate::device::handle::Device;
use crate::matrix::room::check_room;
use crate::matrix::{DenseView, DenseViewMut};
use crate::refusal::Refusal;

/// A dense row-major matrix, zero at first, in pinned memory where the machine has a GPU: copies from and to it are
/// several times as fast as from and to other memory. Where there is no GPU it lies in memory like any other, so that
/// programs need not tell the two apart.
///
/// ```
/// use ordito::Machine;
/// let mut x = Machine::all_cores()?.pinned_dense::<f64>(2, 3)?;
/// x.view_mut().row_mut(1).fill(5.0);
/// assert_eq!(x.view().data(), &[0.0, 0.0, 0.0, 5.0, 5.0, 5.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PinnedDense<S> {
    numbers: Numbers<S>,
    rows: usize,
    cols: usize,
}

#[derive(Debug)]
enum Numbers<S> {
    #[cfg(feature = "cuda")]
    Pinned(PinnedBuffer<S>),
    Plain(Vec<S>),
}

impl<S: Scalar> PinnedDense<S> {
    /// `rows × cols` zeros, whose number 64 bits count, pinned for this device.
    pub(crate) fn new(device: Option<&Device>, rows: usize, cols: usize) -> Result<Self, Refusal> {
        let elements = rows.saturating_mul(cols);
        #[cfg(feature = "cuda")]
        if let Some(gpu) = device.and_then(Device::gpu) {
            return Ok(PinnedDense { numbers: Numbers::Pinned(gpu.pinned(elements)?), rows, cols });
        }
        let _ = device; // the emulator's memory is the host's
        check_room("a matrix in pinned memory", (elements as u64).checked_mul(size_of::<S>() as u64))?;
        Ok(PinnedDense { numbers: Numbers::Plain(vec![S::ZERO; elements]), rows, cols })
    }

    /// Does it lie in pinned memory?
    pub fn is_pinned(&self) -> bool {
        !matches!(self.numbers, Numbers::Plain(_))
    }
    /// The numbers, row after row.
    pub fn data(&self) -> &[S] {
        match &self.numbers {
            #[cfg(feature = "cuda")]
            Numbers::Pinned(numbers) => numbers.as_slice(),
            Numbers::Plain(numbers) => numbers,
        }
    }
    /// The numbers, row after row.
    pub fn data_mut(&mut self) -> &mut [S] {
        match &mut self.numbers {
            #[cfg(feature = "cuda")]
            Numbers::Pinned(numbers) => numbers.as_mut_slice(),
            Numbers::Plain(numbers) => numbers,
        }
    }
    /// To read.
    pub fn view(&self) -> DenseView<'_, S> {
        DenseView::compact(self.data(), self.rows, self.cols)
    }
    /// To write.
    pub fn view_mut(&mut self) -> DenseViewMut<'_, S> {
        let (rows, cols) = (self.rows, self.cols);
        DenseViewMut::compact(self.data_mut(), rows, cols)
    }
}

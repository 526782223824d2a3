//! A dense matrix of the host that the GPU reads and writes by itself.

use crate::Scalar;
use crate::device::gpu::PinnedBuffer;
use crate::device::handle::Device;
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::refusal::Refusal;

/// A dense row-major matrix, zero at first, in pinned memory where the machine has a GPU: copies from and to it are
/// several times as fast as from and to other memory. Where there is no GPU it lies in memory like any other, so that
/// programs need not tell the two apart.
///
/// ```
/// use ordito::machine::Machine;
/// let mut x = Machine::whole()?.pinned_dense::<f64>(2, 3)?;
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
    Pinned(PinnedBuffer<S>),
    Plain(Vec<S>),
}

impl Machine {
    /// `rows × cols` zeros in memory that copies to this machine's device are fastest from.
    pub fn pinned_dense<S: Scalar>(&self, rows: usize, cols: usize) -> Result<PinnedDense<S>, Refusal> {
        let what = || format!("a dense matrix of {rows}×{cols} in pinned memory");
        let elements = rows.checked_mul(cols);
        let bytes = elements.and_then(|elements| elements.checked_mul(size_of::<S>()));
        self.check_memory(what(), bytes.map(|bytes| bytes as u64))?;
        let elements = elements.unwrap_or(0);
        let numbers = match self.device() {
            Ok(Device::Cuda(gpu)) => Numbers::Pinned(gpu.pinned(elements)?),
            Ok(Device::Emulator(_)) | Err(_) => Numbers::Plain(vec![S::ZERO; elements]),
        };
        Ok(PinnedDense { numbers, rows, cols })
    }
}

impl<S: Scalar> PinnedDense<S> {
    /// Does it lie in pinned memory?
    pub fn is_pinned(&self) -> bool {
        matches!(self.numbers, Numbers::Pinned(_))
    }
    /// The numbers, row after row.
    pub fn data(&self) -> &[S] {
        match &self.numbers {
            Numbers::Pinned(numbers) => numbers.as_slice(),
            Numbers::Plain(numbers) => numbers,
        }
    }
    /// The numbers, row after row.
    pub fn data_mut(&mut self) -> &mut [S] {
        match &mut self.numbers {
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

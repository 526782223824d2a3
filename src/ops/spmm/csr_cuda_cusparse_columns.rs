//! cuSPARSE, the peer in the layout that it is often faster in: `cusparseSpMM` on X and Y that lie column after column.
//! X comes into that layout when it is loaded and Y out of it when it is fetched, neither of which is timed: a peer gets
//! its best layout. The library's call (`apply`) transposes both. Loses where our own kernels win; refuses what
//! `csr_cuda_cusparse.rs` refuses.

use super::csr_cuda_cusparse::{available, open, operand_of};
use super::device::DeviceCsr;
use super::{Inputs, Product, Spmm, Subject, check_shapes};
use crate::Scalar;
use crate::machine::gpu::cusparse::{Algorithm, CusparseSpmm, DenseOperand, Layout};
use crate::machine::{Argument, Buffer, Device, KernelSource, Machine, Refusal};
use crate::matrix::{Dense, DenseView, DenseViewMut};
use crate::ops::transposed::Transposed;
use crate::ops::{Phases, Place, Prepared, RunError, Variant};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

pub(super) struct CsrCudaCusparseColumns(pub(super) Algorithm);

/// A product whose operands lie by columns.
struct ByColumns<S> {
    product: CusparseSpmm<S>,
    /// What `product` reads: must outlive it.
    _a: DeviceCsr<S>,
    device: Device,
    a_shape: (usize, usize),
    k: usize,
    x: Transposed<S>,
    y: Buffer<S>,
    /// Y before the run, where there is one.
    y_before: Option<Transposed<S>>,
    inputs: Option<Inputs<S>>,
    phases: Phases,
}

/// The elements without gaps between the rows.
fn without_gaps<'a, S: Scalar>(view: &'a DenseView<'_, S>) -> Cow<'a, [S]> {
    if view.leading_dimension() == view.cols() {
        return Cow::Borrowed(&view.data()[..view.rows() * view.cols()]);
    }
    Cow::Owned((0..view.rows()).flat_map(|row| view.row(row).iter().copied()).collect())
}

/// Takes rows to the device and, there, into columns `distance` elements apart.
fn fill<S: Scalar>(
    device: &Device,
    into: &mut Transposed<S>,
    view: &DenseView<'_, S>,
) -> Result<(), RunError> {
    let rows = device.upload("rows of an operand", &without_gaps(view))?;
    into.repack([Argument::from(&rows), Argument::of(view.cols() as u64)])?;
    Ok(device.synchronize()?) // `rows` goes
}

impl<S: Scalar> ByColumns<S> {
    fn y_distance(&self) -> usize {
        Layout::column_distance::<S>(self.a_shape.0)
    }

    /// X, and Y where it is read, to the device.
    fn upload(&mut self, x: &DenseView<'_, S>, y: Option<&DenseView<'_, S>>) -> Result<(), RunError> {
        self.phases = Phases::default();
        let start = Instant::now();
        fill(&self.device, &mut self.x, x)?;
        self.y_before = None;
        if let Some(y) = y {
            let (rows, distance) = (self.a_shape.0, self.y_distance());
            let mut before = Transposed::with_distance(&self.device, "Y as it was", rows, self.k, distance)?;
            fill(&self.device, &mut before, y)?;
            self.y_before = Some(before);
        }
        self.phases.upload_ns = Some(start.elapsed().as_nanos() as f64);
        Ok(())
    }

    /// Poisons Y, or makes it what it was.
    fn restore(&mut self) -> Result<(), RunError> {
        match &self.y_before {
            Some(before) => self.y.copy_from(before.columns())?,
            None => self.y.fill_bytes(0xFF)?,
        }
        Ok(())
    }

    /// Y to the host, row after row; gaps there stay as they are.
    fn download(&mut self, mut into: DenseViewMut<'_, S>) -> Result<(), RunError> {
        let (rows, k) = (self.a_shape.0, self.k);
        self.device.synchronize()?;
        let start = Instant::now();
        // Columns of Y are the rows of its transpose.
        let mut by_rows = Transposed::<S>::new(&self.device, "rows of Y", k, rows)?;
        by_rows.repack([Argument::from(&self.y), Argument::of(self.y_distance() as u64)])?;
        if into.leading_dimension() == k {
            by_rows.columns().read(&mut into.data_mut()[..rows * k])?;
        } else {
            let mut staged = vec![S::POISON; rows * k];
            by_rows.columns().read(&mut staged)?;
            for (row, from) in staged.chunks_exact(k).enumerate() {
                into.row_mut(row).copy_from_slice(from);
            }
        }
        self.phases.download_ns = Some(start.elapsed().as_nanos() as f64);
        Ok(())
    }
}

impl<S: Scalar> Prepared<Spmm<S>> for ByColumns<S> {
    fn load(&mut self, inputs: &Inputs<S>) -> Result<(), RunError> {
        let y_shape = inputs.y.as_ref().map_or((self.a_shape.0, self.k), |y| (y.rows(), y.cols()));
        if inputs.y.is_none() && inputs.beta != S::ZERO {
            return Err(RunError::NothingToAddTo("Y"));
        }
        check_shapes(self.a_shape, self.k, &inputs.x.view(), y_shape)?;
        self.inputs = None;
        let y = inputs.y.as_ref().map(|y| y.view());
        self.upload(&inputs.x.view(), y.as_ref())?;
        self.inputs = Some(inputs.clone());
        Ok(())
    }
    fn reset(&mut self) -> Result<(), RunError> {
        self.restore()
    }
    fn run(&mut self) -> Result<(), RunError> {
        let inputs = self.inputs.as_ref().ok_or(RunError::NotLoaded)?;
        Ok(self.product.run(inputs.alpha, inputs.beta)?)
    }
    fn fetch(&mut self) -> Result<Dense<S>, RunError> {
        let inputs = self.inputs.as_ref().ok_or(RunError::NotLoaded)?;
        let mut found = match &inputs.y {
            Some(before) => Dense::clone(before),
            None => Dense::filled(self.a_shape.0, self.k, S::POISON)?,
        };
        self.download(found.view_mut())?;
        Ok(found)
    }
    fn device(&self) -> Option<&Device> {
        Some(&self.device)
    }
    fn phases(&self) -> Phases {
        self.phases
    }
}

impl<S: Scalar> Product<S> for ByColumns<S> {
    fn apply(
        &mut self,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        check_shapes(self.a_shape, self.k, &x, (y.rows(), y.cols()))?;
        self.inputs = None; // what was loaded is no longer there
        self.upload(&x, (beta != S::ZERO).then(|| y.as_view()).as_ref())?;
        self.restore()?;
        self.device.synchronize()?;
        let start = Instant::now();
        self.product.run(alpha, beta)?;
        self.device.synchronize()?;
        self.phases.run_ns = Some(start.elapsed().as_nanos() as f64);
        self.download(y)
    }
}

impl<S: Scalar> Variant<Spmm<S>> for CsrCudaCusparseColumns {
    fn name(&self) -> &'static str {
        match self.0 {
            Algorithm::Default => "csr-cuda-cusparse-default-columns",
            Algorithm::Csr1 => "csr-cuda-cusparse-alg1-columns",
            Algorithm::Csr2 => "csr-cuda-cusparse-alg2-columns",
            Algorithm::Csr3 => "csr-cuda-cusparse-alg3-columns",
        }
    }
    fn about(&self) -> &'static str {
        match self.0 {
            Algorithm::Default => {
                "CSR, X and Y by columns, NVIDIA's cuSPARSE, the algorithm it takes by itself, preprocessed where it can be"
            }
            Algorithm::Csr1 => {
                "CSR, X and Y by columns, NVIDIA's cuSPARSE, CSR_ALG1, preprocessed where it can be"
            }
            Algorithm::Csr2 => {
                "CSR, X and Y by columns, NVIDIA's cuSPARSE, CSR_ALG2, preprocessed where it can be"
            }
            Algorithm::Csr3 => {
                "CSR, X and Y by columns, NVIDIA's cuSPARSE, CSR_ALG3, preprocessed where it can be"
            }
        }
    }
    fn place(&self) -> Place {
        Place::Cuda
    }
    fn source(&self) -> &'static str {
        include_str!("csr_cuda_cusparse_columns.rs")
    }
    fn kernels(&self) -> Vec<KernelSource> {
        vec![Transposed::<S>::source()]
    }
    fn available(&self, machine: &Machine) -> Result<(), Refusal> {
        available(machine)
    }

    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let (a, k) = (&subject.a, subject.k);
        let (device, library, on_device) = open(machine, a)?;
        let mut product =
            CusparseSpmm::new(&library, &operand_of(&on_device, a)?, k, self.0, Layout::Columns)?;
        let (x_distance, y_distance) =
            (Layout::column_distance::<S>(a.cols()), Layout::column_distance::<S>(a.rows()));
        let x = Transposed::with_distance(&device, "X by columns", a.cols(), k, x_distance)?;
        let y = device.allocate::<S>("Y by columns", y_distance.saturating_mul(k))?;
        let dense = |buffer: &Buffer<S>, leading_dimension| DenseOperand {
            address: buffer.address(),
            leading_dimension,
        };
        product.bind(dense(x.columns(), x_distance), dense(&y, y_distance))?;
        device.synchronize().map_err(|error| Refusal::Device(error.to_string()))?;
        Ok(Box::new(ByColumns {
            product,
            _a: on_device,
            device,
            a_shape: (a.rows(), a.cols()),
            k,
            x,
            y,
            y_before: None,
            inputs: None,
            phases: Phases::default(),
        }))
    }
}

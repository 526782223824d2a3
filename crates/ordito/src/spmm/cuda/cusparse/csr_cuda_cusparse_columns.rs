//! cuSPARSE, the peer in the layout that it is often faster in: `cusparseSpMM` on X and Y that lie column after column.
//! X comes into that layout when it is loaded and Y out of it when it is fetched, neither of which is timed: a peer gets
//! its best layout. The library's call (`apply`) transposes both. Loses where our own kernels win; refuses what
//! `csr_cuda_cusparse.rs` refuses.

use crate::Scalar;
use crate::device::gpu::cusparse::{Algorithm, CusparseSpmm, DenseOperand, Layout};
use crate::device::{Argument, Buffer, Device, DeviceViewMut, KernelSource};
use crate::machine::Machine;
use crate::matrix::{Dense, DenseView, DenseViewMut};
use crate::op::scale_rows::ScaleRows;
use crate::op::transposed::Transposed;
use crate::op::{Description, Phases, Place, Prepared, RunError, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cuda::cusparse::csr_cuda_cusparse::{available, open, operand_of};
use crate::spmm::cuda::device_csr::DeviceCsr;
use crate::spmm::product::{Inputs, Product, Shared, Spmm, Subject, check_shapes};
use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub(crate) struct CsrCudaCusparseColumns {
    algorithm: Algorithm,
    description: Description,
}

/// What it takes by itself.
pub(crate) const DEFAULT: CsrCudaCusparseColumns = CsrCudaCusparseColumns::new(
    Algorithm::Default,
    "csr-cuda-cusparse-default-columns",
    "default-columns",
    "CSR, X and Y by columns, NVIDIA's cuSPARSE, the algorithm it takes by itself, preprocessed where it can be",
);
/// CSR_ALG1.
pub(crate) const ALG_1: CsrCudaCusparseColumns = CsrCudaCusparseColumns::new(
    Algorithm::Csr1,
    "csr-cuda-cusparse-alg1-columns",
    "alg1-columns",
    "CSR, X and Y by columns, NVIDIA's cuSPARSE, CSR_ALG1, preprocessed where it can be",
);
/// CSR_ALG2.
pub(crate) const ALG_2: CsrCudaCusparseColumns = CsrCudaCusparseColumns::new(
    Algorithm::Csr2,
    "csr-cuda-cusparse-alg2-columns",
    "alg2-columns",
    "CSR, X and Y by columns, NVIDIA's cuSPARSE, CSR_ALG2, preprocessed where it can be",
);
/// CSR_ALG3.
pub(crate) const ALG_3: CsrCudaCusparseColumns = CsrCudaCusparseColumns::new(
    Algorithm::Csr3,
    "csr-cuda-cusparse-alg3-columns",
    "alg3-columns",
    "CSR, X and Y by columns, NVIDIA's cuSPARSE, CSR_ALG3, preprocessed where it can be",
);

impl CsrCudaCusparseColumns {
    const fn new(algorithm: Algorithm, name: &'static str, short: &'static str, about: &'static str) -> Self {
        let file = source_file!("spmm/cuda/cusparse/csr_cuda_cusparse_columns.rs");
        let description = Description::new(name, about, Place::Cuda, file).peer().short(short).never_chosen();
        CsrCudaCusparseColumns { algorithm, description }
    }
}

/// A product whose operands lie by columns.
struct ByColumns<S> {
    product: CusparseSpmm<S>,
    /// What `product` reads: must outlive it.
    _a: DeviceCsr<S>,
    device: Device,
    a_shape: (usize, usize),
    k: usize,
    /// In place of the product where α is 0.
    scale: Option<ScaleRows<S>>,
    loaded: Option<(Inputs<S>, Operands<S>)>,
    /// Of [`Product::apply`], kept between calls; at first those that A was looked at with.
    room: Option<Operands<S>>,
    phases: Phases,
}

/// X and Y on the device.
struct Operands<S> {
    x: Transposed<S>,
    y: Buffer<S>,
    /// Y before the run, where there is one.
    before: Option<Transposed<S>>,
    distances: (usize, usize),
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

impl<S: Scalar> Operands<S> {
    fn new(device: &Device, (rows, cols): (usize, usize), k: usize) -> Result<Self, Refusal> {
        let distances = (Layout::column_distance::<S>(cols), Layout::column_distance::<S>(rows));
        Ok(Operands {
            x: Transposed::with_distance(device, "X by columns", cols, k, distances.0)?,
            y: device.allocate("Y by columns", distances.1.saturating_mul(k))?,
            before: None,
            distances,
        })
    }

    /// X, and Y where it is read, to the device.
    fn upload(
        &mut self,
        device: &Device,
        x: &DenseView<'_, S>,
        y: Option<&DenseView<'_, S>>,
    ) -> Result<(), RunError> {
        fill(device, &mut self.x, x)?;
        self.before = None;
        if let Some(y) = y {
            let distance = self.distances.1;
            let before = Transposed::with_distance(device, "Y as it was", y.rows(), y.cols(), distance)?;
            fill(device, self.before.insert(before), y)?;
        }
        Ok(())
    }

    /// Poisons Y, or makes it what it was.
    fn restore(&mut self) -> Result<(), RunError> {
        match &self.before {
            Some(before) => self.y.copy_from(before.columns())?,
            None => self.y.fill_bytes(0xFF)?,
        }
        Ok(())
    }

    /// Tells cuSPARSE where they lie: next to nothing, unless it is for the first time.
    fn bind(&self, product: &mut CusparseSpmm<S>) -> Result<(), Refusal> {
        let lies = |buffer: &Buffer<S>, leading_dimension| DenseOperand {
            address: buffer.address(),
            leading_dimension,
        };
        // SAFETY: X and Y are buffers of this struct, made for the shape of the product, and bound anew before every one; A's live
        // beside the product.
        unsafe { product.bind(lies(self.x.columns(), self.distances.0), lies(&self.y, self.distances.1)) }
    }

    fn multiply(
        &mut self,
        product: &mut CusparseSpmm<S>,
        scale: Option<&ScaleRows<S>>,
        (rows, k): (usize, usize),
        alpha: S,
        beta: S,
    ) -> Result<(), RunError> {
        if let (true, Some(scale)) = (alpha == S::ZERO, scale) {
            return scale.scale(beta, DeviceViewMut::whole(&mut self.y, k, rows, self.distances.1));
        }
        self.bind(product)?;
        Ok(product.run(alpha, beta)?)
    }

    /// Y to the host, row after row; gaps there stay as they are.
    fn download(&self, device: &Device, mut into: DenseViewMut<'_, S>) -> Result<(), RunError> {
        let (rows, k) = (into.rows(), into.cols());
        // Columns of Y are the rows of its transpose.
        let mut by_rows = Transposed::<S>::new(device, "rows of Y", k, rows)?;
        by_rows.repack([Argument::from(&self.y), Argument::of(self.distances.1 as u64)])?;
        if into.leading_dimension() == k {
            by_rows.columns().read(&mut into.data_mut()[..rows * k])?;
        } else {
            let mut staged = vec![S::POISON; rows * k];
            by_rows.columns().read(&mut staged)?;
            for (row, from) in staged.chunks_exact(k).enumerate() {
                into.row_mut(row).copy_from_slice(from);
            }
        }
        Ok(())
    }
}

fn elapsed_ns(start: Instant) -> Option<f64> {
    Some(start.elapsed().as_nanos() as f64)
}

impl<S: Scalar> ByColumns<S> {
    /// What is launched for this α is compiled.
    fn get_ready(&mut self, alpha: S) -> Result<(), Refusal> {
        if alpha == S::ZERO && self.scale.is_none() {
            self.scale = Some(ScaleRows::new(&self.device, self.k, self.a_shape.0)?);
        }
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
        self.get_ready(inputs.alpha)?;
        self.phases = Phases::default();
        let mut operands = match self.loaded.take().map(|(_, operands)| operands).or_else(|| self.room.take())
        {
            Some(operands) => operands,
            None => Operands::new(&self.device, self.a_shape, self.k)?,
        };
        let start = Instant::now();
        let y = inputs.y.as_ref().map(|y| y.view());
        operands.upload(&self.device, &inputs.x.view(), y.as_ref())?;
        self.phases.upload_ns = elapsed_ns(start);
        self.loaded = Some((inputs.clone(), operands));
        Ok(())
    }
    fn reset(&mut self) -> Result<(), RunError> {
        self.loaded.as_mut().ok_or(RunError::NotLoaded)?.1.restore()
    }
    fn run(&mut self) -> Result<(), RunError> {
        let (inputs, operands) = self.loaded.as_mut().ok_or(RunError::NotLoaded)?;
        let y_shape = (self.a_shape.0, self.k);
        operands.multiply(&mut self.product, self.scale.as_ref(), y_shape, inputs.alpha, inputs.beta)
    }
    fn fetch(&mut self) -> Result<Dense<S>, RunError> {
        let (inputs, operands) = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        let mut found = match &inputs.y {
            Some(before) => Dense::clone(before),
            None => Dense::filled(self.a_shape.0, self.k, S::POISON)?,
        };
        self.device.synchronize()?;
        let start = Instant::now();
        operands.download(&self.device, found.view_mut())?;
        self.phases.download_ns = elapsed_ns(start);
        Ok(found)
    }
    fn fetch_into(&mut self, output: &mut Dense<S>) -> Result<(), RunError> {
        let (inputs, operands) = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        let fits = (output.rows(), output.cols(), output.data().len())
            == (self.a_shape.0, self.k, self.a_shape.0 * self.k);
        if inputs.y.is_some() || !fits {
            *output = self.fetch()?; // gaps are to be as they were
            return Ok(());
        }
        self.device.synchronize()?;
        let start = Instant::now();
        operands.download(&self.device, output.view_mut())?;
        self.phases.download_ns = elapsed_ns(start);
        Ok(())
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
        self.get_ready(alpha)?;
        let mut room = match self.room.take() {
            Some(room) => room,
            None => Operands::new(&self.device, self.a_shape, self.k)?,
        };
        self.phases = Phases::default();
        let start = Instant::now();
        room.upload(&self.device, &x, (beta != S::ZERO).then(|| y.as_view()).as_ref())?;
        room.restore()?;
        self.device.synchronize()?;
        self.phases.upload_ns = elapsed_ns(start);
        let start = Instant::now();
        room.multiply(&mut self.product, self.scale.as_ref(), (self.a_shape.0, self.k), alpha, beta)?;
        self.device.synchronize()?;
        self.phases.run_ns = elapsed_ns(start);
        let start = Instant::now();
        room.download(&self.device, y)?;
        self.phases.download_ns = elapsed_ns(start);
        self.room = Some(room);
        Ok(())
    }

    fn into_shared(self: Box<Self>) -> Shared<S> {
        Shared::OnDevice(Mutex::new(self))
    }
}

impl<S: Scalar> Variant<Spmm<S>> for CsrCudaCusparseColumns {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn kernels(&self) -> Vec<KernelSource> {
        vec![Transposed::<S>::source(), ScaleRows::<S>::source()]
    }
    fn available(&self, machine: &Machine) -> Result<(), Refusal> {
        available(machine)
    }

    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let (a, k) = (&subject.a, subject.k);
        let (device, library, on_device) = open(machine, a)?;
        let mut product =
            CusparseSpmm::new(&library, &operand_of(&on_device, a)?, k, self.algorithm, Layout::Columns)?;
        let room = Operands::new(&device, (a.rows(), a.cols()), k)?;
        // A look at A asks for an X and a Y.
        room.bind(&mut product)?;
        device.synchronize().map_err(|error| Refusal::Device(error.to_string()))?;
        Ok(Box::new(ByColumns {
            product,
            _a: on_device,
            device,
            a_shape: (a.rows(), a.cols()),
            k,
            scale: None,
            loaded: None,
            room: Some(room),
            phases: Phases::default(),
        }))
    }
}

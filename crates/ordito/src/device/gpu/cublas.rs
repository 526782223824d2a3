//! cuBLAS's product of dense matrices: what our kernels are compared with.

use crate::Scalar;
use crate::device::backend::{Backend, DeviceError, Memory};
use crate::device::buffer::Buffer;
use crate::device::gpu::Gpu;
use crate::device::gpu::api::cublas as sys;
use crate::device::gpu::libraries::{Found, Library};
use crate::device::gpu::memory::DeviceMemory;
use crate::device::gpu::status::in_words;
use crate::device::view::{DeviceView, DeviceViewMut};
use crate::refusal::Refusal;
use std::sync::{Arc, Mutex, PoisonError};

/// What cuBLAS may use for itself. With memory of its own it allocates nothing while it runs, so that runs can be
/// recorded into graphs. NVIDIA's manual recommends 32 MiB on Hopper.
const WORKSPACE_BYTES: usize = 64 << 20;

const PLAIN: sys::cublasOperation_t = sys::cublasOperation_t::CUBLAS_OP_N;
const TRANSPOSED: sys::cublasOperation_t = sys::cublasOperation_t::CUBLAS_OP_T;

/// The library, working in the stream of one GPU. Graphs that were captured from its runs use its workspace: it must
/// live as long as they are launched.
#[derive(Debug)]
pub struct Cublas {
    gpu: Arc<Gpu>,
    found: &'static Found,
    /// One call at a time. Taken after the context is entered, never before: a thread that captures a graph would
    /// otherwise wait for one that waits for it.
    handle: Mutex<Handle>,
    /// After the handle: fields are dropped in this order, and the handle uses it.
    _workspace: DeviceMemory,
}

/// The sizes of C (m×n) = A (m×k) · B (k×n).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GemmShape {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of A, rows of B.
    pub k: usize,
    /// Columns of B and C.
    pub n: usize,
}

/// A row-major matrix on the GPU that is read.
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a, S> {
    /// Its elements.
    pub buffer: &'a Buffer<S>,
    /// Elements from one row to the next.
    pub leading_dimension: usize,
}

/// A row-major matrix on the GPU that is written.
#[derive(Debug)]
pub struct OperandMut<'a, S> {
    /// Its elements.
    pub buffer: &'a mut Buffer<S>,
    /// Elements from one row to the next.
    pub leading_dimension: usize,
}

impl Cublas {
    /// Opens the library for this GPU, and takes 64 MiB of its memory.
    pub fn open(gpu: &Arc<Gpu>) -> Result<Self, Refusal> {
        let found = Library::Cublas.find()?;
        let workspace = DeviceMemory::allocate(gpu, "cuBLAS's workspace", WORKSPACE_BYTES)?;
        let handle = Handle::new(gpu)?;
        handle.set_up(&workspace)?;
        Ok(Cublas { gpu: gpu.clone(), found, handle: Mutex::new(handle), _workspace: workspace })
    }

    /// File and version.
    pub fn found(&self) -> &'static Found {
        self.found
    }

    /// Puts C = α·A·B + β·C into the GPU's stream, in full precision: f32 is never rounded to TF32. Where β is 0, C is
    /// not read. Without columns of A (m = 0) only C = β·C is left; without elements of C there is nothing to do, and
    /// in both cases operands that have no part in it are not looked at.
    ///
    /// A buffer that is too short for its matrix, or of another GPU, and rows that lie closer than they are long, are an error
    /// before anything is called.
    ///
    /// ```compile_fail,E0133
    /// # use ordito::device::{DeviceError, gpu::cublas::{Cublas, GemmShape, Operand, OperandMut}};
    /// fn unchecked(cublas: &Cublas, a: Operand<'_, f64>, c: OperandMut<'_, f64>) -> Result<(), DeviceError> {
    ///     cublas.gemm(GemmShape { m: 1, k: 1, n: 1 }, 1.0, a, a, 0.0, c)
    /// }
    /// ```
    ///
    /// # Safety
    /// Until the product is done the buffers are there, nobody else writes A and B, and nobody else uses C other than in the
    /// same stream.
    pub unsafe fn gemm<S: Scalar>(
        &self,
        shape: GemmShape,
        alpha: S,
        a: Operand<'_, S>,
        b: Operand<'_, S>,
        beta: S,
        c: OperandMut<'_, S>,
    ) -> Result<(), DeviceError> {
        let GemmShape { m, k, n } = shape;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let of_this_gpu = |what: &'static str, buffer: &Buffer<S>| match self.gpu.owns(&**buffer.memory()) {
            true => Ok(()),
            false => Err(DeviceError::Elsewhere { what }),
        };
        of_this_gpu("C", c.buffer)?;
        let c = Matrix::new("C", c.buffer, m, n, c.leading_dimension)?;
        if k == 0 {
            return self.scale(beta, &c);
        }
        of_this_gpu("A", a.buffer)?;
        of_this_gpu("B", b.buffer)?;
        let a = Matrix::new("A", a.buffer, m, k, a.leading_dimension)?;
        let b = Matrix::new("B", b.buffer, k, n, b.leading_dimension)?;
        self.multiply(alpha, (PLAIN, &a), &b, beta, &c)
    }

    /// C = αAB + βC of the first `terms` columns of A and rows of B. The shapes fit, and the matrices are of this GPU.
    pub(crate) fn gemm_on_views<S: Scalar>(
        &self,
        terms: usize,
        (alpha, beta): (S, S),
        a: DeviceView<'_, S>,
        b: DeviceView<'_, S>,
        c: DeviceViewMut<'_, S>,
    ) -> Result<(), DeviceError> {
        if c.rows() == 0 || c.cols() == 0 {
            return Ok(());
        }
        let c = Matrix::of_view("C", c.as_view())?;
        if terms == 0 {
            return self.scale(beta, &c);
        }
        self.multiply(alpha, (PLAIN, &Matrix::of_view("A", a)?), &Matrix::of_view("B", b)?, beta, &c)
    }

    /// C = AᵀB. The shapes fit, and the matrices are of this GPU.
    pub(crate) fn transposed_gemm_on_views<S: Scalar>(
        &self,
        a: DeviceView<'_, S>,
        b: DeviceView<'_, S>,
        c: DeviceViewMut<'_, S>,
    ) -> Result<(), DeviceError> {
        if c.rows() == 0 || c.cols() == 0 {
            return Ok(());
        }
        let c = Matrix::of_view("C", c.as_view())?;
        if a.rows() == 0 {
            return self.scale(S::ZERO, &c);
        }
        let (a, b) = (Matrix::of_view("A", a)?, Matrix::of_view("B", b)?);
        self.multiply(S::ONE, (TRANSPOSED, &a), &b, S::ZERO, &c)
    }

    /// cuBLAS is column-major, and to it our rows are columns: what it sees is Cᵀ = Bᵀ·Aᵀ, so B comes first and sizes
    /// are the other way round. No operand is empty: cuBLAS takes no leading dimension of 0. A may be transposed.
    fn multiply<S: Scalar>(
        &self,
        alpha: S,
        (of_a, a): (sys::cublasOperation_t, &Matrix),
        b: &Matrix,
        beta: S,
        c: &Matrix,
    ) -> Result<(), DeviceError> {
        let (m, k, n) = (c.rows, b.rows, c.cols);
        let (lda, ldb, ldc) = (a.leading_dimension, b.leading_dimension, c.leading_dimension);
        let (alpha, beta) = (&raw const alpha, &raw const beta);
        let _turn = self.gpu.context().enter()?;
        let handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        let done = if is_f32::<S>() {
            let (alpha, beta, a, b, c) = (alpha.cast(), beta.cast(), a.start(), b.start(), c.start());
            // SAFETY: the handle is valid; the operands are f32 and lie within their buffers, C in one that nobody else
            // has; the factors are f32 too and are read before the call returns.
            unsafe {
                call!(cublasSgemm_v2_64(
                    handle.raw, PLAIN, of_a, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc
                ))
            }
        } else {
            let (alpha, beta, a, b, c) = (alpha.cast(), beta.cast(), a.start(), b.start(), c.start());
            // SAFETY: the same, in f64.
            unsafe {
                call!(cublasDgemm_v2_64(
                    handle.raw, PLAIN, of_a, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc
                ))
            }
        };
        Ok(done?)
    }

    /// C = β·C as `geam`'s C = β·C + 0·C. The manual allows that in place, says that what has the factor 0 is not read,
    /// and that two such factors clear C; it does not say what `gemm` does without columns of A.
    fn scale<S: Scalar>(&self, beta: S, c: &Matrix) -> Result<(), DeviceError> {
        let (m, n, ldc) = (c.rows, c.cols, c.leading_dimension);
        let zero = S::ZERO;
        let (beta, zero) = (&raw const beta, &raw const zero);
        let _turn = self.gpu.context().enter()?;
        let handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        let done = if is_f32::<S>() {
            let (beta, zero, c) = (beta.cast(), zero.cast(), c.start());
            // SAFETY: the handle is valid; C is f32 and lies within its buffer, which nobody else has; the factors are f32
            // too and are read before the call returns.
            unsafe {
                call!(cublasSgeam_64(handle.raw, PLAIN, PLAIN, n, m, beta, c, ldc, zero, c, ldc, c, ldc))
            }
        } else {
            let (beta, zero, c) = (beta.cast(), zero.cast(), c.start());
            // SAFETY: the same, in f64.
            unsafe {
                call!(cublasDgeam_64(handle.raw, PLAIN, PLAIN, n, m, beta, c, ldc, zero, c, ldc, c, ldc))
            }
        };
        Ok(done?)
    }
}

/// There is no third type.
fn is_f32<S: Scalar>() -> bool {
    S::CUDA_NAME == "float"
}

/// An operand that is not empty and lies within its buffer, as cuBLAS counts.
struct Matrix {
    address: u64,
    rows: i64,
    cols: i64,
    leading_dimension: i64,
}

impl Matrix {
    fn new<S: Scalar>(
        name: &str,
        buffer: &Buffer<S>,
        rows: usize,
        cols: usize,
        leading_dimension: usize,
    ) -> Result<Self, DeviceError> {
        let refuse = |why: String| refused(name, (rows, cols), leading_dimension, why);
        if leading_dimension < cols {
            return Err(refuse("has rows that overlap".into()));
        }
        let needed = (rows - 1).checked_mul(leading_dimension).and_then(|start| start.checked_add(cols));
        let has = buffer.len();
        match needed {
            Some(needed) if needed <= has => {}
            Some(needed) => {
                return Err(refuse(format!("needs {needed} elements, {} has {has}", buffer.name())));
            }
            None => return Err(refuse("has more elements than 64 bits count".into())),
        }
        Matrix::at(name, buffer.address(), (rows, cols), leading_dimension)
    }

    /// Where it lies within its memory is known of a view.
    fn of_view<S: Scalar>(name: &str, view: DeviceView<'_, S>) -> Result<Self, DeviceError> {
        Matrix::at(name, view.address(), (view.rows(), view.cols()), view.leading_dimension())
    }

    fn at(
        name: &str,
        address: u64,
        (rows, cols): (usize, usize),
        leading_dimension: usize,
    ) -> Result<Self, DeviceError> {
        // Of a single row the distance is any number, also one beyond 63 bits.
        let leading_dimension = if rows == 1 { cols } else { leading_dimension };
        let count = |number: usize| {
            i64::try_from(number).map_err(|_| {
                refused(name, (rows, cols), leading_dimension, "has more elements than 63 bits count".into())
            })
        };
        Ok(Matrix {
            address,
            rows: count(rows)?,
            cols: count(cols)?,
            leading_dimension: count(leading_dimension)?,
        })
    }

    fn start<T>(&self) -> *mut T {
        std::ptr::without_provenance_mut(self.address as usize)
    }
}

fn refused(name: &str, (rows, cols): (usize, usize), leading_dimension: usize, why: String) -> DeviceError {
    let why = format!("{name} ({rows}×{cols}, rows {leading_dimension} elements apart) {why}");
    DeviceError::Call { call: "cuBLAS's gemm", why }
}

/// What every call is told: whom it works for, where and how.
#[derive(Debug)]
struct Handle {
    gpu: Arc<Gpu>,
    raw: sys::cublasHandle_t,
}

// SAFETY: a handle may move between threads; the mutex keeps them from using it at the same time.
unsafe impl Send for Handle {}

impl Handle {
    fn new(gpu: &Arc<Gpu>) -> Result<Self, Refusal> {
        let _turn = gpu.context().enter()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the GPU's context is current; writes one handle.
        unsafe { call!(cublasCreate_v2(&mut raw)) }?;
        Ok(Handle { gpu: gpu.clone(), raw })
    }

    fn set_up(&self, workspace: &DeviceMemory) -> Result<(), Refusal> {
        let (stream, room) =
            (self.gpu.stream().raw(), std::ptr::without_provenance_mut(workspace.address() as usize));
        let on_host = sys::cublasPointerMode_t::CUBLAS_POINTER_MODE_HOST;
        let full_precision = sys::cublasMath_t::CUBLAS_DEFAULT_MATH;
        let _turn = self.gpu.context().enter()?;
        // SAFETY: the handle is valid; the stream is as long as the GPU is, and the workspace outlives the handle. The
        // stream comes first: setting it takes the workspace away again.
        unsafe {
            call!(cublasSetStream_v2(self.raw, stream))?;
            call!(cublasSetWorkspace_v2(self.raw, room, WORKSPACE_BYTES))?;
            call!(cublasSetPointerMode_v2(self.raw, on_host))?;
            call!(cublasSetMathMode(self.raw, full_precision))?;
        }
        Ok(())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // There is nobody to tell about errors here; after a lost context there is nothing to give back either.
        if let Ok(_turn) = self.gpu.context().enter() {
            // SAFETY: the handle is valid and nobody has it any more; cuBLAS waits for its work.
            let _ = unsafe { sys::cublasDestroy_v2(self.raw) };
        }
    }
}

/// A call of cuBLAS that failed.
#[derive(Debug)]
struct Failure {
    call: &'static str,
    status: sys::cublasStatus_t,
}

impl From<Failure> for DeviceError {
    fn from(failure: Failure) -> Self {
        // SAFETY: takes any status and points to a static string.
        let why = unsafe { in_words(failure.status.0, sys::cublasGetStatusString(failure.status)) };
        DeviceError::Call { call: failure.call, why }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Refusal::Device(DeviceError::from(failure).to_string())
    }
}

/// Calls a function of cuBLAS and checks what it returns. Stands inside an `unsafe` block, like `cuda!`.
macro_rules! call {
    ($call:ident($($argument:expr),* $(,)?)) => {
        match sys::$call($($argument),*) {
            sys::cublasStatus_t::CUBLAS_STATUS_SUCCESS => Ok(()),
            status => Err(Failure { call: stringify!($call), status }),
        }
    };
}
use call;

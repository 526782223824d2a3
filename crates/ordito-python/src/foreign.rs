//! Arrays of CuPy and torch, asked where they lie without a line of Python: a small product takes no longer than the questions.
//!
//! Only the plain case is answered here: two arrays of one library, by rows without gaps, of the matrix's type and on its GPU. For all else
//! the Python side converts, or says what cannot be.

use crate::device::{Block, enqueue};
use crate::held::{Precision, Side};
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};

/// What is asked of tensors, once Python has met one.
static TORCH: PyOnceLock<Torch> = PyOnceLock::new();
/// What is asked of arrays of CuPy, once Python has met one.
static CUPY: PyOnceLock<Cupy> = PyOnceLock::new();

struct Torch {
    tensor: Py<PyType>,
    types: Types,
    /// The handle of the current stream of a GPU.
    current_stream: Py<PyAny>,
    /// Tells that a tensor was written: a gradient that needs what was there must find out. An old torch has none.
    increment_version: Option<Py<PyAny>>,
}

struct Cupy {
    array: Py<PyType>,
    types: Types,
    /// The current stream of a GPU.
    current_stream: Py<PyAny>,
    /// The current GPU, on which arrays are made.
    current_gpu: Py<PyAny>,
}

/// How a library names the types of elements.
struct Types {
    f32: Py<PyAny>,
    f64: Py<PyAny>,
}

impl Types {
    fn of(&self, matrix: &Precision) -> &Py<PyAny> {
        match matrix {
            Precision::F32(_) => &self.f32,
            Precision::F64(_) => &self.f64,
        }
    }
}

/// A module that somebody has imported. In Python `sys.modules` says so, but `torch.compile` takes all modules into what it compiles
/// where it meets that, and fails where one is imported meanwhile.
#[pyfunction]
pub(crate) fn loaded<'py>(py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let module =
        py.import("sys")?.getattr(intern!(py, "modules"))?.call_method1(intern!(py, "get"), (name,))?;
    Ok((!module.is_none()).then_some(module))
}

/// Remembers what to ask tensors; `current_stream` gives the handle of a GPU's.
#[pyfunction]
pub(crate) fn know_torch(torch: &Bound<'_, PyAny>, current_stream: Py<PyAny>) -> PyResult<()> {
    let py = torch.py();
    let known = Torch {
        tensor: torch.getattr("Tensor")?.cast_into::<PyType>()?.unbind(),
        types: Types { f32: torch.getattr("float32")?.unbind(), f64: torch.getattr("float64")?.unbind() },
        current_stream,
        increment_version: torch
            .getattr("autograd")?
            .getattr("graph")?
            .getattr_opt("increment_version")?
            .map(Bound::unbind),
    };
    let _ = TORCH.set(py, known); // another thread was first
    Ok(())
}

/// Remembers what to ask arrays of CuPy.
#[pyfunction]
pub(crate) fn know_cupy(cupy: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = cupy.py();
    let (cuda, dtype) = (cupy.getattr("cuda")?, cupy.getattr("dtype")?);
    let known = Cupy {
        array: cupy.getattr("ndarray")?.cast_into::<PyType>()?.unbind(),
        types: Types { f32: dtype.call1(("float32",))?.unbind(), f64: dtype.call1(("float64",))?.unbind() },
        current_stream: cuda.getattr("get_current_stream")?.unbind(),
        current_gpu: cuda.getattr("runtime")?.getattr("getDevice")?.unbind(),
    };
    let _ = CUPY.set(py, known);
    Ok(())
}

/// How an array lies: on which GPU, with how many dimensions (one or two) and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lying {
    gpu: usize,
    dimensions: usize,
    block: Block,
}

/// What products ask of a library's arrays.
trait Library {
    fn kind(&self) -> &Py<PyType>;
    /// `None` where it does not lie as kernels take it, or is of another type.
    fn lying(&self, array: &Bound<'_, PyAny>, matrix: &Precision) -> PyResult<Option<Lying>>;
    /// An array of that shape, beside the other.
    fn empty<'py>(
        &self,
        like: &Bound<'py, PyAny>,
        matrix: &Precision,
        gpu: usize,
        shape: Bound<'py, PyTuple>,
    ) -> PyResult<Option<Bound<'py, PyAny>>>;
    /// The stream in whose order arrays are used.
    fn stream(&self, py: Python<'_>, gpu: usize) -> PyResult<usize>;
    /// An array is about to be written; `false` where that cannot be noted here.
    fn note_written(&self, array: &Bound<'_, PyAny>) -> PyResult<bool>;
}

impl Library for Torch {
    fn kind(&self) -> &Py<PyType> {
        &self.tensor
    }
    fn lying(&self, x: &Bound<'_, PyAny>, matrix: &Precision) -> PyResult<Option<Lying>> {
        let py = x.py();
        if !x.getattr(intern!(py, "dtype"))?.is(self.types.of(matrix)) {
            return Ok(None);
        }
        // Gradients are Python's business; a negative that was not computed yet is none that kernels know.
        let is = |what: Bound<'_, PyAny>| what.is_truthy();
        if !is(x.getattr(intern!(py, "is_cuda"))?)?
            || is(x.getattr(intern!(py, "requires_grad"))?)?
            || is(x.call_method0(intern!(py, "is_neg"))?)?
            || !is(x.call_method0(intern!(py, "is_contiguous"))?)?
        {
            return Ok(None);
        }
        let gpu = x.call_method0(intern!(py, "get_device"))?.extract()?;
        let address = x.call_method0(intern!(py, "data_ptr"))?.extract()?;
        Lying::without_gaps(gpu, address, &x.getattr(intern!(py, "shape"))?)
    }
    fn empty<'py>(
        &self,
        like: &Bound<'py, PyAny>,
        _: &Precision,
        _: usize,
        shape: Bound<'py, PyTuple>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        like.call_method1(intern!(like.py(), "new_empty"), (shape,)).map(Some)
    }
    fn stream(&self, py: Python<'_>, gpu: usize) -> PyResult<usize> {
        self.current_stream.bind(py).call1((gpu,))?.extract()
    }
    fn note_written(&self, array: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(increment) = &self.increment_version else { return Ok(false) };
        increment.bind(array.py()).call1((array,)).map(|_| true)
    }
}

impl Library for Cupy {
    fn kind(&self) -> &Py<PyType> {
        &self.array
    }
    fn lying(&self, x: &Bound<'_, PyAny>, matrix: &Precision) -> PyResult<Option<Lying>> {
        let py = x.py();
        if !x.getattr(intern!(py, "dtype"))?.is(self.types.of(matrix))
            || !x.getattr(intern!(py, "flags"))?.getattr(intern!(py, "c_contiguous"))?.is_truthy()?
        {
            return Ok(None);
        }
        let data = x.getattr(intern!(py, "data"))?;
        let gpu = data.getattr(intern!(py, "device_id"))?.extract()?;
        let address = data.getattr(intern!(py, "ptr"))?.extract()?;
        Lying::without_gaps(gpu, address, &x.getattr(intern!(py, "shape"))?)
    }
    fn empty<'py>(
        &self,
        like: &Bound<'py, PyAny>,
        matrix: &Precision,
        gpu: usize,
        shape: Bound<'py, PyTuple>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = like.py();
        if self.current_gpu.bind(py).call0()?.extract::<usize>()? != gpu {
            return Ok(None);
        }
        self.array.bind(py).call1((shape, self.types.of(matrix))).map(Some)
    }
    fn stream(&self, py: Python<'_>, gpu: usize) -> PyResult<usize> {
        self.current_stream.bind(py).call1((gpu,))?.getattr(intern!(py, "ptr"))?.extract()
    }
    fn note_written(&self, _: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(true)
    }
}

impl Lying {
    fn without_gaps(gpu: usize, address: u64, shape: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let shape = shape.cast::<PyTuple>()?;
        let side = |which| shape.get_item(which)?.extract::<usize>();
        let (rows, cols) = match shape.len() {
            1 => (side(0)?, 1),
            2 => (side(0)?, side(1)?),
            _ => return Ok(None),
        };
        let block = Block::at((address, rows, cols, cols.max(1)));
        Ok(block.is_aligned().then_some(Lying { gpu, dimensions: shape.len(), block }))
    }
}

/// The product where both arrays are plain; `None` where Python must look.
pub(crate) fn product<'py>(
    (matrix, gpu): (&Precision, Option<usize>),
    x: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    factors: (f64, f64),
    side: Side,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(gpu) = gpu.filter(|_| !side.from_left) else { return Ok(None) };
    let (py, kind) = (x.py(), x.get_type());
    let known = [TORCH.get(py).map(|known| known as &dyn Library), CUPY.get(py).map(|known| known as _)];
    match known.into_iter().flatten().find(|library| library.kind().is(&kind)) {
        Some(library) => plain_product(library, (matrix, gpu), x, out, factors, side),
        None => Ok(None),
    }
}

fn plain_product<'py>(
    library: &dyn Library,
    (matrix, gpu): (&Precision, usize),
    x: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    factors: (f64, f64),
    side: Side,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = x.py();
    let lying = |array: &Bound<'py, PyAny>| match library.lying(array, matrix) {
        Ok(lying) => Ok(lying.filter(|lying| lying.gpu == gpu)),
        // What an array does not answer is not plain. Ctrl-C is no answer.
        Err(error) if error.is_instance_of::<PyException>(py) => Ok(None),
        Err(error) => Err(error),
    };
    let Some(read) = lying(x)? else { return Ok(None) };
    let (length, rows) = matrix.lengths(side);
    if read.block.shape().0 != length {
        return Ok(None);
    }
    let shape = (rows, read.block.shape().1);
    let y = match out {
        Some(out) if out.get_type().is(library.kind()) => out.clone(),
        Some(_) => return Ok(None),
        None => {
            let sides = [shape.0, shape.1];
            let made = library.empty(x, matrix, gpu, PyTuple::new(py, &sides[..read.dimensions])?)?;
            let Some(made) = made else { return Ok(None) };
            made
        }
    };
    let Some(written) = lying(&y)? else { return Ok(None) };
    let fits = written.dimensions == read.dimensions && written.block.shape() == shape;
    if !fits || (out.is_some() && read.block.overlaps(written.block, matrix.element_bytes())) {
        return Ok(None);
    }
    let stream = library.stream(py, gpu)?;
    if out.is_some() && !library.note_written(&y)? {
        return Ok(None);
    }
    // SAFETY: both arrays have just said where they lie, and are referenced until the call ends. Their library frees memory in the order of
    // its current stream, and uses it again in that order.
    unsafe { enqueue(py, matrix, read.block, written.block, factors, side, stream) }?;
    Ok(Some(y))
}

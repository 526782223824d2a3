"""Products with arrays of CuPy and torch, where they lie: nothing travels through the host, nothing waits."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from ordito import _ordito

if TYPE_CHECKING:
    from ordito._matrix import Matrix

#: The widest load of a kernel: where an array begins.
ALIGNMENT = _ordito.ALIGNMENT

#: Address, rows, columns, and how many elements apart rows begin.
Place = tuple[int, int, int, int]


#: Devices of DLPack: memory of a GPU of NVIDIA's, and memory that it shares with its host.
DLPACK_CUDA = (2, 13)


def is_elsewhere(x: object) -> bool:
    """Is it a tensor, or an array in memory of a GPU?"""
    if x is None or isinstance(x, np.ndarray):
        return False
    return _is_tensor(x) or hasattr(x, "__cuda_array_interface__") or _says_cuda(x)


def _says_cuda(x: object) -> bool:
    """Does it say by DLPack that it lies on a GPU?"""
    ask = getattr(x, "__dlpack_device__", None)
    if ask is None:
        return False
    try:
        return int(ask()[0]) in DLPACK_CUDA
    except Exception:  # it lies in several places, say, and may have another way to be read
        return False


def adopted(x: Any, name: str) -> Any:
    """An array of another library on a GPU as one of CuPy's or torch's in the same place; anything else as it is."""
    if not is_elsewhere(x) or _is_tensor(x):
        return x
    cupy, torch = _ordito.loaded("cupy"), _ordito.loaded("torch")
    if cupy is not None and isinstance(x, cupy.ndarray):
        return x
    if cupy is not None and hasattr(x, "__cuda_array_interface__"):
        return cupy.asarray(x)
    library = cupy if cupy is not None else torch
    if library is not None and hasattr(x, "__dlpack__"):
        return library.from_dlpack(x)
    raise TypeError(f"{name} is a {type(x).__name__} on a GPU: import cupy, through which arrays of other libraries are taken")


def _adopted_out(out: Any) -> Any:
    """The same of an array that is written: in its own memory, or not at all. (DLPack, by which torch takes it, may give a copy.)"""
    if _is_tensor(out):
        return out
    told = getattr(out, "__cuda_array_interface__", None)
    if told is None:
        raise TypeError(f"out is a {type(out).__name__}, which tells by DLPack alone where it lies: make it one of CuPy's or torch's")
    if told["data"][1]:
        raise ValueError("out is read-only")
    into = adopted(out, "out")
    place = into.data_ptr() if _is_tensor(into) else into.data.ptr
    if 0 not in told["shape"] and place != told["data"][0]:
        raise TypeError(f"out is a {type(out).__name__}, which torch takes as a copy only: import cupy, which writes it in place")
    return into


def _is_tensor(x: object) -> bool:
    torch = _ordito.loaded("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def product(matrix: Matrix, x: Any, out: Any, alpha: float, beta: float, from_left: bool) -> Any:
    if out is not None and (_is_tensor(out), is_elsewhere(out)) != (_is_tensor(x), is_elsewhere(x)):
        raise TypeError(f"X is a {type(x).__name__}, out a {type(out).__name__}; both must be of one kind")
    if _is_tensor(x):
        return _with_tensors(matrix, x, out, alpha, beta, from_left)
    x, into = adopted(x, "X"), None if out is None else _adopted_out(out)
    if _is_tensor(x):
        y = _with_tensors(matrix, x, into, alpha, beta, from_left)
    else:
        y = _on_gpu(_of_cupy(), matrix, x, into, alpha, beta, from_left)
    return y if out is None else out


def _with_tensors(matrix: Matrix, x: Any, out: Any, alpha: float, beta: float, from_left: bool) -> Any:
    torch = _ordito.loaded("torch")
    if x.requires_grad and torch.is_grad_enabled():
        from ordito import torch as with_gradients

        if out is not None or alpha != 1 or from_left:
            raise RuntimeError("X requires a gradient: A @ X has one, with neither out, alpha nor A on the right")
        return with_gradients.spmm(matrix, x)
    if out is not None:
        if out.requires_grad and torch.is_grad_enabled():
            raise RuntimeError("out requires a gradient: a product that is written over it has none")
        note_written = getattr(torch.autograd.graph, "increment_version", None)
        if note_written is None:
            raise RuntimeError("this torch cannot be told that out was written, and gradients might use what was there: a newer one can")
        note_written(out)
    if not x.is_cuda:
        return _on_host(torch, matrix, x, out, alpha, beta, from_left)
    return _on_gpu(_of_torch(), matrix, x, out, alpha, beta, from_left)


def _on_host(torch: Any, matrix: Matrix, x: Any, out: Any, alpha: float, beta: float, from_left: bool) -> Any:
    """A tensor in memory of the host is an array of NumPy's in the same place."""
    if out is None:
        return torch.from_numpy(matrix._product(x.detach().resolve_neg().numpy(), None, alpha, beta, from_left))
    matrix._product(x.detach().resolve_neg().numpy(), out.detach().numpy(), alpha, beta, from_left)
    return out


@functools.cache
def _of_torch() -> _Torch:
    torch = _Torch(_ordito.loaded("torch"))
    _ordito.know_torch(torch.torch, torch.stream)  # from now on plain products ask nothing here
    return torch


@functools.cache
def _of_cupy() -> _Cupy:
    cupy = _Cupy(_ordito.loaded("cupy"))
    _ordito.know_cupy(cupy.cupy)
    return cupy


class _Torch:
    """What is asked of tensors."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.dtypes: dict[Any, np.dtype[Any]] = {torch.float32: np.dtype(np.float32), torch.float64: np.dtype(np.float64)}
        # The public way makes an object for every call, and takes ten times as long.
        public = lambda gpu: torch.cuda.current_stream(gpu).cuda_stream  # noqa: E731
        self.stream = getattr(torch._C, "_cuda_getCurrentRawStream", public)

    def dtype(self, x: Any) -> np.dtype[Any] | None:
        return self.dtypes.get(x.dtype)

    def gpu(self, x: Any) -> int:
        return int(x.get_device())

    def place(self, x: Any) -> Place | None:
        """Where it lies, if it does so as kernels take it."""
        if x.is_neg():  # a view of what it is the negative of
            return None
        return _strided(x.data_ptr(), tuple(x.shape), x.stride())

    def by_rows(self, x: Any) -> Any:
        return x.resolve_neg().clone(memory_format=self.torch.contiguous_format)

    def empty(self, shape: tuple[int, ...], like: Any) -> Any:
        return like.new_empty(shape)

    def widened(self, x: Any) -> Any:
        return x.to(self.torch.float64)


class _Cupy:
    """What is asked of arrays of CuPy."""

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy
        self.current_stream = cupy.cuda.get_current_stream
        self.current_gpu = cupy.cuda.runtime.getDevice
        self.dtypes = {np.dtype(np.float32), np.dtype(np.float64)}

    def dtype(self, x: Any) -> np.dtype[Any] | None:
        return x.dtype if x.dtype in self.dtypes else None

    def gpu(self, x: Any) -> int:
        return int(x.data.device_id)

    def place(self, x: Any) -> Place | None:
        """Where it lies, if it does so as kernels take it."""
        return _strided(x.data.ptr, x.shape, tuple(stride // x.itemsize for stride in x.strides))

    def by_rows(self, x: Any) -> Any:
        return self.cupy.array(x, order="C", copy=True)

    def empty(self, shape: tuple[int, ...], like: Any) -> Any:
        gpu = like.data.device_id
        if gpu == self.current_gpu():
            return self.cupy.empty(shape, dtype=like.dtype)
        with self.cupy.cuda.Device(gpu):
            return self.cupy.empty(shape, dtype=like.dtype)

    def widened(self, x: Any) -> Any:
        return x.astype(np.float64)

    def stream(self, gpu: int) -> int:
        return int(self.current_stream(gpu).ptr)


def _strided(address: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Place | None:
    rows, cols = shape if len(shape) == 2 else (*shape, 1)
    by_row, by_col = strides if len(shape) == 2 else (*strides, 1)
    distance = max(cols, 1) if rows <= 1 or cols == 0 else by_row
    if (cols > 1 and by_col != 1) or distance < max(cols, 1):
        return None
    return None if address % ALIGNMENT else (address, rows, cols, distance)


def _on_gpu(
    arrays: _Torch | _Cupy, matrix: Matrix, x: Any, out: Any, alpha: float, beta: float, from_left: bool
) -> Any:
    """What must be converted first, and what cannot be. (Arrays by rows without gaps are not even asked here, but for the first of
    their library.)"""
    gpu, dtype = matrix._gpu, arrays.dtype(x)
    if arrays.gpu(x) != gpu:
        number = arrays.gpu(x)
        raise ValueError(f'X lies on cuda:{number}, A on {matrix.device}: ordito.csr(A, device="cuda:{number}") puts it there')
    if dtype is None:
        raise TypeError(f"X is {x.dtype}; float32 or float64 expected")
    if dtype != matrix.dtype:
        if dtype == np.float64:
            return matrix.astype(np.float64)._product(x, out, alpha, beta, from_left)
        return matrix._product(arrays.widened(x), out, alpha, beta, from_left)
    shape = matrix._result_shape(x.shape, from_left)
    if out is not None:
        if tuple(out.shape) != shape:
            raise ValueError(f"out has the shape {tuple(out.shape)}; {shape} expected")
        if arrays.gpu(out) != gpu or arrays.dtype(out) != dtype:
            raise ValueError(f"out must be {dtype} on {matrix.device}, as X is")
    if from_left:
        return _from_left(arrays, matrix, x, out, alpha, beta)
    y = arrays.empty(shape, x) if out is None else out
    x_place, y_place = arrays.place(x), arrays.place(y)
    if x_place is None or (out is not None and _overlap(x_place, y_place, dtype.itemsize)):
        x_place = arrays.place(x := arrays.by_rows(x))
    if y_place is None:
        y_place = arrays.place(y := arrays.by_rows(y))
    assert x_place is not None and y_place is not None
    _ordito.product_on_device(matrix._native, x_place, y_place, alpha, beta, matrix._is_transposed, arrays.stream(gpu))
    if out is not None and y is not out:
        out[...] = y
        return out
    return y


def _from_left(arrays: _Torch | _Cupy, matrix: Matrix, x: Any, out: Any, alpha: float, beta: float) -> Any:
    """Rows on the left are columns on the right of the transposed."""
    if len(x.shape) == 1:
        return _on_gpu(arrays, matrix.T, x, out, alpha, beta, False)
    y = _on_gpu(arrays, matrix.T, x.T, None, alpha, 0.0, False).T
    if out is None:
        return y
    out[...] = y if beta == 0 else y + beta * out
    return out


def _overlap(x: Place, y: Place | None, size: int) -> bool:
    """May they? Rows at their distance reach at least as far as their elements."""
    return y is not None and x[0] < y[0] + size * y[1] * y[3] and y[0] < x[0] + size * x[1] * x[3]

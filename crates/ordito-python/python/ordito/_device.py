"""Products with arrays of CuPy and torch, where they lie: nothing travels through the host, nothing waits."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ordito import _ordito

if TYPE_CHECKING:
    from ordito._matrix import Matrix

#: The widest load of a kernel: where an array begins.
ALIGNMENT = 16


def is_elsewhere(x: object) -> bool:
    """Is it an array, but not one of NumPy's?"""
    if x is None or isinstance(x, np.ndarray):
        return False
    return _is_tensor(x) or hasattr(x, "__cuda_array_interface__")


def _is_tensor(x: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def product(matrix: Matrix, x: Any, out: Any, alpha: float, beta: float, from_left: bool) -> Any:
    if out is not None and type(out) is not type(x):
        raise TypeError(f"X is a {type(x).__name__}, out a {type(out).__name__}; both must be of one kind")
    if _is_tensor(x):
        torch = sys.modules["torch"]
        if torch.is_grad_enabled() and x.requires_grad:
            from ordito import torch as with_gradients

            if out is not None or alpha != 1 or from_left:
                raise RuntimeError("X requires a gradient: A @ X has one, with neither out, alpha nor A on the right")
            return with_gradients.spmm(matrix, x)
        if not x.is_cuda:
            return _on_host(torch, matrix, x, out, alpha, beta, from_left)
        return _on_gpu(_Torch(torch), matrix, x, out, alpha, beta, from_left)
    cupy = sys.modules.get("cupy")
    if cupy is None or not isinstance(x, cupy.ndarray):
        raise TypeError(f"X is a {type(x).__name__}: arrays of CuPy and torch are taken on a GPU; cupy.asarray(X) makes one")
    return _on_gpu(_Cupy(cupy), matrix, x, out, alpha, beta, from_left)


def _on_host(torch: Any, matrix: Matrix, x: Any, out: Any, alpha: float, beta: float, from_left: bool) -> Any:
    """A tensor in memory of the host is an array of NumPy's in the same place."""
    y = matrix._product(x.detach().numpy(), None if out is None else out.detach().numpy(), alpha, beta, from_left)
    return torch.from_numpy(y) if out is None else out


class _Torch:
    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def dtype(self, x: Any) -> np.dtype[Any]:
        names = {self.torch.float32: np.float32, self.torch.float64: np.float64}
        if x.dtype not in names:
            raise TypeError(f"X is {x.dtype}; torch.float32 or torch.float64 expected")
        return np.dtype(names[x.dtype])

    def gpu(self, x: Any) -> int:
        return int(x.get_device())

    def address(self, x: Any) -> int:
        return int(x.data_ptr())

    def strides(self, x: Any) -> tuple[int, ...]:
        return tuple(x.stride())

    def by_rows(self, x: Any) -> Any:
        return x.clone(memory_format=self.torch.contiguous_format)

    def empty(self, shape: tuple[int, ...], like: Any) -> Any:
        return self.torch.empty(shape, dtype=like.dtype, device=like.device)

    def widened(self, x: Any) -> Any:
        return x.to(self.torch.float64)

    def stream(self, gpu: int) -> int:
        return int(self.torch.cuda.current_stream(gpu).cuda_stream)


class _Cupy:
    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy

    def dtype(self, x: Any) -> np.dtype[Any]:
        if x.dtype not in (np.float32, np.float64):
            raise TypeError(f"X is {x.dtype}; float32 or float64 expected")
        return np.dtype(x.dtype)

    def gpu(self, x: Any) -> int:
        return int(x.device.id)

    def address(self, x: Any) -> int:
        return int(x.data.ptr)

    def strides(self, x: Any) -> tuple[int, ...]:
        return tuple(stride // x.itemsize for stride in x.strides)

    def by_rows(self, x: Any) -> Any:
        return self.cupy.array(x, order="C", copy=True)

    def empty(self, shape: tuple[int, ...], like: Any) -> Any:
        return self.cupy.empty(shape, dtype=like.dtype)

    def widened(self, x: Any) -> Any:
        return x.astype(np.float64)

    def stream(self, gpu: int) -> int:
        return int(self.cupy.cuda.get_current_stream().ptr)


def _on_gpu(
    arrays: _Torch | _Cupy, matrix: Matrix, x: Any, out: Any, alpha: float, beta: float, from_left: bool
) -> Any:
    gpu = matrix._asked["gpu"]
    if arrays.gpu(x) != gpu:
        number = arrays.gpu(x)
        raise ValueError(f'X lies on cuda:{number}, A on {matrix.device}: ordito.csr(A, device="cuda:{number}") puts it there')
    dtype = arrays.dtype(x)
    if dtype != matrix.dtype:
        if dtype == np.float64:
            return matrix.astype(np.float64)._product(x, out, alpha, beta, from_left)
        return matrix._product(arrays.widened(x), out, alpha, beta, from_left)
    if x.ndim not in (1, 2):
        raise ValueError(f"matmul: X has {x.ndim} dimensions; one or two expected")
    if from_left:
        return _from_left(arrays, matrix, x, out, alpha, beta)
    rows, cols = matrix.shape
    if x.shape[0] != cols:
        what = "elements" if x.ndim == 1 else "rows"
        raise ValueError(f"matmul: A is {rows}×{cols}, so that X must have {cols} {what}; it has {x.shape[0]}")
    shape = (rows, *x.shape[1:])
    if out is None:
        y = arrays.empty(shape, x)
    else:
        if tuple(out.shape) != shape:
            raise ValueError(f"out has the shape {tuple(out.shape)}; {shape} expected")
        if arrays.gpu(out) != gpu or arrays.dtype(out) != dtype:
            raise ValueError(f"out must be {dtype} on {matrix.device}, as X is")
        y = out
    x_place, y_place = _place(arrays, x), _place(arrays, y)
    if x_place is None or (out is not None and _overlap(x_place, y_place, dtype.itemsize)):
        x = arrays.by_rows(x)
        x_place = _place(arrays, x)
    if y_place is None:
        y = arrays.by_rows(out)
        y_place = _place(arrays, y)
    assert x_place is not None and y_place is not None
    stream = arrays.stream(gpu)
    _ordito.product_on_device(matrix._native, x_place, y_place, alpha, beta, matrix._is_transposed, stream)
    if out is not None and y is not out:
        out[...] = y
        return out
    return y


def _from_left(arrays: _Torch | _Cupy, matrix: Matrix, x: Any, out: Any, alpha: float, beta: float) -> Any:
    """Rows on the left are columns on the right of the transposed."""
    if x.ndim == 1:
        return _on_gpu(arrays, matrix.T, x, out, alpha, beta, False)
    if x.shape[1] != matrix.shape[0]:
        rows, cols = matrix.shape
        raise ValueError(f"matmul: A is {rows}×{cols}, so that X must have {rows} columns; it has {x.shape[1]}")
    y = _on_gpu(arrays, matrix.T, x.T, None, alpha, 0.0, False).T
    if out is None:
        return y
    out[...] = y if beta == 0 else y + beta * out
    return out


def _place(arrays: _Torch | _Cupy, x: Any) -> tuple[int, int, int, int] | None:
    """Address, rows, columns and distance of rows, where it lies as kernels take it."""
    rows, cols = (*x.shape, 1) if x.ndim == 1 else x.shape
    strides = arrays.strides(x)
    by_row, by_col = (*strides, 1) if x.ndim == 1 else strides
    address = arrays.address(x)
    distance = max(cols, 1) if rows <= 1 else by_row
    if (cols > 1 and by_col != 1) or distance < cols or distance < 1 or address % ALIGNMENT:
        return None
    return address, int(rows), int(cols), int(distance)


def _overlap(
    x: tuple[int, int, int, int], y: tuple[int, int, int, int] | None, size: int
) -> bool:
    if y is None:
        return False

    def span(place: tuple[int, int, int, int]) -> tuple[int, int]:
        address, rows, cols, distance = place
        return address, address + size * (max(rows - 1, 0) * distance + cols)

    (x_begin, x_end), (y_begin, y_end) = span(x), span(y)
    return x_begin < y_end and y_begin < x_end

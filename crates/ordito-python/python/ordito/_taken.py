"""Sparse matrices of CuPy and torch on the GPU that shall multiply: taken there, without the way through the host."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ordito import _ordito
from ordito._sources import Parts, _signed, asked_precision, by_rows, gpu_of, precision


@dataclass
class Taken:
    """CSR arrays on a GPU: indices of 32 or 64 bits, data in float32 or float64, all without gaps, and nothing at work with them."""

    shape: tuple[int, int]
    #: Addresses, and whether elements have 64 bits.
    indptr: tuple[int, bool]
    indices: tuple[int, bool]
    data: tuple[int, bool]
    nonzeros: int
    gpu: int
    dtype: np.dtype[Any]
    copied: list[str]
    #: What lies at the addresses, until it is copied.
    held: list[Any] = field(default_factory=list)

    def native(self, threads: int | None, variant: str | None) -> _ordito.Matrix:
        """The matrix in memory of its own."""
        arrays = (self.indptr, self.indices, self.data)
        native = _ordito.Matrix.taken(self.shape, self.nonzeros, *arrays, self.gpu, threads, variant)
        self.held.clear()
        return native

    def brought(self, native: _ordito.Matrix) -> Parts:
        """The arrays of the matrix, in memory of the host."""
        indptr, indices, data = native.arrays()
        return Parts(self.shape, indptr, _signed(indices, self.shape[1]), data, self.copied, self.gpu)


def taken(a: Any, dtype: Any, device: str | None) -> Taken | None:
    """Where ``a`` lies on the GPU that is asked for; what is no matrix in two dimensions is left to those who refuse it."""
    torch, cupy, cupy_sparse = (_ordito.loaded(name) for name in ("torch", "cupy", "cupyx.scipy.sparse"))
    if torch is not None and isinstance(a, torch.Tensor):
        if not a.is_cuda or a.layout == torch.strided or a.dim() != 2 or a.dense_dim() > 0:
            return None
        gpu = a.get_device()
        return _of_torch(torch, a, gpu, dtype) if gpu_of(device, gpu) == gpu else None
    if cupy_sparse is not None and cupy is not None and cupy_sparse.issparse(a):
        gpu = int(a.data.device.id)
        return _of_cupy(cupy, a, gpu, dtype) if gpu_of(device, gpu) == gpu else None
    return None


def _wanted(found: np.dtype[Any], dtype: Any, copied: list[str]) -> np.dtype[Any]:
    """In which precision it is computed."""
    if found.kind == "c":
        raise TypeError(f"A is {found}: complex matrices are not supported; wrap A.real and A.imag")
    of_itself = precision(found, "A")
    wanted = of_itself if dtype is None else asked_precision(dtype)
    if wanted != found:
        copied.append(f"data converted from {found}")
    return wanted


def _of_torch(torch: Any, a: Any, gpu: int, dtype: Any) -> Taken:
    a, copied = by_rows(a)
    indptr, indices, data = (part.detach() for part in (a.crow_indices(), a.col_indices(), a.values()))
    try:
        found = np.dtype(str(data.dtype).removeprefix("torch."))
    except TypeError:
        raise TypeError(f"A is {data.dtype}; float32 or float64 expected, or what can become float64") from None
    wanted = _wanted(found, dtype, copied)
    data = data.resolve_neg().to(torch.float32 if wanted == np.float32 else torch.float64)
    held = [part.contiguous() for part in (indptr, indices, data)]
    torch.cuda.current_stream(gpu).synchronize()
    return _told([(part.data_ptr(), part.numel(), part.element_size()) for part in held], held, tuple(a.shape), gpu, wanted, copied)


def _of_cupy(cupy: Any, a: Any, gpu: int, dtype: Any) -> Taken:
    with cupy.cuda.Device(gpu):
        a, copied = by_rows(a)
        wanted = _wanted(np.dtype(a.data.dtype), dtype, copied)
        held = [cupy.ascontiguousarray(part) for part in (a.indptr, a.indices, a.data.astype(wanted, copy=False))]
        cupy.cuda.get_current_stream().synchronize()
    return _told([(part.data.ptr, part.size, part.itemsize) for part in held], held, a.shape, gpu, wanted, copied)


def _told(
    places: list[tuple[int, int, int]],
    held: list[Any],
    shape: tuple[int, int],
    gpu: int,
    dtype: np.dtype[Any],
    copied: list[str],
) -> Taken:
    """Address, length and bytes of an element of each array."""
    (_, starts, _), (_, columns, _), (_, nonzeros, _) = places
    rows, cols = (int(length) for length in shape)
    if starts != rows + 1:
        raise ValueError(f"indptr has {starts} elements; {rows + 1} expected for {rows} rows")
    if columns != nonzeros:
        raise ValueError(f"indices has {columns} elements, data {nonzeros}; as many expected")
    indptr, indices, data = ((int(address), size == 8) for address, _, size in places)
    copied.append("copied on its GPU")
    return Taken((rows, cols), indptr, indices, data, nonzeros, gpu, dtype, copied, held)

"""What can become a matrix: CSR arrays, and a word on what had to be copied for them."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from ordito import _ordito

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class Parts:
    """Arrays as SciPy has them: indices of 32 or 64 bits, data in float32 or float64, all without gaps."""

    shape: tuple[int, int]
    indptr: Array
    indices: Array
    data: Array
    copied: list[str] = field(default_factory=list)
    #: The GPU that the matrix lay on.
    gpu: int | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype


def parts_of(a: object, shape: tuple[int, int] | None, dtype: Any, copy: bool) -> Parts:
    parts = _found(a, shape)
    _settle(parts, dtype, copy)
    return parts


def _found(a: object, shape: tuple[int, int] | None) -> Parts:
    if isinstance(a, tuple):
        return _of_tuple(a, shape)
    if shape is not None:
        raise TypeError("shape goes with (data, indices, indptr); a matrix has one")
    if sp.issparse(a):
        return _of_scipy(a)
    torch, cupy_sparse = _ordito.loaded("torch"), _ordito.loaded("cupyx.scipy.sparse")
    if torch is not None and isinstance(a, torch.Tensor):
        return _of_torch(torch, a)
    if cupy_sparse is not None and cupy_sparse.issparse(a):
        parts = _of_scipy(a.get())  # type: ignore[attr-defined]
        parts.copied.insert(0, "brought from the GPU")
        parts.gpu = int(a.data.device.id)  # type: ignore[attr-defined]
        return parts
    if isinstance(a, str):
        raise TypeError(f"{a!r} is text: ordito.read(…) reads files and synthetic matrices")
    if isinstance(a, np.ndarray):
        raise TypeError("A is a dense array: make it sparse (scipy.sparse.csr_array(A)), or use ordito.gemm")
    raise TypeError(
        f"a {type(a).__name__} is no sparse matrix: SciPy's, CuPy's and torch's are taken, and (data, indices, indptr)"
    )


def _of_tuple(a: tuple[object, ...], shape: tuple[int, int] | None) -> Parts:
    if len(a) != 3:
        raise TypeError(f"(data, indices, indptr) expected, as SciPy takes them; the tuple has {len(a)}")
    refuse_mask(a[0], "data")
    data, indices, indptr = (np.asarray(array) for array in a)
    for name, array in (("data", data), ("indices", indices), ("indptr", indptr)):
        if array.ndim != 1:
            raise ValueError(f"{name} has {array.ndim} dimensions; one expected")
    _check_indices("indices", indices)
    if indptr.size == 0:
        raise ValueError("indptr is empty; it has one element more than there are rows")
    if shape is None:
        shape = (indptr.size - 1, int(indices.max()) + 1 if indices.size else 0)
    rows, cols = _lengths(shape)
    if rows != indptr.size - 1:
        raise ValueError(f"indptr has {indptr.size} elements; {rows + 1} expected for {rows} rows")
    return Parts((rows, cols), indptr, indices, data)


def _lengths(shape: Any) -> tuple[int, int]:
    try:
        rows, cols = (operator.index(length) for length in shape)
    except (TypeError, ValueError):
        raise TypeError(f"shape={shape!r}: two whole numbers expected, (rows, columns)") from None
    if not (0 <= rows < 2**63 and 0 <= cols < 2**63):
        raise ValueError(f"shape={shape!r}: numbers from 0 on expected, below 2**63")
    return rows, cols


def _of_scipy(a: Any) -> Parts:
    if a.ndim != 2:
        raise ValueError(f"A has {a.ndim} dimension{'s' if a.ndim != 1 else ''}; two expected")
    if a.format == "csr":
        return Parts(a.shape, a.indptr, a.indices, a.data)
    if a.format == "csc":
        parts = Parts(a.shape, a.indptr, a.indices, a.data)
        _settle(parts, None, copy=False)
        arrays = _ordito.rows_of_columns(parts.shape, parts.indptr, parts.indices, parts.data)
        offsets, columns, values = arrays
        copied = [*parts.copied, "sorted from columns to rows"]
        return Parts(a.shape, offsets, _signed(columns, a.shape[1]), values, copied)
    _check_stored(a)
    a, copied = by_rows(a)
    return Parts(a.shape, a.indptr, a.indices, a.data, copied)


def by_rows(a: Any) -> tuple[Any, list[str]]:
    """A sparse matrix of SciPy's, CuPy's or torch's in CSR, and what is told of it where it had to be converted."""
    layout = a.format if hasattr(a, "format") else str(a.layout).removeprefix("torch.sparse_")
    if layout == "csr":
        return a, []
    return a.tocsr() if hasattr(a, "tocsr") else a.detach().to_sparse_csr(), [f"converted from {layout.upper()}"]


def _check_stored(a: Any) -> None:
    """Refuses places outside of the matrix: SciPy trusts them when it converts."""
    if a.format == "bsr":
        a.check_format(full_check=True)
    if a.format != "coo":
        return
    for what, index, length in zip(("row", "column"), (a.row, a.col), a.shape, strict=True):
        if index.shape != a.data.shape:
            raise ValueError(f"{index.size} {what} indices for {a.data.size} entries; as many expected")
        if index.size and not (0 <= index.min() and index.max() < length):
            wrong = int(index[(index < 0) | (index >= length)][0])
            raise ValueError(f"{what} index {wrong}: from 0 to {length - 1} expected, A is {a.shape[0]}×{a.shape[1]}")


def is_untidy(a: Any) -> bool:
    """A CSR matrix of SciPy's with duplicates or columns out of order: some of its methods sort and sum them in place."""
    return sp.issparse(a) and a.format == "csr" and not a.has_canonical_format


def _of_torch(torch: Any, a: Any) -> Parts:
    if a.layout == torch.strided:
        raise TypeError("A is a dense tensor: make it sparse (A.to_sparse_csr()), or use ordito.gemm")
    if a.dim() != 2 or a.dense_dim() > 0:
        raise ValueError(f"A has the shape {tuple(a.shape)}; two sparse dimensions expected")
    a, copied = by_rows(a)
    gpu = None
    if a.is_cuda:
        gpu = a.get_device()
        copied.append("brought from the GPU")
    indptr, indices, data = (part.detach().cpu().numpy() for part in (a.crow_indices(), a.col_indices(), a.values()))
    return Parts(tuple(a.shape), indptr, indices, data, copied, gpu)


def _settle(parts: Parts, dtype: Any, copy: bool) -> None:
    """Makes of the arrays what the kernels take, and says so."""
    parts.shape = (int(parts.shape[0]), int(parts.shape[1]))
    if np.issubdtype(parts.data.dtype, np.complexfloating):
        raise TypeError(f"A is {parts.data.dtype}: complex matrices are not supported; wrap A.real and A.imag")
    refuse_mask(parts.data, "data")
    if dtype is None:
        wanted = precision(parts.data.dtype, "A")
    elif parts.data.dtype.kind in "fiub":
        wanted = asked_precision(dtype)
    else:
        raise TypeError(f"A is {parts.data.dtype}; numbers expected")
    if parts.data.dtype != wanted or not parts.data.dtype.isnative:
        parts.copied.append(f"data converted from {parts.data.dtype}")
    elif not copy and not _is_in_line(parts.data):
        parts.copied.append("data copied, since it had gaps")
    parts.data = _in_line(parts.data, wanted, copy)
    for name in ("indptr", "indices"):
        array = getattr(parts, name)
        _check_indices(name, array)
        kept = array.dtype in (np.int32, np.int64) and array.dtype.isnative
        setattr(parts, name, _in_line(array, array.dtype if kept else np.dtype(np.int64), copy))
        if not kept:
            parts.copied.append(f"{name} converted from {array.dtype}")
        elif not copy and not _is_in_line(array):
            parts.copied.append(f"{name} copied, since it had gaps")
    if copy:
        parts.copied.append("copied as asked")


def _check_indices(name: str, array: Array) -> None:
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} is {array.dtype}; int32 or int64 expected")


def _is_in_line(array: Array) -> bool:
    return bool(array.flags.c_contiguous and array.flags.aligned)


def _in_line(array: Array, dtype: np.dtype[Any], copy: bool) -> Array:
    """Without gaps, in this type; as it is where it is so."""
    if copy:
        return np.array(array, dtype=dtype, order="C", copy=True, subok=False)
    return np.require(array, dtype=dtype, requirements=["C", "A"])


def _signed(indices: Array, bound: int) -> Array:
    """Indices of 32 bits as SciPy has them: signed, in 64 where 31 do not hold them."""
    return indices.view(np.int32) if bound <= 2**31 else indices.astype(np.int64)


def asked_precision(dtype: Any) -> np.dtype[Any]:
    """One of the two that are computed in."""
    asked: np.dtype[Any] = np.dtype(dtype)
    if asked not in (np.float32, np.float64):
        raise TypeError(f"dtype is {asked}; float32 or float64 expected")
    return asked


def precision(dtype: np.dtype[Any], what: str) -> np.dtype[Any]:
    """What numbers of a type are computed in: float32 stays, other real numbers become float64."""
    if dtype.kind == "c" or dtype.kind not in "fiub" or (dtype.kind == "f" and dtype.itemsize > 8):
        raise TypeError(f"{what} is {dtype}; float32 or float64 expected, or what can become float64")
    return np.dtype(np.float32) if (dtype.kind, dtype.itemsize) == ("f", 4) else np.dtype(np.float64)


def refuse_mask(x: object, what: str) -> None:
    """What is masked must not be computed with, and there is nothing that could stand for it."""
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise TypeError(f"{what} is masked: fill it (numpy.ma.filled) or leave those elements out; all of them would be computed with")


def numbers_of(x: object, what: str) -> Array:
    """An array of numbers, or something that is one."""
    refuse_mask(x, what)
    array = np.asarray(x)
    if array.dtype == object and array.ndim == 0:
        raise TypeError(f"{what} is a {type(x).__name__}; an array expected")
    return array


def check_out(out: Any, shape: tuple[int, ...], result: np.dtype[Any]) -> None:
    """Refuses what a result of this shape and type cannot be written to."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out is a {type(out).__name__}; an array expected")
    if out.shape != shape:
        raise ValueError(f"out has the shape {out.shape}; {shape} expected")
    if out.dtype.kind not in "fc" or not np.can_cast(result, out.dtype, "same_kind"):
        raise TypeError(f"the result is {result}: it cannot be written to out, which is {out.dtype}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")


def put(y: Array, out: Array | None, beta: float) -> Array:
    """y + beta · out, in out where there is one."""
    if out is None:
        return y
    out[...] = y if beta == 0 else y + beta * out
    return out


def whole_number(number: Any, what: str) -> int:
    """From 1 on, as Python's int."""
    try:
        found = operator.index(number)
    except TypeError:
        raise TypeError(f"{what}={number!r}: a whole number expected") from None
    if isinstance(number, bool) or not 1 <= found < 2**63:
        raise ValueError(f"{what}={number!r}: a number from 1 on expected")
    return found


def gpu_of(device: str | None, of_matrix: int | None) -> int | None:
    """The number of a GPU, or none."""
    if device is None:
        return of_matrix
    kind, _, number = str(device).partition(":")
    if kind == "cpu" and not number:
        return None
    if kind == "cuda" and (not number or (number.isdecimal() and len(number) < 5)):
        return int(number or 0)
    raise ValueError(f'device={device!r}: "cpu", "cuda" or "cuda:1" expected')

"""Dense products, and statistics of columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ordito import _ordito
from ordito._matrix import Matrix
from ordito._sources import Array, check_out, gpu_of, numbers_of, precision, put, whole_number


def gemm(a: Any, b: Any, out: Any = None, *, alpha: float = 1.0, beta: float = 0.0) -> Array:
    """``alpha * a @ b + beta * out`` of two matrices, in float32 or float64, on all cores.

    The result has the same bits on any number of threads. Where types differ, the wider one is computed in.

    >>> import numpy as np
    >>> gemm(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    a, b = _matrix(a, "a"), _matrix(b, "b")
    wide = np.result_type(precision(a.dtype, "a"), precision(b.dtype, "b"))
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"gemm: a is {a.shape[0]}×{a.shape[1]}, so that b must have {a.shape[1]} rows; it has {b.shape[0]}")
    shape = (a.shape[0], b.shape[1])
    if out is None:
        if beta != 0:
            raise ValueError("beta is not 0: out must say what it is multiplied by")
        c = np.empty(shape, wide)
    else:
        check_out(out, shape, wide)
        c = out
    a, b = a.astype(wide, copy=False), b.astype(wide, copy=False)
    if c.dtype == wide and _ordito.gemm(a, b, c, alpha, beta):
        return c
    # By columns: the transposed product is one by rows. What lies otherwise is copied.
    if c.dtype == wide and _ordito.gemm(b.T, a.T, c.T, alpha, beta):
        return c
    product = np.empty(shape, wide)
    done = _ordito.gemm(np.array(a, order="C"), np.array(b, order="C"), product, alpha, 0.0)
    assert done
    return put(product, out, beta)


class ColumnStats(NamedTuple):
    """Statistics of every column, in float64."""

    count: int  # type: ignore[assignment] # a tuple has a method of that name, which nobody needs here
    mean: NDArray[np.float64]
    #: Over n − 1; NaN of a single row.
    variance: NDArray[np.float64]
    min: NDArray[np.float64]
    max: NDArray[np.float64]

    @property
    def std(self) -> NDArray[np.float64]:
        """The square root of the variance."""
        return np.sqrt(self.variance)

    @property
    def sem(self) -> NDArray[np.float64]:
        """The standard error of the mean."""
        return np.sqrt(self.variance / self.count)


def column_stats(
    x: Any, axis: int = 0, out: NDArray[np.float64] | None = None, *, threads: int | None = None, device: str | None = None
) -> ColumnStats:
    """Mean, variance, least and greatest element along an axis, in one pass over the numbers.

    An offset under a small signal costs no digits. A column with a NaN has NaN everywhere. ``out``, of the shape
    ``(4, …)``, takes mean, variance, min and max.

    >>> import numpy as np
    >>> found = column_stats(np.array([[1.0, 30001.0], [2.0, 30002.0], [6.0, 30006.0]]))
    >>> found.mean.tolist(), found.variance.tolist()
    ([3.0, 30003.0], [7.0, 7.0])
    """
    if sp.issparse(x):
        raise TypeError("x is sparse: statistics are those of dense arrays")
    data = numbers_of(x, "x")
    if data.ndim == 0:
        raise ValueError("a number has no columns; an array expected")
    if isinstance(axis, bool) or not hasattr(axis, "__index__"):
        raise TypeError(f"axis={axis!r}: a whole number expected")
    if not -data.ndim <= axis < data.ndim:
        raise ValueError(f"axis {axis} is out of bounds for an array of {data.ndim} dimensions")
    data = np.moveaxis(data, axis, 0)
    count, shape = data.shape[0], data.shape[1:]
    if count == 0:
        raise ValueError(f"x has the shape {np.shape(x)}: nothing lies along axis {axis}; one row at least expected")
    wide = precision(data.dtype, "x")
    if out is not None:
        check_out(out, (4, *shape), np.dtype(np.float64))
    threads = None if threads is None else whole_number(threads, "threads")
    rows = data.reshape(count, -1).astype(wide, copy=False)
    gpu = gpu_of(device, None)
    found = _ordito.column_stats(rows, threads, gpu)
    if found is None:
        found = _ordito.column_stats(np.array(rows, order="C"), threads, gpu)
    assert found is not None
    count, statistics = found
    reshaped = [statistic.reshape(shape) for statistic in statistics]
    if out is not None:
        for row, statistic in enumerate(reshaped):
            out[row] = statistic
        reshaped = [out[row] for row in range(4)]
    return ColumnStats(count, *reshaped)


def _matrix(x: Any, what: str) -> Array:
    if isinstance(x, (list, tuple)):
        raise TypeError(f"{what} is a {type(x).__name__}: make it an array first, numpy.asarray({what})")
    if sp.issparse(x):
        raise TypeError(f"{what} is sparse: ordito.csr({what}) multiplies such matrices")
    if isinstance(x, Matrix):
        raise TypeError(f"{what} is sparse, and wrapped: {what} @ X is its product")
    array = numbers_of(x, what)
    if array.ndim != 2:
        raise ValueError(f"{what} has {array.ndim} dimensions; two expected")
    return array

"""What the solvers share: how arrays come and go, what they multiply with, and how they got to their result."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator

from ordito import _device, _ordito
from ordito._matrix import Matrix
from ordito._sources import Array, numbers_of
from ordito._wrapping import csr


@dataclass
class Info:
    """How the last call of a thread got to its result."""

    #: "converged", "stagnated", "limit of iterations" or "cancelled".
    stopped: str
    #: Is everything within the tolerance, by residuals that were computed anew?
    converged: bool
    iterations: int
    #: Vectors that the matrix was multiplied with.
    products: int
    #: Norms of the residuals of what was returned.
    residuals: Array
    #: Of every iteration: seconds since the beginning, values, residuals.
    steps: list[tuple[float, list[float], list[float]]]
    #: Seconds: "product", "precondition", "gram", "combine", "small", "total".
    times: dict[str, float]


class _Last(threading.local):
    info: Info | None = None


_last = _Last()


def last_info() -> Info | None:
    """How the last solver that this thread called got to its result.

    >>> import ordito
    >>> from ordito.linalg import last_info, svds
    >>> _ = svds(ordito.read("uniform:300x4"), k=3)
    >>> last_info().converged
    True
    """
    return _last.info


@dataclass
class Asked:
    """What all solvers are told."""

    absolute: float | None = None
    relative: float | None = None
    max_iterations: int = 1000
    seed: int = 1
    callback: Callable[..., Any] | None = None
    stream: int = 0


def matrix_of(a: Any, dtype: Any = None) -> Matrix:
    """The matrix, wrapped."""
    if isinstance(a, Matrix):
        return a if dtype is None else a.astype(dtype)
    if isinstance(a, np.ndarray):
        a = sp.csr_array(a)
    if isinstance(a, LinearOperator) or not (isinstance(a, tuple) or hasattr(a, "shape")):
        raise TypeError(f"A is a {type(a).__name__}: a sparse matrix expected, of SciPy, CuPy or torch, or what ordito.csr gives")
    return csr(a, dtype=dtype)


def symmetric(a: Any, dtype: Any = None) -> Matrix:
    matrix = matrix_of(a, dtype)
    rows, cols = matrix.shape
    if rows != cols:
        raise ValueError(f"A is {rows}×{cols}; a square matrix expected")
    return matrix.T if matrix._is_transposed else matrix  # a symmetric one is its own


def as_wide(matrix: Matrix, *vectors: Any) -> Matrix:
    """The matrix in the type that SciPy computes in: the wider one of A's and of NumPy's arrays."""
    if matrix._gpu is not None or any(_device.is_elsewhere(x) for x in vectors):
        return matrix
    given = [numbers_of(x, "X").dtype for x in vectors if x is not None]
    is_wider = any(np.result_type(matrix.dtype, dtype) == np.float64 for dtype in given if dtype.kind in "fiub")
    return matrix.astype(np.float64) if is_wider and matrix.dtype == np.float32 else matrix


class Arrays:
    """Where vectors come from and go to: NumPy's, or those of a GPU."""

    def __init__(self, matrix: Matrix, like: Any = None, name: str = "X") -> None:
        self.matrix = matrix
        self.of: Any = None
        like = _device.adopted(like, name)
        if like is not None and _device.is_elsewhere(like):
            self.of = _device._of_torch() if _device._is_tensor(like) else _device._of_cupy()
            if self.of.gpu(like) != matrix._gpu:
                raise ValueError(f"the vectors lie on cuda:{self.of.gpu(like)}, A on {matrix.device}")
        elif matrix._gpu is not None:
            cupy, torch = _ordito.loaded("cupy"), _ordito.loaded("torch")
            if cupy is None and torch is None:
                import cupy  # type: ignore[no-redef] # noqa: F811
            self.of = _device._of_cupy() if _ordito.loaded("cupy") is not None else _device._of_torch()
        #: Copies that must outlive the call.
        self.held: list[Any] = []

    @property
    def stream(self) -> int:
        return 0 if self.of is None else int(self.of.stream(self.matrix._gpu))

    def given(self, x: Any, name: str) -> Any:
        """A block by rows of the matrix's type: an array of NumPy's, or a place on the GPU."""
        if x is None:
            return None
        x = _device.adopted(x, name)
        if self.of is not None and _device.is_elsewhere(x):
            if _device._is_tensor(x) != isinstance(self.of, _device._Torch):
                raise TypeError(f"{name} is a {type(x).__name__}; all vectors must be arrays of one library")
            if self.of.dtype(x) != self.matrix.dtype:
                raise TypeError(f"{name} is {x.dtype}; {self.matrix.dtype} expected, as A is")
            block = x if len(x.shape) == 2 else x.reshape(-1, 1)
            place = self.of.place(block)
            if place is None:
                block = self.of.by_rows(block)
                place = self.of.place(block)
            self.held.append(block)
            return place
        array = numbers_of(x, name)
        if array.dtype.kind == "c":
            raise TypeError(f"{name} is complex; real vectors expected")
        if array.ndim == 1:
            array = array.reshape(-1, 1)
        if array.ndim != 2:
            raise ValueError(f"{name} has {array.ndim} dimensions; one or two expected")
        return np.ascontiguousarray(array, dtype=self.matrix.dtype)

    def room(self, rows: int, cols: int) -> tuple[Any, Any]:
        """An array for results on the GPU, and where it lies; nothing on the host."""
        if self.of is None:
            return None, None
        if isinstance(self.of, _device._Torch):
            torch = self.of.torch
            dtype = torch.float32 if self.matrix.dtype == np.float32 else torch.float64
            array = torch.empty((rows, cols), dtype=dtype, device=f"cuda:{self.matrix._gpu}")
        else:
            with self.of.cupy.cuda.Device(self.matrix._gpu):
                array = self.of.cupy.empty((rows, cols), dtype=self.matrix.dtype)
        return array, self.of.place(array)

    def small(self, values: Array) -> Any:
        """A few numbers, where the vectors are."""
        if self.of is None:
            return values.astype(self.matrix.dtype, copy=False)
        if isinstance(self.of, _device._Torch):
            dtype = self.of.torch.float32 if self.matrix.dtype == np.float32 else self.of.torch.float64
            return self.of.torch.as_tensor(values, device=f"cuda:{self.matrix._gpu}").to(dtype)
        with self.of.cupy.cuda.Device(self.matrix._gpu):
            return self.of.cupy.asarray(values, dtype=self.matrix.dtype)


def kept(found: dict[str, Any]) -> dict[str, Any]:
    _last.info = Info(
        found["stopped"],
        found["converged"],
        found["iterations"],
        found["products"],
        found["residuals"],
        found["steps"],
        found["times"],
    )
    return found


def operator_of(given: Any, matrix: Matrix, name: str) -> Any:
    """B or M: a matrix of ours, a diagonal, or a function of blocks."""
    if given is None:
        return None
    if getattr(getattr(given, "dtype", None), "kind", "") == "c":
        raise TypeError(f"{name} is {given.dtype}; real numbers expected")
    if sp.issparse(given) and given.format == "dia" and tuple(given.offsets) == (0,):
        return np.ascontiguousarray(given.diagonal(), dtype=matrix.dtype) if name == "M" else _wrapped(given, matrix, name)._native
    if isinstance(given, Matrix) or sp.issparse(given) or isinstance(given, tuple):
        return _wrapped(given, matrix, name)._native
    if isinstance(given, np.ndarray) and given.ndim == 2:
        return _wrapped(sp.csr_array(given), matrix, name)._native
    if matrix._gpu is not None:
        raise TypeError(f"{name} is a {type(given).__name__}: on a GPU it must be a sparse matrix" + (" or a diagonal one" if name == "M" else ""))
    product = given.matmat if isinstance(given, LinearOperator) else given if callable(given) else None
    if product is None:
        raise TypeError(f"{name} is a {type(given).__name__}: a sparse matrix, a LinearOperator or a function expected")

    def real(block: Array) -> Array:
        image = np.asarray(product(block))
        if image.dtype.kind == "c":
            raise TypeError(f"{name} gives {image.dtype}; real numbers expected")
        return np.ascontiguousarray(image, dtype=matrix.dtype)

    return real


def _wrapped(given: Any, matrix: Matrix, name: str) -> Matrix:
    if not isinstance(given, Matrix):
        device = None if matrix._gpu is None else matrix.device
        given = csr(given, dtype=matrix.dtype, threads=matrix._asked["threads"], device=device)
    wrapped: Matrix = given.astype(matrix.dtype)
    if wrapped.shape != matrix.shape:
        raise ValueError(f"{name} is {wrapped.shape[0]}×{wrapped.shape[1]}; {matrix.shape[0]}×{matrix.shape[1]} expected, as A is")
    if wrapped._gpu != matrix._gpu:
        raise ValueError(f"{name} lies on {wrapped.device}, A on {matrix.device}")
    return wrapped.T if wrapped._is_transposed else wrapped


def seed_of(rng: Any) -> int:
    if rng is None or (isinstance(rng, str) and rng == "warn"):
        return 1
    if isinstance(rng, (int, np.integer)):
        return int(rng) % 2**64
    if isinstance(rng, np.random.RandomState):
        return int(rng.randint(0, 2**31 - 1))
    return int(np.random.default_rng(rng).integers(0, 2**63))


def iterations_of(maxiter: Any) -> int:
    limit = int(maxiter)
    if limit < 0:
        raise ValueError(f"maxiter={maxiter!r}: a number from 0 on expected")
    return min(limit, 2**63 - 1)


def from_zero(number: Any, name: str) -> int:
    if isinstance(number, bool) or not hasattr(number, "__index__") or not 0 <= int(number) < 2**31:
        raise ValueError(f"{name}={number!r}: a whole number from 0 on expected")
    return int(number)


def at_rounding(found: dict[str, Any], eps: float) -> bool:
    """As good as arithmetic gives?"""
    size = float(np.abs(found["values"]).max(initial=0.0))
    return bool((found["residuals"] <= 1e4 * eps * size).all())


def raise_no_convergence(found: dict[str, Any], asked: Asked, values: Array, vectors: Any) -> None:
    worst = float(found["residuals"].max())
    text = f"{found['stopped']} after {found['iterations']} restarts: the largest residual is {worst:.3g}, {asked.relative:.3g} of each value was asked for"
    raise ArpackNoConvergence(text, values, vectors)

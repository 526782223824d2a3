"""A sparse matrix made ready for products."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from ordito import _device, _ordito
from ordito._sources import Array, Parts, _signed, parts_of, precision


class Choice(NamedTuple):
    """Which kernel serves a number of columns."""

    columns: int
    #: Its name, as ``ordito list`` has it.
    kernel: str
    #: Why it was chosen.
    reason: str
    #: How long preparing took.
    seconds: float
    #: What it holds beside the matrix.
    bytes: int


def csr(
    a: object,
    *,
    shape: tuple[int, int] | None = None,
    dtype: Any = None,
    threads: int | None = None,
    device: str | None = None,
    variant: str | None = None,
    copy: bool = False,
) -> Matrix:
    """Wraps a sparse matrix for products.

    Parameters
    ----------
    a
        A sparse matrix or array of SciPy, CuPy or torch, or a tuple ``(data, indices, indptr)``. CSR arrays are borrowed: as long as
        the result is used, nobody may change them (``copy=True`` copies them). :attr:`Matrix.copied` says what had to be copied.
    shape
        Of a tuple; without it there are as many columns as the greatest index asks for.
    dtype
        float32 or float64; by default that of ``a``. Integers and booleans become float64.
    threads
        How many to use; by default all cores, or what the variable ``ORDITO_THREADS`` says.
    device
        ``"cpu"``, ``"cuda"`` or ``"cuda:1"``; by default where ``a`` lies.
    variant
        A kernel by its name, as ``ordito list spmm`` shows it. By default the one that should be fastest.

    >>> import numpy as np, scipy.sparse
    >>> A = csr(scipy.sparse.csr_array(np.eye(3)))
    >>> A @ np.array([1.0, 2.0, 3.0])
    array([1., 2., 3.])
    >>> A.copied
    'indptr widened to 64 bits'
    """
    if isinstance(a, Matrix):
        raise TypeError("A is an ordito.Matrix already; A.astype(…) changes its precision")
    parts = parts_of(a, shape, dtype, copy)
    return Matrix(parts, threads=threads, gpu=_gpu_of(device, parts.gpu), variant=variant)


def read(
    name: str | os.PathLike[str],
    *,
    dtype: Any = np.float64,
    threads: int | None = None,
    device: str | None = None,
) -> Matrix:
    """The matrix of a Matrix Market file (``.mtx``, ``.mtx.gz``), or a synthetic one by name (``"stencil27:60"``).

    >>> read("stencil5:30").shape
    (900, 900)
    """
    wanted = precision(np.dtype(dtype), "dtype")
    shape, (offsets, columns, values) = _ordito.read_csr(os.fspath(name), wanted == np.float32)
    parts = Parts(shape, offsets, _signed(columns, shape[1]), values)
    return Matrix(parts, threads=threads, gpu=_gpu_of(device, None))


class Matrix(LinearOperator):  # type: ignore[misc] # SciPy's stubs are not asked for
    """A sparse matrix made ready for products: what :func:`csr` and :func:`read` give.

    ``A @ X``, ``X @ A``, ``A.T @ X`` take vectors and blocks of them, by rows or by columns, with any distance between them. The first
    product with a number of columns chooses a kernel and may convert the matrix, once.
    """

    def __init__(
        self,
        parts: Parts,
        *,
        threads: int | None = None,
        gpu: int | None = None,
        variant: str | None = None,
    ) -> None:
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            raise ValueError(f"threads={threads!r}: a number from 1 on expected")
        super().__init__(parts.data.dtype, parts.shape)
        self._parts = parts
        self._asked = {"threads": threads, "gpu": gpu, "variant": variant}
        self._native = _ordito.Matrix(parts.shape, parts.indptr, parts.indices, parts.data, threads, gpu, variant)
        self._is_transposed = False
        self._turned: Matrix | None = None
        self._in_double: Matrix | None = None

    # --- products ---

    def __matmul__(self, x: Any) -> Any:
        y = self._native.product(x, None, 1.0, 0.0, self._is_transposed, False)
        return self._product(x, None, 1.0, 0.0, False) if y is None else y

    def __rmatmul__(self, x: Any) -> Any:
        y = self._native.product(x, None, 1.0, 0.0, self._is_transposed, True)
        return self._product(x, None, 1.0, 0.0, True) if y is None else y

    def matmul(self, x: Any, out: Any = None, *, alpha: float = 1.0, beta: float = 0.0) -> Any:
        """``alpha * A @ x + beta * out``, written into ``out`` where one is given.

        With ``beta=0`` nothing of ``out`` is read, with ``alpha=0`` nothing of A and ``x``.

        >>> import numpy as np, scipy.sparse
        >>> A = csr(scipy.sparse.csr_array(np.eye(2)))
        >>> y = np.ones(2)
        >>> A.matmul(np.array([1.0, 2.0]), y, alpha=10, beta=1) is y
        True
        >>> y
        array([11., 21.])
        """
        return self._into(x, out, alpha, beta, False)

    def rmatmul(self, x: Any, out: Any = None, *, alpha: float = 1.0, beta: float = 0.0) -> Any:
        """``alpha * x @ A + beta * out``, as :meth:`matmul`."""
        return self._into(x, out, alpha, beta, True)

    def _into(self, x: Any, out: Any, alpha: float, beta: float, from_left: bool) -> Any:
        if beta != 0 and out is None:
            raise ValueError("beta is not 0: out must say what it is multiplied by")
        y = self._native.product(x, out, alpha, beta, self._is_transposed, from_left)
        return self._product(x, out, alpha, beta, from_left) if y is None else y

    def dot(self, x: Any) -> Any:
        """``A @ x``; with a number or another operator what ``LinearOperator`` makes of them."""
        if np.isscalar(x) or isinstance(x, LinearOperator):
            return super().dot(x)
        return self @ x

    def _product(self, x: Any, out: Any, alpha: float, beta: float, from_left: bool) -> Any:
        """Everything that is not the shortest way: conversions, memory of others, refusals."""
        if _device.is_elsewhere(x) or _device.is_elsewhere(out):
            return _device.product(self, x, out, alpha, beta, from_left)
        if isinstance(x, LinearOperator):
            return super().__matmul__(x)
        x = _checked(x)
        wide = np.result_type(self.dtype, x.dtype)
        if wide.kind == "c":
            return self._complex_product(x, out, alpha, beta, from_left)
        precision(x.dtype, "X")
        if wide != self.dtype:
            return self.astype(wide)._product(x.astype(wide, copy=False), out, alpha, beta, from_left)
        if out is not None and not isinstance(out, np.ndarray):
            raise TypeError(f"out is a {type(out).__name__}; an array expected")
        x = x.astype(wide, copy=False)
        options = (alpha, beta, self._is_transposed, from_left)
        y = self._native.product(x, out, *options)
        if y is None:
            x = np.array(x, dtype=wide, order="C")
            y = self._native.product(x, out, *options)
        if y is None:  # neither type nor layout of out is a kernel's
            if not np.can_cast(wide, out.dtype, "same_kind"):
                raise TypeError(f"the result is {wide}: it cannot be written to out, which is {out.dtype}")
            y = np.array(out, dtype=wide, order="C")
            self._native.product(x, y, *options)
            out[...] = y
            y = out
        return y

    def _complex_product(self, x: Array, out: Any, alpha: float, beta: float, from_left: bool) -> Any:
        """Real and imaginary parts lie side by side, and so they are twice as many columns."""
        if from_left:
            turned = self.T._complex_product(x.T, None if out is None else out.T, alpha, beta, False)
            return out if out is not None else turned.T
        kind = np.result_type(x.dtype, self.dtype)
        real = np.dtype(np.float32) if kind == np.complex64 else np.dtype(np.float64)
        if kind not in (np.complex64, np.complex128):
            raise TypeError(f"X is {x.dtype}; complex64 or complex128 expected")
        pairs = np.ascontiguousarray(x, dtype=kind).reshape(x.shape[0], -1).view(real)
        y = self.astype(real)._product(pairs, None, alpha, 0.0, False)
        y = y.view(kind).reshape(self.shape[0], *x.shape[1:])
        if out is None:
            return y
        if beta != 0:
            y += np.asarray(beta * out, dtype=kind)
        np.copyto(out, y, casting="same_kind")
        return out

    # --- as SciPy calls it ---

    def _matvec(self, x: Any) -> Any:
        return self @ x

    def _matmat(self, x: Any) -> Any:
        return self @ x

    def _rmatvec(self, x: Any) -> Any:
        return self.T @ x

    def _rmatmat(self, x: Any) -> Any:
        return self.T @ x

    def _transpose(self) -> Matrix:
        if self._turned is None:
            turned = object.__new__(Matrix)
            LinearOperator.__init__(turned, self.dtype, (self.shape[1], self.shape[0]))
            turned._parts, turned._asked, turned._native = self._parts, self._asked, self._native
            turned._is_transposed = not self._is_transposed
            turned._turned, turned._in_double = self, None
            self._turned = turned
        return self._turned

    def _adjoint(self) -> Matrix:
        return self._transpose()

    # --- what it is ---

    @property
    def nnz(self) -> int:
        """Stored entries."""
        return int(self._parts.data.size)

    @property
    def copied(self) -> str:
        """What had to be copied or converted of what was given; empty where nothing was."""
        copied = list(self._parts.copied)
        if self._native.converted_bytes:
            narrow, wide = self._parts.indptr.dtype == np.int32, self._parts.indices.dtype == np.int64
            copied += ["indptr widened to 64 bits"] * narrow + ["indices narrowed to 32 bits"] * wide
        return ", ".join(copied)

    @property
    def nbytes(self) -> int:
        """Bytes beside the arrays that were given: converted indices, and what is prepared for products."""
        return self._native.bytes() + (0 if self._in_double is None else self._in_double.nbytes)

    @property
    def device(self) -> str:
        """``"cpu"``, or ``"cuda:0"`` and so on."""
        gpu = self._asked["gpu"]
        return "cpu" if gpu is None else f"cuda:{gpu}"

    def prepare(self, columns: int) -> Choice:
        """Makes ready for products with so many columns, so that the first of them does not wait; says what was chosen.

        >>> read("stencil5:30").prepare(8).columns
        8
        """
        if columns < 1:
            raise ValueError(f"{columns} columns: a number from 1 on expected")
        return Choice(columns, *self._native.prepare(columns, self._is_transposed))

    def astype(self, dtype: Any) -> Matrix:
        """The same matrix in float32 or float64; itself where it is so. Kept: asking again costs nothing."""
        wanted = np.dtype(dtype)
        if wanted == self.dtype:
            return self
        if wanted not in (np.float32, np.float64):
            raise TypeError(f"{wanted}: float32 or float64 expected")
        if self._is_transposed:
            return self.T.astype(wanted).T
        if self._in_double is None:
            old = self._parts
            parts = Parts(old.shape, old.indptr, old.indices, old.data.astype(wanted))
            self._in_double = Matrix(parts, **self._asked)
        return self._in_double

    def update_values(self, data: Any) -> None:
        """Other numbers for the same pattern, in the order of the CSR arrays. On the CPU what is prepared stays, and is filled anew.

        >>> import numpy as np, scipy.sparse
        >>> A = csr(scipy.sparse.csr_array(np.eye(2)))
        >>> A.update_values([5.0, 7.0])
        >>> A @ np.ones(2)
        array([5., 7.])
        """
        data = np.ascontiguousarray(data, dtype=self.dtype)
        self._native.update_values(data)
        self._parts.data = data
        self._in_double = None
        if self._turned is not None:
            self._turned._in_double = None

    def to_scipy(self) -> sp.csr_array:
        """As SciPy has it, of the arrays that are used here."""
        parts = self._parts
        by_rows = sp.csr_array((parts.data, parts.indices, parts.indptr), shape=parts.shape)
        return by_rows.T.tocsr() if self._is_transposed else by_rows

    def __repr__(self) -> str:
        rows, cols = self.shape
        threads = self._asked["threads"]
        where = self.device if threads is None else f"{self.device}, {threads} thread{'s' if threads > 1 else ''}"
        text = f"<ordito.Matrix {rows}×{cols}, {self.dtype}, {self.nnz} nonzeros, {where}"
        if self._is_transposed:
            return text + ", transposed>"
        for columns, kernel, reason in self._native.choices(False):
            text += f"\n  {columns} column{'s' if columns > 1 else ''}: {kernel}, {reason}"
        return text + ">"

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (self._parts, self._asked, self._is_transposed)


def _made_again(parts: Parts, asked: dict[str, Any], is_transposed: bool) -> Matrix:
    """In another process, say."""
    matrix = Matrix(parts, **asked)
    return matrix.T if is_transposed else matrix


def _checked(x: Any) -> Array:
    if isinstance(x, (list, tuple)):
        raise TypeError(f"X is a {type(x).__name__}: make it an array first, numpy.asarray(X)")
    if np.isscalar(x):
        raise ValueError("matmul: X is a number; use A.dot(X) or multiply the result")
    if sp.issparse(x):
        raise TypeError("X is sparse: dense blocks are multiplied here; A.to_scipy() @ X is the product of both")
    array = np.asarray(x)
    if array.ndim not in (1, 2):
        raise ValueError(f"matmul: X has {array.ndim} dimensions; one or two expected")
    return array


def _gpu_of(device: str | None, of_matrix: int | None) -> int | None:
    """The number of a GPU, or none."""
    if device is None:
        return of_matrix
    kind, _, number = str(device).partition(":")
    if kind == "cpu" and not number:
        return None
    if kind == "cuda" and (not number or number.isdecimal()):
        return int(number or 0)
    raise ValueError(f'device={device!r}: "cpu", "cuda" or "cuda:1" expected')

"""A sparse matrix made ready for products."""

from __future__ import annotations

import dataclasses
import itertools
import numbers
import os
import threading
import weakref
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from ordito import _device, _ordito
from ordito._sources import Array, Parts, check_out, precision, put, refuse_mask, whole_number
from ordito._taken import Taken


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


_numbers = itertools.count(1)
#: Matrices that are still there.
by_number: weakref.WeakValueDictionary[int, Matrix] = weakref.WeakValueDictionary()


class Matrix(LinearOperator):  # type: ignore[misc] # SciPy's stubs are not asked for
    """A sparse matrix made ready for products: what :func:`csr` and :func:`read` give.

    ``A @ X``, ``X @ A``, ``A.T @ X`` take vectors and blocks of them, by rows or by columns, with any distance between them. The first
    product with a number of columns chooses a kernel and may convert the matrix, once.
    """

    def __init__(
        self,
        parts: Parts | Taken,
        *,
        threads: int | None = None,
        gpu: int | None = None,
        variant: str | None = None,
    ) -> None:
        threads = None if threads is None else whole_number(threads, "threads")
        super().__init__(parts.dtype, parts.shape)
        #: Of what was taken on a GPU, brought when somebody looks.
        self._own_parts: Parts | Taken = parts
        self._copied = list(parts.copied)
        self._asked: dict[str, Any] = {"threads": threads, "gpu": gpu, "variant": variant}
        if isinstance(parts, Taken):
            self._native = parts.native(threads, variant)
        else:
            self._native = _ordito.Matrix(parts.shape, parts.indptr, parts.indices, parts.data, threads, gpu, variant)
            if self._native.converted_bytes:
                narrow, wide = parts.indptr.dtype == np.int32, parts.indices.dtype == np.int64
                self._copied += ["indptr widened to 64 bits"] * narrow + ["indices narrowed to 32 bits"] * wide
        self._is_transposed = False
        self._of: Matrix | None = None
        #: The same in the other precision, once it was asked for.
        self._twin: Matrix | None = None
        #: Whoever changes it has this.
        self._change = threading.RLock()
        #: How often its values were replaced.
        self._version = 0
        self._gpu = gpu
        #: As torch is asked for it.
        self._precision = str(parts.dtype)
        #: Operators of torch take numbers and tensors, and find it by this one.
        self._number = next(_numbers)
        by_number[self._number] = self

    # --- products ---

    def __matmul__(self, x: Any) -> Any:
        y = self._native.product(x, None, 1.0, 0.0, self._is_transposed, False)
        if y is None and isinstance(x, LinearOperator):
            return super().__matmul__(x)
        return self._product(x, None, 1.0, 0.0, False) if y is None else y

    def __rmatmul__(self, x: Any) -> Any:
        y = self._native.product(x, None, 1.0, 0.0, self._is_transposed, True)
        return self._product(x, None, 1.0, 0.0, True) if y is None else y

    def matmul(self, x: Any, out: Any = None, *, alpha: float = 1.0, beta: float = 0.0) -> Any:
        """``alpha * A @ x + beta * out``, written into ``out`` where one is given.

        With ``beta=0`` nothing of ``out`` is read, with ``alpha=0`` nothing of A and ``x``.

        >>> import numpy as np, scipy.sparse, ordito
        >>> A = ordito.csr(scipy.sparse.csr_array(np.eye(2)))
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
        x = _checked(x)
        shape = self._result_shape(x.shape, from_left)
        wide = np.result_type(self.dtype, x.dtype)
        if out is not None:
            check_out(out, shape, wide)
        if wide.kind == "c":
            return put(self._complex_product(x, wide, alpha, from_left), out, beta)
        if wide != self.dtype:
            return self.astype(wide)._product(x, out, alpha, beta, from_left)
        x = x.astype(wide, copy=False)
        y = self._native.product(x, out, alpha, beta, self._is_transposed, from_left)
        if y is None:  # X lies otherwise than kernels read it, or where out does
            x = np.array(x, order="C")
            y = self._native.product(x, out, alpha, beta, self._is_transposed, from_left)
        if y is None:  # neither type nor layout of out is a kernel's
            y = self._native.product(x, None, alpha, 0.0, self._is_transposed, from_left)
            assert y is not None
            return put(y, out, beta)
        return y

    def _result_shape(self, x: tuple[int, ...], from_left: bool) -> tuple[int, ...]:
        """Of the product with an X of this shape, where they fit."""
        if len(x) not in (1, 2):
            raise ValueError(f"matmul: X has {len(x)} dimensions; one or two expected")
        rows, cols = self.shape
        expected, found = (rows, x[-1]) if from_left else (cols, x[0])
        if found != expected:
            what = "elements" if len(x) == 1 else "columns" if from_left else "rows"
            raise ValueError(f"matmul: A is {rows}×{cols}, so that X must have {expected} {what}; it has {found}")
        return (*x[:-1], cols) if from_left else (rows, *x[1:])

    def _complex_product(self, x: Array, kind: np.dtype[Any], alpha: float, from_left: bool) -> Array:
        """Real and imaginary parts lie side by side, and so they are twice as many columns."""
        real = np.dtype(np.float32 if kind == np.complex64 else np.float64)
        matrix, columns = (self.T, x.T) if from_left else (self, x)
        count = 1 if x.ndim == 1 else columns.shape[1]
        pairs = np.ascontiguousarray(columns, dtype=kind).reshape(columns.shape[0], count).view(real)
        y: Array = matrix.astype(real)._product(pairs, None, alpha, 0.0, False)
        y = y.view(kind).reshape(matrix.shape[0], *columns.shape[1:])
        return y.T if from_left else y

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
        if self._plain is not self:
            return self._plain
        turned = object.__new__(Matrix)
        LinearOperator.__init__(turned, self.dtype, (self.shape[1], self.shape[0]))
        turned._asked, turned._native, turned._is_transposed = self._asked, self._native, True
        turned._of, turned._number, turned._precision = self, self._number, self._precision
        turned._gpu = self._gpu
        return turned

    @property
    def _parts(self) -> Parts:
        plain = self._plain
        parts = plain._own_parts
        if isinstance(parts, Taken):
            with plain._change:  # one of several threads brings them
                parts = plain._own_parts
                if isinstance(parts, Taken):
                    parts = plain._own_parts = parts.brought(plain._native)
        return parts

    @property
    def _plain(self) -> Matrix:
        """The matrix that this is, or is the transposed of: it has the arrays. It knows of no transposed, so that both go when the
        last of them is forgotten."""
        return self if self._of is None else self._of

    def _adjoint(self) -> Matrix:
        return self._transpose()

    @property
    def T(self) -> Matrix:
        """The transposed, of the same arrays."""
        return self._transpose()

    H = T

    # --- what it is ---

    @property
    def nnz(self) -> int:
        """Stored entries."""
        return self._native.nnz

    @property
    def copied(self) -> str:
        """What had to be copied or converted of what was given; empty where nothing was."""
        return ", ".join(self._plain._copied)

    @property
    def nbytes(self) -> int:
        """Bytes beside the arrays that were given: converted indices, and what is prepared for products."""
        plain = self._plain
        twin = plain._twin
        replaced = 2 * self.nnz * self.dtype.itemsize if plain._version else 0  # one copy for the kernels, one for Python
        return self._native.bytes() + replaced + (0 if twin is None else twin._parts.data.nbytes + twin.nbytes)

    @property
    def device(self) -> str:
        """``"cpu"``, or ``"cuda:0"`` and so on."""
        gpu = self._gpu
        return "cpu" if gpu is None else f"cuda:{gpu}"

    def prepare(self, columns: int) -> Choice:
        """Makes ready for products with so many columns, so that the first of them does not wait; says what was chosen.

        >>> import ordito
        >>> ordito.read("stencil5:30").prepare(8).columns
        8
        """
        columns = whole_number(columns, "columns")
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
        with self._change:  # of old values no twin is kept
            if self._twin is None:
                parts = dataclasses.replace(self._parts, data=self._parts.data.astype(wanted), copied=[])
                self._twin = Matrix(parts, **self._asked)
            return self._twin

    def update_values(self, data: Any) -> None:
        """Other numbers for the same pattern, in the order of the CSR arrays. On the CPU what is prepared stays, and is filled anew.

        >>> import numpy as np, scipy.sparse, ordito
        >>> A = ordito.csr(scipy.sparse.csr_array(np.eye(2)))
        >>> A.update_values([5.0, 7.0])
        >>> A @ np.ones(2)
        array([5., 7.])
        """
        precision(np.asarray(data).dtype, "data")
        data = np.array(data, dtype=self.dtype)  # ours: the caller's may change
        if data.shape != (self.nnz,):
            raise ValueError(f"data has the shape {data.shape}; ({self.nnz},) expected")
        plain = self._plain
        with plain._change:
            self._native.update_values(data)
            plain._parts.data = data
            plain._twin = None
            plain._version += 1

    def to_scipy(self) -> sp.csr_array:
        """As SciPy has it, of the arrays that are used here: they cannot be written; ``A.to_scipy().copy()`` can."""
        parts = self._parts
        indptr = parts.indptr
        if parts.indices.dtype == np.int32 and self.nnz < 2**31:
            indptr = indptr.astype(np.int32, copy=False)  # or SciPy would widen the indices
        by_rows = sp.csr_array((_unwritable(parts.data), _unwritable(parts.indices), indptr), shape=parts.shape)
        return by_rows.T.tocsr() if self._is_transposed else by_rows

    def __repr__(self) -> str:
        rows, cols = self.shape
        threads = self._asked["threads"]
        where = self.device if threads is None else f"{self.device}, {threads} thread{'s' if threads > 1 else ''}"
        text = f"<ordito.Matrix {rows}×{cols}, {self.dtype}, {self.nnz} nonzeros, {where}"
        if self._is_transposed:
            return text + ", transposed>"
        for columns, kernel, reason in self._native.choices():
            text += f"\n  {columns} column{'s' if columns != 1 else ''}: {kernel}, {reason}"
        return text + ">"

    def __reduce__(self) -> tuple[Any, ...]:
        # Parts of its own: whoever updates one matrix leaves the other alone. What was copied for this one was not for the other.
        return _made_again, (dataclasses.replace(self._parts, copied=[]), self._asked, self._is_transposed)


def _unlock_all() -> None:
    """In a child of ``fork``, which has none of the threads that may have had a lock."""
    for matrix in list(by_number.values()):
        matrix._change = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_all)


def _unwritable(array: Array) -> Array:
    array = array.view()
    array.flags.writeable = False
    return array


def _made_again(parts: Parts, asked: dict[str, Any], is_transposed: bool) -> Matrix:
    """In another process, say."""
    matrix = Matrix(parts, **asked)
    return matrix.T if is_transposed else matrix


def _checked(x: Any) -> Array:
    if isinstance(x, (list, tuple)):
        raise TypeError(f"X is a {type(x).__name__}: make it an array first, numpy.asarray(X)")
    if isinstance(x, (numbers.Number, np.generic)):
        raise ValueError("matmul: X is a number; use A.dot(X) or multiply the result")
    if sp.issparse(x):
        raise TypeError("X is sparse: dense blocks are multiplied here; A.to_scipy() @ X is the product of both")
    if isinstance(x, LinearOperator):
        raise TypeError("X is an operator: A @ X composes both, without out, alpha and beta")
    refuse_mask(x, "X")
    array = np.asarray(x)
    if array.dtype == object and array is not x and hasattr(x, "__dlpack__"):  # NumPy knows no other way to read it
        array = np.from_dlpack(x)
    if not (array.dtype.kind == "c" and array.dtype.itemsize <= 16):
        precision(array.dtype, "X")
    return array

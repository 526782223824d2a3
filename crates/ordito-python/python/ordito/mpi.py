"""Matrices whose rows lie on ranks of MPI, with communicators of mpi4py.

Every rank gives its rows, and has its rows of X and Y. Start the program by ``mpiexec -n 4 python program.py``.

>>> import numpy as np, ordito.mpi, scipy.sparse
>>> from mpi4py import MPI
>>> A = ordito.mpi.csr(scipy.sparse.csr_array([[0.0, 2.0], [3.0, 0.0]]), MPI.COMM_SELF)
>>> A @ np.array([[1.0, 10.0], [2.0, 20.0]])
array([[ 4., 40.],
       [ 3., 30.]])

MPI is not linked: it is the library that mpi4py has loaded. What one rank cannot do is an exception on all of them.
"""

from __future__ import annotations

import atexit
import itertools
import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ordito import _ordito
from ordito._sources import Array, asked_precision, check_out, parts_of, precision, put, whole_number

__all__ = ["Matrix", "Volume", "csr"]

T = TypeVar("T")


class Volume(NamedTuple):
    """What one product moves for each column of X, a number for every rank."""

    #: Rows of X that come from other computers, and parts of sums in a team.
    travel: list[int]
    #: Rows of X that are read where other ranks of the same computer show them.
    in_place: list[int]
    #: Ranks of other computers that rows come from.
    neighbours: list[int]


class Matrix:
    """A sparse matrix whose rows lie on ranks: what :func:`csr` gives.

    ``A @ X`` takes the rows of X that this rank has, ``A.columns``, and gives its rows of Y, ``A.rows``. Every rank calls it, with as many
    columns. The same number of ranks gives the same bits.
    """

    __array_ufunc__ = None  # or NumPy would take X @ A for its own

    def __init__(
        self, native: _ordito.DistributedMatrix, comm: Any, ranks: _ordito.Communicator, dtype: np.dtype[Any]
    ) -> None:
        self._native = native
        self._ranks = ranks
        self._is_transposed = False
        #: The communicator that it was made with.
        self.comm = comm
        #: float32 or float64.
        self.dtype = dtype

    # --- products ---

    def __matmul__(self, x: Any) -> Any:
        return self.matmul(x)

    def matmul(self, x: Any, out: Any = None, *, alpha: float = 1.0, beta: float = 0.0) -> Any:
        """``alpha * A @ x + beta * out``, written into ``out`` where one is given. ``alpha`` and ``beta`` are the same on all ranks.

        >>> import numpy as np, ordito.mpi
        >>> from mpi4py import MPI
        >>> A = ordito.mpi.csr("band:4x1", MPI.COMM_SELF)
        >>> y = np.ones(4)
        >>> A.matmul(np.zeros(4), y, alpha=10, beta=2) is y
        True
        >>> y
        array([2., 2., 2., 2.])
        """
        try:
            return self._product(x, out, alpha, beta)
        except Exception as error:
            self._ranks.fail(f"{type(error).__name__}: {error}")  # nobody waits for this rank
            raise

    def _product(self, x: Any, out: Any, alpha: float, beta: float) -> Any:
        if beta != 0 and out is None:
            raise ValueError("beta is not 0: out must say what it is multiplied by")
        y = self._native.product(x, out, alpha, beta, self._is_transposed)
        if y is not None:
            return y
        x = np.asarray(x)
        if x.ndim not in (1, 2):
            raise ValueError(f"matmul: X has {x.ndim} dimensions; one or two expected")
        precision(x.dtype, "X")
        if np.result_type(self.dtype, x.dtype) != self.dtype:
            raise TypeError(f"X is {x.dtype}, A is {self.dtype}: X.astype({self.dtype}), or csr(…, dtype={x.dtype})")
        x = np.array(x, dtype=self.dtype, order="C")
        if out is not None:
            check_out(out, (len(self.rows), *x.shape[1:]), self.dtype)
            y = self._native.product(x, out, alpha, beta, self._is_transposed)
        if y is None:  # neither type nor layout of out is a kernel's
            y = self._native.product(x, None, alpha, 0.0, self._is_transposed)
            assert y is not None
            return put(y, out, beta)
        return y

    @property
    def T(self) -> Matrix:
        """The transposed: X is then cut as rows of A are, Y as its columns."""
        turned = Matrix(self._native, self.comm, self._ranks, self.dtype)
        turned._is_transposed = not self._is_transposed
        return turned

    # --- what it is ---

    @property
    def _starts(self) -> tuple[list[int], list[int]]:
        rows, columns = self._native.starts()
        return (columns, rows) if self._is_transposed else (rows, columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the whole matrix."""
        rows, columns = self._starts
        return rows[-1], columns[-1]

    @property
    def rows(self) -> range:
        """Rows of this rank: those of A that it has, and of Y."""
        starts, rank = self._starts[0], self.comm.Get_rank()
        return range(starts[rank], starts[rank + 1])

    @property
    def columns(self) -> range:
        """Rows of X that this rank has."""
        starts, rank = self._starts[1], self.comm.Get_rank()
        return range(starts[rank], starts[rank + 1])

    @property
    def nnz(self) -> int:
        """Stored entries of all ranks."""
        return self._native.entries()[0]

    @property
    def local_nnz(self) -> int:
        """Stored entries of this rank; in a team, of its part of the team's rows."""
        return self._native.entries()[1]

    @property
    def team(self) -> int:
        """Ranks that share rows; 1: everyone has its own."""
        return self._native.team()

    @property
    def volume(self) -> Volume:
        """What a product moves between ranks, counted before anything moves."""
        return Volume(*self._native.moved())

    def __repr__(self) -> str:
        (rows, columns), mine, moved = self.shape, self.rows, self.volume
        count = self.comm.Get_size()
        text = f"<ordito.mpi.Matrix {rows}×{columns}, {self.dtype}, {self.nnz} nonzeros on {count} rank{'s' if count > 1 else ''}"
        text += f", rows {mine.start} to {mine.stop} here" + (", transposed" if self._is_transposed else "")
        return f"{text}; {sum(moved.travel)} rows of X travel, {sum(moved.in_place)} are read in place>"


def csr(
    a: object,
    comm: Any,
    *,
    shape: tuple[int, int] | None = None,
    columns: int | None = None,
    dtype: Any = None,
    threads: int | None = None,
    team: int | None = None,
    variant: str | None = None,
) -> Matrix:
    """A matrix on the ranks of a communicator. Every rank calls it.

    Parameters
    ----------
    a
        The rows of this rank, after those of the rank before it: a sparse matrix of SciPy, or a tuple ``(data, indices, indptr)`` with ``shape``.
        Columns are numbered as in the whole matrix, with 32 or 64 bits, and all of them count in its shape. They are copied. Or the name of a Matrix
        Market file or of a synthetic matrix (``"stencil27:60"``), the same on all ranks, which read it together.
    comm
        A communicator of mpi4py. A copy of it is kept until the program ends.
    columns
        How many rows of X this rank has. By default as many as it has rows of A where A is square, else equal shares.
    dtype
        float32 or float64; by default that of ``a``, float64 where ranks differ.
    threads
        Of this rank; by default as many as mpiexec has bound it to, else its share of the cores.
    team
        Ranks that share rows, each with some of the columns; by default what lets least travel.
    variant
        A kernel by its name; by default the one that should be fastest.

    >>> import ordito.mpi
    >>> from mpi4py import MPI
    >>> A = ordito.mpi.csr("stencil5:30", MPI.COMM_SELF)
    >>> A
    <ordito.mpi.Matrix 900×900, float64, 4380 nonzeros on 1 rank, rows 0 to 900 here; 0 rows of X travel, 0 are read in place>
    """
    if not hasattr(comm, "py2f"):
        raise TypeError(f"comm is a {type(comm).__name__}; a communicator of mpi4py expected")
    asked = _together(comm, lambda: (_count(threads, "threads"), _count(team, "team"), _name(variant)))
    mine = asked[comm.Get_rank()]
    if _same(comm, isinstance(a, (str, os.PathLike)), "a name on some ranks, rows on others: all of one kind expected"):
        wanted = _together(comm, lambda: asked_precision(np.float64 if dtype is None else dtype))[0]
        name = _together(comm, lambda: _path(a))[comm.Get_rank()]
        ranks = _ranks(comm)
        native = _ordito.DistributedMatrix.read(ranks, name, wanted == np.float32, *mine)
        return Matrix(native, comm, ranks, wanted)
    parts = None

    def look() -> tuple[int, int, int | None, np.dtype[Any]]:
        nonlocal parts
        parts = parts_of(a, shape, dtype, False)
        return (*parts.shape, None if columns is None else _rows_of_x(columns), parts.data.dtype)

    found = _together(comm, look)
    starts = _cut(found)
    assert parts is not None
    wanted = np.result_type(*(kind for *_, kind in found))
    ranks = _ranks(comm)
    data = parts.data.astype(wanted, copy=False)
    native = _ordito.DistributedMatrix(ranks, starts, parts.indptr, parts.indices, data, *mine)
    return Matrix(native, comm, ranks, wanted)


def _count(number: int | None, what: str) -> int | None:
    return None if number is None else whole_number(number, what)


def _name(variant: Any) -> str | None:
    if variant is not None and not isinstance(variant, str):
        raise TypeError(f"variant is a {type(variant).__name__}; the name of a kernel expected")
    return variant


def _path(name: Any) -> str:
    path = os.fspath(name)
    if not isinstance(path, str):
        raise TypeError(f"the name is {type(path).__name__}; str expected")
    return path


def _rows_of_x(columns: Any) -> int:
    if columns == 0:
        return 0
    return whole_number(columns, "columns")


def _cut(found: list[tuple[int, int, int | None, np.dtype[Any]]]) -> tuple[list[int], list[int]]:
    """Where rows of A and of X begin, of what every rank has."""
    rows = [0, *itertools.accumulate(count for count, *_ in found)]
    widths = {width for _, width, *_ in found}
    if len(widths) > 1:
        raise ValueError(f"ranks have rows of {sorted(widths)} columns; columns are those of the whole matrix, the same on all")
    (total,) = widths
    given = [columns for *_, columns, _ in found if columns is not None]
    if not given:
        even = [total * rank // len(found) for rank in range(len(found) + 1)]
        return rows, rows if total == rows[-1] else even
    if len(given) != len(found):
        raise ValueError(f"columns was given on {len(given)} of {len(found)} ranks; all or none expected")
    if sum(given) != total:
        raise ValueError(f"columns of all ranks are {sum(given)} together; A has {total}")
    return rows, [0, *itertools.accumulate(given)]


#: What may be wrong with arguments; other exceptions keep their words alone.
_KINDS: tuple[type[Exception], ...] = (TypeError, ValueError, OverflowError, MemoryError)


def _together(comm: Any, work: Callable[[], T]) -> list[T]:
    """What it gives on every rank. Where one of them cannot, all raise what the first of these does."""
    mine, kind, text = None, -1, ""
    try:
        mine = work()
    except Exception as error:
        kind = next((at for at, known in enumerate(_KINDS) if type(error) is known), len(_KINDS))
        text = str(error) if kind < len(_KINDS) else f"{type(error).__name__}: {error}"
    everywhere: list[tuple[T, int, str]] = comm.allgather((mine, kind, text))
    for rank, (_, kind, text) in enumerate(everywhere):
        if kind >= 0:
            raise (*_KINDS, RuntimeError)[kind](f"rank {rank}: {text}")
    return [theirs for theirs, _, _ in everywhere]


def _same(comm: Any, mine: bool, otherwise: str) -> bool:
    if len(set(comm.allgather(mine))) > 1:
        raise TypeError(otherwise)
    return mine


#: Under which a communicator keeps what was made of it.
_key: int | None = None


def _ranks(comm: Any) -> _ordito.Communicator:
    """The ranks of a communicator, made once; anew after a failure, of which some may not have heard yet."""
    global _key
    if _key is None:
        _key = comm.Create_keyval()
        # Before mpi4py ends MPI, which it does later in the exit.
        atexit.register(_leave)
    ranks: _ordito.Communicator | None = comm.Get_attr(_key)
    if any(comm.allgather(ranks is None or ranks.has_failed())):
        ranks = _ordito.Communicator(comm.py2f())
        comm.Set_attr(_key, ranks)
    assert ranks is not None
    return ranks


def _leave() -> None:
    error = getattr(sys, "last_value", None)
    _ordito.leave_ranks(None if error is None else f"{type(error).__name__}: {error}")

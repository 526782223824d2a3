"""Matrices and arrays to multiply. They hold small whole numbers: products are exact, in whatever order they are summed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[Any]

#: Transposed or not, vectors as rows on the left or as columns on the right.
SIDES = {"A @ X": (False, False), "A.T @ X": (True, False), "X @ A": (False, True), "X @ A.T": (True, True)}


def whole_numbers(rng: np.random.Generator, shape: Any, dtype: Any = np.float64) -> Array:
    numbers: Array = rng.integers(-8, 9, shape).astype(dtype)
    return numbers


def random_csr(
    rng: np.random.Generator, rows: int, cols: int, density: float = 0.3, dtype: Any = np.float64
) -> sp.csr_array:
    dense = whole_numbers(rng, (rows, cols)) * (rng.random((rows, cols)) < density)
    return sp.csr_array(dense.astype(dtype))


def untidy_csr(
    rng: np.random.Generator, rows: int, cols: int, entries: int, dtype: Any = np.float64
) -> tuple[Array, Array, Array]:
    """Data, indices and offsets with unsorted columns, duplicates and empty rows."""
    indices = rng.integers(0, cols, entries)
    indptr = np.concatenate([[0], np.sort(rng.integers(0, entries + 1, rows - 1)), [entries]])
    return whole_numbers(rng, entries, dtype), indices, indptr


def dense_of(data: Array, indices: Array, indptr: Array, shape: tuple[int, int]) -> Array:
    """Entry after entry, by no library."""
    dense = np.zeros(shape)
    for row, (begin, end) in enumerate(zip(indptr[:-1], indptr[1:])):
        for entry in range(begin, end):
            dense[row, indices[entry]] += data[entry]
    return dense


def multiplied(a: Any, x: Any, side: str) -> Any:
    """The product of a matrix of any kind."""
    transposed, from_left = SIDES[side]
    a = a.T if transposed else a
    return x @ a if from_left else a @ x


def shape_of_x(shape: tuple[int, int], columns: int | None, side: str) -> tuple[int, ...]:
    """Of so many vectors that fit, or of a single one."""
    transposed, from_left = SIDES[side]
    length = shape[0] if transposed != from_left else shape[1]
    if columns is None:
        return (length,)
    return (columns, length) if from_left else (length, columns)


# --- the same numbers, lying otherwise; gaps are NaN, and whoever reads them is found out ---


def _with_gaps(shape: tuple[int, ...], place: Any, x: Array, order: str = "C") -> Array:
    whole = np.full(shape, np.nan, x.dtype, order=order)  # type: ignore[call-overload]
    part: Array = whole[place]
    part[...] = x
    return part


def _rows_apart(x: Array) -> Array:
    return _with_gaps((*x.shape[:-1], x.shape[-1] + 3), np.s_[..., 1 : x.shape[-1] + 1], x)


def _columns_apart(x: Array) -> Array:
    return _with_gaps((x.shape[0] + 3, *x.shape[1:]), np.s_[2 : x.shape[0] + 2], x, "F")


def _every_second_column(x: Array) -> Array:
    return _with_gaps((*x.shape[:-1], 2 * x.shape[-1]), np.s_[..., ::2], x)


def _every_second_row(x: Array) -> Array:
    return _with_gaps((2 * x.shape[0], *x.shape[1:]), np.s_[::2], x)


def _slice_of_three_dimensions(x: Array) -> Array:
    return _with_gaps((*x.shape, 2), np.s_[..., 1], x)


def _unaligned(x: Array) -> Array:
    bytes_from_one_on = np.zeros(x.nbytes + 1, np.uint8)[1:]
    moved = bytes_from_one_on.view(x.dtype).reshape(x.shape)
    moved[...] = x
    assert not moved.flags.aligned
    return moved


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "rows apart": _rows_apart,
    "columns apart": _columns_apart,
    "every second column": _every_second_column,
    "every second row": _every_second_row,
    "slice of three dimensions": _slice_of_three_dimensions,
    "rows backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "columns backwards": lambda x: np.ascontiguousarray(x[..., ::-1])[..., ::-1],
    "unaligned": _unaligned,
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder("S")),
}


def whole_of(part: Array) -> Array:
    """The array that a slice was taken of."""
    while isinstance(part.base, np.ndarray):
        part = part.base
    return part

"""What becomes a matrix: every format and type of SciPy's, borrowed where it can be."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
from arrays import dense_of, random_csr, untidy_csr, whole_numbers
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, bool])
def test_every_format_of_scipys(format: str, kind: str, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    dense = random_csr(rng, 8, 6).toarray().astype(dtype)
    of_kind = sp.csr_array(dense) if kind == "array" else sp.csr_matrix(dense)
    a = ordito.csr(of_kind.asformat(format))
    assert a.shape == (8, 6) and a.dtype == (np.float32 if dtype is np.float32 else np.float64)
    x = whole_numbers(rng, (6, 3), np.float32)
    assert_array_equal(a @ x, dense.astype(a.dtype) @ x)
    assert_array_equal(a.T @ np.ones(8), dense.astype(a.dtype).T @ np.ones(8))
    assert_array_equal(a.to_scipy().toarray(), dense)


@given(
    rows=st.integers(1, 10),
    cols=st.integers(1, 10),
    entries=st.integers(0, 40),
    seed=st.integers(0, 2**32 - 1),
)
@pytest.mark.parametrize("of_indptr, of_indices", list(itertools.product(["i4", "i8", "u4", "i2", ">i4"], repeat=2)))
def test_every_mixture_of_index_types(of_indptr: str, of_indices: str, rows: int, cols: int, entries: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data, indices, indptr = untidy_csr(rng, rows, cols, entries)
    a = ordito.csr((data, indices.astype(of_indices), indptr.astype(of_indptr)), shape=(rows, cols))
    dense = dense_of(data, indices, indptr, (rows, cols))
    x = whole_numbers(rng, (cols, 3))
    assert_array_equal(a @ x, dense @ x)
    assert_array_equal(x.T @ a.T, x.T @ dense.T)
    assert_array_equal(a.to_scipy().toarray(), dense)


@pytest.mark.parametrize("of_indptr, of_indices", list(itertools.product(["i4", "i8"], repeat=2)))
def test_csc_of_every_index_type(of_indptr: str, of_indices: str) -> None:
    rng = np.random.default_rng(1)
    data, indices, indptr = untidy_csr(rng, 7, 5, 30)  # of the transposed: 7 columns
    by_columns = sp.csc_array((5, 7))
    by_columns.data, by_columns.indices, by_columns.indptr = data, indices.astype(of_indices), indptr.astype(of_indptr)
    a = ordito.csr(by_columns)
    assert "sorted from columns to rows" in a.copied
    assert_array_equal(a.to_scipy().toarray(), dense_of(data, indices, indptr, (7, 5)).T)


@given(shape=st.tuples(st.integers(1, 9), st.integers(1, 9)), entries=st.integers(1, 40), seed=st.integers(0, 2**32 - 1))
def test_a_tuple_is_taken_as_scipy_takes_it(shape: tuple[int, int], entries: int, seed: int) -> None:
    data, indices, indptr = untidy_csr(np.random.default_rng(seed), *shape, entries)
    theirs, ours = sp.csr_array((data, indices, indptr)), ordito.csr((data, indices, indptr))
    assert ours.shape == theirs.shape
    assert_array_equal(ours @ np.ones(ours.shape[1]), theirs @ np.ones(ours.shape[1]))


def test_lists_make_a_tuple_too() -> None:
    a = ordito.csr(([1.0, 2.0], [1, 0], [0, 1, 2]))
    assert_array_equal(a @ np.array([10.0, 20.0]), [20.0, 20.0])


# --- what is borrowed, and what is copied ---


def test_arrays_that_fit_are_borrowed() -> None:
    s = random_csr(np.random.default_rng(2), 6, 5)
    a = ordito.csr((s.data, s.indices.astype(np.int32), s.indptr.astype(np.int64)), shape=s.shape)
    assert a.copied == ""
    assert np.shares_memory(a.to_scipy().data, s.data)
    assert a.nbytes == 0


@pytest.mark.parametrize(
    "of_indptr, of_indices, copied",
    [
        ("i4", "i4", "indptr widened to 64 bits"),
        ("i8", "i4", ""),
        ("i8", "i8", "indices narrowed to 32 bits"),
        ("i4", "i8", "indptr widened to 64 bits, indices narrowed to 32 bits"),
        ("u4", "i4", "indptr converted from uint32"),
        ("i8", "i2", "indices converted from int16, indices narrowed to 32 bits"),
    ],
)
def test_what_is_converted_is_told(of_indptr: str, of_indices: str, copied: str) -> None:
    s = random_csr(np.random.default_rng(3), 6, 5)
    a = ordito.csr((s.data, s.indices.astype(of_indices), s.indptr.astype(of_indptr)), shape=s.shape)
    assert a.copied == copied
    assert (a.nbytes > 0) == ("widened" in copied or "narrowed" in copied)


@pytest.mark.parametrize(
    "format, copied",
    [("coo", "converted from COO"), ("lil", "converted from LIL"), ("csc", "sorted from columns to rows")],
)
def test_conversions_of_formats_are_told(format: str, copied: str) -> None:
    assert copied in ordito.csr(random_csr(np.random.default_rng(4), 6, 5).asformat(format)).copied


def test_a_copy_does_not_follow_changes() -> None:
    s = random_csr(np.random.default_rng(5), 6, 5)
    before = s @ np.ones(5)
    a = ordito.csr(s, copy=True)
    assert "copied as asked" in a.copied
    s.data[:] = 0
    s.indices[:] = 0
    assert_array_equal(a @ np.ones(5), before)


def test_nothing_that_is_borrowed_is_written() -> None:
    s = random_csr(np.random.default_rng(6), 60, 50)
    for array in (s.data, s.indices, s.indptr):
        array.flags.writeable = False
    a = ordito.csr(s)
    for columns in (1, 4, 40):
        x = whole_numbers(np.random.default_rng(7), (50, columns))
        assert_array_equal(a @ x, s @ x)
    a.update_values(2 * s.data)
    assert_array_equal(a @ np.ones(50), 2 * (s @ np.ones(50)))
    a.update_values(s.data)
    assert_array_equal(a @ np.ones(50), s @ np.ones(50))


def test_arrays_outlive_the_matrix_that_lent_them() -> None:
    s = random_csr(np.random.default_rng(8), 60, 50)
    expected = s @ np.ones(50)
    a = ordito.csr(s)
    del s
    noise = [np.full(5000, 7.0) for _ in range(50)]  # takes the memory, if it was given back
    assert_array_equal(a @ np.ones(50), expected)
    assert len(noise) == 50


def test_slices_and_strides_of_arrays_are_brought_in_line() -> None:
    s = random_csr(np.random.default_rng(9), 6, 5)
    pairs = np.column_stack([s.data, np.full_like(s.data, np.nan)])
    backwards = s.indices[::-1].copy()[::-1]
    a = ordito.csr((pairs[:, 0], backwards, s.indptr), shape=s.shape)
    assert_array_equal(a @ np.ones(5), s @ np.ones(5))


def test_a_part_of_a_matrix() -> None:
    s = random_csr(np.random.default_rng(10), 60, 50)
    for part in (s[10:20], s[:, 5:9], s[::3, ::-1], s[[4, 2, 4]]):
        assert_array_equal(ordito.csr(part) @ np.ones(part.shape[1]), part @ np.ones(part.shape[1]))


# --- precision ---


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("of_source", [np.float32, np.float64, np.int64, bool])
def test_a_precision_can_be_asked_for(dtype: Any, of_source: Any) -> None:
    s = random_csr(np.random.default_rng(11), 6, 5).astype(of_source)
    a = ordito.csr(s, dtype=dtype)
    assert a.dtype == dtype
    y = a @ np.ones(5, dtype)
    assert y.dtype == dtype
    assert_array_equal(y, s.astype(dtype) @ np.ones(5, dtype))


def test_the_greatest_index_says_how_many_columns_there_are() -> None:
    assert ordito.csr((np.ones(2), np.array([0, 6]), np.array([0, 1, 2, 2]))).shape == (3, 7)
    assert ordito.csr((np.ones(0), np.zeros(0, int), np.array([0, 0]))).shape == (1, 0)

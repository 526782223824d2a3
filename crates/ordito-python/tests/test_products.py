"""A @ X, A.T @ X, X @ A and X @ A.T are what NumPy and SciPy make of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
from arrays import SIDES, dense_of, multiplied, random_csr, shape_of_x, untidy_csr, whole_numbers
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

FLOATS = [np.float32, np.float64]


@given(
    rows=st.integers(1, 30),
    cols=st.integers(1, 30),
    entries=st.integers(0, 120),
    columns=st.none() | st.integers(1, 40),
    dtype=st.sampled_from(FLOATS),
    side=st.sampled_from(list(SIDES)),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_product_is_exact_for_whole_numbers(
    rows: int, cols: int, entries: int, columns: int | None, dtype: Any, side: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    data, indices, indptr = untidy_csr(rng, rows, cols, entries, dtype)
    a = ordito.csr((data, indices, indptr), shape=(rows, cols))
    x = whole_numbers(rng, shape_of_x((rows, cols), columns, side), dtype)
    y = multiplied(a, x, side)
    assert y.dtype == dtype
    assert_array_equal(y, multiplied(dense_of(data, indices, indptr, (rows, cols)), x, side))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("columns", [None, 1, 2, 3, 4, 7, 8, 16, 17, 32, 33, 64, 100, 128])
def test_kernels_for_many_columns_agree_with_scipy(columns: int | None, dtype: Any, side: str) -> None:
    rng = np.random.default_rng(3)
    s = sp.random_array((300, 200), density=0.05, format="csr", dtype=dtype, rng=rng)
    x = rng.standard_normal(shape_of_x(s.shape, columns, side)).astype(dtype)
    found, expected = multiplied(ordito.csr(s), x, side), multiplied(s, x, side)
    # Each element is a sum of about ten products: their rounding errors, and no more.
    scale = multiplied(abs(s), abs(x), side)
    error = np.abs(found - expected)
    assert found.shape == expected.shape and found.dtype == dtype
    assert np.all(error <= 32 * np.finfo(dtype).eps * scale)


@pytest.mark.parametrize("name", ["stencil27:9", "powerlaw:3000x8", "band:700x40", "blocks:90x4x6", "diagonal:500"])
@pytest.mark.parametrize("columns", [1, 8, 33])
def test_matrices_of_many_kinds_agree_with_scipy(name: str, columns: int) -> None:
    a = ordito.read(name)
    s = a.to_scipy()
    x = whole_numbers(np.random.default_rng(0), (s.shape[1], columns))
    np.testing.assert_allclose(a @ x, s @ x, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(a.T @ (s @ x), s.T @ (s @ x), rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("of_x", ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "c8", "c16"])
@pytest.mark.parametrize("of_a", FLOATS)
@pytest.mark.parametrize("columns", [None, 3])
def test_types_of_x_follow_numpys_rules(of_a: Any, of_x: str, side: str, columns: int | None) -> None:
    rng = np.random.default_rng(1)
    s = random_csr(rng, 7, 5, 0.5, of_a)
    shape = shape_of_x(s.shape, columns, side)
    x = (whole_numbers(rng, shape) + 1j * whole_numbers(rng, shape)).astype(of_x) if of_x[0] == "c" else (
        rng.integers(0, 9, shape).astype(of_x)
    )
    y = multiplied(ordito.csr(s), x, side)
    expected = multiplied(s.toarray(), x, side)
    assert_array_equal(y, expected, strict=True)


@pytest.mark.parametrize("of_a", ["f2", "i1", "i2", "i4", "i8", "u1", "u4", "u8", "?"])
def test_matrices_of_other_types_are_computed_in_float64(of_a: str) -> None:
    rng = np.random.default_rng(2)
    dense = rng.integers(0, 5, (6, 4)).astype(of_a)
    by_rows = sp.csr_array(dense.astype(float))
    a = ordito.csr((by_rows.data.astype(of_a), by_rows.indices, by_rows.indptr), shape=(6, 4))
    assert a.dtype == np.float64 and "data converted from" in a.copied
    x = whole_numbers(rng, (4, 3))
    assert_array_equal(a @ x, dense.astype(float) @ x)


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_other_byte_order_keeps_the_precision(dtype: Any) -> None:
    s = random_csr(np.random.default_rng(2), 6, 4, 0.5, dtype)
    swapped = s.data.astype(s.dtype.newbyteorder("S"))
    a = ordito.csr((swapped, s.indices.astype(">i4"), s.indptr.astype(">i8")), shape=s.shape)
    assert a.dtype == dtype
    assert_array_equal(a @ np.ones(4, dtype), s @ np.ones(4, dtype))


# --- nothing in it ---

#: A block of zero elements gets a distance between its lines that asks for some.
@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0), (1, 0), (0, 1), (3, 5)])
@pytest.mark.parametrize("side", SIDES)
def test_a_vector_times_nothing_is_zero(shape: tuple[int, int], side: str) -> None:
    a = ordito.csr(sp.csr_array(shape))
    x = np.ones(shape_of_x(shape, None, side))
    assert_array_equal(multiplied(a, x, side), multiplied(np.zeros(shape), x, side), strict=True)


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0), (1, 0), (0, 1)])
@pytest.mark.parametrize("side", SIDES)
def test_a_block_times_nothing_is_zero(shape: tuple[int, int], side: str) -> None:
    a = ordito.csr(sp.csr_array(shape))
    x = np.ones(shape_of_x(shape, 3, side))
    assert_array_equal(multiplied(a, x, side), multiplied(np.zeros(shape), x, side), strict=True)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_no_columns_give_no_columns(side: str, dtype: Any) -> None:
    s = random_csr(np.random.default_rng(0), 4, 3, 0.5, np.float32)
    x = np.ones(shape_of_x(s.shape, 0, side), dtype)
    assert_array_equal(multiplied(ordito.csr(s), x, side), multiplied(s.toarray(), x, side), strict=True)


def test_a_matrix_without_entries_gives_zeros() -> None:
    a = ordito.csr(sp.csr_array((3, 5)))
    assert a.nnz == 0
    assert_array_equal(a @ np.ones((5, 2)), np.zeros((3, 2)))
    assert_array_equal(np.ones((2, 3)) @ a, np.zeros((2, 5)))


# --- numbers that are not finite ---


def test_nan_and_infinity_of_x_reach_the_rows_that_read_them() -> None:
    a = ordito.csr(sp.csr_array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]]))
    y = a @ np.array([[np.nan, np.inf, 1.0], [1.0, 2.0, -np.inf]])
    assert_array_equal(y, [[np.nan, np.inf, 1.0], [2.0, 4.0, -np.inf], [np.nan, np.inf, -np.inf]])


def test_stored_zeros_take_part() -> None:
    """As in SciPy: an entry that is zero is still an entry."""
    a = ordito.csr((np.array([0.0]), np.array([1]), np.array([0, 1])), shape=(1, 2))
    assert a.nnz == 1
    assert np.isnan((a @ np.array([1.0, np.inf]))[0])


# --- the same bits ---


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("columns", [None, 4, 8, 33])
@pytest.mark.parametrize("dtype", FLOATS)
def test_bits_depend_neither_on_threads_nor_on_the_run(side: str, columns: int | None, dtype: Any) -> None:
    rng = np.random.default_rng(5)
    s = sp.random_array((3000, 2500), density=0.004, format="csr", dtype=dtype, rng=rng)
    x = rng.standard_normal(shape_of_x(s.shape, columns, side)).astype(dtype)
    first = multiplied(ordito.csr(s, threads=1), x, side)
    for threads in (1, 2, 3):
        a = ordito.csr(s, threads=threads)
        for _ in range(3):
            assert multiplied(a, x, side).tobytes() == first.tobytes()


def test_bits_do_not_depend_on_earlier_products() -> None:
    rng = np.random.default_rng(6)
    s = sp.random_array((2000, 2000), density=0.005, format="csr", rng=rng)
    x = rng.standard_normal((2000, 8))
    fresh, used = ordito.csr(s), ordito.csr(s)
    for columns in (1, 2, 5, 16, 64):
        used @ np.ones((2000, columns))
        used.T @ np.ones((2000, columns))
    assert (used @ x).tobytes() == (fresh @ x).tobytes()


@pytest.mark.parametrize("order", ["C", "F"])
def test_bits_do_not_depend_on_how_x_lies(order: Any) -> None:
    rng = np.random.default_rng(7)
    s = sp.random_array((2000, 1500), density=0.005, format="csr", rng=rng)
    x = rng.standard_normal((1500, 8))
    a = ordito.csr(s)
    assert_array_equal(a @ np.asarray(x, order=order), a @ x)


# --- other ways to say it ---


def test_matmul_rmatmul_and_dot_are_the_operators() -> None:
    rng = np.random.default_rng(8)
    s = random_csr(rng, 6, 4)
    a, x, left = ordito.csr(s), whole_numbers(rng, (4, 3)), whole_numbers(rng, (2, 6))
    assert_array_equal(a.matmul(x), s @ x)
    assert_array_equal(a.matmul(x, alpha=-2.0), -2 * (s @ x))
    assert_array_equal(a.rmatmul(left), left @ s)
    assert_array_equal(a.rmatmul(left[0], alpha=3.0), 3 * (left[0] @ s))
    assert_array_equal(a.dot(x), s @ x)


def test_alpha_zero_reads_nothing() -> None:
    a = ordito.csr(sp.csr_array([[np.nan, 1.0], [np.inf, 0.0]]))
    assert_array_equal(a.matmul(np.full((2, 3), np.nan), alpha=0.0), np.zeros((2, 3)))
    assert_array_equal(a.matmul(np.full(2, np.nan + 0j), alpha=0.0), np.zeros(2))


def test_subclasses_of_arrays_are_arrays() -> None:
    class Special(np.ndarray[Any, Any]):
        pass

    s = random_csr(np.random.default_rng(0), 3, 2, 0.9)
    y = ordito.csr(s) @ np.ones((2, 1)).view(Special)
    assert type(y) is np.ndarray
    assert_array_equal(y, s @ np.ones((2, 1)))


@pytest.mark.parametrize("columns", [1, 3, 40])
def test_a_kernel_can_be_asked_for_by_name(columns: int) -> None:
    rng = np.random.default_rng(9)
    s = random_csr(rng, 50, 40)
    chosen = ordito.csr(s).prepare(columns).kernel
    a = ordito.csr(s, variant=chosen)
    x = whole_numbers(rng, (40, 12))
    assert_array_equal(a @ x, s @ x)
    assert a.prepare(12).kernel == chosen

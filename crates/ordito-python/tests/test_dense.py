"""gemm and column_stats against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
from arrays import LAYOUTS, whole_numbers, whole_of
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

# --- gemm ---


@given(
    sizes=st.tuples(st.integers(1, 20), st.integers(1, 20), st.integers(1, 20)),
    layouts=st.tuples(*[st.sampled_from(list(LAYOUTS))] * 3),
    dtype=st.sampled_from([np.float32, np.float64]),
    alpha=st.sampled_from([1.0, 0.0, -2.0]),
    beta=st.sampled_from([0.0, 1.0, 3.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_gemm_is_exact_for_whole_numbers_in_any_layout(
    sizes: tuple[int, int, int], layouts: tuple[str, str, str], dtype: Any, alpha: float, beta: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows, inner, cols = sizes
    a, b = whole_numbers(rng, (rows, inner), dtype), whole_numbers(rng, (inner, cols), dtype)
    old = whole_numbers(rng, (rows, cols), dtype)
    a_lying, b_lying, out = (LAYOUTS[name](x) for name, x in zip(layouts, (a, b, old.copy())))
    assert_array_equal(ordito.gemm(a_lying, b_lying, alpha=alpha), alpha * (a @ b))
    gaps = 0 if layouts[2] == "unaligned" else np.isnan(whole_of(out)).sum()
    assert ordito.gemm(a_lying, b_lying, out, alpha=alpha, beta=beta) is out
    assert_array_equal(out, alpha * (a @ b) + beta * old)
    assert gaps == (0 if layouts[2] == "unaligned" else np.isnan(whole_of(out)).sum()), "only out was written"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", [(300, 200, 100), (1, 500, 1), (700, 3, 5), (4, 900, 700)])
def test_gemm_agrees_with_numpy(sizes: tuple[int, int, int], dtype: Any) -> None:
    rng = np.random.default_rng(1)
    rows, inner, cols = sizes
    a = rng.standard_normal((rows, inner)).astype(dtype)
    b = rng.standard_normal((inner, cols)).astype(dtype)
    found = ordito.gemm(a, b)
    error = np.abs(found - a.astype(np.float64) @ b.astype(np.float64))
    assert found.dtype == dtype
    assert np.all(error <= inner * np.finfo(dtype).eps * (np.abs(a) @ np.abs(b)))


@pytest.mark.parametrize("of_a", ["f2", "f4", "f8", "i4", "?", ">f4"])
@pytest.mark.parametrize("of_b", ["f4", "f8", "u1"])
def test_gemm_computes_in_the_wider_type(of_a: str, of_b: str) -> None:
    a, b = np.ones((3, 4), of_a), np.full((4, 2), 2, of_b)
    narrow = np.dtype(of_a).newbyteorder("=") == np.dtype(of_b) == np.float32
    found = ordito.gemm(a, b)
    assert found.dtype == (np.float32 if narrow else np.float64)
    assert_array_equal(found, np.full((3, 2), 8.0))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("beta", [0.0, 2.0])
def test_gemm_over_its_own_factors(order: Any, beta: float) -> None:
    rng = np.random.default_rng(2)
    b = whole_numbers(rng, (5, 5))
    a = np.asarray(whole_numbers(rng, (5, 5)), order=order)
    expected = a @ b + beta * a
    assert ordito.gemm(a, b, a, beta=beta) is a
    assert_array_equal(a, expected)
    w = np.asarray(whole_numbers(rng, (4, 8)), order=order)
    expected = w[:, :4] @ w[:, :4] + beta * w[:, 4:]
    ordito.gemm(w[:, :4], w[:, :4], w[:, 4:], beta=beta)
    assert_array_equal(w[:, 4:], expected)


def test_gemm_reads_only_what_takes_part() -> None:
    nan = np.full((3, 3), np.nan)
    assert_array_equal(ordito.gemm(np.eye(3), np.eye(3), nan.copy()), np.eye(3))
    assert_array_equal(ordito.gemm(nan, nan, np.eye(3), alpha=0.0, beta=2.0), 2 * np.eye(3))


@pytest.mark.parametrize("of_out", ["f2", "f4", "f8", "c8", ">f8"])
@pytest.mark.parametrize("beta", [0.0, 3.0])
def test_gemm_into_another_type(of_out: str, beta: float) -> None:
    rng = np.random.default_rng(3)
    a, b = whole_numbers(rng, (4, 3), np.float32), whole_numbers(rng, (3, 2), np.float32)
    old = whole_numbers(rng, (4, 2)).astype(of_out)
    out = old.copy()
    assert ordito.gemm(a, b, out, beta=beta) is out
    assert_array_equal(out, a @ b + beta * old)


def test_gemm_has_the_same_bits_in_every_run() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((300, 250)), rng.standard_normal((250, 170))
    first = ordito.gemm(a, b).tobytes()
    assert all(ordito.gemm(a, b).tobytes() == first for _ in range(5))


#: A block of zero elements gets a distance between its lines that asks for some.
@pytest.mark.parametrize("sizes", [(3, 0, 2), (0, 3, 2), (0, 0, 2), (3, 0, 0), (2, 3, 0)])
def test_gemm_of_nothing(sizes: tuple[int, int, int]) -> None:
    rows, inner, cols = sizes
    found = ordito.gemm(np.ones((rows, inner)), np.ones((inner, cols)))
    assert_array_equal(found, np.zeros((rows, cols)), strict=True)


def test_gemm_of_nothing_keeps_out() -> None:
    out = np.ones((3, 2))
    ordito.gemm(np.ones((3, 0)), np.ones((0, 2)), out, beta=2.0)
    assert_array_equal(out, np.full((3, 2), 2.0))


def read_only(shape: tuple[int, ...]) -> Any:
    array = np.zeros(shape)
    array.flags.writeable = False
    return array


GEMM_IS_WRONG: dict[str, Any] = {
    "list": (([[1.0]], np.eye(1)), {}, TypeError, r"a is a list: make it an array first, numpy\.asarray\(a\)"),
    "tuple": ((np.eye(1), ((1.0,),)), {}, TypeError, r"b is a tuple: make it an array first"),
    "sparse": ((sp.csr_array(np.eye(2)), np.eye(2)), {}, TypeError, r"a is sparse: ordito\.csr\(a\) multiplies such matrices"),
    "vector": ((np.ones(2), np.eye(2)), {}, ValueError, "a has 1 dimensions; two expected"),
    "number": ((np.eye(2), 3.0), {}, ValueError, "b has 0 dimensions; two expected"),
    "shapes": ((np.ones((2, 3)), np.ones((2, 3))), {}, ValueError, "a is 2×3, so that b must have 3 rows; it has 2"),
    "complex": ((np.eye(2), 1j * np.eye(2)), {}, TypeError, "b is complex128; float32 or float64 expected"),
    "objects": ((np.eye(2).astype(object), np.eye(2)), {}, TypeError, "a is object; float32 or float64 expected"),
    "long": ((np.eye(2, dtype="g"), np.eye(2)), {}, TypeError, r"a is \w+; float32 or float64 expected"),
    "beta alone": ((np.eye(2), np.eye(2)), {"beta": 1.0}, ValueError, "beta is not 0: out must say"),
    "out of lists": ((np.eye(2), np.eye(2), [[0.0]]), {}, TypeError, "out is a list; an array expected"),
    "out too large": ((np.eye(2), np.eye(2), np.zeros((3, 3))), {}, ValueError, r"out has the shape \(3, 3\); \(2, 2\) expected"),
    "out of whole numbers": ((np.eye(2), np.eye(2), np.zeros((2, 2), int)), {}, TypeError, "cannot be written to out, which is int64"),
    "out read-only": ((np.eye(2), np.eye(2), read_only((2, 2))), {}, ValueError, "out is read-only"),
    "alpha as text": ((np.eye(2), np.eye(2)), {"alpha": "1"}, TypeError, "must be real number"),
}


@pytest.mark.parametrize("case", GEMM_IS_WRONG)
def test_gemm_refuses(case: str) -> None:
    arguments, options, error, text = GEMM_IS_WRONG[case]
    with pytest.raises(error, match=text):
        ordito.gemm(*arguments, **options)


# --- column_stats ---


def assert_statistics(found: ordito.ColumnStats, x: Any, axis: int = 0, rtol: float = 1e-12) -> None:
    x = np.asarray(x, dtype=np.float64)
    assert found.count == x.shape[axis]
    assert_allclose(found.mean, x.mean(axis), rtol=rtol, atol=rtol * np.abs(x).max())
    if x.shape[axis] > 1:
        assert_allclose(found.variance, x.var(axis, ddof=1), rtol=rtol, atol=rtol**2 * np.abs(x).max() ** 2)
        assert_allclose(found.std, np.sqrt(found.variance), rtol=1e-15)
        assert_allclose(found.sem, np.sqrt(found.variance / found.count), rtol=1e-15)
    assert_array_equal(found.min, x.min(axis))
    assert_array_equal(found.max, x.max(axis))
    assert {array.dtype for array in found[1:]} == {np.dtype(np.float64)}


@given(
    shape=st.tuples(st.integers(1, 30), st.integers(1, 12)),
    layout=st.sampled_from(list(LAYOUTS)),
    dtype=st.sampled_from([np.float16, np.float32, np.float64]),
    axis=st.sampled_from([0, 1, -1, -2]),
    threads=st.sampled_from([None, 1, 2, 3]),
    seed=st.integers(0, 2**32 - 1),
)
def test_statistics_in_any_layout(
    shape: tuple[int, int], layout: str, dtype: Any, axis: int, threads: int | None, seed: int
) -> None:
    x = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    assert_statistics(ordito.column_stats(LAYOUTS[layout](x), axis, threads=threads), x, axis)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_statistics_along_any_axis_of_three(axis: int) -> None:
    x = np.random.default_rng(0).standard_normal((7, 5, 6))
    found = ordito.column_stats(x, axis)
    assert_statistics(found, x, axis)
    assert found.mean.shape == x.mean(axis).shape


@pytest.mark.parametrize("dtype", ["i2", "u1", "?", ">f4"])
def test_statistics_of_other_numbers(dtype: str) -> None:
    x = np.random.default_rng(1).integers(0, 2, (9, 4)).astype(dtype)
    assert_statistics(ordito.column_stats(x), x)


def test_statistics_of_lists_and_vectors() -> None:
    found = ordito.column_stats([[1.0, 2.0], [3.0, 6.0]])
    assert_array_equal(found.mean, [2.0, 4.0])
    assert_array_equal(found.variance, [2.0, 8.0])
    of_vector = ordito.column_stats(np.array([1.0, 2.0, 6.0]))
    assert (of_vector.count, float(of_vector.mean), float(of_vector.variance)) == (3, 3.0, 7.0)
    assert of_vector.mean.shape == ()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_offset_costs_no_digits(dtype: Any) -> None:
    """Sums of squares would lose the signal in the offset's."""
    signal = np.random.default_rng(2).integers(-4, 5, (1000, 3)).astype(np.float64)
    offset = 2.0**20 if dtype is np.float32 else 2.0**45
    found = ordito.column_stats((signal + offset).astype(dtype))
    assert_allclose(found.variance, signal.var(axis=0, ddof=1), rtol=1e-6)
    assert_allclose(found.mean - offset, signal.mean(axis=0), atol=1e-2 if dtype is np.float64 else 1e-6)


def test_a_single_row_has_no_variance() -> None:
    found = ordito.column_stats(np.array([[1.0, -2.0]]))
    assert found.count == 1
    assert_array_equal(found.mean, [1.0, -2.0])
    assert_array_equal(found.variance, [np.nan, np.nan])
    assert_array_equal(found.min, found.max)


def test_nan_stays_in_its_column() -> None:
    x = np.ones((5, 3))
    x[2, 1] = np.nan
    found = ordito.column_stats(x)
    for statistic in found[1:]:
        assert_array_equal(np.isnan(statistic), [False, True, False])


def test_infinity_is_the_greatest() -> None:
    found = ordito.column_stats(np.array([[1.0, 1.0], [np.inf, -np.inf], [0.0, 0.0]]))
    assert_array_equal(found.max, [np.inf, 1.0])
    assert_array_equal(found.min, [0.0, -np.inf])


def test_many_rows_and_threads_have_the_same_bits() -> None:
    x = np.random.default_rng(3).standard_normal((20_000, 40)).astype(np.float32)
    first = np.array(ordito.column_stats(x, threads=1)[1:]).tobytes()
    for threads in (1, 2, 3):
        assert np.array(ordito.column_stats(x, threads=threads)[1:]).tobytes() == first
    assert_statistics(ordito.column_stats(x), x, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(6,), (6, 4), (6, 4, 3)])
def test_statistics_into_an_array(shape: tuple[int, ...], dtype: Any) -> None:
    x = np.random.default_rng(4).standard_normal(shape)
    out = np.full((4, *shape[1:]), np.nan, dtype)
    found = ordito.column_stats(x, out=out)
    assert_allclose(out, [x.mean(0), x.var(0, ddof=1), x.min(0), x.max(0)], rtol=1e-6)
    assert_array_equal(out, np.array(found[1:]))


def test_no_columns_have_no_statistics() -> None:
    found = ordito.column_stats(np.ones((5, 0)))
    assert found.count == 5 and found.mean.shape == (0,)


STATS_ARE_WRONG: dict[str, Any] = {
    "no row": ((np.ones((0, 3)),), {}, ValueError, r"x has the shape \(0, 3\): nothing lies along axis 0; one row at least"),
    "no row along the last axis": ((np.ones((3, 0)), 1), {}, ValueError, "nothing lies along axis 1"),
    "number": ((3.0,), {}, ValueError, "a number has no columns; an array expected"),
    "axis": ((np.ones((2, 2)), 2), {}, ValueError, "axis 2 is out of bounds for an array of 2 dimensions"),
    "axis below": ((np.ones(2), -2), {}, ValueError, "axis -2 is out of bounds for an array of 1 dimensions"),
    "half an axis": ((np.ones((2, 2)), 0.5), {}, TypeError, r"axis=0\.5: a whole number expected"),
    "complex": ((np.ones((2, 2), complex),), {}, TypeError, "x is complex128; float32 or float64 expected"),
    "text": ((np.array(["a"]),), {}, TypeError, "x is <U1; float32 or float64 expected"),
    "out of lists": ((np.ones((2, 2)),), {"out": [0.0]}, TypeError, "out is a list; an array expected"),
    "out of another shape": ((np.ones((2, 2)),), {"out": np.ones((2, 2))}, ValueError, r"\(4, 2\) expected"),
    "out of whole numbers": ((np.ones((2, 2)),), {"out": np.ones((4, 2), int)}, TypeError, "cannot be written to out"),
    "out read-only": ((np.ones((2, 2)),), {"out": read_only((4, 2))}, ValueError, "out is read-only"),
    "threads": ((np.ones((2, 2)),), {"threads": 0}, ValueError, "threads=0: a number from 1 on expected"),
    "device": ((np.ones((2, 2)),), {"device": "tpu"}, ValueError, '"cpu", "cuda" or "cuda:1" expected'),
}


@pytest.mark.parametrize("case", STATS_ARE_WRONG)
def test_statistics_refuse(case: str) -> None:
    arguments, options, error, text = STATS_ARE_WRONG[case]
    with pytest.raises(error, match=text):
        ordito.column_stats(*arguments, **options)

"""matmul(x, out, alpha, beta) writes into what it is given, and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
from arrays import LAYOUTS, SIDES, Array, multiplied, random_csr, shape_of_x, whole_numbers, whole_of
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal


def into(a: Any, x: Array, out: Array, side: str, alpha: float, beta: float) -> Any:
    transposed, from_left = SIDES[side]
    a = a.T if transposed else a
    return (a.rmatmul if from_left else a.matmul)(x, out, alpha=alpha, beta=beta)


@given(
    shape=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    columns=st.none() | st.integers(1, 12),
    layout_of_x=st.sampled_from(list(LAYOUTS)),
    dtype=st.sampled_from([np.float32, np.float64, np.complex64]),
    alpha=st.sampled_from([1.0, 0.0, -2.0]),
    beta=st.sampled_from([1.0, 0.0, 3.0]),
    seed=st.integers(0, 2**32 - 1),
)
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_out_may_lie_anyhow(
    layout: str,
    side: str,
    shape: tuple[int, int],
    columns: int | None,
    layout_of_x: str,
    dtype: Any,
    alpha: float,
    beta: float,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    s = random_csr(rng, *shape, dtype=np.float32)
    x = whole_numbers(rng, shape_of_x(shape, columns, side), dtype)
    product = multiplied(s.toarray(), x, side)
    old = whole_numbers(rng, product.shape, product.dtype)
    out = LAYOUTS[layout](old.copy())
    gaps = np.isnan(whole_of(out)).sum() if layout != "unaligned" else 0
    assert into(ordito.csr(s), LAYOUTS[layout_of_x](x), out, side, alpha, beta) is out
    assert_array_equal(out, alpha * product + beta * old)
    assert gaps == (np.isnan(whole_of(out)).sum() if layout != "unaligned" else 0), "only out was written"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("side", SIDES)
def test_beta_zero_reads_nothing_of_out(layout: str, side: str) -> None:
    s = random_csr(np.random.default_rng(0), 9, 7)
    x = whole_numbers(np.random.default_rng(1), shape_of_x(s.shape, 4, side))
    product = multiplied(s, x, side)
    out = LAYOUTS[layout](np.full(product.shape, np.nan))
    into(ordito.csr(s), x, out, side, 2.0, 0.0)
    assert_array_equal(out, 2 * product)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.int32])
def test_alpha_zero_reads_nothing_of_x(dtype: Any) -> None:
    a = ordito.csr(sp.csr_array(np.full((3, 3), np.inf)))
    x = np.zeros((3, 2), dtype)
    if dtype is not np.int32:
        x[...] = np.nan
    out = np.ones((3, 2), np.result_type(dtype, np.float64))
    a.matmul(x, out, alpha=0.0, beta=5.0)
    assert_array_equal(out, np.full((3, 2), 5.0))


# --- out where X is ---


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("beta", [0.0, 2.0])
def test_two_halves_of_one_array(order: Any, beta: float) -> None:
    """Columns of one array: their rows lie between each other."""
    rng = np.random.default_rng(2)
    s = random_csr(rng, 8, 8)
    w = np.asarray(whole_numbers(rng, (8, 4)), order=order)
    left, right = w[:, :2].copy(), w[:, 2:].copy()
    ordito.csr(s).matmul(w[:, :2], w[:, 2:], beta=beta)
    assert_array_equal(w[:, :2], left)
    assert_array_equal(w[:, 2:], s @ left + beta * right)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_out_is_x(order: Any, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    s = random_csr(rng, 8, 8, dtype=np.float32)
    x = np.asarray(whole_numbers(rng, (8, 3), dtype), order=order)
    expected = s @ x + 2 * x
    a = ordito.csr(s)
    assert a.matmul(x, x, beta=2.0) is x
    assert_array_equal(x, expected)
    vector = x[:, 0].copy()
    a.rmatmul(vector, vector)
    assert_array_equal(vector, expected[:, 0] @ s)


@pytest.mark.parametrize("shift", [-2, -1, 1, 2])
def test_out_is_x_a_little_farther(shift: int) -> None:
    rng = np.random.default_rng(4)
    s = random_csr(rng, 6, 6)
    memory = whole_numbers(rng, 40)
    x, out = memory[4:10], memory[4 + shift : 10 + shift]
    expected = s @ x
    ordito.csr(s).matmul(x, out)
    assert_array_equal(out, expected)


def test_out_is_x_transposed() -> None:
    rng = np.random.default_rng(5)
    s = random_csr(rng, 5, 5)
    x = whole_numbers(rng, (5, 5))
    expected = s @ x
    ordito.csr(s).matmul(x, x.T)
    assert_array_equal(x.T, expected)


# --- types of out ---


@pytest.mark.parametrize("of_out", ["f2", "f4", "f8", "g", "c8", "c16", ">f8", ">f4"])
@pytest.mark.parametrize("of_a", [np.float32, np.float64])
@pytest.mark.parametrize("beta", [0.0, 3.0])
def test_out_of_another_type_is_converted_to(of_out: str, of_a: Any, beta: float) -> None:
    rng = np.random.default_rng(6)
    s = random_csr(rng, 6, 5, dtype=of_a)
    x = whole_numbers(rng, (5, 3), of_a)
    old = whole_numbers(rng, (6, 3)).astype(of_out)
    if old.dtype.kind == "c":
        old = old * (1 - 2j)
    out = old.copy()
    assert ordito.csr(s).matmul(x, out, beta=beta) is out
    assert_array_equal(out, s @ x + beta * old)


def test_a_wider_out_keeps_its_digits() -> None:
    a = ordito.csr(sp.csr_array(np.eye(2, dtype=np.float32)))
    out = np.full(2, 1.0 + 2.0**-40)
    a.matmul(np.ones(2, np.float32), out, beta=1.0)
    assert_array_equal(out, 2.0 + 2.0**-40)


def test_out_takes_what_a_wider_product_rounds_to() -> None:
    s = sp.csr_array(np.array([[1.0, 1e-9]]))
    out = np.zeros((1, 1), np.float32)
    ordito.csr(s).matmul(np.ones((2, 1)), out)
    assert out[0, 0] == np.float32(1.0 + 1e-9)


@pytest.mark.parametrize("of_x, of_out", [("f8", "i8"), ("f8", "?"), ("c16", "f8"), ("f8", "O"), ("f8", "U3")])
def test_types_that_cannot_hold_the_result_are_refused(of_x: str, of_out: str) -> None:
    a = ordito.csr(sp.csr_array(np.eye(2)))
    out = np.zeros((2, 2), of_out)
    with pytest.raises(TypeError, match=r"the result is \w+: it cannot be written to out, which is"):
        a.matmul(np.ones((2, 2), of_x), out)
    assert_array_equal(out, np.zeros((2, 2), of_out))


# --- what is no out ---


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("of_out", [np.float64, np.complex128])
def test_a_read_only_out_is_refused(dtype: Any, order: Any, of_out: Any) -> None:
    a = ordito.csr(sp.csr_array(np.eye(3, dtype=np.float32)))
    out = np.zeros((3, 2), np.complex128 if dtype is np.complex128 else of_out, order=order)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        a.matmul(np.ones((3, 2), dtype), out)
    assert not out.any()


@pytest.mark.parametrize("shape", [(3,), (3, 3), (2, 3), (3, 2, 1), (1, 3, 2), (), (0,), (3, 1), (6,)])
@pytest.mark.parametrize("of_out", ["f8", "f4", "c16"])
@pytest.mark.parametrize("of_x", ["f8", "c16"])
def test_an_out_of_another_shape_is_refused(shape: tuple[int, ...], of_out: str, of_x: str) -> None:
    """Never broadcast, never left as it was without a word."""
    a = ordito.csr(sp.csr_array(np.eye(3)))
    out = np.zeros(shape, "c16" if of_x == "c16" else of_out)
    with pytest.raises(ValueError, match=r"out has the shape .*; \(3, 2\) expected"):
        a.matmul(np.ones((3, 2), of_x), out)
    with pytest.raises(ValueError, match=r"out has the shape .*; \(4, 3\) expected"):
        a.rmatmul(np.ones((4, 3), of_x), out)


@pytest.mark.parametrize("out", [[0.0, 0.0], 5.0, "out", sp.csr_array((2, 1))])
@pytest.mark.parametrize("dtype", [np.float64, np.int8, np.complex64])
def test_an_out_that_is_no_array_is_refused(out: Any, dtype: Any) -> None:
    a = ordito.csr(sp.csr_array(np.eye(2)))
    with pytest.raises(TypeError, match=r"out is a \w+; an array expected"):
        a.matmul(np.ones(2, dtype), out)
    with pytest.raises(TypeError, match=r"out is a \w+; an array expected"):
        a.rmatmul(np.ones(2, dtype), out)


def test_beta_wants_an_out() -> None:
    a = ordito.csr(sp.csr_array(np.eye(2)))
    with pytest.raises(ValueError, match="beta is not 0: out must say what it is multiplied by"):
        a.matmul(np.ones(2), beta=1.0)

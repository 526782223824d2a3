"""What a matrix tells of itself, how it is changed, and how it is copied."""

from __future__ import annotations

import copy
import pickle
import re
import weakref
from typing import Any

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
from arrays import random_csr, whole_numbers
from numpy.testing import assert_array_equal


def matrix(rows: int = 40, cols: int = 30, dtype: Any = np.float64) -> tuple[sp.csr_array, ordito.Matrix]:
    s = random_csr(np.random.default_rng(0), rows, cols, dtype=dtype)
    return s, ordito.csr(s)


# --- what it tells ---


def test_shape_type_and_place() -> None:
    s, a = matrix(dtype=np.float32)
    assert (a.shape, a.dtype, a.nnz, a.device) == ((40, 30), np.float32, s.nnz, "cpu")
    assert (a.T.shape, a.T.nnz, a.T.T) == ((30, 40), s.nnz, a)
    assert_array_equal(a.H @ np.ones(40), s.T @ np.ones(40))


def test_memory_is_given_back_with_the_last_name() -> None:
    """Not when the collector of cycles comes by: matrices are large."""
    _, a = matrix(dtype=np.float32)
    a @ np.ones(30)
    a.T @ np.ones(40)
    gone = weakref.ref(a)
    del a
    assert gone() is None


def test_prepare_tells_what_was_chosen() -> None:
    _, a = matrix()
    choice = a.prepare(8)
    assert isinstance(choice, ordito.Choice) and choice.columns == 8
    assert choice.kernel and choice.reason and choice.seconds >= 0 and choice.bytes >= 0
    assert choice.kernel in repr(a) and choice.reason in repr(a)
    again = a.prepare(8)
    assert (again.kernel, again.reason) == (choice.kernel, choice.reason)


def test_prepared_or_not_the_bits_are_the_same() -> None:
    s, a = matrix()
    x = np.random.default_rng(1).standard_normal((30, 5))
    a.prepare(5)
    a.T.prepare(5)
    fresh = ordito.csr(s)
    assert (a @ x).tobytes() == (fresh @ x).tobytes()


def test_repr_names_shape_threads_and_kernels() -> None:
    s, _ = matrix()
    a = ordito.csr(s, threads=1)
    assert repr(a) == f"<ordito.Matrix 40×30, float64, {s.nnz} nonzeros, cpu, 1 thread>"
    a @ np.ones(30)
    assert re.search(r"\n  1 column: [\w-]+, .+>$", repr(a))
    a @ np.ones((30, 4))
    assert re.search(r"\n  4 columns: [\w-]+, .+>$", repr(a))
    assert repr(a.T).endswith("cpu, 1 thread, transposed>")
    assert "2 threads" in repr(ordito.csr(s, threads=2))


def test_bytes_grow_with_what_is_prepared() -> None:
    _, a = matrix(400, 300)
    before = a.nbytes
    prepared = a.prepare(1)
    assert prepared.bytes > 0, "one column wants a form of its own"
    assert a.nbytes >= before + prepared.bytes


# --- other precision ---


def test_astype_keeps_what_it_made() -> None:
    s, a = matrix(dtype=np.float32)
    assert a.astype(np.float32) is a
    wide = a.astype(np.float64)
    assert wide.dtype == np.float64 and a.astype("f8") is wide
    assert_array_equal(wide @ np.ones(30), s.astype(np.float64) @ np.ones(30))
    assert a.T.astype(np.float64).shape == (30, 40)
    assert_array_equal(a.T.astype(np.float64) @ np.ones(40), s.T @ np.ones(40))
    with pytest.raises(TypeError, match="float32 or float64 expected"):
        a.astype(np.int32)


@pytest.mark.parametrize("transposed", [False, True])
def test_to_scipy_is_the_same_matrix(transposed: bool) -> None:
    s, a = matrix()
    s, a = (s.T.tocsr(), a.T) if transposed else (s, a)
    back = a.to_scipy()
    assert isinstance(back, sp.csr_array)
    assert_array_equal(back.toarray(), s.toarray(), strict=True)


# --- other numbers ---


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [1, 4, 20])
def test_new_values_are_used_everywhere(dtype: Any, columns: int) -> None:
    s, a = matrix(dtype=dtype)
    x, left = whole_numbers(np.random.default_rng(2), (30, columns), dtype), np.ones((2, 40), dtype)
    for _ in range(2):  # before and after something is prepared
        new = s.copy()
        new.data = whole_numbers(np.random.default_rng(3), s.nnz, dtype)
        a.update_values(new.data)
        assert_array_equal(a @ x, new @ x)
        assert_array_equal(left @ a, left @ new)
        assert_array_equal(a.T @ left.T, new.T @ left.T)
        assert_array_equal(a @ x.astype(np.float64), new.astype(np.float64) @ x)
        assert_array_equal(a @ (1j * x), 1j * (new @ x))
        assert_array_equal(a.to_scipy().data, new.data)
        assert_array_equal(pickle.loads(pickle.dumps(a)) @ x, new @ x)


def test_new_values_have_the_bits_of_a_new_matrix() -> None:
    s, a = matrix(300, 200)
    x = np.random.default_rng(4).standard_normal((200, 8))
    a @ x
    new = s.copy()
    new.data = np.random.default_rng(5).standard_normal(s.nnz)
    a.update_values(new.data)
    assert (a @ x).tobytes() == (ordito.csr(new) @ x).tobytes()


def test_new_values_may_be_of_another_type_and_lie_anyhow() -> None:
    s, a = matrix()
    a.update_values(np.arange(2 * s.nnz, dtype=np.int32)[::2])
    assert_array_equal(a.to_scipy().data, 2.0 * np.arange(s.nnz))
    a.update_values([1.0] * s.nnz)
    assert_array_equal(a @ np.ones(30), np.diff(s.indptr))


def test_new_values_of_the_transposed_are_those_of_the_matrix() -> None:
    s, a = matrix()
    a.astype(np.float32)
    a.T.update_values(3 * s.data)
    assert_array_equal(a @ np.ones(30), 3 * (s @ np.ones(30)))
    assert_array_equal(a.astype(np.float32) @ np.ones(30, np.float32), 3 * (s @ np.ones(30)))


def test_values_that_were_given_may_be_changed_later() -> None:
    s, a = matrix(dtype=np.float32)
    values = 2 * s.data
    a.update_values(values)
    values[:] = np.nan
    assert_array_equal(a @ np.ones(30, np.float32), 2 * (s @ np.ones(30)))
    assert_array_equal(a @ np.ones(30, np.float64), 2 * (s @ np.ones(30)))
    assert_array_equal(a.to_scipy().data, 2 * s.data)


@pytest.mark.parametrize(
    "values, error, text",
    [
        (np.ones(3), ValueError, r"data has the shape \(3,\); \(\d+,\) expected"),
        (np.ones((2, 2)), ValueError, r"data has the shape \(2, 2\); \(\d+,\) expected"),
        (5.0, ValueError, r"data has the shape \(\); \(\d+,\) expected"),
        (np.ones(3, complex), TypeError, "data is complex128; float32 or float64 expected"),
        (["1", "2"], TypeError, "data is <U1; float32 or float64 expected"),
        (None, TypeError, "data is object; float32 or float64 expected"),
    ],
)
def test_values_that_do_not_fit_are_refused_and_change_nothing(values: Any, error: type[Exception], text: str) -> None:
    s, a = matrix()
    with pytest.raises(error, match=text):
        a.update_values(values)
    assert_array_equal(a @ np.ones(30), s @ np.ones(30))


# --- copies ---


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
@pytest.mark.parametrize("transposed", [False, True])
def test_copies_multiply_and_are_independent(copied: Any, transposed: bool) -> None:
    s, a = matrix()
    s, a = (s.T.tocsr(), ordito.csr(s, threads=2).T) if transposed else (s, ordito.csr(s, threads=2))
    x = whole_numbers(np.random.default_rng(6), (s.shape[1], 4))
    a @ x
    other = copied(a)
    assert other is not a and (other.shape, other.dtype) == (a.shape, a.dtype) and "2 threads" in repr(other)
    assert_array_equal(other @ x, s @ x)
    other.update_values(np.zeros(s.nnz))
    assert_array_equal(other @ x, np.zeros((s.shape[0], 4)))
    assert_array_equal(other.to_scipy().toarray(), np.zeros(s.shape))
    assert_array_equal(a @ x, s @ x)
    assert_array_equal(a.to_scipy().toarray(), s.toarray())


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_of_pickle(protocol: int) -> None:
    s, a = matrix(dtype=np.float32)
    other = pickle.loads(pickle.dumps(a, protocol))
    assert other.dtype == np.float32
    assert_array_equal(other @ np.ones(30, np.float32), s @ np.ones(30))


# --- names ---


@pytest.mark.parametrize("name, shape", [("stencil5:30", (900, 900)), ("empty:3x2", (3, 2)), ("diagonal:7", (7, 7))])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_synthetic_matrices_by_name(name: str, shape: tuple[int, int], dtype: Any) -> None:
    a = ordito.read(name, dtype=dtype)
    assert (a.shape, a.dtype) == (shape, dtype)
    np.testing.assert_allclose(a @ np.ones(shape[1], dtype), a.to_scipy() @ np.ones(shape[1], dtype), rtol=1e-5)

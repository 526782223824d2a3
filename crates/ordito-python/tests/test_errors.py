"""What is wrong is refused by a sentence that says what to do, and never by a crash."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse.linalg import aslinearoperator

S = sp.csr_array([[1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 0.0, 4.0], [5.0, 0.0, 0.0, 6.0]])
A = ordito.csr(S)
DATA, INDICES, INDPTR = S.data, S.indices, S.indptr


def csr(**changed: Any) -> ordito.Matrix:
    parts = {"data": DATA, "indices": INDICES, "indptr": INDPTR, "shape": (3, 4)} | changed
    return ordito.csr((parts["data"], parts["indices"], parts["indptr"]), shape=parts["shape"])


def changed(array: Any, place: int, value: int) -> Any:
    array = array.copy()
    array[place] = value
    return array


X_IS_WRONG: dict[str, Any] = {
    "list": ([1.0] * 4, TypeError, r"X is a list: make it an array first, numpy\.asarray\(X\)"),
    "tuple": ((1.0,) * 4, TypeError, r"X is a tuple: make it an array first, numpy\.asarray\(X\)"),
    "number": (2.0, ValueError, r"X is a number; use A\.dot\(X\) or multiply the result"),
    "number of NumPy's": (np.float32(2), ValueError, r"X is a number; use A\.dot\(X\) or multiply the result"),
    "no dimension": (np.array(2.0), ValueError, "X has 0 dimensions; one or two expected"),
    "three dimensions": (np.ones((1, 4, 2)), ValueError, "X has 3 dimensions; one or two expected"),
    "sparse": (sp.csr_array(np.eye(4)), TypeError, r"X is sparse: .* A\.to_scipy\(\) @ X is the product of both"),
    "sparse matrix": (sp.coo_matrix(np.eye(4)), TypeError, r"X is sparse: .* A\.to_scipy\(\) @ X"),
    "text": ("four", TypeError, "X is <U4; float32 or float64 expected"),
    "bytes": (b"four", TypeError, r"X is \|S4; float32 or float64 expected"),
    "texts": (np.array(["1"] * 4), TypeError, "X is <U1; float32 or float64 expected"),
    "nothing": (None, TypeError, "X is object; float32 or float64 expected"),
    "dictionary": ({}, TypeError, "X is object; float32 or float64 expected"),
    "objects": (np.ones(4, object), TypeError, "X is object; float32 or float64 expected"),
    "dates": (np.zeros(4, "M8[s]"), TypeError, r"X is datetime64\[s\]; float32 or float64 expected"),
    "records": (np.zeros(4, [("a", float)]), TypeError, "X is .*; float32 or float64 expected"),
    "long numbers": (np.ones(4, np.longdouble), TypeError, r"X is \w+; float32 or float64 expected"),
    "long complex numbers": (np.ones(4, np.clongdouble), TypeError, r"X is \w+; float32 or float64 expected"),
}


@pytest.mark.parametrize("case", X_IS_WRONG)
def test_an_x_that_cannot_be_multiplied(case: str) -> None:
    x, error, text = X_IS_WRONG[case]
    square = ordito.csr(sp.csr_array(np.eye(4)))
    for product in (lambda: square @ x, lambda: x @ square, lambda: square.matmul(x), lambda: square.rmatmul(x)):
        with pytest.raises(error, match=text):
            product()


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i4"])
def test_shapes_that_do_not_fit_are_named(dtype: str) -> None:
    """The message speaks of A as it was written, transposed or not."""
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: A @ np.ones((3, 2), dtype), "A is 3×4, so that X must have 4 rows; it has 3"),
        (lambda: A @ np.ones(3, dtype), "A is 3×4, so that X must have 4 elements; it has 3"),
        (lambda: A.T @ np.ones((4, 2), dtype), "A is 4×3, so that X must have 3 rows; it has 4"),
        (lambda: np.ones((2, 4), dtype) @ A, "A is 3×4, so that X must have 3 columns; it has 4"),
        (lambda: np.ones(4, dtype) @ A, "A is 3×4, so that X must have 3 elements; it has 4"),
        (lambda: np.ones((2, 3), dtype) @ A.T, "A is 4×3, so that X must have 4 columns; it has 3"),
        (lambda: A @ np.ones((0, 2), dtype), "A is 3×4, so that X must have 4 rows; it has 0"),
        (lambda: A.matmul(np.ones((3, 2), dtype)[:, ::-1]), "A is 3×4, so that X must have 4 rows; it has 3"),
    ]
    for product, text in cases:
        with pytest.raises(ValueError, match=text):
            product()


def test_memory_of_a_gpu_that_nobody_here_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    class Elsewhere:
        __cuda_array_interface__ = {"shape": (2,), "typestr": "<f8", "data": (0, False), "version": 3}

    for library in ("cupy", "torch"):
        monkeypatch.delitem(sys.modules, library, raising=False)
    with pytest.raises(TypeError, match="X is a Elsewhere on a GPU: import cupy"):
        ordito.csr(sp.eye_array(2).tocsr()) @ Elsewhere()


def test_operators_have_no_alpha() -> None:
    with pytest.raises(TypeError, match="X is an operator: A @ X composes both"):
        A.matmul(aslinearoperator(S.T), alpha=2.0)
    with pytest.raises(TypeError, match="X is an operator: A @ X composes both"):
        A.rmatmul(aslinearoperator(S.T))


@pytest.mark.parametrize("wrong", ["2", 2j, None, np.ones(2)])
@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_alpha_and_beta_are_numbers(name: str, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        A.matmul(np.ones(4), np.ones(3), **{name: wrong})


A_IS_WRONG: dict[str, Any] = {
    "dense": (lambda: ordito.csr(np.eye(3)), TypeError, r"A is a dense array: make it sparse \(.*\), or use ordito\.gemm"),
    "text": (lambda: ordito.csr("a.mtx"), TypeError, r"'a\.mtx' is text: ordito\.read\(…\) reads files"),
    "number": (lambda: ordito.csr(3), TypeError, "a int is no sparse matrix: SciPy's, CuPy's and torch's are taken"),
    "list": (lambda: ordito.csr([[1.0]]), TypeError, "a list is no sparse matrix"),
    "operator": (lambda: ordito.csr(aslinearoperator(S)), TypeError, "is no sparse matrix"),
    "already one": (lambda: ordito.csr(A), TypeError, r"A is an ordito\.Matrix already; A\.astype\(…\) changes its precision"),
    "one dimension": (lambda: ordito.csr(sp.coo_array([1.0])), ValueError, "A has 1 dimension; two expected"),
    "three dimensions": (lambda: ordito.csr(sp.coo_array(np.ones((1, 1, 1)))), ValueError, "A has 3 dimensions; two expected"),
    "complex": (lambda: ordito.csr(1j * S), TypeError, r"complex matrices are not supported; wrap A\.real and A\.imag"),
    "complex columns": (lambda: ordito.csr((1j * S).tocsc()), TypeError, "complex matrices are not supported"),
    "complex, asked to be real": (lambda: ordito.csr(1j * S, dtype=float), TypeError, "complex matrices are not supported"),
    "objects": (lambda: csr(data=DATA.astype(object)), TypeError, "A is object; float32 or float64 expected"),
    "texts": (lambda: csr(data=DATA.astype(str)), TypeError, "A is <U32; float32 or float64 expected"),
    "long numbers": (lambda: csr(data=DATA.astype("g")), TypeError, r"A is \w+; float32 or float64 expected"),
    "a type that is none": (lambda: ordito.csr(S, dtype=complex), TypeError, "dtype is complex128; float32 or float64 expected"),
    "a shape too many": (lambda: ordito.csr(S, shape=(3, 4)), TypeError, r"shape goes with \(data, indices, indptr\)"),
    "two arrays": (lambda: ordito.csr((DATA, INDICES)), TypeError, r"\(data, indices, indptr\) expected.*; the tuple has 2"),
    "shape of one": (lambda: csr(shape=5), TypeError, r"shape=5: two whole numbers expected, \(rows, columns\)"),
    "shape of three": (lambda: csr(shape=(3, 4, 1)), TypeError, "two whole numbers expected"),
    "shape in halves": (lambda: csr(shape=(3, 4.5)), TypeError, "two whole numbers expected"),
    "shape below zero": (lambda: csr(shape=(3, -4)), ValueError, r"shape=\(3, -4\): numbers from 0 on expected"),
    "shape beyond 64 bits": (lambda: csr(shape=(3, 2**70)), ValueError, r"below 2\*\*63"),
    "shape beyond 32 bits": (lambda: csr(shape=(3, 2**33)), ValueError, "more than the 4294967295 that 32-bit indices reach"),
    "rows that are not there": (lambda: csr(shape=(4, 4)), ValueError, "indptr has 4 elements; 5 expected for 4 rows"),
    "no offsets": (lambda: csr(indptr=np.zeros(0, int)), ValueError, "indptr is empty; it has one element more than there are rows"),
    "offsets in rows": (lambda: csr(indptr=INDPTR[None]), ValueError, "indptr has 2 dimensions; one expected"),
    "indices in rows": (lambda: csr(indices=INDICES[None]), ValueError, "indices has 2 dimensions; one expected"),
    "data in rows": (lambda: csr(data=DATA[None]), ValueError, "data has 2 dimensions; one expected"),
    "offsets that fall": (lambda: csr(indptr=changed(INDPTR, 1, 5)), ValueError, "row offsets must rise from 0 to 6"),
    "offsets below zero": (lambda: csr(indptr=changed(INDPTR, 0, -1)), ValueError, "row offsets must rise from 0 to 6; offset 0 is -1"),
    "offsets from one on": (lambda: csr(indptr=INDPTR + 1), ValueError, "row offsets must rise from 0 to 6; offset 0 is 1"),
    "offsets too large": (lambda: csr(indptr=changed(INDPTR, 3, 2**31 - 1)), ValueError, "row offsets must rise from 0 to 6"),
    "offsets too small": (lambda: csr(indptr=changed(INDPTR, 3, 4)), ValueError, "row offsets must rise from 0 to 6"),
    "an index below zero": (lambda: csr(indices=changed(INDICES, 2, -1)), ValueError, r"entry 2: column -1 is outside 0\.\.4"),
    "an index too large": (lambda: csr(indices=changed(INDICES, 3, 4)), ValueError, r"entry 3: column 4 is outside 0\.\.4"),
    "an index of 64 bits": (
        lambda: csr(indices=changed(INDICES.astype(np.int64), 3, 2**32)), ValueError, "entry 3: column 4294967296 is outside"
    ),
    "an index beyond 63 bits": (
        lambda: csr(indices=changed(INDICES.astype(np.uint64), 3, 2**63)), ValueError, "entry 3: column .* is outside"
    ),
    "fewer values": (lambda: csr(data=DATA[:-1]), ValueError, "values has 5 elements, 6 expected"),
    "more values": (lambda: csr(data=np.ones(9)), ValueError, "values has 9 elements, 6 expected"),
    "indices in halves": (lambda: csr(indices=INDICES + 0.5), TypeError, "indices is float64; int32 or int64 expected"),
    "indices as text": (lambda: csr(indices=INDICES.astype(str)), TypeError, "indices is <U11; int32 or int64 expected"),
    "indices that are true": (lambda: csr(indices=INDICES > 0), TypeError, "indices is bool; int32 or int64 expected"),
    "offsets in halves": (lambda: csr(indptr=INDPTR + 0.0), TypeError, "indptr is float64; int32 or int64 expected"),
    "no thread": (lambda: ordito.csr(S, threads=0), ValueError, "threads=0: a number from 1 on expected"),
    "threads below zero": (lambda: ordito.csr(S, threads=-3), ValueError, "threads=-3: a number from 1 on expected"),
    "a true thread": (lambda: ordito.csr(S, threads=True), ValueError, "threads=True: a number from 1 on expected"),
    "half a thread": (lambda: ordito.csr(S, threads=1.5), TypeError, r"threads=1\.5: a whole number expected"),
    "too many threads": (lambda: ordito.csr(S, threads=10**9), RuntimeError, r"between 1 and \d+ can be asked for"),
    "a device that is none": (lambda: ordito.csr(S, device="gpu"), ValueError, 'device=\'gpu\': "cpu", "cuda" or "cuda:1" expected'),
    "a device without number": (lambda: ordito.csr(S, device="cuda:x"), ValueError, '"cpu", "cuda" or "cuda:1" expected'),
    "a kernel that is none": (lambda: ordito.csr(S, variant="none"), ValueError, "there is no variant `none`"),
    "a kernel that is near": (lambda: ordito.csr(S, variant="csr-threads-nz"), ValueError, "did you mean csr-threads-nnz?"),
    "no column": (lambda: A.prepare(0), ValueError, "columns=0: a number from 1 on expected"),
    "half a column": (lambda: A.prepare(0.5), TypeError, r"columns=0\.5: a whole number expected"),
}


@pytest.mark.parametrize("case", A_IS_WRONG)
def test_a_matrix_that_is_none(case: str) -> None:
    make, error, text = A_IS_WRONG[case]
    with pytest.raises(error, match=text):
        make()


def test_a_wrong_csc_matrix_is_refused_too() -> None:
    by_columns = sp.csc_array(S)
    by_columns.indices = changed(by_columns.indices, 1, 7)
    with pytest.raises(ValueError, match=r"entry 1: row 7 is outside 0\.\.3"):
        ordito.csr(by_columns)


def test_without_a_gpu_it_says_what_to_install() -> None:
    if any(name == "gpu" and usable for name, usable, _ in ordito.doctor()):
        pytest.skip("there is a GPU")
    for asks in (lambda: ordito.csr(S, device="cuda"), lambda: ordito.column_stats(np.ones((2, 2)), device="cuda:0")):
        with pytest.raises(RuntimeError, match="install or update the NVIDIA driver"):
            asks()


_values = st.sampled_from([-(2**63), -(2**31), -1, 0, 1, 2, 3, 4, 5, 7, 2**31 - 1, 2**31, 2**32, 2**63 - 1])


@given(
    indptr=st.lists(_values, max_size=6),
    indices=st.lists(_values, max_size=6),
    entries=st.integers(0, 6),
    shape=st.none() | st.tuples(_values, _values),
    narrow=st.booleans(),
)
@example(indptr=[0, 1, 2], indices=[1, 0], entries=2, shape=(2, 2), narrow=True)
@example(indptr=[0, 0, 3], indices=[4, 4, 0], entries=3, shape=None, narrow=False)
def test_any_arrays_give_a_matrix_or_an_exception(
    indptr: list[int], indices: list[int], entries: int, shape: tuple[int, int] | None, narrow: bool
) -> None:
    """A matrix only where SciPy's own check finds nothing wrong."""
    kind = np.int32 if narrow and all(abs(number) < 2**31 for number in indptr + indices) else np.int64
    arrays = np.ones(entries), np.array(indices, kind), np.array(indptr, kind)
    try:
        a = ordito.csr(arrays, shape=shape)
    except ValueError as refused:
        assert str(refused)
        return
    theirs = sp.csr_array(arrays, shape=a.shape)
    theirs.check_format(full_check=True)
    if max(a.shape) < 100:
        assert_array_equal(a @ np.ones(a.shape[1]), theirs @ np.ones(a.shape[1]))

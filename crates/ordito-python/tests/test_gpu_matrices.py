"""Matrices on a GPU, new values, refusals, and statistics there."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
from arrays import random_csr
from gpu_arrays import NO_BETA_WARNINGS, FLOATS, Torch, matrix, numbers
from numpy.testing import assert_allclose, assert_array_equal

pytestmark = NO_BETA_WARNINGS


# --- matrices of CuPy and torch ---


@pytest.mark.parametrize("layout", ["csr", "coo", "csc"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_sparse_matrices_stay_on_their_gpu(gpu: Any, layout: str, dtype: Any) -> None:
    s = random_csr(np.random.default_rng(0), 60, 40, dtype=dtype)
    if isinstance(gpu, Torch):
        dense = gpu.put(s.toarray())
        theirs = {"csr": dense.to_sparse_csr, "coo": dense.to_sparse_coo, "csc": dense.to_sparse_csc}[layout]()
    else:
        cupy_sparse = pytest.importorskip("cupyx.scipy.sparse")
        theirs = cupy_sparse.csr_matrix(sp.csr_matrix(s)).asformat(layout)
    a = ordito.csr(theirs)
    assert (a.device, a.dtype, a.shape) == ("cuda:0", dtype, (60, 40))
    assert a.copied.endswith("copied on its GPU") and a.nnz == s.nnz
    x = numbers((40, 3), dtype)
    assert_array_equal(gpu.get(a @ gpu.put(x)), s @ x)
    # A matrix from memory of the host has the same bits.
    reals = np.random.default_rng(1).standard_normal((40, 9)).astype(dtype)
    assert_array_equal(gpu.get(a @ gpu.put(reals)), gpu.get(ordito.csr(s, device="cuda") @ gpu.put(reals)))
    on_cpu = ordito.csr(theirs, device="cpu")
    assert on_cpu.device == "cpu" and "brought from the GPU" in on_cpu.copied
    assert_array_equal(on_cpu @ x, s @ x)


def sparse_on(gpu: Any, s: sp.csr_array) -> Any:
    """A CSR matrix of the library's."""
    if isinstance(gpu, Torch):
        parts = (gpu.torch.from_numpy(part.copy()).cuda() for part in (s.indptr, s.indices, s.data))
        return gpu.torch.sparse_csr_tensor(*parts, size=s.shape, check_invariants=False)
    return pytest.importorskip("cupyx.scipy.sparse").csr_matrix(sp.csr_matrix(s))


def test_what_was_taken_on_a_gpu_is_brought_when_somebody_looks(gpu: Any) -> None:
    s = random_csr(np.random.default_rng(0), 60, 40)
    a = ordito.csr(sparse_on(gpu, s))
    found = a.to_scipy()
    assert found.dtype == s.dtype and (found != s).nnz == 0
    x, y = numbers((40, 3)), numbers((60, 3))
    assert_array_equal(gpu.get(a.T @ gpu.put(y)), s.T @ y)
    assert_array_equal(a.astype(np.float32).to_scipy().data, s.data.astype(np.float32))
    again = pickle.loads(pickle.dumps(a))
    assert "on its GPU" in a.copied and "on its GPU" not in again.copied
    assert_array_equal(gpu.get(again @ gpu.put(x)), s @ x)
    a.update_values(2 * s.data)
    assert_array_equal(gpu.get(a @ gpu.put(x)), 2 * (s @ x))
    assert_array_equal(a.to_scipy().data, 2 * s.data)


@pytest.mark.parametrize("looks_first", [False, True])
def test_what_was_taken_on_a_gpu_has_new_values_before_anybody_looks(gpu: Any, looks_first: bool) -> None:
    """Those that lay there must neither be multiplied with any more nor be brought."""
    s = random_csr(np.random.default_rng(0), 60, 40)
    a = ordito.csr(sparse_on(gpu, s))
    if looks_first:
        a.prepare(3)
    a.update_values(3 * s.data)
    x, y = numbers((40, 3)), numbers((60, 3))
    assert_array_equal(gpu.get(a @ gpu.put(x)), 3 * (s @ x))
    assert_array_equal(gpu.get(a.T @ gpu.put(y)), 3 * (s.T @ y))
    found = a.to_scipy()
    assert_array_equal(found.data, 3 * s.data)
    assert_array_equal(found.indices, s.indices)


def test_what_was_taken_is_a_copy(gpu: Any) -> None:
    s = random_csr(np.random.default_rng(0), 60, 40)
    theirs = sparse_on(gpu, s)
    a = ordito.csr(theirs)
    (theirs.values() if isinstance(gpu, Torch) else theirs.data)[...] = 7
    del theirs
    x = numbers((40, 3))
    assert_array_equal(gpu.get(a @ gpu.put(x)), s @ x)
    narrow = ordito.csr(sparse_on(gpu, s), dtype=np.float32)
    assert narrow.dtype == np.float32 and "data converted from float64" in narrow.copied
    assert_array_equal(gpu.get(narrow @ gpu.put(x.astype(np.float32))), s.astype(np.float32) @ x.astype(np.float32))


def test_columns_outside_are_refused_before_a_kernel_reads_by_them(gpu: Any) -> None:
    for column in (40, -1):
        s = random_csr(np.random.default_rng(0), 60, 40)
        theirs = sparse_on(gpu, s)
        (theirs.col_indices() if isinstance(gpu, Torch) else theirs.indices)[3] = column
        with pytest.raises(ValueError, match=r"entry 3: column \d+ is outside 0\.\.40"):
            ordito.csr(theirs)


def test_devices_have_numbers() -> None:
    s = random_csr(np.random.default_rng(0), 6, 4)
    assert [ordito.csr(s, device=device).device for device in ("cuda", "cuda:0", "cpu")] == ["cuda:0", "cuda:0", "cpu"]
    assert ordito.read("stencil5:5", device="cuda").device == "cuda:0"
    assert "cuda:0" in repr(ordito.csr(s, device="cuda"))
    with pytest.raises(RuntimeError):
        ordito.csr(s, device="cuda:99")


def test_new_values_are_used(gpu: Any) -> None:
    s, a = matrix()
    x = numbers((40, 3))
    on_gpu = gpu.put(x)
    a @ on_gpu
    a.T @ gpu.put(numbers((60, 3)))
    a.update_values(2 * s.data)
    assert_array_equal(gpu.get(a @ on_gpu), 2 * (s @ x))
    assert_array_equal(gpu.get(a.T @ gpu.put(numbers((60, 3)))), 2 * (s.T @ numbers((60, 3))))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_copies_lie_on_the_gpu_too(gpu: Any, copied: Any) -> None:
    s, a = matrix()
    other = copied(a)
    assert other.device == "cuda:0"
    assert_array_equal(gpu.get(other @ gpu.put(np.ones((40, 2)))), s @ np.ones((40, 2)))


def test_prepare_tells_what_was_chosen() -> None:
    _, a = matrix()
    choice = a.prepare(8)
    assert choice.columns == 8 and "cuda" in choice.kernel and choice.reason


# --- refusals ---


def test_a_matrix_elsewhere_is_told_where_to_go(gpu: Any) -> None:
    on_cpu = ordito.csr(random_csr(np.random.default_rng(0), 60, 40))
    text = r'X lies on cuda:0, A on cpu: ordito\.csr\(A, device="cuda:0"\) puts it there'
    x = gpu.put(np.ones((40, 2)))
    for product in (lambda: on_cpu @ x, lambda: on_cpu.T @ x, lambda: on_cpu.matmul(x), lambda: x.T @ on_cpu.T):
        with pytest.raises(ValueError, match=text):
            product()


def test_shapes_that_do_not_fit_are_named(gpu: Any) -> None:
    _, a = matrix()
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: a @ gpu.put(np.ones((60, 2))), "A is 60×40, so that X must have 40 rows; it has 60"),
        (lambda: a @ gpu.put(np.ones(60)), "A is 60×40, so that X must have 40 elements; it has 60"),
        (lambda: a.T @ gpu.put(np.ones((40, 2))), "A is 40×60, so that X must have 60 rows; it has 40"),
        (lambda: gpu.put(np.ones((2, 40))) @ a, "A is 60×40, so that X must have 60 columns; it has 40"),
        (lambda: a @ gpu.put(np.ones((1, 40, 2))), "X has 3 dimensions; one or two expected"),
        (lambda: a.matmul(gpu.put(np.ones((40, 2))), gpu.put(np.ones((60, 3)))), r"out has the shape \(60, 3\); \(60, 2\)"),
        (lambda: a.matmul(gpu.put(np.ones((40, 2))), gpu.put(np.ones((60, 1)))), r"out has the shape \(60, 1\); \(60, 2\)"),
        (lambda: a.rmatmul(gpu.put(np.ones((2, 60))), gpu.put(np.ones((1, 40)))), r"out has the shape \(1, 40\); \(2, 40\)"),
    ]
    for product, text in cases:
        with pytest.raises(ValueError, match=text):
            product()


def test_types_that_are_not_computed_in_are_refused(gpu: Any) -> None:
    _, a = matrix()
    for dtype in (np.int32, np.float16, np.complex64, bool):
        with pytest.raises(TypeError, match="float32 or float64 expected"):
            a @ gpu.put(np.ones((40, 2), dtype))
    with pytest.raises(ValueError, match="out must be float64 on cuda:0, as X is"):
        a.matmul(gpu.put(np.ones((40, 2))), gpu.put(np.ones((60, 2), np.float32)))


def test_arrays_of_two_kinds_are_refused(gpu: Any) -> None:
    _, a = matrix()
    with pytest.raises(TypeError, match="both must be of one kind"):
        a.matmul(gpu.put(np.ones((40, 2))), np.ones((60, 2)))
    with pytest.raises(TypeError, match="both must be of one kind"):
        a.matmul(np.ones((40, 2)), gpu.put(np.ones((60, 2))))


def test_an_out_in_memory_of_the_host_is_refused() -> None:
    torch = Torch().torch
    _, a = matrix()
    with pytest.raises(ValueError, match="out must be float64 on cuda:0, as X is"):
        a.matmul(torch.ones(40, 2, dtype=torch.float64).cuda(), torch.ones(60, 2, dtype=torch.float64))


# --- statistics ---


@pytest.mark.parametrize("dtype", FLOATS)
def test_statistics_agree_with_the_cpu(dtype: Any) -> None:
    x = (np.random.default_rng(7).standard_normal((5000, 30)) + 1000).astype(dtype)
    on_cpu, on_gpu = ordito.column_stats(x), ordito.column_stats(x, device="cuda")
    assert on_gpu.count == on_cpu.count
    for name in ("mean", "variance"):
        assert_allclose(getattr(on_gpu, name), getattr(on_cpu, name), rtol=1e-6)
    assert_array_equal(on_gpu.min, on_cpu.min)
    assert_array_equal(on_gpu.max, on_cpu.max)

"""Solvers with arrays of CuPy and torch: everything happens on the GPU, and stays there."""

from __future__ import annotations

from typing import Any

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
import gpu_arrays  # noqa: F401 # skips where there is no GPU
from ordito.linalg import cg, eigsh, last_info, lobpcg, randomized_svd, svds
from test_linalg import grid, random_symmetric, values_of_grid


def numbers(x: Any) -> np.ndarray:
    """Of either library's array, which lies on the GPU."""
    found: np.ndarray = x.get() if hasattr(x, "get") else x.cpu().numpy()
    return found


def on_gpu(a: sp.csr_array) -> ordito.Matrix:
    return ordito.csr(a, device="cuda")


@pytest.mark.parametrize("largest", [True, False])
def test_lobpcg_stays_on_the_gpu(gpu: Any, largest: bool) -> None:
    a = grid(30)
    x = gpu.put(np.random.default_rng(0).normal(size=(900, 5)))
    values, vectors = lobpcg(on_gpu(a), x, largest=largest, tol=1e-8, maxiter=800)
    assert type(vectors) is type(x)
    expected = values_of_grid(30)[::-1][:5] if largest else values_of_grid(30)[:5]
    np.testing.assert_allclose(numbers(values), expected, atol=1e-8)
    found = numbers(vectors)
    assert np.linalg.norm(a @ found - found * expected, axis=0).max() < 1e-6
    again = lobpcg(on_gpu(a), x, largest=largest, tol=1e-8, maxiter=800)
    assert (numbers(again[1]) == found).all()  # the same bits


def test_preconditioner_mass_and_constraints(gpu: Any) -> None:
    a, n = grid(20), 400
    mass = sp.diags_array([np.linspace(1, 2, n)], offsets=[0]).tocsr()
    expected = np.sort(sla.eigsh(a, k=3, M=mass, sigma=0)[0])
    x = gpu.put(np.random.default_rng(1).normal(size=(n, 3)))
    jacobi = sp.diags_array([1 / a.diagonal()], offsets=[0])
    for m in (None, jacobi, jacobi.tocsr()):
        values, _ = lobpcg(on_gpu(a), x, B=mass, M=m, largest=False, tol=1e-8, maxiter=800)
        np.testing.assert_allclose(numbers(values), expected, rtol=1e-9)
    known = gpu.put(np.ascontiguousarray(sla.eigsh(a, k=1, sigma=0)[1]))
    values, _ = lobpcg(on_gpu(a), x, Y=known, largest=False, tol=1e-8, maxiter=800)
    np.testing.assert_allclose(numbers(values), values_of_grid(20)[1:4], atol=1e-8)
    with pytest.raises(TypeError, match="on a GPU"):
        lobpcg(on_gpu(a), x, M=lambda block: block)


def test_eigsh_and_svds(gpu: Any) -> None:
    a = random_symmetric(300)
    like = gpu.put(np.ones(300))
    values, vectors = eigsh(on_gpu(a), k=4, which="LA", v0=like)
    assert type(vectors) is type(like)
    np.testing.assert_allclose(numbers(values), np.sort(sla.eigsh(a, k=4, which="LA")[0]), rtol=1e-9)
    b = sp.random_array((500, 200), density=0.05, rng=np.random.default_rng(2), format="csr")
    u, s, vt = svds(on_gpu(b), k=4)
    np.testing.assert_allclose(numbers(s), np.sort(sla.svds(b, k=4)[1]), rtol=1e-9)
    np.testing.assert_allclose(b @ numbers(vt).T, numbers(u) * numbers(s), atol=1e-8)
    u, s, vt = randomized_svd(on_gpu(b), 4)
    assert numbers(u).shape == (500, 4) and numbers(s)[0] == pytest.approx(sla.svds(b, k=1)[1][0], rel=1e-6)


def test_cg_of_many(gpu: Any) -> None:
    a = grid(30)
    b = gpu.put(np.random.default_rng(3).normal(size=(900, 7)))
    x, info = cg(on_gpu(a), b, rtol=1e-9)
    assert info == 0 and type(x) is type(b)
    assert np.linalg.norm(numbers(b) - a @ numbers(x), axis=0).max() < 1e-7
    known = last_info()
    assert known is not None and known.converged

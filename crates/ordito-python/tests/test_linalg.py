"""Solvers beside those of SciPy and scikit-learn: the same answers, the same shapes and orders, and honest ends."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from ordito.linalg import cg, eigsh, last_info, lobpcg, randomized_svd, svds

FLOATS = [np.float32, np.float64]


def grid(side: int, dtype: Any = np.float64) -> sp.csr_array:
    """The Laplacian of a square grid, positive definite, with eigenvalues that are double."""
    line = sp.diags_array([-np.ones(side - 1), 2 * np.ones(side), -np.ones(side - 1)], offsets=[-1, 0, 1])
    unit = sp.eye_array(side)
    return sp.csr_array(sp.kron(line, unit) + sp.kron(unit, line), dtype=dtype)


def values_of_grid(side: int) -> np.ndarray:
    of_line = 2 - 2 * np.cos(np.pi * np.arange(1, side + 1) / (side + 1))
    return np.sort((of_line[:, None] + of_line[None, :]).ravel())


def random_symmetric(n: int, seed: int = 0) -> sp.csr_array:
    a = sp.random_array((n, n), density=0.02, rng=np.random.default_rng(seed), format="csr")
    return sp.csr_array(a + a.T + sp.diags_array([np.linspace(-3, 3, n)], offsets=[0]))


def orthonormal(v: np.ndarray, close: float) -> bool:
    return bool(np.abs(v.T @ v - np.eye(v.shape[1])).max() < close)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("largest", [True, False])
def test_lobpcg_finds_double_eigenvalues(dtype: Any, largest: bool) -> None:
    a, x = grid(20, dtype), np.random.default_rng(1).normal(size=(400, 6)).astype(dtype)
    tol = 1e-3 if dtype == np.float32 else 1e-8
    values, vectors = lobpcg(a, x, largest=largest, tol=tol, maxiter=500)
    expected = values_of_grid(20)[::-1][:6] if largest else values_of_grid(20)[:6]
    assert vectors.dtype == dtype and values.dtype == dtype
    np.testing.assert_allclose(values, expected, atol=10 * tol)
    assert np.linalg.norm(a @ vectors - vectors * values, axis=0).max() <= 1.1 * tol
    assert orthonormal(vectors, 1e-4 if dtype == np.float32 else 1e-12)
    info = last_info()
    assert info is not None and info.converged and info.stopped == "converged"


def test_lobpcg_takes_what_scipys_does() -> None:
    a, rng = grid(15), np.random.default_rng(2)
    x, n = rng.normal(size=(225, 3)), 225
    mass = sp.diags_array([np.linspace(1, 2, n)], offsets=[0]).tocsr()
    jacobi = sp.diags_array([1 / a.diagonal()], offsets=[0])
    expected = np.sort(sla.eigsh(a, k=3, M=mass, sigma=0)[0])
    preconditioners = [None, jacobi, jacobi.tocsr(), sla.aslinearoperator(jacobi.tocsr()), lambda block: block / 4, np.diag(1 / a.diagonal())]
    for m in preconditioners:
        values, vectors = lobpcg(a, x, B=mass, M=m, largest=False, tol=1e-8, maxiter=500)
        np.testing.assert_allclose(values, expected, rtol=1e-9)
        np.testing.assert_allclose(vectors.T @ (mass @ vectors), np.eye(3), atol=1e-10)
    masses = [sla.aslinearoperator(mass), lambda block: mass @ block, ordito.csr(mass)]
    for b in masses:
        np.testing.assert_allclose(lobpcg(a, x, B=b, largest=False, tol=1e-8, maxiter=500)[0], expected, rtol=1e-9)


def test_constraints_leave_out_what_is_known() -> None:
    a = grid(12)
    x = np.random.default_rng(3).normal(size=(144, 2))
    _, known = sla.eigsh(a, k=3, sigma=0)
    values, vectors = lobpcg(a, x, Y=known, largest=False, tol=1e-9, maxiter=500)
    np.testing.assert_allclose(values, values_of_grid(12)[3:5], atol=1e-9)
    assert np.abs(known.T @ vectors).max() < 1e-9


def test_histories_have_a_line_for_every_iteration() -> None:
    a, x = grid(10), np.random.default_rng(4).normal(size=(100, 2))
    values, _, values_history, residuals_history = lobpcg(
        a, x, tol=1e-6, maxiter=200, retLambdaHistory=True, retResidualNormsHistory=True
    )
    assert len(values_history) == len(residuals_history) > 3
    assert residuals_history[0].shape == (2,) and residuals_history[-1].max() <= 1e-6 < residuals_history[0].max()
    np.testing.assert_allclose(values_history[-1], values)


def test_a_tolerance_that_is_not_reached_is_said() -> None:
    a, x = grid(20), np.random.default_rng(5).normal(size=(400, 3))
    with pytest.warns(UserWarning, match="limit of iterations after 2 iterations; the largest residual"):
        lobpcg(a, x, tol=1e-12, maxiter=2)
    info = last_info()
    assert info is not None and not info.converged
    with pytest.raises(sla.ArpackNoConvergence, match="the largest residual is"):
        eigsh(grid(40), k=4, which="SA", maxiter=1)


@pytest.mark.parametrize("which", ["LM", "LA", "SA"])
def test_eigsh_agrees_with_scipys(which: str) -> None:
    a = random_symmetric(300)
    values, vectors = eigsh(a, k=5, which=which)
    np.testing.assert_allclose(values, np.sort(sla.eigsh(a, k=5, which=which)[0]), rtol=1e-10)
    assert np.abs(a @ vectors - vectors * values).max() < 1e-9 and orthonormal(vectors, 1e-10)
    np.testing.assert_allclose(eigsh(a, k=5, which=which, return_eigenvectors=False), values, rtol=1e-12)
    started = eigsh(a, k=5, which=which, v0=np.ones(300), ncv=30, tol=1e-9)[0]
    np.testing.assert_allclose(started, values, rtol=1e-8)


@pytest.mark.parametrize("shape", [(400, 90), (90, 400), (120, 120)])
def test_svds_agrees_with_scipys(shape: tuple[int, int]) -> None:
    a = sp.random_array(shape, density=0.05, rng=np.random.default_rng(6), format="csr")
    u, s, vt = svds(a, k=4)
    assert u.shape == (shape[0], 4) and vt.shape == (4, shape[1])
    np.testing.assert_allclose(s, np.sort(sla.svds(a, k=4)[1]), rtol=1e-10)
    np.testing.assert_allclose(a @ vt.T, u * s, atol=1e-10)
    np.testing.assert_allclose(svds(a, k=4, return_singular_vectors=False), s, rtol=1e-12)
    assert svds(a, k=4, return_singular_vectors="u")[2] is None and svds(a, k=4, return_singular_vectors="vh")[0] is None
    turned = svds(ordito.csr(a).T, k=4)
    assert turned[0].shape == (shape[1], 4)
    np.testing.assert_allclose(turned[1], s, rtol=1e-10)


def test_more_singular_values_than_the_rank() -> None:
    rng = np.random.default_rng(7)
    a = sp.csr_array(rng.normal(size=(60, 3)) @ rng.normal(size=(3, 40)))
    u, s, vt = svds(a, k=6, tol=1e-9)
    assert (s[:3] < 1e-10 * s[-1]).all() and s[3] > 1
    assert orthonormal(u, 1e-10) and orthonormal(vt.T, 1e-10)


def test_randomized_svd_is_as_near_as_scikit_learns() -> None:
    extmath = pytest.importorskip("sklearn.utils.extmath")
    a = sp.random_array((800, 300), density=0.03, rng=np.random.default_rng(8), format="csr")
    u, s, vt = randomized_svd(a, 8, random_state=0)
    theirs = extmath.randomized_svd(a, 8, random_state=0)
    assert u.shape == theirs[0].shape and vt.shape == theirs[2].shape
    best = sla.svds(a, k=8)[1].max()
    assert s[0] == pytest.approx(best, rel=1e-6) and (np.diff(s) <= 0).all()
    assert (s**2).sum() > 0.99 * (theirs[1] ** 2).sum()
    assert (u[np.abs(u).argmax(axis=0), range(8)] > 0).all()  # signs as scikit-learn has them
    again = randomized_svd(a, 8, random_state=0)
    assert (again[0] == u).all()  # the same seed, the same bits


@pytest.mark.parametrize("dtype", FLOATS)
def test_cg_of_one_and_of_many(dtype: Any) -> None:
    a, rng = grid(25, dtype), np.random.default_rng(9)
    b = rng.normal(size=(625, 5)).astype(dtype)
    rtol = 1e-4 if dtype == np.float32 else 1e-9
    x, info = cg(a, b, rtol=rtol)
    assert info == 0 and x.shape == b.shape and x.dtype == dtype
    assert (np.linalg.norm(b - a @ x, axis=0) <= 1.1 * rtol * np.linalg.norm(b, axis=0)).all()
    one, info = cg(a, b[:, 0], rtol=rtol)
    assert info == 0 and one.shape == (625,)
    expected = sla.spsolve(a.astype(np.float64).tocsc(), b[:, 0])
    np.testing.assert_allclose(one, expected, rtol=1e-2 if dtype == np.float32 else 1e-6, atol=1e-3 if dtype == np.float32 else 1e-8)


def test_cg_takes_what_scipys_does() -> None:
    a = sp.csr_array(grid(20) + sp.diags_array([np.linspace(0, 1000, 400)], offsets=[0]))
    b = np.random.default_rng(10).normal(size=400)
    expected, _ = sla.cg(a, b, rtol=1e-10)
    seen: list[np.ndarray] = []
    jacobi = sp.diags_array([1 / a.diagonal()], offsets=[0])
    for arguments in ({}, {"M": jacobi}, {"M": sla.aslinearoperator(jacobi.tocsr())}, {"x0": np.ones(400)}, {"atol": 1e-9}):
        x, info = cg(a, b, rtol=1e-10, **arguments)
        assert info == 0
        np.testing.assert_allclose(x, expected, rtol=1e-6, atol=1e-9)
    x, info = cg(a, np.zeros(400))
    assert info == 0 and (x == 0).all()
    x, info = cg(a, b, rtol=1e-14, maxiter=2)
    assert info > 0
    x, info = cg(a, b, callback=lambda xk: seen.append(xk))
    assert info == 0 and len(seen) > 2
    with pytest.raises(ValueError, match="positive definite"):
        cg(random_symmetric(100), np.ones(100), maxiter=500)


def test_bad_input_is_a_sentence() -> None:
    a, x = grid(5), np.ones((25, 2))
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: lobpcg(a, np.ones((24, 2))), ValueError, "24 rows, 25 expected"),
        (lambda: lobpcg(sp.csr_array(np.ones((3, 4))), np.ones((3, 1))), ValueError, "3×4"),
        (lambda: lobpcg(a * np.nan, x), ValueError, "not finite"),
        (lambda: lobpcg(a, x, B=sp.eye_array(3)), ValueError, "B is 3×3"),
        (lambda: lobpcg(a, x, M=5), TypeError, "M is a int"),
        (lambda: lobpcg(a, x.astype(complex)), TypeError, "complex"),
        (lambda: eigsh(a, k=26), ValueError, "no more eigenvalues"),
        (lambda: eigsh(a, k=2, which="SM"), ValueError, "'SA'"),
        (lambda: eigsh(a, k=2, sigma=0), NotImplementedError, "sigma"),
        (lambda: svds(a, k=0), ValueError, "k=0"),
        (lambda: svds(a, k=2, which="SM"), ValueError, "largest"),
        (lambda: svds("stencil5:3", k=2), TypeError, "str"),
        (lambda: randomized_svd(a, 99), ValueError, "n_components=99"),
        (lambda: cg(a, np.ones(24)), ValueError, "24 rows, 25 expected"),
    ]
    for call, kind, text in cases:
        with pytest.raises(kind, match=text):
            call()


def test_what_a_function_raises_comes_out() -> None:
    a, x = grid(8), np.random.default_rng(11).normal(size=(64, 2))
    with pytest.raises(ZeroDivisionError):
        lobpcg(a, x, M=lambda block: 1 / 0, tol=1e-9)
    with pytest.raises(ValueError, match="not 64×2"):
        lobpcg(a, x, M=lambda block: block[:5], tol=1e-9)


def test_several_threads_solve_at_once() -> None:
    matrix, results = ordito.csr(grid(20)), {}

    def solve(number: int) -> None:
        x = np.random.default_rng(number).normal(size=(400, 3))
        results[number] = lobpcg(matrix, x, largest=False, tol=1e-8, maxiter=500)[0]

    threads = [threading.Thread(target=solve, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for values in results.values():
        np.testing.assert_allclose(values, values_of_grid(20)[:3], atol=1e-9)
    assert len(results) == 4


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(90, 40), (40, 90), (200, 100), (100, 200)])
def test_singular_values_far_from_1(shape: tuple[int, int], dtype: Any) -> None:
    a = sp.random_array(shape, density=0.2, rng=np.random.default_rng(4), format="csr").astype(dtype)
    expected = svds(a, k=3, return_singular_vectors=False)
    for power in (-900, 900) if dtype == np.float64 else (-100, 100):
        b = sp.csr_array((np.ldexp(a.data, power), a.indices, a.indptr), shape=a.shape)
        u, s, vt = svds(b, k=3)
        np.testing.assert_allclose(np.ldexp(s, -power), expected, rtol=1e-10 if dtype == np.float64 else 1e-4)
        np.testing.assert_allclose(np.ldexp(b @ vt.T, -power), u * np.ldexp(s, -power), atol=1e-8 if dtype == np.float64 else 1e-3)
        of_transposed = svds(ordito.csr(b).T, k=3, return_singular_vectors=False)
        np.testing.assert_allclose(of_transposed, s, rtol=1e-10 if dtype == np.float64 else 1e-4)
        known = last_info()
        assert known is not None and np.allclose(np.ldexp(known.residuals, -power), 0, atol=1e-3)
    with pytest.raises(ValueError, match="not finite"):
        svds(sp.csr_array(np.diag([np.inf, 1, 1, 1]).astype(dtype)), k=1)

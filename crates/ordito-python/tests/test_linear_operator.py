"""SciPy's solvers take a matrix for the operator that it is, and find what they find with SciPy's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
from arrays import random_csr, whole_numbers
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.linalg import (
    LinearOperator,
    aslinearoperator,
    bicg,
    bicgstab,
    cg,
    eigs,
    eigsh,
    expm_multiply,
    gmres,
    lobpcg,
    lsmr,
    lsqr,
    minres,
    onenormest,
    svds,
)


def symmetric(dtype: Any = np.float64) -> sp.csr_array:
    """Positive definite, well conditioned, its greatest eigenvalues well apart."""
    noise = sp.random_array((120, 120), density=0.03, format="csr", rng=np.random.default_rng(0))
    matrix = noise + noise.T + sp.diags_array(np.linspace(5, 30, 120) + 3.0 * (np.arange(120) > 114))
    return sp.csr_array(matrix.astype(dtype))


def unsymmetric(rows: int = 100, cols: int = 100) -> sp.csr_array:
    noise = sp.random_array((rows, cols), density=0.05, format="csr", rng=np.random.default_rng(1))
    return sp.csr_array(noise + sp.eye_array(rows, cols) * 4)


RIGHT_SIDE = np.random.default_rng(2).standard_normal(120)


# --- eigenvalues and singular values ---


@pytest.mark.parametrize("which", ["LM", "SA"])
def test_eigsh(which: str) -> None:
    s = symmetric()
    start = np.ones(120)
    ours, our_vectors = eigsh(ordito.csr(s), k=4, which=which, v0=start)
    theirs, _ = eigsh(s, k=4, which=which, v0=start)
    assert_allclose(ours, theirs, rtol=1e-9)
    assert_allclose(s @ our_vectors, our_vectors * ours, atol=1e-7)


def test_eigs_of_an_unsymmetric_matrix() -> None:
    """With complex vectors on the way."""
    s = unsymmetric()
    ours, our_vectors = eigs(ordito.csr(s), k=3, v0=np.ones(100))
    theirs, _ = eigs(s, k=3, v0=np.ones(100))
    assert_allclose(np.sort_complex(ours), np.sort_complex(theirs), rtol=1e-8)
    assert_allclose(s @ our_vectors, our_vectors * ours, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lobpcg(dtype: Any) -> None:
    s = symmetric(dtype)
    start = np.random.default_rng(3).standard_normal((120, 4)).astype(dtype)
    tolerance = 1e-3 if dtype is np.float32 else 1e-8
    ours, vectors = lobpcg(ordito.csr(s), start, tol=tolerance, maxiter=300)
    exact = np.linalg.eigvalsh(s.toarray())[::-1][:4]
    assert_allclose(ours, exact, rtol=tolerance)
    assert vectors.dtype == dtype
    assert_allclose(s @ vectors, vectors * ours, atol=300 * tolerance)


def test_lobpcg_with_a_preconditioner_of_ours() -> None:
    s = symmetric()
    inverse_diagonal = ordito.csr(sp.csr_array(sp.diags_array(1 / s.diagonal())))
    start = np.random.default_rng(4).standard_normal((120, 3))
    ours, _ = lobpcg(ordito.csr(s), start, M=inverse_diagonal, largest=False, tol=1e-8, maxiter=300)
    assert_allclose(np.sort(ours), np.linalg.eigvalsh(s.toarray())[:3], rtol=1e-6)


@pytest.mark.parametrize("shape", [(100, 100), (140, 90), (90, 140)])
@pytest.mark.parametrize("solver", ["arpack", "lobpcg", "propack"])
def test_svds(shape: tuple[int, int], solver: str) -> None:
    s = unsymmetric(*shape)
    u, ours, vt = svds(ordito.csr(s), k=3, solver=solver, rng=np.random.default_rng(5), maxiter=2000)
    exact = np.linalg.svd(s.toarray(), compute_uv=False)[:3]
    assert_allclose(np.sort(ours)[::-1], exact, rtol=1e-4)
    assert_allclose(s @ vt.T, u * ours, atol=2e-3)


# --- systems of equations ---


@pytest.mark.parametrize("solve", [cg, minres, gmres, bicgstab, bicg])
def test_solvers_for_symmetric_matrices(solve: Any) -> None:
    s = symmetric()
    ours, failed = solve(ordito.csr(s), RIGHT_SIDE, rtol=1e-10)
    theirs, _ = solve(s, RIGHT_SIDE, rtol=1e-10)
    assert failed == 0
    assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)
    assert_allclose(s @ ours, RIGHT_SIDE, atol=1e-7)


@pytest.mark.parametrize("solve", [gmres, bicgstab, bicg])
@pytest.mark.parametrize("transposed", [False, True])
def test_solvers_for_unsymmetric_matrices(solve: Any, transposed: bool) -> None:
    s = unsymmetric()
    a = ordito.csr(s)
    s, a = (s.T, a.T) if transposed else (s, a)
    ours, failed = solve(a, RIGHT_SIDE[:100], rtol=1e-10)
    assert failed == 0
    assert_allclose(s @ ours, RIGHT_SIDE[:100], atol=1e-7)


def test_complex_right_sides() -> None:
    s = unsymmetric()
    right_side = RIGHT_SIDE[:100] * (1 - 2j)
    ours, failed = gmres(ordito.csr(s), right_side, rtol=1e-10)
    assert failed == 0
    assert_allclose(s @ ours, right_side, atol=1e-7)


@pytest.mark.parametrize("solve", [lsqr, lsmr])
def test_least_squares(solve: Any) -> None:
    s = unsymmetric(140, 90)
    right_side = np.random.default_rng(6).standard_normal(140)
    ours = solve(ordito.csr(s), right_side, atol=1e-12, btol=1e-12)[0]
    exact = np.linalg.lstsq(s.toarray(), right_side)[0]
    assert_allclose(ours, exact, atol=1e-7)


# --- norms and exponentials ---


@pytest.mark.parametrize("matrix", [symmetric(), unsymmetric()], ids=["symmetric", "unsymmetric"])
def test_onenormest(matrix: sp.csr_array) -> None:
    assert_allclose(onenormest(ordito.csr(matrix)), onenormest(matrix), rtol=1e-12)
    assert_allclose(onenormest(ordito.csr(matrix).T), abs(matrix).sum(axis=1).max(), rtol=1e-12)


def test_expm_multiply() -> None:
    s = unsymmetric() / 20
    ours = expm_multiply(ordito.csr(s), np.ones(100), traceA=float(s.trace()))
    assert_allclose(ours, expm_multiply(s, np.ones(100)), rtol=1e-9)


# --- what operators can do ---


def test_it_is_an_operator() -> None:
    s = random_csr(np.random.default_rng(7), 8, 6)
    a = ordito.csr(s)
    assert isinstance(a, LinearOperator) and aslinearoperator(a) is a
    x, y = whole_numbers(np.random.default_rng(8), (6, 3)), whole_numbers(np.random.default_rng(9), (8, 3))
    assert_array_equal(a.matvec(x[:, 0]), s @ x[:, 0])
    assert_array_equal(a.matvec(x[:, :1]), s @ x[:, :1])
    assert_array_equal(a.matmat(x), s @ x)
    assert_array_equal(a.rmatvec(y[:, 0]), s.T @ y[:, 0])
    assert_array_equal(a.rmatmat(y), s.T @ y)
    assert_array_equal(a.adjoint() @ y, s.T @ y)
    assert_array_equal(a.transpose() @ y, s.T @ y)
    assert_array_equal(a(x), s @ x)
    assert_array_equal(a * x, s @ x)


def test_operators_are_added_scaled_and_composed() -> None:
    s = random_csr(np.random.default_rng(10), 6, 6)
    a, x = ordito.csr(s), whole_numbers(np.random.default_rng(11), (6, 2))
    other = aslinearoperator(2 * np.eye(6))
    assert_array_equal((2 * a) @ x, 2 * (s @ x))
    assert_array_equal((a * 3.0) @ x, 3 * (s @ x))
    assert_array_equal(a.dot(2.0) @ x, 2 * (s @ x))
    assert_array_equal((-a) @ x, -(s @ x))
    assert_array_equal((a + other) @ x, s @ x + 2 * x)
    assert_array_equal((a - a.T) @ x, s @ x - s.T @ x)
    assert_array_equal((a @ a) @ x, s @ (s @ x))
    assert_array_equal((a @ a.T) @ x, s @ (s.T @ x))
    assert_array_equal((a @ other) @ x, 2 * (s @ x))
    assert_array_equal((other @ a) @ x, 2 * (s @ x))
    assert_array_equal((a**2) @ x, s @ (s @ x))
    assert_array_equal(a.dot(other) @ x, 2 * (s @ x))
    assert_array_equal((a @ a).T @ x, s.T @ (s.T @ x))

"""Eigenvectors, singular vectors and right-hand sides, with the signatures of SciPy and scikit-learn.

``from ordito.linalg import lobpcg`` instead of ``from scipy.sparse.linalg import lobpcg`` is the change. Matrices are those that
:func:`ordito.csr` takes, or one that it gave. With a matrix on a GPU everything happens there; arrays of CuPy and torch come from there
and stay there.

>>> import numpy as np, scipy.sparse
>>> from ordito.linalg import eigsh
>>> A = scipy.sparse.diags_array([np.arange(100.0)], offsets=[0]).tocsr()
>>> values, vectors = eigsh(A, k=2, which="LA")
>>> values.round(6)
array([98., 99.])
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ordito import _device, _ordito
from ordito._singular import randomized_svd, svds
from ordito._solving import (
    Arrays,
    Asked,
    Info,
    as_wide,
    at_rounding,
    iterations_of,
    kept,
    last_info,
    matrix_of,
    operator_of,
    raise_no_convergence,
    seed_of,
    symmetric,
)
from ordito._sources import Array, numbers_of, whole_number

__all__ = ["Info", "cg", "eigsh", "last_info", "lobpcg", "pagerank", "randomized_svd", "svds"]


def lobpcg(
    A: Any,
    X: Any,
    B: Any = None,
    M: Any = None,
    Y: Any = None,
    tol: float | None = None,
    maxiter: int | None = None,
    largest: bool = True,
    verbosityLevel: int = 0,
    retLambdaHistory: bool = False,
    retResidualNormsHistory: bool = False,
    restartControl: int = 20,
) -> Any:
    """As :func:`scipy.sparse.linalg.lobpcg`: some eigenpairs of a symmetric matrix, from the block X of first guesses.

    ``tol`` is that of the residuals' norms, as there, ``maxiter`` is 20 if nothing is said. ``B`` and ``M`` are sparse matrices, operators
    or functions of blocks; a diagonal ``M`` (``scipy.sparse.diags_array``) is fastest. ``restartControl`` is not needed, and not read.
    Where the tolerance is not reached a warning says so, with the residuals.

    >>> import numpy as np, scipy.sparse
    >>> A = scipy.sparse.diags_array([np.arange(1.0, 101.0)], offsets=[0]).tocsr()
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> values, vectors = lobpcg(A, X, largest=False, tol=1e-8, maxiter=200)
    >>> values.round(6)
    array([1., 2., 3.])
    """
    X = _device.adopted(X, "X")
    X = X if hasattr(X, "shape") else numbers_of(X, "X")
    matrix = as_wide(symmetric(A), X)
    n, k = matrix.shape[0], (X.shape[1] if len(X.shape) == 2 else 1)
    arrays = Arrays(matrix, X)
    limit = 20 if maxiter is None else iterations_of(maxiter)
    asked = Asked(
        absolute=math.sqrt(float(np.finfo(matrix.dtype).eps)) * n if tol is None or tol <= 0 else float(tol),
        max_iterations=limit,
        callback=_printer(verbosityLevel),
        stream=arrays.stream,
    )
    vectors, out = arrays.room(n, k)
    start, constraints = arrays.given(X, "X"), arrays.given(Y, "Y")
    b, m = operator_of(B, matrix, "B"), operator_of(M, matrix, "M")
    found = kept(_ordito.solve_lobpcg(matrix._native, asked, k, bool(largest), start, b, m, constraints, out))
    if not found["converged"] and limit > 0:
        worst = float(found["residuals"].max()) if k else 0.0
        text = f"lobpcg: {found['stopped']} after {found['iterations']} iterations; the largest residual is {worst:.3g}, {asked.absolute:.3g} was asked for"
        warnings.warn(text, UserWarning, stacklevel=2)
    values = arrays.small(found["values"])
    result: tuple[Any, ...] = (values, found["vectors"] if vectors is None else vectors)
    if retLambdaHistory:
        result += ([np.array(step[1]) for step in found["steps"]],)
    if retResidualNormsHistory:
        result += ([np.array(step[2]) for step in found["steps"]],)
    return result


def _printer(verbosity: int) -> Callable[..., Any] | None:
    if not verbosity:
        return None

    def say(iteration: int, values: list[float], residuals: list[float]) -> None:
        print(f"iteration {iteration}: values {values}, residuals {residuals}")

    return say


def eigsh(
    A: Any,
    k: int = 6,
    M: Any = None,
    sigma: Any = None,
    which: str = "LM",
    v0: Any = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    Minv: Any = None,
    OPinv: Any = None,
    mode: str = "normal",
    rng: Any = None,
) -> Any:
    """As :func:`scipy.sparse.linalg.eigsh`: ``k`` eigenpairs of a symmetric matrix, values rising.

    By block Lanczos with restarts. ``which`` is "LM" (largest magnitude), "LA" or "SA" (largest and smallest, with signs). What needs a
    factorisation is refused: ``sigma``, "SM", "BE"; a mass matrix ``M`` goes with :func:`lobpcg`. ``tol`` is relative to each value; 0
    asks for as much as arithmetic gives. :class:`scipy.sparse.linalg.ArpackNoConvergence` is raised where it is not reached.
    """
    if M is not None or Minv is not None or OPinv is not None or sigma is not None or mode != "normal":
        raise NotImplementedError("eigsh here takes neither M, Minv, OPinv nor sigma: lobpcg takes B and a preconditioner")
    if which not in ("LM", "LA", "SA"):
        raise ValueError(f"which={which!r}: 'LM', 'LA' or 'SA' expected; of a positive definite matrix 'SA' are the smallest")
    k = whole_number(k, "k")
    matrix = symmetric(A)
    n = matrix.shape[0]
    if k > n:
        raise ValueError(f"k={k}: A has {n} rows, and no more eigenvalues")
    arrays = Arrays(matrix, v0, "v0")
    eps = float(np.finfo(matrix.dtype).eps)
    asked = Asked(
        relative=float(tol) if tol > 0 else 64 * eps,
        max_iterations=1000 if maxiter is None else iterations_of(maxiter),
        seed=seed_of(rng),
        stream=arrays.stream,
    )
    vectors, out = arrays.room(n, k)
    start = arrays.given(v0, "v0")
    subspace = None if ncv is None else max(whole_number(ncv, "ncv"), min(k + 4, n))
    found = kept(_ordito.solve_eigsh(matrix._native, asked, k, which, start, None, subspace, out))
    order = np.argsort(found["values"])
    values, found_vectors = found["values"][order], found["vectors"] if vectors is None else vectors
    is_good = found["converged"] or (tol == 0 and at_rounding(found, eps))
    found_vectors = found_vectors[:, _index(arrays, order)]
    if not is_good:
        raise_no_convergence(found, asked, values, found_vectors)
    values = arrays.small(values)
    return (values, found_vectors) if return_eigenvectors else values


def _index(arrays: Arrays, order: Array) -> Any:
    return order if arrays.of is None or not isinstance(arrays.of, _device._Torch) else order.tolist()


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Callable[..., Any] | None = None,
) -> tuple[Any, int]:
    """As :func:`scipy.sparse.linalg.cg`: x of ``A @ x = b`` for a symmetric positive definite matrix, and 0 where it was reached.

    ``b`` may be a block of right-hand sides: they are solved for together, each at least to ``max(rtol * norm(b), atol)``, in fewer
    iterations and far less time than one by one. ``callback`` is called with the norms of the residuals, and not with x, after every iteration. The
    second number is that of iterations where the tolerance was not reached.

    >>> import numpy as np, scipy.sparse
    >>> A = scipy.sparse.diags_array([np.arange(1.0, 101.0)], offsets=[0]).tocsr()
    >>> x, info = cg(A, np.ones((100, 4)), rtol=1e-10)
    >>> info, bool(abs(A @ x - 1).max() < 1e-8)
    (0, True)
    """
    b = _device.adopted(b, "b")
    b = b if hasattr(b, "shape") else numbers_of(b, "b")
    matrix = as_wide(symmetric(A), b, x0)
    arrays = Arrays(matrix, b, "b")
    shape = tuple(b.shape)
    right, start = arrays.given(b, "b"), arrays.given(x0, "x0")
    columns = shape[1] if len(shape) == 2 else 1
    if atol > 0:
        of_b = _largest_norm(b)
        rtol = max(float(rtol), float(atol) / of_b if of_b > 0 else 0.0)
    asked = Asked(
        relative=float(rtol),
        max_iterations=10 * matrix.shape[0] if maxiter is None else iterations_of(maxiter),
        callback=None if callback is None else lambda _, __, residuals: _nothing(callback(np.array(residuals))),
        stream=arrays.stream,
    )
    x, out = arrays.room(matrix.shape[0], columns)
    found = kept(_ordito.solve_cg(matrix._native, asked, right, start, operator_of(M, matrix, "M"), out))
    x = found["vectors"] if x is None else x
    return x.reshape(shape), 0 if found["converged"] else max(found["iterations"], 1)


def _nothing(_: Any) -> None:
    """What a callback of SciPy's returns does not end anything."""


def _largest_norm(b: Any) -> float:
    """Of the columns."""
    squares = (b * b).sum(0) if _device.is_elsewhere(b) else (np.asarray(b, dtype=np.float64) ** 2).sum(axis=0)
    return math.sqrt(float(squares.max()))


def pagerank(
    A: Any,
    seeds: Any = None,
    *,
    damping: float = 0.85,
    tol: float = 1e-8,
    maxiter: int = 1000,
) -> Any:
    """Ranks of the nodes of a graph, a column for each column of ``seeds``, or one vector for everybody where there are none.

    Row i of ``A`` holds the weights of links from i to others, none of them negative. Every column of ``seeds`` says, by weights, where
    one begins anew. Nodes without links lead to the seeds. Ranks of a column sum to 1.

    >>> import numpy as np, scipy.sparse
    >>> links = scipy.sparse.csr_array(np.array([[0.0, 1, 1], [0, 0, 1], [1, 0, 0]]))
    >>> pagerank(links).round(3)
    array([0.388, 0.215, 0.397])
    """
    matrix = matrix_of(A)
    given = None
    if seeds is not None:
        if np.iscomplexobj(seeds):
            raise TypeError("seeds is complex; real weights expected")
        given = np.asarray(seeds, dtype=matrix.dtype)
        if given.ndim not in (1, 2) or len(given) != matrix.shape[0]:
            raise ValueError(f"seeds has the shape {given.shape}; ({matrix.shape[0]}, number of seeds) expected")
        given = np.ascontiguousarray(given.reshape(len(given), -1))
    asked = Asked(relative=float(tol), max_iterations=iterations_of(maxiter))
    found = kept(_ordito.solve_pagerank(matrix._native, matrix._is_transposed, asked, float(damping), given))
    if not found["converged"]:
        warnings.warn(f"pagerank: {found['stopped']} after {found['iterations']} iterations", UserWarning, stacklevel=2)
    ranks = found["vectors"]
    return ranks if seeds is not None and np.ndim(seeds) == 2 else ranks.ravel()

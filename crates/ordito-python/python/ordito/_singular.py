"""Singular values and vectors: what of :mod:`ordito.linalg` is about them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordito import _ordito
from ordito._solving import Arrays, Asked, at_rounding, from_zero, iterations_of, kept, matrix_of, raise_no_convergence, seed_of
from ordito._sources import whole_number


def svds(
    A: Any,
    k: int = 6,
    ncv: int | None = None,
    tol: float = 0,
    which: str = "LM",
    v0: Any = None,
    maxiter: int | None = None,
    return_singular_vectors: bool | str = True,
    solver: str = "arpack",
    rng: Any = None,
    options: Any = None,
) -> Any:
    """As :func:`scipy.sparse.linalg.svds`: the ``k`` largest singular values, rising, with their vectors ``u, s, vt``.

    ``which="SM"`` is refused. ``solver`` and ``options`` name ways of SciPy's, and are not read.

    >>> import numpy as np, scipy.sparse
    >>> A = scipy.sparse.diags_array([np.arange(100.0)], offsets=[0]).tocsr()
    >>> svds(A, k=2, return_singular_vectors=False).round(6)
    array([98., 99.])
    """
    if which != "LM":
        raise ValueError(f"which={which!r}: the largest singular values, 'LM', are found here")
    if return_singular_vectors not in (True, False, "u", "vh"):
        raise ValueError(f"return_singular_vectors={return_singular_vectors!r}: True, False, 'u' or 'vh' expected")
    k = whole_number(k, "k")
    matrix = matrix_of(A)
    rows, cols = matrix.shape
    if k > min(rows, cols):
        raise ValueError(f"k={k}: A is {rows}×{cols}, and has {min(rows, cols)} singular values")
    arrays = Arrays(matrix, v0, "v0")
    eps = float(np.finfo(matrix.dtype).eps)
    asked = Asked(
        relative=float(tol) if tol > 0 else 1e2 * eps,
        max_iterations=1000 if maxiter is None else iterations_of(maxiter),
        seed=seed_of(rng),
        stream=arrays.stream,
    )
    (left, left_out), (right, right_out) = arrays.room(rows, k), arrays.room(cols, k)
    out = None if left is None else (left_out, right_out)
    start = arrays.given(v0, "v0")
    subspace = None if ncv is None else max(whole_number(ncv, "ncv"), min(k + 4, rows, cols))

    found = kept(_ordito.solve_svds(matrix._native, matrix._is_transposed, asked, k, start, None, subspace, out))
    if not (found["converged"] or (tol == 0 and at_rounding(found, eps))):
        raise_no_convergence(found, asked, found["values"], None)
    u, s, vt = _triplets(found, left, right, arrays)
    u, s, vt = u[:, ::-1] if arrays.of is None else _flip(u, 1), s, vt[::-1] if arrays.of is None else _flip(vt, 0)
    s = arrays.small(found["values"][::-1].copy())
    if return_singular_vectors is False:
        return s
    return u if return_singular_vectors != "vh" else None, s, vt if return_singular_vectors != "u" else None


def _flip(x: Any, axis: int) -> Any:
    if hasattr(x, "flip"):
        return x.flip(axis)
    return x[:, ::-1] if axis == 1 else x[::-1]


def _triplets(found: dict[str, Any], left: Any, right: Any, arrays: Arrays) -> tuple[Any, Any, Any]:
    u = found["left"] if left is None else left
    v = found["right"] if right is None else right
    return u, arrays.small(found["values"]), v.T


def randomized_svd(
    M: Any,
    n_components: int,
    *,
    n_oversamples: int = 10,
    n_iter: int | str = "auto",
    power_iteration_normalizer: str = "auto",
    transpose: bool | str = "auto",
    flip_sign: bool = True,
    random_state: Any = "warn",
    svd_lapack_driver: str = "gesdd",
) -> Any:
    """As :func:`sklearn.utils.extmath.randomized_svd`: nearly the largest singular triplets ``U, s, Vt``, values falling.

    ``power_iteration_normalizer``, ``transpose`` and ``svd_lapack_driver`` say how scikit-learn goes about it, and are not read.
    """
    count = whole_number(n_components, "n_components")
    matrix = matrix_of(M)
    rows, cols = matrix.shape
    if count > min(rows, cols):
        raise ValueError(f"n_components={count}: M is {rows}×{cols}, and has {min(rows, cols)} singular values")
    arrays = Arrays(matrix)
    asked = Asked(seed=seed_of(random_state), stream=arrays.stream)
    (left, left_out), (right, right_out) = arrays.room(rows, count), arrays.room(cols, count)
    out = None if left is None else (left_out, right_out)
    iterations = None if n_iter == "auto" else from_zero(n_iter, "n_iter")
    native, transposed = matrix._native, matrix._is_transposed
    found = kept(_ordito.solve_randomized_svd(native, transposed, asked, count, from_zero(n_oversamples, "n_oversamples"), iterations, out))
    u, s, vt = _triplets(found, left, right, arrays)
    if flip_sign:
        u, vt = _flipped(u, vt, arrays)
    return u, s, vt


def _flipped(u: Any, vt: Any, arrays: Arrays) -> tuple[Any, Any]:
    """Signs as scikit-learn has them: the largest element of every column of U is positive."""
    columns = range(u.shape[1])
    if arrays.of is None:
        signs = np.sign(u[np.abs(u).argmax(axis=0), columns])
        return u * signs, vt * signs[:, None]
    absolute = abs(u)
    signs = u[absolute.argmax(0), list(columns)]
    signs = signs / abs(signs)
    return u * signs, vt * signs[:, None]

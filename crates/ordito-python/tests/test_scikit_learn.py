"""ordito.sparse.csr_array: SciPy's matrix with products of ours, for code that wants a matrix."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
from arrays import random_csr, whole_numbers
from numpy.testing import assert_allclose, assert_array_equal

ARRAYS = ("data", "indices", "indptr")


def pair(rows: int = 20, cols: int = 15, dtype: Any = np.float64) -> tuple[sp.csr_array, Any]:
    """The same numbers, of theirs and of ours."""
    s = random_csr(np.random.default_rng(0), rows, cols, dtype=dtype)
    return s, ordito.sparse.csr_array(s.copy())


# --- scikit-learn ---


@pytest.mark.parametrize("shape", [(200, 120), (120, 200)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_randomized_svd(shape: tuple[int, int], dtype: Any) -> None:
    extmath = pytest.importorskip("sklearn.utils.extmath")
    s = sp.random_array(shape, density=0.05, format="csr", dtype=dtype, rng=np.random.default_rng(1))
    u, ours, vt = extmath.randomized_svd(ordito.sparse.csr_array(s), 5, random_state=0)
    _, theirs, _ = extmath.randomized_svd(s, 5, random_state=0)
    tolerance = 1e-3 if dtype is np.float32 else 1e-9
    assert ours.dtype == dtype
    assert_allclose(ours, theirs, rtol=tolerance)
    assert_allclose(np.abs(u.T @ (s @ vt.T)), np.diag(ours), atol=30 * tolerance)


@pytest.mark.parametrize("algorithm", ["randomized", "arpack"])
def test_truncated_svd(algorithm: str) -> None:
    decomposition = pytest.importorskip("sklearn.decomposition")
    s = sp.random_array((150, 100), density=0.05, format="csr", rng=np.random.default_rng(2))
    ours, theirs = (decomposition.TruncatedSVD(4, algorithm=algorithm, random_state=0) for _ in range(2))
    of_ours, of_theirs = ours.fit_transform(ordito.sparse.csr_array(s)), theirs.fit_transform(s)
    assert_allclose(ours.singular_values_, theirs.singular_values_, rtol=1e-9)
    assert_allclose(np.abs(of_ours), np.abs(of_theirs), atol=1e-6)
    assert_allclose(np.abs(ours.transform(ordito.sparse.csr_array(s[:7]))), np.abs(of_theirs[:7]), atol=1e-6)


def test_a_model_that_learns_from_it() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    s = sp.random_array((150, 30), density=0.2, format="csr", rng=np.random.default_rng(3))
    target = s @ np.arange(30.0)
    ours = linear_model.Ridge(alpha=1e-3, solver="sparse_cg", tol=1e-10).fit(ordito.sparse.csr_array(s), target)
    theirs = linear_model.Ridge(alpha=1e-3, solver="sparse_cg", tol=1e-10).fit(s, target)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-6)


# --- products ---


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.complex64, bool, np.longdouble])
@pytest.mark.parametrize("of_x", [np.float32, np.float64, np.int8, np.complex128, bool, np.longdouble])
def test_products_are_scipys_in_every_type(dtype: Any, of_x: Any) -> None:
    s, a = pair(dtype=dtype)
    x = whole_numbers(np.random.default_rng(4), (15, 3)).astype(of_x)
    for _ in range(2):
        assert_array_equal(a @ x, s @ x, strict=True)
        assert_array_equal(a @ x[:, 0], s @ x[:, 0], strict=True)
        assert_array_equal(x.T @ a.T, x.T @ s.T, strict=True)
        assert_array_equal(a.T @ np.ones((20, 2), of_x), s.T @ np.ones((20, 2), of_x), strict=True)
        assert_array_equal(np.ones(20, of_x) @ a, np.ones(20, of_x) @ s, strict=True)
        assert (a.dtype, a.T.dtype) == (dtype, dtype)


def test_it_is_a_sparse_array_in_all_else() -> None:
    s, a = pair()
    assert sp.issparse(a) and isinstance(a, sp.csr_array) and a.format == "csr"
    a @ np.ones(15)
    for ours, theirs in [
        (a + a, s + s),
        (a @ a.T, s @ s.T),
        (a[3:9, ::2], s[3:9, ::2]),
        (a.multiply(a), s.multiply(s)),
        (2 * a, 2 * s),
        (a.tocsc(), s.tocsc()),
        (a.T.T, s),
        (abs(a), abs(s)),
        (a.astype(np.float32), s.astype(np.float32)),
        (sp.vstack([a, a]), sp.vstack([s, s])),
    ]:
        assert_array_equal(ours.toarray(), theirs.toarray(), strict=True)
    assert_array_equal(a.sum(axis=0), s.sum(axis=0))
    assert_array_equal(a.sum(axis=1), s.sum(axis=1))
    assert a.max() == s.max() and a.nnz == s.nnz


def test_one_dimension_is_scipys() -> None:
    a = ordito.sparse.csr_array(np.array([1.0, 0.0, 2.0]))
    assert a.T.shape == (3,) and a @ np.ones(3) == 3.0


# --- read-only after use, and never stale ---

CHANGES: dict[str, Callable[[Any], Any]] = {
    "data": lambda a: a.data.__setitem__(0, 7.0),
    "indices": lambda a: a.indices.__setitem__(0, 1),
    "indptr": lambda a: a.indptr.__setitem__(1, 0),
    "an entry": lambda a: a.__setitem__((int(a.tocoo().row[0]), int(a.indices[0])), 7.0),
    "a multiplication": lambda a: a.__imul__(2.0),
    "a division": lambda a: a.__itruediv__(2.0),
    "the diagonal": lambda a: a.setdiag(3.0),
    "zeros": lambda a: (a.data.__setitem__(0, 0.0), a.eliminate_zeros()),
}


def write(a: Any, change: Callable[[Any], Any]) -> bool:
    """Was it allowed?"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)
        try:
            change(a)
        except ValueError as refused:
            assert "read-only" in str(refused)
            return False
    return True


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("used", ["product", "transposed", "from the left"])
def test_after_use_changes_are_refused_or_seen(change: str, used: str) -> None:
    _, a = pair(15, 15)
    _ = {"product": lambda: a @ np.ones(15), "transposed": lambda: a.T, "from the left": lambda: np.ones(15) @ a}[used]()
    assert not any(getattr(a, name).flags.writeable for name in ARRAYS)
    write(a, CHANGES[change])
    as_it_is = sp.csr_array((a.data, a.indices, a.indptr), shape=a.shape)
    x = whole_numbers(np.random.default_rng(5), (15, 2))
    assert_array_equal(a @ x, as_it_is @ x)
    assert_array_equal(a.T @ x, as_it_is.T @ x)
    assert_array_equal(x.T @ a, x.T @ as_it_is)


@pytest.mark.parametrize("change", CHANGES)
def test_before_use_changes_are_allowed(change: str) -> None:
    s, a = pair(15, 15)
    for matrix in (s, a):
        assert write(matrix, CHANGES[change])
    assert_array_equal(a.toarray(), s.toarray())
    assert_array_equal(a @ np.ones(15), s @ np.ones(15))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "copied", [lambda a: a.copy(), copy.deepcopy, *(lambda a, p=p: pickle.loads(pickle.dumps(a, p)) for p in (4, 5))]
)
def test_a_copy_may_be_changed(change: str, copied: Any) -> None:
    s, a = pair(15, 15)
    a @ np.ones((15, 2))
    a.T @ np.ones(15)
    other = copied(a)
    assert type(other) is ordito.sparse.csr_array and all(getattr(other, name).flags.writeable for name in ARRAYS)
    changed = s.copy()
    for matrix in (changed, other):
        assert write(matrix, CHANGES[change])
    assert_array_equal(other @ np.ones((15, 2)), changed @ np.ones((15, 2)))
    assert_array_equal(other.T @ np.ones((15, 2)), changed.T @ np.ones((15, 2)))
    assert_array_equal(a @ np.ones((15, 2)), s @ np.ones((15, 2)))


@pytest.mark.parametrize("name", ARRAYS)
def test_other_arrays_are_seen(name: str) -> None:
    """Exchanging an array is no change of the one that was prepared."""
    _, a = pair()
    x, left = whole_numbers(np.random.default_rng(6), (15, 3)), np.ones((2, 20))
    a @ x
    turned = a.T
    old = turned.toarray()
    replaced = {"data": 3 * a.data, "indices": 14 - a.indices, "indptr": a.indptr.copy()}[name]
    if name == "indptr":
        replaced[1:-1] = replaced[-1] // 2
    setattr(a, name, replaced)
    as_it_is = sp.csr_array((a.data, a.indices, a.indptr), shape=a.shape)
    assert_array_equal(a @ x, as_it_is @ x)
    assert_array_equal(left @ a, left @ as_it_is)
    assert_array_equal(a.T.toarray(), as_it_is.T.toarray())
    # The transposed that was taken before stays what it was, and so does its transposed.
    assert_array_equal(turned.toarray(), old)
    assert_array_equal(turned.T @ x, old.T @ x)
    assert_array_equal(turned @ left.T, old @ left.T)


@pytest.mark.parametrize("shape", [(25, 15), (20, 18), (12, 15), (25, 9)])
def test_resizing_is_seen(shape: tuple[int, int]) -> None:
    s, a = pair()
    a @ np.ones(15)
    a.T @ np.ones(20)
    for matrix in (s, a):
        matrix.resize(shape)
    x = whole_numbers(np.random.default_rng(7), (shape[1], 3))
    assert_array_equal(a @ x, s @ x)
    assert_array_equal(a.T @ (s @ x), s.T @ (s @ x))


def test_a_change_that_stops_halfway_is_found_out() -> None:
    """SciPy has exchanged two arrays when the third, read-only, refuses: what is left is no matrix."""
    _, a = pair()
    a @ np.ones(15)
    with pytest.raises(ValueError, match="read-only"):
        a.resize((20, 9))
    with pytest.raises(ValueError, match="row offsets must rise"):
        a @ np.ones(15)


def test_the_transposed_is_kept() -> None:
    _, a = pair()
    turned = a.T
    assert turned is a.T and turned.T is a and turned.format == "csr"
    assert a.transpose(copy=True) is not turned
    assert_array_equal(a.transpose(copy=True).toarray(), turned.toarray())


@pytest.mark.parametrize("change", ["sort_indices", "sum_duplicates", "eliminate_zeros"])
def test_what_would_reorder_the_arrays_in_place_is_refused(change: str) -> None:
    untidy = sp.csr_array((np.array([3.0, 1.0, 0.0, 2.0]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3))
    a = ordito.sparse.csr_array(untidy)
    expected = a @ np.ones((3, 2))
    before = [getattr(a, name).copy() for name in ARRAYS]
    with pytest.raises(ValueError, match="read-only"):
        getattr(a, change)()
    for name, array in zip(ARRAYS, before):
        assert_array_equal(getattr(a, name), array)
    assert_array_equal(a @ np.ones((3, 2)), expected)
    tidy = a.copy()
    getattr(tidy, change)()
    assert_array_equal(tidy @ np.ones((3, 2)), expected)


def test_the_source_stays_writable() -> None:
    s = random_csr(np.random.default_rng(8), 5, 4)
    a = ordito.sparse.csr_array(s, copy=True)
    before = a @ np.ones(4)
    assert s.data.flags.writeable
    s.data[:] = 0
    assert_array_equal(a @ np.ones(4), before)


def test_wrong_arrays_are_refused_before_anything_runs() -> None:
    a = ordito.sparse.csr_array(random_csr(np.random.default_rng(9), 5, 4))
    a.indices = a.indices + 100
    with pytest.raises(ValueError, match="is outside"):
        a @ np.ones(4)

"""What comes in at other doors than a product's X: places of entries, masks, types of operands, sizes that cannot be had."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import ordito
import ordito.linalg
import pytest
import scipy.io
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.testing import assert_allclose, assert_array_equal

EYE = sp.csr_array(np.eye(4))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("wrong", [-5, -1, 6, 10**6, 2**31 - 1])
@pytest.mark.parametrize("kind", [sp.coo_array, sp.coo_matrix])
def test_entries_outside_of_the_matrix(kind: Any, axis: int, wrong: int) -> None:
    s = kind((np.ones(3), ([0, 1, 2], [3, 4, 5])), shape=(6, 6))
    (s.row if axis == 0 else s.col)[1] = wrong
    with pytest.raises(ValueError, match=f"{'column' if axis else 'row'} index {wrong}: from 0 to 5 expected, A is 6×6"):
        ordito.csr(s)


def test_fewer_places_than_entries() -> None:
    s = sp.coo_array((np.ones(3), ([0, 1, 2], [0, 1, 2])), shape=(3, 3))
    s.data = np.ones(5)
    with pytest.raises(ValueError, match="3 row indices for 5 entries"):
        ordito.csr(s)


@pytest.mark.parametrize(("name", "place", "wrong"), [("indptr", 1, 10**8), ("indptr", 1, -3), ("indices", 0, 10**6), ("indices", 0, -1)])
def test_blocks_outside_of_the_matrix(name: str, place: int, wrong: int) -> None:
    s = sp.bsr_array(np.eye(6), blocksize=(2, 2))
    getattr(s, name)[place] = wrong
    with pytest.raises(ValueError):
        ordito.csr(s)


def test_what_is_masked_is_refused() -> None:
    masked = np.ma.masked_array(np.ones((4, 2)), mask=np.eye(4, 2))
    data = np.ma.masked_array(np.ones(4), mask=[0, 0, 1, 0])
    calls: list[Callable[[], Any]] = [
        lambda: ordito.csr(EYE) @ masked,
        lambda: ordito.gemm(np.eye(4), masked),
        lambda: ordito.column_stats(masked),
        lambda: ordito.csr((data, EYE.indices, EYE.indptr)),
        lambda: ordito.linalg.cg(EYE, masked),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="is masked: fill it"):
            call()
    unmasked = np.ma.masked_array(np.ones((4, 2)))
    assert_array_equal(ordito.csr(EYE) @ unmasked, np.ones((4, 2)))


@pytest.mark.parametrize("data", [np.array(["1"] * 4), np.zeros(4, "M8[s]"), np.array([1, None, 2, 3])])
def test_a_type_that_is_asked_for_makes_no_numbers_of_other_things(data: Any) -> None:
    with pytest.raises(TypeError, match="A is .*; numbers expected"):
        ordito.csr((data, EYE.indices, EYE.indptr), dtype=np.float64)
    long = np.ones(4, np.longdouble)
    assert ordito.csr((long, EYE.indices, EYE.indptr), dtype=np.float32).dtype == np.float32


def test_complex_operands_of_solvers_are_refused() -> None:
    b = np.ones(4)
    for m in (sp.diags_array(np.ones(4) * 1j), lambda block: block * (1 + 5j), sp.csr_array(np.eye(4) * 1j)):
        with pytest.raises(TypeError, match="M (is|gives) complex128"):
            ordito.linalg.cg(EYE * 2, b, M=m)
    with pytest.raises(TypeError, match="seeds is complex"):
        ordito.linalg.pagerank(EYE, b * 1j)


def test_solvers_compute_in_the_wider_type_as_scipy_does() -> None:
    s = sp.diags_array(np.arange(1.0, 41.0), format="csr").astype(np.float32)
    x, info = ordito.linalg.cg(s, np.ones(40), rtol=1e-12)
    assert x.dtype == scipy.sparse.linalg.cg(s, np.ones(40))[0].dtype == np.float64
    assert info == 0
    assert_allclose(x, 1 / np.arange(1.0, 41.0), rtol=1e-9)
    assert ordito.linalg.cg(s, np.ones(40, np.float32))[0].dtype == np.float32
    start = np.random.default_rng(0).normal(size=(40, 2))
    assert ordito.linalg.lobpcg(s, start, maxiter=200, tol=1e-6)[1].dtype == np.float64
    assert ordito.linalg.lobpcg(s, start.astype(np.float32), maxiter=60, tol=1e-2)[1].dtype == np.float32


def test_memory_that_is_not_there_is_a_memory_error() -> None:
    large = sp.eye_array(200_000).tocsr()
    # Each block of the basis would fit, all of them would not.
    with pytest.raises(MemoryError, match="held already|would need"):
        ordito.linalg.eigsh(large, 100_000)
    with pytest.raises(MemoryError):
        ordito.read("uniform:3000000000x3000000")


def test_writing_to_a_file_is_as_scipy_does_it(tmp_path: Path) -> None:
    a = sp.random_array((150, 150), density=0.1, rng=np.random.default_rng(1), format="csr")
    small = sp.csr_array(np.array([[1.0, 2.0], [2.0, 3.0]]))
    for which, matrix in enumerate([(a + a.T).astype(np.int64), (a + a.T) * 1j, (a + a.T).toarray(), small.toarray(), small * 1j]):
        ours, theirs = tmp_path / f"ours{which}.mtx", tmp_path / f"theirs{which}.mtx"
        ordito.io.mmwrite(ours, matrix)
        scipy.io.mmwrite(theirs, matrix)
        assert ours.read_bytes() == theirs.read_bytes()
    for wrong in ("", "."):
        with pytest.raises((ValueError, OSError)):
            ordito.io.mmwrite(wrong, small)
        with pytest.raises((ValueError, OSError)):
            ordito.io.mmread(wrong)


def test_unsigned_integers_stay_unsigned(tmp_path: Path) -> None:
    path = tmp_path / "unsigned.mtx"
    scipy.io.mmwrite(path, sp.coo_array(np.array([[1, 2]], np.uint32)))
    assert "unsigned-integer" in path.read_text()
    assert ordito.io.mmread(path).dtype == scipy.io.mmread(path).dtype == np.uint64


def test_what_indices_of_32_bits_do_not_reach_is_left_to_scipy(tmp_path: Path) -> None:
    a = sp.coo_array((np.array([2.5]), (np.array([1]), np.array([5 * 10**9 - 1]))), shape=(3, 5 * 10**9))
    path = tmp_path / "wide.mtx"
    ordito.io.mmwrite(path, a)
    read = ordito.io.mmread(path)
    assert read.shape == a.shape and read.data.tolist() == [2.5] and int(read.col[0]) == 5 * 10**9 - 1
    with pytest.raises(ValueError):
        ordito.read(path)


SENTENCES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "memory of bytes": (lambda: ordito.csr(EYE) @ memoryview(np.ones(5)), ValueError, "X must have 4 rows|X must have 4 elements"),
    "a wrapped matrix in gemm": (lambda: ordito.gemm(ordito.csr(EYE), np.eye(4)), TypeError, "a is sparse, and wrapped"),
    "nothing in gemm": (lambda: ordito.gemm(None, np.eye(4)), TypeError, "a is a NoneType; an array expected"),
    "statistics of nothing": (lambda: ordito.column_stats(None), TypeError, "x is a NoneType; an array expected"),
    "no right-hand side": (lambda: ordito.linalg.cg(EYE, None), TypeError, "b is a NoneType; an array expected"),
    "no first guess": (lambda: ordito.linalg.lobpcg(EYE, None), TypeError, "X is a NoneType; an array expected"),
    "fewer than no iterations": (lambda: ordito.linalg.randomized_svd(EYE, 1, n_iter=-1), ValueError, "n_iter=-1: a whole number from 0 on expected"),
    "words": (lambda: ordito.linalg.randomized_svd(EYE, 1, n_iter="foo"), ValueError, "n_iter='foo': a whole number"),
    "fewer than none": (lambda: ordito.linalg.randomized_svd(EYE, 1, n_oversamples=-1), ValueError, "n_oversamples=-1: a whole number"),
    "too far away": (lambda: ordito.csr(EYE, device="cuda:" + 23 * "9"), ValueError, '"cpu", "cuda" or "cuda:1" expected'),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_what_is_wrong_is_said(case: str) -> None:
    call, error, text = SENTENCES[case]
    with pytest.raises(error, match=text):
        call()


def test_very_many_iterations_and_seeds_of_several_numbers() -> None:
    s = sp.diags_array(np.arange(1.0, 41.0), format="csr")
    values, _ = ordito.linalg.lobpcg(s, np.eye(40, 2), maxiter=10**30, tol=1e-3)
    assert values.shape == (2,)
    assert ordito.linalg.eigsh(s, 2, rng=np.array([1, 2]))[0].shape == (2,)


def test_torch_is_imported_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(ordito, "torch", raising=False)  # first: it looks whether it is there, which imports it
    monkeypatch.delitem(sys.modules, "ordito.torch", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)  # as where it is not installed
    with pytest.raises(AttributeError, match="ordito.torch needs torch"):
        ordito.torch  # noqa: B018
    assert not hasattr(ordito, "no_such_thing")

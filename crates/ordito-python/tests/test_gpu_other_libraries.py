"""Arrays on a GPU of libraries other than CuPy and torch, which tell where they lie."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import ordito
import ordito.linalg
import pytest
import scipy.sparse as sp
from gpu_arrays import Torch, matrix, numbers
from numpy.testing import assert_allclose, assert_array_equal


class Foreign:
    """Memory of another's, which tells by these attributes alone where it lies."""

    def __init__(self, array: Any, told: list[str]) -> None:
        for name in told:
            setattr(self, name, getattr(array, name))


BY_INTERFACE, BY_DLPACK = ["__cuda_array_interface__"], ["__dlpack__", "__dlpack_device__"]


@pytest.mark.parametrize("told", [BY_INTERFACE, BY_DLPACK])
def test_other_libraries_tell_where_their_arrays_lie(gpu: Any, told: list[str]) -> None:
    cupy = pytest.importorskip("cupy")
    s, a = matrix()
    x = numbers((40, 3))
    there = gpu.put(x)
    found = a @ Foreign(there, told)
    assert isinstance(found, cupy.ndarray)
    assert_array_equal(cupy.asnumpy(found), s.toarray() @ x, strict=True)


def test_torch_alone_takes_arrays_by_dlpack(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Torch()
    s, a = matrix()
    x = numbers((40, 3))
    there = gpu.put(x)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    assert_array_equal(gpu.get(a @ Foreign(there, BY_DLPACK)), s.toarray() @ x, strict=True)
    y, elsewhere = gpu.put(np.zeros((60, 3))), gpu.put(np.zeros((60, 3)))
    out = Foreign(y, BY_INTERFACE + BY_DLPACK)
    assert a.matmul(Foreign(there, BY_DLPACK), out=out) is out
    assert_array_equal(gpu.get(y), s.toarray() @ x, strict=True)
    out.__dlpack__ = elsewhere.__dlpack__  # type: ignore[attr-defined] # as a library does that gives a copy
    with pytest.raises(TypeError, match="out is a Foreign, which torch takes as a copy only"):
        a.matmul(Foreign(there, BY_DLPACK), out=out)
    assert_array_equal(gpu.get(elsewhere), np.zeros((60, 3)), strict=True)


def test_arrays_of_other_libraries_are_written_in_place_or_not_at_all(gpu: Any) -> None:
    cupy = pytest.importorskip("cupy")
    s, a = matrix()
    x, y = numbers((40, 3)), numbers((60, 3), seed=2)
    x_there, y_there = gpu.put(x), gpu.put(y)
    out = Foreign(y_there, BY_INTERFACE)
    assert a.matmul(Foreign(x_there, BY_INTERFACE), out=out, alpha=2, beta=1) is out
    cupy.cuda.Device().synchronize()
    assert_array_equal(gpu.get(y_there), 2 * (s.toarray() @ x) + y, strict=True)
    with pytest.raises(TypeError, match="out is a Foreign, which tells by DLPack alone"):
        a.matmul(Foreign(x_there, BY_DLPACK), out=Foreign(y_there, BY_DLPACK))
    told = dict(out.__cuda_array_interface__)  # type: ignore[attr-defined]
    out.__cuda_array_interface__ = told | {"data": (told["data"][0], True)}  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="out is read-only"):
        a.matmul(Foreign(x_there, BY_INTERFACE), out=out)


def test_solvers_take_them_too(gpu: Any) -> None:
    pytest.importorskip("cupy")
    a = ordito.csr(sp.diags_array(np.arange(1.0, 41.0)).tocsr(), device="cuda")
    b = gpu.put(np.arange(1.0, 41.0))
    found, info = ordito.linalg.cg(a, Foreign(b, BY_INTERFACE))
    assert info == 0
    assert_allclose(found.get(), np.ones(40), rtol=1e-4)

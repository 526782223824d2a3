"""A matrix that SciPy and scikit-learn take for their own, with products of Ordito's."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import scipy.sparse as sp

from ordito._matrix import Matrix
from ordito._sources import Array
from ordito._wrapping import csr

__all__ = ["csr_array"]


class csr_array(sp.csr_array):  # type: ignore[misc] # SciPy's stubs are not asked for
    """``scipy.sparse.csr_array`` whose products with dense arrays run on all cores, by chosen kernels.

    For code that asks for a sparse matrix and not for an operator: ``sklearn.utils.extmath.randomized_svd``, ``TruncatedSVD`` and
    others. Its arrays are read-only from the first product or transpose on, because what is prepared would not follow a change; ``A.copy()`` is
    one that may be changed, and prepares anew. Nobody may change arrays that it was made of (``copy=True`` copies them).

    >>> import numpy as np, scipy.sparse
    >>> A = csr_array(scipy.sparse.csr_array(np.eye(2)))
    >>> A.T @ np.array([[1.0, 2.0], [3.0, 4.0]])
    array([[1., 2.],
           [3., 4.]])
    """

    _ready: Matrix | None = None
    #: What was ready when it was transposed, the transposed, and what was ready of that.
    _turned: tuple[Matrix, csr_array, Matrix] | None = None
    #: What it is the transposed of. Both must be able to go at once, so that only one of them holds the other.
    _of: weakref.ref[csr_array] | None = None

    def _prepared(self) -> Matrix:
        ready = self._ready
        if ready is None or not self._is_of(ready):
            for name in ("data", "indices", "indptr"):
                array = np.ascontiguousarray(getattr(self, name)).view()
                array.flags.writeable = False
                setattr(self, name, array)
            ready = self._ready = csr((self.data, self.indices, self.indptr), shape=self.shape)
        return ready

    def _is_of(self, ready: Matrix) -> bool:
        """Were the arrays not exchanged since?"""
        parts = ready._parts
        arrays = (self.data is parts.data, self.indices is parts.indices, self.indptr is parts.indptr)
        return all(arrays) and self.shape == ready.shape

    def _multiplies(self) -> bool:
        return self.ndim == 2 and self.dtype in (np.float32, np.float64)

    def _matmul_vector(self, other: Array) -> Any:
        return self._prepared() @ other if self._takes(other) else super()._matmul_vector(other)

    def _matmul_multivector(self, other: Array) -> Any:
        return self._prepared() @ other if self._takes(other) else super()._matmul_multivector(other)

    def _takes(self, other: Array) -> bool:
        return self._multiplies() and other.dtype.kind in "fiubc" and other.dtype.char not in "gG"

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        """The transposed, by rows again: sorted once, and kept."""
        if copy or axes is not None or not self._multiplies():
            return super().transpose(axes, copy)
        ready, origin = self._prepared(), None if self._of is None else self._of()
        if origin is not None and origin._turned is not None:
            before, turned, then = origin._turned
            if turned is self and then is ready and origin._prepared() is before:
                return origin
        kept = self._turned
        if kept is None or kept[0] is not ready or kept[1]._prepared() is not kept[2]:
            turned = csr_array(super().transpose().tocsr())
            turned._of = weakref.ref(self)
            kept = self._turned = ready, turned, turned._prepared()
        return kept[1]

    def __getstate__(self) -> dict[str, Any]:
        # In another process, or copied deeply, the arrays can be written again.
        return {name: value for name, value in self.__dict__.items() if name not in ("_ready", "_turned", "_of")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Protocol 5, which Python 3.14 takes by default, brings arrays back as they were: not to be written.
        self.__dict__.update(state)
        for name in ("data", "indices", "indptr"):
            array = state.get(name)
            if isinstance(array, np.ndarray) and not array.flags.writeable:
                setattr(self, name, array.copy())

"""A matrix that SciPy and scikit-learn take for their own, with products of Ordito's."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ordito._matrix import Matrix, csr
from ordito._sources import Array, precision

__all__ = ["csr_array"]


class csr_array(sp.csr_array):  # type: ignore[misc] # SciPy's stubs are not asked for
    """``scipy.sparse.csr_array`` whose products with dense arrays run on all cores, by chosen kernels.

    For code that asks for a sparse matrix and not for an operator: ``sklearn.utils.extmath.randomized_svd``, ``TruncatedSVD`` and
    others. Its arrays are read-only, because what is prepared would not follow a change; ``A.copy()`` is one that may be changed,
    and prepares anew.

    >>> import numpy as np, scipy.sparse
    >>> A = csr_array(scipy.sparse.csr_array(np.eye(2)))
    >>> A.T @ np.array([[1.0, 2.0], [3.0, 4.0]])
    array([[1., 2.],
           [3., 4.]])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._ready: Matrix | None = None
        self._turned: csr_array | None = None

    def _prepared(self) -> Matrix:
        ready = getattr(self, "_ready", None)
        if ready is None or ready._parts.data is not self.data or ready._parts.indices is not self.indices:
            for name in ("data", "indices", "indptr"):
                array = getattr(self, name).view()
                array.flags.writeable = False
                setattr(self, name, array)
            ready = self._ready = csr(sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape, copy=False))
            self.data, self.indices = ready._parts.data, ready._parts.indices
        return ready

    def _multiplies(self, other: Array) -> bool:
        real = self.dtype in (np.float32, np.float64) and other.dtype.kind in "fiubc"
        return real and self.ndim == 2

    def _matmul_vector(self, other: Array) -> Any:
        return self._prepared() @ other if self._multiplies(other) else super()._matmul_vector(other)

    def _matmul_multivector(self, other: Array) -> Any:
        return self._prepared() @ other if self._multiplies(other) else super()._matmul_multivector(other)

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        """The transposed, by rows again: sorted once, and kept."""
        if copy or axes is not None:
            return super().transpose(axes, copy)
        if getattr(self, "_turned", None) is None:
            self._prepared()
            self._turned = csr_array(super().transpose().tocsr())
            self._turned._turned = self
        return self._turned

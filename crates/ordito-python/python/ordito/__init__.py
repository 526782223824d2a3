"""Sparse matrix times a block of vectors, on every core of a CPU and on NVIDIA GPUs.

>>> import numpy as np, scipy.sparse, ordito
>>> A = ordito.csr(scipy.sparse.csr_array([[0.0, 2.0], [3.0, 0.0]]))
>>> A @ np.array([[1.0, 10.0], [2.0, 20.0]])
array([[ 4., 40.],
       [ 3., 30.]])

``csr`` wraps a matrix of SciPy, CuPy or torch; ``read`` takes a Matrix Market file. The result multiplies, and is a
``scipy.sparse.linalg.LinearOperator``. ``ordito.linalg`` has ``lobpcg``, ``eigsh``, ``svds``, ``cg`` and others as SciPy has them, faster.
Beside them there are ``gemm`` (dense products), ``column_stats`` and ``erp`` (averages of EEG epochs), ``ordito.io`` (files), ``ordito.sparse`` (a matrix for
scikit-learn), ``ordito.torch`` (an operator with gradients) and ``ordito.mpi`` (rows on ranks of mpi4py).
"""

import importlib
from typing import TYPE_CHECKING, Any

from ordito import io, linalg, mpi, sparse
from ordito._dense import ColumnStats, column_stats, gemm
from ordito._doctor import doctor
from ordito._matrix import Choice, Matrix
from ordito._ordito import __version__
from ordito._wrapping import csr, read
from ordito.eeg import Erp, erp

__all__ = [
    "Choice",
    "ColumnStats",
    "Erp",
    "Matrix",
    "__version__",
    "column_stats",
    "csr",
    "doctor",
    "erp",
    "gemm",
    "io",
    "linalg",
    "mpi",
    "read",
    "sparse",
]


if not TYPE_CHECKING:  # who checks types reads `import ordito.torch`, and is to say what is not there

    def __getattr__(name: str) -> Any:
        """``ordito.torch`` comes when it is asked for: torch takes seconds to import, and is not installed everywhere."""
        if name != "torch":
            raise AttributeError(f"module 'ordito' has no attribute {name!r}")
        try:
            return importlib.import_module("ordito.torch")
        except ImportError as error:
            raise AttributeError(f"ordito.torch needs torch, which cannot be imported: {error}") from error

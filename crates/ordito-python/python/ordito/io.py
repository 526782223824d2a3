"""Matrix Market files and tables of numbers, read on all cores: the functions of ``scipy.io`` and NumPy with their names."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from ordito import _ordito
from ordito._sources import _signed, asked_precision

__all__ = ["loadtxt", "mmread", "mmwrite"]

#: Rows or columns that indices of 32 bits reach.
_MOST = 2**32 - 1


def mmread(source: Any, *, spmatrix: bool = True) -> Any:
    """As ``scipy.io.mmread``: a COO matrix (with ``spmatrix=False`` a COO array), or an array where the file is one.

    Files by name (``.mtx``, ``.mtx.gz``) are read on all cores. Streams, ``.bz2`` and complex numbers are read by SciPy.

    >>> import os, tempfile, scipy.sparse
    >>> path = os.path.join(tempfile.mkdtemp(), "a.mtx.gz")
    >>> mmwrite(path, scipy.sparse.coo_array([[0.0, 2.5]]))
    >>> mmread(path).toarray()
    array([[0. , 2.5]])
    """
    if not isinstance(source, (str, os.PathLike)):
        return _by_scipy(source, spmatrix)
    path = _existing(source)
    if path.suffix == ".bz2" or "complex" in _banner(path) or "hermitian" in _banner(path):
        return _by_scipy(path, spmatrix)
    try:
        shape, (rows, cols, values), field, layout = _ordito.read_coo(path)
    except ValueError:
        if _is_beyond_our_indices(path):
            return _by_scipy(path, spmatrix)
        raise
    if field == "integer":
        if values.size and np.abs(values).max() >= 2.0**53:
            return _by_scipy(path, spmatrix)  # not every such number is one of float64
        values = values.astype(np.uint64 if "unsigned-integer" in _banner(path) else np.int64)
    entries = (values, (_signed(rows, shape[0]), _signed(cols, shape[1])))
    if layout == "array":
        dense = np.zeros(shape, dtype=values.dtype)
        dense[entries[1]] = values
        return dense
    return sp.coo_matrix(entries, shape=shape) if spmatrix else sp.coo_array(entries, shape=shape)


def mmwrite(
    target: Any,
    a: Any,
    comment: str | None = None,
    field: str | None = None,
    precision: int | None = None,
    symmetry: str | None = "AUTO",
) -> None:
    """As ``scipy.io.mmwrite``. A real sparse matrix goes to a file by name on all cores: compressed where the name ends in ``.gz``, all
    entries, every number so that reading gives the same bits, and the file appears whole or not at all. Everything else is
    written by SciPy.
    """
    by_name = isinstance(target, (str, os.PathLike))
    plain = field in (None, "real") and precision is None and symmetry in (None, "AUTO", "general")
    if not (by_name and plain and sp.issparse(a) and a.dtype in (np.float32, np.float64) and max(a.shape) <= _MOST):
        scipy.io.mmwrite(target, a, comment, field, precision, symmetry)
        return
    path = Path(target)
    if not path.name:
        raise ValueError(f"{str(target)!r} names no file")
    if path.suffix not in (".mtx", ".gz"):
        path = path.with_name(path.name + ".mtx")
    entries = a.tocoo()
    indices = [np.ascontiguousarray(part, dtype=np.uint32) for part in entries.coords]
    _ordito.write_coo(path, entries.shape, [*indices, np.ascontiguousarray(entries.data)], comment or "")


def loadtxt(path: str | os.PathLike[str], dtype: Any = np.float64, *, delimiter: str | None = None, names: bool = False) -> Any:
    """The numbers of a text file, a row per line: blanks, tabs, commas or semicolons between them, also ``.gz``.

    What stands between them is seen from the first row. With ``delimiter``, one of those four, a file where something else stands is refused;
    blanks and tabs are one, however many there are. Several times as fast as ``numpy.loadtxt``, every number correctly rounded. With ``names=True``
    also what stands above the columns: a list, or None. A file of one row or one column gives two dimensions.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "numbers.csv")
    >>> _ = open(path, "w").write("a,b\\n1,2.5\\n3,4\\n")
    >>> loadtxt(path, names=True)
    (array([[1. , 2.5],
           [3. , 4. ]]), ['a', 'b'])
    """
    single = asked_precision(dtype) == np.float32
    if delimiter not in (None, " ", "\t", ",", ";"):
        raise ValueError(f"delimiter={delimiter!r}: blanks, tabs, commas and semicolons are known; numpy.loadtxt takes others")
    numbers, header = _ordito.read_text(path, single, None if delimiter is None else ord(delimiter))
    return (numbers, header) if names else numbers


def _is_beyond_our_indices(path: Path) -> bool:
    try:
        rows, cols = scipy.io.mminfo(path)[:2]
    except Exception:  # what is wrong with it was said already
        return False
    return bool(max(rows, cols) > _MOST)


def _by_scipy(source: Any, spmatrix: bool) -> Any:
    return scipy.io.mmread(source, spmatrix=spmatrix)


def _existing(source: str | os.PathLike[str]) -> Path:
    """The file, also where its ending was left out, as SciPy allows it."""
    path = Path(source)
    if not path.name:
        return path
    for ending in ("", ".mtx", ".mtx.gz", ".mtx.bz2"):
        candidate = path.with_name(path.name + ending)
        if candidate.exists():
            return candidate
    return path


def _banner(path: Path) -> str:
    """The first line, or as much of one as there is."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb") as file:
            return bytes(file.readline(256)).decode("ascii", "replace").lower()
    except (OSError, EOFError, zlib.error):
        return ""  # reading it tells what is wrong

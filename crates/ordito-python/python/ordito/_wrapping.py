"""Matrices of others, files and names, wrapped."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ordito import _ordito
from ordito._matrix import Matrix
from ordito._sources import Parts, _signed, asked_precision, gpu_of, is_untidy, parts_of
from ordito._taken import taken


def csr(
    a: object,
    *,
    shape: tuple[int, int] | None = None,
    dtype: Any = None,
    threads: int | None = None,
    device: str | None = None,
    variant: str | None = None,
    copy: bool = False,
) -> Matrix:
    """Wraps a sparse matrix for products.

    Parameters
    ----------
    a
        A sparse matrix or array of SciPy, CuPy or torch, or a tuple ``(data, indices, indptr)``. CSR arrays are borrowed: as long as
        the result is used, nobody may change them (``copy=True`` copies them). Those on the GPU that multiplies are copied there.
        :attr:`Matrix.copied` says what had to be copied.
    shape
        Of a tuple; without it there are as many columns as the greatest index asks for.
    dtype
        float32 or float64; by default that of ``a``. Integers and booleans become float64.
    threads
        How many to use; by default all cores, or what the variable ``ORDITO_THREADS`` says.
    device
        ``"cpu"``, ``"cuda"`` or ``"cuda:1"``; by default where ``a`` lies.
    variant
        A kernel by its name, as ``ordito list spmm`` shows it. By default the one that should be fastest.

    >>> import numpy as np, scipy.sparse
    >>> A = csr(scipy.sparse.csr_array(np.eye(3)))
    >>> A @ np.array([1.0, 2.0, 3.0])
    array([1., 2., 3.])
    >>> A.copied
    'indptr widened to 64 bits'
    """
    if isinstance(a, Matrix):
        raise TypeError("A is an ordito.Matrix already; A.astype(…) changes its precision")
    there = taken(a, dtype, device) if shape is None else None
    if there is not None:
        return Matrix(there, threads=threads, gpu=there.gpu, variant=variant)
    parts = parts_of(a, shape, dtype, copy)
    gpu = gpu_of(device, parts.gpu)
    matrix = Matrix(parts, threads=threads, gpu=gpu, variant=variant)
    # Asked after the arrays were checked: SciPy trusts them.
    if not copy and is_untidy(a):
        parts = parts_of(a, shape, dtype, True)
        parts.copied[-1] = "copied, since SciPy sorts and sums such entries in place"
        matrix = Matrix(parts, threads=threads, gpu=gpu, variant=variant)
    return matrix


def read(
    name: str | os.PathLike[str],
    *,
    dtype: Any = np.float64,
    threads: int | None = None,
    device: str | None = None,
) -> Matrix:
    """The matrix of a Matrix Market file (``.mtx``, ``.mtx.gz``), or a synthetic one by name (``"stencil27:60"``).

    >>> read("stencil5:30").shape
    (900, 900)
    """
    wanted = asked_precision(dtype)
    shape, (offsets, columns, values) = _ordito.read_csr(os.fspath(name), wanted == np.float32)
    parts = Parts(shape, offsets, _signed(columns, shape[1]), values)
    return Matrix(parts, threads=threads, gpu=gpu_of(device, None))

"""Products with gradients, for torch: ``spmm(A, X)`` as an operator that ``torch.compile`` knows.

>>> import pytest; torch = pytest.importorskip("torch")
>>> import scipy.sparse, ordito.torch
>>> A = ordito.csr(scipy.sparse.csr_array([[0.0, 2.0], [3.0, 0.0]]))
>>> X = torch.ones(2, 1, dtype=torch.float64, requires_grad=True)
>>> ordito.torch.spmm(A, X).sum().backward()
>>> X.grad.ravel().tolist()
[3.0, 2.0]
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
import weakref
from typing import Any

import torch
from torch import Tensor

from ordito._matrix import Matrix

__all__ = ["spmm"]

#: Matrices by number: operators of torch take numbers and tensors.
_matrices: weakref.WeakValueDictionary[int, Matrix] = weakref.WeakValueDictionary()
_numbers = itertools.count(1)

#: Entries that the gradient of the values looks at together: bounds its memory to so many rows of X and of G.
_ENTRIES_AT_ONCE = 1 << 20


def spmm(a: Matrix, x: Tensor, values: Tensor | None = None) -> Tensor:
    """``A @ X``, of a matrix of :func:`ordito.csr` and a tensor on its device, with a gradient for X.

    ``values``, in the order of the CSR arrays, stand in for those of A, and get a gradient as well; A stays as it is. A second copy of the
    matrix takes them: on the CPU in one pass, on a GPU it is prepared again every time.
    """
    if not isinstance(a, Matrix):
        raise TypeError(f"A is a {type(a).__name__}: ordito.csr(A) wraps it, once")
    if x.dim() not in (1, 2):
        raise ValueError(f"matmul: X has {x.dim()} dimensions; one or two expected")
    if a._is_transposed and values is not None:
        raise ValueError("values are those of A, not of A.T")
    if values is not None and tuple(values.shape) != (a.nnz,):
        raise ValueError(f"values has the shape {tuple(values.shape)}; ({a.nnz},) expected")
    wide = torch.promote_types(x.dtype, _dtype(a))
    if wide not in _PRECISIONS.values():
        raise TypeError(f"X is {x.dtype}; torch.float32 or torch.float64 expected")
    a, block = a.astype(str(wide).removeprefix("torch.")), x.to(wide)
    if values is not None:
        a, values = _for_values(a), values.to(wide)
    block = block.unsqueeze(1) if x.dim() == 1 else block
    y: Tensor = _spmm(block, values, _number(a), a.shape[0], a._is_transposed)
    return y.squeeze(1) if x.dim() == 1 else y


_PRECISIONS = {"float32": torch.float32, "float64": torch.float64}


def _dtype(a: Matrix) -> torch.dtype:
    return _PRECISIONS[str(a.dtype)]


@torch.compiler.assume_constant_result
def _number(a: Matrix) -> int:
    """Of A, also where its transposed is asked for."""
    plain = a._plain
    number = getattr(plain, "_number_for_torch", None)
    if number is None:
        number = plain._number_for_torch = next(_numbers)
        _matrices[number] = plain
    return int(number)


def _for_values(a: Matrix) -> Matrix:
    """A matrix of the same pattern that takes the values of every product anew."""
    copy = getattr(a, "_copy_for_values", None)
    if copy is None:
        copy = Matrix(dataclasses.replace(a._parts, data=a._parts.data.copy(), copied=[]), **a._asked)
        copy._lock = threading.Lock()
        a._copy_for_values = copy
    return copy


# --- operators: Y = A·X or Aᵀ·X, and its counterpart, the products of rows at the entries of A ---


@torch.library.custom_op("ordito::spmm", mutates_args=())
def _spmm(x: Tensor, values: Tensor | None, number: int, rows: int, transposed: bool) -> Tensor:
    a = _matrices[number]
    if values is None:
        return _multiplied(a, x, transposed)
    with a._lock:  # nobody else's values come between
        a.update_values(values.detach().cpu().numpy())
        return _multiplied(a, x, transposed)


def _multiplied(a: Matrix, x: Tensor, transposed: bool) -> Tensor:
    y: Tensor = (a.T if transposed else a)._product(x.detach(), None, 1.0, 0.0, False)
    return y


@_spmm.register_fake
def _(x: Tensor, values: Tensor | None, number: int, rows: int, transposed: bool) -> Tensor:
    return x.new_empty((rows, x.shape[1]))


@torch.library.custom_op("ordito::sampled_product", mutates_args=())
def _sampled_product(left: Tensor, right: Tensor, number: int, nnz: int) -> Tensor:
    """For every entry (i, j) of A the product of row i of the one and row j of the other."""
    a = _matrices[number]
    indptr = torch.as_tensor(a._parts.indptr, dtype=torch.int64)
    rows = torch.repeat_interleave(torch.arange(a.shape[0]), indptr.diff())
    cols = torch.as_tensor(a._parts.indices, dtype=torch.int64)
    found = torch.empty(nnz, dtype=left.dtype, device=left.device)
    for begin in range(0, nnz, _ENTRIES_AT_ONCE):
        part = slice(begin, begin + _ENTRIES_AT_ONCE)
        of_left, of_right = left[rows[part].to(left.device)], right[cols[part].to(left.device)]
        found[part] = (of_left * of_right).sum(dim=1)
    return found


@_sampled_product.register_fake
def _(left: Tensor, right: Tensor, number: int, nnz: int) -> Tensor:
    return left.new_empty((nnz,))


# --- gradients: each operator is the other's ---


def _remember_spmm(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, values, number, _, transposed = inputs
    ctx.number, ctx.transposed, ctx.cols = number, transposed, x.shape[0]
    ctx.matrix = _matrices[number]  # lives until the gradient was asked for
    ctx.version = ctx.matrix._version
    ctx.save_for_backward(x if values is not None else None, values)


def _spmm_backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    x, values = ctx.saved_tensors
    of_x = of_values = None
    if values is None and ctx.version != ctx.matrix._version:
        raise RuntimeError("A has other values than when it was multiplied: update_values(…) came between product and gradient")
    if ctx.needs_input_grad[0]:
        of_x = _spmm(gradient, values, ctx.number, ctx.cols, not ctx.transposed)
    if values is not None and ctx.needs_input_grad[1]:
        left, right = (x, gradient) if ctx.transposed else (gradient, x)
        of_values = _sampled_product(left, right, ctx.number, values.shape[0])
    return of_x, of_values, None, None, None


_spmm.register_autograd(_spmm_backward, setup_context=_remember_spmm)


def _remember_sampled(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    left, right, number, _ = inputs
    ctx.number = number
    ctx.matrix = _matrices[number]
    ctx.save_for_backward(left, right)


def _sampled_backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    left, right = ctx.saved_tensors
    of_left = of_right = None
    if ctx.needs_input_grad[0]:
        of_left = _spmm(right, gradient, ctx.number, left.shape[0], False)
    if ctx.needs_input_grad[1]:
        of_right = _spmm(left, gradient, ctx.number, right.shape[0], True)
    return of_left, of_right, None, None


_sampled_product.register_autograd(_sampled_backward, setup_context=_remember_sampled)

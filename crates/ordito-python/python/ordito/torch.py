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
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ordito._matrix import Matrix, by_number

__all__ = ["spmm"]

#: Entries that the gradient of the values looks at together: bounds its memory to so many rows of X and of G.
_ENTRIES_AT_ONCE = 1 << 20

#: A product or its counterpart: as a function with a gradient, or as an operator.
_Way = Callable[..., Tensor]

_PRECISIONS = {"float32": torch.float32, "float64": torch.float64}


def spmm(a: Matrix, x: Tensor, values: Tensor | None = None) -> Tensor:
    """``A @ X``, of a matrix of :func:`ordito.csr` and a tensor on its device, with a gradient for X.

    ``values``, in the order of the CSR arrays, stand in for those of A, and get a gradient as well; A stays as it is. A second copy of the
    matrix takes them: on the CPU in one pass, on a GPU it is prepared again every time.
    """
    if not isinstance(a, Matrix):
        raise TypeError(f"A is a {type(a).__name__}: ordito.csr(A) wraps it, once")
    if not isinstance(x, Tensor):
        raise TypeError(f"X is a {type(x).__name__}; a tensor expected")
    if x.dim() not in (1, 2):
        raise ValueError(f"matmul: X has {x.dim()} dimensions; one or two expected")
    if a._is_transposed and values is not None:
        raise ValueError("values are those of A, not of A.T")
    if values is not None and tuple(values.shape) != (a.nnz,):
        raise ValueError(f"values has the shape {tuple(values.shape)}; ({a.nnz},) expected")
    wide = torch.promote_types(x.dtype, _PRECISIONS[a._precision])
    if wide != _PRECISIONS[a._precision]:
        if wide != torch.float64:
            raise TypeError(f"X is {x.dtype}; torch.float32 or torch.float64 expected")
        a = a.astype("float64")
    block = x.to(wide)
    if values is not None:
        a, values = _for_values(a), values.to(wide)
    block = block.unsqueeze(1) if x.dim() == 1 else block
    y = _product(block, values, a._plain, a._is_transposed)
    return y.squeeze(1) if x.dim() == 1 else y


def _for_values(a: Matrix) -> Matrix:
    """A matrix of the same pattern that takes the values of every product anew."""
    copy = getattr(a, "_copy_for_values", None)
    if copy is None:
        copy = Matrix(dataclasses.replace(a._parts, data=a._parts.data.copy(), copied=[]), **a._asked)
        a._copy_for_values = copy
    return copy


# --- Y = A·X or Aᵀ·X, and its counterpart: the products of rows at the entries of A. Each is the other's gradient. ---


def _product(x: Tensor, values: Tensor | None, a: Matrix, transposed: bool) -> Tensor:
    # An operator of torch costs a call ten times as much as a function with a gradient.
    return _by_operator(x, values, a, transposed) if torch.compiler.is_compiling() else _by_function(x, values, a, transposed)


def _computed(x: Tensor, values: Tensor | None, a: Matrix, transposed: bool) -> Tensor:
    if values is None:
        x = x.detach()
        y: Tensor | None = a._native.product(x, None, 1.0, 0.0, transposed, False)
        return (a.T if transposed else a)._product(x, None, 1.0, 0.0, False) if y is None else y
    with a._change:  # nobody else's values come between
        a.update_values(values.detach().resolve_neg().cpu().numpy())
        return _computed(x, None, a, transposed)


def _computed_samples(left: Tensor, right: Tensor, a: Matrix) -> Tensor:
    """For every entry (i, j) of A the product of row i of the one and row j of the other."""
    indptr = torch.as_tensor(a._parts.indptr, dtype=torch.int64)
    rows = torch.repeat_interleave(torch.arange(a.shape[0]), indptr.diff())
    cols = torch.as_tensor(a._parts.indices, dtype=torch.int64)
    found = torch.empty(a.nnz, dtype=left.dtype, device=left.device)
    for begin in range(0, a.nnz, _ENTRIES_AT_ONCE):
        part = slice(begin, begin + _ENTRIES_AT_ONCE)
        of_left, of_right = left[rows[part].to(left.device)], right[cols[part].to(left.device)]
        found[part] = (of_left * of_right).sum(dim=1)
    return found


def _remember_product(ctx: Any, x: Tensor, values: Tensor | None, a: Matrix, transposed: bool) -> None:
    ctx.matrix, ctx.version, ctx.transposed = a, a._version, transposed
    ctx.save_for_backward(x if values is not None else None, values)


def _gradients_of_product(ctx: Any, gradient: Tensor, product: _Way, samples: _Way) -> tuple[Tensor | None, Tensor | None]:
    x, values = ctx.saved_tensors
    of_x = of_values = None
    if values is None and ctx.version != ctx.matrix._version:
        raise RuntimeError("A has other values than when it was multiplied: update_values(…) came between product and gradient")
    if ctx.needs_input_grad[0]:
        of_x = product(gradient, values, ctx.matrix, not ctx.transposed)
    if values is not None and ctx.needs_input_grad[1]:
        of_values = samples(*((x, gradient) if ctx.transposed else (gradient, x)), ctx.matrix)
    return of_x, of_values


def _gradients_of_samples(ctx: Any, gradient: Tensor, product: _Way) -> tuple[Tensor | None, Tensor | None]:
    left, right = ctx.saved_tensors
    of_left = of_right = None
    if ctx.needs_input_grad[0]:
        of_left = product(right, gradient, ctx.matrix, False)
    if ctx.needs_input_grad[1]:
        of_right = product(left, gradient, ctx.matrix, True)
    return of_left, of_right


class _Product(torch.autograd.Function):  # type: ignore[misc,unused-ignore] # where torch is not there
    @staticmethod
    def forward(ctx: Any, x: Tensor, values: Tensor | None, a: Matrix, transposed: bool) -> Tensor:
        _remember_product(ctx, x, values, a, transposed)
        return _computed(x, values, a, transposed)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return (*_gradients_of_product(ctx, gradient, _by_function, _samples_by_function), None, None)


class _Sampled(torch.autograd.Function):  # type: ignore[misc,unused-ignore] # the same
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, a: Matrix) -> Tensor:
        ctx.matrix = a
        ctx.save_for_backward(left, right)
        return _computed_samples(left, right, a)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return (*_gradients_of_samples(ctx, gradient, _by_function), None)


def _by_function(x: Tensor, values: Tensor | None, a: Matrix, transposed: bool) -> Tensor:
    y: Tensor = _Product.apply(x, values, a, transposed)
    return y


def _samples_by_function(left: Tensor, right: Tensor, a: Matrix) -> Tensor:
    found: Tensor = _Sampled.apply(left, right, a)
    return found


# --- the same as operators, which torch.compile leaves as they are ---


def _of_number(number: int) -> Matrix:
    matrix = by_number.get(int(number))  # torch may hand over a number that is a symbol
    if matrix is None:
        raise RuntimeError("the matrix of a compiled product is gone: keep it as long as the function is used")
    return matrix


@torch.library.custom_op("ordito::spmm", mutates_args=())
def _spmm(x: Tensor, values: Tensor | None, number: int, rows: int, transposed: bool) -> Tensor:
    return _computed(x, values, _of_number(number), transposed)


@_spmm.register_fake
def _(x: Tensor, values: Tensor | None, number: int, rows: int, transposed: bool) -> Tensor:
    return x.new_empty((rows, x.shape[1]))


@torch.library.custom_op("ordito::sampled_product", mutates_args=())
def _sampled_product(left: Tensor, right: Tensor, number: int, nnz: int) -> Tensor:
    return _computed_samples(left, right, _of_number(number))


@_sampled_product.register_fake
def _(left: Tensor, right: Tensor, number: int, nnz: int) -> Tensor:
    return left.new_empty((nnz,))


def _remember_spmm(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, values, number, _, transposed = inputs
    _remember_product(ctx, x, values, _of_number(number), transposed)


def _spmm_backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    return (*_gradients_of_product(ctx, gradient, _by_operator, _samples_by_operator), None, None, None)


def _remember_sampled(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    left, right, number, _ = inputs
    ctx.matrix = _of_number(number)
    ctx.save_for_backward(left, right)


def _sampled_backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    return (*_gradients_of_samples(ctx, gradient, _by_operator), None, None)


def _by_operator(x: Tensor, values: Tensor | None, a: Matrix, transposed: bool) -> Tensor:
    y: Tensor = _spmm(x, values, a._number, a.shape[1] if transposed else a.shape[0], transposed)
    return y


def _samples_by_operator(left: Tensor, right: Tensor, a: Matrix) -> Tensor:
    found: Tensor = _sampled_product(left, right, a._number, a.nnz)
    return found


_spmm.register_autograd(_spmm_backward, setup_context=_remember_spmm)
_sampled_product.register_autograd(_sampled_backward, setup_context=_remember_sampled)

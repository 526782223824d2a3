"""Gradients of products on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu_arrays import NO_BETA_WARNINGS, Torch, matrix, numbers

pytestmark = NO_BETA_WARNINGS


@pytest.fixture(scope="module")
def torch() -> Any:
    return Torch().torch


@pytest.mark.parametrize("columns", [None, 3])
@pytest.mark.parametrize("transposed", [False, True])
def test_the_gradient_of_x(torch: Any, columns: int | None, transposed: bool) -> None:
    _, a = matrix(rows=9, cols=7)
    a = a.T if transposed else a
    x = torch.from_numpy(numbers(a.shape[1] if columns is None else (a.shape[1], columns))).cuda().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: a @ x, (x,))
    assert torch.autograd.gradgradcheck(lambda x: (a @ x) ** 2, (x,))


def test_the_gradient_of_values(torch: Any) -> None:
    from ordito.torch import spmm

    s, a = matrix(rows=9, cols=7)
    x = torch.from_numpy(numbers((7, 3))).cuda().requires_grad_()
    values = torch.from_numpy(s.data.copy()).cuda().requires_grad_()
    assert torch.autograd.gradcheck(lambda values, x: spmm(a, x, values), (values, x))
    spmm(a, x, values).sum().backward()
    assert x.grad.is_cuda and values.grad.is_cuda


def test_gradients_are_those_of_the_dense_product(torch: Any) -> None:
    s, a = matrix(np.float32)
    dense = torch.from_numpy(s.toarray()).cuda()
    x, again = (torch.from_numpy(numbers((40, 5), np.float32)).cuda().requires_grad_() for _ in range(2))
    weights = torch.from_numpy(numbers((60, 5), np.float32)).cuda()
    ((a @ x) * weights).sum().backward()
    ((dense @ again) * weights).sum().backward()
    assert torch.equal(x.grad, again.grad)


def test_compiled_functions_compute_the_same(torch: Any) -> None:
    from ordito.torch import spmm

    torch._dynamo.reset()
    _, a = matrix(np.float32)
    function = lambda x: torch.relu(spmm(a, x)) * 2  # noqa: E731
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    x, again = (torch.from_numpy(numbers((40, 5), np.float32)).cuda().requires_grad_() for _ in range(2))
    y, expected = compiled(x), function(again)
    assert y.is_cuda and torch.equal(y, expected)
    y.sum().backward()
    expected.sum().backward()
    assert torch.equal(x.grad, again.grad)

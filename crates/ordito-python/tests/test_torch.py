"""Tensors in memory of the host: products, gradients, and torch.compile."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
from arrays import SIDES, multiplied, random_csr, shape_of_x, whole_numbers
from numpy.testing import assert_array_equal

torch = pytest.importorskip("torch")
import ordito.torch  # noqa: E402 # only where there is a torch
from ordito.torch import spmm  # noqa: E402

# torch says so of every sparse tensor by rows.
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta:UserWarning")


def matrix(dtype: Any = np.float64) -> tuple[sp.csr_array, ordito.Matrix]:
    s = random_csr(np.random.default_rng(0), 7, 5, 0.5, dtype)
    return s, ordito.csr(s)


def tensor(shape: Any, dtype: Any = np.float64, seed: int = 1, requires_grad: bool = False) -> Any:
    return torch.from_numpy(whole_numbers(np.random.default_rng(seed), shape, dtype)).requires_grad_(requires_grad)


# --- products ---


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("columns", [None, 1, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_every_product_gives_a_tensor(side: str, columns: int | None, dtype: Any) -> None:
    s, a = matrix(np.float32)
    x = tensor(shape_of_x(s.shape, columns, side), dtype)
    y = multiplied(a, x, side)
    assert isinstance(y, torch.Tensor)
    assert_array_equal(y.numpy(), multiplied(s.toarray(), x.numpy(), side), strict=True)


@pytest.mark.parametrize("of_x", [torch.float16, torch.int32, torch.bool, torch.float32, torch.float64])
def test_other_types_are_promoted(of_x: Any) -> None:
    s, a = matrix()
    y = a @ torch.ones(5, 2).to(of_x)
    assert y.dtype == torch.float64
    assert_array_equal(y.numpy(), s @ np.ones((5, 2)))


def test_tensors_may_lie_anyhow() -> None:
    s, a = matrix()
    x = tensor((8, 10))
    for view in (x[:5, :3], x.T[:5, :3], x[1:6, ::2], x[:5, 1:2].expand(5, 4), x[3, 2:7], x[:5, 3]):
        assert_array_equal((a @ view).numpy(), s @ view.numpy())


def test_a_negative_that_was_not_computed_yet() -> None:
    s, a = matrix()
    x = torch._neg_view(tensor((5, 2)))
    assert_array_equal((a @ x).numpy(), s.toarray() @ x.resolve_neg().numpy(), strict=True)
    values = torch._neg_view(torch.from_numpy(s.data))
    assert_array_equal(spmm(a, tensor((5, 2)), values).numpy(), -(s.toarray() @ tensor((5, 2)).numpy()), strict=True)


def test_out_is_written_where_it_lies() -> None:
    s, a = matrix()
    x, out = tensor((5, 3)), tensor((7, 3), seed=2)
    expected = 2 * (s @ x.numpy()) + 3 * out.numpy()
    address = out.data_ptr()
    assert a.matmul(x, out, alpha=2.0, beta=3.0) is out and out.data_ptr() == address
    assert_array_equal(out.numpy(), expected)
    out.fill_(float("nan"))
    a.matmul(x, out)
    assert_array_equal(out.numpy(), s @ x.numpy())


def test_out_above_x() -> None:
    s = random_csr(np.random.default_rng(3), 6, 6)
    w = tensor((6, 4))
    expected = s @ w[:, :2].numpy()
    ordito.csr(s).matmul(w[:, :2], w[:, 2:])
    assert_array_equal(w[:, 2:].numpy(), expected)


def test_what_cannot_be_multiplied_is_refused() -> None:
    _, a = matrix()
    with pytest.raises(ValueError, match="A is 7×5, so that X must have 5 rows; it has 4"):
        a @ torch.ones(4, 2)
    with pytest.raises(ValueError, match="X has 3 dimensions; one or two expected"):
        a @ torch.ones(1, 5, 2)
    with pytest.raises(TypeError, match="X is a Tensor, out a ndarray; both must be of one kind"):
        a.matmul(torch.ones(5), np.ones(7))
    with pytest.raises(TypeError, match="X is a ndarray, out a Tensor; both must be of one kind"):
        a.matmul(np.ones(5), torch.ones(7))
    with pytest.raises(ValueError, match=r"out has the shape \(6,\); \(7,\) expected"):
        a.matmul(torch.ones(5), torch.ones(6))
    with pytest.raises(TypeError):
        a @ torch.eye(5).to_sparse()


# --- sparse tensors as matrices ---


@pytest.mark.parametrize("layout", ["csr", "coo", "csc"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32])
def test_sparse_tensors_become_matrices(layout: str, dtype: Any) -> None:
    s, _ = matrix()
    dense = torch.from_numpy(s.toarray()).to(dtype)
    sparse = {"csr": dense.to_sparse_csr, "coo": dense.to_sparse_coo, "csc": dense.to_sparse_csc}[layout]()
    a = ordito.csr(sparse)
    assert (a.shape, a.device) == ((7, 5), "cpu")
    assert a.dtype == (np.float32 if dtype == torch.float32 else np.float64)
    assert ("converted from" in a.copied) == (layout != "csr" or dtype == torch.int32)
    assert_array_equal(a @ np.ones((5, 2)), s @ np.ones((5, 2)))


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: torch.eye(3), TypeError, r"A is a dense tensor: make it sparse \(A\.to_sparse_csr\(\)\)"),
        (lambda: torch.ones(2, 3, 3).to_sparse(), ValueError, r"A has the shape \(2, 3, 3\); two sparse dimensions"),
        (lambda: torch.ones(3, 3, 2).to_sparse(2), ValueError, "two sparse dimensions expected"),
        (lambda: torch.eye(3, dtype=torch.complex64).to_sparse_csr(), TypeError, "complex matrices are not supported"),
    ],
)
def test_tensors_that_are_no_matrices(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        ordito.csr(make())


# --- gradients ---


@pytest.mark.parametrize("columns", [None, 1, 3])
@pytest.mark.parametrize("transposed", [False, True])
def test_the_gradient_of_x(columns: int | None, transposed: bool) -> None:
    _, a = matrix()
    a = a.T if transposed else a
    shape = (a.shape[1],) if columns is None else (a.shape[1], columns)
    x = tensor(shape, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: a @ x, (x,))
    assert torch.autograd.gradcheck(lambda x: spmm(a, x), (x,))
    # Of something that is not linear, or there would be no second one.
    assert torch.autograd.gradgradcheck(lambda x: (a @ x) ** 2, (x,))


@pytest.mark.parametrize("columns", [None, 3])
def test_the_gradient_of_values(columns: int | None) -> None:
    s, a = matrix()
    x = tensor(5 if columns is None else (5, columns), requires_grad=True)
    values = torch.from_numpy(s.data.copy()).requires_grad_()
    assert torch.autograd.gradcheck(lambda values, x: spmm(a, x, values), (values, x))
    assert torch.autograd.gradgradcheck(lambda values, x: spmm(a, x, values) ** 2, (values, x))


def test_gradients_are_those_of_the_dense_product() -> None:
    s, a = matrix()
    x, dense = tensor((5, 3), requires_grad=True), torch.from_numpy(s.toarray()).requires_grad_()
    values = torch.from_numpy(s.data.copy()).requires_grad_()
    weights = tensor((7, 3), seed=4)
    (torch.sin(dense @ x) * weights).sum().backward()
    expected, x.grad = x.grad, None
    (torch.sin(spmm(a, x, values)) * weights).sum().backward()
    torch.testing.assert_close(x.grad, expected)
    rows, cols = s.tocoo().coords
    torch.testing.assert_close(values.grad, dense.grad[rows, cols])


@pytest.mark.parametrize("of_a", [np.float32, np.float64])
@pytest.mark.parametrize("of_x", [torch.float32, torch.float64])
def test_gradients_have_the_type_of_what_they_belong_to(of_a: Any, of_x: Any) -> None:
    s, a = matrix(of_a)
    x = torch.ones(5, 2, dtype=of_x, requires_grad=True)
    values = torch.from_numpy(s.data.copy()).requires_grad_()
    y = spmm(a, x, values)
    assert y.dtype == torch.promote_types(of_x, values.dtype)
    y.sum().backward()
    assert (x.grad.dtype, values.grad.dtype) == (of_x, values.dtype)
    assert_array_equal(x.grad.numpy(), s.T @ np.ones((7, 2)))


def test_values_do_not_change_the_matrix() -> None:
    s, a = matrix()
    x = torch.ones(5, 1, dtype=torch.float64)
    y = spmm(a, x, torch.zeros(s.nnz, dtype=torch.float64))
    assert_array_equal(y.numpy(), np.zeros((7, 1)))
    assert_array_equal((a @ x).numpy(), s @ np.ones((5, 1)))


def test_a_gradient_after_new_values_is_refused() -> None:
    s, a = matrix()
    x = tensor((5, 2), requires_grad=True)
    y = (a @ x).sum()
    a.update_values(2 * s.data)
    with pytest.raises(RuntimeError, match=r"update_values\(…\) came between product and gradient"):
        y.backward()


def test_a_network_learns() -> None:
    """A product twice in one graph, and an optimizer that writes the weights in place."""
    s, a = matrix()
    x, values = tensor((5, 4)), torch.from_numpy(np.zeros(s.nnz)).requires_grad_()
    goal = torch.from_numpy(s.toarray()) @ x
    optimizer = torch.optim.Adam([values], lr=0.3)
    losses = []
    for _ in range(150):
        optimizer.zero_grad()
        loss = ((spmm(a, x, values) - goal) ** 2).mean() + 0 * spmm(a, x, values).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 1e-2 * losses[0]


def test_the_matrix_lives_as_long_as_its_graph() -> None:
    s, _ = matrix()
    x = tensor((5, 2), requires_grad=True)
    y = (ordito.csr(s) @ x).sum()  # nothing else holds it
    y.backward()
    assert_array_equal(x.grad.numpy(), s.T @ np.ones((7, 2)))


def test_no_gradient_where_none_is_asked_for() -> None:
    s, a = matrix()
    x = tensor((5, 2), requires_grad=True)
    with torch.no_grad():
        y = a @ x
    assert not y.requires_grad
    assert not (a @ x.detach()).requires_grad
    assert_array_equal(y.numpy(), s @ x.detach().numpy())


def test_what_has_no_gradient_says_so() -> None:
    s, a = matrix()
    x = tensor((5, 2), requires_grad=True)
    text = "X requires a gradient: A @ X has one"
    with pytest.raises(RuntimeError, match=text):
        a.matmul(x, torch.ones(7, 2, dtype=torch.float64))
    with pytest.raises(RuntimeError, match=text):
        a.matmul(x, alpha=2.0)
    with pytest.raises(RuntimeError, match=text):
        x.T @ a.T


def test_spmm_refuses_what_does_not_fit() -> None:
    s, a = matrix()
    x, values = tensor((5, 2)), torch.from_numpy(s.data.copy())
    cases: list[tuple[tuple[Any, ...], type[Exception], str]] = [
        ((s, x), TypeError, r"A is a csr_array: ordito\.csr\(A\) wraps it, once"),
        ((a, x[None]), ValueError, "X has 3 dimensions; one or two expected"),
        ((a, x[:4]), ValueError, "A is 7×5, so that X must have 5 rows; it has 4"),
        ((a, x, values[:3]), ValueError, r"values has the shape \(3,\); \(\d+,\) expected"),
        ((a.T, tensor((7, 2)), values), ValueError, "values are those of A, not of A.T"),
        ((a, x.to(torch.complex64)), TypeError, "X is torch.complex64; torch.float32 or torch.float64 expected"),
    ]
    for arguments, error, text in cases:
        with pytest.raises(error, match=text):
            spmm(*arguments)


# --- as an operator of torch's ---


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("with_values", [False, True])
def test_torch_finds_nothing_wrong_with_the_operator(dtype: Any, transposed: bool, with_values: bool) -> None:
    s, a = matrix(dtype)
    values = None
    if with_values:
        a = ordito.torch._for_values(a)
        values = torch.from_numpy(s.data.copy()).requires_grad_()
    rows, cols = (5, 7) if transposed else (7, 5)
    x = tensor((cols, 3), dtype, requires_grad=True)
    arguments = (x, values, a._number, rows, transposed)
    found = torch.library.opcheck(ordito.torch._spmm, arguments)
    assert set(found.values()) == {"SUCCESS"}


def functions_to_compile(a: ordito.Matrix) -> dict[str, Any]:
    return {"spmm": lambda x: torch.relu(spmm(a, x)) * 2, "@": lambda x: torch.relu(a @ x) * 2}


@pytest.mark.parametrize("written", ["spmm", "@"])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_functions_compute_the_same(written: str, backend: str) -> None:
    torch._dynamo.reset()
    _, a = matrix()
    function = functions_to_compile(a)[written]
    compiled = torch.compile(function, backend=backend)
    for columns in (3, 4, 6):
        x, again = (tensor((5, columns), requires_grad=True) for _ in range(2))
        y, expected = compiled(x), function(again)
        assert torch.equal(y, expected)
        y.sum().backward()
        expected.sum().backward()
        assert torch.equal(x.grad, again.grad)


def test_the_operator_breaks_no_graph() -> None:
    torch._dynamo.reset()
    _, a = matrix()
    function = functions_to_compile(a)["spmm"]
    x = tensor((5, 3))
    assert torch.equal(torch.compile(function, backend="aot_eager", fullgraph=True)(x), function(x))


def test_a_compiled_function_takes_matrices_one_after_the_other() -> None:
    """The same shape and pattern: only the matrix tells which it is."""
    torch._dynamo.reset()
    s, a = matrix()
    other = ordito.csr(2 * s)
    compiled = torch.compile(lambda a, x: spmm(a, x) + 1, backend="eager")
    x = tensor((5, 3))
    for used in (a, other, a, a.T.T, other):
        assert torch.equal(compiled(used, x), spmm(used, x) + 1)


@pytest.mark.skipif(shutil.which("g++") is None, reason="inductor needs a C++ compiler")
def test_inductor_compiles_around_it() -> None:
    torch._dynamo.reset()
    s, a = matrix(np.float32)
    values = torch.from_numpy(s.data.copy()).requires_grad_()
    function = lambda x, values: torch.sin(spmm(a, x, values)).sum()  # noqa: E731
    x = tensor((5, 3), np.float32)
    found = torch.compile(function)(x, values)
    torch.testing.assert_close(found, function(x, values))
    of_values = torch.autograd.grad(found, values)[0]
    torch.testing.assert_close(of_values, torch.autograd.grad(function(x, values), values)[0])


def test_a_tensor_that_is_written_over_is_found_out() -> None:
    a = ordito.csr(sp.csr_array(np.eye(3)))
    w, b = torch.ones(3, dtype=torch.float64, requires_grad=True), torch.arange(3, dtype=torch.float64)
    y = (w * b).sum()
    a.matmul(torch.ones(3, dtype=torch.float64), out=b)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    leaf = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match="out requires a gradient"):
        a.matmul(torch.ones(3, dtype=torch.float64), out=leaf)
    with torch.no_grad():
        a.matmul(torch.ones(3, dtype=torch.float64), out=leaf)
    assert leaf.tolist() == [1.0, 1.0, 1.0]


def test_a_compiled_function_takes_two_matrices_with_gradients() -> None:
    function = torch.compile(lambda b, z: spmm(b, z).sum(), backend="aot_eager")
    for diagonal in (1.0, 2.0, 3.0):
        a = ordito.csr(sp.csr_array(diagonal * np.eye(3)))
        x = torch.ones(3, 2, dtype=torch.float64, requires_grad=True)
        function(a, x).backward()
        assert x.grad is not None and (x.grad == diagonal).all()


def test_no_array_is_taken_for_a_tensor() -> None:
    with pytest.raises(TypeError, match="X is a ndarray; a tensor expected"):
        spmm(ordito.csr(sp.csr_array(np.eye(3))), np.ones(3))

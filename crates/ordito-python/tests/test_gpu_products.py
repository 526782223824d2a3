"""Arrays of CuPy and torch on a GPU, multiplied where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
from arrays import SIDES, Array, multiplied, random_csr, shape_of_x
from gpu_arrays import NO_BETA_WARNINGS, FLOATS, Torch, matrix, numbers
from numpy.testing import assert_array_equal

pytestmark = NO_BETA_WARNINGS


# --- products ---


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("columns", [None, 1, 2, 3, 8, 16, 33, 64])
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_product_is_exact_for_whole_numbers(gpu: Any, side: str, columns: int | None, dtype: Any) -> None:
    s, a = matrix(dtype)
    x = numbers(shape_of_x(s.shape, columns, side), dtype)
    found = gpu.get(multiplied(a, gpu.put(x), side))
    assert_array_equal(found, multiplied(s.toarray(), x, side), strict=True)


@pytest.mark.parametrize("of_a", FLOATS)
@pytest.mark.parametrize("of_x", FLOATS)
def test_the_wider_type_is_computed_in(gpu: Any, of_a: Any, of_x: Any) -> None:
    s, a = matrix(of_a)
    x = numbers((40, 3), of_x)
    assert_array_equal(gpu.get(a @ gpu.put(x)), s.toarray() @ x, strict=True)


@pytest.mark.parametrize("name", ["stencil27:12", "powerlaw:20000x8", "band:3000x40"])
@pytest.mark.parametrize("columns", [1, 8, 32])
def test_larger_matrices_agree_with_the_cpu(gpu: Any, name: str, columns: int) -> None:
    on_cpu, on_gpu = ordito.read(name), ordito.read(name, device="cuda")
    x = np.random.default_rng(2).standard_normal((on_cpu.shape[1], columns))
    scale = abs(on_cpu.to_scipy()) @ abs(x)
    assert np.all(np.abs(gpu.get(on_gpu @ gpu.put(x)) - on_cpu @ x) <= 1e-13 * scale)


@pytest.mark.parametrize("dtype", FLOATS)
def test_ten_runs_have_the_same_bits(gpu: Any, dtype: Any) -> None:
    a = ordito.read("powerlaw:20000x8", dtype=dtype, device="cuda")
    x = gpu.put(np.random.default_rng(3).standard_normal((a.shape[1], 8)).astype(dtype))
    for product in (lambda: a @ x, lambda: a.T @ x, lambda: x.T @ a):
        assert len({gpu.get(product()).tobytes() for _ in range(10)}) == 1


def test_one_matrix_takes_arrays_of_everybody(gpu: Any) -> None:
    s, a = matrix()
    x = numbers((40, 3))
    assert_array_equal(gpu.get(a @ gpu.put(x)), s @ x)
    found = a @ x
    assert isinstance(found, np.ndarray)
    assert_array_equal(found, s @ x)
    assert_array_equal(x.T @ a.T, x.T @ s.T)


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (3, 5)])
def test_matrices_with_nothing_in_them(gpu: Any, shape: tuple[int, int]) -> None:
    a = ordito.csr(sp.csr_array(shape), device="cuda")
    assert_array_equal(gpu.get(a @ gpu.put(np.ones((shape[1], 2)))), np.zeros((shape[0], 2)))
    assert_array_equal(gpu.get(a @ gpu.put(np.ones(shape[1]))), np.zeros(shape[0]))


def test_no_columns_give_no_columns(gpu: Any) -> None:
    _, a = matrix()
    assert (a @ gpu.put(np.ones((40, 0)))).shape == (60, 0)


# --- where arrays lie ---


def layouts(gpu: Any, x: Array) -> dict[str, Any]:
    """The same numbers, lying otherwise; gaps are NaN."""
    rows, cols = x.shape
    wide = np.full((rows, cols + 5), np.nan, x.dtype)
    wide[:, :cols] = x
    shifted = np.full((rows, cols + 5), np.nan, x.dtype)
    shifted[:, 1 : cols + 1] = x  # begins where no wide load may
    sparse_columns = np.full((rows, 2 * cols), np.nan, x.dtype)
    sparse_columns[:, ::2] = x
    sparse_rows = np.full((2 * rows, cols), np.nan, x.dtype)
    sparse_rows[::2] = x
    return {
        "rows": gpu.put(x),
        "columns": gpu.by_columns(gpu.put(x)),
        "rows apart": gpu.put(wide)[:, :cols],
        "unaligned": gpu.put(shifted)[:, 1 : cols + 1],
        "every second column": gpu.put(sparse_columns)[:, ::2],
        "every second row": gpu.put(sparse_rows)[::2],
        "transposed": gpu.put(x.T).T,
    }


LAYOUTS = ["rows", "columns", "rows apart", "unaligned", "every second column", "every second row", "transposed"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_x_may_lie_anyhow(gpu: Any, layout: str, side: str, dtype: Any) -> None:
    s, a = matrix(dtype)
    x = numbers(shape_of_x(s.shape, 6, side), dtype)
    assert_array_equal(gpu.get(multiplied(a, layouts(gpu, x)[layout], side)), multiplied(s, x, side))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("from_left", [False, True])
@pytest.mark.parametrize("beta", [0.0, 3.0])
def test_out_may_lie_anyhow(gpu: Any, layout: str, from_left: bool, beta: float) -> None:
    s, a = matrix()
    x = numbers((6, 60) if from_left else (40, 6))
    product = x @ s if from_left else s @ x
    old = numbers(product.shape, seed=4)
    out = layouts(gpu, old if beta else np.full_like(old, np.nan))[layout]
    multiply = a.rmatmul if from_left else a.matmul
    assert multiply(gpu.put(x), out, alpha=2.0, beta=beta) is out
    assert_array_equal(gpu.get(out), 2 * product + (beta * old if beta else 0))


def test_vectors_may_lie_anyhow(gpu: Any) -> None:
    s, a = matrix()
    block = numbers((40, 7))
    on_gpu = gpu.put(block)
    for column in (0, 1, 6):
        assert_array_equal(gpu.get(a @ on_gpu[:, column]), s @ block[:, column])
    assert_array_equal(gpu.get(a @ gpu.put(block.T)[3]), s @ block[:, 3])


def test_broadcast_arrays_are_read_as_they_look(gpu: Any) -> None:
    s, a = matrix()
    column, row = numbers((40, 1)), numbers((1, 5))
    for part in (column, row):
        x = gpu.broadcast(gpu.put(part), (40, 5))
        assert_array_equal(gpu.get(a @ x), s @ np.broadcast_to(part, (40, 5)))


def test_backwards(gpu: Any) -> None:
    if isinstance(gpu, Torch):
        pytest.skip("torch knows no steps below zero")
    s, a = matrix()
    x = numbers((40, 5))
    for place in (np.s_[::-1], np.s_[:, ::-1], np.s_[::-1, ::-1]):
        assert_array_equal(gpu.get(a @ gpu.put(x)[place]), s @ x[place])


def test_two_halves_of_one_array(gpu: Any) -> None:
    s = random_csr(np.random.default_rng(5), 50, 50)
    a = ordito.csr(s, device="cuda")
    host = numbers((50, 8))
    for from_, to in ((np.s_[:, :4], np.s_[:, 4:]), (np.s_[:, 4:], np.s_[:, :4]), (np.s_[:, 1:5], np.s_[:, 2:6])):
        w = gpu.put(host)
        a.matmul(w[from_], w[to], beta=2.0)
        assert_array_equal(gpu.get(w[to]), s @ host[from_] + 2 * host[to])


def test_out_is_x(gpu: Any) -> None:
    s = random_csr(np.random.default_rng(6), 50, 50)
    a, x = ordito.csr(s, device="cuda"), numbers((50, 4))
    on_gpu = gpu.put(x)
    assert a.matmul(on_gpu, on_gpu) is on_gpu
    assert_array_equal(gpu.get(on_gpu), s @ x)
    vector = gpu.put(x[:, 0])
    a.rmatmul(vector, vector, beta=1.0)
    assert_array_equal(gpu.get(vector), x[:, 0] @ s + x[:, 0])


def test_alpha_zero_reads_nothing_of_x(gpu: Any) -> None:
    _, a = matrix()
    out = gpu.put(np.ones((60, 2)))
    a.matmul(gpu.put(np.full((40, 2), np.nan)), out, alpha=0.0, beta=5.0)
    assert_array_equal(gpu.get(out), np.full((60, 2), 5.0))


# --- nothing is copied ---


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("columns", [None, 1, 8, 32])
def test_a_product_makes_its_result_and_nothing_else(gpu: Any, transposed: bool, columns: int | None) -> None:
    _, a = matrix(rows=500, cols=400)
    a = a.T if transposed else a
    length, result_length = a.shape[1], a.shape[0]
    x = gpu.put(numbers(length if columns is None else (length, columns)))
    out = gpu.put(numbers(result_length if columns is None else (result_length, columns)))
    address = gpu.address(out)
    a.matmul(x, out)  # prepares
    assert gpu.allocations(lambda: a.matmul(x, out, beta=1.0)) == 0
    assert gpu.address(out) == address
    assert gpu.allocations(lambda: a @ x) == 1


def test_rows_apart_are_read_where_they_lie(gpu: Any) -> None:
    _, a = matrix(rows=500, cols=400)
    x, out = gpu.put(numbers((400, 16)))[:, :8], gpu.put(numbers((500, 16)))[:, 8:]
    a.matmul(x, out)
    assert gpu.allocations(lambda: a.matmul(x, out)) == 0


# --- the short way ---


@pytest.mark.parametrize("columns", [None, 1, 8])
def test_plain_arrays_are_not_asked_by_python(gpu: Any, columns: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    s, a = matrix()
    x, x_turned = (numbers(shape_of_x(s.shape, columns, side)) for side in ("A @ X", "A.T @ X"))
    there, turned = gpu.put(x), gpu.put(x_turned)
    out = gpu.get(a @ there)  # from the first product on the library is known

    def not_here(*_: Any) -> None:
        raise AssertionError("asked by Python")

    monkeypatch.setattr(ordito._device, "product", not_here)
    y = gpu.put(out)
    assert_array_equal(gpu.get(a @ there), s.toarray() @ x, strict=True)
    assert a.matmul(there, out=y, alpha=2, beta=1) is y
    assert_array_equal(gpu.get(y), 3 * (s.toarray() @ x), strict=True)
    assert_array_equal(gpu.get(a.T @ turned), s.toarray().T @ x_turned, strict=True)


# --- tensors that are not what they seem ---


def test_a_negative_that_was_not_computed_yet() -> None:
    torch = Torch().torch
    s, a = matrix()
    real, imaginary = (torch.from_numpy(numbers((40, 1), seed=seed)).cuda() for seed in (1, 2))
    plain = a @ real  # from now on tensors are known
    apart = torch.complex(real, imaginary).conj().imag
    for x in (apart, torch._neg_view(real)):
        assert x.is_neg()
        assert_array_equal((a @ x).cpu().numpy(), s.toarray() @ x.resolve_neg().cpu().numpy(), strict=True)
    y = torch.ones(60, 1, dtype=torch.float64, device="cuda")
    a.matmul(real, out=torch._neg_view(y))
    assert_array_equal(y.cpu().numpy(), -plain.cpu().numpy(), strict=True)


def test_tensors_without_gradients_for_now() -> None:
    torch = Torch().torch
    s, a = matrix()
    x = torch.from_numpy(numbers((40, 2))).cuda().requires_grad_()
    expected = s.toarray() @ numbers((40, 2))
    with torch.no_grad():
        y = torch.nn.Parameter(torch.zeros(60, 2, dtype=torch.float64, device="cuda"))
        assert_array_equal((a @ x).cpu().numpy(), expected, strict=True)
        assert a.matmul(x, out=y) is y
        assert_array_equal(y.cpu().numpy(), expected, strict=True)
    with torch.inference_mode():
        inside = torch.from_numpy(numbers((40, 2))).cuda()
        assert_array_equal((a @ inside).cpu().numpy(), expected, strict=True)


def test_arrays_of_a_class_of_ones_own() -> None:
    cupy = pytest.importorskip("cupy")

    class Mine(cupy.ndarray):  # type: ignore[misc] # CuPy has no stubs here
        pass

    s, a = matrix()
    x = numbers((40, 2))
    assert_array_equal(cupy.asnumpy(a @ cupy.asarray(x).view(Mine)), s.toarray() @ x, strict=True)

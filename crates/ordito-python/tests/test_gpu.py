"""Arrays of CuPy and torch on a GPU: multiplied where they lie, in the order of the caller's stream."""

from __future__ import annotations

import contextlib
import copy
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
from arrays import SIDES, Array, multiplied, random_csr, shape_of_x, whole_numbers
from numpy.testing import assert_allclose, assert_array_equal

if not any(name == "gpu" and usable for name, usable, _ in ordito.doctor()):
    pytest.skip("no GPU that can be used", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta:UserWarning")

FLOATS = [np.float32, np.float64]


class Torch:
    """What the tests ask of torch."""

    def __init__(self) -> None:
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("this torch sees no GPU")

    def put(self, x: Array) -> Any:
        return self.torch.from_numpy(np.ascontiguousarray(x)).cuda()

    def get(self, x: Any) -> Array:
        assert isinstance(x, self.torch.Tensor) and x.is_cuda, "a result stays on the GPU"
        found: Array = x.cpu().numpy()
        return found

    def address(self, x: Any) -> int:
        return int(x.data_ptr())

    def by_columns(self, x: Any) -> Any:
        return x.T.contiguous().T

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        return x.expand(shape)

    @contextlib.contextmanager
    def in_stream(self) -> Iterator[None]:
        """One that waits for no other, as all of torch's."""
        stream = self.torch.cuda.Stream()
        stream.wait_stream(self.torch.cuda.current_stream())
        with self.torch.cuda.stream(stream):
            yield
        stream.synchronize()

    def keep_busy(self) -> None:
        """So that whatever does not wait for this stream comes too early: some tens of milliseconds."""
        self.torch.cuda._sleep(100_000_000)

    def allocations(self, work: Callable[[], Any]) -> int:
        """How many arrays were made."""

        def made() -> int:
            return int(self.torch.cuda.memory_stats()["allocation.all.allocated"])

        before = made()
        kept = work()
        count = made() - before
        del kept
        return count


class Cupy:
    """What the tests ask of CuPy."""

    def __init__(self) -> None:
        self.cupy = pytest.importorskip("cupy")
        if not self.cupy.cuda.is_available():
            pytest.skip("this CuPy sees no GPU")
        code = 'extern "C" __global__ void busy(long long t) { long long t0 = clock64(); while (clock64() - t0 < t) {} }'
        self.busy = self.cupy.RawKernel(code, "busy")

    def put(self, x: Array) -> Any:
        return self.cupy.asarray(x, order="C")

    def get(self, x: Any) -> Array:
        assert isinstance(x, self.cupy.ndarray), "a result stays on the GPU"
        found: Array = self.cupy.asnumpy(x)
        return found

    def address(self, x: Any) -> int:
        return int(x.data.ptr)

    def by_columns(self, x: Any) -> Any:
        return self.cupy.asfortranarray(x)

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        return self.cupy.broadcast_to(x, shape)

    @contextlib.contextmanager
    def in_stream(self) -> Iterator[None]:
        """One that waits for no other."""
        self.cupy.cuda.get_current_stream().synchronize()
        stream = self.cupy.cuda.Stream(non_blocking=True)
        with stream:
            yield
        stream.synchronize()

    def keep_busy(self) -> None:
        """So that whatever does not wait for this stream comes too early: some tens of milliseconds."""
        self.busy((1,), (1,), (np.int64(100_000_000),))

    def allocations(self, work: Callable[[], Any]) -> int:
        """How many arrays were made."""

        class Counts(self.cupy.cuda.MemoryHook):  # type: ignore[misc, name-defined] # a class of CuPy's
            name = "counts"
            count = 0

            def malloc_preprocess(self, **_: Any) -> None:
                self.count += 1

        with Counts() as counts:
            kept = work()
        del kept
        return int(counts.count)


@pytest.fixture(scope="module", params=[Cupy, Torch])
def gpu(request: pytest.FixtureRequest) -> Any:
    return request.param()


def matrix(dtype: Any = np.float64, rows: int = 60, cols: int = 40) -> tuple[sp.csr_array, ordito.Matrix]:
    s = random_csr(np.random.default_rng(0), rows, cols, dtype=dtype)
    return s, ordito.csr(s, device="cuda")


def numbers(shape: Any, dtype: Any = np.float64, seed: int = 1) -> Array:
    return whole_numbers(np.random.default_rng(seed), shape, dtype)


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


# --- streams ---


@pytest.mark.parametrize("transposed", [False, True])
def test_a_product_waits_for_its_stream_and_its_stream_for_it(gpu: Any, transposed: bool) -> None:
    s, a = matrix()
    s, a = (s.T, a.T) if transposed else (s, a)
    new = numbers((s.shape[1], 8))
    x, late = gpu.put(np.full(new.shape, np.nan)), gpu.put(new)
    out = gpu.put(np.full((s.shape[0], 8), np.nan))
    a.matmul(late, out)  # prepares, so that only the product is in question
    out[...] = float("nan")
    for _ in range(3):
        with gpu.in_stream():
            gpu.keep_busy()
            x[...] = late  # what was there before is NaN
            a.matmul(x, out)
            kept = out + 0
            x[...] = float("nan")  # after the product has read it
            out[...] = float("nan")
        assert_array_equal(gpu.get(kept), s @ new)


def test_results_of_other_streams_are_new_arrays(gpu: Any) -> None:
    s, a = matrix()
    new = numbers((40, 8))
    late = gpu.put(new)
    with gpu.in_stream():
        gpu.keep_busy()
        found = [gpu.get(a @ (late * factor)) for factor in (1.0, 2.0, 3.0)]
    for factor, y in zip((1.0, 2.0, 3.0), found):
        assert_array_equal(y, factor * (s @ new))


def test_many_streams_come_and_go(gpu: Any) -> None:
    """More than are remembered; a new one may have the number of an old one."""
    s, a = matrix()
    x = numbers((40, 4))
    on_gpu = gpu.put(x)
    for _ in range(40):
        with gpu.in_stream():
            y = a @ on_gpu
        assert_array_equal(gpu.get(y), s @ x)


def test_many_threads_with_streams_of_their_own(gpu: Any) -> None:
    s, a = matrix()
    x = numbers((40, 4))
    expected = s @ x

    def work(_: int) -> bool:
        on_gpu = gpu.put(x)
        with gpu.in_stream():
            found = [a @ on_gpu for _ in range(20)]
        return all(np.array_equal(gpu.get(y), expected) for y in found)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


# --- matrices of CuPy and torch ---


@pytest.mark.parametrize("layout", ["csr", "coo", "csc"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_sparse_matrices_stay_on_their_gpu(gpu: Any, layout: str, dtype: Any) -> None:
    s = random_csr(np.random.default_rng(0), 60, 40, dtype=dtype)
    if isinstance(gpu, Torch):
        dense = gpu.put(s.toarray())
        theirs = {"csr": dense.to_sparse_csr, "coo": dense.to_sparse_coo, "csc": dense.to_sparse_csc}[layout]()
    else:
        cupy_sparse = pytest.importorskip("cupyx.scipy.sparse")
        theirs = cupy_sparse.csr_matrix(sp.csr_matrix(s)).asformat(layout)
    a = ordito.csr(theirs)
    assert (a.device, a.dtype, a.shape) == ("cuda:0", dtype, (60, 40))
    assert "brought from the GPU" in a.copied
    x = numbers((40, 3), dtype)
    assert_array_equal(gpu.get(a @ gpu.put(x)), s @ x)
    on_cpu = ordito.csr(theirs, device="cpu")
    assert on_cpu.device == "cpu"
    assert_array_equal(on_cpu @ x, s @ x)


def test_devices_have_numbers() -> None:
    s = random_csr(np.random.default_rng(0), 6, 4)
    assert [ordito.csr(s, device=device).device for device in ("cuda", "cuda:0", "cpu")] == ["cuda:0", "cuda:0", "cpu"]
    assert ordito.read("stencil5:5", device="cuda").device == "cuda:0"
    assert "cuda:0" in repr(ordito.csr(s, device="cuda"))
    with pytest.raises(RuntimeError):
        ordito.csr(s, device="cuda:99")


def test_new_values_are_used(gpu: Any) -> None:
    s, a = matrix()
    x = numbers((40, 3))
    on_gpu = gpu.put(x)
    a @ on_gpu
    a.T @ gpu.put(numbers((60, 3)))
    a.update_values(2 * s.data)
    assert_array_equal(gpu.get(a @ on_gpu), 2 * (s @ x))
    assert_array_equal(gpu.get(a.T @ gpu.put(numbers((60, 3)))), 2 * (s.T @ numbers((60, 3))))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_copies_lie_on_the_gpu_too(gpu: Any, copied: Any) -> None:
    s, a = matrix()
    other = copied(a)
    assert other.device == "cuda:0"
    assert_array_equal(gpu.get(other @ gpu.put(np.ones((40, 2)))), s @ np.ones((40, 2)))


def test_prepare_tells_what_was_chosen() -> None:
    _, a = matrix()
    choice = a.prepare(8)
    assert choice.columns == 8 and "cuda" in choice.kernel and choice.reason


# --- refusals ---


def test_a_matrix_elsewhere_is_told_where_to_go(gpu: Any) -> None:
    on_cpu = ordito.csr(random_csr(np.random.default_rng(0), 60, 40))
    text = r'X lies on cuda:0, A on cpu: ordito\.csr\(A, device="cuda:0"\) puts it there'
    x = gpu.put(np.ones((40, 2)))
    for product in (lambda: on_cpu @ x, lambda: on_cpu.T @ x, lambda: on_cpu.matmul(x), lambda: x.T @ on_cpu.T):
        with pytest.raises(ValueError, match=text):
            product()


def test_shapes_that_do_not_fit_are_named(gpu: Any) -> None:
    _, a = matrix()
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: a @ gpu.put(np.ones((60, 2))), "A is 60×40, so that X must have 40 rows; it has 60"),
        (lambda: a @ gpu.put(np.ones(60)), "A is 60×40, so that X must have 40 elements; it has 60"),
        (lambda: a.T @ gpu.put(np.ones((40, 2))), "A is 40×60, so that X must have 60 rows; it has 40"),
        (lambda: gpu.put(np.ones((2, 40))) @ a, "A is 60×40, so that X must have 60 columns; it has 40"),
        (lambda: a @ gpu.put(np.ones((1, 40, 2))), "X has 3 dimensions; one or two expected"),
        (lambda: a.matmul(gpu.put(np.ones((40, 2))), gpu.put(np.ones((60, 3)))), r"out has the shape \(60, 3\); \(60, 2\)"),
        (lambda: a.matmul(gpu.put(np.ones((40, 2))), gpu.put(np.ones((60, 1)))), r"out has the shape \(60, 1\); \(60, 2\)"),
        (lambda: a.rmatmul(gpu.put(np.ones((2, 60))), gpu.put(np.ones((1, 40)))), r"out has the shape \(1, 40\); \(2, 40\)"),
    ]
    for product, text in cases:
        with pytest.raises(ValueError, match=text):
            product()


def test_types_that_are_not_computed_in_are_refused(gpu: Any) -> None:
    _, a = matrix()
    for dtype in (np.int32, np.float16, np.complex64, bool):
        with pytest.raises(TypeError, match="float32 or float64 expected"):
            a @ gpu.put(np.ones((40, 2), dtype))
    with pytest.raises(ValueError, match="out must be float64 on cuda:0, as X is"):
        a.matmul(gpu.put(np.ones((40, 2))), gpu.put(np.ones((60, 2), np.float32)))


def test_arrays_of_two_kinds_are_refused(gpu: Any) -> None:
    _, a = matrix()
    with pytest.raises(TypeError, match="both must be of one kind"):
        a.matmul(gpu.put(np.ones((40, 2))), np.ones((60, 2)))
    with pytest.raises(TypeError, match="both must be of one kind"):
        a.matmul(np.ones((40, 2)), gpu.put(np.ones((60, 2))))


def test_an_out_in_memory_of_the_host_is_refused() -> None:
    torch = Torch().torch
    _, a = matrix()
    with pytest.raises(ValueError, match="out must be float64 on cuda:0, as X is"):
        a.matmul(torch.ones(40, 2, dtype=torch.float64).cuda(), torch.ones(60, 2, dtype=torch.float64))


def test_memory_of_others_is_refused() -> None:
    class Elsewhere:
        __cuda_array_interface__ = {"shape": (40,), "typestr": "<f8", "data": (0, False), "version": 3}

    _, a = matrix()
    with pytest.raises(TypeError, match=r"X is a Elsewhere: .* cupy\.asarray\(X\) makes one"):
        a @ Elsewhere()


# --- gradients ---


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


# --- statistics ---


@pytest.mark.parametrize("dtype", FLOATS)
def test_statistics_agree_with_the_cpu(dtype: Any) -> None:
    x = (np.random.default_rng(7).standard_normal((5000, 30)) + 1000).astype(dtype)
    on_cpu, on_gpu = ordito.column_stats(x), ordito.column_stats(x, device="cuda")
    assert on_gpu.count == on_cpu.count
    for name in ("mean", "variance"):
        assert_allclose(getattr(on_gpu, name), getattr(on_cpu, name), rtol=1e-6)
    assert_array_equal(on_gpu.min, on_cpu.min)
    assert_array_equal(on_gpu.max, on_cpu.max)

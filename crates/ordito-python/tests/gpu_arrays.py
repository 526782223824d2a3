"""What the tests on a GPU share: arrays of CuPy and torch, asked for the same things. Where there is no GPU whoever imports it is skipped."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
from arrays import Array, random_csr, whole_numbers

if not any(name == "gpu" and usable for name, usable, _ in ordito.doctor()):
    pytest.skip("no GPU that can be used", allow_module_level=True)

NO_BETA_WARNINGS = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta:UserWarning")

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


def matrix(dtype: Any = np.float64, rows: int = 60, cols: int = 40) -> tuple[sp.csr_array, ordito.Matrix]:
    s = random_csr(np.random.default_rng(0), rows, cols, dtype=dtype)
    return s, ordito.csr(s, device="cuda")


def numbers(shape: Any, dtype: Any = np.float64, seed: int = 1) -> Array:
    return whole_numbers(np.random.default_rng(seed), shape, dtype)

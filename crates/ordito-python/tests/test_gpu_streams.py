"""Products on a GPU happen in the order of the caller's stream."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from gpu_arrays import NO_BETA_WARNINGS, matrix, numbers
from numpy.testing import assert_array_equal

pytestmark = NO_BETA_WARNINGS


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

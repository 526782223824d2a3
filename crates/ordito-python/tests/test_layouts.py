"""X may lie in memory as it likes, and nothing of it is changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import ordito
import pytest
from arrays import LAYOUTS, SIDES, Array, multiplied, random_csr, shape_of_x, whole_numbers
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal


@given(
    shape=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    columns=st.none() | st.integers(1, 12),
    dtype=st.sampled_from(["f2", "f4", "f8", "c8", "c16"]),
    seed=st.integers(0, 2**32 - 1),
)
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout_gives_the_same(
    layout: str, side: str, shape: tuple[int, int], columns: int | None, dtype: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    s = random_csr(rng, *shape, dtype=np.float32)
    x = whole_numbers(rng, shape_of_x(shape, columns, side), dtype)
    lying = LAYOUTS[layout](x)
    before = lying.copy()
    assert_array_equal(multiplied(ordito.csr(s), lying, side), multiplied(s.toarray(), x, side), strict=True)
    assert_array_equal(lying, before)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_larger_block_lies_anyhow(layout: str, side: str) -> None:
    """So large that several threads take part."""
    rng = np.random.default_rng(1)
    s = random_csr(rng, 400, 300, 0.2)
    x = whole_numbers(rng, shape_of_x(s.shape, 24, side))
    assert_array_equal(multiplied(ordito.csr(s), LAYOUTS[layout](x), side), multiplied(s, x, side))


@pytest.mark.parametrize("shape", [(5, 4), (5, 1), (1, 4)])
def test_broadcast_arrays_are_read_as_they_look(shape: tuple[int, int]) -> None:
    s = random_csr(np.random.default_rng(2), 6, 5)
    x = np.broadcast_to(whole_numbers(np.random.default_rng(3), shape), (5, 4))
    assert_array_equal(ordito.csr(s) @ x, s @ x)
    constant = np.broadcast_to(np.float64(2), (5,))
    assert_array_equal(ordito.csr(s) @ constant, s @ constant)


@pytest.mark.parametrize("order", ["C", "F"])
def test_read_only_arrays_are_read(order: Any) -> None:
    s = random_csr(np.random.default_rng(4), 6, 5)
    x = np.asarray(whole_numbers(np.random.default_rng(5), (5, 3)), order=order)
    x.flags.writeable = False
    assert_array_equal(ordito.csr(s) @ x, s @ x)


def test_a_column_of_a_block_is_a_vector() -> None:
    s = random_csr(np.random.default_rng(6), 6, 5)
    x = whole_numbers(np.random.default_rng(7), (5, 3))
    a = ordito.csr(s)
    assert_array_equal(a @ x[:, 1], s @ x[:, 1])
    assert_array_equal(a @ x[:, 1:2], s @ x[:, 1:2])
    assert_array_equal(a @ x[:, ::-2], s @ x[:, ::-2])
    assert_array_equal(a @ x.T[2], s @ x[:, 2])


def test_windows_that_overlap_themselves() -> None:
    s = random_csr(np.random.default_rng(8), 6, 5)
    x = np.lib.stride_tricks.sliding_window_view(np.arange(8.0), 4)  # rows share elements
    assert x.shape == (5, 4)
    assert_array_equal(ordito.csr(s) @ x, s @ x)


def test_arrays_of_other_libraries_are_asked_for_theirs() -> None:
    class Holds:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.ones((5, 2))

    s = random_csr(np.random.default_rng(9), 6, 5)
    assert_array_equal(ordito.csr(s) @ Holds(), s @ np.ones((5, 2)))


class OnlyByDlpack:
    """An array of a library that NumPy does not know."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def __dlpack__(self, **asked: Any) -> Any:
        return self.array.__dlpack__(**asked)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class NotByDlpack(OnlyByDlpack):
    """One that lies in several places, and is put together for NumPy."""

    def __dlpack__(self, **asked: Any) -> Any:
        raise BufferError("it lies in several places")

    def __dlpack_device__(self) -> tuple[int, int]:
        raise BufferError("it lies in several places")


class PutTogether(NotByDlpack):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


class Told(NotByDlpack):
    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.array.__array_interface__


@pytest.mark.parametrize("kind", [OnlyByDlpack, PutTogether, Told])
def test_arrays_are_read_by_whatever_they_offer(kind: type[OnlyByDlpack]) -> None:
    rng = np.random.default_rng(10)
    s, x = random_csr(rng, 30, 20), whole_numbers(rng, (20, 3))
    assert_array_equal(ordito.csr(s) @ kind(x), s @ x, strict=True)


@pytest.mark.parametrize("layout", ["rows", "columns", "rows apart"])
def test_a_result_is_new_and_by_rows(layout: str) -> None:
    s = random_csr(np.random.default_rng(0), 6, 5)
    x = LAYOUTS[layout](np.ones((5, 3)))
    y = ordito.csr(s) @ x
    assert y.flags.c_contiguous and y.flags.writeable and not np.shares_memory(x, y)

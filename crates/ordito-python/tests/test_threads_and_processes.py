"""One matrix in many threads and processes, and what ends them."""

from __future__ import annotations

import gc
import multiprocessing
import operator
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import ordito
import pytest
from arrays import Array
from numpy.testing import assert_array_equal

#: So many products that several threads take part in one.
NAME, COLUMNS = "stencil27:20", 8


@pytest.fixture(scope="module")
def product() -> tuple[ordito.Matrix, Array, Array]:
    a = ordito.read(NAME)
    x = np.random.default_rng(0).standard_normal((a.shape[1], COLUMNS))
    return a, x, a @ x


# --- threads ---


@pytest.mark.parametrize("threads", [None, 1, 2, 3])
def test_many_threads_multiply_at_once(product: tuple[ordito.Matrix, Array, Array], threads: int | None) -> None:
    """The first products, too, which choose kernels and convert."""
    a, x, _ = product
    expected = {columns: (a @ x[:, :columns]).tobytes() for columns in (1, 3, COLUMNS)}
    of_transposed = (a.T @ x).tobytes()
    fresh = ordito.read(NAME, threads=threads)
    begin = threading.Barrier(6)

    def work(number: int) -> bool:
        begin.wait()
        for turn in range(6):
            columns = (1, 3, COLUMNS)[(number + turn) % 3]
            if (fresh @ x[:, :columns]).tobytes() != expected[columns]:
                return False
        return (fresh.T @ x).tobytes() == of_transposed

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, range(6))) == [True] * 6


def test_values_are_replaced_between_products_and_not_within() -> None:
    a = ordito.csr((np.ones(4000), np.arange(4000) % 50, np.arange(0, 4001, 50)), shape=(80, 50))
    x = np.ones((50, 4))
    done = threading.Event()
    seen: set[float] = set()

    def multiply() -> None:
        while not done.is_set():
            y = a @ x
            assert (y == y[0, 0]).all(), "values of two updates in one product"
            seen.add(float(y[0, 0]))

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(multiply) for _ in range(2)]
        for value in range(1, 200):
            a.update_values(np.full(4000, float(value)))
        done.set()
        for thread in running:
            thread.result()
    assert seen <= {50.0 * value for value in range(1, 200)} and seen


def test_other_threads_of_python_run_during_a_product() -> None:
    a = ordito.read("stencil27:40", threads=1)
    x, y = np.ones((a.shape[1], 16)), np.empty((a.shape[0], 16))
    a.matmul(x, y)
    ticks, done = [0], threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0.0001)

    clock = threading.Thread(target=tick)
    clock.start()
    try:
        # Without the interpreter's lock held: one product lasts for many ticks.
        most = 0
        for _ in range(5):
            before = ticks[0]
            a.matmul(x, y)
            most = max(most, ticks[0] - before)
    finally:
        done.set()
        clock.join()
    assert most >= 2


def test_matrices_are_freed_in_other_threads() -> None:
    def make_and_forget(_: int) -> float:
        a = ordito.read("stencil5:20")
        return float((a @ np.ones(400)).sum())

    with ThreadPoolExecutor(4) as pool:
        sums = set(pool.map(make_and_forget, range(40)))
    gc.collect()
    assert len(sums) == 1


# --- processes ---

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
# Python warns of forks in programs of several threads; that they work here is what is tested.
ignores_the_warning = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


@forks
@ignores_the_warning
def test_a_forked_child_multiplies(product: tuple[ordito.Matrix, Array, Array]) -> None:
    a, x, y = product
    child = os.fork()
    if child == 0:
        same = (a @ x).tobytes() == y.tobytes()
        same = same and np.isfinite(a.T @ x[:, :3]).all()  # prepared in the child
        same = same and np.isfinite(ordito.gemm(x.T, x)).all() and np.isfinite(ordito.column_stats(x).mean).all()
        same = same and (ordito.read(NAME, threads=3) @ x).tobytes() == y.tobytes()
        os._exit(0 if same else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert (a @ x).tobytes() == y.tobytes(), "the parent goes on"


@forks
@ignores_the_warning
def test_a_child_of_a_child_multiplies(product: tuple[ordito.Matrix, Array, Array]) -> None:
    a, x, y = product
    child = os.fork()
    if child == 0:
        a @ x
        grandchild = os.fork()
        if grandchild == 0:
            os._exit(0 if (a @ x).tobytes() == y.tobytes() else 1)
        _, status = os.waitpid(grandchild, 0)
        os._exit(os.waitstatus_to_exitcode(status))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@ignores_the_warning
def test_pools_of_processes(product: tuple[ordito.Matrix, Array, Array], method: str) -> None:
    a, x, y = product
    with multiprocessing.get_context(method).Pool(2) as pool:
        for found in pool.starmap(operator.matmul, [(a, x), (a, x), (a.T.T, x)]):
            assert found.tobytes() == y.tobytes()
        [transposed] = pool.starmap(operator.matmul, [(a.T, x)])
    assert transposed.tobytes() == (a.T @ x).tobytes()


def test_joblib_sends_matrices_to_its_processes(product: tuple[ordito.Matrix, Array, Array]) -> None:
    """Its arrays arrive as files in memory, read-only."""
    joblib = pytest.importorskip("joblib")
    a, x, y = product
    jobs = (joblib.delayed(operator.matmul)(a, x) for _ in range(3))
    for found in joblib.Parallel(n_jobs=2, backend="loky", max_nbytes=1000)(jobs):
        assert found.tobytes() == y.tobytes()


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_workers_of_dask_multiply(product: tuple[ordito.Matrix, Array, Array], scheduler: str) -> None:
    dask = pytest.importorskip("dask")
    a, x, y = product
    blocks = [dask.delayed(operator.matmul)(a, x) for _ in range(3)]
    for found in dask.compute(*blocks, scheduler=scheduler, num_workers=2):
        assert found.tobytes() == y.tobytes()


# --- Ctrl-C ---

LOOPS_OVER_PRODUCTS = """
import signal
import numpy as np, ordito
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored for what runs in the background
a = ordito.read("stencil27:30")
x = np.ones((a.shape[1], 8))
y = a @ x
print("ready", flush=True)
try:
    while True:
        a.matmul(x, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    raise
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal here")
def test_ctrl_c_ends_a_loop_over_products() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", LOOPS_OVER_PRODUCTS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.1)  # into the loop
    child.send_signal(signal.SIGINT)
    try:
        output, errors = child.communicate(timeout=20)
    finally:
        child.kill()
    assert output == "interrupted\n"
    assert "KeyboardInterrupt" in errors
    assert child.returncode == -signal.SIGINT


def test_a_wrong_number_of_threads_in_the_environment_is_told() -> None:
    program = "import numpy as np, ordito; print((ordito.read('stencil5:5') @ np.ones(25)).sum())"
    for value, ends_well in (("1", True), ("2", True), ("none", False), ("0", False)):
        done = subprocess.run(
            [sys.executable, "-c", program], env=os.environ | {"ORDITO_THREADS": value}, capture_output=True, text=True
        )
        assert (done.returncode == 0) == ends_well, done.stderr
        assert ends_well or "ORDITO_THREADS" in done.stderr.splitlines()[-1]


def test_no_array_is_lost_over_many_products() -> None:
    """References are given back, by those that raise, too."""
    a = ordito.read("stencil5:10")
    x: Any = np.ones((100, 3))
    out = np.empty((100, 3))
    counts = sys.getrefcount(x), sys.getrefcount(out), sys.getrefcount(a._parts.data)
    for _ in range(200):
        a @ x
        x.T @ a
        a.matmul(x, out, beta=1.0)
        a.matmul(x.astype(np.float32), out)
        with pytest.raises(ValueError):
            a.matmul(x[:5], out)
    assert (sys.getrefcount(x), sys.getrefcount(out), sys.getrefcount(a._parts.data)) == counts
    assert_array_equal(x, np.ones((100, 3)))

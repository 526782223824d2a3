"""Threads of Python that really run at once, on an interpreter without a lock; and on any other the same calls in turns."""

from __future__ import annotations

import pickle
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import ordito
import pytest
import scipy.sparse as sp
from ordito.linalg import cg

THREADS, TURNS = 8, 25


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this interpreter has a lock")
def test_importing_asks_for_no_lock() -> None:
    program = "import sys, ordito, ordito.linalg, ordito.io, ordito.eeg, ordito.sparse; assert not sys._is_gil_enabled()"
    subprocess.run([sys.executable, "-W", "error::RuntimeWarning", "-c", program], check=True)


def line(n: int) -> sp.csr_array:
    ones = np.ones(n)
    return sp.csr_array(sp.diags_array([-ones[1:], 3 * ones, -ones[1:]], offsets=[-1, 0, 1]))


def test_everything_at_once_on_one_matrix() -> None:
    """Whatever a matrix makes when it is first asked for, all threads ask for first."""
    s = line(3000)
    for _ in range(3):
        a = ordito.csr(s)
        x = np.random.default_rng(1).standard_normal((3000, 9))
        expected = {columns: s @ x[:, :columns] for columns in (1, 2, 5, 9)}
        begin = threading.Barrier(THREADS)

        def product(turn: int) -> None:
            columns = (1, 2, 5, 9)[turn % 4]
            np.testing.assert_allclose(a @ x[:, :columns], expected[columns], atol=1e-13)

        def into(turn: int) -> None:
            y = np.ones((3000, 9))
            a.matmul(x, y, alpha=2.0, beta=float(turn))
            np.testing.assert_allclose(y, 2 * expected[9] + turn, atol=1e-12)

        def transposed(_: int) -> None:
            np.testing.assert_allclose(a.T @ x, expected[9], atol=1e-13)
            np.testing.assert_allclose(x.T @ a, expected[9].T, atol=1e-13)

        def narrow(_: int) -> None:
            np.testing.assert_allclose(a.astype(np.float32) @ x.astype(np.float32), expected[9], atol=1e-4)

        def told(turn: int) -> None:
            assert a.prepare(1 + turn % 7).columns == 1 + turn % 7 and "3000×3000" in repr(a) and a.nbytes >= 0

        def copied(_: int) -> None:
            assert ((pickle.loads(pickle.dumps(a)).to_scipy() != s).nnz, a.nnz) == (0, s.nnz)

        def solved(_: int) -> None:
            found, info = cg(a, x[:, :2], rtol=1e-10)
            assert info == 0
            np.testing.assert_allclose(s @ found, x[:, :2], atol=1e-8)

        def wrapped(_: int) -> None:
            np.testing.assert_allclose(ordito.csr(s, threads=2) @ x, expected[9], atol=1e-13)

        works: list[Callable[[int], None]] = [product, into, transposed, narrow, told, copied, solved, wrapped]

        def work(number: int) -> None:
            begin.wait()
            for turn in range(TURNS):
                works[(number + turn) % len(works)](turn)

        with ThreadPoolExecutor(THREADS) as pool:
            for result in [pool.submit(work, number) for number in range(THREADS)]:
                result.result()


def test_new_values_and_products_at_once() -> None:
    s = line(500)
    a = ordito.csr(s)
    x = np.ones((500, 4))
    once = s @ x
    done = threading.Event()

    def multiply() -> None:
        while not done.is_set():
            y = a @ x
            factor = round(float(y[0, 0] / once[0, 0]))
            np.testing.assert_allclose(y, factor * once, atol=1e-12)
            y = a.T @ x
            np.testing.assert_allclose(y, round(float(y[0, 0] / once[0, 0])) * once, atol=1e-12)

    def change(number: int) -> None:
        for turn in range(TURNS):
            a.update_values((1 + (turn + number) % 5) * s.data)

    with ThreadPoolExecutor(6) as pool:
        running = [pool.submit(multiply) for _ in range(4)]
        changing = [pool.submit(change, number) for number in range(2)]
        for result in changing:
            result.result()
        done.set()
        for result in running:
            result.result()

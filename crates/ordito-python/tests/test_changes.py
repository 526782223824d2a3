"""Arrays that others change, memory that is not there, processes that fork in the middle."""

import gc
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import ordito
import ordito.sparse


def untidy() -> sp.csr_array:
    """Two entries at the same place, and columns out of order."""
    return sp.csr_array((np.array([1.0, 2.0, 4.0, 8.0]), np.array([1, 1, 1, 0]), np.array([0, 2, 4])), shape=(2, 2))


def test_scipy_may_tidy_what_was_wrapped() -> None:
    matrix = untidy()
    a = ordito.csr(matrix)
    assert a.copied.startswith("copied, since SciPy sorts and sums")
    before = a @ np.ones(2)
    matrix.sum_duplicates()
    assert matrix.nnz == 3
    np.testing.assert_array_equal(a @ np.ones(2), before)
    np.testing.assert_array_equal(before, [3.0, 12.0])


def test_what_scipy_gets_back_cannot_be_written() -> None:
    a = ordito.read("stencil5:4")
    back = a.to_scipy()
    with pytest.raises(ValueError, match="read-only"):
        back.data[0] = 7.0
    with pytest.raises(ValueError, match="read-only"):
        back.indices[0] = 10**6
    copy = back.copy()
    copy.data[0] += 1.0
    assert copy.data[0] != back.data[0]


def test_arrays_with_gaps_are_copied_and_that_is_told() -> None:
    wide = np.arange(6.0)
    a = ordito.csr((wide[::2], np.array([0, 1, 2]), np.array([0, 1, 2, 3])), shape=(3, 3))
    assert a.copied.startswith("data copied, since it had gaps")
    of_bytes = ordito.csr(sp.csc_array(np.eye(3, dtype=np.int8)))
    assert of_bytes.copied.startswith("data converted from int8, sorted from columns to rows")


def test_a_result_that_does_not_fit_memory_is_a_memory_error() -> None:
    a = ordito.csr(sp.csr_array((10**7, 1)))
    with pytest.raises(MemoryError):
        a @ np.ones((1, 10**7))
    with pytest.raises((MemoryError, ValueError)):
        ordito.csr(sp.csr_array((5, 0))) @ np.ones((0, 2**58), np.int8)


def test_no_values_of_before_stay_in_a_twin() -> None:
    a = ordito.csr(sp.csr_array(np.eye(2000, dtype=np.float32)))
    x = np.ones(2000)
    for value in range(1, 30):
        reader = threading.Thread(target=lambda: a @ x)
        reader.start()
        a.update_values(np.full(2000, value, np.float32))
        reader.join()
        np.testing.assert_array_equal(a @ x, np.full(2000, value, np.float64))


def test_a_transposed_csr_array_goes_without_the_collector() -> None:
    gc.disable()
    try:
        a = ordito.sparse.csr_array(sp.csr_array(np.eye(4)))
        turned = a.T
        assert turned.T is a
        seen = [weakref.ref(a), weakref.ref(turned)]
        del a, turned
        assert [one() for one in seen] == [None, None]
    finally:
        gc.enable()


def test_memory_of_replaced_values_is_counted() -> None:
    a = ordito.csr(sp.csr_array(np.eye(1000)))
    before = a.nbytes
    a.update_values(np.ones(1000))
    assert a.nbytes == before + 2 * 8000


FORKS_WHILE_OTHERS_WORK = """
import os, sys, threading, numpy as np, ordito
a = ordito.read("stencil5:60")
x = np.ones((a.shape[1], 3))
expected = a @ x
values = a.to_scipy().data.copy()
end = False
def works(what):
    while not end:
        what()
def makes():
    ordito.csr(a.to_scipy(), threads=3) @ x
for what in (lambda: a @ x, lambda: a.update_values(values), makes):
    threading.Thread(target=works, args=(what,), daemon=True).start()
for _ in range(40):
    child = os.fork()
    if child == 0:
        a.update_values(values)
        right = np.array_equal(a @ x, expected) and np.array_equal(ordito.csr(a.to_scipy()) @ x, expected)
        os._exit(0 if right else 1)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("a child was wrong")
end = True
print("all children were right")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes fork here")
@pytest.mark.filterwarnings("ignore:This process")
def test_children_work_whatever_other_threads_were_doing() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKS_WHILE_OTHERS_WORK], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "all children were right\n", done.stdout + done.stderr


def test_machines_go_with_their_matrices() -> None:
    """Threads of matrices that are gone are given back."""
    program = """
import os, numpy as np, scipy.sparse as sp, ordito
s = sp.csr_array(np.eye(400))
x = np.ones((400, 64))
for threads in range(2, 20):
    ordito.csr(s, threads=threads) @ x
print(len(os.listdir("/proc/self/task")))
"""
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("threads cannot be counted here")
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert int(done.stdout) < 60, done.stderr


def test_files_that_cannot_be_written_say_why(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="cannot write"):
        ordito.io.mmwrite(tmp_path / "missing" / "a.mtx", sp.csr_array(np.eye(2)))

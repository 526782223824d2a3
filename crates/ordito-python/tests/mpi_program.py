"""Products on ranks with mpi4py, for ``mpiexec -n 3 python mpi_program.py [MODE]``. `.ci/mpi` starts it on several MPIs.

Without a mode all checks are made. ``raises`` and ``exits``: rank 1 leaves while the others multiply.
"""

from __future__ import annotations

import doctest
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import ordito
import ordito.mpi
import scipy.sparse as sp
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, count = comm.Get_rank(), comm.Get_size()


def whole(rows: int, cols: int, seed: int = 0) -> Any:
    """The same on all ranks, with empty rows."""
    a = sp.random_array((rows, cols), density=0.15, rng=np.random.default_rng(seed), format="csr")
    return sp.csr_array(a.multiply(np.arange(rows)[:, None] % 5 != 3))


def cut(total: int, shares: list[int]) -> list[slice]:
    """Rows of every rank; shares say how many each gets of so many."""
    ends = np.cumsum([0, *shares]) * total // sum(shares)
    return [slice(int(start), int(end)) for start, end in zip(ends, ends[1:])]


def raised(work: Any) -> tuple[str, str]:
    try:
        work()
    except Exception as error:
        return type(error).__name__, str(error)
    return "", ""


def check_products() -> None:
    random = np.random.default_rng(1)
    for rows, cols in ((60, 60), (60, 35), (7, 90), (1, 1)):
        a = whole(rows, cols)
        # The last rank has no rows of A.
        mine = cut(rows, [2] * (count - 1) + [0] if count > 1 else [1])[rank]
        ours = cut(cols, list(range(1, count + 1)))[rank]
        for dtype, tolerance in ((np.float64, 1e-13), (np.float32, 1e-5)):
            A = ordito.mpi.csr(a[mine], comm, columns=ours.stop - ours.start, dtype=dtype)
            assert (A.shape, A.nnz, A.dtype) == (a.shape, a.nnz, dtype)
            assert (A.rows, A.columns) == (range(mine.start, mine.stop), range(ours.start, ours.stop))
            for shape in ((cols,), (cols, 1), (cols, 5)):
                x = random.normal(size=shape).astype(dtype)
                y = A @ x[ours]
                np.testing.assert_allclose(y, (a @ x)[mine], atol=tolerance)
                assert y.dtype == dtype and (A @ x[ours]).tobytes() == y.tobytes()
                # By columns, and with gaps: copied.
                np.testing.assert_array_equal(A @ np.asfortranarray(x)[ours], y)
                out = np.ones_like(y)
                assert A.matmul(x[ours], out, alpha=2.0, beta=3.0) is out
                np.testing.assert_allclose(out, 2 * (a @ x)[mine] + 3, atol=4 * tolerance)
                z = random.normal(size=(rows, *shape[1:])).astype(dtype)
                np.testing.assert_allclose(A.T @ z[mine], (a.T @ z)[ours], atol=tolerance)
    assert A.T.T.shape == A.shape and A.T.shape == A.shape[::-1]


def check_arrays() -> None:
    a = whole(40, 40, seed=2)
    mine = cut(40, [1] * count)[rank]
    x = np.random.default_rng(3).normal(size=(40, 4))
    local = a[mine]
    expected = ordito.mpi.csr(local, comm) @ x[mine]
    wide = (local.data, local.indices.astype(np.int64), local.indptr.astype(np.int64))
    np.testing.assert_array_equal(ordito.mpi.csr(wide, comm, shape=local.shape) @ x[mine], expected)
    if count > 2:  # columns beyond 32 bits, fewer than 2**32 of them on every rank
        far = sp.csr_array((np.ones(1), np.array([2**33 + rank]), np.array([0, 1])), shape=(1, 2**33 + count))
        assert ordito.mpi.csr(far, comm).shape == (count, 2**33 + count)
    # Backwards, every entry in two halves.
    twice = [np.repeat(array, 2) for array in (local.data / 2, local.indices)]
    doubled = np.concatenate([np.arange(2 * end - 1, 2 * start - 1, -1) for start, end in zip(local.indptr, local.indptr[1:])])
    untidy = (twice[0][doubled], twice[1][doubled], 2 * local.indptr)
    np.testing.assert_allclose(ordito.mpi.csr(untidy, comm, shape=local.shape) @ x[mine], expected, atol=1e-14)
    for other in (local.tocoo(), local.tocsc()):
        np.testing.assert_array_equal(ordito.mpi.csr(other, comm) @ x[mine], expected)
    # What moves is what the columns say.
    moved = ordito.mpi.csr(a[mine], comm, team=1).volume
    needed = set(local.indices.tolist()) - set(range(mine.start, mine.stop))
    assert moved.travel[rank] + moved.in_place[rank] == len(needed), (moved, len(needed))
    ranks = "1 rank" if count == 1 else f"{count} ranks"
    assert f"nonzeros on {ranks}, rows {mine.start} to {mine.stop} here" in repr(ordito.mpi.csr(local, comm))


def check_names() -> None:
    folder = comm.bcast(tempfile.mkdtemp() if rank == 0 else None)
    path = os.path.join(folder, "a.mtx")
    a = whole(50, 50, seed=4)
    if rank == 0:
        ordito.io.mmwrite(path, a)
    comm.Barrier()
    x = np.random.default_rng(5).normal(size=(50, 3))
    for dtype in (np.float64, np.float32):
        A = ordito.mpi.csr(path, comm, dtype=dtype)
        mine = slice(A.rows.start, A.rows.stop)
        np.testing.assert_allclose(A @ x[mine].astype(dtype), (a @ x)[mine], atol=1e-5)
    A = ordito.mpi.csr("stencil5:20", comm, threads=2)
    assert sum(comm.allgather(A.local_nnz)) == A.nnz == ordito.read("stencil5:20").nnz


def check_errors() -> None:
    a = whole(30, 30, seed=6)
    mine = cut(30, [1] * count)[rank]
    last = count - 1
    is_last = rank == last
    bad_column = (np.ones(1), np.array([99 if is_last else 0]), np.array([0, 1]))
    cases = [
        ("a dense array", lambda: ordito.mpi.csr(np.eye(3) if is_last else a[mine], comm)),
        ("column 99, but there are", lambda: ordito.mpi.csr(bad_column, comm, shape=(1, 40))),
        ("dtype is int8", lambda: ordito.mpi.csr(a[mine], comm, dtype=np.int8)),
        ("nowhere.mtx", lambda: ordito.mpi.csr("nowhere.mtx", comm)),
        ("cannot be cut into such teams", lambda: ordito.mpi.csr(a[mine], comm, team=count + 1)),
        ("no_such", lambda: ordito.mpi.csr(a[mine], comm, variant="no_such")),
        ("communicator of mpi4py expected", lambda: ordito.mpi.csr(a, 7)),
    ]
    if count > 1:
        wider = sp.csr_array((1, 9 + is_last))
        cases += [
            ("the same on all", lambda: ordito.mpi.csr(wider, comm)),
            ("all of one kind", lambda: ordito.mpi.csr("stencil5:3" if is_last else a[mine], comm)),
            ("all or none", lambda: ordito.mpi.csr(a[mine], comm, columns=5 if is_last else None)),
            (f"{5 * count} together; A has 30", lambda: ordito.mpi.csr(a[mine], comm, columns=5)) if count != 6 else cases[0],
        ]
    for words, work in cases:
        told = comm.allgather(raised(work))
        assert len(set(told)) == 1 and words in told[0][1], (words, told)
    # One rank has an X that does not fit, or of another type: the others hear of it, and do not wait.
    for x, kind, words in ((np.ones(2), "ValueError", "X is 2×1"), (np.ones(30, complex), "TypeError", "X is complex128")):
        A = ordito.mpi.csr(a[mine], comm)
        comm.Barrier()  # or some hear of it here
        found = raised(lambda: A @ (x if is_last else np.ones(len(A.columns))))
        if is_last:
            assert found[0] == kind and words in found[1], found
        elif found != ("", ""):  # it may need nothing of that rank
            assert found[0] == "RuntimeError" and f"rank {last}:" in found[1] and words in found[1], found
        comm.Barrier()
    # A new matrix on the same communicator works.
    A = ordito.mpi.csr(a[mine], comm)
    np.testing.assert_allclose(A @ np.ones(len(A.columns)), (a @ np.ones(30))[mine], atol=1e-13)


def check_communicators() -> None:
    a = whole(24, 24, seed=7)
    half = comm.Split(rank % 2, rank)
    mine = cut(24, [1] * half.Get_size())[half.Get_rank()]
    for part in (half, half.Dup(), half):
        np.testing.assert_allclose(ordito.mpi.csr(a[mine], part) @ np.ones(mine.stop - mine.start), (a @ np.ones(24))[mine], atol=1e-13)
    half.Free()
    alone = ordito.mpi.csr(a, MPI.COMM_SELF)
    np.testing.assert_allclose(alone @ np.ones(24), a @ np.ones(24), atol=1e-13)
    assert alone.volume == ([0], [0], [0])
    # The program of the documentation.
    page = (Path(__file__).resolve().parents[3] / "docs" / "mpi.md").read_text(encoding="utf-8")
    for code in re.findall(r"^```python\n(.+?)^```", page, re.DOTALL | re.MULTILINE):
        found: dict[str, Any] = {}
        exec(compile(code, "mpi.md", "exec"), found)
        rows, columns = found["A"].rows, found["A"].columns
        expected = np.where((np.arange(999) == 0) | (np.arange(999) == 998), 3.0, 0.0)[rows.start : rows.stop]
        np.testing.assert_array_equal(found["Y"], np.repeat(expected[:, None], 8, axis=1))
        assert found["Z"].shape == (len(columns), 8)
    failed, tried = doctest.testmod(ordito.mpi)
    assert failed == 0 and tried > 8


def leave(mode: str) -> None:
    """Rank 1 goes; the others multiply until they hear of it."""
    A = ordito.mpi.csr("stencil5:30", comm)
    x = np.ones(len(A.columns))
    for turn in range(10**9):
        if rank == 1 and turn == 20:
            if mode == "raises":
                raise ValueError("no more of this")
            sys.exit(3)
        A @ x


if __name__ == "__main__":
    if len(sys.argv) > 1:
        leave(sys.argv[1])
    for check in (check_products, check_arrays, check_names, check_errors, check_communicators):
        check()
    # Still there when Python ends.
    kept = ordito.mpi.csr("stencil5:30", comm)
    assert MPI.Is_initialized() and not MPI.Is_finalized()
    if rank == 0:
        print(f"{count} ranks: all well", flush=True)

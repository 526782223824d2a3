"""What ordito.mpi checks before MPI is asked for anything. Products are in mpi_program.py, which an mpiexec starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import ordito.mpi
import pytest
import scipy.sparse as sp


class Others:
    """A communicator of three ranks, as the first of them sees it; the others say what is given."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def py2f(self) -> int:
        raise AssertionError("MPI is not asked")

    def Get_rank(self) -> int:
        return 0

    def allgather(self, mine: Any) -> list[Any]:
        return [mine, *self.answers.pop(0)] if self.answers else [mine] * 3


def found(rows: int, columns: int, kind: type = np.float64, share: int | None = None) -> Any:
    return (rows, columns, share, np.dtype(kind)), -1, ""


EYE = sp.eye_array(4, format="csr")


def test_only_communicators_are_taken() -> None:
    with pytest.raises(TypeError, match="comm is a int; a communicator of mpi4py expected"):
        ordito.mpi.csr(EYE, 7)


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"a": np.eye(2)}, TypeError, "rank 0: A is a dense array"),
        ({"a": EYE, "threads": 0}, ValueError, "rank 0: threads=0"),
        ({"a": EYE, "team": "two"}, TypeError, "rank 0: team='two'"),
        ({"a": EYE, "columns": -1}, ValueError, "rank 0: columns=-1"),
        ({"a": EYE, "dtype": np.int8}, TypeError, "rank 0: dtype is int8"),
        ({"a": "stencil5:4", "dtype": complex}, TypeError, "rank 0: dtype is complex128"),
    ],
)
def test_what_is_wrong_here_is_told_to_all(arguments: dict[str, Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        ordito.mpi.csr(comm=Others(), **arguments)


ASKED = ((None, None, None), -1, "")


@pytest.mark.parametrize(
    ("others", "kind", "words"),
    [
        ([[ASKED, (None, 1, "team=0")]], ValueError, "rank 2: team=0"),
        ([[ASKED, (None, 4, "OSError: gone")]], RuntimeError, "rank 2: OSError: gone"),
        ([[ASKED] * 2, [True, False]], TypeError, "a name on some ranks"),
        ([[ASKED] * 2, [False] * 2, [found(4, 4), found(4, 5)]], ValueError, r"rows of \[4, 5\] columns"),
        ([[ASKED] * 2, [False] * 2, [found(0, 4, share=4), found(0, 4)]], ValueError, "on 1 of 3 ranks"),
    ],
)
def test_what_is_wrong_elsewhere_is_raised_here(others: list[Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        ordito.mpi.csr(EYE, Others(*others))


def test_shares_of_x_must_fit() -> None:
    others = Others([ASKED] * 2, [False] * 2, [found(0, 4, share=2), found(0, 4, share=2)])
    with pytest.raises(ValueError, match="columns of all ranks are 5 together; A has 4"):
        ordito.mpi.csr(EYE, others, columns=1)

"""Types hold, examples in the documentation run, and doctor() tells the truth."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import os
import pkgutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import ordito
import pytest

PACKAGE = Path(__file__).resolve().parents[1]
MODULES = sorted(module.name for module in pkgutil.iter_modules(ordito.__path__, "ordito.")) + ["ordito"]

# --- types ---

needs_mypy = pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")

#: What a user writes, with the types that must come out. mypy names those that do not.
USER_PROGRAM = """
from pathlib import Path
from typing import Any

import numpy as np
import ordito
import ordito.sparse
from numpy.typing import NDArray
from typing_extensions import assert_type

a = ordito.csr((np.ones(2), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2), threads=1, dtype=np.float32)
assert_type(a, ordito.Matrix)
assert_type(a.T, ordito.Matrix)
assert_type(a.T.prepare(8), ordito.Choice)
assert_type(a.prepare(8).seconds, float)
assert_type(ordito.read(Path("a.mtx"), device="cuda:0"), ordito.Matrix)
assert_type(a.astype(np.float64), ordito.Matrix)
assert_type((a.nnz, a.copied, a.nbytes, a.device), tuple[int, str, int, str])
a.update_values([1.0, 2.0])
y: NDArray[np.float64] = a @ np.ones((2, 3))
y = np.ones((3, 2)) @ a
a.matmul(np.ones(2), out=np.ones(2), alpha=2.0, beta=1.0)

product: NDArray[Any] = ordito.gemm(np.eye(2), np.eye(2), alpha=2.0)
found = ordito.column_stats(np.eye(2), axis=1, threads=2)
assert_type(found, ordito.ColumnStats)
assert_type(found.mean, NDArray[np.float64])
assert_type(found.sem, NDArray[np.float64])
erp = ordito.erp(np.ones((2, 3, 4)), rate=100.0, baseline=(None, 0.0), reject=5.0, reference="average")
assert_type(erp, ordito.Erp)
assert_type(erp.t, NDArray[np.float64])
assert_type(erp.target.count, int)
assert_type([usable for _, usable, _ in ordito.doctor()], list[bool])
assert_type(ordito.__version__, str)


def on_ranks(comm: Any) -> None:
    b = ordito.mpi.csr(a.to_scipy(), comm, dtype=np.float32, team=1)
    assert_type(b, ordito.mpi.Matrix)
    assert_type(b.T, ordito.mpi.Matrix)
    assert_type(b.volume.travel, list[int])
    assert_type((b.shape, b.rows, b.nnz), tuple[tuple[int, int], range, int])
    b.matmul(np.ones(2, np.float32), out=np.ones(2, np.float32), alpha=2.0, beta=1.0)
"""

#: What mypy must find in a program that is wrong.
WRONG_PROGRAM = """
import numpy as np
import ordito
ordito.csr((np.ones(1), np.zeros(1), np.zeros(2)), threads="two")
ordito.read("a.mtx").prepare("eight")
ordito.erp(np.ones((2, 3, 4)), baseline=0.5)
ordito.no_such_function()
"""


def mypy(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *arguments]
    return subprocess.run(
        command, cwd=PACKAGE, env=os.environ | {"MYPYPATH": "python"}, capture_output=True, text=True
    )


@needs_mypy
def test_the_package_is_typed() -> None:
    done = mypy("-p", "ordito")
    assert done.returncode == 0, done.stdout + done.stderr


@needs_mypy
def test_a_program_of_a_user_is_typed(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(USER_PROGRAM)
    done = mypy(str(tmp_path / "program.py"))
    assert done.returncode == 0, done.stdout + done.stderr


@needs_mypy
def test_mypy_finds_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(WRONG_PROGRAM)
    done = mypy(str(tmp_path / "program.py"))
    assert done.stdout.count("error:") == 4, done.stdout + done.stderr


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(ordito.__file__).parent / "py.typed").exists()


# --- examples ---


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_documentation_run(name: str) -> None:
    if name == "ordito.torch":
        pytest.importorskip("torch")
    if name == "ordito.mpi":
        pytest.skip("with an MPI: mpi_program.py runs them")
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_most_modules_have_examples() -> None:
    without = {"ordito._ordito", "ordito._sources", "ordito._device", "ordito._taken", "ordito.torch"}
    for name in set(MODULES) - without:
        found = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name))
        assert any(test.examples for test in found), f"{name} shows nothing"


def test_everything_public_is_there_and_documented() -> None:
    for name in ordito.__all__:
        thing = getattr(ordito, name)
        assert name == "__version__" or thing.__doc__, f"ordito.{name} has no documentation"
    for module in (ordito.io, ordito.mpi, ordito.sparse):
        for name in module.__all__:
            assert getattr(module, name).__doc__, f"{module.__name__}.{name} has no documentation"


# --- doctor ---


def test_doctor_tells_of_processor_threads_gpu_and_compiler() -> None:
    findings = ordito.doctor()
    names = [name for name, _, _ in findings]
    assert names[:2] == ["processor", "threads"] and {"gpu", "nvrtc"} <= set(names)
    assert all(isinstance(usable, bool) and text for _, usable, text in findings)
    assert dict((name, usable) for name, usable, _ in findings)["processor"]
    lines = repr(findings).splitlines()
    assert lines[0] == f"ordito {ordito.__version__}" and len(lines) == len(findings) + 1
    for line, (name, usable, text) in zip(lines[1:], findings):
        assert name in line and text in line and line.split()[0] == ("ok" if usable else "note")


def test_the_version_is_that_of_the_package() -> None:
    if "site-packages" not in ordito.__file__:
        pytest.skip("not installed: run from the sources")
    assert version("ordito") == ordito.__version__


# --- importing ---


def test_importing_is_quick_and_needs_neither_torch_nor_cupy() -> None:
    program = "import sys, ordito; print(sorted({'torch', 'cupy', 'mne', 'sklearn'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

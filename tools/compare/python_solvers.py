"""Solvers of Ordito beside those of SciPy and scikit-learn, or of CuPy on a GPU: the same problem, the same tolerance, by turns.

    python python_solvers.py --data FOLDER                 # on the CPU
    python python_solvers.py --data FOLDER --gpu           # arrays of CuPy

FOLDER holds bcsstk17.mtx.gz, soc-Epinions1.mtx.gz and pubmed.mtx.gz; what is not there is left out. Residuals are computed here, of what
came out, in float64. All take turns: times are medians of rounds, and a ratio is the median of the ratios of rounds, since what disturbs a machine disturbs
both of a round. `--seconds` ends the rounds of a case early, after three at least.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any, Callable

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import ordito
from ordito import linalg


def stencil27(side: int) -> sp.csr_array:
    """26 on the diagonal, −1 for each of 26 neighbours: positive definite."""
    line = sp.diags_array([np.ones(side - 1), np.ones(side), np.ones(side - 1)], offsets=[-1, 0, 1])
    return sp.csr_array(27 * sp.eye_array(side**3) - sp.kron(sp.kron(line, line), line))


def laplacian(graph: sp.csr_array) -> sp.csr_array:
    """Of the graph without directions, weights and loops."""
    both = sp.csr_array(((abs(graph) + abs(graph.T)) > 0).astype(np.float64))
    both.setdiag(0)
    both.eliminate_zeros()
    return sp.csr_array(sp.diags_array([both.sum(axis=1)], offsets=[0]) - both)


class Case:
    def __init__(self, name: str, solvers: dict[str, Callable[[], Any]], residual: Callable[[Any], float]) -> None:
        self.name, self.solvers, self.residual = name, solvers, residual


def eigen_case(name: str, a: sp.csr_array, k: int, tol: float, largest: bool, jacobi: bool, on: Any) -> Case:
    x = np.random.default_rng(0).normal(size=(a.shape[0], k))
    m = sp.diags_array([1 / a.diagonal()], offsets=[0]) if jacobi else None
    ours = ordito.csr(a, device=on.device)
    arguments = dict(tol=tol, maxiter=2000, largest=largest)
    their_a, their_x, their_m = on.matrix(a), on.array(x), None if m is None else on.matrix(sp.csr_array(m))

    def residual(found: Any) -> float:
        values, vectors = on.back(found[0]), on.back(found[1])
        return float(np.linalg.norm(a @ vectors - vectors * values, axis=0).max())

    solvers = {
        on.name: lambda: on.lobpcg(their_a, their_x.copy(), M=their_m, **arguments),
        "ordito": lambda: linalg.lobpcg(ours, their_x, M=m, **arguments),
    }
    return Case(f"lobpcg {name}, {k} {'largest' if largest else 'smallest'}{', Jacobi' if jacobi else ''}", solvers, residual)


def singular_case(name: str, a: sp.csr_array, k: int, on: Any) -> list[Case]:
    ours, theirs = ordito.csr(a, device=on.device), on.matrix(a)

    def residual(found: Any) -> float:
        u, s, vt = (on.back(part) for part in found)
        return float(np.linalg.norm(a.T @ u - vt.T * s, axis=0).max() / s.max())

    cases = [
        Case(
            f"svds {name}, {k}",
            {on.name: lambda: on.svds(theirs, k=k, tol=1e-8), "ordito": lambda: linalg.svds(ours, k=k, tol=1e-8)},
            residual,
        )
    ]
    if on.randomized_svd is not None:
        solvers = {
            "sklearn": lambda: on.randomized_svd(a, k, random_state=0),
            "ordito": lambda: linalg.randomized_svd(ours, k, random_state=0),
        }

        def missing(found: Any) -> float:
            """How much of the largest singular values was not found."""
            return 1 - float((on.back(found[1]) ** 2).sum()) / best

        best = float((sla.svds(a, k=k, tol=1e-10)[1] ** 2).sum())
        cases.append(Case(f"randomized_svd {name}, {k} (Σσ² that is missing)", solvers, missing))
    return cases


def right_hand_sides_case(name: str, a: sp.csr_array, count: int, jacobi: bool, on: Any) -> Case:
    b = np.random.default_rng(1).normal(size=(a.shape[0], count))
    m = sp.diags_array([1 / a.diagonal()], offsets=[0]) if jacobi else None
    ours, theirs, their_b = ordito.csr(a, device=on.device), on.matrix(a), on.array(b)
    their_m = None if m is None else on.matrix(sp.csr_array(m))

    def one_by_one() -> Any:
        columns = [on.cg(theirs, their_b[:, j].copy(), M=their_m, tol=1e-8)[0] for j in range(count)]
        return on.stack(columns)

    def residual(x: Any) -> float:
        return float((np.linalg.norm(b - a @ on.back(x), axis=0) / np.linalg.norm(b, axis=0)).max())

    solvers = {on.name: one_by_one, "ordito": lambda: linalg.cg(ours, their_b, M=m, rtol=1e-8, maxiter=10000)[0]}
    return Case(f"cg {name}, {count} right-hand sides{', Jacobi' if jacobi else ''}", solvers, residual)


class OnCpu:
    name, device = "scipy", "cpu"
    lobpcg, svds = staticmethod(sla.lobpcg), staticmethod(sla.svds)
    array = matrix = staticmethod(lambda x: x)
    back = staticmethod(np.asarray)
    stack = staticmethod(lambda columns: np.stack(columns, axis=1))

    def __init__(self) -> None:
        try:
            from sklearn.utils.extmath import randomized_svd
        except ImportError:
            randomized_svd = None
        self.randomized_svd = randomized_svd

    @staticmethod
    def cg(a: Any, b: Any, M: Any, tol: float) -> Any:
        return sla.cg(a, b, M=M, rtol=tol, maxiter=10000)

    @staticmethod
    def wait() -> None:
        time.sleep(0.2)  # OpenBLAS's threads spin on their cores for a while after a call

    @staticmethod
    def finish() -> None:
        pass


class OnGpu:
    name, device, randomized_svd = "cupyx", "cuda", None

    def __init__(self) -> None:
        import cupy
        import cupyx.scipy.sparse
        import cupyx.scipy.sparse.linalg as linalg

        self.cupy, self.sparse = cupy, cupyx.scipy.sparse
        self.lobpcg, self.svds = linalg.lobpcg, lambda a, k, tol: linalg.svds(a, k=k, tol=tol)
        self._cg = linalg.cg
        self.array = cupy.asarray
        self.stack = lambda columns: cupy.stack(columns, axis=1)

    def matrix(self, a: sp.csr_array) -> Any:
        return self.sparse.csr_matrix(sp.csr_matrix(a))

    def back(self, x: Any) -> Any:
        return self.cupy.asnumpy(x)

    def cg(self, a: Any, b: Any, M: Any, tol: float) -> Any:
        return self._cg(a, b, M=M, rtol=tol, maxiter=10000)

    def wait(self) -> None:
        self.cupy.cuda.runtime.deviceSynchronize()

    finish = wait


def run(case: Case, rounds: int, seconds: float, on: Any) -> float | None:
    times: dict[str, list[float]] = {name: [] for name in case.solvers}
    found: dict[str, Any] = {}
    iterations = 0
    first = time.perf_counter()
    for turn in range(rounds + 1):
        if turn > 3 and time.perf_counter() - first > seconds:
            break
        for name, solve in case.solvers.items():
            on.wait()
            begin = time.perf_counter()
            try:
                found[name] = solve()
            except Exception as error:  # a peer that gives up is told of, not counted
                print(f"{case.name}: {name}: {type(error).__name__}: {error}", flush=True)
                return None
            on.finish()
            if turn > 0 or rounds == 0:  # the first turn compiles, converts, warms up
                times[name].append(time.perf_counter() - begin)
            info = linalg.last_info()
            iterations = info.iterations if name == "ordito" and info else iterations
    theirs, ours = (statistics.median(samples) for samples in times.values())
    of_rounds = sorted(their / our for their, our in zip(*times.values()))
    ratio = statistics.median(of_rounds)
    residuals = [case.residual(result) for result in found.values()]
    names = list(case.solvers)
    print(
        f"{case.name}: {names[0]} {theirs * 1e3:.1f} ms (residual {residuals[0]:.1e}), "
        f"ordito {ours * 1e3:.1f} ms ({residuals[1]:.1e}, {iterations} iterations): {ratio:.2f} ({of_rounds[0]:.2f} to {of_rounds[-1]:.2f})",
        flush=True,
    )
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of Matrix Market files")
    parser.add_argument("--gpu", action="store_true", help="arrays of CuPy")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1e9, help="for each case, about")
    parser.add_argument("--side", type=int, default=60, help="of the cube with 27-point stencils")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    on = OnGpu() if arguments.gpu else OnCpu()

    def read(name: str) -> sp.csr_array | None:
        path = arguments.data / f"{name}.mtx.gz"
        return ordito.read(path).to_scipy().copy() if path.is_file() else None

    stencil, structure, graph, papers = stencil27(arguments.side), read("bcsstk17"), read("soc-Epinions1"), read("pubmed")
    groups: dict[str, list[Case]] = {"lobpcg": [], "svd": [], "cg": []}
    groups["lobpcg"] += [eigen_case(f"stencil27:{arguments.side}", stencil, k, 1e-6, False, False, on) for k in (8, 16)]
    if structure is not None:
        groups["lobpcg"].append(eigen_case("bcsstk17", structure, 8, 1e2, True, False, on))
        groups["lobpcg"].append(eigen_case("bcsstk17", structure, 8, 1.0, False, True, on))
        groups["cg"].append(right_hand_sides_case("bcsstk17", structure, 16, True, on))
    if graph is not None:
        groups["lobpcg"].append(eigen_case("Laplacian of soc-Epinions1", laplacian(graph), 8, 1e-5, True, False, on))
    for name, matrix in (("soc-Epinions1", graph), ("pubmed", papers)):
        if matrix is not None:
            groups["svd"] += singular_case(name, matrix, 10, on)
    groups["cg"].append(right_hand_sides_case(f"stencil27:{arguments.side}", stencil, 16, False, on))
    print(f"ordito {ordito.__version__}, Python {sys.version.split()[0]}, NumPy {np.__version__}", flush=True)
    for group, cases in groups.items():
        chosen = [case for case in cases if arguments.only in case.name]
        ratios = [ratio for case in chosen if (ratio := run(case, arguments.rounds, arguments.seconds, on)) is not None]
        if ratios:
            print(f"{group}: geometric mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}", flush=True)


if __name__ == "__main__":
    main()
